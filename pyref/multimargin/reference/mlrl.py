"""MLRL and SSMLRL, the reference: paper 001 (sections 2 and 4, Appendix A).

    (6)   min over W, b, Omega   1/n sum_ij max(0, 1 - y_ij f_j(x_i)) + lam/2 tr(W Omega^-1 W^T)
          s.t.  Omega >= 0,  tr Omega = 1,        f_j(x) = w_j^T x + b_j

Every function takes the kernel matrix K of the training instances (X X^T for the linear kernel) and
the label matrix Y of 0 and 1; y_ij is then 2 Y_ij - 1. All objectives are given in the sign of the
primal problem, so that dual values bound it from below.

Papers and code:
    alpha_i^j                       alpha[i, j]
    alpha . y (signed)              Z = alpha * y, n x q; its columns sum to 0
    (1/lam) Omega (x) K             K_ML, never formed
    W                               phi(X)^T A, A = Z Omega / lam for a fixed Omega
    f_j^i of Appendix A             f[j, i], the gradient with the sign of the label
    K_ll, K_lu, K_uu                blocks of K; the labelled rows come first
"""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from multimargin.reference import exact
from multimargin.reference.exact import Array, Solver


class Solution(NamedTuple):
    """A model and the dual point that belongs to it.

    Parameters
    ----------
    objective : float
        Primal value of the problem that was solved, recomputed at this point.
    Z : ndarray, shape (n, q)
        Signed dual variables alpha . y.
    A : ndarray, shape (n, q)
        Expansion coefficients: f(x) = sum_i k(x, x_i) A[i] + b.
    b : ndarray, shape (q,)
        Bias.
    Omega : ndarray, shape (q, q)
        Label covariance.
    F : ndarray, shape (n, q)
        Scores of the training instances, with bias.
    """

    objective: float
    Z: Array
    A: Array
    b: Array
    Omega: Array
    F: Array


# -------------------------------------------------------------------------------------------------
# Fixed Omega: (8) and (10)
# -------------------------------------------------------------------------------------------------
def primal(
    K: npt.ArrayLike,
    Y: npt.ArrayLike,
    lam: float,
    Omega: npt.ArrayLike,
    solver: Solver = "clarabel",
) -> Solution:
    """Solve problem (8), the primal for a fixed label covariance.

    Parameters
    ----------
    K : array_like, shape (n, n)
        Kernel matrix, symmetric and positive semi-definite.
    Y : array_like of {0, 1}, shape (n, q)
        Relevant labels.
    lam : float
        Regularisation, positive.
    Omega : array_like, shape (q, q)
        Label covariance, symmetric and positive semi-definite.
    solver : {"clarabel", "scs"}, default "clarabel"

    Returns
    -------
    Solution
        `Z` comes from the multipliers of the margin constraints, everything else from the primal
        variables.

    Raises
    ------
    ValueError
        If an argument is malformed.
    ImportError
        If CVXPY is not installed.
    RuntimeError
        If the solver does not reach its tolerances.

    Notes
    -----
    With K = G G^T and Omega = S S^T put W = V S^T in the coordinates of G; then
    tr(W Omega^-1 W^T) = ||V||^2 for singular Omega, too.
    """
    K, y, Omega = problem_data(K, Y, lam, Omega)
    cp = exact.import_cvxpy()
    scale, size = exact.scale_of(exact.centred(K)), exact.scale_of(Omega)
    unit = lam / (scale * size)
    G = exact.factor(exact.centred(K), exact.scale_of(K)) / np.sqrt(scale)
    S = exact.factor(Omega) / np.sqrt(size)
    n, q = y.shape
    V = cp.Variable((G.shape[1], S.shape[1]))  # times the roots of both scales
    b = cp.Variable((1, q))
    xi = cp.Variable((n, q))
    margins = cp.multiply(y, G @ V @ S.T + np.ones((n, 1)) @ b) >= 1 - xi
    objective = cp.sum(xi) / n + unit / 2 * cp.sum_squares(V)  # (8)
    exact.solve_qp(cp.Problem(cp.Minimize(objective), [margins, xi >= 0]), solver)

    W = V.value @ S.T
    F = G @ W + b.value
    value = hinge(F, y) + unit / 2 * float(np.sum(V.value**2))
    A = expansion(G, W) / scale
    Z = feasible(margins.dual_value * y, y)
    return Solution(value, Z, A, (F - K @ A).mean(axis=0), Omega, F)


def dual(
    K: npt.ArrayLike,
    Y: npt.ArrayLike,
    lam: float,
    Omega: npt.ArrayLike,
    solver: Solver = "clarabel",
) -> tuple[float, Array]:
    """Solve problem (10), the dual for a fixed label covariance.

    Parameters
    ----------
    K : array_like, shape (n, n)
        Kernel matrix.
    Y : array_like of {0, 1}, shape (n, q)
        Relevant labels.
    lam : float
        Regularisation, positive.
    Omega : array_like, shape (q, q)
        Label covariance.
    solver : {"clarabel", "scs"}, default "clarabel"

    Returns
    -------
    value : float
        sum alpha - 1/(2 lam) tr(Z^T K Z Omega), recomputed at Z.
    Z : ndarray, shape (n, q)

    Raises
    ------
    ValueError, ImportError, RuntimeError
        As `primal`.
    """
    K, y, Omega = problem_data(K, Y, lam, Omega)
    cp = exact.import_cvxpy()
    G, S = exact.factor(K), exact.factor(Omega)
    n, _ = y.shape
    alpha = cp.Variable(y.shape)
    Z = cp.multiply(y, alpha)
    objective = cp.sum(alpha) - cp.sum_squares(G.T @ Z @ S) / (2 * lam)  # (10)
    constraints = [cp.sum(Z, axis=0) == 0, alpha >= 0, alpha <= 1 / n]
    exact.solve_qp(cp.Problem(cp.Maximize(objective), constraints), solver)
    return dual_objective(K, Z.value, lam, Omega), np.asarray(Z.value)


def dual_objective(K: npt.ArrayLike, Z: Array, lam: float, Omega: npt.ArrayLike) -> float:
    """Value of (10): sum alpha - 1/(2 lam) tr(Z^T K Z Omega).

    Parameters
    ----------
    K : array_like, shape (n, n)
    Z : ndarray, shape (n, q)
        Signed dual variables, feasible.
    lam : float
    Omega : array_like, shape (q, q)

    Returns
    -------
    float
        A lower bound of (8).
    """
    M = Z.T @ np.asarray(K) @ Z
    return float(np.abs(Z).sum() - np.sum(M * np.asarray(Omega)) / (2 * lam))


# -------------------------------------------------------------------------------------------------
# The joint problem (6), through the trace norm
# -------------------------------------------------------------------------------------------------
def joint(K: npt.ArrayLike, Y: npt.ArrayLike, lam: float, solver: Solver = "clarabel") -> Solution:
    """Solve problem (6).

    Parameters
    ----------
    K : array_like, shape (n, n)
        Kernel matrix.
    Y : array_like of {0, 1}, shape (n, q)
        Relevant labels.
    lam : float
        Regularisation, positive.
    solver : {"clarabel", "scs"}, default "clarabel"

    Returns
    -------
    Solution

    Raises
    ------
    ValueError, ImportError, RuntimeError
        As `primal`.

    Notes
    -----
    The minimum of tr(W Omega^-1 W^T) over Omega is (tr (W^T W)^{1/2})^2, the square of the trace
    norm of W: see the derivation below (11).
    """
    K, y, _ = problem_data(K, Y, lam, np.eye(np.shape(Y)[1]))
    cp = exact.import_cvxpy()
    scale = exact.scale_of(exact.centred(K))
    G = exact.factor(exact.centred(K), exact.scale_of(K)) / np.sqrt(scale)
    n, q = y.shape
    W = cp.Variable((G.shape[1], q))  # times the root of the scale
    b = cp.Variable((1, q))
    xi = cp.Variable((n, q))
    margins = cp.multiply(y, G @ W + np.ones((n, 1)) @ b) >= 1 - xi
    objective = cp.sum(xi) / n + lam / scale / 2 * cp.square(cp.normNuc(W))
    solve_trace_norm(cp.Problem(cp.Minimize(objective), [margins, xi >= 0]), solver)
    F = G @ W.value + b.value
    value = hinge(F, y) + lam / scale / 2 * float(np.linalg.norm(W.value, "nuc")) ** 2
    A = expansion(G, W.value) / scale
    return Solution(
        value,
        feasible(margins.dual_value * y, y),
        A,
        (F - K @ A).mean(axis=0),
        omega_step(W.value.T @ W.value),
        F,
    )


def feasible(Z: Array, y: Array) -> Array:
    """Move Z, which a solver left outside by its tolerance, into the domain of (10).

    Parameters
    ----------
    Z : ndarray, shape (n, q)
        Signed dual variables.
    y : ndarray of {-1, 1}, shape (n, q)

    Returns
    -------
    ndarray, shape (n, q)
        0 <= alpha <= 1/n; in each column the side with the larger sum is scaled down to the other.
    """
    alpha = np.clip(y * Z, 0.0, 1.0 / len(y))
    positive = np.where(y > 0, alpha, 0.0).sum(axis=0)
    negative = np.where(y < 0, alpha, 0.0).sum(axis=0)
    total = np.minimum(positive, negative)
    share_positive = total / np.where(positive > 0.0, positive, 1.0)
    share_negative = total / np.where(negative > 0.0, negative, 1.0)
    return np.asarray(y * alpha * np.where(y > 0, share_positive, share_negative))


def joint_bound(K: npt.ArrayLike, Z: Array, lam: float) -> float:
    """Value of the dual of (6): sum alpha - 1/(2 lam) lambda_max(Z^T K Z).

    Parameters
    ----------
    K : array_like, shape (n, n)
    Z : ndarray, shape (n, q)
        Signed dual variables, feasible.
    lam : float

    Returns
    -------
    float
        A lower bound of (6): (10) is at least this for every Omega with trace 1.
    """
    M = Z.T @ np.asarray(K) @ Z
    return float(np.abs(Z).sum() - np.linalg.eigvalsh(M)[-1] / (2 * lam))


def joint_objective(K: npt.ArrayLike, Y: npt.ArrayLike, lam: float, A: Array, b: Array) -> float:
    """Value of (6) at weights phi(X)^T A, with the best Omega.

    Parameters
    ----------
    K : array_like, shape (n, n)
    Y : array_like of {0, 1}, shape (n, q)
    lam : float
    A : ndarray, shape (n, q)
        Expansion coefficients.
    b : ndarray, shape (q,)
        Bias.

    Returns
    -------
    float
    """
    K, y, _ = problem_data(K, Y, lam, np.eye(np.shape(Y)[1]))
    WtW = A.T @ K @ A
    trace_norm = np.sqrt(np.maximum(np.linalg.eigvalsh(WtW), 0.0)).sum()
    return hinge(K @ A + b, y) + lam / 2 * float(trace_norm) ** 2


def dual_infeasibility(Y: npt.ArrayLike, Z: Array) -> float:
    """Largest violation of the constraints of (10).

    Parameters
    ----------
    Y : array_like of {0, 1}, shape (n, q)
    Z : ndarray, shape (n, q)

    Returns
    -------
    float
        0 if 0 <= alpha <= 1/n and the columns of Z sum to 0.
    """
    y = 2.0 * exact.label_matrix(Y) - 1.0
    alpha = y * Z
    box = np.maximum(-alpha, alpha - 1.0 / len(y)).max()
    return float(max(0.0, box, np.abs(Z.sum(axis=0)).max()))


# -------------------------------------------------------------------------------------------------
# The published algorithm
# -------------------------------------------------------------------------------------------------
def omega_step(WtW: Array) -> Array:
    """Omega = (W^T W)^{1/2} / tr(W^T W)^{1/2}, the solution of (11) and (23).

    Parameters
    ----------
    WtW : ndarray, shape (q, q)
        W^T W, or lam1 W^T W + lam2 F^T F.

    Returns
    -------
    ndarray, shape (q, q)
        I/q if W = 0.
    """
    eigenvalues, P = np.linalg.eigh(WtW)
    roots = np.sqrt(np.maximum(eigenvalues, 0.0))
    if roots.sum() == 0.0:
        return np.eye(len(WtW)) / len(WtW)
    return np.asarray((P * (roots / roots.sum())) @ P.T)


def smo(
    K: npt.ArrayLike,
    Y: npt.ArrayLike,
    lam: float,
    Omega: npt.ArrayLike,
    epsilon: float = 1e-3,
    Z: Array | None = None,
    max_steps: int = 100_000,
) -> tuple[Array, Array, int]:
    """Solve (10) by the SMO of Appendix A.

    Parameters
    ----------
    K : array_like, shape (n, n)
        Kernel matrix.
    Y : array_like of {0, 1}, shape (n, q)
        Relevant labels.
    lam : float
        Regularisation, positive.
    Omega : array_like, shape (q, q)
        Label covariance.
    epsilon : float, default 1e-3
        Stop when F_low <= F_up + epsilon for every label.
    Z : ndarray, shape (n, q), optional
        Feasible start; 0 if None.
    max_steps : int, default 100000
        Largest number of pair steps.

    Returns
    -------
    Z : ndarray, shape (n, q)
    b : ndarray, shape (q,)
        -gamma: the mean of -f over free instances, else the middle of -F_low and -F_up.
    steps : int
        Pair steps made.

    Raises
    ------
    ValueError
        If an argument is malformed.

    Notes
    -----
    The label with the largest F_low - F_up is taken; within it j is the index that attains F_low,
    and k the one of (31).
    """
    K, y, Omega = problem_data(K, Y, lam, Omega)
    n, q = y.shape
    tau = 1e-12
    C = 1.0 / n
    c, d = np.where(y > 0, 0.0, -C), np.where(y > 0, C, 0.0)  # (34): c <= Z <= d
    Z = np.zeros((n, q)) if Z is None else Z.copy()
    f = K @ Z @ Omega / lam - y
    diagonal = np.diag(K)
    steps = 0
    while True:
        F_up = np.where(d > Z, f, np.inf).min(axis=0)  # A_i
        F_low = np.where(c < Z, f, -np.inf).max(axis=0)  # B_i
        i = int(np.argmax(F_low - F_up))
        if F_low[i] <= F_up[i] + epsilon or steps == max_steps:
            break
        j = int(np.argmax(np.where(c[:, i] < Z[:, i], f[:, i], -np.inf)))
        b_jk = f[:, i] - f[j, i]
        a_jk = Omega[i, i] / lam * (diagonal[j] + diagonal - 2 * K[j])
        a_jk = np.where(a_jk > 0, a_jk, tau)
        candidates = (d[:, i] > Z[:, i]) & (b_jk < 0)
        k = int(np.argmin(np.where(candidates, -(b_jk**2) / a_jk, np.inf)))  # (31)
        t = -b_jk[k] / a_jk[k]
        t = min(t, d[k, i] - Z[k, i], Z[j, i] - c[j, i])  # (35)
        Z[j, i] -= t
        Z[k, i] += t
        f += t * np.outer(K[k] - K[j], Omega[i]) / lam  # (36)
        steps += 1
    return Z, bias(f, Z, y), steps


def bias(f: Array, Z: Array, y: Array) -> Array:
    """b = -gamma from the optimality conditions of Appendix A.

    Parameters
    ----------
    f : ndarray, shape (n, q)
        K Z Omega / lam - y.
    Z : ndarray, shape (n, q)
    y : ndarray of {-1, 1}, shape (n, q)

    Returns
    -------
    ndarray, shape (q,)
    """
    C = 1.0 / len(y)
    b = np.zeros(y.shape[1])
    for i in range(y.shape[1]):
        alpha = y[:, i] * Z[:, i]
        rounding = 1e-12 * C
        free = (alpha > rounding) & (alpha < C - rounding)  # I_0
        if free.any():
            b[i] = -f[free, i].mean()
            continue
        can_grow = np.where(y[:, i] > 0, alpha < C - rounding, alpha > rounding)
        F_up = f[can_grow, i].min(initial=np.inf)
        F_low = f[~can_grow, i].max(initial=-np.inf)
        b[i] = -(F_low + F_up) / 2 if np.isfinite(F_low + F_up) else y[0, i]
    return b


def alternate(
    K: npt.ArrayLike,
    Y: npt.ArrayLike,
    lam: float,
    max_iter: int = 20,
    epsilon: float = 1e-3,
    ridge: float = 0.0,
) -> tuple[Solution, list[float]]:
    """Run the published alternation: (10) by SMO, then Omega by (11).

    Parameters
    ----------
    K : array_like, shape (n, n)
        Kernel matrix.
    Y : array_like of {0, 1}, shape (n, q)
        Relevant labels.
    lam : float
        Regularisation, positive.
    max_iter : int, default 20
        Rounds.
    epsilon : float, default 1e-3
        Of the SMO.
    ridge : float, default 0.0
        A sub-problem uses (1 - ridge) Omega + ridge I/q, so that Omega is positive definite.

    Returns
    -------
    Solution
    history : list of float
        Objective (6) after every round.

    Raises
    ------
    ValueError
        If an argument is malformed.
    """
    K, y, _ = problem_data(K, Y, lam, np.eye(np.shape(Y)[1]))
    n, q = y.shape
    Omega = np.eye(q) / q
    Z = np.zeros((n, q))
    history = []
    for _ in range(max_iter):
        used = (1 - ridge) * Omega + ridge * np.eye(q) / q
        Z, b, _ = smo(K, Y, lam, used, epsilon, Z)
        A = Z @ used / lam  # (9)
        Omega = omega_step(A.T @ K @ A)
        history.append(joint_objective(K, Y, lam, A, b))
    return Solution(history[-1], Z, A, b, Omega, K @ A + b), history


# -------------------------------------------------------------------------------------------------
# SSMLRL: (14), (15), (21), (22)
# -------------------------------------------------------------------------------------------------
def semi_supervised_primal(
    K: npt.ArrayLike,
    Y: npt.ArrayLike,
    lam1: float,
    lam2: float,
    Omega: npt.ArrayLike | None = None,
    solver: Solver = "clarabel",
) -> tuple[float, Array]:
    """Solve (15) for a fixed Omega, or (14) when Omega is None, with F as a variable of its own.

    Parameters
    ----------
    K : array_like, shape (l + u, l + u)
        Kernel matrix, labelled rows first.
    Y : array_like of {0, 1}, shape (l, q)
        Relevant labels of the labelled rows.
    lam1, lam2 : float
        Regularisation, both positive.
    Omega : array_like, shape (q, q), optional
        Label covariance.
    solver : {"clarabel", "scs"}, default "clarabel"

    Returns
    -------
    objective : float
        Value, recomputed at the weights returned.
    F : ndarray, shape (l + u, q)
        Scores of all rows, with bias.

    Raises
    ------
    ValueError, ImportError, RuntimeError
        As `primal`.

    Notes
    -----
    With Omega = S S^T, W = V S^T and F_u = U S^T, (15) regularises ||V||^2 and ||U||^2. The minimum
    over Omega of both traces together is the square of the trace norm of W and F_u, scaled by the
    roots of lam1 and lam2, one below the other.
    """
    y = np.asarray(2.0 * exact.label_matrix(Y) - 1.0, dtype=np.float64)
    labelled, q = y.shape
    K, _, covariance = problem_data(
        K, np.zeros((len(np.asarray(K)), q)), lam1, np.eye(q) if Omega is None else Omega
    )
    cp = exact.import_cvxpy()
    G, S = exact.factor(K), exact.factor(covariance)
    V = cp.Variable((G.shape[1], S.shape[1]))
    U = cp.Variable((len(K) - labelled, S.shape[1]))
    b = cp.Variable((1, q))
    xi = cp.Variable((labelled, q))
    scores = G[:labelled] @ V @ S.T + np.ones((labelled, 1)) @ b
    constraints = [
        cp.multiply(y, scores) >= 1 - xi,
        xi >= 0,
        G[labelled:] @ V == U,
    ]
    stacked = cp.vstack([np.sqrt(lam1) * V, np.sqrt(lam2) * U])
    penalty = cp.square(cp.normNuc(stacked)) if Omega is None else cp.sum_squares(stacked)
    objective = cp.sum(xi) / labelled + penalty / 2  # (14), (15)
    problem = cp.Problem(cp.Minimize(objective), constraints)
    (solve_trace_norm if Omega is None else exact.solve_qp)(problem, solver)

    F = G @ V.value @ S.T + b.value
    both = np.vstack([np.sqrt(lam1) * V.value, np.sqrt(lam2) * G[labelled:] @ V.value])
    norm = np.linalg.norm(both, "nuc" if Omega is None else "fro")
    return hinge(F[:labelled], y) + float(norm) ** 2 / 2, F


def data_dependent_kernel(K: npt.ArrayLike, labelled: int, c: float) -> Array:
    """Kernel (22) among all rows: k'(x, z) = k(x, z) - k_u(x)^T (c I + K_uu)^-1 k_u(z).

    Parameters
    ----------
    K : array_like, shape (l + u, l + u)
        Kernel matrix, labelled rows first.
    labelled : int
        l.
    c : float
        lam1 / lam2.

    Returns
    -------
    ndarray, shape (l + u, l + u)
        Its leading l x l block is the kernel of (21).
    """
    K = np.asarray(K, dtype=np.float64)
    K_uu, K_u = K[labelled:, labelled:], K[labelled:]
    return np.asarray(K - K_u.T @ np.linalg.solve(c * np.eye(len(K_uu)) + K_uu, K_u))


# -------------------------------------------------------------------------------------------------
# Shared pieces
# -------------------------------------------------------------------------------------------------
def hinge(F: Array, y: Array) -> float:
    """Return 1/n sum_ij max(0, 1 - y_ij f_j(x_i)), the loss of (6).

    Parameters
    ----------
    F : ndarray, shape (n, q)
        Scores.
    y : ndarray of {-1, 1}, shape (n, q)

    Returns
    -------
    float
    """
    return float(np.maximum(0.0, 1.0 - y * F).sum() / len(y))


def solve_trace_norm(problem: Any, solver: Solver) -> None:
    """Solve a CVXPY problem with a semidefinite cone.

    Parameters
    ----------
    problem : cvxpy.Problem
        Solved in place.
    solver : {"clarabel", "scs"}

    Raises
    ------
    RuntimeError
        If the solver does not reach its tolerances.

    Notes
    -----
    The settings of `exact.solve_qp` are those of quadratic programmes. On a semidefinite cone
    Clarabel gets to 1e-11 most of the time, and to 1e-8, its own tolerance, nearly always.
    """
    if solver != "clarabel":
        exact.solve_qp(problem, solver)
        return
    statuses = []
    for tolerance in (1e-11, 1e-10, 1e-9, 1e-8):
        settings = dict.fromkeys(("tol_gap_abs", "tol_gap_rel", "tol_feas"), tolerance)
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="Solution may be inaccurate")
            try:
                problem.solve(solver="CLARABEL", **settings)
            except exact.import_cvxpy().SolverError:
                statuses.append("solver_error")
                continue
        if problem.status == "optimal":
            return
        statuses.append(str(problem.status))
    raise exact.failure(solver, statuses)


def expansion(G: Array, W: Array) -> Array:
    """A with W = G^T A, for K = G G^T: the weights in terms of the instances.

    Parameters
    ----------
    G : ndarray, shape (n, r)
        Factor of the kernel matrix.
    W : ndarray, shape (r, q)
        Weights in the coordinates of G.

    Returns
    -------
    ndarray, shape (n, q)
        The one of smallest norm.
    """
    return np.asarray(np.linalg.lstsq(G.T, W, rcond=None)[0])


def problem_data(
    K: npt.ArrayLike, Y: npt.ArrayLike, lam: float, Omega: npt.ArrayLike
) -> tuple[Array, Any, Array]:
    """Check the arguments and turn 0 and 1 into -1 and 1.

    Parameters
    ----------
    K : array_like, shape (n, n)
    Y : array_like of {0, 1}, shape (n, q)
    lam : float
    Omega : array_like, shape (q, q)

    Returns
    -------
    K : ndarray, shape (n, n)
    y : ndarray of {-1, 1}, shape (n, q)
    Omega : ndarray, shape (q, q)

    Raises
    ------
    ValueError
        If an argument is malformed or the shapes do not fit together.
    """
    K = exact.kernel_matrix(K, "none")
    y = 2.0 * exact.label_matrix(Y) - 1.0
    Omega = exact.kernel_matrix(Omega, "none")
    if len(K) != len(y):
        raise ValueError(f"K has {len(K)} rows and Y has {len(y)}, expected the same number")
    if len(Omega) != y.shape[1]:
        raise ValueError(f"Omega has {len(Omega)} rows and Y has {y.shape[1]} labels")
    if not (np.isfinite(lam) and lam > 0):
        raise ValueError(f"lam is {lam}, expected a positive finite number")
    return K, y, Omega
