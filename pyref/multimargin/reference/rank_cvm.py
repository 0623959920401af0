"""Rank-CVM: the squared hinge on label pairs with a rewarded margin (Xu 2013, sections 6 and 7).

The problem is Xu 2013, eq. (30), with nu = 1::

    min  1/2 sum_k (||w_k||^2 + b_k^2) - nu rho + 1/2 sum_i C_i sum_(m,n) xi_imn^2
    s.t. f_m(x_i) - f_n(x_i) >= rho - xi_imn,  rho > 0

and its dual, eq. (37), where alpha_i^T alpha_j is printed for the kernel factor x_i^T x_j::

    min  W(alpha) = 1/2 alpha^T Theta alpha,  u^T alpha = 1,  alpha >= 0

The primal value is minus the dual value: both are reported in the sign of (37). At least one pair
is needed, or the simplex is empty. Equation numbers are those of Xu 2013.

The primal is homogeneous. Putting w = rho w', b = rho b', xi = rho xi' in (30) leaves a
one-dimensional problem in rho and the model of Rank-LSVM (rho = 1, no reward): a solution alpha' of
its dual, with S = u^T alpha', gives alpha = alpha'/S and rho = 1/S, and the value 1/(2 S).

Dictionary::

    n, d, q                instances (Xu: l), features, labels
    Y            n x q     1 on L_i, the p_i relevant labels of row i; 0 on the r_i others
    pairs        3 x L     (i, m, n): m relevant, n irrelevant for i (L is Xu's l_t)       (28)
    c            L         C_i = C / (p_i r_i) of each pair                            (19), (31)
    K, Kt        n x n     kernel matrix (linear: X X^T), and K + 1                        (53)
    alpha        L         dual variables, alpha_imn = C_i xi_imn at the optimum           (35)
    rho                    margin                                                          (28)
    H            q x L     [H_1, ..., H_n], entries c_imn^k                    (20), (22), (25)
    blkdiag_H    nq x L    blkdiag(H_1, ..., H_n)
    Theta        L x L     (H^T H) o K + H^T H + D with D = diag(1 / C_i), never formed    (38)
    B            n x q     B[i, k] = beta_ki; W = X^T B                                    (32)
    b            q         bias, the column sums of B                                      (33)
    F            n x q     scores Kt B                                                     (27)
    g            L         gradient Theta alpha                                            (59)
    z, lambda              slope and step length of Frank-Wolfe                       (62), (64)
    G, V         n x r, r x q   Kt = G G^T and F = G V, ||V||^2 = sum_k ||w_k||^2 + b_k^2
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from numpy.typing import ArrayLike

from multimargin.reference import exact, rank_lsvm
from multimargin.reference.exact import Array, Labels, Pairs, Solver
from multimargin.reference.rank_svm import expansion, problem_data


class Solution(NamedTuple):
    """A point of (37) and its model; `objective` is W, or minus the value of (30)."""

    objective: float
    rho: float
    alpha: Array
    B: Array
    b: Array
    F: Array
    pairs: Pairs


# -------------------------------------------------------------------------------------------------
# Primal problem (30) and dual problem (37)
# -------------------------------------------------------------------------------------------------
def primal(K: ArrayLike, Y: ArrayLike, C: float = 1.0, solver: Solver = "clarabel") -> Solution:
    """Solve (30); the value is recomputed with the minimal slacks."""
    Kt, Y, pairs, c = data_with_pairs(K, Y, C)
    n, q = Y.shape
    cp = exact.import_cvxpy()
    G = exact.factor(Kt)
    blkdiag_H = exact.block_pair_matrix(pairs, n, q)

    V = cp.Variable((G.shape[1], q))
    xi = cp.Variable(len(c))
    rho = cp.Variable(nonneg=True)
    margin = blkdiag_H.T @ cp.vec(G @ V, order="C") >= rho - xi  # (28)
    loss = 0.5 * cp.sum_squares(cp.multiply(np.sqrt(c), xi))
    objective = cp.Minimize(0.5 * cp.sum_squares(V) - rho + loss)  # (30)
    exact.solve_qp(cp.Problem(objective, [margin]), solver)

    F = G @ V.value
    xi_minimal = np.maximum(0.0, rho.value - exact.differences(F, pairs))
    alpha = c * xi_minimal  # (35)
    B = expansion(alpha, pairs, n, q)
    squares = float(np.sum(V.value**2)) + float(c @ xi_minimal**2)
    value = float(rho.value) - 0.5 * squares
    return Solution(value, float(rho.value), alpha, B, B.sum(axis=0), F, pairs)


def dual(K: ArrayLike, Y: ArrayLike, C: float = 1.0, solver: Solver = "clarabel") -> Solution:
    """Solve (37) and recover the model."""
    Kt, Y, pairs, c = data_with_pairs(K, Y, C)
    n, q = Y.shape
    cp = exact.import_cvxpy()
    G = exact.factor(Kt)
    blkdiag_H = exact.block_pair_matrix(pairs, n, q)

    # W is near 1/(sum of C_i): in units of C_i and with W scaled up, all numbers are of order 1.
    root, total = np.sqrt(c), float(c.sum())
    scaled = cp.Variable(len(c))
    alpha = cp.multiply(root / np.sqrt(total), scaled)
    beta = cp.reshape(blkdiag_H @ alpha, (n, q), order="C")
    W = 0.5 * (total * cp.sum_squares(G.T @ beta) + cp.sum_squares(scaled))
    exact.solve_qp(cp.Problem(cp.Minimize(W), [scaled >= 0, cp.sum(alpha) == 1]), solver)
    clipped = np.maximum(root * scaled.value, 0.0)
    return recover(K, Y, C, clipped / clipped.sum())


def recover(K: ArrayLike, Y: ArrayLike, C: float, alpha: Array) -> Solution:
    """Build the model that belongs to a point of the simplex: (32), (33)."""
    # At the optimum f_m - f_n + xi = rho for all pairs with alpha > 0: alpha^T Theta alpha = rho.
    Kt, Y, pairs, _ = data_with_pairs(K, Y, C)
    B = expansion(alpha, pairs, *Y.shape)
    W = 0.5 * rank_lsvm.theta_quadratic(K, Y, C, alpha)
    return Solution(W, 2.0 * W, alpha, B, B.sum(axis=0), Kt @ B, pairs)


def from_rank_lsvm(K: ArrayLike, Y: ArrayLike, C: float, alpha: Array) -> Solution:
    """Scale a solution alpha of `rank_lsvm.dual` to one of (37)."""
    S = float(alpha.sum())
    return recover(K, Y, C, alpha / S)._replace(rho=1.0 / S)


# -------------------------------------------------------------------------------------------------
# Frank-Wolfe: section 7.4
# -------------------------------------------------------------------------------------------------
class FrankWolfe(NamedTuple):
    """The last iterate, and the pair, step length (last: 0), W by (68) and z of every iteration."""

    solution: Solution
    pair: npt.NDArray[np.intp]
    step: Array
    objective: Array
    z: Array


def frank_wolfe(
    K: ArrayLike,
    Y: ArrayLike,
    C: float = 1.0,
    eps: float = 1e-3,
    max_epochs: int = 50,
    max_iter: int | None = None,
) -> FrankWolfe:
    """Run section 7.4 until abs(z) < eps, or for M L iterations with M = max_epochs."""
    Kt, Y, pairs, c = data_with_pairs(K, Y, C)
    L = len(c)
    # Step 1
    diagonal = 2.0 * Kt[pairs.i, pairs.i] + 1.0 / c  # (54)
    start = int(np.argmin(diagonal))  # (55), and the first pair of that instance
    alpha = np.zeros(L)
    alpha[start] = 1.0  # (56)
    W = 0.5 * diagonal[start]  # (57)
    g = theta_column(Kt, pairs, c, start)  # (60)
    last = max_epochs * L if max_iter is None else min(max_iter, max_epochs * L)
    history: list[tuple[int, float, float, float]] = []
    while True:
        s = int(np.argmin(g))  # step 2; the first of equal ones
        z = g[s] - 2.0 * W  # step 3, (62)
        if abs(z) < eps or len(history) == last - 1:
            history.append((s, 0.0, W, z))
            break
        step = min(-z / (diagonal[s] - 2.0 * g[s] + 2.0 * W), 1.0)  # step 4, (64)
        history.append((s, step, W, z))
        # Step 5
        W = (1 - step) ** 2 * W + step * (1 - step) * g[s] + 0.5 * step**2 * diagonal[s]  # (68)
        g = (1 - step) * g + step * theta_column(Kt, pairs, c, s)  # (69)
        alpha = (1 - step) * alpha  # (65)
        alpha[s] += step
        # Step 6: to step 2
    pair, steps, objectives, slopes = (np.array(column) for column in zip(*history, strict=True))
    return FrankWolfe(recover(K, Y, C, alpha), pair, steps, objectives, slopes)


def theta_column(Kt: Array, pairs: Pairs, c: Array, s: int) -> Array:
    """Column s of Theta: (53)."""
    i, m, n = pairs.i[s], pairs.m[s], pairs.n[s]
    # (H^T H)[:, s]: +1 for a common m or n, -1 where one pair's m is the other's n
    h = (pairs.m == m).astype(np.float64) - (pairs.m == n) - (pairs.n == m) + (pairs.n == n)
    column = h * Kt[pairs.i, i]
    column[s] += 1.0 / c[s]
    return np.asarray(column)


# -------------------------------------------------------------------------------------------------
# Shared pieces
# -------------------------------------------------------------------------------------------------
def data_with_pairs(K: ArrayLike, Y: ArrayLike, C: float) -> tuple[Array, Labels, Pairs, Array]:
    """Check the arguments and build K + 1, Y, the pairs and their weights c."""
    Kt, Y, pairs, c = problem_data(K, Y, C, "penalized")
    if len(c) == 0:
        raise ValueError("Y has no pair, expected a row with a relevant and an irrelevant label")
    return Kt, Y, pairs, c
