"""Rank-LSVM, the reference: the squared hinge on label pairs, with a penalised bias.

    min  1/2 sum_k (||w_k||^2 + b_k^2)  +  1/2 sum_i C_i sum_{(m,n)} xi_imn^2
    s.t. f_m(x_i) - f_n(x_i) >= 1 - xi_imn

with C_i = C / (p_i r_i). This is Rank-CVM, 000 (30), with the margin rho fixed at 1 instead of
rewarded; paper 003 compares with it under the name Rank-LSVM. The dual has no upper bounds:

    min  1/2 alpha^T Theta alpha - u^T alpha,  alpha >= 0

with Theta = (H^T H) o K + H^T H + D of 000 (38), D = diag(1/C_i).

Papers and code: as in `rank_svm`. All objectives are given in the sign of the primal problem.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np
import numpy.typing as npt

from multimargin.reference import exact
from multimargin.reference.exact import Array, Pairs, Solver
from multimargin.reference.rank_svm import Solution, expansion, no_pairs, problem_data


# -------------------------------------------------------------------------------------------------
# Primal problem
# -------------------------------------------------------------------------------------------------
def primal(
    K: npt.ArrayLike, Y: npt.ArrayLike, C: float = 1.0, solver: Solver = "clarabel"
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
    solver : {"clarabel", "scs"}, default "clarabel"

    Returns
    -------
    Solution
        `objective` is the primal value, recomputed with the minimal slacks.

    Raises
    ------
    ValueError
        If an argument is malformed or K is indefinite.
    ImportError
        If CVXPY is not installed.
    RuntimeError
        If the solver does not reach its tolerances.
    """
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
    alpha = c * slack(F, pairs)  # 000 (35)
    B = expansion(alpha, pairs, n, q)
    value = 0.5 * float(np.sum(V.value**2)) + squared_hinge_loss(F, pairs, c)
    return Solution(value, alpha, B, B.sum(axis=0), F, pairs)


# -------------------------------------------------------------------------------------------------
# Dual problem
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
        Relevant labels.
    C : float, default 1.0
        Weight of the loss, positive.
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


def recover(K: npt.ArrayLike, Y: npt.ArrayLike, C: float, alpha: Array) -> Solution:
    """Build the model that belongs to dual variables: 000 (32), (33).

    Parameters
    ----------
    K : array_like, shape (n, n)
    Y : array_like of {0, 1}, shape (n, q)
    C : float
    alpha : ndarray, shape (L,)
        Dual variables in the order of `exact.pairs(Y)`.

    Returns
    -------
    Solution
        `objective` is the dual value.
    """
    Kt, Y, pairs, _ = problem_data(K, Y, C, "penalized")
    n, q = Y.shape
    B = expansion(alpha, pairs, n, q)
    return Solution(dual_objective(K, Y, C, alpha), alpha, B, B.sum(axis=0), Kt @ B, pairs)


# -------------------------------------------------------------------------------------------------
# Coordinate descent: one pair at a time
# -------------------------------------------------------------------------------------------------
def dual_coordinate_descent(
    K: npt.ArrayLike,
    Y: npt.ArrayLike,
    C: float = 1.0,
    max_epochs: int = 1000,
    tol: float = 1e-9,
    orders: Sequence[npt.ArrayLike] | None = None,
) -> tuple[Solution, list[Array]]:
    """Run dual coordinate descent, 002 algorithm 1 with the squared hinge.

    Parameters
    ----------
    K : array_like, shape (n, n)
        Kernel matrix, symmetric and positive semi-definite.
    Y : array_like of {0, 1}, shape (n, q)
        Relevant labels.
    C : float, default 1.0
        Weight of the loss, positive.
    max_epochs : int, default 1000
        Largest number of passes over all pairs.
    tol : float, default 1e-9
        Stop when an epoch moves alpha by less than tol times the norm of alpha.
    orders : sequence of permutations of 0..n-1, optional
        Order of the instances in each epoch, repeated from the first one when it runs out; 0..n-1
        by default.

    Returns
    -------
    solution : Solution
    B : list of ndarray, shape (n, q)
        Expansion coefficients after every epoch.

    Raises
    ------
    ValueError
        If an argument is malformed.
    """
    Kt, Y, pairs, c = problem_data(K, Y, C, "penalized")
    n, q = Y.shape
    permutations = [np.arange(n)] if orders is None else [np.array(order) for order in orders]
    first = np.searchsorted(pairs.i, np.arange(n + 1))
    alpha = np.zeros(len(c))
    F = np.zeros((n, q))
    history: list[Array] = []
    while len(history) < max_epochs:
        before = alpha.copy()
        for i in permutations[len(history) % len(permutations)]:
            for pair in range(first[i], first[i + 1]):
                m, n_label = pairs.m[pair], pairs.n[pair]
                gradient = F[i, m] - F[i, n_label] - 1.0 + alpha[pair] / c[pair]
                curvature = 2.0 * Kt[i, i] + 1.0 / c[pair]  # 000 (54)
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
def primal_objective(K: npt.ArrayLike, Y: npt.ArrayLike, C: float, B: Array) -> float:
    """Primal value of the model with expansion coefficients B and the bias sum_i B_i.

    Parameters
    ----------
    K : array_like, shape (n, n)
    Y : array_like of {0, 1}, shape (n, q)
    C : float
    B : ndarray, shape (n, q)
        Expansion coefficients.

    Returns
    -------
    float
    """
    Kt, Y, pairs, c = problem_data(K, Y, C, "penalized")
    F = Kt @ B
    return 0.5 * float(np.sum(B * F)) + squared_hinge_loss(F, pairs, c)


def dual_objective(K: npt.ArrayLike, Y: npt.ArrayLike, C: float, alpha: Array) -> float:
    """Dual value u^T alpha - 1/2 alpha^T Theta alpha.

    Parameters
    ----------
    K : array_like, shape (n, n)
    Y : array_like of {0, 1}, shape (n, q)
    C : float
    alpha : ndarray, shape (L,)
        Dual variables, not negative.

    Returns
    -------
    float
        A lower bound of the optimum.
    """
    return float(alpha.sum()) - 0.5 * theta_quadratic(K, Y, C, alpha)


def theta_quadratic(K: npt.ArrayLike, Y: npt.ArrayLike, C: float, alpha: Array) -> float:
    """alpha^T Theta alpha with Theta of 000 (38).

    Parameters
    ----------
    K : array_like, shape (n, n)
    Y : array_like of {0, 1}, shape (n, q)
    C : float
    alpha : ndarray, shape (L,)
        Dual variables.

    Returns
    -------
    float
    """
    Kt, Y, pairs, c = problem_data(K, Y, C, "penalized")
    B = expansion(alpha, pairs, *Y.shape)
    return float(np.sum(B * (Kt @ B)) + np.sum(alpha**2 / c))


def squared_hinge_loss(F: Array, pairs: Pairs, c: Array) -> float:
    """Half the weighted sum of the squared slacks.

    Parameters
    ----------
    F : ndarray, shape (n, q)
        Scores.
    pairs : Pairs
    c : ndarray, shape (L,)
        Weights of the pairs.

    Returns
    -------
    float
    """
    return 0.5 * float(c @ slack(F, pairs) ** 2)


def slack(F: Array, pairs: Pairs) -> Array:
    """xi_imn = max(0, 1 - (f_m(x_i) - f_n(x_i))).

    Parameters
    ----------
    F : ndarray, shape (n, q)
        Scores.
    pairs : Pairs

    Returns
    -------
    ndarray, shape (L,)
    """
    return np.maximum(0.0, 1.0 - (F[pairs.i, pairs.m] - F[pairs.i, pairs.n]))
