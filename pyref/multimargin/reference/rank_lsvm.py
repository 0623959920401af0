"""Rank-LSVM: Rank-CVM with the margin 1 in place of rho (Xu 2016, in Tan et al. 2019, 6.1.1).

Equation numbers, letters and the order of pairs are those of Xu 2013, whose (30) it is with rho = 1
and without the reward. The dual is strictly convex, and its variables have no upper bound.

Dictionary::

    l, q               instances, labels
    Y        l x q     1 on L_i, the relevant labels of instance i, else 0
    i, m, n  l_t each  instance, relevant and irrelevant label of each pair               (28)
    xi       l_t       slack variables; alpha = C_i xi at the optimum               (28), (35)
    w, b     d x q, q  weights w_k as columns, and biases                                 (30)
    C_i      l_t       C / (|L_i| |complement of L_i|) for each pair of instance i        (31)
    alpha    l_t       dual variables                                                     (31)
    Theta    l_t x l_t (H^T H) o K + H^T H + D with D = diag(1 / C_i)                     (38)
    K        l x l     kernel matrix
    C, k, one          see `beyond`
"""

from __future__ import annotations

import numpy as np

from multimargin.reference.beyond import (
    Weight,
    loss,
    theta,
    upper_bounds,
    value_of_loss,
    value_of_theta,
)
from multimargin.reference.interior_point import minimum
from multimargin.reference.matrices import root
from multimargin.reference.rank_cvm import quadratic_form
from multimargin.reference.rank_svm import Array, Labels, pairs


def primal(X: Array, Y: Labels, C: Weight, k: int | None = None) -> tuple[float, Array, Array]:
    """Solve min 1/2 sum_k (||w_k||^2 + b_k^2) + 1/2 sum C_i xi^2; return the value, w and b."""
    import cvxpy as cp

    i, m, n = pairs(Y)
    w, b = cp.Variable((X.shape[1], Y.shape[1])), cp.Variable((1, Y.shape[1]))
    xi = cp.Variable(len(i))
    f = X @ w + np.ones((len(X), 1)) @ b
    constraints = [f[i, m] - f[i, n] >= 1 - xi, xi >= 0]
    objective = (cp.sum_squares(w) + cp.sum_squares(b) + loss(cp.square(xi), Y, C, k)) / 2
    return minimum(objective, constraints), w.value, b.value.ravel()


def dual(
    K: Array, Y: Labels, C: Weight, k: int | None = None, one: float = 1.0
) -> tuple[float, Array]:
    """Solve min 1/2 alpha^T Theta alpha - u^T alpha, alpha >= 0; return minus `primal`, alpha."""
    import cvxpy as cp

    alpha = cp.Variable(len(upper_bounds(Y, C)))
    form, of_shares = theta(alpha, K, Y, C, k, one)
    return minimum(form / 2 - cp.sum(alpha), [alpha >= 0, *of_shares]), alpha.value


def objective_primal(
    K: Array, Y: Labels, C: Weight, beta: Array, b: Array, k: int | None = None
) -> float:
    """Value of `primal` with w_k = sum_i beta_ki x_i."""
    i, m, n = pairs(Y)
    w = root(K).T @ beta
    f = root(K) @ w + b
    xi = np.maximum(0, 1 - (f[i, m] - f[i, n]))
    squares = float(np.sum(w**2) + b @ b)
    return (squares + value_of_loss(xi**2, Y, C, k)) / 2


def objective_dual(K: Array, Y: Labels, C: Weight, alpha: Array, k: int | None = None) -> float:
    """Value of `dual`; minus a bound of `primal` from below if alpha >= 0."""
    return value_of_theta(alpha, K, Y, C, k) / 2 - float(alpha.sum())


def coordinate_descent(K: Array, Y: Labels, C: float, epochs: int) -> list[Array]:
    """Minimise the dual over one pair after the other; return alpha after every epoch."""
    Theta = quadratic_form(K, Y, C)
    alpha = np.zeros(len(Theta))
    iterates = []
    for _ in range(epochs):
        for s in range(len(alpha)):
            alpha[s] = max(0.0, alpha[s] - (Theta[s] @ alpha - 1) / Theta[s, s])
        iterates.append(alpha.copy())
    return iterates
