"""Scores for the ranking measures, alike for every scikit-learn classifier."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from multimargin.labels import relevant_probabilities


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
    ValueError
        If the scores have another shape.
    """
    for source in ("decision_function", "predict_proba", "predict"):
        if not hasattr(estimator, source):
            continue
        answer = getattr(estimator, source)(X)
        if source == "predict_proba" and isinstance(answer, list):
            answer = relevant_probabilities(answer, estimator.classes_)
        if hasattr(answer, "toarray"):
            answer = answer.toarray()
        scores = np.asarray(answer, dtype=np.float64)
        if scores.shape != (X.shape[0], n_labels):
            raise ValueError(
                f"{source} returned the shape {scores.shape}; expected ({X.shape[0]}, {n_labels}), "
                "one score for each row and label."
            )
        return scores, source
    raise TypeError(f"{type(estimator).__name__} cannot predict; expected a classifier.")
