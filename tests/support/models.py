"""What fitted models say, in the form that references take, and which methods are of the family."""

import numpy as np

from multimargin.estimators.bases.pairwise import PairwiseClassifier
from multimargin.methods import METHODS

_ESTIMATORS = [method.estimator for method in METHODS.values()]
PAIRWISE = [estimator for estimator in _ESTIMATORS if issubclass(estimator, PairwiseClassifier)]


def expansion_matrix(model, n):
    """The expansion over all n training rows, of shape (n, q); `dual_coef_` has its support."""
    expansion = np.zeros((n, model.intercept_.size))
    expansion[model.support_] = model.dual_coef_
    return expansion
