"""Margins of label pairs, which large-margin ranking makes large."""

import numpy as np

from multimargin.checks.arrays import check_same_order
from multimargin.checks.scores import check_scores
from multimargin.targets.indicator import check_indicator
from multimargin.typing import LabelsLike, MatrixLike, Vector


def pair_margins(Y_true: LabelsLike, scores: MatrixLike) -> Vector:
    """Return the margins f_m(x) - f_n(x) of all pairs of a relevant and an irrelevant label.

    Parameters
    ----------
    Y_true : array-like, sparse matrix or data frame of shape (n, q)
        Label indicator of 0 and 1.
    scores : array-like of shape (n, q)
        The scores f.

    Returns
    -------
    ndarray of shape (L,)
        The margins of the L pairs, by row, then by relevant, then by irrelevant label. A pair is
        ranked correctly where its margin is positive. Rows to which all labels or none apply have
        no pairs.

    Raises
    ------
    TypeError, ValueError
        If an array is malformed, or if they have different shapes.
    """
    check_same_order(Y_true, scores=scores)
    relevant = check_indicator(Y_true, "Y_true").astype(bool)
    checked = check_scores(scores, n_rows=relevant.shape[0], n_labels=relevant.shape[1])
    of_rows = [
        (row[is_relevant, None] - row[~is_relevant]).ravel()
        for row, is_relevant in zip(checked, relevant, strict=True)
    ]
    return np.concatenate(of_rows).astype(np.float64, copy=False)
