"""Ranking against the k highest irrelevant labels: ordered weighted pairwise losses.

The loss of Usunier, Buffoni & Gallinari 2009 with the weights 1/k on the first k errors, for the
hinge of `rank_svm` and the squared hinge of `rank_lsvm`::

    min  1/2 sum_k ||w_k||^2 + sum_i sum_(m in P_i) C_im sum_(j <= k_i) phi(f_m(x_i) - f_(j)(x_i))

with f_(1) >= f_(2) >= ... the scores of the irrelevant labels N_i. phi falls, so the inner sum is
the largest one over all k_i labels of N_i, and the problem is convex. In the dual every pair has a
share theta of its weight, of which each relevant label has k_i to give away::

    hinge          max  u^T alpha - 1/2 alpha^T Theta alpha,  0 <= alpha_imn <= C_im,
                                                              sum_n alpha_imn <= k_i C_im
    squared hinge  max  u^T alpha - 1/2 alpha^T Theta alpha - 1/2 sum alpha^2 / (C_im theta_imn),
                        alpha >= 0,  0 <= theta <= 1,  sum_n theta_imn <= k_i

Dictionary::

    top          1         k_i = min(top, r_i) of the r_i irrelevant labels of row i count
    c            L         C_im = C / (p_i k_i) of each pair; C as in `exact.pair_weights`
    group        L         number of the pair's (i, m)
    the others             as in `rank_svm`
"""

from __future__ import annotations

from functools import partial
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from multimargin.reference import exact, rank_svm
from multimargin.reference.exact import Array, Bias, Labels, Pairs, Solver, Weight
from multimargin.reference.rank_svm import Solution, expansion, no_pairs

Loss = Literal["hinge", "squared_hinge"]


# -------------------------------------------------------------------------------------------------
# Primal and dual problem
# -------------------------------------------------------------------------------------------------
def primal(
    K: ArrayLike,
    Y: ArrayLike,
    C: Weight,
    top: int,
    loss: Loss = "hinge",
    bias: Bias = "free",
    solver: Solver = "clarabel",
) -> Solution:
    """Solve the primal problem by sums of the largest; alpha and B are left at zero."""
    Kt, Y, pairs, c, _ = problem_data(K, Y, C, top, bias)
    n, q = Y.shape
    if len(c) == 0:
        return no_pairs(n, q, pairs)
    cp = exact.import_cvxpy()
    G = exact.factor(Kt)
    V, b = cp.Variable((G.shape[1], q)), cp.Variable((1, q))
    scores = G @ V + np.ones((n, 1)) @ b if bias == "free" else G @ V
    constraints = [cp.sum(b) == 0] if bias == "free" else []
    losses = []
    for i in range(n):
        relevant, irrelevant = np.flatnonzero(Y[i] == 1), np.flatnonzero(Y[i] == 0)
        for m in relevant if len(irrelevant) else []:
            weight = c[(pairs.i == i) & (pairs.m == m)][0]
            slack = cp.pos(1 - scores[i, m] + scores[i, irrelevant])
            each = slack if loss == "hinge" else 0.5 * cp.square(slack)
            losses.append(weight * cp.sum_largest(each, min(top, len(irrelevant))))
    objective = cp.Minimize(0.5 * cp.sum_squares(V) + cp.sum(cp.hstack(losses)))
    exact.solve_qp(cp.Problem(objective, constraints), solver)
    b_value = b.value[0] if bias == "free" else np.zeros(q)
    F = G @ V.value + b_value
    value = 0.5 * float(np.sum(V.value**2)) + loss_of(F, pairs, c, top, loss)
    return Solution(value, np.zeros(len(c)), np.zeros((n, q)), b_value, F, pairs)


def dual(
    K: ArrayLike,
    Y: ArrayLike,
    C: Weight,
    top: int,
    loss: Loss = "hinge",
    bias: Bias = "free",
    solver: Solver = "clarabel",
) -> Solution:
    """Solve the dual problem and recover the model."""
    Kt, Y, pairs, c, group = problem_data(K, Y, C, top, bias)
    n, q = Y.shape
    if len(c) == 0:
        return no_pairs(n, q, pairs)
    cp = exact.import_cvxpy()
    size = exact.scale_of(Kt)
    if bias == "free":
        Kt = exact.centred(Kt)
    scale = exact.scale_of(Kt)
    if loss == "squared_hinge":
        return _dual_of_squares(Kt, c, group, top, pairs, (n, q), (K, Y, C, bias), solver)
    unit = min(float(c.max()), 1.0 / scale)  # of alpha, so that all numbers are of order 1
    G = exact.factor(Kt, size) * np.sqrt(unit)
    blkdiag_H = exact.block_pair_matrix(pairs, n, q)
    sums = sp.csr_array((np.ones(len(c)), (group, np.arange(len(c)))))
    first = np.unique(group, return_index=True)[1]
    given = np.minimum(top, sums.sum(axis=1))

    alpha = cp.Variable(len(c))
    beta = cp.reshape(blkdiag_H @ alpha, (n, q), order="C")
    W = 0.5 * cp.sum_squares(G.T @ beta) - cp.sum(alpha)
    constraints = [alpha >= 0, alpha <= c / unit, sums @ alpha <= given * c[first] / unit]
    multipliers = None
    if bias == "free":
        constraints.append(exact.pair_matrix(pairs, q) @ alpha == 0)
    exact.solve_qp(cp.Problem(cp.Minimize(W), constraints), solver)

    point = np.clip(unit * alpha.value, 0.0, c)
    if bias == "free":
        point = _circulation(point, pairs, c, top, group, q)
        multipliers = constraints[-1].dual_value
    else:
        most, total = given * c[first], sums @ point
        point *= np.minimum(1.0, most / np.maximum(total, 1e-300))[group]
    return recover(K, Y, C, top, loss, bias, point, multipliers)


def _dual_of_squares(
    Kt: Array,
    c: Array,
    group: Array,
    top: int,
    pairs: Pairs,
    shape: tuple[int, int],
    given: tuple[Any, Any, Any, Any],
    solver: Solver,
) -> Solution:
    """Solve the dual problem of the squared hinge, in the first unit that goes well."""
    cp = exact.import_cvxpy()
    K, Y, C, bias = given
    scale = exact.scale_of(Kt)
    G = exact.factor(Kt) / np.sqrt(scale)
    blkdiag_H = exact.block_pair_matrix(pairs, *shape)
    sums = sp.csr_array((np.ones(len(c)), (group, np.arange(len(c)))))
    most = np.minimum(top, sums.sum(axis=1))

    def solve(unit: Array) -> Solution:
        """Solve for kappa alpha / unit, where kappa is the kernel's scale."""
        a, theta = cp.Variable(len(c)), cp.Variable(len(c))
        share = unit / unit.min()
        beta = cp.reshape(blkdiag_H @ cp.multiply(share, a), shape, order="C")
        slope = unit / np.sqrt(c * scale)
        squares = [cp.quad_over_lin(slope[j] * a[j], theta[j]) for j in range(len(c))]
        quadratic = unit.min() ** 2 * cp.sum_squares(G.T @ beta) + cp.sum(cp.hstack(squares))
        W = 0.5 * quadratic / unit.min() - cp.sum(cp.multiply(share, a))
        constraints = [a >= 0, theta <= 1, sums @ theta <= most]
        exact.solve_qp(cp.Problem(cp.Minimize(W), constraints), solver)
        alpha = np.maximum(unit * a.value / scale, 0.0)
        return recover(K, Y, C, top, "squared_hinge", bias, alpha)

    units = [np.sqrt(c * scale), np.ones(len(c))]
    best: Solution = exact.best_of(
        [partial(solve, unit) for unit in units],
        lambda found: primal_objective(K, Y, C, top, "squared_hinge", bias, found.B, found.b),
    )
    return best


def _circulation(alpha: Array, pairs: Pairs, c: Array, top: int, group: Array, q: int) -> Array:
    """Move alpha to a feasible point with H alpha = 0."""
    counts = np.bincount(group)
    share = np.minimum(top, counts) / counts
    interior = exact.interior_circulation(pairs, c * share[group], q)
    alpha = exact.feasible(alpha, pairs, c, q)
    most = np.bincount(group, c) * share
    total, inside = np.bincount(group, alpha), np.bincount(group, interior)
    over = total > most
    mixed = ((total - most)[over] / (total - inside)[over]).max(initial=0.0)
    return np.asarray((1.0 - mixed) * alpha + mixed * interior)


def recover(
    K: ArrayLike,
    Y: ArrayLike,
    C: Weight,
    top: int,
    loss: Loss,
    bias: Bias,
    alpha: Array,
    multipliers: Array | None = None,
) -> Solution:
    """Build the model of alpha; its objective is the best one over all shares theta."""
    Kt, Y, pairs, c, group = problem_data(K, Y, C, top, bias)
    n, q = Y.shape
    B = expansion(alpha, pairs, n, q)
    F, b = Kt @ B, np.zeros(q)
    if bias == "penalized":
        b = B.sum(axis=0)
    if bias == "free" and multipliers is not None:
        # They belong to the centred scores.
        b = multipliers - F.mean(axis=0)
        b -= b.mean()
        F = F + b
    value = float(alpha.sum()) - 0.5 * float(np.sum(B * (Kt @ B)))
    if loss == "squared_hinge":
        value -= least_squares(alpha, c, group, top)
    return Solution(value, alpha, B, b, F, pairs)


def least_squares(alpha: Array, c: Array, group: Array, top: int) -> float:
    """1/2 sum of alpha^2 / (C theta), least over the shares theta of each relevant label."""
    total = 0.0
    for g in range(int(group.max(initial=-1)) + 1):
        own = np.sort(alpha[group == g])[::-1]
        k = min(top, len(own))
        # theta = min(1, alpha / level), and the labels with theta = 1 come first.
        rest = np.cumsum(own[::-1])[::-1]
        for full in range(k):
            level = rest[full] / (k - full)
            if level >= own[full]:
                break
        else:
            full, level = k, 0.0
        total += float(np.sum(own[:full] ** 2) + (rest[full] * level if full < k else 0.0)) / (
            2.0 * c[group == g][0]
        )
    return total


# -------------------------------------------------------------------------------------------------
# Certificates of a given model
# -------------------------------------------------------------------------------------------------
def primal_objective(
    K: ArrayLike, Y: ArrayLike, C: Weight, top: int, loss: Loss, bias: Bias, B: Array, b: Array
) -> float:
    """Primal value of the model f_k(x) = sum_i B[i, k] k(x, x_i) + b_k."""
    _, Y, pairs, c, _ = problem_data(K, Y, C, top, bias)
    K = np.asarray(K, dtype=np.float64)
    squares = float(np.sum(B * (K @ B)))
    if bias == "penalized":
        squares += float(b @ b)
    return 0.5 * squares + loss_of(K @ B + b, pairs, c, top, loss)


def loss_of(F: Array, pairs: Pairs, c: Array, top: int, loss: Loss) -> float:
    """The sum over the k highest irrelevant labels of every row and relevant label."""
    slack = np.maximum(0.0, 1.0 - exact.differences(F, pairs))
    total = 0.0
    for g in np.split(np.arange(len(c)), np.flatnonzero(np.diff(groups(pairs))) + 1):
        largest = np.sort(slack[g])[::-1][:top]
        each = largest if loss == "hinge" else 0.5 * largest**2
        total += float(c[g[0]] * each.sum()) if len(g) else 0.0
    return total


def problem_data(
    K: ArrayLike, Y: ArrayLike, C: Weight, top: int, bias: Bias
) -> tuple[Array, Labels, Pairs, Array, Any]:
    """Check the arguments and build Kt, Y, the pairs, their weights c and their groups."""
    if top < 1:
        raise ValueError(f"top is {top}, expected at least 1")
    Kt, Y, pairs, c = rank_svm.problem_data(K, Y, C, bias)
    group = groups(pairs)
    counts = np.bincount(group) if len(group) else np.ones(0, dtype=int)
    # C / (p_i r_i) to C / (p_i k_i)
    c = c * (counts / np.minimum(top, counts))[group]
    return Kt, Y, pairs, c, group


def groups(pairs: Pairs) -> Any:
    """Number the (i, m) of the pairs, in their order."""
    if len(pairs.i) == 0:
        return np.zeros(0, dtype=int)
    changes = (np.diff(pairs.i) != 0) | (np.diff(pairs.m) != 0)
    return np.concatenate([[0], np.cumsum(changes)])
