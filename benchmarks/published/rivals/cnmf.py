"""CNMF: label sets as alike as the features, by a constrained nonnegative matrix factorisation.

Source: Liu et al. 2006, as Zhang & Yeung 2013 compare it.

Problem: with A_ij the similarity of the features of two rows and B_kl that of two labels,

    min sum_ij (A_ij - (T B T^T)_ij)^2  over T >= 0,  T given on the labelled rows:

the class memberships T of unlabelled rows shall make the rows as similar as their features are.
Updates T <- T ((A T B) / (T B T^T T B))^(1/4) of the unlabelled rows never raise the objective.

Defaults: the similarities (Gaussian of the features, cosines of the labels) and the scale of the
given rows (similarity 1 to themselves) are ours: the paper's are not in public text.
"""

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from multimargin.checks.parameters import check_integer, check_real
from multimargin.typing import Matrix
from published.rivals.transductive import (
    TransductiveClassifier,
    label_cosines,
    rbf_similarity,
)


class CNMF(TransductiveClassifier):
    """CNMF: constrained nonnegative matrix factorisation.

    Parameters
    ----------
    n_neighbors : int, default=10
        Neighbours from which a row that was not given at fit takes its scores.
    gamma : {"scale", "auto", "mean_distance"} or float, default="scale"
        The similarity of rows is exp(-gamma ||x_i - x_j||^2); the names are as in
        `multimargin.RankSVM`.
    tol : float, default=1e-5
        Where to stop: the relative decrease of the objective in an iteration, positive.
    max_iter : int, default=1000
        Largest number of iterations.

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
        T, the scores of all rows of the fit.
    labelled_ : ndarray of int
        The labelled rows.
    threshold_ : Threshold
        Constant: as many labels a row among the unlabelled rows as the labelled ones have.
    objective_ : float
        The objective at the end.
    n_iter_ : int
        Iterations made.

    Notes
    -----
    Liu et al. 2006. Rows of -1 in y are unlabelled. The problem is not convex; the
    iteration starts from the mean of the labelled rows, weighted by similarity. The method is
    transductive: a row that was given at fit has its score there; one that was not has the weighted
    mean of the scores of its nearest rows. The similarity of all rows is stored.

    Examples
    --------
    >>> from multimargin.baselines import CNMF
    >>> from multimargin.datasets import load_digit_attributes
    >>> X, X_test, Y, Y_test = load_digit_attributes().train_test()
    >>> Y = Y.astype(int)
    >>> Y[100:] = -1
    >>> CNMF().fit(X, Y).predict(X_test).shape == Y_test.shape
    True
    """

    def __init__(
        self,
        n_neighbors: int = 10,
        gamma: float | str = "scale",
        tol: float = 1e-5,
        max_iter: int = 1000,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.gamma = gamma
        self.tol = tol
        self.max_iter = max_iter

    def _check_parameters(self) -> None:
        check_real("tol", self.tol, above=0.0)
        check_integer("max_iter", self.max_iter, at_least=1)

    def _transduce(self, X: Any, Y: Matrix, labelled: NDArray[np.bool_]) -> Matrix:
        A, B = rbf_similarity(X, self._gamma), label_cosines(Y)
        T = np.empty((len(labelled), Y.shape[1]))
        T[labelled] = _of_unit_similarity(Y, B)
        free = ~labelled
        T[free] = _weighted_mean(A[np.ix_(free, labelled)], T[labelled])
        TB = T @ B
        wanted, present = A @ TB, T.T @ TB
        squares = float(np.vdot(A, A))
        self.objective_ = np.inf
        for iteration in range(1, int(self.max_iter) + 1):
            self.n_iter_, before = iteration, self.objective_
            T[free] *= (wanted[free] / np.maximum(TB[free] @ present, np.finfo(float).tiny)) ** 0.25
            TB = T @ B
            wanted, present = A @ TB, T.T @ TB
            # ||A - T B T^T||^2 without a matrix of all rows by all rows but A.
            inner = float(np.vdot(T, wanted)), float(np.vdot(present, present.T))
            self.objective_ = max(0.0, squares - 2.0 * inner[0] + inner[1])
            if before - self.objective_ <= self.tol * self.objective_:
                return T
        warnings.warn(
            f"CNMF stopped after max_iter={self.max_iter} iterations with the objective still "
            f"falling by more than tol={self.tol:g} of it. Increase max_iter or tol.",
            ConvergenceWarning,
            stacklevel=4,
        )
        return T


def _of_unit_similarity(Y: Matrix, B: Matrix) -> Matrix:
    """Scale rows to t B t^T = 1; rows of 0 stay."""
    squares = np.einsum("ik,kl,il->i", Y, B, Y)
    return np.asarray(Y / np.sqrt(np.where(squares > 0.0, squares, 1.0))[:, None])


def _weighted_mean(similarity: Matrix, T: Matrix) -> Matrix:
    # Not 0 anywhere: what is 0 stays 0.
    least = np.finfo(float).tiny
    total = similarity.sum(axis=1, keepdims=True)
    mean = similarity @ T / np.maximum(total, least)
    return np.asarray(np.maximum(mean, 1e-3 * max(float(T.mean()), 1e-3)))
