"""LLSF, the reference: paper 004, sections III and IV-B.

    min  1/2 ||X W - Y||_F^2 + alpha/2 tr(R W^T W) + beta ||W||_1            (3), (7), (8)

R[i, j] = 1 - cosine of the label columns i and j. The paper calls this problem convex. It is only
while lambda_min(X^T X) + alpha lambda_min(R) >= 0; R has a zero diagonal, hence a negative
eigenvalue (unless it is 0), and otherwise the objective has no lower bound. The convex form puts
R + delta I in place of R, with delta from `shift`.

Papers and code:
    X, Y, W       n x d (the paper's p), n x q (the paper's l), d x q
    R             label_dissimilarity
    L_f           lipschitz
    S_eps[.]      soft_threshold
    W^(t), G^(t)  V, G
    tau           threshold
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from multimargin.reference.exact import Array, Solver, import_cvxpy, label_matrix, solve_qp


class Solution(NamedTuple):
    """The point where a solver ends.

    Parameters
    ----------
    objective : float
        The objective, recomputed at W.
    W : ndarray, shape (d, q)
        Coefficients.
    history : ndarray
        The objective after each iteration of the published loop; empty for the exact model.
    """

    objective: float
    W: Array
    history: Array


# -------------------------------------------------------------------------------------------------
# Label correlations: section III-B
# -------------------------------------------------------------------------------------------------
def label_dissimilarity(Y: npt.ArrayLike) -> Array:
    """Compute R, one minus the cosine between label columns.

    Parameters
    ----------
    Y : array_like of {0, 1}, shape (n, q)

    Returns
    -------
    ndarray, shape (q, q)
        Zero diagonal. A label without any instance has no direction: it is dissimilar (1) to all
        others, and not to itself.
    """
    Y = label_matrix(Y)
    q = Y.shape[1]
    R = np.zeros((q, q))
    for i in range(q):
        for j in range(q):
            if i != j:
                lengths = np.sqrt(Y[:, i].sum() * Y[:, j].sum())
                cosine = Y[:, i] @ Y[:, j] / lengths if lengths > 0 else 0.0
                R[i, j] = 1.0 - cosine
    return R


def shift(X: npt.ArrayLike, Y: npt.ArrayLike, alpha: float) -> float:
    """Compute delta: 0 when the published problem is convex, else -lambda_min(R).

    Parameters
    ----------
    X : array_like, shape (n, d)
    Y : array_like of {0, 1}, shape (n, q)
    alpha : float
        At least 0.

    Returns
    -------
    float

    Notes
    -----
    The eigenvalues of the quadratic form are lambda_i(X^T X) + alpha lambda_j(R).
    """
    X = np.asarray(X, dtype=np.float64)
    smallest_label = np.linalg.eigvalsh(label_dissimilarity(Y))[0]
    smallest_feature = np.linalg.eigvalsh(X.T @ X)[0] if X.shape[1] <= X.shape[0] else 0.0
    if alpha == 0 or smallest_feature + alpha * smallest_label > 0 or smallest_label > -1e-12:
        return 0.0
    return float(-smallest_label)


# -------------------------------------------------------------------------------------------------
# Objective and gradient: (7), (8), (12)
# -------------------------------------------------------------------------------------------------
def objective(X: Array, Y: Array, W: Array, R: Array, alpha: float, beta: float) -> float:
    """Evaluate (3) for a given R.

    Parameters
    ----------
    X, Y, W : ndarray, shapes (n, d), (n, q), (d, q)
    R : ndarray, shape (q, q)
        With the shift on its diagonal, if there is one.
    alpha, beta : float

    Returns
    -------
    float
    """
    fit = 0.5 * np.sum((X @ W - Y) ** 2)
    correlation = 0.5 * alpha * np.sum(R * (W.T @ W))
    return float(fit + correlation + beta * np.sum(np.abs(W)))


def gradient(X: Array, Y: Array, W: Array, R: Array, alpha: float) -> Array:
    """Evaluate the gradient of the smooth part, (12).

    Parameters
    ----------
    X, Y, W : ndarray, shapes (n, d), (n, q), (d, q)
    R : ndarray, shape (q, q)
    alpha : float

    Returns
    -------
    ndarray, shape (d, q)
    """
    g: Array = X.T @ (X @ W - Y) + alpha * W @ R
    return g


# -------------------------------------------------------------------------------------------------
# The convex form, exactly
# -------------------------------------------------------------------------------------------------
def primal(
    X: npt.ArrayLike,
    Y: npt.ArrayLike,
    alpha: float = 0.1,
    beta: float = 0.1,
    solver: Solver = "clarabel",
) -> Solution:
    """Solve the convex form.

    Parameters
    ----------
    X : array_like, shape (n, d)
    Y : array_like of {0, 1}, shape (n, q)
    alpha : float
        At least 0.
    beta : float
        Positive.
    solver : {"clarabel", "scs"}

    Returns
    -------
    Solution

    Raises
    ------
    RuntimeError
        If the solver fails.

    Notes
    -----
    The quadratic form X^T X (x) I + alpha I (x) (R + delta I) is handed over as a sum of squares:
    of X W - Y and of W F^T, with F^T F = R + delta I, where R + delta I has no negative eigenvalue.
    Where delta = 0 but R has some, lambda_min(X^T X) I is moved from the first term to the second,
    which then has none, and the rest of the first is ||P W||^2 with P^T P = X^T X - lambda_min I.
    """
    cp = import_cvxpy()
    X = np.asarray(X, dtype=np.float64)
    Y = label_matrix(Y).astype(np.float64)
    d, q = X.shape[1], Y.shape[1]
    delta = shift(X, Y, alpha)
    R = label_dissimilarity(Y) + delta * np.eye(q)

    W = cp.Variable((d, q))
    feature_values, V = np.linalg.eigh(X.T @ X)
    label_values, U = np.linalg.eigh(R)
    moved = max(feature_values[0], 0.0) if delta == 0.0 and alpha > 0 else 0.0
    P = np.sqrt(np.maximum(feature_values - moved, 0.0))[:, None] * V.T
    F = np.sqrt(np.maximum(alpha * label_values + moved, 0.0))[:, None] * U.T
    smooth = (
        0.5 * cp.sum_squares(P @ W)
        + 0.5 * cp.sum_squares(W @ F.T)
        - cp.sum(cp.multiply(X.T @ Y, W))
        + 0.5 * np.sum(Y**2)
    )
    solve_qp(cp.Problem(cp.Minimize(smooth + beta * cp.sum(cp.abs(W)))), solver)
    point = np.asarray(W.value, dtype=np.float64).reshape(d, q)
    return Solution(objective(X, Y, point, R, alpha, beta), point, np.empty(0))


# -------------------------------------------------------------------------------------------------
# Algorithm 1: accelerated proximal gradient, exactly as published
# -------------------------------------------------------------------------------------------------
def soft_threshold(W: Array, eps: float) -> Array:
    """Evaluate S_eps[W], (11).

    Parameters
    ----------
    W : ndarray
    eps : float
        Positive.

    Returns
    -------
    ndarray
        Shape of W.
    """
    shrunk: Array = np.sign(W) * np.maximum(np.abs(W) - eps, 0.0)
    return shrunk


def lipschitz(X: Array, R: Array, alpha: float) -> float:
    """Evaluate L_f, (15).

    Parameters
    ----------
    X : ndarray, shape (n, d)
    R : ndarray, shape (q, q)
    alpha : float

    Returns
    -------
    float
    """
    sigma_X = np.linalg.norm(X.T @ X, 2)
    sigma_R = np.linalg.norm(alpha * R, 2)
    return float(np.sqrt(2 * sigma_X**2 + 2 * sigma_R**2))


def ridge_start(X: Array, Y: Array, gamma: float) -> Array:
    """Solve for W_0 = (X^T X + gamma I)^-1 X^T Y, step 1 of Algorithm 1.

    Parameters
    ----------
    X, Y : ndarray, shapes (n, d), (n, q)
    gamma : float
        Positive.

    Returns
    -------
    ndarray, shape (d, q)
    """
    W = np.linalg.solve(X.T @ X + gamma * np.eye(X.shape[1]), X.T @ Y)
    return np.asarray(W, dtype=np.float64)


def algorithm_1(
    X: npt.ArrayLike,
    Y: npt.ArrayLike,
    alpha: float = 0.1,
    beta: float = 0.1,
    gamma: float = 0.01,
    max_iter: int = 100,
    delta: float = 0.0,
    stop: Callable[[float], bool] | None = None,
) -> Solution:
    """Run Algorithm 1.

    Parameters
    ----------
    X : array_like, shape (n, d)
    Y : array_like of {0, 1}, shape (n, q)
    alpha, beta, gamma : float
    max_iter : int
        Number of iterations. The paper says "while not converged" and no more.
    delta : float, default 0
        Added to the diagonal of R; `shift` gives the convex form.
    stop : callable, optional
        Called with the objective after each iteration; the loop ends when it returns True.

    Returns
    -------
    Solution
        Ends early when the next iterate would overflow.
    """
    X = np.asarray(X, dtype=np.float64)
    Y = label_matrix(Y).astype(np.float64)
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
        if np.abs(W_next).max() > 1e100:
            break
        W_before, W = W, W_next  # step 7
        b_before, b = b, b_next
        history.append(objective(X, Y, W, R, alpha, beta))
        if stop is not None and stop(history[-1]):
            break
    return Solution(objective(X, Y, W, R, alpha, beta), W, np.asarray(history))


# -------------------------------------------------------------------------------------------------
# Algorithm 2: prediction
# -------------------------------------------------------------------------------------------------
def algorithm_2(
    X_test: npt.ArrayLike, W: Array, threshold: float = 0.5
) -> tuple[npt.NDArray[np.int_], Array]:
    """Predict with W.

    Parameters
    ----------
    X_test : array_like, shape (m, d)
    W : ndarray, shape (d, q)
    threshold : float
        tau.

    Returns
    -------
    Y_test : ndarray of {0, 1}, shape (m, q)
        The paper's sign(S - tau), written with 0 and 1.
    S_test : ndarray, shape (m, q)
        Scores.
    """
    S_test: Array = np.asarray(X_test, dtype=np.float64) @ W
    return (S_test - threshold > 0).astype(np.int_), S_test


# -------------------------------------------------------------------------------------------------
# Algorithm 3: binary classifiers on label-specific features
# -------------------------------------------------------------------------------------------------
def algorithm_3(
    X: npt.ArrayLike,
    Y: npt.ArrayLike,
    X_test: npt.ArrayLike,
    W: Array,
    make_classifier: Callable[[], Any],
) -> npt.NDArray[np.int_]:
    """Train one classifier a label on its own features, and predict.

    Parameters
    ----------
    X : array_like, shape (n, d)
    Y : array_like of {0, 1}, shape (n, q)
    X_test : array_like, shape (m, d)
    W : ndarray, shape (d, q)
        Result of Algorithm 1.
    make_classifier : callable
        Makes a new classifier with fit and predict, the paper's f(.).

    Returns
    -------
    ndarray of {0, 1}, shape (m, q)
        Step 6 prints Y where the i-th column is meant. A label with one class or without features
        is predicted as its majority class.
    """
    X, X_test = np.asarray(X, dtype=np.float64), np.asarray(X_test, dtype=np.float64)
    Y = label_matrix(Y)
    Y_test = np.zeros((X_test.shape[0], Y.shape[1]), dtype=np.int_)
    for i in range(Y.shape[1]):  # step 3
        id_i = np.flatnonzero(W[:, i] != 0)  # step 4
        if id_i.size == 0 or np.unique(Y[:, i]).size == 1:
            Y_test[:, i] = int(2 * Y[:, i].sum() > Y.shape[0])
            continue
        h_i = make_classifier().fit(X[:, id_i], Y[:, i])  # steps 5 and 6
        Y_test[:, i] = h_i.predict(X_test[:, id_i])  # steps 9 and 10
    return Y_test
