"""Base of the classifiers of a stack."""

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from scipy.special import expit
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.extmath import safe_sparse_dot
from sklearn.utils.validation import check_is_fitted, validate_data

from multimargin.blas import with_one_blas_thread
from multimargin.checks.weights import check_sample_weight, of_rows_that_count
from multimargin.features.occurring import LinearWeights, occurring_columns, of_columns
from multimargin.targets.indicator import UNKNOWN, check_indicator, known_labels
from multimargin.typing import Features, LabelsLike, Matrix, MatrixLike, Vector, is_sparse

MOST_EXPLAINED = 0.99
"""Maximum share of a label's variance that a regression may explain."""
# Features smaller in magnitude are 0, as their squares underflow.
_TRACE = 1e-100


class LabelBlock(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Base of the classifiers of labels that take sparse features."""

    classes_: NDArray[np.intp]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        tags.target_tags.multi_output = True
        tags.input_tags.sparse = True
        return tags


class OddsBlock(LabelBlock, ABC):
    """Base of those whose decision function is the logarithm of the odds of each label."""

    @abstractmethod
    def decision_function(self, X: MatrixLike) -> Matrix:
        """Return the logarithm of the odds of each label.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n, d)
            Features.

        Returns
        -------
        ndarray of shape (n, q)
            log(p / (1 - p)).
        """

    def predict_proba(self, X: MatrixLike) -> Matrix:
        """Return the probability of each label.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n, d)
            Features.

        Returns
        -------
        ndarray of shape (n, q)
            Between 0 and 1.
        """
        return np.asarray(expit(self.decision_function(X)))

    def predict(self, X: MatrixLike) -> NDArray[np.intp]:
        """Predict the labels that are more likely than not.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n, d)
            Features.

        Returns
        -------
        ndarray of shape (n, q)
            0 and 1.
        """
        return np.asarray(self.decision_function(X) > 0.0, dtype=np.intp)


class LinearBlock(LinearWeights, OddsBlock):
    """Base of those whose odds are linear in the features."""

    intercept_: Vector

    @with_one_blas_thread
    def decision_function(self, X: MatrixLike) -> Matrix:
        """Return the logarithm of the odds of each label.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n, d)
            Features.

        Returns
        -------
        ndarray of shape (n, q)
            log(p / (1 - p)).
        """
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, accept_sparse="csr", dtype=np.float64)
        X, weights = of_columns(X, self._columns), self._weights
        assert weights is not None
        columns = occurring_columns(X)
        if columns is not None:
            X, weights = X[:, columns], weights[columns]
        scores: Matrix = safe_sparse_dot(X, weights, dense_output=True)
        scores += self.intercept_
        return scores


def without_traces(X: MatrixLike) -> Features:
    """Return features, dense or CSR, with those near the smallest numbers set to 0."""
    values = X.data if is_sparse(X) else X
    traces = (np.abs(values) < _TRACE) & (values != 0.0)
    if not traces.any():
        return X
    kept = np.where(traces, 0.0, values)
    return type(X)((kept, X.indices, X.indptr), shape=X.shape) if is_sparse(X) else kept


def weighed_rows(
    X: Features, y: LabelsLike, sample_weight: ArrayLike | None
) -> tuple[Vector, Features, NDArray[np.uint8], NDArray[np.bool_]]:
    """Return weights above 0, over the largest, and of these rows features and known labels.

    Labels are 0 where they are unknown; last is which are known.
    """
    relevant, known = known_labels(y, "y")
    weights = check_sample_weight(sample_weight, len(relevant))
    weights = np.ones(len(relevant)) if weights is None else weights / weights.max()
    weights, X, relevant, known = of_rows_that_count(weights, X, relevant, known)
    return weights, X, relevant, known


def with_shares(y: LabelsLike, weights: Matrix | None) -> Features:
    """Return an indicator (n, q) with unknown labels replaced by their share among known rows.

    A sparse one stays so.
    """
    if sparse.issparse(y):
        return _sparse_with_shares(y, weights)
    indicator, known = known_labels(y, "y")
    filled = indicator.astype(np.float64)
    if known.all():
        return filled
    counted = np.ones(len(filled)) if weights is None else weights
    totals = counted @ known
    shares = np.divide(counted @ filled, totals, out=np.full(totals.shape, 0.5), where=totals > 0.0)
    return np.where(known, filled, shares)


def _sparse_with_shares(y: LabelsLike, weights: Matrix | None) -> Any:
    indicator: Any = check_indicator(y, "y", unknown=True, keep_sparse=True)
    n, q = indicator.shape
    counted = np.ones(n) if weights is None else weights
    rows, labels = indicator.nonzero()
    marks = indicator.data[indicator.data != 0]
    of_marks = [
        np.bincount(labels[marks == mark], counted[rows[marks == mark]], minlength=q)
        for mark in (1, UNKNOWN)
    ]
    totals = counted.sum() - of_marks[1]
    shares = np.divide(of_marks[0], totals, out=np.full(q, 0.5), where=totals > 0.0)
    filled = np.where(marks == 1, 1.0, shares[labels])
    return sparse.csr_array((filled, (rows, labels)), shape=(n, q))
