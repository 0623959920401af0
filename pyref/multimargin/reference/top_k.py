"""The top of the ranking: a relevant label against the k highest irrelevant ones.

The ordered weighted pairwise loss of Usunier et al. 2009 with the weights 1/k on the first k
errors, for the hinge of `rank_svm` and the squared hinge of `rank_lsvm`::

    primal   min  1/2 sum_k ||w_k||^2 + sum_(i, m) c sum_(j <= k_i) loss(f_m(x_i) - f_(j)(x_i))
    hinge    max  u^T alpha - 1/2 alpha^T Theta alpha,  0 <= alpha <= c,  S alpha <= k_i c
    squared  max  u^T alpha - 1/2 alpha^T Theta alpha - 1/2 sum alpha^2 / (c share),
                  alpha >= 0,  share <= 1,  S share <= k_i

with f_(1) >= f_(2) >= ... the scores of the irrelevant labels of x_i. The loss falls, so the sum
over the k_i highest is the largest sum over k_i of them: the problem is convex.

Dictionary::

    l, q               instances, labels
    Y      l x q       1 on L_i, the relevant labels of instance i, else 0
    i, m, n  l_t each  instance, relevant and irrelevant label of each pair
    k                  how many of the r_i irrelevant labels of instance i count: k_i = min(k, r_i)
    c      l_t         C / (|L_i| k_i) for each pair of instance i
    f      l x q       scores
    alpha  l_t         dual variables; H alpha = 0 with the free bias of the hinge
    Theta  l_t x l_t   (H^T H) o K, of K + 1 where the bias is penalised, as in `rank_svm`; u: ones
    share  l_t         part of c that a pair has; a relevant label has k_i parts to give away
    S      . x l_t     sums over the pairs of an instance and one relevant label
"""

from __future__ import annotations

from typing import Any

import numpy as np

from multimargin.reference.rank_svm import Array, Labels, coefficients, pairs


def groups(Y: Labels, C: float, k: int) -> tuple[Array, Array, Array]:
    """S, and k_i and c of each of its rows."""
    i, m, _ = pairs(Y)
    first, group = np.unique(i * Y.shape[1] + m, return_inverse=True)
    S = np.eye(len(first))[:, group]
    k_i = np.minimum(k, S.sum(axis=1))
    return S, k_i, C / ((Y == 1).sum(axis=1)[first // Y.shape[1]] * k_i)


def primal(
    X: Array, Y: Labels, C: float, k: int, squared: bool = False
) -> tuple[float, Array, Array]:
    """Solve the primal problem, the bias free for the hinge, penalised if squared."""
    import cvxpy as cp

    i, m, n = pairs(Y)
    S, k_i, c = groups(Y, C, k)
    W, b = cp.Variable((X.shape[1], Y.shape[1])), cp.Variable((1, Y.shape[1]))
    f = X @ W + np.ones((len(X), 1)) @ b
    xi = cp.pos(1 - f[i, m] + f[i, n])
    each = cp.square(xi) / 2 if squared else xi
    loss = sum(c[g] * cp.sum_largest(each[S[g] == 1], k_i[g]) for g in range(len(S)))
    norm = cp.sum_squares(W) + (cp.sum_squares(b) if squared else 0)
    problem = cp.Problem(cp.Minimize(norm / 2 + loss), [cp.sum(b) == 0])
    return problem.solve(solver="CLARABEL"), W.value, b.value.ravel()


def dual(K: Array, Y: Labels, C: float, k: int, squared: bool = False) -> tuple[float, Array]:
    """Solve the dual problem of `primal`; return its value, minus that, and alpha."""
    import cvxpy as cp

    i, _, _ = pairs(Y)
    S, k_i, c = groups(Y, C, k)
    H = coefficients(Y)
    Theta = (H.T @ H) * (K + 1.0 * squared)[np.ix_(i, i)]
    alpha = cp.Variable(len(i))
    objective = cp.quad_form(alpha, cp.psd_wrap(Theta)) / 2 - cp.sum(alpha)
    constraints: list[Any] = [alpha >= 0]
    of_pairs = S.T @ c
    if squared:
        share = cp.Variable(len(i))
        constraints += [share <= 1, S @ share <= k_i]
        objective += sum(
            cp.quad_over_lin(alpha[s], share[s]) / (2 * of_pairs[s]) for s in range(len(i))
        )
    else:
        constraints += [alpha <= of_pairs, S @ alpha <= k_i * c, H @ alpha == 0]
    value = cp.Problem(cp.Minimize(objective), constraints).solve(solver="CLARABEL")
    return value, alpha.value
