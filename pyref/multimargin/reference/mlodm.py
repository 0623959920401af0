"""mlODM, the reference: paper 003.

    min  1/2 sum_k ||w_k||^2 + sum_i C_i/2 sum_{(k,l)} (xi_ikl^2 + mu eps_ikl^2)        003 (15)
    s.t. 1 - theta - xi_ikl <= f_k(x_i) - f_l(x_i) <= 1 + theta + eps_ikl

with C_i = C / (p_i r_i) and f_k(x) = w_k^T x, no bias. (The first appearance of this problem,
003 (14), lacks C and the halves.) The dual has two variables a pair:

    min  1/2 sum_k ||w_k||^2 + sum [(theta - 1) alpha + (theta + 1) beta]               003 (18)
         + sum 1/(2 C_i) (alpha^2 + beta^2/mu),    alpha, beta >= 0

Papers and code:
    m, q               n instances, q labels
    Y_i, its complement  labels m with Y[i, m] = 1, labels n with Y[i, n] = 0
    (k, l)             a pair (m, n)
    l_i = |Y_i| |its complement|, M_i
                       number of pairs of instance i, l_i / (2 C) = 1 / (2 C_i)
    alpha_i, beta_i    alpha[first[i]:first[i + 1]], beta[first[i]:first[i + 1]]
    t                  alpha - beta, one entry a pair; at the optimum alpha beta = 0
    B                  expansion coefficients: row i is H_i (alpha_i - beta_i)

All objectives are given in the sign of the primal problem.
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
# Primal problem: 003 (15)
# -------------------------------------------------------------------------------------------------
def primal(
    K: npt.ArrayLike,
    Y: npt.ArrayLike,
    C: float = 1.0,
    theta: float = 0.2,
    mu: float = 0.5,
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
    theta : float, default 0.2
        0 <= theta < 1.
    mu : float, default 0.5
        0 < mu <= 1.
    solver : {"clarabel", "scs"}, default "clarabel"

    Returns
    -------
    Solution
        `objective` is the primal value, recomputed with the minimal slacks; `alpha` holds t.

    Raises
    ------
    ValueError
        If an argument is malformed or K is indefinite.
    ImportError
        If CVXPY is not installed.
    RuntimeError
        If the solver does not reach its tolerances.
    """
    Kt, Y, pairs, c = checked_data(K, Y, C, theta, mu)
    n, q = Y.shape
    if len(c) == 0:
        return no_pairs(n, q, pairs)
    cp = exact.import_cvxpy()
    G = exact.factor(Kt)
    blkdiag_H = exact.block_pair_matrix(pairs, n, q)

    V = cp.Variable((G.shape[1], q))
    xi, eps = cp.Variable(len(c)), cp.Variable(len(c))
    margins = blkdiag_H.T @ cp.vec(G @ V, order="C")
    constraints = [margins >= 1 - theta - xi, margins <= 1 + theta + eps, xi >= 0, eps >= 0]
    loss = cp.sum_squares(cp.multiply(np.sqrt(c), xi))
    loss += mu * cp.sum_squares(cp.multiply(np.sqrt(c), eps))
    objective = cp.Minimize(0.5 * cp.sum_squares(V) + 0.5 * loss)
    exact.solve_qp(cp.Problem(objective, constraints), solver)

    F = G @ V.value
    z = F[pairs.i, pairs.m] - F[pairs.i, pairs.n]
    t = c * np.maximum(0, 1 - theta - z) - mu * c * np.maximum(0, z - 1 - theta)  # (17)
    B = expansion(t, pairs, n, q)
    value = 0.5 * float(np.sum(V.value**2)) + optimal_margin_loss(F, pairs, c, theta, mu)
    return Solution(value, t, B, np.zeros(q), F, pairs)


# -------------------------------------------------------------------------------------------------
# Dual problem: 003 (18)
# -------------------------------------------------------------------------------------------------
def dual(
    K: npt.ArrayLike,
    Y: npt.ArrayLike,
    C: float = 1.0,
    theta: float = 0.2,
    mu: float = 0.5,
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
    theta : float, default 0.2
        0 <= theta < 1.
    mu : float, default 0.5
        0 < mu <= 1.
    solver : {"clarabel", "scs"}, default "clarabel"

    Returns
    -------
    Solution
        `objective` is the dual value; `alpha` holds t = alpha - beta.

    Raises
    ------
    ValueError
        If an argument is malformed or K is indefinite.
    ImportError
        If CVXPY is not installed.
    RuntimeError
        If the solver does not reach its tolerances.
    """
    Kt, Y, pairs, c = checked_data(K, Y, C, theta, mu)
    n, q = Y.shape
    if len(c) == 0:
        return no_pairs(n, q, pairs)
    cp = exact.import_cvxpy()
    scale = exact.scale_of(Kt)
    G = exact.factor(Kt) / np.sqrt(scale)
    blkdiag_H = exact.block_pair_matrix(pairs, n, q)

    def solve(unit: Array) -> Solution:
        """Solve for kappa alpha / unit and kappa beta / unit, where kappa is the kernel's scale."""
        a, b = cp.Variable(len(c)), cp.Variable(len(c))
        share = unit / unit.min()
        slope, slope_mu = unit / np.sqrt(c * scale), unit / np.sqrt(mu * c * scale)
        w = cp.reshape(blkdiag_H @ cp.multiply(share, a - b), (n, q), order="C")  # (16)
        quadratic = unit.min() ** 2 * cp.sum_squares(G.T @ w)
        quadratic += cp.sum_squares(cp.multiply(slope, a))
        quadratic += cp.sum_squares(cp.multiply(slope_mu, b))
        linear = (theta - 1) * cp.sum(cp.multiply(share, a))
        linear += (theta + 1) * cp.sum(cp.multiply(share, b))
        problem = cp.Problem(cp.Minimize(0.5 * quadratic / unit.min() + linear), [a >= 0, b >= 0])
        exact.solve_qp(problem, solver)
        t = unit * (np.maximum(a.value, 0.0) - np.maximum(b.value, 0.0)) / scale
        return recover(K, Y, C, theta, mu, t)

    # In the first unit the curvature of the last term of (18) is 1, whatever C; in the second,
    # those of the kernel.
    units = [np.sqrt(c * scale), np.ones(len(c))]
    best: Solution = exact.best_of(
        [partial(solve, unit) for unit in units],
        lambda found: primal_objective(K, Y, C, theta, mu, found.B),
    )
    return best


def recover(
    K: npt.ArrayLike, Y: npt.ArrayLike, C: float, theta: float, mu: float, t: Array
) -> Solution:
    """Build the model that belongs to dual variables: 003 (16).

    Parameters
    ----------
    K : array_like, shape (n, n)
    Y : array_like of {0, 1}, shape (n, q)
    C, theta, mu : float
    t : ndarray, shape (L,)
        alpha - beta in the order of `exact.pairs(Y)`.

    Returns
    -------
    Solution
        `objective` is the dual value.
    """
    Kt, Y, pairs, _ = checked_data(K, Y, C, theta, mu)
    n, q = Y.shape
    B = expansion(t, pairs, n, q)
    value = dual_objective(K, Y, C, theta, mu, t)
    return Solution(value, t, B, np.zeros(q), Kt @ B, pairs)


# -------------------------------------------------------------------------------------------------
# Algorithm 1: one instance at a time, by algorithm 2
# -------------------------------------------------------------------------------------------------
def block_coordinate_descent(
    K: npt.ArrayLike,
    Y: npt.ArrayLike,
    C: float = 1.0,
    theta: float = 0.2,
    mu: float = 0.5,
    max_epochs: int = 100,
    target: float = -np.inf,
    tol: float = 1e-8,
    max_updates: int = 1000,
    orders: Sequence[npt.ArrayLike] | None = None,
) -> tuple[Solution, Array]:
    """Run algorithm 1 with algorithm 2 for its sub-problems.

    Parameters
    ----------
    K : array_like, shape (n, n)
        Kernel matrix, symmetric and positive semi-definite.
    Y : array_like of {0, 1}, shape (n, q)
        Relevant labels.
    C : float, default 1.0
        Weight of the loss, positive.
    theta : float, default 0.2
        0 <= theta < 1.
    mu : float, default 0.5
        0 < mu <= 1.
    max_epochs : int, default 100
        Largest number of passes over the instances.
    target : float, default -inf
        Stop when the primal value of the model, 003 (15), is at most this.
    tol : float, default 1e-8
        Relaxation of the fixed point of algorithm 2, see `multiplicative_updates`; an epoch that
        moves the dual value by less than tol, relatively, is the last one.
    max_updates : int, default 1000
        Largest number of updates in one sub-problem.
    orders : sequence of permutations of 0..n-1, optional
        Order of the instances in each epoch, repeated from the first one when it runs out; 0..n-1
        by default, where the paper shuffles.

    Returns
    -------
    solution : Solution
        `objective` is the dual value.
    history : ndarray, shape (epochs,)
        Dual value after every epoch.

    Raises
    ------
    ValueError
        If an argument is malformed.
    """
    Kt, Y, pairs, c = checked_data(K, Y, C, theta, mu)
    n, q = Y.shape
    permutations = [np.arange(n)] if orders is None else [np.array(order) for order in orders]
    first = np.searchsorted(pairs.i, np.arange(n + 1))
    t = np.zeros(len(c))
    B, F = np.zeros((n, q)), np.zeros((n, q))
    history: list[float] = []
    while len(history) < max_epochs:
        for i in permutations[len(history) % len(permutations)]:
            block = slice(first[i], first[i + 1])
            l_i = first[i + 1] - first[i]
            if l_i == 0:
                continue
            H_pairs = np.zeros((q, l_i))  # c_i^k of (19) in row k
            H_pairs[pairs.m[block], np.arange(l_i)] = 1.0
            H_pairs[pairs.n[block], np.arange(l_i)] = -1.0
            others = F[i] - Kt[i, i] * B[i]
            b = others @ H_pairs
            A = Kt[i, i] * (H_pairs.T @ H_pairs)  # (23)
            M = 0.5 / c[block]
            H = np.block([[A, -A], [-A, A]]) + 2.0 * np.diag(np.concatenate([M, M / mu]))  # (24)
            v = np.concatenate([b + theta - 1.0, -b + theta + 1.0])
            eta = multiplicative_updates(H, v, np.ones(2 * l_i), tol, max_updates)
            t[block] = eta[:l_i] - eta[l_i:]  # eta_i = [alpha_i; beta_i]
            beta = H_pairs @ t[block]
            F += np.outer(Kt[:, i], beta - B[i])
            B[i] = beta
        history.append(dual_objective(K, Y, C, theta, mu, t))
        value = 0.5 * float(np.sum(B * F)) + optimal_margin_loss(F, pairs, c, theta, mu)
        still = len(history) > 1 and history[-1] - history[-2] <= tol * abs(history[-1])
        if value <= target or still:
            break
    return recover(K, Y, C, theta, mu, t), np.array(history)


def multiplicative_updates(
    H: Array, v: Array, eta: Array, tol: float = 1e-8, max_updates: int = 1000
) -> Array:
    """Algorithm 2: minimise 1/2 eta^T H eta + v^T eta over eta >= 0, 003 (24).

    Parameters
    ----------
    H : ndarray, shape (2 l, 2 l)
        Positive definite.
    v : ndarray, shape (2 l,)
    eta : ndarray, shape (2 l,)
        Start, positive: an entry that is 0 stays there.
    tol : float, default 1e-8
        The fixed point is reached when no entry moves by more than tol times the largest one.
    max_updates : int, default 1000
        Largest number of updates.

    Returns
    -------
    ndarray, shape (2 l,)
    """
    H_plus, H_minus = np.maximum(H, 0.0), np.maximum(-H, 0.0)
    for _ in range(max_updates):
        a, b = H_plus @ eta, H_minus @ eta
        root = np.sqrt(v**2 + 4.0 * a * b)
        # The two forms of the positive root, each where it does not cancel.
        factor = np.where(v > 0, 2.0 * b / np.where(v > 0, v + root, 1.0), (root - v) / (2.0 * a))
        # Entries shrink towards 0 for ever; this floor, far below any tolerance, keeps them normal.
        new = np.maximum(eta * factor, 1e-150)
        moved = np.abs(new - eta).max()
        eta = new
        if moved <= tol * eta.max():
            break
    return eta


# -------------------------------------------------------------------------------------------------
# Certificates of a given model
# -------------------------------------------------------------------------------------------------
def primal_objective(
    K: npt.ArrayLike, Y: npt.ArrayLike, C: float, theta: float, mu: float, B: Array
) -> float:
    """Primal value of the model with expansion coefficients B: 003 (15).

    Parameters
    ----------
    K : array_like, shape (n, n)
    Y : array_like of {0, 1}, shape (n, q)
    C, theta, mu : float
    B : ndarray, shape (n, q)
        Expansion coefficients.

    Returns
    -------
    float
    """
    Kt, Y, pairs, c = checked_data(K, Y, C, theta, mu)
    F = Kt @ B
    return 0.5 * float(np.sum(B * F)) + optimal_margin_loss(F, pairs, c, theta, mu)


def dual_objective(
    K: npt.ArrayLike, Y: npt.ArrayLike, C: float, theta: float, mu: float, t: Array
) -> float:
    """Dual value, the negative of 003 (18), with alpha = max(t, 0) and beta = max(-t, 0).

    Parameters
    ----------
    K : array_like, shape (n, n)
    Y : array_like of {0, 1}, shape (n, q)
    C, theta, mu : float
    t : ndarray, shape (L,)
        alpha - beta.

    Returns
    -------
    float
        A lower bound of the optimum.
    """
    Kt, Y, pairs, c = checked_data(K, Y, C, theta, mu)
    B = expansion(t, pairs, *Y.shape)
    alpha, beta = np.maximum(t, 0.0), np.maximum(-t, 0.0)
    linear = (1 - theta) * alpha.sum() - (1 + theta) * beta.sum()
    squares = np.sum((alpha**2 + beta**2 / mu) / (2.0 * c))
    return float(linear - squares - 0.5 * np.sum(B * (Kt @ B)))


def optimal_margin_loss(F: Array, pairs: Pairs, c: Array, theta: float, mu: float) -> float:
    """Half the weighted sum of xi^2 + mu eps^2 of all pairs.

    Parameters
    ----------
    F : ndarray, shape (n, q)
        Scores.
    pairs : Pairs
    c : ndarray, shape (L,)
        Weights of the pairs.
    theta, mu : float

    Returns
    -------
    float
    """
    z = F[pairs.i, pairs.m] - F[pairs.i, pairs.n]
    xi, eps = np.maximum(0.0, 1.0 - theta - z), np.maximum(0.0, z - 1.0 - theta)
    return 0.5 * float(c @ (xi**2 + mu * eps**2))


def checked_data(
    K: npt.ArrayLike, Y: npt.ArrayLike, C: float, theta: float, mu: float
) -> tuple[Array, npt.NDArray[np.int_], Pairs, Array]:
    """Check the arguments and build K, Y, the pairs and their weights.

    Parameters
    ----------
    K : array_like, shape (n, n)
    Y : array_like of {0, 1}, shape (n, q)
    C, theta, mu : float

    Returns
    -------
    K : ndarray, shape (n, n)
    Y : ndarray of int, shape (n, q)
    pairs : Pairs
    c : ndarray, shape (L,)

    Raises
    ------
    ValueError
        If an argument is malformed.
    """
    if not 0.0 <= theta < 1.0:
        raise ValueError(f"theta is {theta}, expected 0 <= theta < 1")
    if not 0.0 < mu <= 1.0:
        raise ValueError(f"mu is {mu}, expected 0 < mu <= 1")
    return problem_data(K, Y, C, "none")
