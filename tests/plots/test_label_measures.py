"""LabelMeasuresDisplay: the dots are scikit-learn's measures."""

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import f1_score, precision_score, recall_score

from multimargin.plots import LabelMeasuresDisplay

# Label by label: two hits and a miss; nothing predicted; never relevant; all right.
TRUE = np.array([[1, 1, 0, 1], [1, 0, 0, 0], [1, 1, 0, 1], [0, 0, 0, 0]])
PREDICTED = np.array([[1, 0, 0, 1], [1, 0, 1, 0], [0, 0, 0, 1], [0, 0, 0, 0]])


def names_of(display):
    return [tick.get_text() for tick in display.ax_.get_yticklabels()]


def test_dots_are_the_measures_of_each_label(data, rank_svm):
    X, Y = data
    display = LabelMeasuresDisplay.from_estimator(rank_svm, X, Y)
    predicted = rank_svm.predict(X)
    for line, score in zip(display.lines_, (precision_score, recall_score, f1_score), strict=True):
        expected = [score(Y[:, label], predicted[:, label]) for label in display.order_]
        np.testing.assert_allclose(line.get_xdata(), expected)


def test_the_best_label_is_on_top_and_names_tell_the_support():
    display = LabelMeasuresDisplay.from_predictions(
        pd.DataFrame(TRUE, columns=["some", "none", "never", "all"]), PREDICTED
    )
    # F1 is 0 for "none" and "never", which keep their order from the top.
    assert names_of(display) == ["never (0)", "none (2)", "some (3)", "all (2)"]
    precision, recall, _ = (line.get_xdata() for line in display.lines_)
    np.testing.assert_array_equal(precision, [0.0, np.nan, 1.0, 1.0])
    np.testing.assert_array_equal(recall, [np.nan, 0.0, 2 / 3, 1.0])


@pytest.mark.parametrize(
    ("sort_by", "top_down"), [("support", [0, 1, 3, 2]), ("label", [0, 1, 2, 3])]
)
def test_other_orders(sort_by, top_down):
    display = LabelMeasuresDisplay.from_predictions(TRUE, PREDICTED, sort_by=sort_by)
    assert display.order_[::-1].tolist() == top_down


def test_of_many_labels_those_of_most_rows_are_shown():
    display = LabelMeasuresDisplay.from_predictions(TRUE, PREDICTED, sort_by="label", n_labels=3)
    assert display.order_[::-1].tolist() == [0, 1, 3]
    np.testing.assert_array_equal(display.lines_[0].get_xdata(), [1.0, np.nan, 1.0])
    assert len(names_of(display)) == 3
    with pytest.raises(ValueError, match="n_labels is 0; expected"):
        display.plot(n_labels=0)


def test_one_label_and_very_many():
    LabelMeasuresDisplay.from_predictions([[1], [0]], [[1], [1]])
    rng = np.random.default_rng(0)
    Y = (rng.random((50, 400)) < 0.2).astype(int)
    display = LabelMeasuresDisplay.from_predictions(
        Y, 1 - Y, label_names=[f"l{k}" for k in range(400)]
    )
    display.figure_.canvas.draw()
    boxes = [tick.get_window_extent() for tick in display.ax_.get_yticklabels()]
    assert all(low.y1 <= high.y0 + low.height / 3 for low, high in pairwise(boxes))


def test_input_is_checked(data, rank_svm):
    X, Y = data
    with pytest.raises(ValueError, match=r"Y_pred has shape \(4, 2\); expected \(4, 4\)"):
        LabelMeasuresDisplay.from_predictions(TRUE, PREDICTED[:, :2])
    with pytest.raises(ValueError, match="measure is 'accuracy'"):
        LabelMeasuresDisplay.from_estimator(rank_svm, X, Y, measure="accuracy")
    with pytest.raises(ValueError, match="sort_by is 'size'"):
        LabelMeasuresDisplay.from_estimator(rank_svm, X, Y, sort_by="size")
    with pytest.raises(ValueError, match="label_names has 1 names; expected 4"):
        LabelMeasuresDisplay.from_estimator(rank_svm, X, Y, label_names=["a"])
    short = {"precision": [1.0], "recall": [1.0], "f1": [1.0]}
    with pytest.raises(ValueError, match="precision of 'a' has shape"):
        LabelMeasuresDisplay({"a": short}, [1, 2])
    with pytest.raises(ValueError, match="measures of 'a' lack 'precision'"):
        LabelMeasuresDisplay({"a": {"f1": [1.0]}}, [1])


@pytest.mark.parametrize("support", [[], [[1, 2]]])
def test_malformed_support(support):
    with pytest.raises(ValueError, match=r"support has shape .*; expected \(q,\), one a label"):
        LabelMeasuresDisplay({"a": np.ones((3, 2))}, support)
