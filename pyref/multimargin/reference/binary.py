"""Xu 2013, section 4: the binary support vector machine and the core vector machine.

Rank-SVM and Rank-CVM are derived from these. Equation numbers, letters and order are those of Xu
2013. Rank-CVM with two labels, exactly one of which is relevant for each instance, is the CVM of
(14) with 2 C and twice its objective.

Dictionary::

    l, d             instances, features                                               (8)
    X      l x d     instances x_i                                                     (8)
    y      l         labels, 1 and -1                                                  (8)
    K      l x l     kernel matrix, x_i^T x_j if linear                               (11)
    w, b   d, 1      weights and bias                                                  (9)
    xi     l         slack variables                                             (10), (12)
    rho, nu          margin >= 0, and its reward > 0                                  (12)
    C                price of the slack, > 0                                          (10)
    alpha  l         dual variables                                             (11), (13)
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from multimargin.reference.interior_point import minimum

Array = npt.NDArray[np.float64]


# --- The support vector machine
def problem_10(X: Array, y: Array, C: float) -> tuple[float, Array, float]:
    """Solve (10), the primal problem of the SVM; return its value, w and b."""
    import cvxpy as cp

    w, b, xi = cp.Variable(X.shape[1]), cp.Variable(), cp.Variable(len(X))
    constraints = [cp.multiply(y, X @ w + b) >= 1 - xi, xi >= 0]
    objective = cp.sum_squares(w) / 2 + C * cp.sum(xi)
    return minimum(objective, constraints), w.value, float(b.value)


def problem_11(K: Array, y: Array, C: float) -> tuple[float, Array]:
    """Solve (11), the dual problem of the SVM; return the negative of (10), and alpha."""
    import cvxpy as cp

    alpha = cp.Variable(len(y))
    objective = cp.quad_form(alpha, cp.psd_wrap(K * np.outer(y, y))) / 2 - cp.sum(alpha)
    constraints = [y @ alpha == 0, alpha >= 0, alpha <= C]
    return minimum(objective, constraints), alpha.value


# --- The core vector machine
def problem_12(X: Array, y: Array, C: float, nu: float = 1.0) -> tuple[float, Array, float, float]:
    """Solve (12), the primal problem of the CVM; return its value, w, b and rho."""
    import cvxpy as cp

    w, b, xi = cp.Variable(X.shape[1]), cp.Variable(), cp.Variable(len(X))
    rho = cp.Variable(nonneg=True)
    constraints = [cp.multiply(y, X @ w + b) >= rho - xi]
    objective = (cp.sum_squares(w) + b**2 + C * cp.sum_squares(xi)) / 2 - nu * rho
    return minimum(objective, constraints), w.value, float(b.value), float(rho.value)


def quadratic_form(K: Array, y: Array, C: float) -> Array:
    """K o y y^T + y y^T + I / C, the matrix of (13) and (14)."""
    return (K + 1.0) * np.outer(y, y) + np.eye(len(y)) / C


def problem_13(K: Array, y: Array, C: float, nu: float = 1.0) -> tuple[float, Array]:
    """Solve (13), the dual problem of the CVM; return the negative of (12), and alpha."""
    import cvxpy as cp

    alpha = cp.Variable(len(y))
    objective = cp.quad_form(alpha, cp.psd_wrap(quadratic_form(K, y, C))) / 2
    constraints = [cp.sum(alpha) >= nu, alpha >= 0]
    return minimum(objective, constraints), alpha.value


def problem_14(K: Array, y: Array, C: float) -> tuple[float, Array]:
    """Solve (14), (13) over nu on the simplex; return its value, (13) over nu^2, and alpha."""
    import cvxpy as cp

    alpha = cp.Variable(len(y))
    objective = cp.quad_form(alpha, cp.psd_wrap(quadratic_form(K, y, C))) / 2
    constraints = [cp.sum(alpha) == 1, alpha >= 0]
    return minimum(objective, constraints), alpha.value
