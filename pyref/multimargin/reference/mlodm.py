"""Tan et al. 2019: mlODM, the multi-label optimal margin distribution machine.

The margin of each pair should be near 1: the loss is 0 within theta of it, below that the square of
the shortfall, above that mu times the square of the excess. Equation numbers, letters and order are
those of Tan et al. 2019; code reads from top to bottom.

Dictionary::

    m, q               instances, labels                                             section 2
    Phi    m x d       features phi(x_i) of the kernel kappa; no bias                section 2
    Y      m x q       1 on Y_i, the relevant labels of instance i, else 0           section 2
    i, k, l  L each    instance, relevant and irrelevant label of each of L pairs          (1)
    gamma  L           margins w_k^T phi(x_i) - w_l^T phi(x_i)                             (1)
    gamma_bar  q x q   mean margin of each two labels over the instances that have the pair (9)
    theta, mu          0 <= theta < 1, 0 < mu <= 1                                  (13), (14)
    xi, eps  L         slack variables xi_ikl and epsilon_ikl                             (15)
    W      d x q       weights w_k as columns                                             (15)
    C_i    L           C / (|Y_i| |complement of Y_i|) for each pair of instance i        (15)
    alpha, beta  L     dual variables; at the optimum one of each pair's two is 0         (18)
    c      q x L       c_ijl^k: 1 if j = k, -1 if l = k, else 0; c_i its columns of instance i  (19)
    K      m x m       kernel matrix kappa(x_i, x_j)                                      (21)
    B      m x q       (alpha_i - beta_i)^T c_i^k as B[i, k]; W = Phi^T B                 (20)
    A, b, M  l_i x l_i, l_i, 1   A_i, b_i and M_i = 1/(2 C_i) of an instance's programme  (23)
    eta    2 l_i       [alpha_i; beta_i]                                                  (24)
    H, v   2 l_i x 2 l_i, 2 l_i  matrix and vector of its programme                       (24)
    lam    2 l_i       factors lambda_j                                           algorithm 2

C may be a single number, one per instance, or one per instance and relevant label, and NaN in Y is
an unknown label, as in `beyond` and `rank_svm`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from multimargin.reference.beyond import Weight
from multimargin.reference.beyond import upper_bounds as pair_weights
from multimargin.reference.interior_point import SEMIDEFINITE, minimum
from multimargin.reference.matrices import root
from multimargin.reference.rank_svm import Array, Labels, blocks, coefficients, pairs, proxy

if TYPE_CHECKING:
    from cvxpy import Expression


# --- Sections 2 and 3: the ranking margin; `pairs` (1), `pair_weights`, the C_i of (15), and
# `coefficients`, the c after (16), are those of Rank-SVM
def ranking_margins(Phi: Array, Y: Labels, W: Array) -> Array:
    """(2): least distance of each instance to where two labels tie; inf without pairs."""
    i, k, l = pairs(Y)  # noqa: E741
    f = Phi @ W
    distances = (f[i, k] - f[i, l]) / np.linalg.norm(W[:, k] - W[:, l], axis=0)
    margins = np.full(len(Y), np.inf)
    np.minimum.at(margins, i, distances)
    return margins


def margin_of_the_training_set(Phi: Array, Y: Labels, W: Array) -> float:
    """(3)."""
    return float(ranking_margins(Phi, Y, W).min())


# --- Section 4: from the mean margin to the margin distribution
def mean_margins(f: Expression, Y: Labels) -> list[Expression]:
    """gamma_bar of each two labels of which an instance has one and not the other, from scores."""
    i, k, l = pairs(Y)  # noqa: E741
    of_labels = [(k == a) & (l == b) for a, b in sorted({*zip(k, l, strict=True)})]
    return [(f[i[s], k[s]] - f[i[s], l[s]]).sum() / s.sum() for s in of_labels]


def problem_10(Phi: Array, Y: Labels) -> tuple[float, Array]:
    """Solve (10), where the minimum is (9) squared; return its value and W.

    The least 1 / ||w_k - w_l||^2 is the largest where the largest ||w_k - w_l|| is the least.
    """
    import cvxpy as cp

    _, k, l = pairs(Y)  # noqa: E741
    W = cp.Variable((Phi.shape[1], Y.shape[1]))
    constraints = [gamma_bar == 1 for gamma_bar in mean_margins(Phi @ W, Y)]
    largest = cp.max(cp.norm(W[:, k] - W[:, l], axis=0))
    return minimum(largest, constraints, SEMIDEFINITE) ** -2, W.value


def problem_11(Phi: Array, Y: Labels) -> tuple[float, Array]:
    """Solve (11), (10) with the sum in place of the largest; return its value and W."""
    import cvxpy as cp

    W = cp.Variable((Phi.shape[1], Y.shape[1]))
    constraints = [gamma_bar == 1 for gamma_bar in mean_margins(Phi @ W, Y)]
    return minimum(cp.sum_squares(W), constraints), W.value


def problem_12(Phi: Array, Y: Labels, C: Weight) -> tuple[float, Array]:
    """Solve (12), (11) with the variance of the margins; return its value and W."""
    import cvxpy as cp

    i, k, l = pairs(Y)  # noqa: E741
    W, xi, eps = cp.Variable((Phi.shape[1], Y.shape[1])), cp.Variable(len(i)), cp.Variable(len(i))
    f = Phi @ W
    gamma = f[i, k] - f[i, l]
    constraints = [gamma_bar == 1 for gamma_bar in mean_margins(f, Y)]
    constraints += [gamma >= 1 - xi, gamma <= 1 + eps]
    variance = pair_weights(Y, C) @ (cp.square(xi) + cp.square(eps))
    objective = cp.sum_squares(W) + variance
    return minimum(objective, constraints), W.value


def problem_13(Phi: Array, Y: Labels, C: Weight, theta: float) -> tuple[float, Array]:
    """Solve (13), (12) with margins within theta of 1 in place of a mean of 1: (14) for mu = 1."""
    return problem_14(Phi, Y, C, theta, 1.0)


def problem_14(Phi: Array, Y: Labels, C: Weight, theta: float, mu: float) -> tuple[float, Array]:
    """Solve (14), with the C that its print lacks; return its value, twice (15), and W."""
    import cvxpy as cp

    i, k, l = pairs(Y)  # noqa: E741
    W, xi, eps = cp.Variable((Phi.shape[1], Y.shape[1])), cp.Variable(len(i)), cp.Variable(len(i))
    f = Phi @ W
    gamma = f[i, k] - f[i, l]
    constraints = [gamma >= 1 - theta - xi, gamma <= 1 + theta + eps, xi >= 0, eps >= 0]
    objective = cp.sum_squares(W) + pair_weights(Y, C) @ (cp.square(xi) + mu * cp.square(eps))
    return minimum(objective, constraints), W.value


# --- Section 5: the problem
def problem_15(Phi: Array, Y: Labels, C: Weight, theta: float, mu: float) -> tuple[float, Array]:
    """Solve (15), the primal problem; return its value and W."""
    import cvxpy as cp

    i, k, l = pairs(Y)  # noqa: E741
    W = cp.Variable((Phi.shape[1], Y.shape[1]))
    xi, eps = cp.Variable(len(i)), cp.Variable(len(i))
    f = Phi @ W
    gamma = f[i, k] - f[i, l]  # (1)
    constraints = [gamma >= 1 - theta - xi, gamma <= 1 + theta + eps]
    loss = cp.multiply(pair_weights(Y, C), cp.square(xi) + mu * cp.square(eps))
    objective = cp.sum_squares(W) / 2 + cp.sum(loss) / 2
    return minimum(objective, constraints), W.value


# --- Section 5.1: the dual problem
def problem_18(
    K: Array, Y: Labels, C: Weight, theta: float, mu: float
) -> tuple[float, Array, Array]:
    """Solve (18), the dual problem; return the negative of (15), alpha and beta."""
    import cvxpy as cp

    slope = 1 / np.sqrt(pair_weights(Y, C))
    alpha, beta = cp.Variable(len(slope)), cp.Variable(len(slope))
    B = cp.reshape(blocks(Y) @ (alpha - beta), Y.shape, order="C")  # (20)
    # 1/2 sum_k ||w_k||^2 as in (21), with K = G G^T
    objective = (
        cp.sum_squares(root(K).T @ B) / 2
        + (theta - 1) * cp.sum(alpha)
        + (theta + 1) * cp.sum(beta)
        + cp.sum_squares(cp.multiply(slope, beta)) / (2 * mu)
        + cp.sum_squares(cp.multiply(slope, alpha)) / 2
    )
    constraints = [alpha >= 0, beta >= 0]
    return minimum(objective, constraints), alpha.value, beta.value


def expansion(alpha: Array, beta: Array, Y: Labels) -> Array:
    """B, whose row i has the coefficients of phi(x_i) in all w_k, (20)."""
    return proxy(alpha - beta, Y)


def objective_15(K: Array, Y: Labels, C: Weight, theta: float, mu: float, B: Array) -> float:
    """Value of (15) at W = Phi^T B, an upper bound of the optimum."""
    i, k, l = pairs(Y)  # noqa: E741
    W = root(K).T @ B  # Phi with K = Phi Phi^T
    f = root(K) @ W
    gamma = f[i, k] - f[i, l]
    xi, eps = np.maximum(0, 1 - theta - gamma), np.maximum(0, gamma - 1 - theta)
    return float(np.sum(W**2) / 2 + pair_weights(Y, C) @ (xi**2 + mu * eps**2) / 2)


def objective_18(
    K: Array, Y: Labels, C: Weight, theta: float, mu: float, alpha: Array, beta: Array
) -> float:
    """Value of (18); if alpha, beta >= 0, minus a lower bound of (15)."""
    W = root(K).T @ expansion(alpha, beta, Y)
    linear = (theta - 1) * alpha.sum() + (theta + 1) * beta.sum()
    squares = np.sum((beta**2 / mu + alpha**2) / (2 * pair_weights(Y, C)))
    return float(np.sum(W**2) / 2 + linear + squares)


def algorithm_1(
    K: Array,
    Y: Labels,
    C: float,
    theta: float,
    mu: float,
    epochs: int = 100,
    tol: float = 1e-8,
    updates: int = 1000,
    shuffle: np.random.Generator | None = None,
) -> tuple[Array, Array, list[float]]:
    """Run algorithm 1; return alpha, beta and the value of (18) after every epoch.

    "Not converge" is: an epoch lowered (18) by more than `tol`, relatively. Without `shuffle`
    the instances keep their order. `tol` and `updates` are those of algorithm 2.
    """
    of, _, _ = pairs(Y)
    alpha, beta = np.zeros(len(of)), np.zeros(len(of))  # step 2
    c, C_i = coefficients(Y), pair_weights(Y, C)
    B = np.zeros(Y.shape)
    values = [0.0]
    while len(values) <= epochs:  # step 3
        pi = np.arange(len(K)) if shuffle is None else shuffle.permutation(len(K))  # step 4
        for i in pi:  # step 5
            own = np.flatnonzero(of == i)
            if len(own) == 0:
                continue
            c_i = c[:, own]
            A = c_i.T @ c_i * K[i, i]  # (23)
            b = (K[i] @ B - K[i, i] * B[i]) @ c_i
            M = 1 / (2 * C_i[own])
            H = np.block([[A, -A], [-A, A]]) + 2 * np.diag(np.r_[M, M / mu])  # (24)
            v = np.r_[b + theta - 1, -b + theta + 1]
            eta = algorithm_2(H, v, tol, updates)  # step 6
            alpha[own], beta[own] = np.split(eta, 2)  # step 7
            B[i] = c_i @ (alpha[own] - beta[own])
        values.append(objective_18(K, Y, C, theta, mu, alpha, beta))
        if values[-2] - values[-1] <= tol * abs(values[-1]):
            break
    return alpha, beta, values[1:]


# --- Section 5.2: solving the sub-problem
def algorithm_2(H: Array, v: Array, tol: float = 1e-8, updates: int = 1000) -> Array:
    """Solve (24) by multiplicative updates, until no entry moves by more than tol max(eta)."""
    eta = np.ones(len(v))  # step 2
    H_plus, H_minus = np.maximum(H, 0), np.maximum(-H, 0)  # step 3
    for _ in range(updates):  # step 4
        a, b = H_plus @ eta, H_minus @ eta
        lam = (-v + np.sqrt(v**2 + 4 * a * b)) / (2 * a)  # step 5
        new = np.maximum(eta * lam, 1e-150)  # 0 is reached in the limit alone
        moved = np.abs(new - eta).max()
        eta = new
        if moved <= tol * eta.max():  # "the criterion of fixed points can be relaxed"
            break
    return eta


# --- Section 6.1.3: the threshold, "as in Elisseeff and Weston (2002)", is `rank_svm.threshold`:
# linear regression, on the scores, of the thresholds of least Hamming loss

# --- Slips in print
# * (8), (12), (13), (14): without the 1/2 of (15); (14) without C, too.
# * (13), (14): with theta = 1 all weights 0 lose nothing; theta < 1.
# * (19): c_i is printed for c_i^k; there is one for each label k.
# * (22): Q lacks the factor 1/2 and the kernel of (21).
# * (23): b_i has c_i^k twice; the first one is c_j^k.
# * Algorithm 2: eta has 2 l_i entries, not 2 m. A product reaches 0 in the limit alone.
# * Section 5.2: a block needs no update where eta = max(0, eta - grad F), not only grad F = 0.
# * Section 6.1.3: the regression gives the threshold, not "the set size".
