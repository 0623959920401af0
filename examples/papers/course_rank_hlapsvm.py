"""
A course: labels as edges of a hypergraph
=========================================

Chen et al. 2009 on a toy of six rows: the Laplacian, the problem, the printed loop, the fast one.

Learn how labels become a graph of the rows, what its Laplacian does to scores, why the method is
Rank-SVM with another kernel, and which of its parts a kernel replaces. Beside the paper, read
``multimargin/reference/rank_hlapsvm.py``.
"""

import numpy as np
from matplotlib import pyplot

from multimargin import RankHLapSVM
from multimargin.reference import rank_hlapsvm

# Six rows, three labels.
random = np.random.default_rng(2)
X = random.standard_normal((6, 2))
Y = np.array([[1, 0, 0], [1, 1, 0], [0, 1, 0], [0, 1, 1], [0, 0, 1], [1, 0, 1]])
C, lam, nu = 4.0, 0.1, 0.2

# %%
# A label is an edge between all rows that have it, the heavier the closer they lie, (29) and (30).
w = rank_hlapsvm.hyperedge_weights(X, Y, nu)
L = rank_hlapsvm.laplacian(Y, w)
print("weights of the edges:", w.round(3))
print("Laplacian:", L.round(2), sep="\n")

# %%
# Problem (10) draws rows of an edge to similar scores. Its dual (17) is that of Rank-SVM with the
# kernel (27).
X1 = rank_hlapsvm.append_1(X)
optimum, W = rank_hlapsvm.problem_10(X1, Y, C, lam, L)
A = rank_hlapsvm.kernel_27(X1 @ X1.T, lam, L)
minus, alpha = rank_hlapsvm.problem_17(A, Y, C)
print(f"(10): {optimum:.7f}    minus (17): {-minus:.7f}")

# %%
# Algorithm 1: one pair at a time, each step in closed form.
by_loop, iterates = rank_hlapsvm.algorithm_1(X1, Y, C, lam, L, epsilon=1e-9)
values = [rank_hlapsvm.objective_17(A, Y, alpha) for alpha in iterates]
print(f"algorithm 1, {len(iterates)} passes: {-values[-1]:.7f}")
print("same weights:", np.allclose(by_loop, W, atol=1e-4))

# %%
# The compiled loop. With another kernel, only the inner products of (27) change: the edges keep
# their weights, which are distances of the rows.
settings = {"C": C, "lam": lam, "nu": nu, "tol": 1e-8, "max_iter": 10_000, "random_state": 0}
fast = RankHLapSVM(kernel="linear", **settings).fit(X, Y)
print(f"linear, compiled: {fast.objective_:.7f}, no model is below {fast.dual_objective_:.7f}")
assert abs(fast.objective_ - optimum) <= 1e-6 * optimum
K = np.exp(-((X[:, None] - X) ** 2).sum(axis=2))
A = rank_hlapsvm.kernel_27(K + 1, lam, L)
minus_rbf, _ = rank_hlapsvm.problem_17((A + A.T) / 2, Y, C)
fast = RankHLapSVM(kernel="rbf", gamma=1.0, **settings).fit(X, Y)
print(f"rbf: minus (17) is {-minus_rbf:.7f}, compiled: {fast.objective_:.7f}")
assert abs(fast.objective_ + minus_rbf) <= 1e-6 * -minus_rbf

figure, (left, right) = pyplot.subplots(1, 2, figsize=(9, 3.2), layout="constrained")
left.semilogy(range(1, len(values) + 1), np.maximum(np.array(values) - minus, 1e-12))
left.set(xlabel="pass of algorithm 1", ylabel="(17) above its optimum")
path = 10.0 ** np.linspace(-3, 1, 13)
spreads = np.zeros((len(path), 3))
for at, weight in enumerate(path):
    _, W = rank_hlapsvm.problem_10(X1, Y, C, weight, L)
    spreads[at] = [np.ptp((X1 @ W)[Y[:, p] == 1, p]) for p in range(3)]
right.semilogx(path, spreads, label=["label 0", "label 1", "label 2"])
right.set(xlabel="lam", ylabel="range of a label's scores on its edge")
right.legend(frameon=False)
for ax in (left, right):
    ax.spines[["top", "right"]].set_visible(False)
pyplot.show()
