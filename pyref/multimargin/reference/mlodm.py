"""mlODM: the optimal margin distribution loss on label pairs (Tan et al. 2019).

The problem is Tan et al. 2019, eq. (15); eq. (14), where it appears first, lacks C and the halves::

    min  1/2 sum_k ||w_k||^2 + sum_i C_i/2 sum_(k,l) (xi_ikl^2 + mu eps_ikl^2)
    s.t. 1 - theta - xi_ikl <= f_k(x_i) - f_l(x_i) <= 1 + theta + eps_ikl

with f_k(x) = w_k^T phi(x), no bias. Its dual, eq. (18), has two variables a pair::

    min  1/2 sum_k ||w_k||^2 + sum [(theta - 1) alpha + (theta + 1) beta]
         + sum 1/(2 C_i) (alpha^2 + beta^2 / mu),    alpha, beta >= 0

Objectives have the sign of the primal problem: minus (18) bounds it from below. Equation numbers
are those of Tan et al. 2019.

Dictionary::

    n, q                   instances (Tan: m), labels
    theta, mu              0 <= theta < 1, 0 < mu <= 1                               (13), (14)
    Y            n x q     1 on Y_i, the relevant labels of row i; 0 on the others
    pairs        3 x L     (i, m, n): Tan's (k, l) = (m, n) of instance i                  (1)
    c            L         C_i = C / (|Y_i| |complement of Y_i|) of each pair              (15)
    K            n x n     kernel matrix kappa(x_i, x_j)
    alpha, beta  L         dual variables; at the optimum alpha beta = 0                   (18)
    t            L         alpha - beta, kept as `alpha` of a solution
    blkdiag_H    nq x L    blkdiag(H_1, ..., H_n), row k of H_i is c_i^k                   (19)
    B            n x q     B[i, k] = (alpha_i - beta_i)^T c_i^k; w_k = sum_i B[i, k] phi(x_i)  (20)
    F            n x q     scores K B
    z            L         margins f_k(x_i) - f_l(x_i)                                     (1)
    xi, eps      L         slacks max(0, 1 - theta - z), max(0, z - 1 - theta)             (15)
    l_i, M_i               pairs of instance i, M_i = l_i / (2 C) = 1 / (2 C_i)            (23)
    A, b         l_i x l_i, l_i    quadratic and linear term of an instance                (23)
    eta, H, v    2 l_i, ...        [alpha_i; beta_i] and its quadratic programme           (24)
    G, V         n x r, r x q   K = G G^T and F = G V, ||V||^2 = sum_k ||w_k||^2
    orders                 permutations of 0..n-1: instances in each epoch, then from the start
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np
from numpy.typing import ArrayLike

from multimargin.reference import exact
from multimargin.reference.exact import Array, Labels, Pairs, Solver, Weight
from multimargin.reference.rank_svm import Solution, expansion, no_pairs, problem_data


# -------------------------------------------------------------------------------------------------
# Primal problem (15) and dual problem (18)
# -------------------------------------------------------------------------------------------------
def primal(
    K: ArrayLike,
    Y: ArrayLike,
    C: Weight = 1.0,
    theta: float = 0.2,
    mu: float = 0.5,
    solver: Solver = "clarabel",
) -> Solution:
    """Solve (15); the value is recomputed with the minimal slacks."""
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
    z = exact.differences(F, pairs)
    t = c * np.maximum(0, 1 - theta - z) - mu * c * np.maximum(0, z - 1 - theta)  # (17)
    B = expansion(t, pairs, n, q)
    value = 0.5 * float(np.sum(V.value**2)) + optimal_margin_loss(F, pairs, c, theta, mu)
    return Solution(value, t, B, np.zeros(q), F, pairs)


def dual(
    K: ArrayLike,
    Y: ArrayLike,
    C: Weight = 1.0,
    theta: float = 0.2,
    mu: float = 0.5,
    solver: Solver = "clarabel",
) -> Solution:
    """Solve (18) and recover the model."""
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


def recover(K: ArrayLike, Y: ArrayLike, C: Weight, theta: float, mu: float, t: Array) -> Solution:
    """Build the model that belongs to dual variables: (16), (20)."""
    Kt, Y, pairs, _ = checked_data(K, Y, C, theta, mu)
    n, q = Y.shape
    B = expansion(t, pairs, n, q)
    value = dual_objective(K, Y, C, theta, mu, t)
    return Solution(value, t, B, np.zeros(q), Kt @ B, pairs)


# -------------------------------------------------------------------------------------------------
# Algorithm 1: one instance at a time, by algorithm 2
# -------------------------------------------------------------------------------------------------
def block_coordinate_descent(
    K: ArrayLike,
    Y: ArrayLike,
    C: Weight = 1.0,
    theta: float = 0.2,
    mu: float = 0.5,
    max_epochs: int = 100,
    target: float = -np.inf,
    tol: float = 1e-8,
    max_updates: int = 1000,
    orders: Sequence[ArrayLike] | None = None,
) -> tuple[Solution, Array]:
    """Run algorithm 1; also the dual value, minus (18), after every epoch."""
    # It ends when the primal value is at most `target`, or an epoch moves the dual value by at most
    # tol, relatively. The paper shuffles the instances.
    Kt, Y, pairs, c = checked_data(K, Y, C, theta, mu)
    n, q = Y.shape
    permutations = exact.epoch_orders(orders, n)
    first = np.searchsorted(pairs.i, np.arange(n + 1))  # alpha_i = alpha[first[i] : first[i + 1]]
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
    """Algorithm 2 for (24), from eta > 0, until no entry moves by more than tol max(eta)."""
    H_plus, H_minus = np.maximum(H, 0.0), np.maximum(-H, 0.0)
    for _ in range(max_updates):
        a, b = H_plus @ eta, H_minus @ eta
        root = np.sqrt(v**2 + 4.0 * a * b)
        # The two forms of the positive root, each where it does not cancel.
        factor = np.where(v > 0, 2.0 * b / np.where(v > 0, v + root, 1.0), (root - v) / (2.0 * a))
        # Entries shrink towards 0 without end; this floor keeps them from becoming denormal.
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
    K: ArrayLike, Y: ArrayLike, C: Weight, theta: float, mu: float, B: Array
) -> float:
    """Primal value of the model with expansion coefficients B: (15)."""
    Kt, Y, pairs, c = checked_data(K, Y, C, theta, mu)
    F = Kt @ B
    return 0.5 * float(np.sum(B * F)) + optimal_margin_loss(F, pairs, c, theta, mu)


def dual_objective(
    K: ArrayLike, Y: ArrayLike, C: Weight, theta: float, mu: float, t: Array
) -> float:
    """Minus (18) at alpha = max(t, 0), beta = max(-t, 0): a lower bound of the optimum."""
    Kt, Y, pairs, c = checked_data(K, Y, C, theta, mu)
    B = expansion(t, pairs, *Y.shape)
    alpha, beta = np.maximum(t, 0.0), np.maximum(-t, 0.0)
    linear = (1 - theta) * alpha.sum() - (1 + theta) * beta.sum()
    squares = np.sum((alpha**2 + beta**2 / mu) / (2.0 * c))
    return float(linear - squares - 0.5 * np.sum(B * (Kt @ B)))


def optimal_margin_loss(F: Array, pairs: Pairs, c: Array, theta: float, mu: float) -> float:
    """Half the sum of C_i (xi^2 + mu eps^2), the loss of (15)."""
    z = exact.differences(F, pairs)
    xi, eps = np.maximum(0.0, 1.0 - theta - z), np.maximum(0.0, z - 1.0 - theta)
    return 0.5 * float(c @ (xi**2 + mu * eps**2))


def checked_data(
    K: ArrayLike, Y: ArrayLike, C: Weight, theta: float, mu: float
) -> tuple[Array, Labels, Pairs, Array]:
    """Check the arguments and build K, Y, the pairs and their weights c."""
    if not 0.0 <= theta < 1.0:
        raise ValueError(f"theta is {theta}, expected 0 <= theta < 1")
    if not 0.0 < mu <= 1.0:
        raise ValueError(f"mu is {mu}, expected 0 < mu <= 1")
    return problem_data(K, Y, C, "none")
