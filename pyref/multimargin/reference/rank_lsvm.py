"""Rank-LSVM: the squared hinge on label pairs with a penalized bias (Xu 2016, in Tan et al. 2019).

The problem is Xu 2013, eq. (30), with the margin rho fixed at 1 instead of rewarded::

    min  1/2 sum_k (||w_k||^2 + b_k^2) + 1/2 sum_i C_i sum_(m,n) xi_imn^2
    s.t. f_m(x_i) - f_n(x_i) >= 1 - xi_imn

Its dual has no upper bounds::

    min  W(alpha) = 1/2 alpha^T Theta alpha - u^T alpha,  alpha >= 0

Objectives have the sign of the primal problem: -W(alpha) bounds it from below. Equation numbers
are those of Xu 2013.

Dictionary::

    n, d, q                instances (Xu: l), features, labels
    Y            n x q     1 on L_i, the p_i relevant labels of row i; 0 on the r_i others
    pairs        3 x L     (i, m, n): m relevant, n irrelevant for i                       (28)
    c            L         C_i = C / (p_i r_i) of each pair                            (19), (31)
    K            n x n     kernel matrix of the training instances; linear: X X^T
    Kt           n x n     K + 1: an appended 1 whose weights are the bias
    alpha        L         dual variables, alpha_imn = C_i xi_imn at the optimum           (35)
    H            q x L     [H_1, ..., H_n], entries c_imn^k                    (20), (22), (25)
    blkdiag_H    nq x L    blkdiag(H_1, ..., H_n)
    D            L x L     diag(1 / C_i)                                                   (38)
    Theta        L x L     (H^T H) o K + H^T H + D, never formed                           (38)
    B            n x q     row i is beta_i = H_i alpha_i; W = X^T B                        (32)
    b            q         bias, the column sums of B                                      (33)
    F            n x q     scores Kt B                                                     (27)
    xi           L         slacks max(0, 1 - (f_m(x_i) - f_n(x_i)))
    G, V         n x r, r x q   Kt = G G^T and F = G V, ||V||^2 = sum_k ||w_k||^2 + b_k^2
    orders                 permutations of 0..n-1: instances in each epoch, then from the start
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np
from numpy.typing import ArrayLike

from multimargin.reference import exact
from multimargin.reference.exact import Array, Pairs, Solver, Weight
from multimargin.reference.rank_svm import Solution, expansion, no_pairs, problem_data


# -------------------------------------------------------------------------------------------------
# Primal and dual problem
# -------------------------------------------------------------------------------------------------
def primal(K: ArrayLike, Y: ArrayLike, C: Weight = 1.0, solver: Solver = "clarabel") -> Solution:
    """Solve the primal problem; the value is recomputed with the minimal slacks."""
    Kt, Y, pairs, c = problem_data(K, Y, C, "penalized")
    n, q = Y.shape
    if len(c) == 0:
        return no_pairs(n, q, pairs)
    cp = exact.import_cvxpy()
    G = exact.factor(Kt)
    blkdiag_H = exact.block_pair_matrix(pairs, n, q)

    V = cp.Variable((G.shape[1], q))
    xi = cp.Variable(len(c))
    margin = blkdiag_H.T @ cp.vec(G @ V, order="C") >= 1 - xi
    loss = 0.5 * cp.sum_squares(cp.multiply(np.sqrt(c), xi))
    exact.solve_qp(cp.Problem(cp.Minimize(0.5 * cp.sum_squares(V) + loss), [margin]), solver)

    F = G @ V.value
    alpha = c * slack(F, pairs)  # (35)
    B = expansion(alpha, pairs, n, q)
    value = 0.5 * float(np.sum(V.value**2)) + squared_hinge_loss(F, pairs, c)
    return Solution(value, alpha, B, B.sum(axis=0), F, pairs)


def dual(K: ArrayLike, Y: ArrayLike, C: Weight = 1.0, solver: Solver = "clarabel") -> Solution:
    """Solve the dual problem and recover the model."""
    Kt, Y, pairs, c = problem_data(K, Y, C, "penalized")
    n, q = Y.shape
    if len(c) == 0:
        return no_pairs(n, q, pairs)
    cp = exact.import_cvxpy()
    scale = exact.scale_of(Kt)
    G = exact.factor(Kt) / np.sqrt(scale)
    blkdiag_H = exact.block_pair_matrix(pairs, n, q)

    def solve(unit: Array) -> Solution:
        """Solve for kappa alpha / unit, where kappa is the kernel's scale."""
        a = cp.Variable(len(c))
        beta = cp.reshape(blkdiag_H @ cp.multiply(unit / unit.min(), a), (n, q), order="C")
        slope = cp.multiply(unit / np.sqrt(c * scale), a)
        quadratic = unit.min() ** 2 * cp.sum_squares(G.T @ beta) + cp.sum_squares(slope)
        W = 0.5 * quadratic / unit.min() - cp.sum(cp.multiply(unit / unit.min(), a))
        exact.solve_qp(cp.Problem(cp.Minimize(W), [a >= 0]), solver)
        return recover(K, Y, C, np.maximum(unit * a.value / scale, 0.0))

    # In the first unit the curvature of D is 1, whatever C; in the second, those of the kernel.
    units = [np.sqrt(c * scale), np.ones(len(c))]
    best: Solution = exact.best_of(
        [partial(solve, unit) for unit in units],
        lambda found: primal_objective(K, Y, C, found.B),
    )
    return best


def recover(K: ArrayLike, Y: ArrayLike, C: Weight, alpha: Array) -> Solution:
    """Build the model that belongs to dual variables: (32), (33)."""
    Kt, Y, pairs, _ = problem_data(K, Y, C, "penalized")
    B = expansion(alpha, pairs, *Y.shape)
    return Solution(dual_objective(K, Y, C, alpha), alpha, B, B.sum(axis=0), Kt @ B, pairs)


# -------------------------------------------------------------------------------------------------
# Coordinate descent: one pair at a time, Chen et al. 2009, algorithm 1, with the squared hinge
# -------------------------------------------------------------------------------------------------
def dual_coordinate_descent(
    K: ArrayLike,
    Y: ArrayLike,
    C: Weight = 1.0,
    max_epochs: int = 1000,
    tol: float = 1e-9,
    orders: Sequence[ArrayLike] | None = None,
) -> tuple[Solution, list[Array]]:
    """Run it until an epoch moves alpha by at most tol ||alpha||; also B after every epoch."""
    Kt, Y, pairs, c = problem_data(K, Y, C, "penalized")
    n, q = Y.shape
    permutations = exact.epoch_orders(orders, n)
    first = np.searchsorted(pairs.i, np.arange(n + 1))  # alpha_i = alpha[first[i] : first[i + 1]]
    alpha = np.zeros(len(c))
    F = np.zeros((n, q))
    history: list[Array] = []
    while len(history) < max_epochs:
        before = alpha.copy()
        for i in permutations[len(history) % len(permutations)]:
            for pair in range(first[i], first[i + 1]):
                m, n_label = pairs.m[pair], pairs.n[pair]
                gradient = F[i, m] - F[i, n_label] - 1.0 + alpha[pair] / c[pair]
                curvature = 2.0 * Kt[i, i] + 1.0 / c[pair]  # (54)
                new = max(0.0, alpha[pair] - gradient / curvature)
                delta = new - alpha[pair]
                alpha[pair] = new
                F[:, m] += delta * Kt[:, i]
                F[:, n_label] -= delta * Kt[:, i]
        history.append(expansion(alpha, pairs, n, q))
        if np.linalg.norm(alpha - before) <= tol * np.linalg.norm(alpha):
            break
    return recover(K, Y, C, alpha), history


# -------------------------------------------------------------------------------------------------
# Certificates of a given model
# -------------------------------------------------------------------------------------------------
def primal_objective(K: ArrayLike, Y: ArrayLike, C: Weight, B: Array) -> float:
    """Primal value of the model with expansion coefficients B and the bias sum_i B_i."""
    Kt, Y, pairs, c = problem_data(K, Y, C, "penalized")
    F = Kt @ B
    return 0.5 * float(np.sum(B * F)) + squared_hinge_loss(F, pairs, c)


def dual_objective(K: ArrayLike, Y: ArrayLike, C: Weight, alpha: Array) -> float:
    """Dual value -W(alpha), a lower bound of the optimum for every alpha >= 0."""
    return float(alpha.sum()) - 0.5 * theta_quadratic(K, Y, C, alpha)


def theta_quadratic(K: ArrayLike, Y: ArrayLike, C: Weight, alpha: Array) -> float:
    """alpha^T Theta alpha with Theta of (38)."""
    Kt, Y, pairs, c = problem_data(K, Y, C, "penalized")
    B = expansion(alpha, pairs, *Y.shape)
    return float(np.sum(B * (Kt @ B)) + np.sum(alpha**2 / c))


def squared_hinge_loss(F: Array, pairs: Pairs, c: Array) -> float:
    """Half the sum of C_i xi_imn^2."""
    return 0.5 * float(c @ slack(F, pairs) ** 2)


def slack(F: Array, pairs: Pairs) -> Array:
    """xi_imn = max(0, 1 - (f_m(x_i) - f_n(x_i)))."""
    return np.maximum(0.0, 1.0 - exact.differences(F, pairs))
