"""MLRL and SSMLRL: support vector machines with a learned label covariance (Zhang & Yeung 2013).

The problem of MLRL is Zhang & Yeung 2013, eq. (6)::

    min over W, b, Omega   1/n sum_ij max(0, 1 - y_ij f_j(x_i)) + lam/2 tr(W Omega^-1 W^T)
    s.t.  Omega >= 0,  tr Omega = 1,        f_j(x) = w_j^T phi(x) + b_j

For a fixed Omega its dual is eq. (10), here with the sign of the primal problem, which it bounds
from below::

    max  sum alpha - 1/(2 lam) tr(Z^T K Z Omega)
    s.t. column sums of Z are 0,  0 <= alpha <= 1/n

Minimised over Omega, tr(W Omega^-1 W^T) is the squared trace norm of W (derivation below (11)), and
the dual of the whole problem (6) has lambda_max(Z^T K Z) in place of tr(Z^T K Z Omega).
SSMLRL, eq. (14), adds lam2/2 tr(F_u Omega^-1 F_u^T), the scores of unlabelled rows without bias.
Equation numbers are those of Zhang & Yeung 2013.

Dictionary::

    n, q                   instances, labels (Zhang & Yeung: m); l labelled, u unlabelled rows
    lam, lam1, lam2        regularisation, > 0                                        (6), (14)
    Y, y         n x q     relevant labels as 0 and 1 (NaN: unknown); as -1 and 1, y_ij
    h            n x q     weight of each hinge: 1/n, with weights of the rows their shares; 0 where
                           Y is unknown, and n counts the rows with a known label
    K            n x n     kernel matrix (linear: X X^T); SSMLRL: l + u rows, labelled first
    Omega        q x q     label covariance; K_ML = (1/lam) Omega (x) K is never formed    (10)
    alpha, Z     n x q     dual variables alpha_i^j, and Z = alpha . y (App. A: alpha tilde) (34)
    A            n x q     expansion, W = phi(X)^T A; A = Z Omega / lam for a fixed Omega   (9)
    F            n x q     scores with bias, K A + b
    b            q         bias, -gamma of Appendix A
    f            n x q     f_j^i of Appendix A as f[j, i]: K Z Omega / lam - y, the gradient
                           times the sign of the label
    F_up, F_low  q         smallest f that may grow, largest f that may shrink          App. A
    c, d         n x q     bounds of Z                                                     (34)
    a_jk, b_jk   n         curvature and slope of the pairs (j, k) of a label       (32), (35)
    G, W, V, S             K = G G^T (centred where b is free), W in coordinates of G;
                           Omega = S S^T, W = V S^T and tr(W Omega^-1 W^T) = ||V||^2
    K_u, K_uu              blocks of K: unlabelled x all rows, unlabelled x unlabelled      (19)
"""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from multimargin.reference import exact
from multimargin.reference.exact import Array, Solver


class Solution(NamedTuple):
    """A model and its dual point; `objective` is the primal value of the problem solved."""

    objective: float
    Z: Array
    A: Array
    b: Array
    Omega: Array
    F: Array


# -------------------------------------------------------------------------------------------------
# Fixed Omega: primal (8) and dual (10)
# -------------------------------------------------------------------------------------------------
def primal(
    K: ArrayLike,
    Y: ArrayLike,
    lam: float,
    Omega: ArrayLike,
    solver: Solver = "clarabel",
    h: Array | None = None,
) -> Solution:
    """Solve (8), the primal for a fixed Omega; Z comes from the multipliers of the margins."""
    K, y, Omega = problem_data(K, Y, lam, Omega)
    h = shares(Y) if h is None else h
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
    objective = cp.sum(cp.multiply(h, xi)) + unit / 2 * cp.sum_squares(V)  # (8)
    exact.solve_qp(cp.Problem(cp.Minimize(objective), [margins, xi >= 0]), solver)

    W = V.value @ S.T
    F = G @ W + b.value
    value = hinge(F, y, h) + unit / 2 * float(np.sum(V.value**2))
    A = expansion(G, W) / scale
    Z = feasible(margins.dual_value * y, y, h)
    return Solution(value, Z, A, (F - K @ A).mean(axis=0), Omega, F)


def dual(
    K: ArrayLike,
    Y: ArrayLike,
    lam: float,
    Omega: ArrayLike,
    solver: Solver = "clarabel",
) -> tuple[float, Array]:
    """Solve (10), the dual for a fixed Omega; return its value and Z."""
    K, y, Omega = problem_data(K, Y, lam, Omega)
    cp = exact.import_cvxpy()
    G, S = exact.factor(K), exact.factor(Omega)
    alpha = cp.Variable(y.shape)
    Z = cp.multiply(y, alpha)
    objective = cp.sum(alpha) - cp.sum_squares(G.T @ Z @ S) / (2 * lam)  # (10)
    constraints = [cp.sum(Z, axis=0) == 0, alpha >= 0, alpha <= shares(Y)]
    exact.solve_qp(cp.Problem(cp.Maximize(objective), constraints), solver)
    return dual_objective(K, Z.value, lam, Omega), np.asarray(Z.value)


def dual_objective(K: ArrayLike, Z: Array, lam: float, Omega: ArrayLike) -> float:
    """Value of (10): sum alpha - 1/(2 lam) tr(Z^T K Z Omega), a lower bound of (8)."""
    M = Z.T @ np.asarray(K) @ Z
    return float(np.abs(Z).sum() - np.sum(M * np.asarray(Omega)) / (2 * lam))


# -------------------------------------------------------------------------------------------------
# The joint problem (6), through the trace norm
# -------------------------------------------------------------------------------------------------
def joint(
    K: ArrayLike,
    Y: ArrayLike,
    lam: float,
    solver: Solver = "clarabel",
    h: Array | None = None,
) -> Solution:
    """Solve (6) with the squared trace norm of W."""
    K, y, _ = problem_data(K, Y, lam, np.eye(np.shape(Y)[1]))
    h = shares(Y) if h is None else h
    cp = exact.import_cvxpy()
    scale = exact.scale_of(exact.centred(K))
    G = exact.factor(exact.centred(K), exact.scale_of(K)) / np.sqrt(scale)
    n, q = y.shape
    W = cp.Variable((G.shape[1], q))  # times the root of the scale
    b = cp.Variable((1, q))
    xi = cp.Variable((n, q))
    margins = cp.multiply(y, G @ W + np.ones((n, 1)) @ b) >= 1 - xi
    objective = cp.sum(cp.multiply(h, xi)) + lam / scale / 2 * cp.square(cp.normNuc(W))
    solve_trace_norm(cp.Problem(cp.Minimize(objective), [margins, xi >= 0]), solver)
    F = G @ W.value + b.value
    value = hinge(F, y, h) + lam / scale / 2 * float(np.linalg.norm(W.value, "nuc")) ** 2
    A = expansion(G, W.value) / scale
    return Solution(
        value,
        feasible(margins.dual_value * y, y, h),
        A,
        (F - K @ A).mean(axis=0),
        omega_step(W.value.T @ W.value),
        F,
    )


def feasible(Z: Array, y: Array, h: Array) -> Array:
    """Move Z, which a solver left outside by its tolerance, into the domain of (10)."""
    # In each column the side with the larger sum is scaled down to the other.
    alpha = np.clip(y * Z, 0.0, h)
    positive = np.where(y > 0, alpha, 0.0).sum(axis=0)
    negative = np.where(y < 0, alpha, 0.0).sum(axis=0)
    total = np.minimum(positive, negative)
    share_positive = total / np.where(positive > 0.0, positive, 1.0)
    share_negative = total / np.where(negative > 0.0, negative, 1.0)
    return np.asarray(y * alpha * np.where(y > 0, share_positive, share_negative))


def joint_bound(K: ArrayLike, Z: Array, lam: float) -> float:
    """Dual value sum alpha - 1/(2 lam) lambda_max(Z^T K Z), a lower bound of (6)."""
    M = Z.T @ np.asarray(K) @ Z
    return float(np.abs(Z).sum() - np.linalg.eigvalsh(M)[-1] / (2 * lam))


def joint_objective(
    K: ArrayLike, Y: ArrayLike, lam: float, A: Array, b: Array, h: Array | None = None
) -> float:
    """Value of (6) at weights phi(X)^T A, with the best Omega."""
    K, y, _ = problem_data(K, Y, lam, np.eye(np.shape(Y)[1]))
    WtW = A.T @ K @ A
    trace_norm = np.sqrt(np.maximum(np.linalg.eigvalsh(WtW), 0.0)).sum()
    return hinge(K @ A + b, y, shares(Y) if h is None else h) + lam / 2 * float(trace_norm) ** 2


def dual_infeasibility(Y: ArrayLike, Z: Array) -> float:
    """Largest violation of the constraints of (10): 0 <= alpha <= h, column sums of Z 0."""
    alpha = signs(Y) * Z
    box = np.maximum(-alpha, alpha - shares(Y)).max()
    return float(max(0.0, box, np.abs(Z.sum(axis=0)).max()))


# -------------------------------------------------------------------------------------------------
# The published algorithm
# -------------------------------------------------------------------------------------------------
def omega_step(WtW: Array) -> Array:
    """Omega = (W^T W)^{1/2} / tr(W^T W)^{1/2}, the solution of (11) and (23); I/q if W = 0."""
    eigenvalues, P = np.linalg.eigh(WtW)
    roots = np.sqrt(np.maximum(eigenvalues, 0.0))
    if roots.sum() == 0.0:
        return np.eye(len(WtW)) / len(WtW)
    return np.asarray((P * (roots / roots.sum())) @ P.T)


def smo(
    K: ArrayLike,
    Y: ArrayLike,
    lam: float,
    Omega: ArrayLike,
    epsilon: float = 1e-3,
    Z: Array | None = None,
    max_steps: int = 100_000,
) -> tuple[Array, Array, int]:
    """Solve (10) by the SMO of Appendix A from Z (default 0); return Z, b and the steps made."""
    # The label with the largest F_low - F_up is taken; it ends when none exceeds epsilon.
    K, y, Omega = problem_data(K, Y, lam, Omega)
    n, q = y.shape
    tau = 1e-12
    C = shares(Y)
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
    return Z, bias(f, Z, y, C), steps


def bias(f: Array, Z: Array, y: Array, h: Array) -> Array:
    """b = -gamma: the mean of -f over free instances, else the middle of -F_low and -F_up."""
    b = np.zeros(y.shape[1])
    for i in range(y.shape[1]):
        alpha, C = y[:, i] * Z[:, i], h[:, i]
        rounding = 1e-12 * C.max()
        free = (alpha > rounding) & (alpha < C - rounding)  # I_0
        if free.any():
            b[i] = -f[free, i].mean()
            continue
        can_grow = np.where(y[:, i] > 0, alpha < C - rounding, alpha > rounding)
        known = C > 0.0
        F_up = f[can_grow & known, i].min(initial=np.inf)
        F_low = f[~can_grow & known, i].max(initial=-np.inf)
        b[i] = -(F_low + F_up) / 2 if np.isfinite(F_low + F_up) else y[0, i]
    return b


def alternate(
    K: ArrayLike,
    Y: ArrayLike,
    lam: float,
    max_iter: int = 20,
    epsilon: float = 1e-3,
    ridge: float = 0.0,
) -> tuple[Solution, list[float]]:
    """Alternate (10) by SMO and Omega by (11); return also the values of (6)."""
    # A sub-problem uses (1 - ridge) Omega + ridge I/q, so that Omega is positive definite.
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
# SSMLRL: (14), (15), (22)
# -------------------------------------------------------------------------------------------------
def semi_supervised_primal(
    K: ArrayLike,
    Y: ArrayLike,
    lam1: float,
    lam2: float,
    Omega: ArrayLike | None = None,
    solver: Solver = "clarabel",
) -> tuple[float, Array]:
    """Solve (15) for a fixed Omega, else (14), with F_u as a variable; return the value and F."""
    # With Omega = S S^T, W = V S^T and F_u = U S^T, (15) regularises ||V||^2 and ||U||^2. The
    # minimum over Omega of both traces is the square of the trace norm of W and F_u, scaled by
    # the roots of lam1 and lam2, one below the other.
    y, h = signs(Y), shares(Y)
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
    objective = cp.sum(cp.multiply(h, xi)) + penalty / 2  # (14), (15)
    problem = cp.Problem(cp.Minimize(objective), constraints)
    (solve_trace_norm if Omega is None else exact.solve_qp)(problem, solver)

    F = G @ V.value @ S.T + b.value
    both = np.vstack([np.sqrt(lam1) * V.value, np.sqrt(lam2) * G[labelled:] @ V.value])
    norm = np.linalg.norm(both, "nuc" if Omega is None else "fro")
    return hinge(F[:labelled], y, h) + float(norm) ** 2 / 2, F


def data_dependent_kernel(K: ArrayLike, labelled: int, c: float) -> Array:
    """Kernel (22): k'(x, z) = k(x, z) - k_u(x)^T (c I + K_uu)^-1 k_u(z), with c = lam1/lam2."""
    K = np.asarray(K, dtype=np.float64)
    K_uu, K_u = K[labelled:, labelled:], K[labelled:]
    return np.asarray(K - K_u.T @ np.linalg.solve(c * np.eye(len(K_uu)) + K_uu, K_u))


# -------------------------------------------------------------------------------------------------
# Shared pieces
# -------------------------------------------------------------------------------------------------
def signs(Y: ArrayLike) -> Array:
    """Return 2 Y - 1, and -1 for an unknown label, whose weight is 0."""
    return np.where(exact.label_matrix(Y) == 1, 1.0, -1.0)


def shares(Y: ArrayLike) -> Array:
    """Weights h of the hinges: a row's share of all rows with a known label."""
    known = exact.label_matrix(Y) >= 0
    return np.asarray(known / max(known.any(axis=1).sum(), 1))


def hinge(F: Array, y: Array, h: Array) -> float:
    """Return sum_ij h_ij max(0, 1 - y_ij f_j(x_i)), the loss of (6)."""
    return float(np.sum(h * np.maximum(0.0, 1.0 - y * F)))


def solve_trace_norm(problem: Any, solver: Solver) -> None:
    """Solve a CVXPY problem with a semidefinite cone in place."""
    # The settings of `exact.solve_qp` are those of quadratic programmes. On a semidefinite cone
    # Clarabel gets to 1e-11 most of the time, and to 1e-8, its own tolerance, nearly always.
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
    """A of smallest norm with W = G^T A: the weights in terms of the instances.

    G G^T is a centred kernel, so the columns of A sum to 0, to which rounding has to be brought:
    the norm A^T K A of the weights is that of W under the kernel K itself only then.
    """
    A = np.linalg.lstsq(G.T, W, rcond=None)[0]
    return np.asarray(A - A.mean(axis=0))


def problem_data(
    K: ArrayLike, Y: ArrayLike, lam: float, Omega: ArrayLike
) -> tuple[Array, Any, Array]:
    """Check the arguments and turn 0 and 1 into -1 and 1."""
    K = exact.kernel_matrix(K, "none")
    y = signs(Y)
    Omega = exact.kernel_matrix(Omega, "none")
    if len(K) != len(y):
        raise ValueError(f"K has {len(K)} rows and Y has {len(y)}, expected the same number")
    if len(Omega) != y.shape[1]:
        raise ValueError(f"Omega has {len(Omega)} rows and Y has {y.shape[1]} labels")
    if not (np.isfinite(lam) and lam > 0):
        raise ValueError(f"lam is {lam}, expected a positive finite number")
    return K, y, Omega
