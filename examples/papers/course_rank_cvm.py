"""
A course: label pairs, their margins and Frank-Wolfe
====================================================

Xu 2013 on a toy of six rows: Rank-SVM and Rank-CVM, primal, dual, the printed loop, the fast one.

Learn what a dual variable of a label pair says, why the loop of Rank-CVM has a step in closed form
where that of Rank-SVM solves a linear programme, and what its printed stop rule is worth. Beside
the paper, read ``multimargin/reference/rank_svm.py`` and ``rank_cvm.py``.
"""

import numpy as np
from matplotlib import pyplot

from multimargin import RankCVM, RankSVM
from multimargin.reference import rank_cvm, rank_svm

# Six rows, three labels: a pair for each relevant label and each that is not.
random = np.random.default_rng(2)
X = random.standard_normal((6, 2))
Y = np.array([[1, 0, 0], [1, 1, 0], [0, 1, 0], [0, 1, 1], [0, 0, 1], [1, 0, 1]])
K, C = X @ X.T, 4.0
i, m, n = rank_svm.pairs(Y)
print(f"{len(i)} pairs, each of weight", rank_svm.upper_bounds(Y, C))

# %%
# Rank-SVM: the primal (18), the dual (26), the model that belongs to its variables (21).
optimum, w, b = rank_svm.problem_18(X, Y, C)
minus, alpha, b = rank_svm.problem_26(K, Y, C)
beta = rank_svm.proxy(alpha, Y)
print(f"(18): {optimum:.7f}    minus (26): {-minus:.7f}")
print("same weights:", np.allclose(X.T @ beta, w, atol=1e-4))

# %%
# What alpha says: 0 for a pair that is further than 1 apart, its weight for one that is closer.
F = rank_svm.scores(K, beta, b)
margins = F[i, m] - F[i, n]
for row in zip(i, m, n, margins, alpha, strict=True):
    print("row {}: label {} over {}: margin {:6.3f}, alpha {:.3f}".format(*row))

# %%
# Frank-Wolfe as printed, section 7.1: a linear programme over all pairs in each epoch. -z bounds
# what is missing to the optimum.
_, _, svm = rank_svm.frank_wolfe(K, Y, C, M=300)
print(f"Rank-SVM: {len(svm)} epochs to -z = {-svm[-1][1]:.1e}, W = {svm[-1][0]:.6f}")

# %%
# Rank-CVM asks for margins of rho, and rewards rho. Its dual (37) lives on a simplex, so the linear
# programme is a search for the smallest entry of the gradient, and the step is (64).
optimum_37, on_simplex = rank_cvm.problem_37(K, Y, C)
_, cvm = rank_cvm.frank_wolfe(K, Y, C, epsilon=1e-6, M=1000)
print(f"(37): {optimum_37:.8f}    section 7.4, {len(cvm)} steps: {cvm[-1][2]:.8f}")
_, early = rank_cvm.frank_wolfe(K, Y, C, epsilon=1e-3, M=50)
above = early[-1][2] / optimum_37 - 1
print(f"by the printed epsilon = 1e-3 and M = 50: {len(early)} steps, {above:.1%} above it")

# %%
# The compiled loops solve the same two problems and end with a certificate.
fast = RankSVM(C, kernel="linear", tol=1e-7, max_iter=10_000, random_state=0).fit(X, Y)
print(f"RankSVM: {fast.objective_:.7f}, no model is below {fast.dual_objective_:.7f}")
assert abs(fast.objective_ - optimum) <= 1e-6 * optimum
fast = RankCVM(C, kernel="linear", tol=1e-7, max_iter=10_000, random_state=0).fit(X, Y)
print(f"RankCVM: {fast.objective_:.8f}, no model is below {fast.dual_objective_:.8f}")
assert abs(fast.objective_ - optimum_37) <= 1e-6 * optimum_37

figure, (left, right) = pyplot.subplots(1, 2, figsize=(9, 3.2), layout="constrained")
for history, best, name in (
    (np.array(svm)[:, :2], minus, "Rank-SVM"),
    (np.array(cvm)[:, 2:], optimum_37, "Rank-CVM"),
):
    W, z = history.T
    size = abs(best)
    left.loglog(np.arange(1, len(W) + 1), np.maximum(W - best, 1e-12) / size, label=name)
    left.loglog(np.arange(1, len(W) + 1), -z / size, ":", color=left.lines[-1].get_color())
left.set(xlabel="step", ylabel="above the optimum (dotted: its bound)")
left.legend(frameon=False)
right.plot(margins, alpha / rank_svm.upper_bounds(Y, C), "o", color="C0")
right.axvline(1, color="0.7", linewidth=1)
right.set(xlabel="margin of a pair", ylabel="alpha, as a share of its bound")
for ax in (left, right):
    ax.spines[["top", "right"]].set_visible(False)
pyplot.show()
