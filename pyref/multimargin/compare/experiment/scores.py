"""Scores for the ranking measures, alike for every scikit-learn classifier."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from multimargin.measures.label_scores import response_of, scores_by

# As scikit-learn's scorers rank; without scores the predictions, whose labels tie.
_RESPONSES = ("decision_function", "predict_proba", "predict")


def scores_of(estimator: Any, X: Any, n_labels: int) -> tuple[NDArray[np.float64], str]:
    """Return the scores of a fitted multi-label classifier.

    Parameters
    ----------
    estimator : estimator
        Fitted on an indicator of n_labels columns.
    X : {ndarray, CSR matrix} of shape (n, d)
        Features.
    n_labels : int
        Number of labels q.

    Returns
    -------
    scores : ndarray of shape (n, q)
        The larger, the likelier is the label.
    source : {"decision_function", "predict_proba", "predict"}
        The first of these methods that the estimator has.

    Raises
    ------
    TypeError
        If the estimator has none of these methods.
    ValueError
        If the scores have another shape, or are not finite.
    """
    source = response_of(estimator, _RESPONSES)
    return scores_by(estimator, source, X, n_labels=n_labels), source
