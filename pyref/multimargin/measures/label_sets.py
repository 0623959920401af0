"""Bipartition measures: predicted label sets against the true ones, computed by scikit-learn.

Unknown labels (NaN) are left out: neither relevant nor predicted, they change no measure but the
Hamming loss, which divides by the number of known labels. Rows and labels without any known entry
do not count.
"""

from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn import metrics

from multimargin.checks.arrays import check_same_order
from multimargin.checks.weights import check_sample_weight, measured_rows
from multimargin.targets.indicator import check_indicator, known_labels
from multimargin.typing import LabelsLike


def hamming_loss(
    Y_true: LabelsLike, Y_pred: LabelsLike, *, sample_weight: ArrayLike | None = None
) -> float:
    """Fraction of entries of the indicator matrix that are wrong.

    Parameters
    ----------
    Y_true : array-like, sparse matrix or data frame of shape (n, q)
        Indicator of the relevant labels, 0 and 1; NaN where a label is unknown, which is left out.
    Y_pred : array-like, sparse matrix or data frame of shape (n, q)
        Indicator of the predicted labels, 0 and 1; q >= 2.
    sample_weight : array-like of shape (n,), default=None
        Weights of the rows; None gives each row the weight 1.

    Returns
    -------
    float
        In [0, 1]; 0 is best.

    Notes
    -----
    Rank-CVM paper, equation 7.
    """
    sets = _compared(Y_true, Y_pred, sample_weight)
    weights = np.ones(len(sets.known)) if sets.weights is None else sets.weights
    wrong = np.not_equal(*sets.labels).sum(axis=1)
    return float(weights @ wrong / (weights @ sets.known.sum(axis=1)))


def exact_match(
    Y_true: LabelsLike, Y_pred: LabelsLike, *, sample_weight: ArrayLike | None = None
) -> float:
    """Fraction of rows whose label set is predicted without any error (subset accuracy).

    Parameters
    ----------
    Y_true : array-like, sparse matrix or data frame of shape (n, q)
        Indicator of the relevant labels, 0 and 1; NaN where a label is unknown, which is left out.
    Y_pred : array-like, sparse matrix or data frame of shape (n, q)
        Indicator of the predicted labels, 0 and 1; q >= 2.
    sample_weight : array-like of shape (n,), default=None
        Weights of the rows; None gives each row the weight 1.

    Returns
    -------
    float
        In [0, 1]; 1 is best.

    Notes
    -----
    LLSF paper, equation 18.
    """
    sets = _compared(Y_true, Y_pred, sample_weight)
    return float(metrics.accuracy_score(*sets.labels, sample_weight=sets.weights))


def jaccard(
    Y_true: LabelsLike,
    Y_pred: LabelsLike,
    *,
    zero_division: float = 1.0,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Example-based Jaccard similarity, which the field also calls "accuracy".

    Parameters
    ----------
    Y_true : array-like, sparse matrix or data frame of shape (n, q)
        Indicator of the relevant labels, 0 and 1; NaN where a label is unknown, which is left out.
    Y_pred : array-like, sparse matrix or data frame of shape (n, q)
        Indicator of the predicted labels, 0 and 1; q >= 2.
    zero_division : {0.0, 1.0}, default=1.0
        Value of a Jaccard similarity or F1 where no label is relevant or predicted: 1, because
        the prediction is perfect.
    sample_weight : array-like of shape (n,), default=None
        Weights of the rows; None gives each row the weight 1.

    Returns
    -------
    float
        In [0, 1]; 1 is best.

    Notes
    -----
    LLSF paper, equation 17: the mean of ``|true and predicted| / |true or predicted|``.
    """
    sets = _compared(Y_true, Y_pred, sample_weight)
    _check_zero_division(zero_division)
    return float(
        metrics.jaccard_score(
            *sets.labels,
            average="samples",
            zero_division=zero_division,
            sample_weight=sets.weights,
        )
    )


def example_f1(
    Y_true: LabelsLike,
    Y_pred: LabelsLike,
    *,
    zero_division: float = 1.0,
    sample_weight: ArrayLike | None = None,
) -> float:
    """F1 of each row's label set, averaged over the rows.

    Parameters
    ----------
    Y_true : array-like, sparse matrix or data frame of shape (n, q)
        Indicator of the relevant labels, 0 and 1; NaN where a label is unknown, which is left out.
    Y_pred : array-like, sparse matrix or data frame of shape (n, q)
        Indicator of the predicted labels, 0 and 1; q >= 2.
    zero_division : {0.0, 1.0}, default=1.0
        Value of a Jaccard similarity or F1 where no label is relevant or predicted: 1, because
        the prediction is perfect.
    sample_weight : array-like of shape (n,), default=None
        Weights of the rows; None gives each row the weight 1.

    Returns
    -------
    float
        In [0, 1]; 1 is best.

    Notes
    -----
    LLSF paper, equation 19: the mean of
    ``2 |true and predicted| / (|true| + |predicted|)``.
    """
    return _f1("samples", Y_true, Y_pred, zero_division, sample_weight)


def macro_f1(
    Y_true: LabelsLike,
    Y_pred: LabelsLike,
    *,
    zero_division: float = 1.0,
    sample_weight: ArrayLike | None = None,
) -> float:
    """F1 of each label, averaged over the labels.

    Parameters
    ----------
    Y_true : array-like, sparse matrix or data frame of shape (n, q)
        Indicator of the relevant labels, 0 and 1; NaN where a label is unknown, which is left out.
    Y_pred : array-like, sparse matrix or data frame of shape (n, q)
        Indicator of the predicted labels, 0 and 1; q >= 2.
    zero_division : {0.0, 1.0}, default=1.0
        Value of a Jaccard similarity or F1 where no label is relevant or predicted: 1, because
        the prediction is perfect.
    sample_weight : array-like of shape (n,), default=None
        Weights of the rows; None gives each row the weight 1.

    Returns
    -------
    float
        In [0, 1]; 1 is best.

    Notes
    -----
    LLSF paper, equation 20. Where many labels do not occur in the test rows, `zero_division`
    changes the result much; scikit-learn's own default is 0.
    """
    return _f1("macro", Y_true, Y_pred, zero_division, sample_weight)


def micro_f1(
    Y_true: LabelsLike,
    Y_pred: LabelsLike,
    *,
    zero_division: float = 1.0,
    sample_weight: ArrayLike | None = None,
) -> float:
    """F1 of all entries of the indicator matrix taken together.

    Parameters
    ----------
    Y_true : array-like, sparse matrix or data frame of shape (n, q)
        Indicator of the relevant labels, 0 and 1; NaN where a label is unknown, which is left out.
    Y_pred : array-like, sparse matrix or data frame of shape (n, q)
        Indicator of the predicted labels, 0 and 1; q >= 2.
    zero_division : {0.0, 1.0}, default=1.0
        Value of a Jaccard similarity or F1 where no label is relevant or predicted: 1, because
        the prediction is perfect.
    sample_weight : array-like of shape (n,), default=None
        Weights of the rows; None gives each row the weight 1.

    Returns
    -------
    float
        In [0, 1]; 1 is best.

    Notes
    -----
    LLSF paper, equation 21.
    """
    return _f1("micro", Y_true, Y_pred, zero_division, sample_weight)


@dataclass(frozen=True)
class _LabelSets:
    """True and predicted labels of the rows that count, 0 where unknown."""

    labels: tuple[NDArray[np.uint8], NDArray[np.uint8]]
    weights: NDArray[np.float64] | None
    known: NDArray[np.bool_]


def checked_sets(
    Y_true: Any, Y_pred: Any
) -> tuple[NDArray[np.uint8], NDArray[np.uint8], NDArray[np.bool_]]:
    """Return true and predicted indicator, and which labels are known."""
    check_same_order(Y_true, Y_pred=Y_pred)
    Y, known = known_labels(Y_true, "Y_true")
    predicted = check_indicator(Y_pred, "Y_pred")
    if predicted.shape != Y.shape:
        raise ValueError(f"Y_pred has shape {predicted.shape}; expected that of Y_true, {Y.shape}.")
    return Y, predicted, known


def _compared(Y_true: Any, Y_pred: Any, sample_weight: ArrayLike | None) -> _LabelSets:
    """Check true and predicted label sets, see `hamming_loss`."""
    Y_true, Y_pred, known = checked_sets(Y_true, Y_pred)
    # scikit-learn takes one column for a binary problem and averages over its two classes.
    if Y_true.shape[1] < 2:
        raise ValueError(f"Y_true has shape {Y_true.shape}; expected at least two labels.")
    weights = check_sample_weight(sample_weight, len(Y_true))
    rows = measured_rows(known, weights)
    if known.all() and rows.all():
        return _LabelSets((Y_true, Y_pred), weights, known)
    return _LabelSets(
        (Y_true[rows], np.where(known, Y_pred, np.uint8(0))[rows]),
        None if weights is None else weights[rows],
        known[rows],
    )


def _check_zero_division(zero_division: float) -> None:
    if not isinstance(zero_division, Real) or zero_division not in (0.0, 1.0):
        raise ValueError(f"zero_division is {zero_division!r}; expected 0.0 or 1.0.")


def _f1(
    average: str, Y_true: Any, Y_pred: Any, zero_division: float, sample_weight: ArrayLike | None
) -> float:
    sets = _compared(Y_true, Y_pred, sample_weight)
    _check_zero_division(zero_division)
    return float(
        metrics.f1_score(
            *sets.labels,
            labels=np.flatnonzero(sets.known.any(axis=0)),
            average=average,
            zero_division=zero_division,
            sample_weight=sets.weights,
        )
    )
