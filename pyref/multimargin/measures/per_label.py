"""Measures of single labels, and of single rows."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from multimargin.checks.arrays import check_same_order
from multimargin.checks.scores import check_scores
from multimargin.checks.weights import check_sample_weight
from multimargin.measures.label_sets import checked_sets
from multimargin.measures.retrieval import area_under_curve
from multimargin.targets.given import recognise
from multimargin.typing import Frame, LabelsLike, MatrixLike, Vector


def label_measures(
    Y_true: LabelsLike,
    Y_pred: LabelsLike,
    scores: MatrixLike,
    *,
    sample_weight: ArrayLike | None = None,
) -> "dict[str, Vector] | Frame":
    """Measures of each single label, to see which labels a model gets wrong.

    Parameters
    ----------
    Y_true : array-like, sparse matrix or data frame of shape (n, q)
        Indicator of the relevant labels, 0 and 1; NaN where a label is unknown, which is left out.
    Y_pred : array-like, sparse matrix or data frame of shape (n, q)
        Indicator of the predicted labels, 0 and 1; q >= 2.
    scores : array-like of shape (n, q)
        Finite scores f_k(x); a larger score ranks the label higher.
    sample_weight : array-like of shape (n,), default=None
        Weights of the rows; None gives each row the weight 1.

    Returns
    -------
    dict of str to ndarray of shape (q,), or pandas.DataFrame
        A frame with a row for each label, by name, if `Y_true` or `Y_pred` is a frame with names.
        "support", the weight of the rows in which the label is relevant; "predicted", of those in
        which it is predicted; "errors", of those in which the two differ; "precision", "recall" and
        "f1"; and "auc", the area under the ROC curve. NaN where a measure is not defined: precision
        of a label that is never predicted, recall of one that is never relevant, the area of one
        that is relevant in all rows or in none.

    Examples
    --------
    >>> from multimargin.measures import label_measures
    >>> Y, scores = [[1, 0], [1, 1], [0, 1]], [[2.0, -1.0], [1.0, 1.0], [0.5, 3.0]]
    >>> found = label_measures(Y, [[1, 0], [1, 1], [1, 1]], scores)
    >>> found["errors"], found["recall"]
    (array([1., 0.]), array([1., 1.]))

    The weakest labels of a data frame:

    >>> import pandas as pd
    >>> frame = pd.DataFrame(Y, columns=["red", "blue"])
    >>> found = label_measures(frame, [[1, 0], [1, 1], [1, 1]], scores)
    >>> found.sort_values("f1").index.tolist()
    ['red', 'blue']
    """
    check_same_order(Y_true, scores=scores)
    Y, predicted, known = checked_sets(Y_true, Y_pred)
    f = check_scores(scores, n_rows=Y.shape[0], n_labels=Y.shape[1])
    weights = check_sample_weight(sample_weight, Y.shape[0])
    counted = known * (np.ones(Y.shape[0]) if weights is None else weights)[:, np.newaxis]
    areas = [
        _area(Y[rows, k], f[rows, k], None if weights is None else weights[rows])
        for k, rows in enumerate((counted > 0.0).T)
    ]
    found = {**_shares(Y, predicted, counted, axis=0), "auc": np.array(areas)}
    names = recognise(Y_true, "Y_true").names
    names = recognise(Y_pred, "Y_pred").names if names is None else names
    if names is None:
        return found
    from pandas import DataFrame

    return DataFrame(found, index=names)


def row_measures(Y_true: LabelsLike, Y_pred: LabelsLike) -> dict[str, NDArray[np.float64]]:
    """Measures of each single row, to see which rows a model gets wrong.

    Parameters
    ----------
    Y_true : array-like, sparse matrix or data frame of shape (n, q)
        Indicator of the relevant labels, 0 and 1; NaN where a label is unknown, which is left out.
    Y_pred : array-like, sparse matrix or data frame of shape (n, q)
        Indicator of the predicted labels, 0 and 1; q >= 2.

    Returns
    -------
    dict of str to ndarray of shape (n,)
        "support", the number of relevant labels; "predicted", that of predicted ones; "errors", of
        labels that are one but not the other; "precision", "recall" and "f1". NaN where a measure
        is not defined: precision of a row without predicted labels, recall of one without relevant
        ones.

    Examples
    --------
    >>> from multimargin.measures import row_measures
    >>> row_measures([[1, 0], [1, 1], [0, 1]], [[1, 0], [0, 1], [1, 0]])["errors"]
    array([0., 1., 2.])
    """
    Y, predicted, known = checked_sets(Y_true, Y_pred)
    return _shares(Y, predicted, known.astype(float), axis=1)


def _shares(
    Y: NDArray[np.uint8], predicted: NDArray[np.uint8], counted: NDArray[np.float64], axis: int
) -> dict[str, NDArray[np.float64]]:
    """Return weighted counts and shares along an axis."""
    both, support, named = (
        np.sum(counted * marks, axis=axis) for marks in (Y & predicted, Y, predicted)
    )
    with np.errstate(invalid="ignore"):
        return {
            "support": support,
            "predicted": named,
            "errors": support + named - 2 * both,
            "precision": both / named,
            "recall": both / support,
            "f1": 2 * both / (support + named),
        }


def _area(y: NDArray[np.uint8], f: NDArray[Any], weights: NDArray[np.float64] | None) -> float:
    """Return the area under the curve of a label, NaN if it is undefined."""
    return area_under_curve(y, f, weights) if 0 < np.count_nonzero(y) < y.size else float("nan")
