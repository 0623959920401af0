"""Measures of the head of a ranking, and of each label's ranking of the rows.

`precision_at_k` and `ndcg_at_k` look at the k highest labels of each row, `auc_macro` and
`auc_micro` at how well scores tell the rows (or entries) of a label from the others. Unknown labels
(NaN) are refused.
"""

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn import metrics

from multimargin.checks.labels import check_indicator, check_scores, known_both
from multimargin.checks.parameters import check_integer
from multimargin.checks.targets import label_names_of
from multimargin.checks.weights import check_sample_weight

Vector = NDArray[np.float64]


def precision_at_k(Y_true: Any, scores: Any, *, k: int = 5, sample_weight: Any = None) -> float:
    """Fraction of relevant labels among the k highest ones.

    Parameters
    ----------
    Y_true : array-like, sparse matrix or data frame of shape (n, q)
        Indicator of the relevant labels, 0 and 1.
    scores : array-like of shape (n, q)
        Finite scores f_k(x); a larger score ranks the label higher.
    k : int, default=5
        How many labels, at least 1; all of them if there are fewer.
    sample_weight : array-like of shape (n,), default=None
        How often each row counts; None counts each once.

    Returns
    -------
    float
        In [0, 1]; larger is better. 1 is out of reach where rows have fewer than k relevant labels.

    Raises
    ------
    TypeError, ValueError
        If an argument is malformed.

    Notes
    -----
    The mean over all rows, those without a relevant label included. Where labels are tied across
    the k-th place, it is the mean over the orders of the tied labels.
    """
    Y, f, weights = _checked(Y_true, scores, sample_weight)
    k = _checked_k(k, Y.shape[1])
    last = -np.partition(-f, k - 1, axis=1)[:, k - 1, None]
    above, tied = f > last, f == last
    places = k - np.count_nonzero(above, axis=1)
    share = np.count_nonzero(tied & (Y == 1), axis=1) / np.count_nonzero(tied, axis=1)
    hits = np.count_nonzero(above & (Y == 1), axis=1) + places * share
    return float(np.average(hits / k, weights=weights))


def ndcg_at_k(Y_true: Any, scores: Any, *, k: int = 5, sample_weight: Any = None) -> float:
    """Discounted gain of the k highest labels, relative to that of the best ranking.

    Parameters
    ----------
    Y_true : array-like, sparse matrix or data frame of shape (n, q)
        Indicator of the relevant labels, 0 and 1, q >= 2.
    scores : array-like of shape (n, q)
        Finite scores f_k(x); a larger score ranks the label higher.
    k : int, default=5
        How many labels, at least 1; all of them if there are fewer.
    sample_weight : array-like of shape (n,), default=None
        How often each row counts; None counts each once.

    Returns
    -------
    float
        In [0, 1]; 1 is best.

    Raises
    ------
    TypeError, ValueError
        If an argument is malformed, or if no row has a relevant label.

    Notes
    -----
    `sklearn.metrics.ndcg_score` of the rows with a relevant label: a relevant label in place r
    gains 1 / log2(1 + r), and tied labels gain what they gain on average.
    """
    Y, f, weights = _checked(Y_true, scores, sample_weight)
    k = _checked_k(k, Y.shape[1])
    defined = Y.any(axis=1)
    if weights is not None:
        defined &= weights > 0.0
        weights = weights[defined]
    if not defined.any():
        raise ValueError("Y_true has no relevant label; the gain of the best ranking is 0.")
    return float(metrics.ndcg_score(Y[defined], f[defined], k=k, sample_weight=weights))


def auc_macro(Y_true: Any, scores: Any, *, sample_weight: Any = None) -> float:
    """Area under the ROC curve of each label, averaged over the labels.

    Parameters
    ----------
    Y_true : array-like, sparse matrix or data frame of shape (n, q)
        Indicator of the relevant labels, 0 and 1.
    scores : array-like of shape (n, q)
        Finite scores f_k(x).
    sample_weight : array-like of shape (n,), default=None
        How often each row counts; None counts each once.

    Returns
    -------
    float
        In [0, 1]; 1 is best.

    Raises
    ------
    TypeError, ValueError
        If an argument is malformed, or if no label has both values.

    Warns
    -----
    UserWarning
        If labels have one value only in these rows. They have no such area and are left out; one
        warning names them.

    Notes
    -----
    The share of pairs of a relevant and an irrelevant row of a label that its scores order rightly;
    a tie counts half. Scores of different rows are compared, which a ranking of labels is not made
    for: rank losses are indifferent to a constant that is added to all scores of a row.
    """
    Y, f, weights = _checked(Y_true, scores, sample_weight)
    counted = Y if weights is None else Y[weights > 0.0]
    labels = np.flatnonzero(known_both(counted, axis=0))
    if labels.size == 0:
        raise ValueError("Y_true has no label with both values; an area under the curve needs one.")
    if labels.size < Y.shape[1]:
        names = label_names_of(Y_true, Y.shape[1])
        absent = np.setdiff1d(np.arange(Y.shape[1]), labels)
        warnings.warn(
            "Labels with one value only are left out of the macro AUC: "
            f"{', '.join(f'{names[k]} ({counted[0, k]})' for k in absent)}.",
            UserWarning,
            stacklevel=2,
        )
    areas = [metrics.roc_auc_score(Y[:, k], f[:, k], sample_weight=weights) for k in labels]
    return float(np.mean(areas))


def auc_micro(Y_true: Any, scores: Any, *, sample_weight: Any = None) -> float:
    """Area under the ROC curve of all entries of the indicator matrix taken together.

    Parameters
    ----------
    Y_true : array-like, sparse matrix or data frame of shape (n, q)
        Indicator of the relevant labels, 0 and 1.
    scores : array-like of shape (n, q)
        Finite scores f_k(x).
    sample_weight : array-like of shape (n,), default=None
        How often each row counts; None counts each once.

    Returns
    -------
    float
        In [0, 1]; 1 is best.

    Raises
    ------
    TypeError, ValueError
        If an argument is malformed, or if all entries are equal.

    Notes
    -----
    The share of pairs of a relevant and an irrelevant entry that the scores order rightly; a tie
    counts half.
    """
    Y, f, weights = _checked(Y_true, scores, sample_weight)
    of_entries = None if weights is None else np.repeat(weights, Y.shape[1])
    counted = Y if weights is None else Y[weights > 0.0]
    if counted.all() or not counted.any():
        raise ValueError(
            "Y_true has entries of one value only; an area under the curve needs both."
        )
    return float(metrics.roc_auc_score(Y.ravel(), f.ravel(), sample_weight=of_entries))


def _checked(
    Y_true: Any, scores: Any, sample_weight: Any
) -> tuple[NDArray[np.uint8], NDArray[Any], Vector | None]:
    Y = check_indicator(Y_true, "Y_true")
    f = check_scores(scores, n_rows=Y.shape[0], n_labels=Y.shape[1])
    return Y, f, check_sample_weight(sample_weight, Y.shape[0])


def _checked_k(k: int, q: int) -> int:
    return min(check_integer("k", k, at_least=1), q)
