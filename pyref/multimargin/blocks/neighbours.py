"""Votes of the nearest rows for all labels at once."""

from typing import Any, Self

import numpy as np
from scipy import sparse
from scipy.special import logit
from sklearn import config_context
from sklearn.neighbors import NearestNeighbors
from sklearn.utils.validation import check_is_fitted, validate_data

from multimargin.blocks.base import Matrix, OddsBlock, with_shares
from multimargin.checks.parameters import check_choice, check_integer
from multimargin.checks.weights import check_sample_weight

# Votes that each label's share among all rows counts, and those of a coin.
PRIOR, COIN = 2.0, 0.02
# Megabytes that scikit-learn takes for distances at a time.
_WORKING_MEMORY = 64


class LabelNeighbours(OddsBlock):
    """Odds of labels by the votes of the nearest rows.

    Parameters
    ----------
    n_neighbors : int, default=20
        Number of neighbours that vote, at least 1; all rows if there are fewer.
    metric : {"cosine", "euclidean"}, default="euclidean"
        Similarity of rows. A vote is weighted by the cosine, or by one over the distance.

    Attributes
    ----------
    neighbors_ : NearestNeighbors
        The training rows.
    labels_ : CSR array of shape (n, q)
        Their labels; the share of the label where it is unknown.
    weights_ : ndarray of shape (n,)
        Their weights.
    shares_ : ndarray of shape (q,)
        The share of each label among all rows.
    classes_ : ndarray of shape (q,)
        Label numbers.
    n_features_in_ : int
        Number of features.

    Notes
    -----
    With v the share of the votes for a label among k rows, and p its share among all rows, the
    probability is (k v + 2 p + 0.02) / (k + 2.04): no vote is not certainty.

    Examples
    --------
    >>> from multimargin.blocks import LabelNeighbours
    >>> from multimargin.datasets import load_digit_attributes
    >>> X, X_test, y, y_test = load_digit_attributes().train_test()
    >>> LabelNeighbours().fit(X, y).predict_proba(X_test).shape == y_test.shape
    True
    """

    def __init__(self, n_neighbors: int = 20, *, metric: str = "euclidean") -> None:
        self.n_neighbors = n_neighbors
        self.metric = metric

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Keep the rows.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n, d)
            Features.
        y : array-like of shape (n, q)
            Label indicator of 0 and 1; NaN for unknown labels, which vote by the share of
            the label.
        sample_weight : array-like of shape (n,), default=None
            Factors of the votes of the rows; rows of weight 0 are not kept.
        """
        check_integer("n_neighbors", self.n_neighbors, at_least=1)
        check_choice("metric", self.metric, ("cosine", "euclidean"))
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float64)
        weights = check_sample_weight(sample_weight, X.shape[0])
        labels = with_shares(y, weights)
        if weights is None:
            weights = np.ones(len(labels))
        kept = weights > 0.0
        if not kept.all():
            X, labels, weights = X[kept], labels[kept], weights[kept]
        # By brute force: trees of points help in few dimensions, and model files take none.
        k = min(self.n_neighbors, len(labels))
        self.neighbors_ = NearestNeighbors(
            n_neighbors=k, metric=self.metric, algorithm="brute"
        ).fit(X)
        self.labels_ = sparse.csr_array(labels)
        self.weights_ = weights
        self.shares_ = (self.labels_.T @ weights) / weights.sum()
        self.classes_ = np.arange(labels.shape[1])
        return self

    def decision_function(self, X: Any) -> Matrix:
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
        with config_context(working_memory=_WORKING_MEMORY):
            distances, near = self.neighbors_.kneighbors(X)
        n, k = near.shape
        votes = self.weights_[near] * _closeness(distances, self.metric)
        votes *= k / votes.sum(axis=1, keepdims=True)
        voting = sparse.csr_array(
            (votes.ravel(), near.ravel(), np.arange(0, n * k + 1, k)), shape=(n, self.weights_.size)
        )
        found = (voting @ self.labels_).toarray()
        found += PRIOR * self.shares_ + COIN
        found /= k + PRIOR + 2.0 * COIN
        return np.asarray(logit(found, out=found))


def _closeness(distances: Matrix, metric: str) -> Matrix:
    """Return what votes count by distances; rows at the same place count most."""
    if metric == "cosine":
        return np.maximum(1.0 - distances, 1e-9)
    floor = np.maximum(1e-9 * distances.max(axis=1, keepdims=True), np.finfo(float).tiny)
    closeness: Matrix = 1.0 / np.maximum(distances, floor)
    return closeness
