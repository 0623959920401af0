"""LabelCorrelationDisplay."""

import matplotlib
import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError

from multimargin import MLRL, RankSVM
from multimargin.plots import LabelCorrelationDisplay

matplotlib.use("Agg")


@pytest.fixture(name="data")
def fixture_data():
    random = np.random.default_rng(0)
    X = random.normal(size=(40, 3))
    Y = (X @ random.normal(size=(3, 4)) > 0).astype(int)
    return X, Y


def test_the_matrix_and_its_numbers_are_drawn(data):
    X, Y = data
    model = MLRL(0.01).fit(X, pd.DataFrame(Y, columns=list("abcd")))
    display = LabelCorrelationDisplay.from_estimator(model)
    np.testing.assert_array_equal(display.im_.get_array(), model.label_correlation_)
    assert display.text_[0, 0].get_text() == "1.00"
    assert display.text_[1, 2].get_text() == f"{model.label_correlation_[1, 2]:.2f}"
    assert [tick.get_text() for tick in display.ax_.get_xticklabels()] == list("abcd")
    matplotlib.pyplot.close(display.figure_)


def test_an_axes_given_is_used(data):
    _, ax = matplotlib.pyplot.subplots()
    display = LabelCorrelationDisplay.from_estimator(
        MLRL(0.01).fit(*data), ax=ax, include_values=False, colorbar=False
    )
    assert display.ax_ is ax
    assert display.text_ is None
    matplotlib.pyplot.close(ax.figure)


def test_other_estimators_are_refused(data):
    with pytest.raises(NotFittedError):
        LabelCorrelationDisplay.from_estimator(MLRL())
    with pytest.raises(TypeError, match="label_correlation_"):
        LabelCorrelationDisplay.from_estimator(RankSVM(random_state=0).fit(*data))


def test_shapes_are_checked():
    with pytest.raises(ValueError, match="square"):
        LabelCorrelationDisplay(np.zeros((2, 3)))
    with pytest.raises(ValueError, match="label_names"):
        LabelCorrelationDisplay(np.eye(2), label_names=["a"])
