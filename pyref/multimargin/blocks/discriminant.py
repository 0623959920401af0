"""Linear discriminants of all labels, from one covariance of the features."""

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import logit
from sklearn.utils import gen_batches
from sklearn.utils.validation import validate_data

from multimargin.blas import with_one_blas_thread
from multimargin.blocks.base import MOST_EXPLAINED, LinearBlock, weighed_rows, without_traces
from multimargin.checks.parameters import check_real
from multimargin.decompositions import aside
from multimargin.features.scales import largest_of_columns
from multimargin.typing import LabelsLike, MatrixLike
from multimargin.whole_fits import whole_or_unchanged

# Deviation of a column, relative to its largest value, below which it is constant.
_CONSTANT = 1e-12
# Minimum share of the weight in which a label must be known.
_LIGHTEST = 1e-12
# Features that are centred at a time.
_ENTRIES = 2**20


class LabelDiscriminant(LinearBlock):
    """One linear discriminant a label, all of one covariance: for few columns.

    Parameters
    ----------
    alpha : float, default=100.0
        Ridge added to the diagonal of the covariance of columns of variance 1, in rows.

    Attributes
    ----------
    coef_ : ndarray of shape (q, d)
        Weights of the features; zeros for a label of one value.
    intercept_ : ndarray of shape (q,)
        Intercepts.
    classes_ : ndarray of shape (q,)
        Label numbers.
    n_features_in_ : int
        Number of features.

    Notes
    -----
    The least squares of each label, scaled to the logarithm of the odds under normal features with
    one covariance in both classes, as `sklearn.discriminant_analysis.LinearDiscriminantAnalysis`
    has it. A label that is unknown in some rows has its mean from the others.

    Examples
    --------
    >>> from multimargin.blocks import LabelDiscriminant
    >>> from multimargin.datasets import load_digit_attributes
    >>> X, X_test, y, y_test = load_digit_attributes().train_test()
    >>> LabelDiscriminant().fit(X, y).predict_proba(X_test).shape == y_test.shape
    True
    """

    def __init__(self, alpha: float = 100.0) -> None:
        self.alpha = alpha

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = False
        return tags

    @whole_or_unchanged
    @with_one_blas_thread
    def fit(self, X: MatrixLike, y: LabelsLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit all labels.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Features.
        y : array-like of shape (n, q)
            Label indicator of 0 and 1; NaN for unknown labels.
        sample_weight : array-like of shape (n,), default=None
            Weights of the rows, of which only the ratios count; None gives each row the weight 1.
        """
        alpha = check_real("alpha", self.alpha, above=0.0)
        X = without_traces(validate_data(self, X, dtype=np.float64))
        weights, X, relevant, known = weighed_rows(X, y, sample_weight)
        size, totals, hits = weights.sum(), weights @ known, weights @ relevant
        shares = (hits + 0.5) / (totals + 1.0)
        scale = largest_of_columns(X)
        scale[scale == 0.0] = 1.0
        mean = (weights / size) @ X
        gram, pull = np.zeros((X.shape[1], X.shape[1])), np.zeros((X.shape[1], hits.size))
        # A label that is unknown in all rows has no effect
        of_known = np.where(totals > 0.0, np.maximum(totals, _LIGHTEST * size), size)
        for rows in gen_batches(len(X), max(_ENTRIES // X.shape[1], 1)):
            centred = (X[rows] - mean) / scale
            weighed = weights[rows, None] * centred
            gram += weighed.T @ centred
            pull += weighed.T @ np.where(known[rows], relevant[rows] - hits / of_known, 0.0)
        deviation = np.sqrt(np.diag(gram) / size)
        of_unit = np.divide(1.0, deviation, out=np.zeros_like(scale), where=deviation > _CONSTANT)
        gram *= of_unit[:, None] * of_unit
        gram[np.diag_indices_from(gram)] += alpha
        pull *= of_unit[:, None] * (size / of_known)
        weights_of_unit = np.asarray(aside(np.linalg.solve, gram, pull), dtype=np.float64)
        variance = shares * (1.0 - shares)
        explained = (weights_of_unit * pull).sum(axis=0) / (size * variance)
        explained = np.clip(explained, 0.0, MOST_EXPLAINED)
        # From least squares to the odds
        slope = 1.0 / (variance * (1.0 - explained))
        self.coef_ = (weights_of_unit * slope).T * (of_unit / scale)
        middle = (0.5 - shares) * explained * slope
        self.intercept_ = logit(shares) - middle - self.coef_ @ mean
        self.classes_ = np.arange(hits.size)
        return self
