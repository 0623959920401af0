"""Rank-SVM, the reference: papers 000 (sections 5 and 7.1) and 002 (sections 3.1 to 3.3).

    min  1/2 sum_k ||w_k||^2  +  sum_i C_i sum_{(m,n)} max(0, 1 - (f_m(x_i) - f_n(x_i)))

with C_i = C / (p_i r_i) and f_k(x) = w_k^T x + b_k. The bias is one of

    "free"       not penalised: the dual has the constraint H alpha = 0       000 (18), (19)
    "penalized"  1/2 sum_k b_k^2 is added: the kernel becomes K + 1           002 (9)
    "none"       b = 0

Every function takes the kernel matrix K of the training instances (X X^T for the linear kernel)
and the label matrix Y. All objectives are given in the sign of the primal problem, so that the
dual value -W(alpha) bounds the primal value from below.

Papers and code:
    000: l, l_i, l_t   n instances, p_i r_i pairs of instance i, L pairs in all
    002: m, k          d features, q labels
    x_i, K             K[i, j] = k(x_i, x_j), n x n
    000: L_i, its complement; 002: y_i, its complement
                       labels m with Y[i, m] = 1, labels n with Y[i, n] = 0
    000: alpha_imn; 002: alpha_ipq
                       alpha, one entry a pair: (m, n) of 000 is (p, q) of 002
    beta_ki            B[i, k]
    f_k(x_i)           F[i, k]
    W(alpha)           -dual_objective
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.optimize import linprog

from multimargin.reference import exact
from multimargin.reference.exact import Array, Bias, Pairs, Solver


class Solution(NamedTuple):
    """A point of the dual problem and the model that belongs to it.

    Parameters
    ----------
    objective : float
        Value of the problem that was solved, recomputed at this point.
    alpha : ndarray, shape (L,)
        Dual variables, in the order of `pairs`. They are not unique; B is, up to the null space
        of the kernel.
    B : ndarray, shape (n, q)
        Expansion coefficients: f_k(x) = sum_i B[i, k] k(x, x_i) + b_k. With linear kernel the
        weights are W = X^T B.
    b : ndarray, shape (q,)
        Bias; sums to 0 when it is free, and is 0 without bias.
    F : ndarray, shape (n, q)
        Scores of the training instances.
    pairs : Pairs
    """

    objective: float
    alpha: Array
    B: Array
    b: Array
    F: Array
    pairs: Pairs


# -------------------------------------------------------------------------------------------------
# Primal problem: 000 (18), 002 (9)
# -------------------------------------------------------------------------------------------------
def primal(
    K: npt.ArrayLike,
    Y: npt.ArrayLike,
    C: float = 1.0,
    bias: Bias = "free",
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
    bias : {"free", "penalized", "none"}, default "free"
    solver : {"clarabel", "scs"}, default "clarabel"

    Returns
    -------
    Solution
        `objective` is the primal value, `F` comes from the primal variables, and `alpha` and `B`
        from the multipliers of the margin constraints.

    Raises
    ------
    ValueError
        If an argument is malformed or K is indefinite.
    ImportError
        If CVXPY is not installed.
    RuntimeError
        If the solver does not reach its tolerances.

    Notes
    -----
    000 (18). With Kt = G G^T the scores are F = G V, V^T V = W^T W and ||V|| = ||W||: the rows of
    G are the instances, in coordinates of the space that they span.
    """
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
    scores = G @ V  # 000 (15)
    constraints = []
    if bias == "free":
        scores = scores + np.ones((n, 1)) @ b
        constraints = [cp.sum(b) == 0]  # a constant added to all b_k changes no difference
    margin = blkdiag_H.T @ cp.vec(scores, order="C") >= 1 - xi  # 000 (16)
    objective = cp.Minimize(0.5 * cp.sum_squares(V) + c @ xi)  # 000 (18)
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
# Dual problem: 000 (19), (24), (26), 002 (17)
# -------------------------------------------------------------------------------------------------
def dual(
    K: npt.ArrayLike,
    Y: npt.ArrayLike,
    C: float = 1.0,
    bias: Bias = "free",
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
    bias : {"free", "penalized", "none"}, default "free"
    solver : {"clarabel", "scs"}, default "clarabel"

    Returns
    -------
    Solution
        `objective` is the dual value -W(alpha).

    Raises
    ------
    ValueError
        If an argument is malformed or K is indefinite.
    ImportError
        If CVXPY is not installed.
    RuntimeError
        If the solver does not reach its tolerances.

    Notes
    -----
    000 (26), where the kernel is missing: W(alpha) = 1/2 alpha^T ((H^T H) o K) alpha - u^T alpha.
    Its quadratic term is sum_k beta_k^T K beta_k = ||G^T B||^2.
    """
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
    beta = cp.reshape(blkdiag_H @ alpha, (n, q), order="C")  # 000 (23)
    W = 0.5 * cp.sum_squares(G.T @ beta) - cp.sum(alpha)  # 000 (24)
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
# From the dual variables to the model: 000 (23), (27), (33)
# -------------------------------------------------------------------------------------------------
def recover(
    K: npt.ArrayLike, Y: npt.ArrayLike, alpha: Array, multipliers: Array, bias: Bias
) -> Solution:
    """Build the model that belongs to dual variables.

    Parameters
    ----------
    K : array_like, shape (n, n)
    Y : array_like of {0, 1}, shape (n, q)
    alpha : ndarray, shape (L,)
        Dual variables in the order of `exact.pairs(Y)`.
    multipliers : ndarray, shape (q,)
        Multipliers y of H alpha = 0 in the Lagrangian W(alpha) + y^T H alpha; only used when the
        bias is free.
    bias : {"free", "penalized", "none"}

    Returns
    -------
    Solution
        `objective` is the dual value.

    Notes
    -----
    The derivative of that Lagrangian for a pair inside its box is f_m - f_n - 1 + y_m - y_n = 0
    with f without bias, which is the margin equation of 000 (16) for b = y. A constant added to
    all b_k changes nothing: sum_k b_k = 0 is chosen.
    """
    K = np.asarray(K, dtype=np.float64)
    Y = exact.label_matrix(Y)
    pairs = exact.pairs(Y)
    n, q = Y.shape
    B = expansion(alpha, pairs, n, q)
    b = np.zeros(q)
    if bias == "free":
        b = multipliers - multipliers.mean()
    if bias == "penalized":
        b = B.sum(axis=0)  # 000 (33)
    F = K @ B + b  # 000 (27)
    return Solution(dual_objective(K, Y, B, bias), alpha, B, b, F, pairs)


def expansion(alpha: Array, pairs: Pairs, n: int, q: int) -> Array:
    """B, whose row i is beta_i = H_i alpha_i: 000 (21), (23), 002 (15).

    Parameters
    ----------
    alpha : ndarray, shape (L,)
    pairs : Pairs
    n, q : int
        Numbers of instances and labels.

    Returns
    -------
    ndarray, shape (n, q)
    """
    return np.asarray(exact.block_pair_matrix(pairs, n, q) @ alpha).reshape(n, q)


# -------------------------------------------------------------------------------------------------
# Frank-Wolfe: 000 section 7.1
# -------------------------------------------------------------------------------------------------
class FrankWolfe(NamedTuple):
    """The iterates p = 1, 2, ... of the Frank-Wolfe method.

    Parameters
    ----------
    solution : Solution
        The last iterate, where z was computed but no step was taken.
    objective : ndarray, shape (P,)
        Dual value -W(alpha) of every iterate.
    z : ndarray, shape (P,)
        z = d^T grad W(alpha), never positive; -z bounds the distance to the optimum.
    step : ndarray, shape (P,)
        Step length lambda; 0 for the last iterate.
    """

    solution: Solution
    objective: Array
    z: Array
    step: Array


def frank_wolfe(
    K: npt.ArrayLike,
    Y: npt.ArrayLike,
    C: float = 1.0,
    bias: Bias = "free",
    tol: float = 1e-3,
    max_iter: int = 50,
    start: npt.ArrayLike | None = None,
) -> FrankWolfe:
    """Run the published Frank-Wolfe loop on the dual problem.

    Parameters
    ----------
    K : array_like, shape (n, n)
        Kernel matrix, symmetric and positive semi-definite.
    Y : array_like of {0, 1}, shape (n, q)
        Relevant labels.
    C : float, default 1.0
        Weight of the loss, positive.
    bias : {"free", "penalized", "none"}, default "free"
    tol : float, default 1e-3
        Stop when ``|z| <= tol``, the published epsilon: an absolute bound on the distance to the
        optimum.
    max_iter : int, default 50
        Number of iterates, at least 1.
    start : array_like, shape (L,), optional
        Feasible alpha to start from, 0 by default.

    Returns
    -------
    FrankWolfe

    Raises
    ------
    ValueError
        If an argument is malformed or start is not feasible.
    RuntimeError
        If the linear programme is not solved.

    Notes
    -----
    000 section 7.1, steps 1 to 4, with the slip of (26) corrected and theta = -u in (42). With
    free bias the multipliers of H alpha = 0 in the linear programme serve as b: with them the
    duality gap is exactly -z. The linear programme often has many solutions, above all at
    alpha = 0, so that two programs follow the same path only where its solution is unique.
    """
    Kt, Y, pairs, c = problem_data(K, Y, C, bias)
    n, q = Y.shape
    H = exact.pair_matrix(pairs, q)
    if max_iter < 1:
        raise ValueError(f"max_iter is {max_iter}, expected at least 1")
    # Step 1
    alpha = np.zeros(len(c)) if start is None else np.array(start, dtype=np.float64)
    check_feasible(alpha, H, c, bias)
    history: list[tuple[float, float, float]] = []
    while True:
        F = Kt @ expansion(alpha, pairs, n, q)
        g = F[pairs.i, pairs.m] - F[pairs.i, pairs.n] - 1.0  # gradient of (42)
        # Step 2
        alpha_bar, multipliers = linear_programme(g, H, c, bias)  # (41)
        d = alpha_bar - alpha
        z = float(d @ g)
        W = 0.5 * float(alpha @ (g - 1.0))  # (42), since Theta alpha = g + u
        if abs(z) <= tol or len(history) == max_iter - 1:
            history.append((-W, z, 0.0))
            break
        # Step 3
        D = expansion(d, pairs, n, q)
        curvature = float(np.sum(D * (Kt @ D)))  # d^T Theta d
        step = 1.0 if curvature <= -z else -z / curvature  # (43)
        history.append((-W, z, step))
        # Step 4
        alpha = alpha + step * d
    objective, z_history, step_history = np.array(history).T
    solution = recover(K, Y, alpha, multipliers, bias)
    return FrankWolfe(solution, objective, z_history, step_history)


def linear_programme(g: Array, H: Array, c: Array, bias: Bias) -> tuple[Array, Array]:
    """Solve min g^T alpha over the feasible alpha: 000 (41).

    Parameters
    ----------
    g : ndarray, shape (L,)
        Gradient.
    H : sparse array, shape (q, L)
    c : ndarray, shape (L,)
        Upper bounds.
    bias : {"free", "penalized", "none"}
        The constraint H alpha = 0 is there only when the bias is free.

    Returns
    -------
    alpha : ndarray, shape (L,)
    multipliers : ndarray, shape (q,)
        y of H alpha = 0, in the Lagrangian g^T alpha + y^T H alpha.

    Raises
    ------
    RuntimeError
        If HiGHS does not solve it.
    """
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
    if result.status != 0:
        raise RuntimeError(f"HiGHS did not solve the linear programme: {result.message}")
    # marginals are derivatives of the optimum by the right-hand side, hence the sign
    return np.clip(result.x, 0.0, c), -result.eqlin.marginals


def check_feasible(alpha: Array, H: Array, c: Array, bias: Bias) -> None:
    """Check the constraints of 000 (24).

    Parameters
    ----------
    alpha : ndarray, shape (L,)
    H : sparse array, shape (q, L)
    c : ndarray, shape (L,)
    bias : {"free", "penalized", "none"}

    Raises
    ------
    ValueError
        If alpha is outside its box, or H alpha is not 0 with a free bias.
    """
    if alpha.shape != c.shape:
        raise ValueError(f"start has shape {alpha.shape}, expected {c.shape}: one entry a pair")
    if not ((alpha >= 0).all() and (alpha <= c).all()):
        raise ValueError("start leaves its box, expected 0 <= alpha <= C_i")
    slack = 1e-9 * c.sum()
    if bias == "free" and np.abs(H @ alpha).max(initial=0.0) > slack:
        raise ValueError("H start is not 0, as a free bias requires")


# -------------------------------------------------------------------------------------------------
# Dual coordinate descent: 002 section 3.3, algorithm 1 with lambda = 0
# -------------------------------------------------------------------------------------------------
class CoordinateDescent(NamedTuple):
    """The epochs of dual coordinate descent.

    Parameters
    ----------
    solution : Solution
        The point after the last epoch.
    objective : ndarray, shape (epochs,)
        Dual value -g(alpha) after every epoch.
    change : ndarray, shape (epochs,)
        ||alpha* - alpha|| of every epoch.
    B : list of ndarray, shape (n, q)
        Expansion coefficients after every epoch.
    """

    solution: Solution
    objective: Array
    change: Array
    B: list[Array]


def dual_coordinate_descent(
    K: npt.ArrayLike,
    Y: npt.ArrayLike,
    C: float = 1.0,
    bias: Bias = "penalized",
    tol: float = 1e-6,
    max_epochs: int = 1000,
    orders: Sequence[npt.ArrayLike] | None = None,
) -> CoordinateDescent:
    """Run the published coordinate descent: one pair at a time.

    Parameters
    ----------
    K : array_like, shape (n, n)
        Kernel matrix, symmetric and positive semi-definite.
    Y : array_like of {0, 1}, shape (n, q)
        Relevant labels.
    C : float, default 1.0
        Weight of the loss, positive.
    bias : {"penalized", "none"}, default "penalized"
        A free bias couples all pairs by H alpha = 0 and cannot be solved one pair at a time.
    tol : float, default 1e-6
        Stop when ||alpha* - alpha|| < tol over one epoch.
    max_epochs : int, default 1000
        Largest number of passes over all pairs, at least 1.
    orders : sequence of permutations of 0..n-1, optional
        Order of the instances in each epoch, repeated from the first one when it runs out; 0..n-1
        by default. Within an instance m ascends in the outer and n in the inner loop.

    Returns
    -------
    CoordinateDescent

    Raises
    ------
    ValueError
        If an argument is malformed.

    Notes
    -----
    002 algorithm 1 with lambda = 0, in kernel form (27): the scores F = Kt B take the place of
    W^T x_i. Printed are a loop over pairs (j, q) with an update of (p, q), and a stop rule that
    compares one step; here an epoch is one pass over all pairs, and the stop rule compares epochs.
    """
    if bias == "free":
        raise ValueError("bias is 'free', expected 'penalized' or 'none' for coordinate descent")
    if max_epochs < 1:
        raise ValueError(f"max_epochs is {max_epochs}, expected at least 1")
    Kt, Y, pairs, c = problem_data(K, Y, C, bias)
    n, q = Y.shape
    permutations = [np.arange(n)] if orders is None else [np.array(order) for order in orders]
    for order in permutations:
        if not np.array_equal(np.sort(order), np.arange(n)):
            raise ValueError(f"orders holds {order}, expected a permutation of 0..{n - 1}")

    # the pairs of instance i are alpha[first[i]:first[i + 1]]
    first = np.searchsorted(pairs.i, np.arange(n + 1))
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
    K: npt.ArrayLike, Y: npt.ArrayLike, C: float, B: Array, b: Array, bias: Bias
) -> float:
    """Primal value of a model: 000 (18), with the minimal slacks.

    Parameters
    ----------
    K : array_like, shape (n, n)
    Y : array_like of {0, 1}, shape (n, q)
    C : float
    B : ndarray, shape (n, q)
        Expansion coefficients.
    b : ndarray, shape (q,)
        Bias of the model f_k(x) = sum_i B[i, k] k(x, x_i) + b_k, whatever its treatment; zeros
        without bias.
    bias : {"free", "penalized", "none"}
        With "penalized" the value contains 1/2 sum_k b_k^2.

    Returns
    -------
    float

    Raises
    ------
    ValueError
        If an argument is malformed, or b is not 0 without bias.
    """
    if bias == "none" and np.any(b != 0):
        raise ValueError("b is not 0, expected zeros with bias 'none'")
    _, Y, pairs, c = problem_data(K, Y, C, bias)
    K = np.asarray(K, dtype=np.float64)
    squares = float(np.sum(B * (K @ B)))
    if bias == "penalized":
        squares += float(b @ b)
    return 0.5 * squares + hinge_loss(K @ B + b, pairs, c)


def hinge_loss(F: Array, pairs: Pairs, c: Array) -> float:
    """Weighted sum of the slacks xi_imn = max(0, 1 - (f_m(x_i) - f_n(x_i))): 000 (16), (18).

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
    xi = np.maximum(0.0, 1.0 - (F[pairs.i, pairs.m] - F[pairs.i, pairs.n]))
    return float(c @ xi)


def dual_objective(K: npt.ArrayLike, Y: npt.ArrayLike, B: Array, bias: Bias) -> float:
    """Dual value -W(alpha), which depends on alpha only through B: 000 (19), 002 (17).

    Parameters
    ----------
    K : array_like, shape (n, n)
    Y : array_like of {0, 1}, shape (n, q)
    B : ndarray, shape (n, q)
        Expansion coefficients.
    bias : {"free", "penalized", "none"}

    Returns
    -------
    float
        A lower bound of the optimum if `dual_infeasibility` is 0.

    Notes
    -----
    Every pair adds +alpha to one relevant label, so u^T alpha is the sum of beta_ki over the
    relevant labels k of all i.
    """
    Kt = exact.kernel_matrix(K, bias)
    return float(np.sum(B[np.asarray(Y) == 1]) - 0.5 * np.sum(B * (Kt @ B)))


def dual_infeasibility(Y: npt.ArrayLike, C: float, B: Array, bias: Bias) -> float:
    """Largest violation of the dual constraints by B, without knowing alpha.

    Parameters
    ----------
    Y : array_like of {0, 1}, shape (n, q)
    C : float
    B : ndarray, shape (n, q)
        Expansion coefficients.
    bias : {"free", "penalized", "none"}

    Returns
    -------
    float
        0 if some feasible alpha has beta_i = H_i alpha_i for all i.

    Notes
    -----
    alpha_i is a flow from the relevant labels, with supplies beta_im, to the irrelevant ones, with
    demands -beta_in, and capacity C_i on every pair. It exists if supplies and demands are not
    negative, have the same sum, and no cut is too small: for all s and t the s largest supplies
    are at most the sum of the t smallest demands and of the capacity C_i s (r_i - t) between the
    s labels and the others. An instance without pairs has beta_i = 0.
    """
    Y = exact.label_matrix(Y)
    violation = 0.0
    for i in range(Y.shape[0]):
        supply = np.sort(B[i, Y[i] == 1])[::-1]
        demand = np.sort(-B[i, Y[i] == 0])
        p_i, r_i = len(supply), len(demand)
        if p_i == 0 or r_i == 0:
            violation = max(violation, float(np.abs(B[i]).max(initial=0.0)))
            continue
        C_i = C / (p_i * r_i)
        violation = max(violation, -supply.min(), -demand.min(), abs(B[i].sum()))
        for s in range(p_i + 1):
            for t in range(r_i + 1):
                cut = demand[:t].sum() + C_i * s * (r_i - t)
                violation = max(violation, supply[:s].sum() - cut)
    if bias == "free":
        violation = max(violation, float(np.abs(B.sum(axis=0)).max(initial=0.0)))
    return float(violation)


def duality_gap(
    K: npt.ArrayLike, Y: npt.ArrayLike, C: float, B: Array, b: Array, bias: Bias
) -> float:
    """Primal value of the model minus dual value of B.

    Parameters
    ----------
    K : array_like, shape (n, n)
    Y : array_like of {0, 1}, shape (n, q)
    C : float
    B : ndarray, shape (n, q)
        Expansion coefficients.
    b : ndarray, shape (q,)
        Bias.
    bias : {"free", "penalized", "none"}

    Returns
    -------
    float
        Bounds the distance of both values to the optimum if `dual_infeasibility` is 0.
    """
    return primal_objective(K, Y, C, B, b, bias) - dual_objective(K, Y, B, bias)


def kkt_residual(
    K: npt.ArrayLike, Y: npt.ArrayLike, C: float, alpha: Array, b: Array, bias: Bias
) -> float:
    """Largest violation of the optimality conditions of the dual: 002 (21), (22).

    Parameters
    ----------
    K : array_like, shape (n, n)
    Y : array_like of {0, 1}, shape (n, q)
    C : float
    alpha : ndarray, shape (L,)
    b : ndarray, shape (q,)
        Bias of the model.
    bias : {"free", "penalized", "none"}

    Returns
    -------
    float
        ``max |alpha - clip(alpha - g, 0, C_i)|`` with g = f_m - f_n - 1, which unlike the projected
        gradient (22) is continuous at the ends of the box; with free bias also
        ``max |H alpha|``.
    """
    _, Y, pairs, c = problem_data(K, Y, C, bias)
    n, q = Y.shape
    F = np.asarray(K, dtype=np.float64) @ expansion(alpha, pairs, n, q) + b
    g = F[pairs.i, pairs.m] - F[pairs.i, pairs.n] - 1.0
    residual = float(np.abs(alpha - np.clip(alpha - g, 0.0, c)).max(initial=0.0))
    if bias == "free":
        H = exact.pair_matrix(pairs, q)
        residual = max(residual, float(np.abs(H @ alpha).max(initial=0.0)))
    return residual


# -------------------------------------------------------------------------------------------------
# Shared pieces
# -------------------------------------------------------------------------------------------------
def problem_data(
    K: npt.ArrayLike, Y: npt.ArrayLike, C: float, bias: Bias
) -> tuple[Array, npt.NDArray[np.int_], Pairs, Array]:
    """Check the arguments and build Kt, Y, the pairs and their weights.

    Parameters
    ----------
    K : array_like, shape (n, n)
    Y : array_like of {0, 1}, shape (n, q)
    C : float
    bias : {"free", "penalized", "none"}

    Returns
    -------
    Kt : ndarray, shape (n, n)
    Y : ndarray of int, shape (n, q)
    pairs : Pairs
    c : ndarray, shape (L,)

    Raises
    ------
    ValueError
        If an argument is malformed, or K and Y have different numbers of rows.
    """
    Kt = exact.kernel_matrix(K, bias)
    Y = exact.label_matrix(Y)
    if len(Kt) != len(Y):
        raise ValueError(f"K has {len(Kt)} rows and Y has {len(Y)}, expected the same number")
    pairs = exact.pairs(Y)
    return Kt, Y, pairs, exact.pair_weights(pairs, C)


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
    return Solution(0.0, np.zeros(0), zeros, np.zeros(q), zeros, pairs)
