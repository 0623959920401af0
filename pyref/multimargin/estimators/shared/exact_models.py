"""Exact duals of the pairwise losses: weights, unknown labels, the top of the ranking, scaling.

The plain problems are those of `multimargin.reference`. Here the kernel is centred where the bias
is free, the variables are in units that leave all numbers of order 1, and the point that a solver
leaves outside by its tolerance is moved inside, so that its value bounds the optimum.
"""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from multimargin.estimators.shared import exact_flows as flows
from multimargin.estimators.shared import exact_pairs as ep
from multimargin.estimators.shared.exact_pairs import Array, Bias, Pairs, Weight
from multimargin.estimators.shared.exact_solver import best_of, import_cvxpy, solve


class Solution(NamedTuple):
    """A feasible dual point: its value, its model, and the value of that.

    `rounding` is how far that of their terms may have moved both values past each other.
    """

    objective: float
    primal: float
    rounding: float
    alpha: Array
    B: Array
    b: Array
    F: Array


class Problem(NamedTuple):
    """Parts of all losses of pairs; `group` numbers the (i, m), `top` bounds its pairs.

    X are the features of a linear kernel K = X X^T, where there are some.
    """

    K: Array
    Kt: Array
    pairs: Pairs
    c: Array
    group: Any
    top: Any
    bias: Bias
    shape: tuple[int, int]
    X: Any = None


def problem_of(
    K: ArrayLike, Y: ArrayLike, C: Weight, bias: Bias, top: int | None, X: Any = None
) -> Problem:
    """Check the arguments and list the pairs with their weights C / (p_i min(top, r_i))."""
    labels = ep.label_matrix(Y)
    pairs = ep.pairs(labels)
    c = ep.pair_weights(pairs, C)
    changes = (np.diff(pairs.i) != 0) | (np.diff(pairs.m) != 0)
    group = np.concatenate([[0], np.cumsum(changes)])[: len(c)]
    counts = np.bincount(group)
    most = counts if top is None else np.minimum(top, counts)
    shared = c * (counts / most)[group]
    return _problem(K, pairs, shared, group, most, bias, labels.shape, X)


def _problem(
    K: ArrayLike,
    pairs: Pairs,
    c: Array,
    group: Any,
    top: Any,
    bias: Bias,
    shape: tuple[int, ...],
    X: Any,
) -> Problem:
    Kt, (n, q) = ep.kernel_matrix(K, bias), shape
    if len(Kt) != n:
        raise ValueError(f"K has {len(Kt)} rows and Y has {n}, expected the same number")
    return Problem(np.asarray(K, dtype=np.float64), Kt, pairs, c, group, top, bias, (n, q), X)


def no_pairs(problem: Problem) -> Solution:
    """Give the solution of a problem without pairs: all zero."""
    zeros = np.zeros(problem.shape)
    return Solution(0.0, 0.0, 0.0, np.zeros(0), zeros, np.zeros(problem.shape[1]), zeros)


def bias_of(problem: Problem, B: Array, free: Array | None = None) -> Array:
    """Return b: the sums of B if it is penalized, the multipliers less their mean if free."""
    if problem.bias == "penalized":
        return np.asarray(B.sum(axis=0))
    return np.zeros(problem.shape[1]) if free is None else np.asarray(free - free.mean())


# --- The hinge
def hinge(
    K: ArrayLike,
    Y: ArrayLike,
    C: Weight = 1.0,
    bias: Bias = "free",
    top: int | None = None,
    X: Any = None,
) -> Solution:
    """Solve max u^T alpha - 1/2 alpha^T Theta alpha over 0 <= alpha <= c; H alpha = 0 if free.

    With a top, the pairs of a relevant label share min(top, r_i) c between them.
    """
    return _hinge(problem_of(K, Y, C, bias, top, X), top)


def _hinge(problem: Problem, top: int | None) -> Solution:
    c, pairs, bias, (n, q) = problem.c, problem.pairs, problem.bias, problem.shape
    if len(c) == 0:
        return no_pairs(problem)
    cp = import_cvxpy()
    size = ep.scale_of(problem.Kt)
    Kt = ep.centred(problem.Kt) if bias == "free" else problem.Kt
    unit = min(float(c.max()), 1.0 / ep.scale_of(Kt))  # of alpha, so that all is of order 1
    G = ep.factor(Kt, size) * np.sqrt(unit)

    alpha = cp.Variable(len(c))
    beta = cp.reshape(ep.block_pair_matrix(pairs, n, q) @ alpha, (n, q), order="C")
    constraints = [alpha >= 0, alpha <= c / unit]
    most = problem.top * c[np.unique(problem.group, return_index=True)[1]]
    if top is not None:
        constraints.append(sums_of(problem) @ alpha <= most / unit)
    if bias == "free":
        constraints.append(ep.pair_matrix(pairs, q) @ alpha == 0)
    W = 0.5 * cp.sum_squares(G.T @ beta) - cp.sum(alpha)
    solve(cp.Problem(cp.Minimize(W), constraints))

    point = np.clip(unit * alpha.value, 0.0, c)
    if bias == "free":
        point = flows.feasible(unit * alpha.value, pairs, c, q)
    if top is not None:
        point = below(point, problem, most)
    B = ep.expansion(point, pairs, n, q)
    scores = image(problem, B)
    # The multipliers of H alpha = 0 belong to the centred scores.
    free = constraints[-1].dual_value - scores.mean(axis=0) if bias == "free" else None
    b = bias_of(problem, B, free)
    squares = _squares(problem, B, B.sum(axis=0))
    value, primal = float(point.sum()) - squares, _hinge_objective(problem, B, b)
    rounding = _rounding(problem, B, b, float(point.sum()) + primal)
    return Solution(value, primal, rounding, point, B, b, scores + b)


def hinge_objective(
    K: ArrayLike, Y: ArrayLike, C: Weight, B: Array, b: Array, bias: Bias, top: int | None = None
) -> float:
    """Return the objective of the model f_k(x) = sum_i B[i, k] k(x, x_i) + b_k."""
    return _hinge_objective(problem_of(K, Y, C, bias, top), B, b)


def _hinge_objective(problem: Problem, B: Array, b: Array) -> float:
    return _squares(problem, B, b) + _loss(
        problem, np.maximum(0.0, 1.0 - margins(problem, image(problem, B) + b))
    )


def below(alpha: Array, problem: Problem, most: Array) -> Array:
    """Move alpha to where the pairs of a relevant label sum to at most `most`."""
    group, total = problem.group, np.bincount(problem.group, alpha)
    if problem.bias != "free":
        share = np.divide(most, total, out=np.ones_like(total), where=total > most)
        return np.asarray(alpha * share[group])
    share = problem.top / np.bincount(group)
    interior = flows.interior_circulation(problem.pairs, problem.c * share[group], problem.shape[1])
    inside, over = np.bincount(group, interior), total > most
    mixed = ((total - most)[over] / (total - inside)[over]).max(initial=0.0)
    return np.asarray((1.0 - mixed) * alpha + mixed * interior)


# --- The squared hinge and the optimal margin
def squared_hinge(
    K: ArrayLike,
    Y: ArrayLike,
    C: Weight = 1.0,
    bias: Bias = "penalized",
    top: int | None = None,
    X: Any = None,
) -> Solution:
    """Solve max u^T alpha - 1/2 alpha^T Theta alpha - 1/2 sum alpha^2 / c over alpha >= 0.

    With a top, c is shared out: c theta with theta <= 1, which a relevant label has `top` of.
    """
    return _quadratic(problem_of(K, Y, C, bias, top, X), 0.0, 0.0, shared=top is not None)


def optimal_margin(
    K: ArrayLike,
    Y: ArrayLike,
    C: Weight = 1.0,
    theta: float = 0.2,
    mu: float = 0.5,
    X: Any = None,
) -> Solution:
    """Solve (18) of Tan et al. 2019; `alpha` of the solution is alpha - beta."""
    if not 0.0 <= theta < 1.0:
        raise ValueError(f"theta is {theta}, expected 0 <= theta < 1")
    if not 0.0 < mu <= 1.0:
        raise ValueError(f"mu is {mu}, expected 0 < mu <= 1")
    return _quadratic(problem_of(K, Y, C, "none", None, X), theta, mu, shared=False)


def _quadratic(problem: Problem, theta: float, mu: float, *, shared: bool) -> Solution:
    c, pairs, (n, q) = problem.c, problem.pairs, problem.shape
    if len(c) == 0:
        return no_pairs(problem)
    cp = import_cvxpy()
    scale = ep.scale_of(problem.Kt)
    G = ep.factor(problem.Kt) / np.sqrt(scale)
    blkdiag_H = ep.block_pair_matrix(pairs, n, q)

    def attempt(unit: Array) -> Solution:
        """Solve for kappa alpha / unit, where kappa is the kernel's scale."""
        share, slope = unit / unit.min(), unit / np.sqrt(c * scale)
        a = cp.Variable(len(c))
        t, constraints = a, [a >= 0]
        linear = (theta - 1.0) * cp.sum(cp.multiply(share, a))
        if shared:
            shares = cp.Variable(len(c))
            constraints += [shares <= 1, sums_of(problem) @ shares <= problem.top]
            parts = [cp.quad_over_lin(slope[j] * a[j], shares[j]) for j in range(len(c))]
            quadratic = cp.sum(cp.hstack(parts))
        else:
            quadratic = cp.sum_squares(cp.multiply(slope, a))
        if mu > 0.0:
            other = cp.Variable(len(c))
            t, constraints = a - other, [*constraints, other >= 0]
            linear += (theta + 1.0) * cp.sum(cp.multiply(share, other))
            quadratic += cp.sum_squares(cp.multiply(slope / np.sqrt(mu), other))
        beta = cp.reshape(blkdiag_H @ cp.multiply(share, t), (n, q), order="C")
        quadratic += unit.min() ** 2 * cp.sum_squares(G.T @ beta)
        solve(cp.Problem(cp.Minimize(0.5 * quadratic / unit.min() + linear), constraints))
        found = np.maximum(a.value, 0.0)
        if mu > 0.0:
            found = found - np.maximum(other.value, 0.0)
        return _recovered(problem, unit * found / scale, theta, mu)

    # In the first unit the curvature of the last term is 1, whatever C; in the second, that of the
    # kernel.
    units = [np.sqrt(c * scale), np.ones(len(c))]
    best: Solution = best_of([partial(attempt, unit) for unit in units])
    return best


def _recovered(problem: Problem, t: Array, theta: float, mu: float) -> Solution:
    n, q = problem.shape
    B = ep.expansion(t, problem.pairs, n, q)
    b = bias_of(problem, B)
    alpha, beta = np.maximum(t, 0.0), np.maximum(-t, 0.0)
    size = (1.0 + theta) * float(np.abs(t).sum())
    value = (1.0 - theta) * alpha.sum() - (1.0 + theta) * beta.sum()
    value -= _squares(problem, B, B.sum(axis=0)) + _least_squares(problem, alpha)
    if mu > 0.0:
        value -= np.sum(beta**2 / (2.0 * mu * problem.c))
    primal = _quadratic_objective(problem, B, b, theta, mu)
    rounding = _rounding(problem, B, b, size + primal)
    return Solution(float(value), primal, rounding, t, B, b, image(problem, B) + b)


def _quadratic_objective(problem: Problem, B: Array, b: Array, theta: float, mu: float) -> float:
    z = margins(problem, image(problem, B) + b)
    xi, eps = np.maximum(0.0, 1.0 - theta - z), np.maximum(0.0, z - 1.0 - theta)
    return _squares(problem, B, b) + _loss(problem, 0.5 * (xi**2 + mu * eps**2))


def _least_squares(problem: Problem, alpha: Array) -> float:
    """1/2 sum of alpha^2 / (c theta), least over the shares theta <= 1 of each relevant label."""
    c, group = problem.c, problem.group
    if (problem.top == np.bincount(group)).all():
        return float(np.sum(alpha**2 / (2.0 * c)))
    total = 0.0
    for g, k in enumerate(problem.top):
        own = np.sort(alpha[group == g])[::-1]
        # theta = min(1, alpha / level), and the labels with theta = 1 come first.
        rest = np.cumsum(own[::-1])[::-1]
        full = 0
        while full < k and rest[full] < own[full] * (k - full):
            full += 1
        squares = np.sum(own[:full] ** 2)
        if full < k:
            squares += rest[full] ** 2 / (k - full)
        total += float(squares / (2.0 * c[group == g][0]))
    return total


# --- The zero label
def zero_label(
    K: ArrayLike, Y: ArrayLike, C: Weight = 1.0, bias: Bias = "free", X: Any = None
) -> Solution:
    """Solve the hinge of pairs with the zero label: (k, q) where k is relevant, (q, k) where not.

    The zero label is the last column of B, b and F.
    """
    n, q = np.shape(Y)
    c = label_weights(Y, C)
    i, k = np.nonzero(c)
    relevant = signs(Y)[i, k] > 0
    pairs = Pairs(i, np.where(relevant, k, q), np.where(relevant, q, k))
    group = np.arange(len(i))
    top, shape = np.ones(len(i)), (n, q + 1)
    return _hinge(_problem(K, pairs, c[i, k], group, top, bias, shape, X), top=None)


def signs(Y: ArrayLike) -> Array:
    """Return 2 Y - 1, and -1 for an unknown label, whose weight is 0."""
    return np.where(ep.label_matrix(Y) == 1, 1.0, -1.0)


def label_weights(Y: ArrayLike, C: Weight) -> Array:
    """C, by row or by row and label, over the number of known labels; 0 for unknown ones."""
    if not (np.isfinite(C).all() and np.all(np.asarray(C) > 0)):
        raise ValueError(f"C is {C}, expected a positive finite number")
    known = ep.label_matrix(Y) >= 0
    C = np.asarray(C, dtype=np.float64)
    of_labels = C if C.ndim == 2 else C.reshape(-1, 1)
    return np.asarray(known * (of_labels / np.maximum(known.sum(axis=1, keepdims=True), 1)))


def balanced(alpha: Array, y: Array) -> Array:
    """Shrink the heavier class of each label, so that 1^T z_k = 0 holds but for rounding."""
    positive = np.where(y > 0, alpha, 0.0).sum(axis=0)
    negative = np.where(y < 0, alpha, 0.0).sum(axis=0)
    least = np.minimum(positive, negative)
    shares = [least / np.where(total > 0.0, total, 1.0) for total in (positive, negative)]
    return np.asarray(alpha * np.where(y > 0, shares[0], shares[1]))


# --- Pieces
def sums_of(problem: Problem) -> Any:
    """Return the matrix that sums what belongs to pairs over those of a relevant label."""
    L = len(problem.c)
    return sp.csr_array((np.ones(L), (problem.group, np.arange(L))))


def margins(problem: Problem, F: Array) -> Array:
    """f_m(x_i) - f_n(x_i) of every pair."""
    return ep.differences(F, problem.pairs)


def image(problem: Problem, B: Array) -> Array:
    """K B, by the weights where there are features."""
    return np.asarray(problem.K @ B if problem.X is None else problem.X @ (problem.X.T @ B))


def _rounding(problem: Problem, B: Array, b: Array, size: float) -> float:
    """Bound the rounding of primal and dual value, whose terms have a size."""
    X = abs(problem.K) if problem.X is None else abs(problem.X)
    scores = X @ np.abs(B if problem.X is None else problem.X.T @ B)
    size += float(np.sum(np.abs(B) * (scores + np.abs(b))))
    return sum(problem.shape) * float(np.finfo(np.float64).eps) * size


def _squares(problem: Problem, B: Array, b: Array) -> float:
    """1/2 sum_k ||w_k||^2, and 1/2 ||b||^2 if it is penalized."""
    if problem.X is None:
        squares = float(np.sum(B * (problem.K @ B)))
    else:
        squares = float(np.sum(np.square(problem.X.T @ B)))
    return 0.5 * (squares + float(b @ b) if problem.bias == "penalized" else squares)


def _loss(problem: Problem, each: Array) -> float:
    """Sum c times the terms of the pairs, of the largest `top` ones of each relevant label."""
    if len(each) == 0:
        return 0.0
    order = np.lexsort([-each, problem.group])
    group = problem.group[order]
    place = np.arange(len(each)) - np.unique(group, return_index=True)[1][group]
    counted = place < problem.top[group]
    return float(np.sum((problem.c * each)[order][counted]))
