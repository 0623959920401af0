"""Rank-SVMz: Rank-SVM with a zero label (after Xu 2012, in Tan et al. 2019, section 6.1.1).

A further label, the zero label, stands between the relevant labels of an instance and the others.
Each label is compared with it alone, and the labels above it are predicted. The zero label and one
equality constraint a class are those of Xu 2012; the weights C / q are ours.

Dictionary::

    n, d, q            instances, features, labels; column q belongs to the zero label
    Y      n x q       1 where a label is relevant, else 0; y = 2 Y - 1
    W, b   d x (q+1), q+1   weights w_k as columns, and biases, which sum to 0
    xi     n x q       slack variables, one a label
    alpha  n x q       dual variables, 0 <= alpha <= C/q
    Z      n x q       y o alpha, the dual variables with their signs; B = [Z, -Z 1], W = X^T B
    K      n x n       kernel matrix

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

from multimargin.reference.rank_svm import Array, Labels


def primal(X: Array, Y: Labels, C: float) -> tuple[float, Array, Array]:
    """Solve the primal problem; return its value, W and b."""
    import cvxpy as cp

    n, q = Y.shape
    W, b = cp.Variable((X.shape[1], q + 1)), cp.Variable((1, q + 1))
    xi = cp.Variable((n, q))
    f = X @ W + np.ones((n, 1)) @ b
    margins = cp.multiply(2.0 * Y - 1.0, f[:, :q] - f[:, q:] @ np.ones((1, q)))
    objective = cp.sum_squares(W) / 2 + C / q * cp.sum(xi)
    constraints = [margins >= 1 - xi, xi >= 0, cp.sum(b) == 0]
    value = cp.Problem(cp.Minimize(objective), constraints).solve(solver="CLARABEL")
    return value, W.value, b.value.ravel()


def dual(K: Array, Y: Labels, C: float, free: bool = True) -> tuple[float, Array]:
    """Solve the dual problem, as a minimum; return its value, minus `primal`, and Z.

    `free=False` leaves the equalities out: no bias, or that of a kernel K + 1.
    """
    import cvxpy as cp

    n, q = Y.shape
    y = 2.0 * Y - 1.0
    z = cp.Variable(n * q)  # label after label
    Q = np.kron(np.eye(q) + np.ones((q, q)), K)  # sum_k z_k^T K z_k + (sum z_k)^T K (sum z_k)
    alpha = cp.multiply(y.T.ravel(), z)
    constraints = [alpha >= 0, alpha <= C / q]
    if free:
        constraints += [cp.sum(z[k * n : (k + 1) * n]) == 0 for k in range(q)]
    objective = cp.quad_form(z, cp.psd_wrap(Q)) / 2 - cp.sum(alpha)
    value = cp.Problem(cp.Minimize(objective), constraints).solve(solver="CLARABEL")
    return value, z.value.reshape(q, n).T


def predict(f: Array) -> Labels:
    """Labels of scores: those above the zero label's."""
    return (f[:, :-1] > f[:, -1:]).astype(np.intp)
