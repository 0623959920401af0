"""What the semi-supervised baselines share: a graph of the rows, and scores for rows not in it."""

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.validation import validate_data

from multimargin.baselines.neighbours import blocks_of_distances, nearest, squared_distances
from multimargin.checks.arrays import check_as_many_rows
from multimargin.checks.parameters import check_integer
from multimargin.checks.weights import refuse_metadata
from multimargin.estimators.bases.label_scoring import LabelScoringClassifier
from multimargin.estimators.ssmlrl import split_targets
from multimargin.kernels import make_kernel
from multimargin.targets.reading import Targets
from multimargin.thresholds import ConstantThreshold
from multimargin.thresholds.base import middle
from multimargin.typing import Matrix


class TransductiveClassifier(LabelScoringClassifier):
    """Base of the baselines that score the unlabelled rows given at fit.

    A derived class implements `_check_parameters` and `_transduce`.
    """

    n_neighbors: int
    gamma: float | str

    def fit(self, X: Any, y: Any, **metadata: Any) -> Self:
        """Score the unlabelled rows.

        Parameters
        ----------
        X : array-like, CSR matrix or data frame of shape (n, d)
            Features of labelled and unlabelled rows.
        y : array-like, sparse matrix or data frame of shape (n, q), or array-like of shape (n,)
            Label indicator of 0 and 1, or one class per row, which is one-hot encoded and predicted
            by the largest score. Rows of -1 are unlabelled.
        **metadata : object
            There is none: no weights of rows, for instance.

        Returns
        -------
        estimator
            The fitted estimator itself.

        Raises
        ------
        TypeError, ValueError
            If a parameter or an array is malformed; the message names it, what was found and what
            is expected.
        """
        refuse_metadata(self, metadata)
        check_integer("n_neighbors", self.n_neighbors, at_least=1)
        self._check_parameters()
        if y is None:
            validate_data(self, X, y)
        X = self._checked_features(X, reset=True)
        targets, labelled = split_targets(y)
        check_as_many_rows(labelled, X)
        self._X = X
        self._gamma = make_kernel("rbf", X, gamma=self.gamma).gamma
        scores = self._transduce(X, targets.indicator.astype(np.float64), labelled)
        self.transduced_scores_ = scores
        self.labelled_ = np.flatnonzero(labelled)
        self._fit_threshold(targets, labelled)
        self._store_targets(targets)
        return self

    def _check_parameters(self) -> None:
        raise NotImplementedError

    def _transduce(self, X: Any, Y: Matrix, labelled: NDArray[np.bool_]) -> Matrix:
        """Return the scores of all rows; `Y` has the labelled rows alone."""
        raise NotImplementedError

    def _fit_threshold(self, targets: Targets, labelled: NDArray[np.bool_]) -> None:
        rows = labelled if labelled.all() else ~labelled
        scores = self.transduced_scores_[rows]
        cut = cut_at_cardinality(scores, float(targets.indicator.sum(axis=1).mean()))
        self.threshold_ = ConstantThreshold(cut).fit(scores, np.zeros(scores.shape, dtype=np.uint8))

    def _label_scores(self, X: Any) -> Matrix:
        """Return the weighted mean of the scores of the nearest rows of the fit.

        A row that equals one of the fit has its scores.
        """
        k = min(int(self.n_neighbors), self._X.shape[0])
        scores = np.empty((X.shape[0], self.transduced_scores_.shape[1]))
        for rows, distances in blocks_of_distances(X, self._X):
            found = nearest(distances, k)
            near = np.take_along_axis(distances, found, axis=1)
            closest = near.min(axis=1, keepdims=True)
            # Relative to the closest, so that not all of them underflow.
            weights = np.exp(-self._gamma * (near - closest))
            weights /= weights.sum(axis=1, keepdims=True)
            of_neighbours = self.transduced_scores_[found]
            scores[rows] = np.einsum("ij,ijk->ik", weights, of_neighbours)
            first = found[np.arange(len(found)), near.argmin(axis=1)]
            same = _equal_rows(X[rows], self._X[first])
            scores[rows][same] = self.transduced_scores_[first[same]]
        return scores


def _equal_rows(X: Any, Z: Any) -> NDArray[np.bool_]:
    if sparse.issparse(X):
        return np.asarray(abs(X - Z).max(axis=1).toarray().ravel() == 0.0)
    return np.asarray((X == Z).all(axis=1))


def neighbour_graph(X: Any, n_neighbors: int, gamma: float) -> Any:
    """Return the weights of the graph of nearest neighbours.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n, d)
        Features.
    n_neighbors : int
        Neighbours of a row; all other rows where there are no more.
    gamma : float
        Positive.

    Returns
    -------
    CSR array of shape (n, n)
        exp(-gamma ||x_i - x_j||^2) where one of the two rows is among the nearest of the other,
        without zeros.
    """
    n = X.shape[0]
    k = min(n_neighbors, n - 1)
    heads, tails, weights = [], [], []
    for rows, distances in blocks_of_distances(X, X, itself=True):
        if k:
            found = nearest(distances, k)
            heads.append(np.repeat(np.arange(rows.start, rows.stop), k))
            tails.append(found.ravel())
            weights.append(np.exp(-gamma * np.take_along_axis(distances, found, axis=1)).ravel())
    if not k:
        return sparse.csr_array((n, n))
    entries = (np.concatenate(weights), (np.concatenate(heads), np.concatenate(tails)))
    W = sparse.csr_array(sparse.coo_array(entries, shape=(n, n)))
    W = sparse.csr_array(W.maximum(W.T))
    W.eliminate_zeros()
    return W


def rbf_similarity(X: Any, gamma: float) -> Matrix:
    """Return exp(-gamma ||x_i - x_j||^2) of all rows.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n, d)
        Features.
    gamma : float
        Positive.

    Returns
    -------
    ndarray of shape (n, n)
    """
    return np.asarray(np.exp(-gamma * squared_distances(X, X)))


def label_cosines(Y: Matrix) -> Matrix:
    """Return the cosines between the columns of an indicator.

    Parameters
    ----------
    Y : ndarray of shape (n, q)
        Label indicator.

    Returns
    -------
    ndarray of shape (q, q)
        1 on the diagonal; 0 between a label without relevant rows and the others.
    """
    norms = np.sqrt(Y.sum(axis=0))
    unit = Y / np.where(norms > 0.0, norms, 1.0)
    cosines = unit.T @ unit
    np.fill_diagonal(cosines, 1.0)
    return np.asarray(cosines)


def cut_at_cardinality(scores: Matrix, cardinality: float) -> float:
    """Return the threshold at which rows have a given number of labels on average.

    Parameters
    ----------
    scores : ndarray of shape (n, q)
        Scores.
    cardinality : float
        Labels a row, from 0 to q.

    Returns
    -------
    float
        In the middle between the scores on either side of it.
    """
    ordered = np.sort(scores, axis=None)[::-1]
    m = round(cardinality * len(scores))
    above = ordered[m - 1] if m > 0 else np.inf
    below = ordered[m] if m < ordered.size else -np.inf
    return float(middle(np.array([below]), np.array([above]))[0])
