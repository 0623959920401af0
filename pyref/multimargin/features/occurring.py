"""Weights of the features that occur: words hashed to 2^20 columns leave most of them empty."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from multimargin.typing import Features, Matrix, is_sparse


def occurring_columns(X: Features) -> NDArray[np.intp] | None:
    """Return the columns of a sparse matrix that have entries, ascending, if fewer than half have.

    None stands for all columns.
    """
    if not is_sparse(X):
        return None
    columns = np.flatnonzero(X.count_nonzero(axis=0))
    return columns if 0 < 2 * columns.size < X.shape[1] else None


def of_columns(X: Features, columns: NDArray[np.intp] | None) -> Any:
    """Return some columns, all if None."""
    return X if columns is None else X[:, columns]


class LinearWeights(BaseEstimator):  # type: ignore[misc]
    """Base of estimators with weights of features: those that do not occur have none in memory."""

    _weights: Matrix | None = None  # (d', q)
    _columns: NDArray[np.intp] | None = None  # (d',): The features of these; None stands for all

    n_features_in_: int

    @property
    def coef_(self) -> Matrix:
        if self._weights is None:
            raise AttributeError(f"{type(self).__name__} has no weights of features, coef_.")
        if self._columns is None:
            return self._weights.T
        weights = np.zeros((self.n_features_in_, self._weights.shape[1]), self._weights.dtype)
        weights[self._columns] = self._weights
        return weights.T

    @coef_.setter
    def coef_(self, weights: Matrix) -> None:
        self._weights, self._columns = weights.T, None
