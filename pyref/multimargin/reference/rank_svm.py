"""Rank-SVM: the hinge on label pairs (Elisseeff & Weston 2001), as in Xu 2013 and Chen et al. 2009.

The problem is Xu 2013, eq. (18)::

    min  1/2 sum_k ||w_k||^2 + sum_i C_i sum_(m,n) xi_imn
    s.t. f_m(x_i) - f_n(x_i) >= 1 - xi_imn,  xi_imn >= 0

    bias = "free"       f_k(x) = w_k^T x + b_k; the dual has H alpha = 0     Xu (18), (19)
           "penalized"  1/2 sum_k b_k^2 is added: the kernel becomes K + 1   Chen (8), (9)
           "none"       b = 0

and its dual, eq. (26), where the kernel is missing in print::

    min  W(alpha) = 1/2 alpha^T ((H^T H) o K) alpha - u^T alpha
    s.t. H alpha = 0 (free bias only),  0 <= alpha <= C_i

Objectives have the sign of the primal problem: -W(alpha) bounds it from below. Equation numbers
without a name are those of Xu 2013.

Dictionary (Xu's letters; Chen's in brackets)::

    n [n], d [m], q [k]    instances (Xu: l), features, labels
    Y            n x q     1 on L_i [y_i], the p_i relevant labels of row i; 0 on the r_i others
    pairs        3 x L     (i, m, n) [(i, p, q)]: m relevant, n irrelevant for i           (16)
    c            L         C_i = C / (p_i r_i) of each pair                                (19)
    K            n x n     kernel matrix; linear: X X^T (Xu's repeats it on the pairs)     (25)
    Kt           n x n     K + 1 if the bias is penalized, else K
    alpha        L         dual variables alpha_imn [alpha_ipq]; not unique                (19)
    H            q x L     [H_1, ..., H_n], entries c_imn^k [t_ijq^p]          (20), (22), (25)
    blkdiag_H    nq x L    blkdiag(H_1, ..., H_n)
    B            n x q     B[i, k] = beta_ki, so row i is H_i alpha_i; W = X^T B     (21), (23)
    b            q         bias; sums to 0 if free (a common constant changes no difference)
    F            n x q     scores f_k(x_i) = sum_j B[j, k] K[i, j] + b_k                   (27)
    g            L         gradient of W: f_m(x_i) - f_n(x_i) - 1, f without bias          (42)
    xi           L         slacks max(0, 1 - (f_m(x_i) - f_n(x_i)))                        (16)
    G, V         n x r, r x q   Kt = G G^T and F = G V: instances and weights in coordinates of
                           the space that the instances span, ||V|| = ||W||
    orders                 permutations of 0..n-1: instances in each epoch, then from the start
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import linprog

from multimargin.reference import exact
from multimargin.reference.exact import Array, Bias, Labels, Pairs, Solver, Weight


class Solution(NamedTuple):
    """A dual point and its model; `objective` is the value of the problem that was solved."""

    objective: float
    alpha: Array
    B: Array
    b: Array
    F: Array
    pairs: Pairs


# -------------------------------------------------------------------------------------------------
# Primal problem: Xu 2013, eq. (18); Chen et al. 2009, eq. (9)
# -------------------------------------------------------------------------------------------------
def primal(
    K: ArrayLike, Y: ArrayLike, C: Weight = 1.0, bias: Bias = "free", solver: Solver = "clarabel"
) -> Solution:
    """Solve the primal problem; alpha and B come from the multipliers of the margins."""
    Kt, Y, pairs, c = problem_data(K, Y, C, bias)
    n, q = Y.shape
    if len(c) == 0:
        return no_pairs(n, q, pairs)
    cp = exact.import_cvxpy()
    G = exact.factor(Kt)
    blkdiag_H = exact.block_pair_matrix(pairs, n, q)

    V = cp.Variable((G.shape[1], q))
    b = cp.Variable((1, q))
    xi = cp.Variable(len(c))
    scores = G @ V  # (15)
    constraints = []
    if bias == "free":
        scores = scores + np.ones((n, 1)) @ b
        constraints = [cp.sum(b) == 0]
    margin = blkdiag_H.T @ cp.vec(scores, order="C") >= 1 - xi  # (16)
    objective = cp.Minimize(0.5 * cp.sum_squares(V) + c @ xi)  # (18)
    exact.solve_qp(cp.Problem(objective, [margin, xi >= 0, *constraints]), solver)

    alpha = np.clip(margin.dual_value, 0.0, c)
    B = expansion(alpha, pairs, n, q)
    F = G @ V.value
    b_value = np.zeros(q)
    if bias == "free":
        b_value = b.value[0] - b.value.mean()
        F = F + b_value
    if bias == "penalized":
        b_value = B.sum(axis=0)
    value = 0.5 * np.sum(V.value**2) + hinge_loss(F, pairs, c)
    return Solution(float(value), alpha, B, b_value, F, pairs)


# -------------------------------------------------------------------------------------------------
# Dual problem: Xu 2013, eq. (19), (24), (26); Chen et al. 2009, eq. (17)
# -------------------------------------------------------------------------------------------------
def dual(
    K: ArrayLike, Y: ArrayLike, C: Weight = 1.0, bias: Bias = "free", solver: Solver = "clarabel"
) -> Solution:
    """Solve the dual problem, (24), and recover the model."""
    Kt, Y, pairs, c = problem_data(K, Y, C, bias)
    n, q = Y.shape
    if len(c) == 0:
        return no_pairs(n, q, pairs)
    cp = exact.import_cvxpy()
    size = exact.scale_of(Kt)
    if bias == "free":
        Kt = exact.centred(Kt)
    scale = exact.scale_of(Kt)
    unit = min(float(c.max()), 1.0 / scale)  # of alpha, so that all numbers are of order 1
    G = exact.factor(Kt, size) * np.sqrt(unit)
    H = exact.pair_matrix(pairs, q)
    blkdiag_H = exact.block_pair_matrix(pairs, n, q)

    alpha = cp.Variable(len(c))
    beta = cp.reshape(blkdiag_H @ alpha, (n, q), order="C")  # (23)
    W = 0.5 * cp.sum_squares(G.T @ beta) - cp.sum(alpha)  # (24): sum_k beta_k^T K beta_k
    constraints = [alpha >= 0, alpha <= c / unit]
    if bias == "free":
        constraints.append(H @ alpha == 0)
    exact.solve_qp(cp.Problem(cp.Minimize(W), constraints), solver)

    if bias != "free":
        return recover(K, Y, np.clip(unit * alpha.value, 0.0, c), np.zeros(q), bias)
    point = exact.feasible(unit * alpha.value, pairs, c, q)
    # The multipliers belong to the centred scores.
    mean = (np.asarray(K, dtype=np.float64) @ expansion(point, pairs, n, q)).mean(axis=0)
    return recover(K, Y, point, constraints[-1].dual_value - mean, bias)


# -------------------------------------------------------------------------------------------------
# From the dual variables to the model: Xu 2013, eq. (23), (27), (33)
# -------------------------------------------------------------------------------------------------
def recover(K: ArrayLike, Y: ArrayLike, alpha: Array, multipliers: Array, bias: Bias) -> Solution:
    """Build the model of alpha; a free bias is the multipliers of H alpha = 0, less their mean."""
    # Lagrangian W(alpha) + y^T H alpha: its derivative for a pair inside its box is
    # f_m - f_n - 1 + y_m - y_n = 0 with f without bias, the margin equation (16) for b = y.
    K = np.asarray(K, dtype=np.float64)
    Y = exact.label_matrix(Y)
    pairs = exact.pairs(Y)
    n, q = Y.shape
    B = expansion(alpha, pairs, n, q)
    b = np.zeros(q)
    if bias == "free":
        b = multipliers - multipliers.mean()
    if bias == "penalized":
        b = B.sum(axis=0)  # (33)
    F = K @ B + b  # (27)
    return Solution(dual_objective(K, Y, B, bias), alpha, B, b, F, pairs)


def expansion(alpha: Array, pairs: Pairs, n: int, q: int) -> Array:
    """B, whose row i is beta_i = H_i alpha_i: (21), (23); Chen et al. 2009, eq. (15)."""
    return np.asarray(exact.block_pair_matrix(pairs, n, q) @ alpha).reshape(n, q)


# -------------------------------------------------------------------------------------------------
# Frank-Wolfe: Xu 2013, section 7.1
# -------------------------------------------------------------------------------------------------
class FrankWolfe(NamedTuple):
    """The last iterate, and -W(alpha), z = d^T grad W and the step length lambda of every one."""

    solution: Solution
    objective: Array
    z: Array
    step: Array


def frank_wolfe(
    K: ArrayLike,
    Y: ArrayLike,
    C: Weight = 1.0,
    bias: Bias = "free",
    tol: float = 1e-3,
    max_iter: int = 50,
    start: ArrayLike | None = None,
) -> FrankWolfe:
    """Run section 7.1, steps 1 to 4, until abs(z) <= tol, which bounds the distance to optimum."""
    # (42) prints theta = u for -u. With a free bias the multipliers of H alpha = 0 in (41) serve as
    # b: with them the duality gap is exactly -z. Where (41) has several solutions, as at alpha = 0,
    # two programs may follow different paths.
    Kt, Y, pairs, c = problem_data(K, Y, C, bias)
    n, q = Y.shape
    H = exact.pair_matrix(pairs, q)
    if max_iter < 1:
        raise ValueError(f"max_iter is {max_iter}, expected at least 1")
    alpha = np.zeros(len(c)) if start is None else np.array(start, dtype=np.float64)  # step 1
    check_feasible(alpha, H, c, bias)
    history: list[tuple[float, float, float]] = []
    while True:
        F = Kt @ expansion(alpha, pairs, n, q)
        g = exact.differences(F, pairs) - 1.0
        alpha_bar, multipliers = linear_programme(g, H, c, bias)  # step 2, (41)
        d = alpha_bar - alpha
        z = float(d @ g)
        W = 0.5 * float(alpha @ (g - 1.0))  # (42), since Theta alpha = g + u
        if abs(z) <= tol or len(history) == max_iter - 1:
            history.append((-W, z, 0.0))
            break
        D = expansion(d, pairs, n, q)
        curvature = float(np.sum(D * (Kt @ D)))  # d^T Theta d
        step = 1.0 if curvature <= -z else -z / curvature  # step 3, (43)
        history.append((-W, z, step))
        alpha = alpha + step * d  # step 4
    objective, z_history, step_history = np.array(history).T
    return FrankWolfe(recover(K, Y, alpha, multipliers, bias), objective, z_history, step_history)


def linear_programme(g: Array, H: Any, c: Array, bias: Bias) -> tuple[Array, Array]:
    """Minimise g^T alpha over the feasible alpha, (41); also the multipliers of H alpha = 0."""
    q = H.shape[0]
    if bias != "free" or len(c) == 0:
        return np.where(g < 0, c, 0.0), np.zeros(q)
    result = linprog(
        g,
        A_eq=H,
        b_eq=np.zeros(q),
        bounds=np.column_stack([np.zeros(len(c)), c]),
        method="highs",
        options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
    )
    if result.status != 0:  # pragma: no cover  # HiGHS has solved every one so far.
        raise RuntimeError(f"HiGHS did not solve the linear programme: {result.message}")
    # marginals are derivatives of the optimum by the right-hand side, hence the sign
    return np.clip(result.x, 0.0, c), -result.eqlin.marginals


def check_feasible(alpha: Array, H: Any, c: Array, bias: Bias) -> None:
    """Check the constraints of (24)."""
    if alpha.shape != c.shape:
        raise ValueError(f"start has shape {alpha.shape}, expected {c.shape}: one entry a pair")
    if not ((alpha >= 0).all() and (alpha <= c).all()):
        raise ValueError("start leaves its box, expected 0 <= alpha <= C_i")
    slack = 1e-9 * c.sum()
    if bias == "free" and np.abs(H @ alpha).max(initial=0.0) > slack:
        raise ValueError("H start is not 0, as a free bias requires")


# -------------------------------------------------------------------------------------------------
# Dual coordinate descent: Chen et al. 2009, algorithm 1 with lambda = 0
# -------------------------------------------------------------------------------------------------
class CoordinateDescent(NamedTuple):
    """The last point, and -W(alpha), ||alpha* - alpha|| and B after every epoch."""

    solution: Solution
    objective: Array
    change: Array
    B: list[Array]


def dual_coordinate_descent(
    K: ArrayLike,
    Y: ArrayLike,
    C: Weight = 1.0,
    bias: Bias = "penalized",
    tol: float = 1e-6,
    max_epochs: int = 1000,
    orders: Sequence[ArrayLike] | None = None,
) -> CoordinateDescent:
    """Run algorithm 1 in kernel form, eq. (27) there, until ||alpha* - alpha|| < tol."""
    # Printed are a loop over pairs (j, q) with an update of (p, q), and a stop rule that compares
    # one step; here an epoch is one pass over all pairs, and the stop rule compares epochs.
    # The scores F = Kt B take the place of W^T x_i. Equation numbers are those of Chen et al.
    if bias == "free":  # H alpha = 0 couples all pairs
        raise ValueError("bias is 'free', expected 'penalized' or 'none' for coordinate descent")
    if max_epochs < 1:
        raise ValueError(f"max_epochs is {max_epochs}, expected at least 1")
    Kt, Y, pairs, c = problem_data(K, Y, C, bias)
    n, q = Y.shape
    permutations = exact.epoch_orders(orders, n)
    first = np.searchsorted(pairs.i, np.arange(n + 1))  # alpha_i = alpha[first[i] : first[i + 1]]
    alpha = np.zeros(len(c))
    F = np.zeros((n, q))
    objective: list[float] = []
    change: list[float] = []
    history: list[Array] = []
    while len(objective) < max_epochs:
        alpha_star = alpha.copy()
        for i in permutations[len(objective) % len(permutations)]:
            for pair in range(first[i], first[i + 1]):
                m, n_label = pairs.m[pair], pairs.n[pair]
                gradient = F[i, m] - F[i, n_label] - 1.0  # (20), step 1
                if alpha_star[pair] == 0:  # (22), step 2
                    projected = min(0.0, gradient)
                elif alpha_star[pair] == c[pair]:
                    projected = max(0.0, gradient)
                else:
                    projected = gradient
                if projected == 0:
                    continue
                if Kt[i, i] > 0:  # (23), step 3
                    target = alpha_star[pair] - gradient / (2.0 * Kt[i, i])
                    new = min(max(target, 0.0), c[pair])
                else:  # A_ii = 0: the objective is linear in this variable
                    new = c[pair] if gradient < 0 else 0.0
                delta = new - alpha_star[pair]
                alpha_star[pair] = new
                F[:, m] += delta * Kt[:, i]  # (24)
                F[:, n_label] -= delta * Kt[:, i]  # (25)
        B = expansion(alpha_star, pairs, n, q)
        objective.append(dual_objective(K, Y, B, bias))
        change.append(float(np.linalg.norm(alpha_star - alpha)))
        history.append(B)
        alpha = alpha_star
        if change[-1] < tol:
            break
    solution = recover(K, Y, alpha, np.zeros(q), bias)
    return CoordinateDescent(solution, np.array(objective), np.array(change), history)


# -------------------------------------------------------------------------------------------------
# Certificates of a given model
# -------------------------------------------------------------------------------------------------
def primal_objective(
    K: ArrayLike, Y: ArrayLike, C: Weight, B: Array, b: Array, bias: Bias
) -> float:
    """Primal value of the model f_k(x) = sum_i B[i, k] k(x, x_i) + b_k: (18), minimal slacks."""
    if bias == "none" and np.any(b != 0):
        raise ValueError("b is not 0, expected zeros with bias 'none'")
    _, Y, pairs, c = problem_data(K, Y, C, bias)
    K = np.asarray(K, dtype=np.float64)
    squares = float(np.sum(B * (K @ B)))
    if bias == "penalized":
        squares += float(b @ b)
    return 0.5 * squares + hinge_loss(K @ B + b, pairs, c)


def hinge_loss(F: Array, pairs: Pairs, c: Array) -> float:
    """Sum of C_i xi_imn, the loss of (18)."""
    return float(c @ np.maximum(0.0, 1.0 - exact.differences(F, pairs)))


def dual_objective(K: ArrayLike, Y: ArrayLike, B: Array, bias: Bias) -> float:
    """Dual value -W(alpha), (19): a lower bound of the optimum if `dual_infeasibility` is 0."""
    # Every pair adds +alpha to one relevant label, so u^T alpha is the sum of B over those.
    Kt = exact.kernel_matrix(K, bias)
    return float(np.sum(B[np.asarray(Y) == 1]) - 0.5 * np.sum(B * (Kt @ B)))


def dual_infeasibility(Y: ArrayLike, C: Weight, B: Array, bias: Bias) -> float:
    """Largest violation of the dual constraints by B; 0 if B belongs to a feasible alpha."""
    # alpha_i is a flow from the relevant labels, with supplies beta_im, to the irrelevant ones,
    # with demands -beta_in, and capacity C_i on every pair. It exists if supplies and demands are
    # not negative, have the same sum, and no cut is too small: for all s and t the s largest
    # supplies are at most the sum of the t smallest demands and of the capacity C_i s (r_i - t)
    # between the s labels and the others. An instance without pairs has beta_i = 0.
    Y = exact.label_matrix(Y)
    C = np.broadcast_to(C, len(Y))
    violation = 0.0
    for i in range(Y.shape[0]):
        violation = max(violation, float(np.abs(B[i, Y[i] == -1]).max(initial=0.0)))
        supply = np.sort(B[i, Y[i] == 1])[::-1]
        demand = np.sort(-B[i, Y[i] == 0])
        p_i, r_i = len(supply), len(demand)
        if p_i == 0 or r_i == 0:
            violation = max(violation, float(np.abs(B[i]).max(initial=0.0)))
            continue
        C_i = C[i] / (p_i * r_i)
        violation = max(violation, -supply.min(), -demand.min(), abs(B[i].sum()))
        for s in range(p_i + 1):
            for t in range(r_i + 1):
                cut = demand[:t].sum() + C_i * s * (r_i - t)
                violation = max(violation, supply[:s].sum() - cut)
    if bias == "free":
        violation = max(violation, float(np.abs(B.sum(axis=0)).max(initial=0.0)))
    return float(violation)


def duality_gap(K: ArrayLike, Y: ArrayLike, C: Weight, B: Array, b: Array, bias: Bias) -> float:
    """Primal value of the model minus dual value of B; bounds the distance of both to optimum."""
    return primal_objective(K, Y, C, B, b, bias) - dual_objective(K, Y, B, bias)


def kkt_residual(
    K: ArrayLike, Y: ArrayLike, C: Weight, alpha: Array, b: Array, bias: Bias
) -> float:
    """Largest violation of the optimality conditions, Chen et al. 2009, eq. (21)."""
    # max |alpha - clip(alpha - g, 0, C_i)|, unlike the projected gradient (22) continuous at the
    # ends of the box; with a free bias also max |H alpha|.
    _, Y, pairs, c = problem_data(K, Y, C, bias)
    n, q = Y.shape
    F = np.asarray(K, dtype=np.float64) @ expansion(alpha, pairs, n, q) + b
    g = exact.differences(F, pairs) - 1.0
    residual = float(np.abs(alpha - np.clip(alpha - g, 0.0, c)).max(initial=0.0))
    if bias == "free":
        H = exact.pair_matrix(pairs, q)
        residual = max(residual, float(np.abs(H @ alpha).max(initial=0.0)))
    return residual


# -------------------------------------------------------------------------------------------------
# Shared pieces
# -------------------------------------------------------------------------------------------------
def problem_data(
    K: ArrayLike, Y: ArrayLike, C: Weight, bias: Bias
) -> tuple[Array, Labels, Pairs, Array]:
    """Check the arguments and build Kt, Y, the pairs and their weights c."""
    Kt = exact.kernel_matrix(K, bias)
    Y = exact.label_matrix(Y)
    if len(Kt) != len(Y):
        raise ValueError(f"K has {len(Kt)} rows and Y has {len(Y)}, expected the same number")
    pairs = exact.pairs(Y)
    return Kt, Y, pairs, exact.pair_weights(pairs, C)


def no_pairs(n: int, q: int, pairs: Pairs) -> Solution:
    """Give the solution of a problem without pairs: all zero."""
    zeros = np.zeros((n, q))
    return Solution(0.0, np.zeros(0), zeros, np.zeros(q), zeros, pairs)
