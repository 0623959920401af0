"""Scores for the ranking measures, alike for every scikit-learn classifier."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from multimargin.measures.label_scores import response_of, scores_by

# As scikit-learn's scorers rank; without scores the predictions, whose labels tie.
_RESPONSES = ("decision_function", "predict_proba", "predict")


def scores_of(estimator: Any, X: Any, n_labels: int) -> tuple[NDArray[np.float64], str]:
    """Return the scores (n, q) of a fitted multi-label classifier, and the method they come from.

    That is the first of `decision_function`, `predict_proba` and `predict` that it has. Raises
    TypeError if it has none, and ValueError if the scores have another shape or are not finite.
    """
    source = response_of(estimator, _RESPONSES)
    return scores_by(estimator, source, X, n_labels=n_labels), source
