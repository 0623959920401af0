"""Huang et al. 2015: LLSF, label-specific features by sparse regression with label correlations.

Each label has its own lasso, and dissimilar labels should not use the same features. Equation
numbers, letters and order are those of Huang et al. 2015; code reads from top to bottom.

The problem (3) is min 1/2 ||X W - Y||_F^2 + alpha/2 tr(R W^T W) + beta ||W||_1. It is convex only
while lambda_min(X^T X) + alpha lambda_min(R) >= 0: R has a zero diagonal, hence a negative
eigenvalue (unless it is 0), and otherwise the objective has no lower bound. The convex form puts
R + delta I in place of R, with delta from `shift`.

Dictionary::

    n, p, l                instances, features, labels                            section III-A
    alpha, beta, gamma     weights: label dissimilarity >= 0, sparsity > 0; ridge start > 0
    X            n x p     features                                               section III-A
    Y            n x l     1 where the label is relevant, else 0                  section III-A
    W            p x l     coefficients; the features of label i are those with W_i != 0  (3)
    R            l x l     1 - cosine of the label columns; zero diagonal                   (2)
    delta                  shift of the diagonal of R that makes the problem convex
    L_f                    Lipschitz constant of the gradient                        (13), (15)
    V, G         p x l     W^(t), the extrapolated point, and G^(t), its gradient step      (6)
    b                      momentum, b_t                                            algorithm 1
    S_eps[.]               soft_threshold                                                  (11)
    tau, S       m x l     threshold and scores of m test rows                      algorithm 2
    pi           l         the order of the labels in a classifier chain               section IV
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator

from multimargin.reference.interior_point import minimum
from multimargin.reference.matrices import root

Array = npt.NDArray[np.float64]


class Solution(NamedTuple):
    """W with its objective, and the objectives after the iterations of the published loop."""

    objective: float
    W: Array
    history: Array


# --- Label correlations: section III-C
def label_dissimilarity(Y: ArrayLike) -> Array:
    """Compute R; a label without instances has dissimilarity 1 to all others, 0 to itself."""
    Y = np.asarray(Y, dtype=np.float64)
    l = Y.shape[1]  # noqa: E741
    R = np.zeros((l, l))
    for i in range(l):
        for j in range(l):
            if i != j:
                lengths = np.sqrt(Y[:, i].sum() * Y[:, j].sum())
                cosine = Y[:, i] @ Y[:, j] / lengths if lengths > 0 else 0.0
                R[i, j] = 1.0 - cosine
    return R


def shift(X: ArrayLike, Y: ArrayLike, alpha: float) -> float:
    """Compute delta: 0 when the published problem is convex, else -lambda_min(R)."""
    # The eigenvalues of the quadratic form are lambda_i(X^T X) + alpha lambda_j(R).
    X = np.asarray(X, dtype=np.float64)
    smallest_label = np.linalg.eigvalsh(label_dissimilarity(Y))[0]
    smallest_feature = np.linalg.eigvalsh(X.T @ X)[0] if X.shape[1] <= X.shape[0] else 0.0
    if alpha == 0 or smallest_feature + alpha * smallest_label > 0 or smallest_label > -1e-12:
        return 0.0
    return float(-smallest_label)


# --- Objective and gradient: (7), (8), (12)
def objective(X: Array, Y: Array, W: Array, R: Array, alpha: float, beta: float) -> float:
    """Evaluate (3) for a given R, shifted or not."""
    fit = 0.5 * np.sum((X @ W - Y) ** 2)
    correlation = 0.5 * alpha * np.sum(R * (W.T @ W))
    return float(fit + correlation + beta * np.sum(np.abs(W)))


def gradient(X: Array, Y: Array, W: Array, R: Array, alpha: float) -> Array:
    """Evaluate the gradient of the smooth part (7): (12)."""
    g: Array = X.T @ (X @ W - Y) + alpha * W @ R
    return g


# --- The convex form, exactly
def problem_3(X: Array, Y: Array, alpha: float, beta: float) -> tuple[float, Array]:
    """Solve (3) with R + delta I in place of R; return its value and W."""
    import cvxpy as cp

    p, l = X.shape[1], Y.shape[1]  # noqa: E741
    delta = shift(X, Y, alpha)
    R = label_dissimilarity(Y) + delta * np.eye(l)
    W = cp.Variable((p, l))
    # The two squares of (7), ||X W||^2 and alpha tr(R W^T W), by factors of their matrices. Where
    # R has a negative eigenvalue, lambda_min(X^T X) I is moved from the first to the second.
    moved = max(np.linalg.eigvalsh(X.T @ X)[0], 0.0) if delta == 0.0 and alpha > 0 else 0.0
    squares = cp.sum_squares(root(X.T @ X - moved * np.eye(p)).T @ W)
    squares += cp.sum_squares(W @ root(alpha * R + moved * np.eye(l)))
    smooth = squares / 2 - cp.sum(cp.multiply(X.T @ Y, W)) + np.sum(Y**2) / 2
    minimum(smooth + beta * cp.sum(cp.abs(W)))
    found = np.asarray(W.value).reshape(p, l)
    return objective(X, Y, found, R, alpha, beta), found


# --- Algorithm 1: accelerated proximal gradient
def soft_threshold(W: Array, eps: float) -> Array:
    """Evaluate S_eps[W], (11)."""
    shrunk: Array = np.sign(W) * np.maximum(np.abs(W) - eps, 0.0)
    return shrunk


def lipschitz(X: Array, R: Array, alpha: float) -> float:
    """Evaluate L_f, (15)."""
    sigma_X = np.linalg.norm(X.T @ X, 2)
    sigma_R = np.linalg.norm(alpha * R, 2)
    return float(np.sqrt(2 * sigma_X**2 + 2 * sigma_R**2))


def ridge_start(X: Array, Y: Array, gamma: float) -> Array:
    """Solve for W_0 = (X^T X + gamma I)^-1 X^T Y, step 1 of algorithm 1."""
    W = np.linalg.solve(X.T @ X + gamma * np.eye(X.shape[1]), X.T @ Y)
    return np.asarray(W, dtype=np.float64)


def algorithm_1(
    X: ArrayLike,
    Y: ArrayLike,
    alpha: float = 0.1,
    beta: float = 0.1,
    gamma: float = 0.01,
    max_iter: int = 100,
    delta: float = 0.0,
) -> Solution:
    """Run algorithm 1 on R + delta I."""
    X = np.asarray(X, dtype=np.float64)
    Y = np.asarray(Y, dtype=np.float64)
    R = label_dissimilarity(Y) + delta * np.eye(Y.shape[1])
    L_f = lipschitz(X, R, alpha)
    XtX, XtY = X.T @ X, X.T @ Y

    b_before = b = 1.0  # step 1
    W_before = W = ridge_start(X, Y, gamma)
    history = []
    for _ in range(max_iter):  # step 2
        V = W + (b_before - 1) / b * (W - W_before)  # step 3
        G = V - (XtX @ V - XtY + alpha * V @ R) / L_f  # step 4, (12)
        W_next = soft_threshold(G, beta / L_f)  # step 5, (10)
        b_next = (1 + np.sqrt(4 * b**2 + 1)) / 2  # step 6
        W_before, W = W, W_next  # step 7
        b_before, b = b, b_next
        history.append(objective(X, Y, W, R, alpha, beta))
    return Solution(history[-1], W, np.asarray(history))


# --- Algorithm 2: prediction
def algorithm_2(
    X_test: ArrayLike, W: Array, threshold: float = 0.5
) -> tuple[npt.NDArray[np.int_], Array]:
    """Return 0/1 labels, the paper's sign(S - tau), and scores S = X_test W."""
    S_test: Array = np.asarray(X_test, dtype=np.float64) @ W
    return (S_test - threshold > 0).astype(np.int_), S_test


# --- Algorithm 3: binary classifiers on label-specific features
def algorithm_3(
    X: ArrayLike,
    Y: ArrayLike,
    X_test: ArrayLike,
    W: Array,
    make_classifier: Callable[[], BaseEstimator],
) -> tuple[npt.NDArray[np.int_], Array]:
    """Return labels and scores by one classifier per label on its own features: LLSF-BSVM."""
    X, X_test = np.asarray(X, dtype=np.float64), np.asarray(X_test, dtype=np.float64)
    Y = np.asarray(Y)
    S_test = np.zeros((X_test.shape[0], Y.shape[1]))
    for i in range(Y.shape[1]):  # step 3
        id_i = np.flatnonzero(W[:, i] != 0)  # step 4
        h_i = train(make_classifier, X[:, id_i], Y[:, i])  # steps 5 and 6
        S_test[:, i] = h_i(X_test[:, id_i])  # steps 9 and 10
    return (S_test > 0).astype(np.int_), S_test


def classifier_chain(
    X: ArrayLike,
    Y: ArrayLike,
    X_test: ArrayLike,
    W: Array,
    make_classifier: Callable[[], BaseEstimator],
    pi: ArrayLike,
) -> tuple[npt.NDArray[np.int_], Array]:
    """Return labels and scores by LLSF-CC: each label learns from those before it in pi, too."""
    X, X_test = np.asarray(X, dtype=np.float64), np.asarray(X_test, dtype=np.float64)
    Y, pi = np.asarray(Y), np.asarray(pi)
    Y_test = np.zeros((X_test.shape[0], Y.shape[1]), dtype=np.int_)
    S_test = np.zeros(Y_test.shape)
    for place, i in enumerate(pi):
        id_i, before = np.flatnonzero(W[:, i] != 0), pi[:place]
        h_i = train(make_classifier, np.hstack([X[:, id_i], Y[:, before]]), Y[:, i])
        S_test[:, i] = h_i(np.hstack([X_test[:, id_i], Y_test[:, before]]))
        Y_test[:, i] = S_test[:, i] > 0
    return Y_test, S_test


def train(
    make_classifier: Callable[[], BaseEstimator], X: Array, y: npt.NDArray[np.int_]
) -> Callable[[Array], Array]:
    """Return a binary classifier's scores; the majority class for one class or no features."""
    if X.shape[1] == 0 or np.unique(y).size == 1:
        majority = 1.0 if 2 * y.sum() > y.size else -1.0
        return lambda rows: np.full(len(rows), majority)
    scores: Callable[[Array], Array] = make_classifier().fit(X, y).decision_function
    return scores


# --- Slips in print, and what is left open
# * (2): minimised over W_i alone, the coupling has half of the derivative that it has in (3).
# * (3): "a convex optimization problem"; see the head of this file.
# * Algorithm 1: "while not converged" is all; where the problem is not convex, the number of
#   iterations decides what is found.
# * Algorithm 2: sign(S - tau) is -1 or 1; labels are 0 or 1.
# * Algorithm 3: step 6 has Y where its i-th column is meant, and step 10 the unknown Y_te.
# * (13): sqrt(2) times the tight constant at most, sigma_max(X^T X) + alpha sigma_max(R).
