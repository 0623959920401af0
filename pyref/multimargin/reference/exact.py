"""Exact solutions with proven bounds: the problems of the other files, scaled, solved and judged.

An interior-point solver works to an absolute tolerance. So the arguments are scaled until
everything is of order 1, the problem is solved as its file states it, the result is moved into the
feasible set, and the values of the model and of the dual point are recomputed: they bound the
optimum, whatever the solver did.

K / s and s C have the scores of K and C, and alpha and the objective times s.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from multimargin.reference import beyond, mlodm, mlrl, rank_lsvm, rank_svm, rank_svmz
from multimargin.reference.beyond import Weight
from multimargin.reference.feasible import balanced, feasible
from multimargin.reference.interior_point import (
    CERTIFIED,
    BoundsApartError,
    ExactSolverError,
)
from multimargin.reference.matrices import centred, root, scale_of
from multimargin.reference.rank_svm import Array, Labels

# A gap that is no solution.
USELESS = 1e-4
# Gap required of a unit: otherwise the next unit is tried.
FACTORS = (1.0, 1e-3, 1e2, 1e4)
BIASES = ("free", "penalized", "none")


class Solution(NamedTuple):
    """Bounds of the optimum, and the model f_k(x) = sum_i B_ik K(x, x_i) + b_k of the upper one."""

    lower: float
    upper: float
    B: Array
    b: Array
    rounding: float  # A bound on the rounding error of their difference


def rounding_of(K: Array, B: Array, b: Array, size: float) -> float:
    """Bound the rounding of sums of terms of a size, and of scores K B + b times B."""
    G = root(K)
    scores = np.abs(G) @ np.abs(G.T @ B)
    size += float(np.sum(np.abs(B) * (scores + np.abs(b))))
    return sum(B.shape) * float(np.finfo(np.float64).eps) * size


def best_of(attempt: Callable[[float], Solution], units: list[float]) -> Solution:
    """Return the first solution certified by its own bounds, else the one with the smallest gap."""
    best, failed = None, None
    for unit in units:
        try:
            found = attempt(unit)
        except ExactSolverError as error:
            failed = error
            continue
        if best is None or found.upper - found.lower < best.upper - best.lower:
            best = found
        if found.upper - found.lower <= CERTIFIED * abs(found.upper):
            break
    if best is None:
        assert failed is not None
        raise failed
    gap = best.upper - best.lower
    if not gap <= USELESS * abs(best.upper):
        raise BoundsApartError(
            f"the exact solver clarabel found {best.upper:.6g} and proved {best.lower:.6g}, "
            "expected bounds that agree: rounding decides. Scale the features, lower C or use an "
            "iterative solver, such as solver='bcd', which certifies its result, too"
        )
    return best


def _centred(K: Array) -> Array:
    """Return the centred matrix, or 0 if it consists of rounding errors of K."""
    G = root(centred(K), scale_of(K))
    return G @ G.T


# --- Pairs of labels
def hinge(
    K: Array, Y: Labels, C: Weight = 1.0, bias: str = "free", k: int | None = None
) -> Solution:
    """Solve Rank-SVM, (26) of Xu 2013, or (17) of Chen et al. 2009 for a bias that is not free."""
    free, one = bias == "free", 1.0 * (bias == "penalized")
    Kt = _centred(K) if free else K + one
    largest = float(beyond.upper_bounds(Y, C, k).max())

    def attempt(unit: float) -> Solution:
        C_unit = np.asarray(C) / unit
        _, alpha, b = beyond.problem_26(unit * Kt, Y, C_unit, k, free)
        alpha = feasible(unit * alpha, Y, C, k, free)
        B = rank_svm.proxy(alpha, Y)
        # The multipliers of H alpha = 0 belong to the centred scores.
        b = b - (K @ B).mean(axis=0) if free else one * B.sum(axis=0)
        b = b - b.mean() if free else b
        upper = beyond.objective_18(K, Y, C, B, b, k) + one * float(b @ b) / 2
        rounding = rounding_of(K, B, b, float(alpha.sum()) + upper)
        without_bias = -rank_svm.objective_26(Kt if free else K, Y, alpha)
        lower = without_bias - one * float(b @ b) / 2
        return Solution(lower, upper, B, b, rounding)

    size = scale_of(Kt)
    units = [min(largest, 1.0 / size), *_units(largest, size)[:2]]
    return best_of(attempt, units)


def squared_hinge(K: Array, Y: Labels, C: Weight = 1.0, k: int | None = None) -> Solution:
    """Solve Rank-LSVM."""

    def attempt(unit: float) -> Solution:
        _, alpha = rank_lsvm.dual(unit * K, Y, np.asarray(C) / unit, k, one=unit)
        alpha = np.maximum(unit * alpha, 0.0)
        B = rank_svm.proxy(alpha, Y)
        b = B.sum(axis=0)
        lower = -rank_lsvm.objective_dual(K, Y, C, alpha, k)
        upper = rank_lsvm.objective_primal(K, Y, C, B, b, k)
        return Solution(lower, upper, B, b, rounding_of(K, B, b, float(alpha.sum()) + upper))

    units = _units(float(beyond.upper_bounds(Y, C, k).max()), scale_of(K + 1.0))
    return best_of(attempt, units)


def margin_rho(K: Array, Y: Labels, C: Weight = 1.0, k: int | None = None) -> Solution:
    """Solve Rank-CVM, (37) of Xu 2013; its model has the margin rho = 2 `upper`."""

    def attempt(size: float) -> Solution:
        _, alpha = beyond.problem_37(size * K, Y, np.asarray(C) / size, k, one=size)
        alpha = np.maximum(alpha, 0.0)
        alpha /= alpha.sum()
        B = rank_svm.proxy(alpha, Y)
        rho = beyond.value_of_theta(alpha, K, Y, C, k)
        # (30) is homogeneous: the model with the margin 1 has the value P of Rank-LSVM, and the
        # best multiple of it has -1 / (4 P) in (30).
        of_margin_1 = rank_lsvm.objective_primal(K, Y, C, B / rho, B.sum(axis=0) / rho, k)
        rounding = rounding_of(K, B, B.sum(axis=0), rho)
        return Solution(1.0 / (4.0 * of_margin_1), rho / 2.0, B, B.sum(axis=0), rounding)

    # At the optimum Theta should be of the size of 1 / alpha, as estimated from the value found.
    first = squared_hinge(K, Y, C, k)
    sizes = [4.0 * first.upper * factor for factor in FACTORS]
    return best_of(attempt, sizes)


def optimal_margin(
    K: Array, Y: Labels, C: Weight = 1.0, theta: float = 0.2, mu: float = 0.5
) -> Solution:
    """Solve mlODM, (18) of Tan et al. 2019."""

    def attempt(unit: float) -> Solution:
        _, alpha, beta = mlodm.problem_18(unit * K, Y, np.asarray(C) / unit, theta, mu)
        alpha, beta = unit * np.maximum(alpha, 0.0), unit * np.maximum(beta, 0.0)
        B = mlodm.expansion(alpha, beta, Y)
        lower = -mlodm.objective_18(K, Y, C, theta, mu, alpha, beta)
        upper = mlodm.objective_15(K, Y, C, theta, mu, B)
        b = np.zeros(Y.shape[1])
        size = (1.0 + theta) * float(alpha.sum() + beta.sum()) + upper
        return Solution(lower, upper, B, b, rounding_of(K, B, b, size))

    units = _units(float(beyond.upper_bounds(Y, C).max()), scale_of(K))
    return best_of(attempt, units)


def _units(largest: float, size: float) -> list[float]:
    """Units of alpha: that in which K and 1 / C_i have equal curvature, and some others."""
    return [float(np.sqrt(largest / size)) * factor for factor in FACTORS]


# --- Labels
def zero_label(K: Array, Y: Labels, C: Weight = 1.0, bias: str = "free") -> Solution:
    """Solve Rank-SVMz; the zero label is the last column of B and b."""
    free, one = bias == "free", 1.0 * (bias == "penalized")
    Kt = _centred(K) if free else K + one
    c = rank_svmz.weights(Y, C)
    unit = min(float(c.max()), 1.0 / scale_of(Kt))
    _, Z, b = rank_svmz.dual(unit * Kt, Y, np.asarray(C) / unit, free)
    Z = balanced(unit * Z, rank_svmz.signs(Y), c, free)
    B = np.hstack([Z, -Z.sum(axis=1, keepdims=True)])
    b = b - (K @ B).mean(axis=0) if free else one * B.sum(axis=0)
    b = b - b.mean() if free else b
    upper = rank_svmz.objective_primal(K, Y, C, Z, b) + one * float(b @ b) / 2
    rounding = rounding_of(K, B, b, float(np.abs(Z).sum()) + upper)
    return Solution(-rank_svmz.objective_dual(Kt, Y, Z), upper, B, b, rounding)


class Relationship(NamedTuple):
    """A solution of MLRL: also the dual point Z of the lower bound, and Omega."""

    lower: float
    upper: float
    B: Array
    b: Array
    Z: Array
    Omega: Array
    rounding: float


def relationship(
    K: Array, Y: Labels, lam: float, Omega: Array | None = None, h: Array | None = None
) -> Relationship:
    """Solve (8) of Zhang & Yeung 2013 for a fixed Omega, else (6)."""
    h, y, Kt = mlrl.shares(Y, h), mlrl.signs(Y), centred(K)
    size = scale_of(Kt)
    G, of_K = root(Kt, scale_of(K)) / np.sqrt(size), root(K)
    spread = 1.0 if Omega is None else scale_of(Omega)
    unit = lam / (size * spread)
    if Omega is None:
        _, W, b, Z = mlrl.trace_norm(G, Y, unit, h)
    else:
        _, W, b, Z = mlrl.problem_8(G, Y, unit, Omega / spread, h)
    Z = balanced(Z, y, h)
    # Singular values: the roots of eigenvalues of Z^T K Z and B^T K B have half of the digits.
    of_Z = of_K.T @ Z
    largest = np.linalg.norm(of_Z, 2) ** 2 if Omega is None else np.sum((of_Z @ root(Omega)) ** 2)
    # B of smallest norm with W = G^T B. G G^T is centred: its columns sum to 0 up to rounding, and
    # only then is the norm of W that of B under the kernel K itself.
    B = np.linalg.lstsq(G.T, W, rcond=None)[0] / size
    B -= B.mean(axis=0)
    b = b + (G @ W - K @ B).mean(axis=0)
    if Omega is None:
        Omega = mlrl.omega_step(W.T @ W)
        norm = float(np.linalg.norm(of_K.T @ B, "nuc"))
        upper = mlrl.hinge(K @ B + b, Y, h) + lam / 2 * norm**2
    else:
        V = np.linalg.lstsq(root(Omega / spread), W.T, rcond=None)[0]  # as in (8)
        upper = mlrl.hinge(K @ B + b, Y, h) + unit / 2 * float(np.sum(V**2))
    lower = float(np.abs(Z).sum() - largest / (2 * lam))
    sizes = np.abs(B).sum(axis=1), np.abs(Z).sum(axis=1)
    terms = lam * sizes[0] @ np.abs(K) @ sizes[0]
    terms += np.abs(Omega).max(initial=1.0) / lam * sizes[1] @ np.abs(K) @ sizes[1]
    terms += np.sum(h * (1.0 + np.abs(K @ B + b))) + sizes[1].sum()
    rounding = sum(Z.shape) * float(np.finfo(np.float64).eps * terms)
    return Relationship(lower, upper, B, b, Z, Omega, rounding)
