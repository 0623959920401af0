"""Measures of the head of a ranking, and of each label's ranking of the rows.

`precision_at_k`, `recall_at_k`, `ndcg_at_k` and `propensity_scored_precision_at_k` look at the k
highest labels of each row, `auc_macro` and `auc_micro` at how well scores tell the rows (or
entries) of a label from the others. Unknown labels (NaN) are left out: the k highest are those of
the known labels of a row, and a row without a known one does not count.
"""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn import metrics

from multimargin.checks.arrays import check_same_order, naming
from multimargin.checks.parameters import check_integer, check_real
from multimargin.checks.scores import check_scores
from multimargin.checks.weights import check_sample_weight, measured_rows
from multimargin.notices import warn
from multimargin.targets.given import recognise
from multimargin.targets.indicator import check_indicator, known_labels
from multimargin.typing import LabelsLike, Matrix, MatrixLike, Vector


def precision_at_k(
    Y_true: LabelsLike, scores: MatrixLike, *, k: int = 5, sample_weight: ArrayLike | None = None
) -> float:
    """Fraction of relevant labels among the k highest ones.

    Parameters
    ----------
    Y_true : array-like, sparse matrix or data frame of shape (n, q)
        Indicator of the relevant labels, 0 and 1; NaN where a label is unknown, which is left out.
    scores : array-like of shape (n, q)
        Finite scores f_k(x); a larger score ranks the label higher.
    k : int, default=5
        Number of labels from the top of the ranking, at least 1; all if there are fewer.
    sample_weight : array-like of shape (n,), default=None
        Weights of the rows; None gives each row the weight 1.

    Returns
    -------
    float
        In [0, 1]; larger is better. 1 is out of reach where rows have fewer than k relevant labels.

    Notes
    -----
    The mean over all rows, those without a relevant label included. Where labels are tied across
    the k-th place, it is the mean over the orders of the tied labels.
    """
    Y, f, weights, known = _checked(Y_true, scores, sample_weight)
    k = _checked_k(k, Y.shape[1])
    places = np.minimum(k, np.count_nonzero(known, axis=1))
    return float(np.average(_gains_at(Y, f, k) / places, weights=weights))


def recall_at_k(
    Y_true: LabelsLike, scores: MatrixLike, *, k: int = 5, sample_weight: ArrayLike | None = None
) -> float:
    """Fraction of the relevant labels that are among the k highest ones.

    Parameters
    ----------
    Y_true : array-like, sparse matrix or data frame of shape (n, q)
        Indicator of the relevant labels, 0 and 1; NaN where a label is unknown, which is left out.
    scores : array-like of shape (n, q)
        Finite scores f_k(x); a larger score ranks the label higher.
    k : int, default=5
        Number of labels from the top of the ranking, at least 1; all if there are fewer.
    sample_weight : array-like of shape (n,), default=None
        Weights of the rows; None gives each row the weight 1.

    Returns
    -------
    float
        In [0, 1]; larger is better. 1 is out of reach where rows have more than k relevant labels.

    Raises
    ------
    TypeError, ValueError
        If no row has a relevant label.

    Notes
    -----
    The mean over the rows with a relevant label; ties as in `precision_at_k`.
    """
    Y, f, weights, _ = _checked(Y_true, scores, sample_weight)
    k = _checked_k(k, Y.shape[1])
    counts = Y.sum(axis=1, dtype=np.int64)
    defined = counts > 0
    if weights is not None:
        defined &= weights > 0.0
        weights = weights[defined]
    if not defined.any():
        raise ValueError("Y_true has no relevant label; expected some to be found.")
    recalls = _gains_at(Y, f, k)[defined] / counts[defined]
    return float(np.average(recalls, weights=weights))


def label_propensities(Y_train: LabelsLike, *, a: float = 0.55, b: float = 1.5) -> Vector:
    """Propensities of labels: how likely a label that applies to a row is given to it.

    Parameters
    ----------
    Y_train : array-like, sparse matrix or data frame of shape (n, q)
        Indicator of the relevant labels of the training rows, n >= 3.
    a, b : float, default=0.55, 1.5
        Constants of the data, a at least 0, b above 0; the defaults are those of Jain et al. (2016)
        for data that they name no others for.

    Returns
    -------
    ndarray of shape (q,)
        In (0, 1]; smaller for rarer labels.

    Notes
    -----
    1 / (1 + C exp(-a log(N_k + b))) with C = (log n - 1) (b + 1)^a, where N_k is the number of
    training rows of label k (Jain, Prabhu and Varma 2016, section 4.1).
    """
    Y = check_indicator(Y_train, "Y_train")
    a, b = check_real("a", a, at_least=0.0), check_real("b", b, above=0.0)
    if Y.shape[0] < 3:
        raise ValueError(f"Y_train has {Y.shape[0]} rows; expected at least 3.")
    counts = Y.sum(axis=0, dtype=np.int64)
    odds = (np.log(Y.shape[0]) - 1.0) * ((b + 1.0) / (counts + b)) ** a
    propensities: Vector = 1.0 / (1.0 + odds)
    return propensities


def propensity_scored_precision_at_k(
    Y_true: LabelsLike,
    scores: MatrixLike,
    propensities: ArrayLike,
    *,
    k: int = 5,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Precision at k in which a rare label counts more, relative to the best possible.

    Parameters
    ----------
    Y_true : array-like, sparse matrix or data frame of shape (n, q)
        Indicator of the relevant labels, 0 and 1; NaN where a label is unknown, which is left out.
    scores : array-like of shape (n, q)
        Finite scores f_k(x); a larger score ranks the label higher.
    propensities : array-like of shape (q,)
        In (0, 1], of the training rows: `label_propensities`.
    k : int, default=5
        Number of labels from the top of the ranking, at least 1; all if there are fewer.
    sample_weight : array-like of shape (n,), default=None
        Weights of the rows; None gives each row the weight 1.

    Returns
    -------
    float
        In [0, 1]; 1 is best.

    Raises
    ------
    TypeError, ValueError
        If no row has a relevant label.

    Notes
    -----
    The sum of 1 / p over the relevant labels among the k highest, over all rows, divided by its
    largest possible value (Jain, Prabhu and Varma 2016); ties as in `precision_at_k`.
    """
    Y, f, weights, _ = _checked(Y_true, scores, sample_weight)
    k = _checked_k(k, Y.shape[1])
    with naming("propensities", "a number for each label"):
        p = np.asarray(propensities, dtype=np.float64)
    if p.shape != (Y.shape[1],) or not ((p > 0.0) & (p <= 1.0)).all():
        raise ValueError(
            f"propensities have shape {p.shape}; expected ({Y.shape[1]},), values in (0, 1]."
        )
    gains = (Y == 1) / p
    best = np.average(_gains_at(gains, gains, k), weights=weights)
    if best == 0.0:
        raise ValueError("Y_true has no relevant label; expected some to be found.")
    return float(np.average(_gains_at(gains, f, k), weights=weights) / best)


def _gains_at(gains: NDArray[Any], f: Vector, k: int) -> Vector:
    """Return each row's sum of gains of the k highest labels, a mean over the orders of ties."""
    last = -np.partition(-f, k - 1, axis=1)[:, k - 1, None]
    above, tied = f > last, f == last
    places = k - np.count_nonzero(above, axis=1)
    shared = np.sum(gains * tied, axis=1) / np.count_nonzero(tied, axis=1)
    total: Vector = np.sum(gains * above, axis=1) + places * shared
    return total


def ndcg_at_k(
    Y_true: LabelsLike, scores: MatrixLike, *, k: int = 5, sample_weight: ArrayLike | None = None
) -> float:
    """Discounted gain of the k highest labels, relative to that of the best ranking.

    Parameters
    ----------
    Y_true : array-like, sparse matrix or data frame of shape (n, q)
        Indicator of the relevant labels, 0 and 1; NaN where a label is unknown, which is left out.
    scores : array-like of shape (n, q)
        Finite scores f_k(x); a larger score ranks the label higher.
    k : int, default=5
        Number of labels from the top of the ranking, at least 1; all if there are fewer.
    sample_weight : array-like of shape (n,), default=None
        Weights of the rows; None gives each row the weight 1.

    Returns
    -------
    float
        In [0, 1]; 1 is best.

    Raises
    ------
    TypeError, ValueError
        If no row has a relevant label.

    Notes
    -----
    `sklearn.metrics.ndcg_score` of the rows with a relevant label: a relevant label in place r
    gains 1 / log2(1 + r), and tied labels gain what they gain on average.
    """
    Y, f, weights, _ = _checked(Y_true, scores, sample_weight)
    k = _checked_k(k, Y.shape[1])
    defined = Y.any(axis=1)
    if weights is not None:
        defined &= weights > 0.0
        weights = weights[defined]
    if not defined.any():
        raise ValueError("Y_true has no relevant label; the gain of the best ranking is 0.")
    return float(metrics.ndcg_score(Y[defined], f[defined], k=k, sample_weight=weights))


def auc_macro(
    Y_true: LabelsLike, scores: MatrixLike, *, sample_weight: ArrayLike | None = None
) -> float:
    """Area under the ROC curve of each label, averaged over the labels.

    Parameters
    ----------
    Y_true : array-like, sparse matrix or data frame of shape (n, q)
        Indicator of the relevant labels, 0 and 1; NaN where a label is unknown, which is left out.
    scores : array-like of shape (n, q)
        Finite scores f_k(x); a larger score ranks the label higher.
    sample_weight : array-like of shape (n,), default=None
        Weights of the rows; None gives each row the weight 1.

    Returns
    -------
    float
        In [0, 1]; 1 is best.

    Raises
    ------
    TypeError, ValueError
        If no label has both values.

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
    Y, f, weights, known = _checked(Y_true, scores, sample_weight)
    used = known if weights is None else known & (weights > 0.0)[:, None]
    labels = np.flatnonzero((used & (Y == 1)).any(axis=0) & (used & (Y == 0)).any(axis=0))
    if labels.size == 0:
        raise ValueError("Y_true has no label with both values; an area under the curve needs one.")
    if labels.size < Y.shape[1]:
        names = recognise(Y_true).names
        names = np.arange(Y.shape[1]) if names is None else names
        absent = np.setdiff1d(np.arange(Y.shape[1]), labels)
        warn(
            "Labels with one value only are left out of the macro AUC: "
            f"{', '.join(_with_value(names[k], Y[used[:, k], k]) for k in absent)}."
        )
    areas = [_area(Y[:, k], f[:, k], weights, known[:, k]) for k in labels]
    return float(np.mean(areas))


def auc_micro(
    Y_true: LabelsLike, scores: MatrixLike, *, sample_weight: ArrayLike | None = None
) -> float:
    """Area under the ROC curve of all entries of the indicator matrix taken together.

    Parameters
    ----------
    Y_true : array-like, sparse matrix or data frame of shape (n, q)
        Indicator of the relevant labels, 0 and 1; NaN where a label is unknown, which is left out.
    scores : array-like of shape (n, q)
        Finite scores f_k(x); a larger score ranks the label higher.
    sample_weight : array-like of shape (n,), default=None
        Weights of the rows; None gives each row the weight 1.

    Returns
    -------
    float
        In [0, 1]; 1 is best.

    Raises
    ------
    TypeError, ValueError
        If all entries are equal.

    Notes
    -----
    The share of pairs of a relevant and an irrelevant entry that the scores order rightly; a tie
    counts half.
    """
    Y, f, weights, known = _checked(Y_true, scores, sample_weight)
    of_entries = None if weights is None else np.repeat(weights, Y.shape[1])
    counted = Y[known if weights is None else known & (weights > 0.0)[:, None]]
    if counted.all() or not counted.any():
        raise ValueError(
            "Y_true has entries of one value only; an area under the curve needs both."
        )
    return _area(Y.ravel(), f.ravel(), of_entries, known.ravel())


def area_under_curve(y: NDArray[np.uint8], scores: Matrix, weights: Vector | None) -> float:
    """Return the area under the ROC curve of a label that has both values."""
    return float(metrics.roc_auc_score(y, scores, sample_weight=weights))


def _area(
    y: NDArray[np.uint8], f: NDArray[Any], weights: Vector | None, known: NDArray[np.bool_]
) -> float:
    return area_under_curve(y[known], f[known], None if weights is None else weights[known])


def _with_value(name: Any, values: NDArray[np.uint8]) -> str:
    return f"{name} ({values[0] if values.size else 'unknown'})"


def _checked(
    Y_true: Any, scores: Any, sample_weight: ArrayLike | None
) -> tuple[NDArray[np.uint8], NDArray[Any], Vector | None, NDArray[np.bool_]]:
    """Return labels, scores and weights of the rows that count, and which are known.

    An unknown label is irrelevant and below all others there.
    """
    check_same_order(Y_true, scores=scores)
    Y, known = known_labels(Y_true, "Y_true")
    f = check_scores(scores, n_rows=Y.shape[0], n_labels=Y.shape[1])
    weights = check_sample_weight(sample_weight, Y.shape[0])
    rows = measured_rows(known, weights)
    if known.all() and rows.all():
        return Y, f, weights, known
    f = np.where(known, f, np.nextafter(f.min(), -np.inf))
    return Y[rows], f[rows], None if weights is None else weights[rows], known[rows]


def _checked_k(k: int, q: int) -> int:
    return min(check_integer("k", k, at_least=1), q)
