"""Votes of the nearest rows for all labels at once."""

from collections.abc import Callable
from typing import Any, Self, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from scipy.special import logit
from sklearn.utils import gen_batches
from sklearn.utils.extmath import row_norms
from sklearn.utils.validation import check_is_fitted, validate_data

from multimargin.blas import with_one_blas_thread
from multimargin.blocks.base import OddsBlock, with_shares
from multimargin.checks.parameters import check_choice, check_integer
from multimargin.checks.storage import canonical
from multimargin.checks.weights import check_sample_weight, of_rows_that_count
from multimargin.features.lengths import unit_rows
from multimargin.features.middle import middle_of
from multimargin.typing import Features, LabelsLike, Matrix, MatrixLike
from multimargin.whole_fits import whole_or_unchanged

PRIOR, COIN = 2.0, 0.02
"""Votes that each label's share among all rows counts, and those of a coin."""
TIES_OF_COSINES, TIES_OF_SQUARES = 1e-6, 1e-11
"""Cosines, and squared distances over the squared lengths of both rows, that differ by rounding."""
OF_ROW, OF_DISTANCE = 3.0, 2.0
"""The squared lengths of a row and one at a distance are at most the sum of these many squares."""
LEAST_COSINE, FARTHEST = 1e-9, 1e-18
"""The least that a cosine counts; the least squared distance, over the largest of the k rows."""
# Rounding error of the similarities of each row (m, 1)
Rounding: TypeAlias = Callable[[Matrix], Matrix]
# Similarities in memory at a time.
_ENTRIES = 2**21
# Parts of a row per neighbour, whose maxima bound its k-th largest value.
_PARTS = 6
# If more than one in this many values reach that bound, all are partitioned.
_FEW = 16


class LabelNeighbours(OddsBlock):
    """Odds of labels by the votes of the nearest rows.

    Parameters
    ----------
    n_neighbors : int, default=20
        Number k of neighbours that vote, at least 1; all rows if there are fewer.
    metric : {"cosine", "euclidean"}, default="euclidean"
        Similarity of rows. A vote is weighted by the cosine, or by one over the distance.

    Attributes
    ----------
    rows_ : ndarray of shape (n, d) or CSR array of shape (d, n)
        The training rows: less `center_` for Euclidean distances of dense features; of unit
        length, in single precision, for cosines. Those of sparse features are the columns of an
        inverted index.
    center_ : ndarray of shape (d,) or None
        The medians of dense training rows, for Euclidean distances.
    squares_ : ndarray of shape (n,) or None
        Their squared lengths, for Euclidean distances.
    labels_ : CSR array of shape (n, q)
        Their labels; the share of the label where it is unknown.
    weights_ : ndarray of shape (n,)
        Their weights, over the largest.
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

    Rows that are as near as the k-th one, up to rounding, share the places that are left: the votes
    are those expected when ties are broken at random. Rows at distance 0 count alike, and far more
    than all others.

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

    @whole_or_unchanged
    def fit(self, X: MatrixLike, y: LabelsLike, sample_weight: ArrayLike | None = None) -> Self:
        """Keep the rows.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n, d)
            Features.
        y : array-like or sparse matrix of shape (n, q)
            Label indicator of 0 and 1; NaN for unknown labels, which vote by the share of
            the label. A sparse one stays so.
        sample_weight : array-like of shape (n,), default=None
            Factors of the votes of the rows; rows of weight 0 are not kept.
        """
        check_integer("n_neighbors", self.n_neighbors, at_least=1)
        check_choice("metric", self.metric, ("cosine", "euclidean"))
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float64)
        if sparse.issparse(X):
            X = canonical(X)
        weights = check_sample_weight(sample_weight, X.shape[0])
        labels = with_shares(y, weights)
        if weights is None:
            weights = np.ones(X.shape[0])
        weights, X, labels = of_rows_that_count(weights, X, labels)
        self.weights_ = weights / weights.max()
        self.labels_ = sparse.csr_array(labels)
        self.shares_ = (self.labels_.T @ self.weights_) / self.weights_.sum()
        self.classes_ = np.arange(labels.shape[1])
        self.center_, self.squares_ = None, None
        if self.metric == "cosine":
            X = unit_rows(X).astype(np.float32)
        else:
            if not sparse.issparse(X):
                self.center_ = middle_of(X)
                X = X - self.center_
            self.squares_ = row_norms(X, squared=True)
        self.rows_ = sparse.csr_array(X.T) if sparse.issparse(X) else X
        return self

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
        found = np.empty((X.shape[0], self.classes_.size))
        for chunk in gen_batches(len(found), max(_ENTRIES // self.weights_.size, 1)):
            found[chunk] = self._shares_of_votes(X[chunk])
        k = min(self.n_neighbors, self.weights_.size)
        found *= k
        found += PRIOR * self.shares_ + COIN
        found /= k + PRIOR + 2.0 * COIN
        return np.asarray(logit(found, out=found))

    def _shares_of_votes(self, X: Features) -> Matrix:
        """Return the share of the votes for each label (m, q) among the k rows nearest to each."""
        nearness, rounding_at = self._nearness(X)
        m, n = nearness.shape
        k = min(self.n_neighbors, n)
        rows, places, last = _nearest(nearness, k, rounding_at)
        rounding = rounding_at(last)
        value, last, rounding = nearness[rows, places], last[:, 0], rounding[:, 0]
        closer = value > (last + rounding)[rows]
        left = k - np.bincount(rows[closer], minlength=m)
        tied = np.bincount(rows[~closer], minlength=m)
        votes = np.where(closer, 1.0, (left / np.maximum(tied, 1))[rows])
        if self.metric == "cosine":
            votes *= np.maximum(value, LEAST_COSINE)
        else:
            nearest = np.maximum(np.maximum(FARTHEST * -last, rounding), np.finfo(float).tiny)
            squares = np.maximum(-value, nearest[rows])
            starts = np.searchsorted(rows, np.arange(m))
            votes *= np.sqrt(np.minimum.reduceat(squares, starts)[rows] / squares)
        votes *= self.weights_[places]
        votes /= np.bincount(rows, votes, minlength=m)[rows]
        indptr = np.searchsorted(rows, np.arange(m + 1))
        voting = sparse.csr_array((votes, places, indptr), shape=(m, n))
        return np.asarray((voting @ self.labels_).toarray())

    def _nearness(self, X: Any) -> tuple[Matrix, Rounding]:
        """Return cosines or negative squared distances (m, n), and their rounding."""
        if self.metric == "cosine":
            ties = np.full((X.shape[0], 1), TIES_OF_COSINES)
            return self._products(unit_rows(X)), lambda value: ties
        if self.center_ is not None:
            X = (X.toarray() if sparse.issparse(X) else X) - self.center_
        assert self.squares_ is not None
        squares = row_norms(X, squared=True)[:, None]
        nearness = self._products(X)
        nearness *= 2.0
        nearness -= squares
        nearness -= self.squares_
        np.minimum(nearness, 0.0, out=nearness)
        return nearness, lambda value: TIES_OF_SQUARES * (OF_ROW * squares - OF_DISTANCE * value)

    def _products(self, X: Features) -> Matrix:
        """Return inner products (m, n) with the training rows."""
        if not sparse.issparse(self.rows_):
            return np.asarray(X @ self.rows_.T.astype(np.float64, copy=False))
        found = sparse.csr_array(X) @ self.rows_
        return np.asarray(found.toarray(), dtype=np.float64)


def _nearest(
    nearness: Matrix, k: int, rounding_at: Rounding
) -> tuple[NDArray[np.intp], NDArray[np.intp], Matrix]:
    """Return where values (m, n) reach the k-th largest of their row up to rounding, and it.

    Among the largest values of parts of a row, the k-th is a lower bound that few values reach.
    """
    m, n = nearness.shape
    parts = _PARTS * k
    size = n // parts
    if size > 1:
        largest = nearness[:, : parts * size].reshape(m, parts, size).max(axis=2)
        bound = np.partition(largest, parts - k, axis=1)[:, [parts - k]]
        rows, places = np.nonzero(nearness >= bound - rounding_at(bound))
        if rows.size <= m * n // _FEW and np.isfinite(largest).all():
            value = nearness[rows, places]
            falling = value[np.lexsort((-value, rows))]
            last = falling[np.searchsorted(rows, np.arange(m)) + k - 1]
            last = last[:, None]
            kept = value >= (last - rounding_at(last))[rows, 0]
            return rows[kept], places[kept], last
    last = np.partition(nearness, n - k, axis=1)[:, [n - k]]
    rows, places = np.nonzero(nearness >= last - rounding_at(last))
    return rows, places, last
