"""Rank-SVMz: the hinge between every label and a zero label (after Xu 2012).

Rank-SVM with a further label, the zero label, which stands between the relevant and the irrelevant
ones: each label is compared with the zero label alone, and those above it are predicted. What is
published and what is ours is said on the method's page: the zero label, the simplified problem and
its equality constraint a class are those of Xu 2012 (abstract; Tan et al. 2019, section 4.1); the
weights C / q are ours. The problem is::

    min  1/2 sum_(k=0..q) ||w_k||^2 + sum_i C_i sum_k xi_ik
    s.t. y_ik (f_k(x_i) - f_0(x_i)) >= 1 - xi_ik,  xi_ik >= 0                                    (P)

    bias = "free"       f_k(x) = w_k^T x + b_k; the dual has one equality a class
           "penalized"  1/2 sum_k b_k^2 is added, k = 0 too: the kernel becomes K + 1
           "none"       b = 0

and its dual, with z_k = y_k o alpha_k::

    max  sum alpha - 1/2 sum_k z_k^T K z_k - 1/2 (sum_k z_k)^T K (sum_k z_k)
    s.t. 0 <= alpha_ik <= C_i,  1^T z_k = 0 for every k (free bias only)                         (D)

Two facts that other solvers can check. Without f_0 (f_0 = 0, and no third term in (D)) the labels
fall apart into q support vector machines. With v_k = w_k - w_0, minimised over w_0, (P) is MLRL's
problem of a fixed covariance: 1/2 tr(V (I + 1 1^T)^-1 V^T) is the regulariser.

Dictionary::

    n, d, q                instances, features, labels
    Y       n x q          1 where the label is relevant, 0 where it is not, NaN where that is
                           unknown; rows with none or all count, too
    y       n x q          2 Y - 1; -1 where Y is unknown, whose weight is 0
    c       n x q          C_i = C / q, the weight of each of the q pairs of row i, where q counts
                           its known labels and C is a number or n of them; 0 for unknown labels
    K       n x n          kernel matrix; Kt is K + 1 if the bias is penalized, else K
    alpha   n x q          dual variables, one a label: pair (k, 0) if relevant, (0, k) if not
    Z       n x q          y o alpha
    B       n x (q + 1)    [Z, -Z 1]; the zero label's column is the last one, W = X^T B
    b       q + 1          bias; sums to 0 if free (a common constant changes no difference)
    F       n x (q + 1)    scores K B + b
    G       n x r          factor Kt = G G^T
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from multimargin.reference import exact
from multimargin.reference.exact import Array, Bias, Solver, Weight

# A slope below this share of the weights is rounding.
SLOPE = 1e-12


class Solution(NamedTuple):
    """A dual point and its model; `objective` is the value of the problem that was solved."""

    objective: float
    alpha: Array
    B: Array
    b: Array
    F: Array


# -------------------------------------------------------------------------------------------------
# The two problems
# -------------------------------------------------------------------------------------------------
def primal(
    K: ArrayLike, Y: ArrayLike, C: Weight = 1.0, bias: Bias = "free", solver: Solver = "clarabel"
) -> Solution:
    """Solve (P); alpha and B come from the multipliers of the margins."""
    Kt, y, c = problem_data(K, Y, C, bias)
    n, q = y.shape
    cp = exact.import_cvxpy()
    G = exact.factor(Kt)
    V = cp.Variable((G.shape[1], q + 1))
    b = cp.Variable((1, q + 1))
    xi = cp.Variable((n, q))
    scores = G @ V
    constraints = [xi >= 0]
    if bias == "free":
        scores = scores + np.ones((n, 1)) @ b
        constraints.append(cp.sum(b) == 0)
    differences = scores[:, :q] - scores[:, q:] @ np.ones((1, q))
    margin = cp.multiply(y, differences) >= 1 - xi
    objective = cp.Minimize(0.5 * cp.sum_squares(V) + cp.sum(cp.multiply(c, xi)))
    exact.solve_qp(cp.Problem(objective, [margin, *constraints]), solver)

    alpha = np.clip(margin.dual_value, 0.0, c)
    B = expansion(alpha, y)
    b_value = B.sum(axis=0) if bias == "penalized" else np.zeros(q + 1)
    if bias == "free":
        b_value = b.value[0] - b.value.mean()
    F = G @ V.value + (b_value if bias == "free" else 0.0)
    value = 0.5 * np.sum(V.value**2) + hinge(F, y, c)
    return Solution(float(value), alpha, B, b_value, F)


def dual(
    K: ArrayLike, Y: ArrayLike, C: Weight = 1.0, bias: Bias = "free", solver: Solver = "clarabel"
) -> Solution:
    """Solve (D), move to a feasible point, and recover the model."""
    Kt, y, c = problem_data(K, Y, C, bias)
    cp = exact.import_cvxpy()
    size = exact.scale_of(Kt)
    if bias == "free":
        Kt = exact.centred(Kt)
    unit = min(c.max(), 1.0 / exact.scale_of(Kt))  # of alpha, so that all numbers are of order 1
    G = exact.factor(Kt, size) * np.sqrt(unit)

    alpha = cp.Variable(y.shape)
    Z = cp.multiply(y, alpha)
    zero = cp.sum(Z, axis=1)
    W = 0.5 * cp.sum_squares(G.T @ Z) + 0.5 * cp.sum_squares(G.T @ zero) - cp.sum(alpha)
    constraints = [alpha >= 0, alpha <= c / unit]
    if bias == "free":
        constraints.append(cp.sum(Z, axis=0) == 0)
    exact.solve_qp(cp.Problem(cp.Minimize(W), constraints), solver)
    found = np.clip(unit * alpha.value, 0.0, c)
    return recover(K, Y, C, balanced(found, y) if bias == "free" else found, bias)


def balanced(alpha: Array, y: Array) -> Array:
    """Shrink the heavier class of each label, so that 1^T z_k = 0 holds but for rounding."""
    positive = np.where(y > 0, alpha, 0.0).sum(axis=0)
    negative = np.where(y < 0, alpha, 0.0).sum(axis=0)
    least = np.minimum(positive, negative)
    shares = [least / np.where(total > 0.0, total, 1.0) for total in (positive, negative)]
    return np.asarray(alpha * np.where(y > 0, shares[0], shares[1]))


# -------------------------------------------------------------------------------------------------
# From the dual variables to the model
# -------------------------------------------------------------------------------------------------
def recover(K: ArrayLike, Y: ArrayLike, C: Weight, alpha: Array, bias: Bias) -> Solution:
    """Build the model of alpha, with the best free bias for its weights."""
    K = np.asarray(K, dtype=np.float64)
    y, c = signs(Y), label_weights(Y, C)
    B = expansion(alpha, y)
    F = K @ B
    b = np.zeros(B.shape[1])
    if bias == "free":
        b = free_bias(F, y, c)
    if bias == "penalized":
        b = B.sum(axis=0)
    return Solution(dual_objective(K, B, bias), alpha, B, b, F + b)


def expansion(alpha: Array, y: Array) -> Array:
    """B = [Z, -Z 1]: what the labels gain the zero label loses."""
    Z = y * alpha
    return np.hstack([Z, -Z.sum(axis=1, keepdims=True)])


def free_bias(F: Array, y: Array, c: Array) -> Array:
    """Return the biases of sum 0 that minimise the loss of scores without bias."""
    # The loss of label k, as a function of b_k - b_0, has slope -sum of c over y > 0 far to the
    # left, which grows by c_ik at each point y_ik - (f_k - f_0)(x_i): it is smallest where it is 0.
    q = y.shape[1]
    points = y - (F[:, :q] - F[:, q:])
    b = np.zeros(q + 1)
    for k in range(q):
        known = np.flatnonzero(c[:, k] > 0.0)
        if len(known) == 0:
            continue
        ascending = known[np.argsort(points[known, k])]
        x, slope = points[ascending, k], np.cumsum(c[ascending, k])
        positive = y[ascending, k] > 0
        # Between these points the slope is 0, but for rounding.
        slope = (slope - c[ascending, k][positive].sum()) / slope[-1]
        left = int(np.searchsorted(slope, -SLOPE))
        right = min(int(np.searchsorted(slope, SLOPE)), len(x) - 1)
        b[k] = (x[min(left, len(x) - 1)] + x[right]) / 2.0
        if positive.all() or not positive.any():  # nothing is lost from its last point on
            b[k] = x[-1] if positive.all() else x[0]
    return np.asarray(b - b.mean())


# -------------------------------------------------------------------------------------------------
# Certificates of a given model
# -------------------------------------------------------------------------------------------------
def primal_objective(
    K: ArrayLike, Y: ArrayLike, C: Weight, B: Array, b: Array, bias: Bias
) -> float:
    """Primal value of the model f(x) = sum_i B[i] k(x, x_i) + b: (P), minimal slacks."""
    _, y, c = problem_data(K, Y, C, bias)
    K = np.asarray(K, dtype=np.float64)
    squares = float(np.sum(B * (K @ B)))
    if bias == "penalized":
        squares += float(b @ b)
    return 0.5 * squares + hinge(K @ B + b, y, c)


def dual_objective(K: ArrayLike, B: Array, bias: Bias) -> float:
    """Dual value (D): a lower bound of the optimum if `dual_infeasibility` is 0."""
    Kt = exact.kernel_matrix(K, bias)
    return float(np.sum(np.abs(B[:, :-1])) - 0.5 * np.sum(B * (Kt @ B)))


def dual_infeasibility(Y: ArrayLike, C: Weight, B: Array, bias: Bias) -> float:
    """Largest violation of the dual constraints by B; 0 if B belongs to a feasible alpha."""
    y = signs(Y)
    alpha = y * B[:, :-1]
    parts = [-alpha, alpha - label_weights(Y, C), np.abs(B.sum(axis=1))]
    if bias == "free":
        parts.append(np.abs(B.sum(axis=0)))
    return max(0.0, *(float(part.max(initial=0.0)) for part in parts))


def hinge(F: Array, y: Array, c: Array) -> float:
    """Sum of C_i xi_ik."""
    return float(np.sum(c * np.maximum(0.0, 1.0 - y * (F[:, :-1] - F[:, -1:]))))


# -------------------------------------------------------------------------------------------------
# Shared pieces
# -------------------------------------------------------------------------------------------------
def signs(Y: ArrayLike) -> Array:
    """Return 2 Y - 1."""
    return np.where(exact.label_matrix(Y) == 1, 1.0, -1.0)


def label_weights(Y: ArrayLike, C: Weight) -> Array:
    """C, by row or by row and label, over the number of known labels; 0 for unknown ones."""
    if not (np.isfinite(C).all() and np.all(np.asarray(C) > 0)):
        raise ValueError(f"C is {C}, expected a positive finite number")
    known = exact.label_matrix(Y) >= 0
    C = np.asarray(C, dtype=np.float64)
    of_labels = C if C.ndim == 2 else C.reshape(-1, 1)
    return np.asarray(known * (of_labels / np.maximum(known.sum(axis=1, keepdims=True), 1)))


def problem_data(K: ArrayLike, Y: ArrayLike, C: Weight, bias: Bias) -> tuple[Array, Array, Array]:
    """Check the arguments and build Kt, y and the weights c."""
    Kt, y = exact.kernel_matrix(K, bias), signs(Y)
    if len(Kt) != len(y):
        raise ValueError(f"K has {len(Kt)} rows and Y has {len(y)}, expected the same number")
    return Kt, y, label_weights(Y, C)
