"""Exact solutions of MLRL for the solver "exact": weights, unknown labels, scaling and retries.

The models are those of `multimargin.reference.mlrl`, on a factor of the centred kernel matrix of
unit size; `h` weighs each hinge. Equation numbers are those of Zhang & Yeung 2013.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from multimargin.estimators.shared import exact_pairs as ep
from multimargin.estimators.shared.exact_models import balanced, signs
from multimargin.estimators.shared.exact_pairs import Array
from multimargin.estimators.shared.exact_solver import QUADRATIC, SEMIDEFINITE, import_cvxpy, solve
from multimargin.reference.mlrl import omega_step


class Solution(NamedTuple):
    """A model and its dual point; `objective` is the primal value of the problem solved."""

    objective: float
    Z: Array
    A: Array
    b: Array
    Omega: Array
    F: Array


def solve_model(
    K: ArrayLike, Y: ArrayLike, lam: float, Omega: ArrayLike | None = None, h: Array | None = None
) -> Solution:
    """Solve (8) for a fixed Omega, or (6) with the squared trace norm of W without one.

    Z comes from the multipliers of the margins.
    """
    K, y, Omega = problem_data(K, Y, lam, Omega)
    h = shares(Y) if h is None else h
    cp = import_cvxpy()
    n, q = y.shape
    scale, size = ep.scale_of(ep.centred(K)), 1.0 if Omega is None else ep.scale_of(Omega)
    unit = lam / (scale * size)
    G = ep.factor(ep.centred(K), ep.scale_of(K)) / np.sqrt(scale)
    S = np.eye(q) if Omega is None else ep.factor(Omega) / np.sqrt(size)
    V = cp.Variable((G.shape[1], S.shape[1]))  # times the roots of both scales
    b = cp.Variable((1, q))
    xi = cp.Variable((n, q))
    margins = cp.multiply(y, G @ V @ S.T + np.ones((n, 1)) @ b) >= 1 - xi
    squares = cp.sum_squares(V) if Omega is not None else cp.square(cp.normNuc(V))
    objective = cp.sum(cp.multiply(h, xi)) + unit / 2 * squares
    problem = cp.Problem(cp.Minimize(objective), [margins, xi >= 0])
    solve(problem, SEMIDEFINITE if Omega is None else QUADRATIC)

    W = V.value @ S.T
    F = G @ W + b.value
    norm = float(np.linalg.norm(V.value, "nuc" if Omega is None else "fro"))
    A = expansion(G, W) / scale
    return Solution(
        hinge(F, y, h) + unit / 2 * norm**2,
        feasible(margins.dual_value * y, y, h),
        A,
        (F - K @ A).mean(axis=0),
        omega_step(W.T @ W) if Omega is None else Omega,
        F,
    )


def feasible(Z: Array, y: Array, h: Array) -> Array:
    """Move Z, which a solver left outside by its tolerance, into the domain of (10)."""
    return y * balanced(np.clip(y * Z, 0.0, h), y)


def dual_objective(K: ArrayLike, Z: Array, lam: float, Omega: ArrayLike | None = None) -> float:
    """Value of (10) for a fixed Omega, a lower bound of (8); the least of any Omega bounds (6)."""
    M = Z.T @ np.asarray(K) @ Z
    largest = np.linalg.eigvalsh(M)[-1] if Omega is None else np.sum(M * np.asarray(Omega))
    return float(np.abs(Z).sum() - largest / (2 * lam))


def joint_objective(
    K: ArrayLike, Y: ArrayLike, lam: float, A: Array, b: Array, h: Array | None = None
) -> float:
    """Value of (6) at weights phi(X)^T A, with the best Omega."""
    K, y, _ = problem_data(K, Y, lam)
    WtW = A.T @ K @ A
    trace_norm = np.sqrt(np.maximum(np.linalg.eigvalsh(WtW), 0.0)).sum()
    return hinge(K @ A + b, y, shares(Y) if h is None else h) + lam / 2 * float(trace_norm) ** 2


def rounding(K: ArrayLike, found: Solution, lam: float, h: Array) -> float:
    """Bound the rounding of (6) and (10) by the sizes of what they sum up."""
    K = np.abs(np.asarray(K))
    A, Z = np.abs(found.A), np.abs(found.Z)
    largest = np.abs(found.Omega).max(initial=1.0)
    size = lam * np.sum(A.sum(axis=1) * (K @ A.sum(axis=1)))
    size += largest / lam * np.sum(Z.sum(axis=1) * (K @ Z.sum(axis=1)))
    size += np.sum(h * (1.0 + np.abs(found.F))) + Z.sum()
    return float(sum(found.Z.shape) * np.finfo(np.float64).eps * size)


def shares(Y: ArrayLike) -> Array:
    """Weights h of the hinges: a row's share of all rows with a known label."""
    known = ep.label_matrix(Y) >= 0
    return np.asarray(known / max(known.any(axis=1).sum(), 1))


def hinge(F: Array, y: Array, h: Array) -> float:
    """Return sum_ij h_ij max(0, 1 - y_ij f_j(x_i)), the loss of (6)."""
    return float(np.sum(h * np.maximum(0.0, 1.0 - y * F)))


def expansion(G: Array, W: Array) -> Array:
    """A of smallest norm with W = G^T A: the weights in terms of the instances.

    G G^T is a centred kernel, so the columns of A sum to 0, to which rounding has to be brought:
    the norm A^T K A of the weights is that of W under the kernel K itself only then.
    """
    A = np.linalg.lstsq(G.T, W, rcond=None)[0]
    return np.asarray(A - A.mean(axis=0))


def problem_data(
    K: ArrayLike, Y: ArrayLike, lam: float, Omega: ArrayLike | None = None
) -> tuple[Array, Any, Array | None]:
    """Check the arguments and turn 0 and 1 into -1 and 1."""
    K = ep.kernel_matrix(K, "none")
    y = signs(Y)
    Omega = None if Omega is None else ep.kernel_matrix(Omega, "none")
    if len(K) != len(y):
        raise ValueError(f"K has {len(K)} rows and Y has {len(y)}, expected the same number")
    if Omega is not None and len(Omega) != y.shape[1]:
        raise ValueError(f"Omega has {len(Omega)} rows and Y has {y.shape[1]} labels")
    if not (np.isfinite(lam) and lam > 0):
        raise ValueError(f"lam is {lam}, expected a positive finite number")
    return K, y, Omega
