"""
A course: labels as edges of a hypergraph
=========================================

Chen et al. 2009 on a toy of six rows: the Laplacian, the problem, the printed loop, the fast one.

Learn how labels become a graph of the rows, what its Laplacian does to scores, why the method is
Rank-SVM with another kernel, and which of its parts a kernel replaces. Beside the paper, read
``multimargin/reference/rank_hlapsvm.py``. Lines that begin with ``# >`` are what the code prints.

The method in use: :doc:`/methods/rank_hlapsvm`. Before this lesson:
:ref:`sphx_glr_gallery_papers_course_mlodm.py`. After it:
:ref:`sphx_glr_gallery_papers_course_theorems.py`.
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
# > weights of the edges: [0.474 0.113 0.691]
# > Laplacian:
# > [[ 0.95 -0.47  0.    0.    0.   -0.47]
# >  [-0.47  1.17 -0.11 -0.11  0.   -0.47]
# >  [ 0.   -0.11  0.23 -0.11  0.    0.  ]
# >  [ 0.   -0.11 -0.11  1.61 -0.69 -0.69]
# >  [ 0.    0.    0.   -0.69  1.38 -0.69]
# >  [-0.47 -0.47  0.   -0.69 -0.69  2.33]]

# %%
# Problem (10) gives rows of an edge similar scores. Its dual (17) is that of Rank-SVM with the
# kernel (27).
X1 = rank_hlapsvm.append_1(X)
optimum, W = rank_hlapsvm.problem_10(X1, Y, C, lam, L)
A = rank_hlapsvm.kernel_27(X1 @ X1.T, lam, L)
minus, alpha = rank_hlapsvm.problem_17(A, Y, C)
print(f"(10): {optimum:.7f}    minus (17): {-minus:.7f}")
# > (10): 13.5876791    minus (17): 13.5876791

# %%
# Algorithm 1: one pair at a time, each step in closed form.
by_loop, iterates = rank_hlapsvm.algorithm_1(X1, Y, C, lam, L, epsilon=1e-9)
values = [rank_hlapsvm.objective_17(A, Y, alpha) for alpha in iterates]
print(f"algorithm 1, {len(iterates)} passes: {-values[-1]:.7f}")
print("same weights:", np.allclose(by_loop, W, atol=1e-4))
# > algorithm 1, 50 passes: 13.5876791
# > same weights: True

# %%
# The compiled loop. With another kernel, only the inner products of (27) change: the edges keep
# their weights, which are distances of the rows.
settings = {"C": C, "lam": lam, "nu": nu, "tol": 1e-8, "max_iter": 10_000, "random_state": 0}
fast = RankHLapSVM(kernel="linear", **settings).fit(X, Y)
print(f"linear, compiled: {fast.objective_:.5f}, no model is below {fast.dual_objective_:.5f}")
assert abs(fast.objective_ - optimum) <= 1e-6 * optimum
K = np.exp(-((X[:, None] - X) ** 2).sum(axis=2))
A = rank_hlapsvm.kernel_27(K + 1, lam, L)
minus_rbf, _ = rank_hlapsvm.problem_17((A + A.T) / 2, Y, C)
fast = RankHLapSVM(kernel="rbf", gamma=1.0, **settings).fit(X, Y)
print(f"rbf: minus (17) is {-minus_rbf:.5f}, compiled: {fast.objective_:.5f}")
assert abs(fast.objective_ + minus_rbf) <= 1e-6 * -minus_rbf
# > linear, compiled: 13.58768, no model is below 13.58768
# > rbf: minus (17) is 5.71983, compiled: 5.71983

# %%
# The range of a label's scores on its own edge need not shrink with lam: at first that of label 1
# grows. (10) counts the differences of all labels' scores over all edges, by the edges' weights;
# that sum, and no part of it, has to fall. Label 1 has by far the lightest edge.
for weight in (0.0, 0.1, 10.0):
    _, W = rank_hlapsvm.problem_10(X1, Y, C, weight, L)
    F = X1 @ W
    ranges = np.array([np.ptp(F[Y[:, p] == 1, p]) for p in range(3)])
    print(f"lam {weight:4.1f}: ranges", ranges.round(2), f"trace {np.trace(F.T @ L @ F):.2f}")
# > lam  0.0: ranges [2.2  1.24 1.02] trace 16.58
# > lam  0.1: ranges [1.84 1.76 0.65] trace 11.87
# > lam 10.0: ranges [0.26 0.19 0.14] trace 0.25

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

# %%
# Exercises
# ---------
#
# 1. The Laplacian of a hypergraph is that of an ordinary graph. Which edge has the largest weight
#    there, and which labels make it?
# 2. As lam grows without bound, all rows that edges connect get one score a label. What is then
#    left of the objective (10)?
#
# Answers:
u, v = np.unravel_index(np.argmin(L - np.diag(np.diag(L))), L.shape)
print(f"1. rows {u} and {v}, weight {-L[u, v]:.3f}, by the labels", np.flatnonzero(Y[u] * Y[v]))
value, W = rank_hlapsvm.problem_10(X1, Y, C, 1e6, L)
print(f"2. {value:.3f}: all rows are connected, scores {(X1 @ W).mean(axis=0).round(3) + 0.0}")
# > 1. rows 3 and 4, weight 0.691, by the labels [2]
# > 2. 24.000: all rows are connected, scores [0. 0. 0.]
