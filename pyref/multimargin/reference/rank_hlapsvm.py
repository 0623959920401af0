"""Rank-HLapSVM, the reference: paper 002.

    min  1/2 sum_k ||w_k||^2 + lam/2 trace(F^T Lap F) + sum_i C_i sum_{(p,q)} xi_ipq    002 (10)
    s.t. <w_p - w_q, x_i> >= 1 - xi_ipq,  xi_ipq >= 0

with C_i = C / (p_i r_i). Every x_i ends with a 1, whose weight is the bias (8). Lap is the
combinatorial Laplacian (5) of the hypergraph whose hyperedge k holds the instances with label k,
expanded into cliques. With A = X (I + lam X^T Lap X)^-1 X^T = K (I + lam Lap K)^-1, where
K = X X^T (27), this is Rank-SVM without bias on the kernel A (17).

Papers and code:
    m, k                    d features, q labels
    y_i, its complement     labels with Y[i, p] = 1, labels with Y[i, q] = 0
    alpha_ipq               alpha, one entry a pair: (p, q) is (m, n) of `pairs`
    H of (4)                Y: instances x hyperedges
    e, delta(e), w(e)       e (the rows of hyperedge k), len(e), w[k]
    D_c, W_c, L_c           D_c, W_c, Lap
    X with the appended 1   through K1 = K + 1 in the kernel form
    A of (27)               A, the kernel that the method really uses; A_ii of (19) its diagonal

All objectives are given in the sign of the primal problem.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from multimargin.reference import exact, rank_svm
from multimargin.reference.exact import Array, Pairs, Solver


class Solution(NamedTuple):
    """A point of the dual problem (17) and the model that belongs to it.

    Parameters
    ----------
    objective : float
        Value of the problem that was solved, recomputed at this point.
    B : ndarray, shape (n, q)
        beta of (15).
    expansion : ndarray, shape (n, q)
        (I + lam Lap K1)^-1 B: f_k(x) = sum_i expansion[i, k] (k(x, x_i) + 1).
    b : ndarray, shape (q,)
        The bias, the column sums of `expansion`.
    F : ndarray, shape (n, q)
        Scores of the training instances.
    pairs : Pairs
    """

    objective: float
    B: Array
    expansion: Array
    b: Array
    F: Array
    pairs: Pairs


# -------------------------------------------------------------------------------------------------
# Hypergraph: 002 sections 2 and 4.1
# -------------------------------------------------------------------------------------------------
def hyperedge_weights(K: npt.ArrayLike, Y: npt.ArrayLike, nu: float = 1.0) -> Array:
    """Weights w(e) = exp(-nu dbar_e): 002 (29), (30).

    Parameters
    ----------
    K : array_like, shape (n, n)
        Kernel matrix: ||x_u - x_v||^2 = K_uu + K_vv - 2 K_uv. The appended 1 cancels.
    Y : array_like of {0, 1}, shape (n, q)
        Relevant labels.
    nu : float, default 1.0
        Not negative.

    Returns
    -------
    ndarray, shape (q,)

    Raises
    ------
    ValueError
        If an argument is malformed.

    Notes
    -----
    A hyperedge of one instance is 0/0 in (30): its distance is 0 and its weight 1. A hyperedge of
    none has no edge; its weight is 0.
    """
    if not (np.isfinite(nu) and nu >= 0):
        raise ValueError(f"nu is {nu}, expected a finite number of at least 0")
    K = exact.kernel_matrix(K, "none")
    Y = exact.label_matrix(Y)
    w = np.zeros(Y.shape[1])
    for k in range(Y.shape[1]):
        e = np.flatnonzero(Y[:, k])
        if len(e) == 0:
            continue
        distances = 0.0
        for u in e:
            for v in e:
                distances += K[u, u] + K[v, v] - 2.0 * K[u, v]
        dbar = distances / (len(e) * (len(e) - 1)) if len(e) > 1 else 0.0  # (30)
        w[k] = np.exp(-nu * dbar)  # (29)
    return w


def laplacian(Y: npt.ArrayLike, w: Array) -> Array:
    """Combinatorial Laplacian L_c = D_c - W_c of the clique expansion: 002 (3) to (5).

    Parameters
    ----------
    Y : array_like of {0, 1}, shape (n, q)
        The incidence matrix: instance i lies in hyperedge k when label k is relevant.
    w : ndarray, shape (q,)
        Hyperedge weights.

    Returns
    -------
    ndarray, shape (n, n)
    """
    Y = exact.label_matrix(Y)
    W_c = (Y * w) @ Y.T  # (4)
    D_c = np.diag(W_c.sum(axis=1))
    return np.asarray(D_c - W_c, dtype=np.float64)  # (5)


def kernel(K: npt.ArrayLike, Y: npt.ArrayLike, lam: float, nu: float) -> Array:
    """A = K1 (I + lam Lap K1)^-1, 002 (27), with K1 = K + 1 for the appended 1 of (8).

    Parameters
    ----------
    K : array_like, shape (n, n)
        Kernel matrix, symmetric and positive semi-definite.
    Y : array_like of {0, 1}, shape (n, q)
        Relevant labels.
    lam : float
        Weight of the Laplacian, not negative.
    nu : float
        See `hyperedge_weights`.

    Returns
    -------
    ndarray, shape (n, n)

    Raises
    ------
    ValueError
        If an argument is malformed.
    """
    if not (np.isfinite(lam) and lam >= 0):
        raise ValueError(f"lam is {lam}, expected a finite number of at least 0")
    Lap = laplacian(Y, hyperedge_weights(K, Y, nu))
    # With K1 = G G^T: A = G (I + lam G^T Lap G)^-1 G^T, symmetric in every step.
    G = exact.factor(exact.kernel_matrix(K, "penalized"))
    inner = np.eye(G.shape[1]) + lam * G.T @ Lap @ G
    A = G @ np.linalg.solve(inner, G.T)
    return np.asarray((A + A.T) / 2.0)


# -------------------------------------------------------------------------------------------------
# Primal problem: 002 (10)
# -------------------------------------------------------------------------------------------------
def primal(
    K: npt.ArrayLike,
    Y: npt.ArrayLike,
    C: float = 1.0,
    lam: float = 1.0,
    nu: float = 1.0,
    solver: Solver = "clarabel",
) -> Solution:
    """Solve the primal problem.

    Parameters
    ----------
    K : array_like, shape (n, n)
        Kernel matrix, symmetric and positive semi-definite.
    Y : array_like of {0, 1}, shape (n, q)
        Relevant labels.
    C : float, default 1.0
        Weight of the loss, positive.
    lam : float, default 1.0
        Weight of the Laplacian, not negative.
    nu : float, default 1.0
        See `hyperedge_weights`.
    solver : {"clarabel", "scs"}, default "clarabel"

    Returns
    -------
    Solution
        `objective` is the value of (10), recomputed with the minimal slacks.

    Raises
    ------
    ValueError
        If an argument is malformed or K is indefinite.
    ImportError
        If CVXPY is not installed.
    RuntimeError
        If the solver does not reach its tolerances.
    """
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
# Dual problem: 002 (17), in kernel form (27)
# -------------------------------------------------------------------------------------------------
def dual(
    K: npt.ArrayLike,
    Y: npt.ArrayLike,
    C: float = 1.0,
    lam: float = 1.0,
    nu: float = 1.0,
    solver: Solver = "clarabel",
) -> Solution:
    """Solve the dual problem and recover the model.

    Parameters
    ----------
    K : array_like, shape (n, n)
        Kernel matrix, symmetric and positive semi-definite.
    Y : array_like of {0, 1}, shape (n, q)
        Relevant labels.
    C : float, default 1.0
        Weight of the loss, positive.
    lam : float, default 1.0
        Weight of the Laplacian, not negative.
    nu : float, default 1.0
        See `hyperedge_weights`.
    solver : {"clarabel", "scs"}, default "clarabel"

    Returns
    -------
    Solution
        `objective` is the dual value.

    Raises
    ------
    ValueError
        If an argument is malformed or K is indefinite.
    ImportError
        If CVXPY is not installed.
    RuntimeError
        If the solver does not reach its tolerances.
    """
    solution = rank_svm.dual(kernel(K, Y, lam, nu), Y, C, "none", solver)
    return recover(K, Y, lam, nu, solution)


def recover(
    K: npt.ArrayLike, Y: npt.ArrayLike, lam: float, nu: float, solution: rank_svm.Solution
) -> Solution:
    """Build the model that belongs to a solution on the kernel (27): 002 (16).

    Parameters
    ----------
    K : array_like, shape (n, n)
    Y : array_like of {0, 1}, shape (n, q)
    lam, nu : float
    solution : rank_svm.Solution
        A point of Rank-SVM without bias on `kernel(K, Y, lam, nu)`.

    Returns
    -------
    Solution
        `objective` is that of `solution`.
    """
    K1 = exact.kernel_matrix(K, "penalized")
    Lap = laplacian(Y, hyperedge_weights(K, Y, nu))
    expansion = np.asarray(np.linalg.solve(np.eye(len(K1)) + lam * Lap @ K1, solution.B), float)
    return Solution(
        solution.objective,
        solution.B,
        expansion,
        expansion.sum(axis=0),
        K1 @ expansion,
        solution.pairs,
    )


# -------------------------------------------------------------------------------------------------
# Dual coordinate descent: 002 algorithm 1
# -------------------------------------------------------------------------------------------------
def dual_coordinate_descent(
    X: npt.ArrayLike,
    Y: npt.ArrayLike,
    C: float = 1.0,
    lam: float = 1.0,
    nu: float = 1.0,
    tol: float = 1e-6,
    max_epochs: int = 1000,
    orders: Sequence[npt.ArrayLike] | None = None,
) -> tuple[Array, list[Array]]:
    """Run algorithm 1, the linear method, in the paper's own variables.

    Parameters
    ----------
    X : array_like, shape (n, d)
        Instances, without the appended 1.
    Y : array_like of {0, 1}, shape (n, q)
        Relevant labels.
    C : float, default 1.0
        Weight of the loss, positive.
    lam : float, default 1.0
        Weight of the Laplacian, not negative.
    nu : float, default 1.0
        See `hyperedge_weights`.
    tol : float, default 1e-6
        Stop when ||alpha* - alpha|| < tol over one epoch.
    max_epochs : int, default 1000
        Largest number of passes over all pairs.
    orders : sequence of permutations of 0..n-1, optional
        Order of the instances in each epoch, repeated from the first one when it runs out; 0..n-1
        by default.

    Returns
    -------
    W : ndarray, shape (d + 1, q)
        Weights; the last row is the bias.
    history : list of ndarray, shape (n, q)
        Scores X W of the training instances after every epoch.

    Raises
    ------
    ValueError
        If an argument is malformed.

    Notes
    -----
    Printed are a loop over pairs (j, q) with an update of (p, q), and a stop rule that compares one
    step; here an epoch is one pass over all pairs, and the stop rule compares epochs.
    """
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
    permutations = [np.arange(n)] if orders is None else [np.array(order) for order in orders]
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
    """Give the solution of a problem without pairs: all zero.

    Parameters
    ----------
    n, q : int
        Numbers of instances and labels.
    pairs : Pairs
        Empty.

    Returns
    -------
    Solution
    """
    zeros = np.zeros((n, q))
    return Solution(0.0, zeros, zeros, np.zeros(q), zeros, pairs)
