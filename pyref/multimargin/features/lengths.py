"""Rows of unit length."""

import numpy as np
from sklearn.preprocessing import normalize
from sklearn.utils.extmath import row_norms

from multimargin.typing import Features, is_sparse


def unit_rows(X: Features) -> Features:
    """Return rows divided by their Euclidean norms; rows of zeros stay as they are.

    `normalize` of scikit-learn leaves dense rows shorter than 2e-15 as they are, too, though not
    sparse ones.
    """
    if is_sparse(X):
        return normalize(X)
    norms = row_norms(X)
    return np.asarray(X / np.where(norms > 0.0, norms, 1.0)[:, None])
