"""Rank-SVMz: Rank-SVM with a zero label (after Xu 2012, in Tan et al. 2019, section 6.1.1).

An additional label, the zero label, separates the relevant labels of an instance from the others.
Each label is compared only with it, and the labels above it are predicted. The zero label and one
equality constraint per class are those of Xu 2012; the weights C / q are ours.

Dictionary::

    n, d, q            instances, features, labels; column q belongs to the zero label
    Y      n x q       1 where a label is relevant, else 0; y = 2 Y - 1
    W, b   d x (q+1), q+1   weights w_k as columns, and biases, which sum to 0
    xi     n x q       slack variables, one per label
    alpha  n x q       dual variables, 0 <= alpha <= C/q
    Z      n x q       y o alpha, the dual variables with their signs; B = [Z, -Z 1], W = X^T B
    K      n x n       kernel matrix, K = G G^T
    C                  a number, n of them or n x q of them; NaN in Y is an unknown label, and q is
                       the number of known ones of an instance

The primal and, with the signed z_ik = y_ik alpha_ik, the dual problem are::

    min  1/2 sum_(k=0..q) ||w_k||^2 + C/q sum xi,  y_ik (f_k(x_i) - f_0(x_i)) >= 1 - xi_ik,  xi >= 0
    max  sum alpha - 1/2 sum_k z_k^T K z_k - 1/2 (sum_k z_k)^T K (sum_k z_k),
         0 <= alpha <= C/q,  1^T z_k = 0 for every k

Two facts that other solvers can check. Without the zero label (w_0 = 0 and no third term in the
dual) the labels fall apart into q support vector machines. With v_k = w_k - w_0, minimised over
w_0, the regulariser is 1/2 tr(V (I + 1 1^T)^-1 V^T): MLRL's, with a fixed covariance.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from multimargin.reference.beyond import Weight, by_label
from multimargin.reference.interior_point import minimum
from multimargin.reference.matrices import root
from multimargin.reference.rank_svm import Array, Labels, check_labels


def weights(Y: Labels, C: Weight) -> Array:
    """C / q of each label, 0 if it is unknown."""
    check_labels(Y)
    known = ~np.isnan(Y)
    return known * by_label(Y, C) / np.maximum(known.sum(axis=1, keepdims=True), 1)


def signs(Y: Labels) -> Array:
    """y, -1 where a label is unknown, too."""
    return np.where(Y == 1, 1.0, -1.0)


def primal(X: Array, Y: Labels, C: Weight) -> tuple[float, Array, Array]:
    """Solve the primal problem; return its value, W and b."""
    import cvxpy as cp

    n, q = Y.shape
    W, b = cp.Variable((X.shape[1], q + 1)), cp.Variable((1, q + 1))
    xi = cp.Variable((n, q))
    f = X @ W + np.ones((n, 1)) @ b
    margins = cp.multiply(signs(Y), f[:, :q] - f[:, q:] @ np.ones((1, q)))
    objective = cp.sum_squares(W) / 2 + cp.sum(cp.multiply(weights(Y, C), xi))
    constraints = [margins >= 1 - xi, xi >= 0, cp.sum(b) == 0]
    return minimum(objective, constraints), W.value, b.value.ravel()


def dual(K: Array, Y: Labels, C: Weight, free: bool = True) -> tuple[float, Array, Array]:
    """Solve the dual problem, as a minimum; return the negative of `primal`, Z and b.

    `free=False` omits the equalities: no bias, or that of a kernel K + 1.
    """
    import cvxpy as cp

    (n, q), c, G = Y.shape, weights(Y, C), root(K)
    known = np.flatnonzero(c)
    alpha = cp.Variable(len(known))
    place = sp.csc_array((signs(Y).flat[known], (known, range(len(known)))), (n * q, len(known)))
    Z = cp.reshape(place @ alpha, (n, q), order="C")
    form = cp.sum_squares(G.T @ Z) + cp.sum_squares(G.T @ cp.sum(Z, axis=1))  # K = G G^T
    constraints = [alpha >= 0, alpha <= c.flat[known]]
    b = np.zeros(q + 1)
    if free:
        constraints.append(cp.sum(Z, axis=0) == 0)
    value = minimum(form / 2 - cp.sum(alpha), constraints)
    if free:
        b[:q] = constraints[-1].dual_value  # b_k - b_0
    return value, (place @ alpha.value).reshape(n, q), b - b.mean()


def objective_primal(K: Array, Y: Labels, C: Weight, Z: Array, b: Array) -> float:
    """Value of `primal` with W = X^T B, B = [Z, -Z 1]."""
    W = root(K).T @ np.hstack([Z, -Z.sum(axis=1, keepdims=True)])
    f = root(K) @ W + b
    xi = np.maximum(0, 1 - signs(Y) * (f[:, :-1] - f[:, -1:]))
    return float(np.sum(W**2) / 2 + np.sum(weights(Y, C) * xi))


def objective_dual(K: Array, Y: Labels, Z: Array) -> float:
    """Value of `dual`; minus a bound of `primal` from below if Z is feasible."""
    W = root(K).T @ np.hstack([Z, -Z.sum(axis=1, keepdims=True)])
    return float(np.sum(W**2) / 2 - np.sum(signs(Y) * Z))


def predict(f: Array) -> Labels:
    """Labels of scores: those above the zero label's."""
    return (f[:, :-1] > f[:, -1:]).astype(np.intp)
