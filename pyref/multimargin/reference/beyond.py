"""Beyond Xu 2013: weights of instances and labels, and only the highest irrelevant labels.

The problems (18), (26) and (37) generalise those of `rank_svm` and `rank_cvm`, with which they
agree for a single C and all pairs. C may be l numbers, one per instance, or l x q, one per instance
and relevant label. A relevant label may be compared with only the k highest irrelevant ones: the
ordered weighted pairwise loss of Usunier et al. 2009 with the weights 1/k on the first k errors.

Dictionary, in addition to that of `rank_svm`::

    r_i, k_i           irrelevant labels of instance i, and how many of them count: min(k, r_i)
    S      . x l_t     sums over the pairs of an instance and one relevant label
    c_S                C / (|L_i| k_i) for each row of S, the C_i of its pairs
    primal             the sum of the k_i largest losses in a row of S
    dual               S alpha <= k_i c_S; of squared losses, parts of the C_i of each row of S
    share  l_t         part of C_i that a pair has: share <= 1, S share <= k_i
    one                square of the feature 1 that the bias belongs to: H^T H of (38) is one H^T H
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from multimargin.reference.interior_point import minimum
from multimargin.reference.matrices import root
from multimargin.reference.rank_svm import Array, Labels, blocks, coefficients, pairs, proxy

if TYPE_CHECKING:
    from cvxpy import Constraint, Expression

Weight = float | Array


# --- Weights of pairs
def by_label(Y: Labels, C: Weight) -> Array:
    """C of every instance and label, from a single number, one per instance, or all."""
    C = np.asarray(C, dtype=np.float64)
    return np.broadcast_to(C[:, None] if C.ndim == 1 else C, Y.shape)


def tops(Y: Labels, C: Weight, k: int | None) -> tuple[Any, Array, Array]:
    """S, and k_i and c_S of each of its rows."""
    i, m, _ = pairs(Y)
    first, group = np.unique(i * Y.shape[1] + m, return_inverse=True)
    S = sp.csr_array((np.ones(len(i)), (group, np.arange(len(i)))))
    k_i = np.minimum(Y.shape[1] if k is None else k, S.sum(axis=1))
    of, relevant = np.divmod(first, Y.shape[1])
    return S, k_i, by_label(Y, C)[of, relevant] / ((Y == 1).sum(axis=1)[of] * k_i)


def upper_bounds(Y: Labels, C: Weight, k: int | None = None) -> Array:
    """C_i of each pair, c_S of its row of S."""
    S, _, c_S = tops(Y, C, k)
    return np.asarray(S.T @ c_S)


def loss(xi: Expression, Y: Labels, C: Weight, k: int | None = None) -> Expression:
    """The second sum of (18): C_i xi over all pairs, or the k_i largest xi of each row of S."""
    import cvxpy as cp

    if k is None:
        return upper_bounds(Y, C) @ xi
    S, k_i, c_S = tops(Y, C, k)
    largest = [cp.sum_largest(xi[s.indices], k) for s, k in zip(S, k_i, strict=True)]
    return c_S @ cp.hstack(largest)


def value_of_loss(xi: Array, Y: Labels, C: Weight, k: int | None = None) -> float:
    """Value of `loss`."""
    if k is None:
        return float(upper_bounds(Y, C) @ xi)
    S, k_i, c_S = tops(Y, C, k)
    largest = [np.sort(xi[s.indices])[::-1][: int(k)].sum() for s, k in zip(S, k_i, strict=True)]
    return float(c_S @ largest)


# --- Rank-SVM
def problem_18(X: Array, Y: Labels, C: Weight, k: int | None = None) -> tuple[float, Array, Array]:
    """Solve (18), the primal problem; return its value, w and b."""
    import cvxpy as cp

    i, m, n = pairs(Y)
    w, b = cp.Variable((X.shape[1], Y.shape[1])), cp.Variable((1, Y.shape[1]))
    xi = cp.Variable(len(i))
    f = X @ w + np.ones((len(X), 1)) @ b
    constraints = [f[i, m] - f[i, n] >= 1 - xi, xi >= 0, cp.sum(b) == 0]
    objective = cp.sum_squares(w) / 2 + loss(xi, Y, C, k)
    return minimum(objective, constraints), w.value, b.value.ravel()


def problem_26(
    K: Array, Y: Labels, C: Weight, k: int | None = None, free: bool = True
) -> tuple[float, Array, Array]:
    """Solve (26), the dual problem; return the negative of (18), alpha and b.

    `free=False` omits H alpha = 0: no bias, or that of a kernel K + 1.
    """
    import cvxpy as cp

    C_i, H = upper_bounds(Y, C, k), coefficients(Y)
    alpha = cp.Variable(len(C_i))
    beta = cp.reshape(blocks(Y) @ alpha, Y.shape, order="C")
    W = cp.sum_squares(root(K).T @ beta) / 2 - cp.sum(alpha)
    constraints = [alpha >= 0, alpha <= C_i]
    if k is not None:
        S, k_i, c_S = tops(Y, C, k)
        constraints.append(S @ alpha <= k_i * c_S)
    if not free:
        return minimum(W, constraints), alpha.value, np.zeros(len(H))
    constraints.append(H @ alpha == 0)
    value = minimum(W, constraints)
    b = constraints[-1].dual_value
    return value, alpha.value, b - b.mean()


def objective_18(
    K: Array, Y: Labels, C: Weight, beta: Array, b: Array, k: int | None = None
) -> float:
    """Value of (18) with w_k = sum_i beta_ki x_i, an upper bound of the optimum."""
    i, m, n = pairs(Y)
    w = root(K).T @ beta
    f = root(K) @ w + b
    xi = np.maximum(0, 1 - (f[i, m] - f[i, n]))
    return float(np.sum(w**2) / 2 + value_of_loss(xi, Y, C, k))


# --- Rank-CVM and Rank-LSVM: the matrix of their duals
def theta(
    alpha: Expression, K: Array, Y: Labels, C: Weight, k: int | None, one: float
) -> tuple[Expression, list[Constraint]]:
    """alpha^T Theta alpha, (36), and constraints of the shares of C_i in it."""
    import cvxpy as cp

    C_i = upper_bounds(Y, C, k)
    beta = cp.reshape(blocks(Y) @ alpha, Y.shape, order="C")  # (32)
    # sum_k beta_k^T K beta_k with K = G G^T, and sum_k b_k^2 with (33)
    form = cp.sum_squares(root(K).T @ beta) + one * cp.sum_squares(cp.sum(beta, axis=0))
    if k is None:
        return form + cp.sum_squares(cp.multiply(1 / np.sqrt(C_i), alpha)), []
    S, k_i, _ = tops(Y, C, k)
    share = cp.Variable(len(C_i))
    slope = 1 / np.sqrt(C_i)
    parts = [cp.quad_over_lin(slope[s] * alpha[s], share[s]) for s in range(len(C_i))]
    return form + cp.sum(cp.hstack(parts)), [share <= 1, S @ share <= k_i]


def problem_37(
    K: Array, Y: Labels, C: Weight, k: int | None = None, one: float = 1.0
) -> tuple[float, Array]:
    """Solve (37), the dual problem for nu = 1; return its value, -(30), and alpha."""
    import cvxpy as cp

    alpha = cp.Variable(len(upper_bounds(Y, C)))
    form, of_shares = theta(alpha, K, Y, C, k, one)
    constraints = [cp.sum(alpha) == 1, alpha >= 0, *of_shares]
    return minimum(form / 2, constraints), alpha.value


def value_of_theta(
    alpha: Array, K: Array, Y: Labels, C: Weight, k: int | None = None, one: float = 1.0
) -> float:
    """alpha^T Theta alpha, (36), with the best shares of C_i."""
    beta, C_i = proxy(alpha, Y), upper_bounds(Y, C, k)
    form = float(np.sum((root(K).T @ beta) ** 2) + one * np.sum(beta.sum(axis=0) ** 2))
    if k is None:
        return form + float(np.sum(alpha**2 / C_i))
    S, k_i, c_S = tops(Y, C, k)
    for s, most, c in zip(S, k_i, c_S, strict=True):
        own = np.sort(alpha[s.indices])[::-1]
        # share = min(1, alpha / level); pairs with share = 1 come first.
        rest, full = np.cumsum(own[::-1])[::-1], 0
        while full < most and rest[full] < own[full] * (most - full):
            full += 1
        form += float(np.sum(own[:full] ** 2)) / c
        if full < most:
            form += float(rest[full] ** 2 / (most - full)) / c
    return form
