"""
A loss of one's own
===================

A method of one's own: a loss, given by its value and its proximal map, and thirty lines more.

Learn what the engine does with a loss of label pairs, here least-squares ranking, and how its
certificate comes about; CVXPY (pip install multimargin[exact]) confirms the optimum. The guide's
page "How to add a loss" does the same for the fast engine.
"""

import cvxpy
import numpy as np
from matplotlib import pyplot
from sklearn.metrics.pairwise import rbf_kernel

from multimargin.datasets import load_digit_attributes


def value(s, p):
    """Sum over all pairs of (1 - (s_m - s_n))^2 / 2; the p relevant labels come first."""
    margins = s[:p, None] - s[None, p:]
    return 0.5 * np.sum((1.0 - margins) ** 2)


def prox(v, p, strength):
    """The s that minimises |s - v|^2 / 2 + strength * value(s, p)."""
    r, total = len(v) - p, v.sum()
    # Every pair pushes one label up as much as another down, so the sum of all scores stays.
    of_relevant = (v[:p].sum() + strength * p * (r + total)) / (1.0 + strength * (p + r))
    of_others = total - of_relevant
    up = (v[:p] + strength * (r + of_others)) / (1.0 + strength * r)
    down = (v[p:] + strength * (of_relevant - p)) / (1.0 + strength * p)
    return np.concatenate([up, down])


def fit(K, Y, C, tol=1e-9, max_epochs=2000):
    """Minimise tr(B^T K B) / 2 + sum_i c_i value(row i of K B), one row of B at a time."""
    n, q = Y.shape
    orders = [np.argsort(-row, kind="stable") for row in Y]  # relevant labels first
    relevant = Y.sum(axis=1)
    c = C / (relevant * (q - relevant))
    B, F = np.zeros((n, q)), np.zeros((n, q))
    of_dual, values = np.zeros(n), []
    for _ in range(max_epochs):
        for i in range(n):
            # With the other rows held, the scores of row i are v + K_ii b: a proximal step.
            order, p = orders[i], relevant[i]
            v = F[i] - K[i, i] * B[i]
            s = v.copy()
            s[order] = prox(v[order], p, K[i, i] * c[i])
            new = (s - v) / K[i, i]
            F += np.outer(K[:, i], new - B[i])
            B[i] = new
            # min_s c_i value(s) + <b, s> is attained where the step has just been.
            of_dual[i] = c[i] * value(s[order], p) + new @ s
        half_norm = 0.5 * np.sum(B * F)
        loss = sum(c[i] * value(F[i, orders[i]], relevant[i]) for i in range(n))
        primal, dual = half_norm + loss, of_dual.sum() - half_norm
        values.append((primal, dual))
        if primal - dual <= tol * primal:
            break
    return B, np.array(values)


X, Y = load_digit_attributes().split("train")
ranked = (Y.sum(axis=1) > 0) & (Y.sum(axis=1) < Y.shape[1])
X, Y = X[ranked][:60], Y[ranked][:60].astype(int)
K, C = rbf_kernel(X, gamma=0.2), 10.0

B, values = fit(K, Y, C)
primal, dual = values[-1]
print(f"block coordinates: {primal:.9f}, no model is below {dual:.9f}")

# %%
# The same problem, stated without a word on how to solve it. K = G G^T.
G = np.linalg.cholesky(K + 1e-12 * np.eye(len(K)))
A = cvxpy.Variable(Y.shape)  # G^T B
F = G @ A
terms = []
for i, row in enumerate(Y):
    m, k = np.nonzero(np.outer(row, 1 - row))
    terms.append(C / len(m) * cvxpy.sum_squares(1 - (F[i, m] - F[i, k])) / 2)
problem = cvxpy.Problem(cvxpy.Minimize(cvxpy.sum_squares(A) / 2 + cvxpy.sum(terms)))
problem.solve(solver=cvxpy.CLARABEL)
print(f"CVXPY:             {problem.value:.9f}")
print(f"largest difference of a training score: {np.abs(F.value - K @ B).max():.1e}")
assert abs(problem.value - primal) <= 1e-6 * primal
assert dual <= problem.value * (1 + 1e-6)

scores = rbf_kernel(X[:1], X, gamma=0.2) @ B
print("scores of a row: ", scores.round(2)[0], "\nits labels:      ", Y[0])

# %%
# The certificate, epoch by epoch: the optimum lies between both curves.
figure, ax = pyplot.subplots(figsize=(6.4, 3.2), layout="constrained")
ax.plot(np.arange(1, len(values) + 1), values, label=["objective", "lower bound"])
ax.axhline(problem.value, color="0.6", linestyle="dotted", label="CVXPY")
ax.set(xscale="log", xlabel="Epoch", ylabel="Value")
ax.legend()
pyplot.show()
