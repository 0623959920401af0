"""Average precision of rankings across rows: of all pairs, or of the rows of each label."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.metrics import average_precision_score

from multimargin.checks.arrays import check_same_order
from multimargin.checks.scores import check_scores
from multimargin.checks.weights import check_sample_weight
from multimargin.targets.indicator import UNKNOWN, check_indicator
from multimargin.typing import LabelsLike, MatrixLike


def micro_average_precision(
    Y_true: LabelsLike, scores: MatrixLike, *, sample_weight: ArrayLike | None = None
) -> float:
    """Return the average precision of the ranking of all pairs of a row and a label.

    Unlike `ranking_average_precision`, which ranks the labels of each row, it compares rows as
    well: it tells whether rows without any label come last. The scores of all rows and labels are
    to be on one scale, as probabilities are.

    Parameters
    ----------
    Y_true : array-like or sparse matrix of shape (n, q)
        Label indicator of 0 and 1; NaN for unknown labels, which are left out.
    scores : array-like of shape (n, q)
        Finite scores f_k(x); a larger score ranks the label higher.
    sample_weight : array-like of shape (n,), default=None
        Weights of the rows; None gives each row the weight 1.

    Returns
    -------
    float
        Between 0 and 1, larger is better.

    Raises
    ------
    TypeError, ValueError
        If an argument is malformed, or no pair is relevant.

    Examples
    --------
    >>> from multimargin.measures import micro_average_precision
    >>> micro_average_precision([[1, 0], [0, 0]], [[0.9, 0.2], [0.4, 0.1]])
    1.0
    """
    Y, F, weights = _checked(Y_true, scores, sample_weight)
    rows, labels = np.nonzero((Y != UNKNOWN) & (weights > 0.0)[:, None])
    relevant = Y[rows, labels] == 1
    if not relevant.any():
        raise ValueError("Y_true has no relevant label; expected some.")
    return float(average_precision_score(relevant, F[rows, labels], sample_weight=weights[rows]))


def macro_average_precision(
    Y_true: LabelsLike, scores: MatrixLike, *, sample_weight: ArrayLike | None = None
) -> float:
    """Return the mean over the labels of the average precision of the ranking of the rows.

    Each label counts the same, however rare. Labels that are relevant for no row are left out.

    Parameters
    ----------
    Y_true, scores, sample_weight
        As in `micro_average_precision`; the scores of a label need only rank the rows.

    Returns
    -------
    float
        Between 0 and 1, larger is better.

    Raises
    ------
    TypeError, ValueError
        If an argument is malformed, or no label is relevant.

    Examples
    --------
    >>> from multimargin.measures import macro_average_precision
    >>> macro_average_precision([[1, 0], [0, 1]], [[0.9, 0.2], [0.4, 0.1]])
    0.75
    """
    Y, F, weights = _checked(Y_true, scores, sample_weight)
    found = []
    for label in range(Y.shape[1]):
        known = (Y[:, label] != UNKNOWN) & (weights > 0.0)
        relevant = Y[known, label] == 1
        if relevant.any():
            found.append(
                average_precision_score(relevant, F[known, label], sample_weight=weights[known])
            )
    if not found:
        raise ValueError("Y_true has no relevant label; expected some.")
    return float(np.mean(found))


def _checked(Y_true: Any, scores: Any, sample_weight: ArrayLike | None) -> tuple[Any, Any, Any]:
    check_same_order(Y_true, scores=scores)
    Y = check_indicator(Y_true, "Y_true", unknown=True)
    F = check_scores(scores, n_rows=Y.shape[0], n_labels=Y.shape[1])
    weights = check_sample_weight(sample_weight, Y.shape[0])
    if (Y == UNKNOWN).all():
        raise ValueError("Y_true has no known label; expected some.")
    return Y, F, np.ones(len(Y)) if weights is None else weights
