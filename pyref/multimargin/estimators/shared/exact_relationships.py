"""Exact solutions of MLRL for the solver "exact": weights, unknown labels, scaling and retries.

The models are those of `multimargin.reference.mlrl`, on a factor of the centred kernel matrix of
unit size; `h` weighs each hinge. Equation numbers are those of Zhang & Yeung 2013.
"""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from multimargin.reference import exact
from multimargin.reference.exact import Array, Solver
from multimargin.reference.mlrl import omega_step


class Solution(NamedTuple):
    """A model and its dual point; `objective` is the primal value of the problem solved."""

    objective: float
    Z: Array
    A: Array
    b: Array
    Omega: Array
    F: Array


def primal(
    K: ArrayLike,
    Y: ArrayLike,
    lam: float,
    Omega: ArrayLike,
    solver: Solver = "clarabel",
    h: Array | None = None,
) -> Solution:
    """Solve (8), the primal for a fixed Omega; Z comes from the multipliers of the margins."""
    K, y, Omega = problem_data(K, Y, lam, Omega)
    h = shares(Y) if h is None else h
    cp = exact.import_cvxpy()
    scale, size = exact.scale_of(exact.centred(K)), exact.scale_of(Omega)
    unit = lam / (scale * size)
    G = exact.factor(exact.centred(K), exact.scale_of(K)) / np.sqrt(scale)
    S = exact.factor(Omega) / np.sqrt(size)
    n, q = y.shape
    V = cp.Variable((G.shape[1], S.shape[1]))  # times the roots of both scales
    b = cp.Variable((1, q))
    xi = cp.Variable((n, q))
    margins = cp.multiply(y, G @ V @ S.T + np.ones((n, 1)) @ b) >= 1 - xi
    objective = cp.sum(cp.multiply(h, xi)) + unit / 2 * cp.sum_squares(V)  # (8)
    exact.solve_qp(cp.Problem(cp.Minimize(objective), [margins, xi >= 0]), solver)

    W = V.value @ S.T
    F = G @ W + b.value
    value = hinge(F, y, h) + unit / 2 * float(np.sum(V.value**2))
    A = expansion(G, W) / scale
    Z = feasible(margins.dual_value * y, y, h)
    return Solution(value, Z, A, (F - K @ A).mean(axis=0), Omega, F)


def dual_objective(K: ArrayLike, Z: Array, lam: float, Omega: ArrayLike) -> float:
    """Value of (10): sum alpha - 1/(2 lam) tr(Z^T K Z Omega), a lower bound of (8)."""
    M = Z.T @ np.asarray(K) @ Z
    return float(np.abs(Z).sum() - np.sum(M * np.asarray(Omega)) / (2 * lam))


def joint(
    K: ArrayLike,
    Y: ArrayLike,
    lam: float,
    solver: Solver = "clarabel",
    h: Array | None = None,
) -> Solution:
    """Solve (6) with the squared trace norm of W."""
    K, y, _ = problem_data(K, Y, lam, np.eye(np.shape(Y)[1]))
    h = shares(Y) if h is None else h
    cp = exact.import_cvxpy()
    scale = exact.scale_of(exact.centred(K))
    G = exact.factor(exact.centred(K), exact.scale_of(K)) / np.sqrt(scale)
    n, q = y.shape
    W = cp.Variable((G.shape[1], q))  # times the root of the scale
    b = cp.Variable((1, q))
    xi = cp.Variable((n, q))
    margins = cp.multiply(y, G @ W + np.ones((n, 1)) @ b) >= 1 - xi
    objective = cp.sum(cp.multiply(h, xi)) + lam / scale / 2 * cp.square(cp.normNuc(W))
    solve_trace_norm(cp.Problem(cp.Minimize(objective), [margins, xi >= 0]), solver)
    F = G @ W.value + b.value
    value = hinge(F, y, h) + lam / scale / 2 * float(np.linalg.norm(W.value, "nuc")) ** 2
    A = expansion(G, W.value) / scale
    return Solution(
        value,
        feasible(margins.dual_value * y, y, h),
        A,
        (F - K @ A).mean(axis=0),
        omega_step(W.value.T @ W.value),
        F,
    )


def feasible(Z: Array, y: Array, h: Array) -> Array:
    """Move Z, which a solver left outside by its tolerance, into the domain of (10)."""
    # In each column the side with the larger sum is scaled down to the other.
    alpha = np.clip(y * Z, 0.0, h)
    positive = np.where(y > 0, alpha, 0.0).sum(axis=0)
    negative = np.where(y < 0, alpha, 0.0).sum(axis=0)
    total = np.minimum(positive, negative)
    share_positive = total / np.where(positive > 0.0, positive, 1.0)
    share_negative = total / np.where(negative > 0.0, negative, 1.0)
    return np.asarray(y * alpha * np.where(y > 0, share_positive, share_negative))


def joint_bound(K: ArrayLike, Z: Array, lam: float) -> float:
    """Dual value sum alpha - 1/(2 lam) lambda_max(Z^T K Z), a lower bound of (6)."""
    M = Z.T @ np.asarray(K) @ Z
    return float(np.abs(Z).sum() - np.linalg.eigvalsh(M)[-1] / (2 * lam))


def joint_objective(
    K: ArrayLike, Y: ArrayLike, lam: float, A: Array, b: Array, h: Array | None = None
) -> float:
    """Value of (6) at weights phi(X)^T A, with the best Omega."""
    K, y, _ = problem_data(K, Y, lam, np.eye(np.shape(Y)[1]))
    WtW = A.T @ K @ A
    trace_norm = np.sqrt(np.maximum(np.linalg.eigvalsh(WtW), 0.0)).sum()
    return hinge(K @ A + b, y, shares(Y) if h is None else h) + lam / 2 * float(trace_norm) ** 2


def signs(Y: ArrayLike) -> Array:
    """Return 2 Y - 1, and -1 for an unknown label, whose weight is 0."""
    return np.where(exact.label_matrix(Y) == 1, 1.0, -1.0)


def shares(Y: ArrayLike) -> Array:
    """Weights h of the hinges: a row's share of all rows with a known label."""
    known = exact.label_matrix(Y) >= 0
    return np.asarray(known / max(known.any(axis=1).sum(), 1))


def hinge(F: Array, y: Array, h: Array) -> float:
    """Return sum_ij h_ij max(0, 1 - y_ij f_j(x_i)), the loss of (6)."""
    return float(np.sum(h * np.maximum(0.0, 1.0 - y * F)))


def solve_trace_norm(problem: Any, solver: Solver) -> None:
    """Solve a CVXPY problem with a semidefinite cone in place."""
    # The settings of `exact.solve_qp` are those of quadratic programmes. On a semidefinite cone
    # Clarabel gets to 1e-11 most of the time, and to 1e-8, its own tolerance, nearly always.
    if solver != "clarabel":
        exact.solve_qp(problem, solver)
        return
    statuses = []
    for tolerance in (1e-11, 1e-10, 1e-9, 1e-8):
        settings = dict.fromkeys(("tol_gap_abs", "tol_gap_rel", "tol_feas"), tolerance)
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="Solution may be inaccurate")
            try:
                problem.solve(solver="CLARABEL", **settings)
            except exact.import_cvxpy().SolverError:
                statuses.append("solver_error")
                continue
        if problem.status == "optimal":
            return
        statuses.append(str(problem.status))
    raise exact.failure(solver, statuses)


def expansion(G: Array, W: Array) -> Array:
    """A of smallest norm with W = G^T A: the weights in terms of the instances.

    G G^T is a centred kernel, so the columns of A sum to 0, to which rounding has to be brought:
    the norm A^T K A of the weights is that of W under the kernel K itself only then.
    """
    A = np.linalg.lstsq(G.T, W, rcond=None)[0]
    return np.asarray(A - A.mean(axis=0))


def problem_data(
    K: ArrayLike, Y: ArrayLike, lam: float, Omega: ArrayLike
) -> tuple[Array, Any, Array]:
    """Check the arguments and turn 0 and 1 into -1 and 1."""
    K = exact.kernel_matrix(K, "none")
    y = signs(Y)
    Omega = exact.kernel_matrix(Omega, "none")
    if len(K) != len(y):
        raise ValueError(f"K has {len(K)} rows and Y has {len(y)}, expected the same number")
    if len(Omega) != y.shape[1]:
        raise ValueError(f"Omega has {len(Omega)} rows and Y has {y.shape[1]} labels")
    if not (np.isfinite(lam) and lam > 0):
        raise ValueError(f"lam is {lam}, expected a positive finite number")
    return K, y, Omega
