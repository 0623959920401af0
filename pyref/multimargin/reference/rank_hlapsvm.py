"""Rank-HLapSVM: Rank-SVM that is smooth over the hypergraph of the labels (Chen et al. 2009).

The problem is Chen et al. 2009, eq. (10)::

    min  1/2 sum_k ||w_k||^2 + lam/2 trace(F^T Lap F) + sum_i C_i sum_(p,q) xi_ipq
    s.t. <w_p - w_q, x_i> >= 1 - xi_ipq,  xi_ipq >= 0

Every x_i ends with a 1, whose weight is the bias, eq. (8). The dual, eq. (17), is that of Rank-SVM
without bias on the kernel A, eq. (27)::

    min  g(alpha) = 1/2 sum_p beta_p^T A beta_p - sum alpha_ipq,  0 <= alpha_ipq <= C_i
    A = X (I + lam X^T Lap X)^-1 X^T = K1 (I + lam Lap K1)^-1

Objectives have the sign of the primal problem: -g(alpha) bounds it from below. Equation numbers are
those of Chen et al. 2009.

Dictionary::

    n, d, q                instances, features (Chen: m), labels (Chen: k)
    lam, nu                weights of the Laplacian and of distances, >= 0           (10), (29)
    Y            n x q     1 on y_i, the p_i relevant labels of row i; 0 on the r_i others: the
                           incidence matrix H of instances x hyperedges                     (4)
    pairs        3 x L     (i, m, n), Chen's (p, q): m relevant, n irrelevant for i
    c            L         C_i = C / (p_i r_i) of each pair                                (17)
    w            q         hyperedge weights w(e) = exp(-nu dbar_e); e: rows with label k  (29)
    W_c, D_c     n x n     similarity of the clique expansion, and its row sums             (4)
    Lap          n x n     combinatorial Laplacian L_c = D_c - W_c                          (5)
    K, K1        n x n     kernel matrix (linear: X X^T), and K + 1 for the appended 1      (8)
    A            n x n     the kernel that the method uses, A_ii its diagonal        (19), (27)
    alpha        L         dual variables alpha_ipq                                        (17)
    B            n x q     B[i, p] = beta_pi                                               (15)
    expansion    n x q     (I + lam Lap K1)^-1 B: f_k(x) = sum_i expansion[i, k] (k(x, x_i) + 1)
    W            d+1 x q   weights, the last row is the bias                               (16)
    b            q         bias, the column sums of `expansion`
    F            n x q     scores of the training instances                                (10)
    blkdiag_H    nq x L    sends alpha to B; its transpose sends F to the differences f_p - f_q
    G, V         n x r, r x q   K1 = G G^T and F = G V: instances and weights in coordinates of
                           the space that the instances span, ||V|| = ||W||
    orders                 permutations of 0..n-1: instances in each epoch, then from the start
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from multimargin.reference import exact, rank_svm
from multimargin.reference.exact import Array, Pairs, Solver


class Solution(NamedTuple):
    """A dual point and its model; `objective` is the value of the problem that was solved."""

    objective: float
    B: Array
    expansion: Array
    b: Array
    F: Array
    pairs: Pairs


# -------------------------------------------------------------------------------------------------
# Hypergraph: sections 2 and 4.1
# -------------------------------------------------------------------------------------------------
def hyperedge_weights(K: ArrayLike, Y: ArrayLike, nu: float = 1.0) -> Array:
    """Weights w(e) = exp(-nu dbar_e), (29) and (30)."""
    # A hyperedge of one instance is 0/0 in (30): its distance is 0 and its weight 1. A label
    # without instances has weight 0. The appended 1 cancels in ||x_u - x_v||^2.
    if not (np.isfinite(nu) and nu >= 0):
        raise ValueError(f"nu is {nu}, expected a finite number of at least 0")
    K = exact.kernel_matrix(K, "none")
    Y = exact.label_matrix(Y)
    w = np.zeros(Y.shape[1])
    for k in range(Y.shape[1]):
        e = np.flatnonzero(Y[:, k] == 1)
        if len(e) == 0:
            continue
        distances = 0.0
        for u in e:
            for v in e:
                distances += K[u, u] + K[v, v] - 2.0 * K[u, v]
        dbar = distances / (len(e) * (len(e) - 1)) if len(e) > 1 else 0.0  # (30)
        w[k] = np.exp(-nu * dbar)  # (29)
    return w


def laplacian(Y: ArrayLike, w: Array) -> Array:
    """Combinatorial Laplacian L_c = D_c - W_c of the clique expansion, (3) to (5)."""
    relevant = (exact.label_matrix(Y) == 1).astype(np.float64)
    W_c = (relevant * w) @ relevant.T  # (4)
    D_c = np.diag(W_c.sum(axis=1))
    return np.asarray(D_c - W_c, dtype=np.float64)  # (5)


def kernel(K: ArrayLike, Y: ArrayLike, lam: float, nu: float) -> Array:
    """A = K1 (I + lam Lap K1)^-1, (27)."""
    if not (np.isfinite(lam) and lam >= 0):
        raise ValueError(f"lam is {lam}, expected a finite number of at least 0")
    Lap = laplacian(Y, hyperedge_weights(K, Y, nu))
    # With K1 = G G^T: A = G (I + lam G^T Lap G)^-1 G^T, symmetric in every step.
    G = exact.factor(exact.kernel_matrix(K, "penalized"))
    inner = np.eye(G.shape[1]) + lam * G.T @ Lap @ G
    A = G @ np.linalg.solve(inner, G.T)
    return np.asarray((A + A.T) / 2.0)


# -------------------------------------------------------------------------------------------------
# Primal problem (10)
# -------------------------------------------------------------------------------------------------
def primal(
    K: ArrayLike,
    Y: ArrayLike,
    C: float = 1.0,
    lam: float = 1.0,
    nu: float = 1.0,
    solver: Solver = "clarabel",
) -> Solution:
    """Solve (10); the value is recomputed with the minimal slacks."""
    K1, Y, pairs, c = rank_svm.problem_data(K, Y, C, "penalized")
    n, q = Y.shape
    if len(c) == 0:
        return no_pairs(n, q, pairs)
    cp = exact.import_cvxpy()
    G = exact.factor(K1)
    Lap = laplacian(Y, hyperedge_weights(K, Y, nu))
    root = exact.factor(Lap).T  # Lap = root^T root
    blkdiag_H = exact.block_pair_matrix(pairs, n, q)

    V = cp.Variable((G.shape[1], q))
    xi = cp.Variable(len(c))
    F = G @ V
    margin = blkdiag_H.T @ cp.vec(F, order="C") >= 1 - xi
    regulariser = cp.sum_squares(V) + lam * cp.sum_squares(root @ F)
    objective = cp.Minimize(0.5 * regulariser + c @ xi)
    exact.solve_qp(cp.Problem(objective, [margin, xi >= 0]), solver)

    scores = G @ V.value
    smoothness = float(np.sum(scores * (Lap @ scores)))
    value = 0.5 * float(np.sum(V.value**2)) + 0.5 * lam * smoothness
    value += rank_svm.hinge_loss(scores, pairs, c)
    B = rank_svm.expansion(np.clip(margin.dual_value, 0.0, c), pairs, n, q)
    expansion = B - lam * Lap @ scores  # (12)
    return Solution(value, B, expansion, expansion.sum(axis=0), scores, pairs)


# -------------------------------------------------------------------------------------------------
# Dual problem (17), in kernel form (27)
# -------------------------------------------------------------------------------------------------
def dual(
    K: ArrayLike,
    Y: ArrayLike,
    C: float = 1.0,
    lam: float = 1.0,
    nu: float = 1.0,
    solver: Solver = "clarabel",
) -> Solution:
    """Solve (17) and recover the model."""
    solution = rank_svm.dual(kernel(K, Y, lam, nu), Y, C, "none", solver)
    return recover(K, Y, lam, nu, solution)


def recover(
    K: ArrayLike, Y: ArrayLike, lam: float, nu: float, solution: rank_svm.Solution
) -> Solution:
    """Build the model that belongs to a solution of Rank-SVM on the kernel A: (16)."""
    K1 = exact.kernel_matrix(K, "penalized")
    Lap = laplacian(Y, hyperedge_weights(K, Y, nu))
    expansion = np.asarray(np.linalg.solve(np.eye(len(K1)) + lam * Lap @ K1, solution.B), float)
    b, F = expansion.sum(axis=0), K1 @ expansion
    return Solution(solution.objective, solution.B, expansion, b, F, solution.pairs)


# -------------------------------------------------------------------------------------------------
# Dual coordinate descent: algorithm 1
# -------------------------------------------------------------------------------------------------
def dual_coordinate_descent(
    X: ArrayLike,
    Y: ArrayLike,
    C: float = 1.0,
    lam: float = 1.0,
    nu: float = 1.0,
    tol: float = 1e-6,
    max_epochs: int = 1000,
    orders: Sequence[ArrayLike] | None = None,
) -> tuple[Array, list[Array]]:
    """Run algorithm 1 until ||alpha* - alpha|| < tol; return W and the scores after every epoch."""
    # Printed are a loop over pairs (j, q) with an update of (p, q), and a stop rule that compares
    # one step; here an epoch is one pass over all pairs, and the stop rule compares epochs.
    X = np.asarray(X, dtype=np.float64)
    Y = exact.label_matrix(Y)
    pairs = exact.pairs(Y)
    c = exact.pair_weights(pairs, C)
    Lap = laplacian(Y, hyperedge_weights(X @ X.T, Y, nu))
    X = np.column_stack([X, np.ones(len(X))])  # (8)
    n, q = Y.shape
    # column i is (I + lam X^T Lap X)^-1 x_i
    directions = np.linalg.solve(np.eye(X.shape[1]) + lam * X.T @ Lap @ X, X.T)
    A_ii = np.einsum("id,di->i", X, directions)  # (19)
    permutations = exact.epoch_orders(orders, n)
    first = np.searchsorted(pairs.i, np.arange(n + 1))
    alpha = np.zeros(len(c))
    W = np.zeros((X.shape[1], q))
    history: list[Array] = []
    while len(history) < max_epochs:
        alpha_star = alpha.copy()
        for i in permutations[len(history) % len(permutations)]:
            for pair in range(first[i], first[i + 1]):
                p, q_label = pairs.m[pair], pairs.n[pair]
                gradient = (W[:, p] - W[:, q_label]) @ X[i] - 1.0  # (20)
                target = alpha_star[pair] - gradient / (2.0 * A_ii[i])
                new = min(max(target, 0.0), c[pair])  # (23); with (22) it stays where it is optimal
                W[:, p] += (new - alpha_star[pair]) * directions[:, i]  # (24)
                W[:, q_label] -= (new - alpha_star[pair]) * directions[:, i]  # (25)
                alpha_star[pair] = new
        change = float(np.linalg.norm(alpha_star - alpha))
        alpha = alpha_star
        history.append(X @ W)
        if change < tol:
            break
    return W, history


def no_pairs(n: int, q: int, pairs: Pairs) -> Solution:
    """Give the solution of a problem without pairs: all zero."""
    zeros = np.zeros((n, q))
    return Solution(0.0, zeros, zeros, np.zeros(q), zeros, pairs)
