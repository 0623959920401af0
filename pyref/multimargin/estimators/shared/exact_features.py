"""The exact solution of LLSF's convex form: the factors of its quadratic form, and the solver."""

import numpy as np
from numpy.typing import ArrayLike

from multimargin.estimators.shared.exact_pairs import Array
from multimargin.estimators.shared.exact_solver import import_cvxpy, solve
from multimargin.reference.llsf import label_dissimilarity, objective, shift


def solve_exactly(X: ArrayLike, Y: ArrayLike, alpha: float, beta: float) -> tuple[float, Array]:
    """Return the optimum of Huang et al. 2015, eq. (3), with R + delta I, and the weights W."""
    # X^T X (x) I + alpha I (x) (R + delta I) belongs to ||P W||^2 + ||W F^T||^2 with P^T P = X^T X
    # and F^T F = alpha (R + delta I). Where delta = 0 but R has negative eigenvalues,
    # lambda_min(X^T X) I is moved from the first term to the second, which then has none.
    cp = import_cvxpy()
    X, Y = np.asarray(X, dtype=np.float64), np.asarray(Y, dtype=np.float64)
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
    solve(cp.Problem(cp.Minimize(smooth + beta * cp.sum(cp.abs(W)))))
    point = np.asarray(W.value, dtype=np.float64).reshape(d, q)
    return objective(X, Y, point, R, alpha, beta), point
