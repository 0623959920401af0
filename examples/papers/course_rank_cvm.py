"""
A course: label pairs, their margins and Frank-Wolfe
====================================================

Xu 2013 on a toy of six rows: Rank-SVM and Rank-CVM, primal, dual, the printed loop, the fast one.

Learn what a dual variable of a label pair says, why the loop of Rank-CVM has a step in closed form
where that of Rank-SVM solves a linear programme, and what its printed stop rule is worth. Beside
the paper, read ``multimargin/reference/rank_svm.py`` and ``rank_cvm.py``. Lines that begin with
``# >`` are what the code prints.

The methods in use: :doc:`/methods/rank_svm` and :doc:`/methods/rank_cvm`. Before this lesson:
:doc:`/course`. After it: :ref:`sphx_glr_gallery_papers_course_mlrl.py`.
"""

import numpy as np
from matplotlib import pyplot

from multimargin import RankCVM, RankSVM
from multimargin.reference import rank_cvm, rank_lsvm, rank_svm

# Six rows, three labels: a pair for each relevant and each irrelevant label.
random = np.random.default_rng(2)
X = random.standard_normal((6, 2))
Y = np.array([[1, 0, 0], [1, 1, 0], [0, 1, 0], [0, 1, 1], [0, 0, 1], [1, 0, 1]])
K, C = X @ X.T, 4.0
i, m, n = rank_svm.pairs(Y)
print(f"{len(i)} pairs, each of weight", rank_svm.upper_bounds(Y, C))
# > 12 pairs, each of weight [2. 2. 2. 2. 2. 2. 2. 2. 2. 2. 2. 2.]

# %%
# Rank-SVM: the primal (18), the dual (26), the model that belongs to its variables (21).
optimum, w, b = rank_svm.problem_18(X, Y, C)
minus, alpha, b = rank_svm.problem_26(K, Y, C)
beta = rank_svm.proxy(alpha, Y)
print(f"(18): {optimum:.7f}    minus (26): {-minus:.7f}")
print("same weights:", np.allclose(X.T @ beta, w, atol=1e-4))
# > (18): 12.8769135    minus (26): 12.8769135
# > same weights: True

# %%
# The Karush-Kuhn-Tucker conditions give alpha three cases: 0 for a pair with a margin above 1, its
# weight for a margin below 1, and any value between for a margin of exactly 1. Pairs of the third
# case have no slack, f_m - f_n = 1, and determine the free bias.
F = rank_svm.scores(K, beta, b)
margins = F[i, m] - F[i, n]
for row in zip(i, m, n, margins, alpha, strict=True):
    print("row {}: label {} over {}: margin {:6.3f}, alpha {:.3f}".format(*row))
# > row 0: label 0 over 1: margin  1.114, alpha 0.000
# > row 0: label 0 over 2: margin  0.609, alpha 2.000
# > row 1: label 0 over 2: margin  4.241, alpha 0.000
# > row 1: label 1 over 2: margin  0.361, alpha 2.000
# > row 2: label 1 over 0: margin  1.000, alpha 0.436
# > row 2: label 1 over 2: margin -1.285, alpha 2.000
# > row 3: label 1 over 0: margin  1.000, alpha 0.546
# > row 3: label 2 over 0: margin  2.066, alpha 0.000
# > row 4: label 2 over 0: margin -0.693, alpha 2.000
# > row 4: label 2 over 1: margin  0.493, alpha 2.000
# > row 5: label 0 over 1: margin  1.000, alpha 0.982
# > row 5: label 2 over 1: margin  0.619, alpha 2.000

# %%
# The free bias costs the dual its equations H alpha = 0, (24): each label is as often above as
# below, counted by alpha. Their multipliers are the biases, and adding a number to all changes
# nothing.
H = rank_svm.coefficients(Y)
print("H alpha:", (H @ alpha).round(6) + 0.0)
print("b:", b.round(2), "sum", round(b.sum(), 6) + 0.0)
# > H alpha: [0. 0. 0.]
# > b: [-0.07 -0.33  0.4 ] sum 0.0

# %%
# Scores become labels by a threshold t(x), (2), one per row, of least Hamming loss, learned
# from the scores by linear regression.
t = rank_svm.best_thresholds(F, Y)
s, s_0 = rank_svm.threshold(F, Y)
print("cuts of least loss:", t.round(1))
print("their regression:  ", (F @ s + s_0).round(1))
wrong = rank_svm.predict(F, s, s_0) != Y
print(f"{wrong.sum()} of 18 labels are wrong, by a cut at 0 for all rows {((F > 0) != Y).sum()}")
# > cuts of least loss: [ 0.3 -1.4 -0.6 -0.5 -0.3 -0.2]
# > their regression:   [-0.5 -0.8 -0.2 -0.3 -0.5 -0.5]
# > 4 of 18 labels are wrong, by a cut at 0 for all rows 6

# %%
# Frank-Wolfe as printed, section 7.1: a linear programme over all pairs in each epoch. -z bounds
# the distance to the optimum. One epoch by hand: the gradient g, the best vertex for it, and the
# best step towards it.
start = alpha / 2
Theta = (H.T @ H) * K[np.ix_(i, i)]
g = Theta @ start - 1
vertex, _ = rank_svm.linear_programme(g, Y, C)
d = vertex - start
step = min(-(g @ d) / (d @ Theta @ d), 1.0)
moved = rank_svm.objective_26(K, Y, start + step * d)
print(f"step {step:.4f}, W falls from {rank_svm.objective_26(K, Y, start):.4f} to {moved:.4f}")
_, _, svm = rank_svm.frank_wolfe(K, Y, C, 1e-3, 300, start)
print(f"Rank-SVM: {len(svm)} epochs to -z = {-svm[-1][1]:.1e}, W = {svm[-1][0]:.6f}")
# > step 0.2065, W falls from -6.7103 to -7.6747
# > Rank-SVM: 300 epochs to -z = 1.5e-02, W = -12.866698

# %%
# Rank-CVM asks for margins of rho, and rewards rho. Its dual (37) lives on a simplex, so the linear
# programme is a search for the smallest entry of the gradient, and the step is (64).
optimum_37, on_simplex = rank_cvm.problem_37(K, Y, C)
_, cvm = rank_cvm.frank_wolfe(K, Y, C, epsilon=1e-6, M=1000)
print(f"(37): {optimum_37:.8f}    section 7.4, {len(cvm)} steps: {cvm[-1][2]:.8f}")
_, early = rank_cvm.frank_wolfe(K, Y, C, epsilon=1e-3, M=50)
above = early[-1][2] / optimum_37 - 1
print(f"by the printed epsilon = 1e-3 and M = 50: {len(early)} steps, {above:.1%} above it")
# > (37): 0.03445594    section 7.4, 8650 steps: 0.03445594
# > by the printed epsilon = 1e-3 and M = 50: 600 steps, 0.7% above it

# %%
# The printed stop rule is a distance, not a share: the optimum of (37) is 1 / (2 S), with the sum S
# of Rank-LSVM's variables, which grow with C. What is 3% of the optimum here is more than all of it
# there.
for larger in (4.0, 40.0, 400.0):
    best, _ = rank_cvm.problem_37(K, Y, larger)
    _, steps = rank_cvm.frank_wolfe(K, Y, larger, epsilon=1e-3, M=50)
    missing = steps[-1][2] / best - 1
    print(f"C = {larger:5.0f}: optimum {best:.6f}, after {len(steps)} steps {missing:.0%} above it")
# > C =     4: optimum 0.034456, after 600 steps 1% above it
# > C =    40: optimum 0.004062, after 600 steps 12% above it
# > C =   400: optimum 0.000428, after 600 steps 98% above it

# %%
# The compiled loops solve the same two problems and end with a certificate.
fast = RankSVM(C, kernel="linear", tol=1e-7, max_iter=10_000, random_state=0).fit(X, Y)
print(f"RankSVM: {fast.objective_:.5f}, no model is below {fast.dual_objective_:.5f}")
assert abs(fast.objective_ - optimum) <= 1e-6 * optimum
fast = RankCVM(C, kernel="linear", tol=1e-7, max_iter=10_000, random_state=0).fit(X, Y)
print(f"RankCVM: {fast.objective_:.7f}, no model is below {fast.dual_objective_:.7f}")
assert abs(fast.objective_ - optimum_37) <= 1e-6 * optimum_37
# > RankSVM: 12.87691, no model is below 12.87691
# > RankCVM: 0.0344559, no model is below 0.0344559

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

# %%
# Exercises
# ---------
#
# 1. Which differences of the biases do the pairs of the third case fix? What does that say of the
#    bias of label 2?
# 2. (30) has the value -1 / (4 P) where Rank-LSVM, the same problem with the margin 1, has P. Check
#    it, and find rho.
#
# Answers:
third = (alpha > 1e-4) & (alpha < rank_svm.upper_bounds(Y, C) - 1e-4)
print("1. pairs of labels", sorted({*zip(m[third].tolist(), n[third].tolist(), strict=True)}))
print("   Label 2 is in none: its bias may move a little, and the optimum stays.")
for moved in (-0.01, 0.01):
    value = rank_svm.objective_18(K, Y, C, beta, np.add(b, [0, 0, moved]))
    print(f"   moved by {moved}: {value:.6f}, the optimum is {optimum:.6f}")
P, *_ = rank_lsvm.primal(X, Y, C)
value, *_, rho = rank_cvm.problem_30(X, Y, C)
print(
    f"2. (30) is {value:.6f}, -1 / (4 P) is {-1 / (4 * P):.6f}; rho {rho:.6f} is {1 / (2 * P):.6f}"
)
assert abs(rho * 2 * P - 1) <= 1e-4
# > 1. pairs of labels [(0, 1), (1, 0)]
# >    Label 2 is in none: its bias may move a little, and the optimum stays.
# >    moved by -0.01: 12.876914, the optimum is 12.876914
# >    moved by 0.01: 12.876914, the optimum is 12.876914
# > 2. (30) is -0.034456, -1 / (4 P) is -0.034456; rho 0.068912 is 0.068912
