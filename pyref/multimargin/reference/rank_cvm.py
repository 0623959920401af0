"""Xu 2013, sections 6 and 7: Rank-CVM, the multi-label core vector machine.

A relevant label should be rho above an irrelevant one, rho is rewarded, and a pair that falls short
costs the square of the shortfall. The bias is penalised, too. Equation numbers, letters and order
are those of Xu 2013; section 4, the binary core vector machine, is `binary`, and section 5, with
pairs and H, is `rank_svm`.

Dictionary::

    l, d, q            instances, features, labels                                   section 2
    X        l x d     instances x_i
    Y        l x q     1 on L_i, the relevant labels of instance i, else 0                 (1)
    i, m, n  l_t each  instance, relevant and irrelevant label of each pair               (28)
    rho, nu            margin > 0, and its reward; nu = 1 from (37) on              (28), (30)
    xi       l_t       slack variables xi_imn                                             (28)
    w, b     d x q, q  weights w_k as columns, and biases                                 (30)
    C_i      l_t       C / l_i for each of the l_i pairs of instance i                    (31)
    alpha    l_t       dual variables alpha_imn                                           (31)
    beta     l x q     beta_ki as beta[i, k]                                              (32)
    K        l x l     kernel matrix K(x_i, x_j), x_i^T x_j if linear
    H        q x l_t   c_imn^k: 1 in row m, -1 in row n of each pair's column       (20), (25)
    D        l_t x l_t diagonal matrix of 1 / C_i                                         (38)
    Theta    l_t x l_t (H^T H) o K + H^T H + D; its column s is Theta_s             (38), (53)
    u        l_t       ones                                                               (37)
    g        l_t       gradient Theta alpha                                               (59)
    s                  the pair i'j' with the smallest entry of g                         (61)
    z, lam             slope of the objective, and step length lambda               (62), (64)
    epsilon, M         stop at |z| < epsilon or after M epochs of l_t iterations   section 7.4
"""

from __future__ import annotations

import numpy as np

from multimargin.reference import rank_svm
from multimargin.reference.interior_point import minimum
from multimargin.reference.rank_svm import Array, Labels, coefficients, pairs, upper_bounds


# --- Section 6: primal and dual problem
def problem_30(X: Array, Y: Labels, C: float, nu: float = 1.0) -> tuple[float, Array, Array, float]:
    """Solve (30), the primal problem; return its value, w, b and rho."""
    import cvxpy as cp

    i, m, n = pairs(Y)
    w, b = cp.Variable((X.shape[1], Y.shape[1])), cp.Variable((1, Y.shape[1]))
    xi, rho = cp.Variable(len(i)), cp.Variable(nonneg=True)  # rho > 0 at the optimum
    f = X @ w + np.ones((len(X), 1)) @ b
    constraints = [f[i, m] - f[i, n] >= rho - xi]  # (28); the squares need no xi >= 0
    squares = cp.sum_squares(w) + cp.sum_squares(b)
    objective = squares / 2 - nu * rho + upper_bounds(Y, C) @ cp.square(xi) / 2
    return minimum(objective, constraints), w.value, b.value.ravel(), rho.value


def problem_37(K: Array, Y: Labels, C: float) -> tuple[float, Array]:
    """Solve (37), the dual problem for nu = 1; return its value W(alpha), -(30), and alpha."""
    import cvxpy as cp

    Theta = quadratic_form(K, Y, C)
    alpha = cp.Variable(len(Theta))
    W = cp.quad_form(alpha, cp.psd_wrap(Theta)) / 2
    return minimum(W, [cp.sum(alpha) == 1, alpha >= 0]), alpha.value


def quadratic_form(K: Array, Y: Labels, C: float) -> Array:
    """Theta, (38)."""
    i, _, _ = pairs(Y)
    H = coefficients(Y)
    return (H.T @ H) * K[np.ix_(i, i)] + H.T @ H + np.diag(1 / upper_bounds(Y, C))


def scores(K: Array, beta: Array) -> Array:
    """f_k(x) by (27) with the bias (33): b_k = sum_i beta_ki."""
    return K @ beta + beta.sum(axis=0)


# --- Sections 7.2 to 7.4: Frank-Wolfe on the simplex
def frank_wolfe(
    K: Array, Y: Labels, C: float, epsilon: float = 1e-3, M: float = 50
) -> tuple[Array, list[tuple[int, float, float, float]]]:
    """Run section 7.4; return beta, and s, lambda, W(alpha) and z of every iteration."""
    i, m, n = pairs(Y)
    C_i = upper_bounds(Y, C)
    diagonal = 2 * (K[i, i] + 1) + 1 / C_i  # (54)

    def column(s: int) -> Array:
        """Theta_s, (53)."""
        h = (m == m[s]) * 1.0 - (m == n[s]) - (n == m[s]) + (n == n[s])  # sum_k h_k h_ks
        Theta_s = h * (K[i, i[s]] + 1)
        Theta_s[s] += 1 / C_i[s]
        return np.asarray(Theta_s)

    # Step 1
    s = int(np.argmin(diagonal))  # (55), and the first pair of that instance
    W = diagonal[s] / 2  # (57)
    beta = np.zeros(Y.shape)
    beta[i[s], m[s]], beta[i[s], n[s]] = 1, -1  # (58)
    g = column(s)  # (60)
    history = []
    last = round(M * len(i))
    for p in range(1, last + 1):
        s = int(np.argmin(g))  # step 2
        z = g[s] - 2 * W  # step 3, (62)
        if abs(z) < epsilon or p == last:  # or step 6
            history.append((s, 0.0, W, z))
            break
        lam = min(-z / (diagonal[s] - 2 * g[s] + 2 * W), 1.0)  # step 4, (63) and (64)
        history.append((s, lam, W, z))
        # Step 5
        W = (1 - lam) ** 2 * W + lam * (1 - lam) * g[s] + lam**2 * diagonal[s] / 2  # (68)
        beta *= 1 - lam  # (67)
        beta[i[s], m[s]] += lam
        beta[i[s], n[s]] -= lam
        g = (1 - lam) * g + lam * column(s)  # (70)
    return beta, history


# --- End of section 6: the threshold
def threshold(F: Array, Y: Labels, rho: float) -> tuple[Array, float]:
    """s_1, ..., s_q and s_0 by "the same method as in Rank-SVM", on scores with the margin rho."""
    return rank_svm.threshold(F, Y, margin=rho)


# --- Slips in print, and what is not in print
# * (36), (37): u^T alpha >= nu = 1 holds with equality at the optimum, since W grows with alpha.
# * (37): alpha_i^T alpha_j is printed for the kernel factor x_i^T x_j.
# * (62), (70): g and Theta carry i', j' of the chosen pair; in (70), Theta_ii'^jj' is meant.
# * Section 7.5: (q - 1) <= |L_i| <= ... bounds l_i = |L_i| |complement of L_i|, and the upper end
#   is floor(q/2) (q - floor(q/2)).
# * Section 8.3: epsilon = 1e-3 is "quickly satisfied" as it is an absolute accuracy of W, whose
#   optimum, 1/(2 S) with the S below, is often smaller itself.
# * End of section 6: how far beyond an open end t*(x_i) lies is not printed. Rank-SVM's one unit is
#   its margin; here the margin is rho, and the scores are of that size.
# * (30) is homogeneous: w = rho w', b = rho b', xi = rho xi' leave rho^2 P - rho, where P is the
#   value of Rank-LSVM, the same problem with the margin 1. Its dual variables, over their sum S,
#   solve (37); rho is 1/S, and the value of (37) is 1/(2 S).
