"""MLGRF and MLLGC: labels spread over a graph of the rows and a graph of the labels.

Source: Chen et al. 2008 and Zha et al. 2009, as Zhang & Yeung 2013 compare them. They extend
Gaussian random fields (Zhu et al. 2003) and local and global consistency (Zhou et al. 2003).

Problem: with L the Laplacian of the graph of all rows and H that of the graph of the labels,

    MLGRF    min tr(F^T L F) + rho tr(F H F^T)  subject to F = Y on the labelled rows,
    MLLGC    min ||F - Y||^2 + beta tr(F^T L' F) + rho tr(F H' F^T),  Y = 0 on unlabelled rows,

L = D - W, and L' = I - D^(-1/2) W D^(-1/2). Each is a Sylvester equation: an eigendecomposition of
H leaves one sparse linear system a label.

Defaults: beta = 99, Zhou's alpha = 0.99. The graphs (10 nearest neighbours with Gaussian weights,
cosines between labels) and rho = 0.1 are ours: the papers' choices are not in public text.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import linalg, sparse
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import splu

from multimargin.checks.parameters import check_real
from multimargin.typing import Matrix
from published.rivals.transductive import (
    TransductiveClassifier,
    label_cosines,
    neighbour_graph,
)


class _LabelPropagation(TransductiveClassifier):
    """Base of both: a graph of the rows, and one of the labels with a weight."""

    label_weight: float
    n_neighbors: int
    gamma: float | str

    def _check_parameters(self) -> None:
        check_real("label_weight", self.label_weight, at_least=0.0)

    def _graph(self, X: Any) -> Any:
        """Return the weights of the edges between rows, of shape (n, n)."""
        return neighbour_graph(X, int(self.n_neighbors), self._gamma)


class MLGRF(_LabelPropagation):
    """MLGRF: a multi-label Gaussian random field.

    Parameters
    ----------
    label_weight : float, default=0.1
        rho, at least 0: weight of the graph of the labels. With 0 the labels are separate.
    n_neighbors : int, default=10
        Neighbours of a row in the graph, and of a row outside of it.
    gamma : {"scale", "auto", "mean_distance"} or float, default="scale"
        The weight of an edge is exp(-gamma ||x_i - x_j||^2); the names are as in
        `multimargin.RankSVM`.

    Attributes
    ----------
    classes_ : ndarray of shape (q,)
        Label numbers, or the classes of one-dimensional targets.
    multilabel_ : bool
        True for a label indicator or lists of names, False for one-dimensional targets.
    label_names_in_ : ndarray of shape (q,)
        Column names of `y`, when it was a data frame with string names.
    n_features_in_ : int
        Number of features d.
    transduced_scores_ : ndarray of shape (n, q)
        F, the scores of all rows of the fit.
    labelled_ : ndarray of int
        The labelled rows.
    threshold_ : Threshold
        Constant: as many labels a row among the unlabelled rows as the labelled ones have.

    Notes
    -----
    Chen et al. 2008, Zha et al. 2009. Rows of -1 in y are unlabelled. The
    method is transductive: a row that was given at fit has its score there; one that was not has
    the weighted mean of the scores of its nearest rows, which is how the score of an unlabelled row
    hangs on its neighbours (for rho = 0). A row that no path of the graph joins to a labelled row
    has the labels' frequencies as scores.

    Examples
    --------
    >>> from multimargin.baselines import MLGRF
    >>> from multimargin.datasets import load_digit_attributes
    >>> X, X_test, Y, Y_test = load_digit_attributes().train_test()
    >>> Y = Y.astype(int)
    >>> Y[100:] = -1
    >>> MLGRF().fit(X, Y).predict(X_test).shape == Y_test.shape
    True
    """

    def __init__(
        self, label_weight: float = 0.1, n_neighbors: int = 10, gamma: float | str = "scale"
    ) -> None:
        self.label_weight = label_weight
        self.n_neighbors = n_neighbors
        self.gamma = gamma

    def _transduce(self, X: Any, Y: Matrix, labelled: NDArray[np.bool_]) -> Matrix:
        W = self._graph(X)
        _, component = connected_components(W, directed=False)
        joined = np.isin(component, component[labelled])
        scores = np.tile(Y.mean(axis=0), (len(labelled), 1))
        scores[labelled] = Y
        sought = np.flatnonzero(joined & ~labelled)
        if sought.size:
            L = sparse.csr_array(sparse.diags_array(W.sum(axis=1)) - W)
            H = _laplacian(label_cosines(Y))
            known = W[sought][:, np.flatnonzero(labelled)] @ Y
            scores[sought] = _sylvester(L[sought][:, sought], self.label_weight * H, known)
        return scores


class MLLGC(_LabelPropagation):
    """MLLGC: multi-label local and global consistency.

    Parameters
    ----------
    smoothness : float, default=99.0
        beta, at least 0: weight of the graph of the rows; alpha / (1 - alpha) in the terms of Zhou
        and others.
    label_weight : float, default=0.1
        rho, at least 0: weight of the graph of the labels. With 0 the labels are separate.
    n_neighbors : int, default=10
        Neighbours of a row in the graph, and of a row outside of it.
    gamma : {"scale", "auto", "mean_distance"} or float, default="scale"
        The weight of an edge is exp(-gamma ||x_i - x_j||^2); the names are as in
        `multimargin.RankSVM`.

    Attributes
    ----------
    classes_ : ndarray of shape (q,)
        Label numbers, or the classes of one-dimensional targets.
    multilabel_ : bool
        True for a label indicator or lists of names, False for one-dimensional targets.
    label_names_in_ : ndarray of shape (q,)
        Column names of `y`, when it was a data frame with string names.
    n_features_in_ : int
        Number of features d.
    transduced_scores_ : ndarray of shape (n, q)
        F, the scores of all rows of the fit.
    labelled_ : ndarray of int
        The labelled rows.
    threshold_ : Threshold
        Constant: as many labels a row among the unlabelled rows as the labelled ones have.

    Notes
    -----
    Chen et al. 2008, Zha et al. 2009. Rows of -1 in y are unlabelled. The
    method is transductive: a row that was given at fit has its score there; one that was not has
    the weighted mean of the scores of its nearest rows.

    Examples
    --------
    >>> from multimargin.baselines import MLLGC
    >>> from multimargin.datasets import load_digit_attributes
    >>> X, X_test, Y, Y_test = load_digit_attributes().train_test()
    >>> Y = Y.astype(int)
    >>> Y[100:] = -1
    >>> MLLGC().fit(X, Y).predict(X_test).shape == Y_test.shape
    True
    """

    smoothness: float

    def __init__(
        self,
        smoothness: float = 99.0,
        label_weight: float = 0.1,
        n_neighbors: int = 10,
        gamma: float | str = "scale",
    ) -> None:
        self.smoothness = smoothness
        self.label_weight = label_weight
        self.n_neighbors = n_neighbors
        self.gamma = gamma

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_real("smoothness", self.smoothness, at_least=0.0)

    def _transduce(self, X: Any, Y: Matrix, labelled: NDArray[np.bool_]) -> Matrix:
        n = len(labelled)
        W = self._graph(X)
        scale = sparse.diags_array(_inverse_roots(np.asarray(W.sum(axis=1))))
        L = sparse.eye_array(n) - scale @ W @ scale
        given = np.zeros((n, Y.shape[1]))
        given[labelled] = Y
        H = _normalised_laplacian(label_cosines(Y))
        system = sparse.eye_array(n) + float(self.smoothness) * L
        return _sylvester(system, self.label_weight * H, given)


def _laplacian(similarity: Matrix) -> Matrix:
    apart = similarity - np.diag(np.diag(similarity))
    return np.asarray(np.diag(apart.sum(axis=1)) - apart)


def _normalised_laplacian(similarity: Matrix) -> Matrix:
    apart = similarity - np.diag(np.diag(similarity))
    roots = _inverse_roots(apart.sum(axis=1))
    return np.asarray(np.eye(len(apart)) - roots[:, None] * apart * roots)


def _inverse_roots(degrees: Matrix) -> Matrix:
    return np.where(degrees > 0.0, 1.0 / np.sqrt(np.where(degrees > 0.0, degrees, 1.0)), 0.0)


def _sylvester(A: Any, H: Matrix, B: Matrix) -> Matrix:
    """Return the F of A F + F H = B, for A sparse and positive definite and H semidefinite."""
    eigenvalues, V = linalg.eigh(H)
    right = B @ V
    solution = np.empty_like(right)
    identity = sparse.eye_array(A.shape[0])
    for k, eigenvalue in enumerate(np.maximum(eigenvalues, 0.0)):
        factors = splu(
            sparse.csc_array(A + eigenvalue * identity),
            permc_spec="MMD_AT_PLUS_A",
            diag_pivot_thresh=0.0,
            options={"SymmetricMode": True},
        )
        solution[:, k] = factors.solve(np.ascontiguousarray(right[:, k]))
    return np.asarray(solution @ V.T)
