"""Checks of label scores."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from multimargin.checks.scores import check_scores
from tests.support.cases import case

Y = np.array([[1, 0, 1], [0, 0, 0], [1, 1, 1], [0, 1, 0]])


def test_scores_are_floats():
    for dtype in (np.float64, np.float32):
        scores = Y.astype(dtype)
        assert check_scores(scores) is scores
    for make in (np.array, np.ndarray.tolist, pd.DataFrame):
        checked = check_scores(make(Y), n_rows=4, n_labels=3)
        assert checked.dtype == np.float64
        np.testing.assert_array_equal(checked, Y)


def test_scores_refuse_what_is_no_number():
    for value in (np.nan, np.inf, -np.inf):
        scores = Y.astype(float)
        scores[2, 0] = value
        with case(value), pytest.raises(ValueError, match=r"scores contains (NaN|infinity)"):
            check_scores(scores)
    with pytest.raises(TypeError, match="Sparse data was passed for scores"):
        check_scores(sparse.csr_array(Y.astype(float)))
    with pytest.raises(ValueError, match=r"^f is not an array of finite real numbers, one for"):
        check_scores([["a", "b"]], name="f")


@pytest.mark.parametrize(
    ("scores", "expected"),
    [(Y[0], "n, q"), (Y[None], "n, q"), (Y[1:], "4, q"), (Y[:, 1:], "n, 3"), (Y.T, "4, 3")],
)
def test_scores_refuse_other_shapes(scores, expected):
    n_rows, n_labels = (int(text) if text.isdigit() else None for text in expected.split(", "))
    with pytest.raises(ValueError, match=rf"^f has shape .*; expected \({expected}\), one score"):
        check_scores(scores, n_rows=n_rows, n_labels=n_labels, name="f")
