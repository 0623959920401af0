"""What fitted models say, in the form that references take."""

import numpy as np


def expansion_matrix(model, n):
    """The expansion over all n training rows, of shape (n, q); `dual_coef_` has its support."""
    expansion = np.zeros((n, model.intercept_.size))
    expansion[model.support_] = model.dual_coef_
    return expansion
