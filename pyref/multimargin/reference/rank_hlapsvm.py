"""Chen et al. 2009: Rank-HLapSVM, Rank-SVM with a hypergraph Laplacian of the labels.

Instances that share labels are pulled towards similar scores. Equation numbers, letters and order
are those of Chen et al. 2009; code reads from top to bottom.

Dictionary::

    n, m, k          instances, features, labels                                    section 3
    X      n x m+1   instances x_i, each with an appended 1                               (8)
    H      n x k     1 where a label is relevant, y_i in row i, else 0; also h(v, e)      (2)
    i, p, q  n_alpha each   instance, relevant and irrelevant label of each pair          (9)
    w      k         hyperedge weights w(e) = exp(-nu d_e); label e is a hyperedge       (29)
    d_e    k         mean squared distance of the instances of a hyperedge               (30)
    W_c, D_c  n x n  similarity of the clique expansion, and its row sums                 (4)
    L      n x n     combinatorial Laplacian L_c; the script L_c of (6) is normalised     (5)
    lam, nu          weights of the Laplacian and of distances, >= 0               (10), (29)
    W      m+1 x k   weights w_p as columns, the bias in the last row                (8), (9)
    F_hat  n x k     scores of the training instances                                    (10)
    xi     n_alpha   slack variables xi_ipq                                              (10)
    C_i    n_alpha   C / (|y_i| |complement of y_i|) for each pair of instance i         (17)
    alpha  n_alpha   dual variables alpha_ipq                                            (17)
    t      k x n_alpha   t_ijq^p: 1 if j = p, -1 if q = p, else 0                        (13)
    beta   n x k     beta_pi as beta[i, p]                                               (15)
    A      n x n     <x_i, (I + lam X^T L X)^-1 x_j>                               (19), (27)
    G, PG            gradient of a pair, and projected gradient                    (20), (22)
    h      n         thresholds h(x_i): labels with f_j(x) > h(x) are predicted  section 3.4

Beyond the paper, weights C and the argument k of a function are those of `beyond`, and NaN in H is
an unknown label. `counts` says how often each instance is there, and E is a root of the Laplacian,
L = E^T E, with a row sqrt(w_c(u, v)) (e_u - e_v) an edge.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from multimargin.reference.beyond import Weight, loss, problem_26, upper_bounds
from multimargin.reference.interior_point import minimum
from multimargin.reference.matrices import damped, damped_solve, root
from multimargin.reference.rank_svm import Array, Labels, pairs, proxy

if TYPE_CHECKING:
    from cvxpy import Expression


# --- Section 2: the Laplacian of a hypergraph; its weights are those of section 4.1
def hyperedge_weights(X: Array, H: Labels, nu: float, counts: Array | None = None) -> Array:
    """w(e), (29) and (30), from the given instances X: a kernel changes nothing here."""
    w = np.zeros(H.shape[1])
    counts = np.ones(len(X)) if counts is None else counts
    for e in range(H.shape[1]):
        rows = H[:, e] == 1
        if counts[rows].any():  # else there is no hyperedge
            w[e] = np.exp(-nu * mean_distance(X[rows], counts[rows]))  # (29)
    return w


def mean_distance(X: Array, counts: Array) -> float:
    """d_e, (30), for instances with the given multiplicities."""
    distances = ((X[:, None] - X[None, :]) ** 2).sum(axis=2)
    number = counts.sum()
    return float(counts @ distances @ counts / (number * (number - 1))) if number > 1 else 0.0


def laplacian(H: Labels, w: Array, counts: Array | None = None) -> Array:
    """L_c = D_c - W_c, (5)."""
    h = (H == 1) * (1.0 if counts is None else counts[:, None])
    W_c = (h * w) @ h.T  # (4)
    D_c = np.diag(W_c.sum(axis=1))
    return D_c - W_c


def root_of_laplacian(L: Array) -> Array:
    """E, from the entries of L beside the diagonal, which are -w_c(u, v)."""
    u, v = np.nonzero(np.triu(L, 1))
    edges = np.eye(len(L))[u] - np.eye(len(L))[v]
    return np.asarray(np.sqrt(-L[u, v])[:, None] * edges)


def normalized_laplacian(H: Labels, w: Array) -> Array:
    """I - D_c^-1/2 W_c D_c^-1/2, (6); without hyperedge an instance has a row and a column of 0."""
    h = (H == 1) * 1.0
    W_c = (h * w) @ h.T
    degrees = W_c.sum(axis=1)
    roots = np.sqrt(np.where(degrees > 0, degrees, np.inf))
    return np.diag(degrees > 0) - W_c / np.outer(roots, roots)


# --- Section 3.1: the problem; `pairs` (9), `upper_bounds`, the C_i of (17), `coefficients`, the t
# of (13), and `proxy` (15) are those of Rank-SVM
def append_1(X: Array) -> Array:
    """Append a feature 1 to all instances, (8)."""
    return np.hstack([X, np.ones((len(X), 1))])


def problem_10(
    X: Array, H: Labels, C: Weight, lam: float, L: Array, k: int | None = None
) -> tuple[float, Array]:
    """Solve (10), (9) if lam = 0, for instances X that end with a 1; return the value and W."""
    import cvxpy as cp

    i, p, q = pairs(H)
    W, xi = cp.Variable((X.shape[1], H.shape[1])), cp.Variable(len(i))
    F_hat = X @ W
    trace = cp.sum_squares(root_of_laplacian(L) @ F_hat)  # trace(F_hat^T L F_hat)
    objective = cp.sum_squares(W) / 2 + lam * trace / 2 + loss(xi, H, C, k)
    constraints = [F_hat[i, p] - F_hat[i, q] >= 1 - xi, xi >= 0]
    return minimum(objective, constraints), W.value


# --- Section 3.2: the dual problem
def weights(X: Array, beta: Array, lam: float, L: Array) -> Array:
    """w_p as columns, (16)."""
    return damped_solve(np.sqrt(lam) * root_of_laplacian(L) @ X, X.T @ beta)


def problem_17(A: Array, H: Labels, C: Weight, k: int | None = None) -> tuple[float, Array]:
    """Solve (17) with A of (27); return the negative of (10), and alpha."""
    value, alpha, _ = problem_26(A, H, C, k, free=False)  # Rank-SVM's, without b
    return value, alpha


def objective_17(A: Array, H: Labels, alpha: Array) -> float:
    """g(alpha), minus a bound of (10) from below if 0 <= alpha <= C_i."""
    return float(np.sum((root(A).T @ proxy(alpha, H)) ** 2) / 2 - alpha.sum())


# --- Section 3.3: dual coordinate descent, and kernels
def algorithm_1(
    X: Array, H: Labels, C: float, lam: float, L: Array, epsilon: float = 1e-6, passes: int = 1000
) -> tuple[Array, list[Array]]:
    """Run algorithm 1; return W and alpha after every pass. With lam = 0 it is Rank-SVM's, (9).

    Without both heuristics of section 3.3, a random order and shrinking. No epsilon is printed.
    """
    of_instance = [np.flatnonzero(pairs(H)[0] == i) for i in range(len(X))]
    _, p, q = pairs(H)
    C_i = upper_bounds(H, C)
    directions = np.linalg.inv(np.eye(X.shape[1]) + lam * X.T @ L @ X) @ X.T  # of x_i: column i
    A_ii = np.sum(X * directions.T, axis=1)  # (19)
    alpha, W = np.zeros(len(p)), np.zeros((X.shape[1], H.shape[1]))
    iterates = []
    for _ in range(passes):
        alpha_star = alpha.copy()
        for i in range(len(X)):
            for s in of_instance[i]:
                G = (W[:, p[s]] - W[:, q[s]]) @ X[i] - 1  # step 1, (20)
                PG = G  # step 2, (22)
                if alpha_star[s] == 0:
                    PG = min(0, G)
                if alpha_star[s] == C_i[s]:
                    PG = max(0, G)
                if PG != 0:  # step 3, (23) to (25)
                    new = min(max(alpha_star[s] - G / (2 * A_ii[i]), 0), C_i[s])
                    W[:, p[s]] += (new - alpha_star[s]) * directions[:, i]
                    W[:, q[s]] -= (new - alpha_star[s]) * directions[:, i]
                    alpha_star[s] = new
        change = np.linalg.norm(alpha_star - alpha)
        alpha = alpha_star
        iterates.append(alpha)
        if change < epsilon:
            break
    return W, iterates


def kernel_27(K: Array, lam: float, L: Array, one: float = 0.0) -> Array:
    """A from K = X X^T, or from another kernel, (27); `one` is 1 if K lacks the appended feature.

    Its first form, with G for X of K = G G^T, and L = E^T E: an inverse of I + lam L K loses digits
    that `damped` keeps.
    """
    G = np.hstack([root(K), np.full((len(K), 1), np.sqrt(one))])
    D = damped(G, np.sqrt(lam) * root_of_laplacian(L) @ G)
    return D @ D.T


def expansion(K: Array, beta: Array, lam: float, L: Array) -> Array:
    """Coefficients of f_p(x) = sum_i k(x, x_i) a_ip: (16) by the second form of (27)."""
    return np.linalg.solve(np.eye(len(K)) + lam * L @ K, beta)


# --- Section 3.4: the size of the label set
def thresholds(F_hat: Array, H: Labels) -> Array:
    """h(x_i), the middle of the lowest relevant and the highest irrelevant score."""
    without = np.flatnonzero(~((H == 1).any(axis=1) & (H == 0).any(axis=1)))
    if without.size:
        raise ValueError(f"H has no 1 or no 0 in row {without[0]}; expected both in every row")
    lowest = np.where(H == 1, F_hat, np.inf).min(axis=1)
    highest = np.where(H == 0, F_hat, -np.inf).max(axis=1)
    return (lowest + highest) / 2


def regression(X: Array, F_hat: Array, H: Labels) -> Expression:
    """Learn h(x) by linear support vector regression; its `predict` gives it for other rows."""
    from sklearn.svm import LinearSVR

    both = (H == 1).any(axis=1) & (H == 0).any(axis=1)
    h = thresholds(F_hat[both], H[both])
    return LinearSVR(max_iter=100_000, random_state=0).fit(X[both], h)


def predict(F_hat: Array, h: Array) -> Labels:
    """The s(x) labels with f_j(x) > h(x)."""
    return (F_hat > h[:, None]).astype(np.intp)


# --- Slips in print
# * (6): D_c^-1/2 H W^T D_c^-1/2 is printed for D_c^-1/2 H W H^T D_c^-1/2.
# * (11): x_p is printed for w_p, and xi_ipq belongs into the brackets after alpha_ipq.
# * Section 3.3: a step costs O(m), not O(m bar): (I + lam X^T L X)^-1 x_i is dense.
# * Algorithm 1: the loop runs over (j, q) and updates (p, q); alpha* and alpha are compared after a
#   pass over all pairs, in which every step starts from the step before.
# * Section 3.5: the sum of ||w_i||^2 runs to k, not to m.
# * (30): 0/0 for a hyperedge of one instance; its distance is 0 and its weight 1. The appended 1 of
#   (8) cancels. x_u are the instances, and the paper's experiments are linear: with another kernel
#   the distances remain those of the instances; only (27) replaces inner products.
