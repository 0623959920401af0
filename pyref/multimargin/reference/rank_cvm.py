"""Rank-CVM, the reference: paper 000, sections 6 and 7.

    min  1/2 sum_k (||w_k||^2 + b_k^2) - nu rho + 1/2 sum_i C_i sum_{(m,n)} xi_imn^2    000 (30)
    s.t. f_m(x_i) - f_n(x_i) >= rho - xi_imn,  rho > 0

    min  W(alpha) = 1/2 alpha^T Theta alpha,  u^T alpha = 1,  alpha >= 0                000 (37)

with C_i = C / (p_i r_i), nu = 1 and Theta = (H^T H) o K + H^T H + D of 000 (38),
D = diag(1/C_i). (Where 000 (37) prints alpha_i^T alpha_j as the second kernel factor, x_i^T x_j is
meant.) The primal value is minus the dual value: both are reported in the sign of (37).

The primal is homogeneous. Putting w = rho w', b = rho b', xi = rho xi' in (30) leaves a
one-dimensional problem in rho and the model of `rank_lsvm`: a solution alpha' of that, with
S = u^T alpha', gives alpha = alpha'/S and rho = 1/S, and the value 1/(2 S).

Papers and code: as in `rank_svm`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from multimargin.reference import exact, rank_lsvm
from multimargin.reference.exact import Array, Pairs, Solver
from multimargin.reference.rank_svm import expansion, problem_data


class Solution(NamedTuple):
    """A point of problem (37) and the model that belongs to it.

    Parameters
    ----------
    objective : float
        W of (37), or minus the value of (30).
    rho : float
        The margin, 000 (28).
    alpha : ndarray, shape (L,)
        Dual variables, in the order of `pairs`.
    B : ndarray, shape (n, q)
        Expansion coefficients, 000 (58).
    b : ndarray, shape (q,)
        Bias, 000 (33).
    F : ndarray, shape (n, q)
        Scores of the training instances.
    pairs : Pairs
    """

    objective: float
    rho: float
    alpha: Array
    B: Array
    b: Array
    F: Array
    pairs: Pairs


# -------------------------------------------------------------------------------------------------
# Primal problem: 000 (30)
# -------------------------------------------------------------------------------------------------
def primal(
    K: npt.ArrayLike, Y: npt.ArrayLike, C: float = 1.0, solver: Solver = "clarabel"
) -> Solution:
    """Solve the primal problem with nu = 1.

    Parameters
    ----------
    K : array_like, shape (n, n)
        Kernel matrix, symmetric and positive semi-definite.
    Y : array_like of {0, 1}, shape (n, q)
        Relevant labels; at least one pair.
    C : float, default 1.0
        Weight of the loss, positive.
    solver : {"clarabel", "scs"}, default "clarabel"

    Returns
    -------
    Solution
        `objective` is minus the value of (30), recomputed with the minimal slacks.

    Raises
    ------
    ValueError
        If an argument is malformed, K is indefinite or there is no pair.
    ImportError
        If CVXPY is not installed.
    RuntimeError
        If the solver does not reach its tolerances.
    """
    Kt, Y, pairs, c = data_with_pairs(K, Y, C)
    n, q = Y.shape
    cp = exact.import_cvxpy()
    G = exact.factor(Kt)
    blkdiag_H = exact.block_pair_matrix(pairs, n, q)

    V = cp.Variable((G.shape[1], q))
    xi = cp.Variable(len(c))
    rho = cp.Variable(nonneg=True)
    margin = blkdiag_H.T @ cp.vec(G @ V, order="C") >= rho - xi
    loss = 0.5 * cp.sum_squares(cp.multiply(np.sqrt(c), xi))
    objective = cp.Minimize(0.5 * cp.sum_squares(V) - rho + loss)
    exact.solve_qp(cp.Problem(objective, [margin]), solver)

    F = G @ V.value
    xi_minimal = np.maximum(0.0, rho.value - (F[pairs.i, pairs.m] - F[pairs.i, pairs.n]))
    alpha = c * xi_minimal  # (35)
    B = expansion(alpha, pairs, n, q)
    squares = float(np.sum(V.value**2)) + float(c @ xi_minimal**2)
    value = float(rho.value) - 0.5 * squares
    return Solution(value, float(rho.value), alpha, B, B.sum(axis=0), F, pairs)


# -------------------------------------------------------------------------------------------------
# Dual problem: 000 (37)
# -------------------------------------------------------------------------------------------------
def dual(
    K: npt.ArrayLike, Y: npt.ArrayLike, C: float = 1.0, solver: Solver = "clarabel"
) -> Solution:
    """Solve the dual problem and recover the model.

    Parameters
    ----------
    K : array_like, shape (n, n)
        Kernel matrix, symmetric and positive semi-definite.
    Y : array_like of {0, 1}, shape (n, q)
        Relevant labels; at least one pair.
    C : float, default 1.0
        Weight of the loss, positive.
    solver : {"clarabel", "scs"}, default "clarabel"

    Returns
    -------
    Solution
        `objective` is W(alpha).

    Raises
    ------
    ValueError
        If an argument is malformed, K is indefinite or there is no pair.
    ImportError
        If CVXPY is not installed.
    RuntimeError
        If the solver does not reach its tolerances.
    """
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


def recover(K: npt.ArrayLike, Y: npt.ArrayLike, C: float, alpha: Array) -> Solution:
    """Build the model that belongs to a point of the simplex: 000 (32), (33).

    Parameters
    ----------
    K : array_like, shape (n, n)
    Y : array_like of {0, 1}, shape (n, q)
    C : float
    alpha : ndarray, shape (L,)
        Not negative, with sum 1.

    Returns
    -------
    Solution
        `objective` is W(alpha), and `rho` twice that: at the optimum all pairs in the support
        have f_m - f_n + xi = rho, so that alpha^T Theta alpha = rho.
    """
    Kt, Y, pairs, _ = data_with_pairs(K, Y, C)
    n, q = Y.shape
    B = expansion(alpha, pairs, n, q)
    W = 0.5 * rank_lsvm.theta_quadratic(K, Y, C, alpha)
    return Solution(W, 2.0 * W, alpha, B, B.sum(axis=0), Kt @ B, pairs)


def from_rank_lsvm(K: npt.ArrayLike, Y: npt.ArrayLike, C: float, alpha: Array) -> Solution:
    """Scale a solution of Rank-LSVM to one of (37).

    Parameters
    ----------
    K : array_like, shape (n, n)
    Y : array_like of {0, 1}, shape (n, q)
    C : float
    alpha : ndarray, shape (L,)
        A solution of `rank_lsvm.dual`.

    Returns
    -------
    Solution
        With rho = 1/S, S = u^T alpha.
    """
    S = float(alpha.sum())
    return recover(K, Y, C, alpha / S)._replace(rho=1.0 / S)


# -------------------------------------------------------------------------------------------------
# Frank-Wolfe: 000 section 7.4
# -------------------------------------------------------------------------------------------------
class FrankWolfe(NamedTuple):
    """The iterates p = 1, 2, ... of the Frank-Wolfe method.

    Parameters
    ----------
    solution : Solution
        The last iterate.
    pair : ndarray of int, shape (P,)
        Index of the chosen pair in every iteration.
    step : ndarray, shape (P,)
        Step length lambda; 0 in the last iteration, which stops instead.
    objective : ndarray, shape (P,)
        W(alpha) of every iterate, by the recursion (68).
    z : ndarray, shape (P,)
        z of (62), never positive; -z bounds the distance to the optimum.
    """

    solution: Solution
    pair: npt.NDArray[np.intp]
    step: Array
    objective: Array
    z: Array


def frank_wolfe(
    K: npt.ArrayLike,
    Y: npt.ArrayLike,
    C: float = 1.0,
    eps: float = 1e-3,
    max_epochs: int = 50,
    max_iter: int | None = None,
) -> FrankWolfe:
    """Run the published Frank-Wolfe loop with full gradients.

    Parameters
    ----------
    K : array_like, shape (n, n)
        Kernel matrix, symmetric and positive semi-definite.
    Y : array_like of {0, 1}, shape (n, q)
        Relevant labels; at least one pair.
    C : float, default 1.0
        Weight of the loss, positive.
    eps : float, default 1e-3
        Stop when ``|z|`` < eps, an absolute bound on the distance to the optimum.
    max_epochs : int, default 50
        M: stop after M L iterations.
    max_iter : int, optional
        A smaller number of iterations.

    Returns
    -------
    FrankWolfe

    Raises
    ------
    ValueError
        If an argument is malformed or there is no pair.

    Notes
    -----
    Where (55) or the smallest gradient is attained several times, the first pair is taken.
    """
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
    chosen: list[int] = []
    steps: list[float] = []
    objectives: list[float] = []
    slopes: list[float] = []
    while True:
        # Step 2
        s = int(np.argmin(g))
        # Step 3
        z = g[s] - 2.0 * W  # (62)
        chosen.append(s)
        objectives.append(W)
        slopes.append(float(z))
        if abs(z) < eps or len(chosen) == last:
            steps.append(0.0)
            break
        # Step 4
        step = min(-z / (diagonal[s] - 2.0 * g[s] + 2.0 * W), 1.0)  # (64)
        steps.append(float(step))
        # Step 5
        W = (1 - step) ** 2 * W + step * (1 - step) * g[s] + 0.5 * step**2 * diagonal[s]  # (68)
        g = (1 - step) * g + step * theta_column(Kt, pairs, c, s)  # (69)
        alpha = (1 - step) * alpha  # (65)
        alpha[s] += step
        # Step 6: to step 2
    return FrankWolfe(
        recover(K, Y, C, alpha),
        np.array(chosen),
        np.array(steps),
        np.array(objectives),
        np.array(slopes),
    )


def theta_column(Kt: Array, pairs: Pairs, c: Array, s: int) -> Array:
    """Column s of Theta: 000 (53).

    Parameters
    ----------
    Kt : ndarray, shape (n, n)
        K + 1.
    pairs : Pairs
    c : ndarray, shape (L,)
    s : int
        A pair.

    Returns
    -------
    ndarray, shape (L,)
    """
    i, m, n = pairs.i[s], pairs.m[s], pairs.n[s]
    # (H^T H)[:, s]: +1 for a common m or n, -1 where one pair's m is the other's n
    h = (pairs.m == m).astype(np.float64) - (pairs.m == n) - (pairs.n == m) + (pairs.n == n)
    column = h * Kt[pairs.i, i]
    column[s] += 1.0 / c[s]
    return np.asarray(column)


# -------------------------------------------------------------------------------------------------
# Shared pieces
# -------------------------------------------------------------------------------------------------
def data_with_pairs(
    K: npt.ArrayLike, Y: npt.ArrayLike, C: float
) -> tuple[Array, npt.NDArray[np.int_], Pairs, Array]:
    """Check the arguments and build K + 1, Y, the pairs and their weights.

    Parameters
    ----------
    K : array_like, shape (n, n)
    Y : array_like of {0, 1}, shape (n, q)
    C : float

    Returns
    -------
    Kt : ndarray, shape (n, n)
    Y : ndarray of int, shape (n, q)
    pairs : Pairs
    c : ndarray, shape (L,)

    Raises
    ------
    ValueError
        If an argument is malformed, or there is no pair: the simplex of (37) is empty then.
    """
    Kt, Y, pairs, c = problem_data(K, Y, C, "penalized")
    if len(c) == 0:
        raise ValueError("Y has no pair, expected a row with a relevant and an irrelevant label")
    return Kt, Y, pairs, c
