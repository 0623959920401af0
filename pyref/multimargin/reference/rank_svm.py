"""Xu 2013, sections 2, 5 and 7.1: Rank-SVM (Elisseeff & Weston 2001) and Frank-Wolfe.

Every relevant label of an instance should have a higher score than every irrelevant one, by 1.
Equation numbers, letters and order are those of Xu 2013; code reads from top to bottom.

Dictionary::

    l, d, q            instances, features, labels; d is a direction in section 7.1  section 2
    X        l x d     instances x_i; features phi(x_i) of a kernel in (27)
    L_i                relevant labels of instance i; the others are irrelevant            (1)
    Y        l x q     1 on L_i, else 0; NaN is an unknown label, which has no pairs
    l_i, l_t           pairs of instance i, |L_i| |complement of L_i|, and of all   (22), (25)
    i, m, n  l_t each  instance, relevant and irrelevant label of each pair               (16)
    xi       l_t       slack variables xi_imn                                             (16)
    w        d x q     weights w_k as columns                                             (15)
    b        q         biases; only their differences matter, so they sum to 0            (15)
    C_i      l_t       C / l_i for each pair of instance i                                (19)
    alpha    l_t       dual variables alpha_imn; not unique                               (19)
    c        q x l_t   c_imn^k: 1 if m = k, -1 if n = k, else 0; the matrix H of (25)     (20)
    beta     l x q     beta_ki as beta[i, k]; row i is H_i alpha_i                  (21), (23)
    u        l_t       ones                                                               (25)
    K        l x l     kernel matrix K(x_i, x_j), x_i^T x_j if linear, K = G G^T; the K of (25)
                       repeats it on the pairs: K[i_s, i_t] for pairs s and t
    F        l x q     scores f_k(x_i) as F[i, k]                                         (27)
    t        l         thresholds t*(x_i)                                                  (2)
    s, s_0             coefficients of t(x) = sum_k s_k f_k(x) + s_0                section 5
    Theta    l_t x l_t (H^T H) o K, the matrix of the quadratic form                      (42)
    g, d     l_t       gradient Theta alpha - u, and direction alpha_bar - alpha  section 7.1
    W(alpha)           objective, minus a bound of (18)                                   (26)
    z, lam             slope d^T g and step length lambda                          (43), (44)
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from scipy.optimize import linprog

from multimargin.reference.interior_point import minimum
from multimargin.reference.matrices import root

Array = npt.NDArray[np.float64]
Labels = npt.NDArray[Any]


# --- Section 5: pairs of labels, and the primal problem
def check_labels(Y: Labels) -> None:
    """Raise ValueError for values other than 0, 1 and NaN, which stands for an unknown label."""
    wrong = Y[~(np.isin(Y, (0, 1)) | np.isnan(Y))]
    if wrong.size:
        raise ValueError(f"Y holds {wrong[0]}; expected 0, 1 and NaN only")


def pairs(Y: Labels) -> tuple[Labels, Labels, Labels]:
    """List i, m and n of all pairs, (m, n) in L_i x its complement, by instance, (16)."""
    check_labels(Y)
    i, m, n = np.nonzero((Y == 1)[:, :, None] & (Y == 0)[:, None, :])
    if not len(i):
        raise ValueError("Y has no row with a 1 and a 0; expected one, as there are no pairs")
    return i, m, n


def upper_bounds(Y: Labels, C: float) -> Array:
    """C_i of each pair, (19): C shared by the pairs of its instance; the C of (26)."""
    i, _, _ = pairs(Y)
    return np.asarray(C / np.bincount(i)[i])


def coefficients(Y: Labels) -> Array:
    """c_imn^k of (20) in row k, one column per pair: H of (25)."""
    _, m, n = pairs(Y)
    c = np.zeros((Y.shape[1], len(m)))
    c[m, np.arange(len(m))] = 1
    c[n, np.arange(len(n))] = -1
    return c


def blocks(Y: Labels) -> Any:
    """The sparse matrix that maps alpha to beta, (21), with one row per instance and label."""
    i, m, n = pairs(Y)
    plus, minus = i * Y.shape[1] + m, i * Y.shape[1] + n
    s, ones = np.arange(len(i)), np.ones(len(i))
    entries = (np.r_[ones, -ones], (np.r_[plus, minus], np.r_[s, s]))
    return sp.csc_array(entries, shape=(Y.size, len(i)))


def problem_18(X: Array, Y: Labels, C: float) -> tuple[float, Array, Array]:
    """Solve (18), the primal problem; return its value, w and b."""
    import cvxpy as cp

    i, m, n = pairs(Y)
    w, b = cp.Variable((X.shape[1], Y.shape[1])), cp.Variable((1, Y.shape[1]))
    xi = cp.Variable(len(i))
    f = X @ w + np.ones((len(X), 1)) @ b  # (15)
    constraints = [f[i, m] - f[i, n] >= 1 - xi, xi >= 0, cp.sum(b) == 0]  # (16)
    objective = cp.sum_squares(w) / 2 + upper_bounds(Y, C) @ xi  # (17) without its 1/l
    return minimum(objective, constraints), w.value, b.value.ravel()


# --- Section 5: the dual problem, and the model that belongs to its variables
def problem_26(K: Array, Y: Labels, C: float) -> tuple[float, Array, Array]:
    """Solve (26), the dual problem of (19); return the negative of (18), alpha and b."""
    import cvxpy as cp

    C_i, H = upper_bounds(Y, C), coefficients(Y)
    alpha = cp.Variable(len(C_i))
    beta = cp.reshape(blocks(Y) @ alpha, Y.shape, order="C")  # (21)
    W = cp.sum_squares(root(K).T @ beta) / 2 - cp.sum(alpha)  # sum_k beta_k^T K beta_k, K = G G^T
    constraints = [alpha >= 0, alpha <= C_i, H @ alpha == 0]
    value = minimum(W, constraints)
    # Where 0 < alpha < C_i, the derivative of W(alpha) + b^T H alpha is 0, which is (16) without
    # slack: w_m^T x_i - w_n^T x_i - 1 + b_m - b_n = 0. So b are the multipliers of H alpha = 0.
    b = constraints[-1].dual_value
    return value, alpha.value, b - b.mean()


def proxy(alpha: Array, Y: Labels) -> Array:
    """beta_ki, (21)."""
    i, m, n = pairs(Y)
    beta = np.zeros(Y.shape)
    np.add.at(beta, (i, m), alpha)
    np.add.at(beta, (i, n), -alpha)
    return beta


def scores(K: Array, beta: Array, b: Array) -> Array:
    """f_k(x) of rows x, from their kernel values K[x, i] with the training instances, (27)."""
    return K @ beta + b


def objective_18(K: Array, Y: Labels, C: float, beta: Array, b: Array) -> float:
    """Value of (18) with w_k = sum_i beta_ki x_i, an upper bound of the optimum."""
    i, m, n = pairs(Y)
    w = root(K).T @ beta  # in coordinates where K = G G^T: beta^T K beta cancels
    f = root(K) @ w + b
    xi = np.maximum(0, 1 - (f[i, m] - f[i, n]))
    return float(np.sum(w**2) / 2 + upper_bounds(Y, C) @ xi)


def objective_26(K: Array, Y: Labels, alpha: Array) -> float:
    """W(alpha) of (26), as in (19); if alpha is feasible, minus a lower bound of (18)."""
    w = root(K).T @ proxy(alpha, Y)
    return float(np.sum(w**2) / 2 - alpha.sum())


# --- End of section 5: thresholds, and the prediction (2)
def best_thresholds(F: Array, Y: Labels, margin: float = 1.0) -> Array:
    """t*(x_i) of least Hamming loss (7): the middle of the lowest such interval of scores.

    One `margin` of the scores beyond the lowest or the highest one where the interval is open.
    """
    t = np.zeros(len(F))
    for i in range(len(F)):
        f = np.sort(F[i])
        ends = np.concatenate([[f[0] - 2 * margin], f, [f[-1] + 2 * margin]])
        middles = (ends[:-1] + ends[1:]) / 2
        errors = [np.sum((F[i] >= middle) != (Y[i] == 1)) for middle in middles]
        t[i] = middles[np.argmin(errors)]
    return t


def threshold(F: Array, Y: Labels, margin: float = 1.0) -> tuple[Array, float]:
    """s_1, ..., s_q and s_0 by linear regression of t*(x_i) on the scores."""
    with_one = np.hstack([F, np.full((len(F), 1), margin)])
    s = np.linalg.lstsq(with_one, best_thresholds(F, Y, margin), rcond=None)[0]
    return s[:-1], margin * s[-1]


def predict(F: Array, s: Array, s_0: float) -> Labels:
    """Labels of scores: f_k(x) >= t(x), (2)."""
    t = F @ s + s_0
    return (t[:, None] <= F).astype(np.intp)


# --- Section 7.1: Frank-Wolfe
def linear_programme(g: Array, Y: Labels, C: float, free: bool = True) -> tuple[Array, Array]:
    """Solve (41), min g^T alpha subject to (26); also return the multipliers of H alpha = 0."""
    H, upper = coefficients(Y), upper_bounds(Y, C)
    if not free:
        return np.where(g < 0, upper, 0.0), np.zeros(len(H))
    found = linprog(
        g, A_eq=H, b_eq=np.zeros(len(H)), bounds=np.column_stack([0 * upper, upper]),
        options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
    )  # fmt: skip
    return np.clip(found.x, 0.0, upper), -found.eqlin.marginals


def frank_wolfe(
    K: Array,
    Y: Labels,
    C: float,
    epsilon: float = 1e-3,
    M: int = 50,
    alpha: Array | None = None,
    free: bool = True,
) -> tuple[Array, Array, list[tuple[float, float, float]]]:
    """Run steps 1 to 4; return alpha, b, and W(alpha), z and lambda of each of up to M epochs.

    epsilon and M are those of section 8.3. `free=False` omits H alpha = 0: no bias, or that of a
    kernel K + 1.
    """
    i, m, n = pairs(Y)
    alpha = np.zeros(len(i)) if alpha is None else alpha  # step 1, any feasible vector
    history = []
    for p in range(M):
        f = K @ proxy(alpha, Y)
        g = f[i, m] - f[i, n] - 1  # Theta alpha - u
        alpha_bar, b = linear_programme(g, Y, C, free)  # step 2
        d = alpha_bar - alpha
        z = d @ g
        W = alpha @ (g - 1) / 2  # (42), where Theta alpha = g + u
        if abs(z) <= epsilon or p == M - 1:
            history.append((W, z, 0.0))
            break
        D = proxy(d, Y)
        curvature = np.sum(D * (K @ D))  # d^T Theta d
        lam = -z / curvature if curvature > -z else 1.0  # step 3, (43)
        history.append((W, z, lam))
        alpha = alpha + lam * d  # step 4
    return alpha, b - b.mean(), history


# --- Slips in print, and what is left open
# * (24): the first sum runs to m; it runs to l.
# * (26): the kernel is missing; Theta is (H^T H) o K, as after (42).
# * (42): theta is -u in Rank-SVM, not u.
# * (42): Theta need not be positive definite: d^T Theta d of (43) may be 0; then the step is 1.
# * (48): f(x^(p+1)) is that of a step below 1.
# * (51): where the first step is 1, xi = 1 / lambda - 1 is too large; delta / beta - 1, both of the
#   first step, is at least -1, too, and does it.
# * (45): the linear programme is that of step 2, not 3.
# * Section 5: which threshold of least Hamming loss is meant; where the linear programme (41) has
#   several solutions, as at alpha = 0, two programs may take different ways.
# * Section 8.1: the step length of Rank-SVM is (43); (64) is that of Rank-CVM.
