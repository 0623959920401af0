"""LabelCorrelationDisplay."""

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot
from sklearn.exceptions import NotFittedError

from multimargin import MLRL
from multimargin.plots import LabelCorrelationDisplay
from tests.support.subsets import first_fast


def tick_names(axis):
    return [tick.get_text() for tick in axis.get_ticklabels()]


def test_the_matrix_and_its_numbers_are_drawn(data):
    X, Y = data
    model = MLRL(0.01).fit(X, pd.DataFrame(Y, columns=list("abcd")))
    display = LabelCorrelationDisplay.from_estimator(model)
    np.testing.assert_array_equal(display.im_.get_array(), model.label_correlation_)
    assert display.text_[0, 0].get_text() == "1.00"
    assert display.text_[1, 2].get_text() == f"{model.label_correlation_[1, 2]:.2f}"
    assert tick_names(display.ax_.xaxis) == tick_names(display.ax_.yaxis) == list("abcd")


@pytest.mark.parametrize("q", first_fast([1, 20, 100, 400], 2))
def test_names_do_not_overlap(q):
    names = [
        f"{label}: $a_{{{label}}}$ and a name longer than thirty letters" for label in range(q)
    ]
    display = LabelCorrelationDisplay(np.eye(q), label_names=names).plot()
    display.figure_.canvas.draw()
    for axis, low, high in ((display.ax_.xaxis, "x0", "x1"), (display.ax_.yaxis, "y0", "y1")):
        boxes = [tick.get_window_extent() for tick in axis.get_ticklabels()]
        ends = sorted((getattr(box, low), getattr(box, high)) for box in boxes)
        # Half of an em box is empty above or below most letters.
        height = min(end - start for start, end in ends)
        assert all(end <= start + height / 3 for (_, end), (start, _) in pairwise(ends))
    assert tick_names(display.ax_.yaxis)[0] == "0: $a_{0}$ and a name longer…"


def test_other_estimators_are_refused(rank_svm):
    with pytest.raises(NotFittedError):
        LabelCorrelationDisplay.from_estimator(MLRL())
    with pytest.raises(TypeError, match="a RankSVM, which has no label_correlation_"):
        LabelCorrelationDisplay.from_estimator(rank_svm)


def test_input_is_checked():
    with pytest.raises(ValueError, match="square"):
        LabelCorrelationDisplay(np.zeros((2, 3)))
    with pytest.raises(ValueError, match="square"):
        LabelCorrelationDisplay(np.zeros((0, 0)))
    with pytest.raises(ValueError, match="missing or infinite"):
        LabelCorrelationDisplay([[1.0, np.nan], [np.nan, 1.0]])
    with pytest.raises(ValueError, match="label_names has 1 names; expected 2"):
        LabelCorrelationDisplay(np.eye(2), label_names="ab")
    with pytest.raises(TypeError, match="ax is a tuple; expected a matplotlib Axes"):
        LabelCorrelationDisplay(np.eye(2)).plot(ax=pyplot.subplots())


def test_an_axes_given_is_used(data):
    _, ax = pyplot.subplots()
    display = LabelCorrelationDisplay.from_estimator(
        MLRL(0.01).fit(*data), ax=ax, include_values=False, colorbar=False
    )
    assert display.ax_ is ax
    assert display.text_ is None
