"""
A course: labels that share a covariance
========================================

Zhang & Yeung 2013 on a toy of twelve rows: the problem, the printed alternation, the fast loop.

Learn what the label covariance does, why the alternation can stop above the optimum, and how the
published method, the exact model and the compiled loop agree. Beside the paper, read
``multimargin/reference/mlrl.py``: it has the paper's order, letters and equation numbers. Lines
that begin with ``# >`` are what the code prints.

The methods in use: :doc:`/methods/mlrl` and :doc:`/methods/ssmlrl`. Before this lesson:
:ref:`sphx_glr_gallery_papers_course_rank_cvm.py`. After it:
:ref:`sphx_glr_gallery_papers_course_llsf.py`.
"""

import numpy as np
from matplotlib import pyplot

from multimargin import MLRL
from multimargin.reference import mlrl

# Twelve rows, three labels; the first two often go together.
random = np.random.default_rng(0)
Phi = random.standard_normal((12, 3))
Y = (Phi @ [[1.0, 0.9, -0.2], [0.3, 0.4, 0.1], [0.0, 0.1, 1.0]] > 0.1).astype(int)
K, lam = Phi @ Phi.T, 0.05

# %%
# Problem (6) has weights, biases and the covariance as variables: a semidefinite programme. With
# the best covariance put in, its regulariser is the squared trace norm of the weights.
optimum, W, b, best = mlrl.problem_6(Phi, Y, lam)
print(f"(6), Omega a variable: {optimum:.6f}")
print(f"(6), trace norm:       {mlrl.trace_norm(Phi, Y, lam)[0]:.6f}")
print("Omega:", best.round(3), sep="\n")
# > (6), Omega a variable: 1.008109
# > (6), trace norm:       1.008109
# > Omega:
# > [[ 0.29   0.226 -0.17 ]
# >  [ 0.226  0.249  0.031]
# >  [-0.17   0.031  0.461]]

# %%
# The printed method takes turns: weights by sequential minimal optimisation of (10), then the
# covariance by (11). Any dual point of (10) also bounds (6) from below.
Z, b, Omega, values = mlrl.mlrl(K, Y, lam, rounds=25, epsilon=1e-8)
print(f"alternation, as printed: {values[-1]:.6f}, bound {mlrl.bound_6(K, Z, lam):.6f}")
*_, ridged = mlrl.mlrl(K, Y, lam, rounds=25, epsilon=1e-8, ridge=0.01)
print(f"with a ridge of 0.01:    {ridged[-1]:.6f}")
# > alternation, as printed: 1.011074, bound 1.003544
# > with a ridge of 0.01:    1.010624

# %%
# Why it stops above the optimum: an eigenvalue of Omega falls to 0, and in (10) a direction of
# labels with the eigenvalue 0 has no weights, so that (11) gives it 0 again. The best covariance is
# singular as well, but along another direction; the alternation cannot reach it.
for rounds in (1, 5, 25):
    *_, after, _ = mlrl.mlrl(K, Y, lam, rounds=rounds, epsilon=1e-8)
    print(f"eigenvalues after {rounds:2d} rounds:", np.linalg.eigvalsh(after).round(5) + 0.0)
print("eigenvalues of the best:     ", np.linalg.eigvalsh(best).round(5) + 0.0)
ours, theirs = np.linalg.eigh(after)[1][:, 0], np.linalg.eigh(best)[1][:, 0]
angle = np.degrees(np.arccos(min(1.0, abs(ours @ theirs))))
print(f"angle between the two directions without weights: {angle:.1f} degrees")
# > eigenvalues after  1 rounds: [0.05673 0.39831 0.54496]
# > eigenvalues after  5 rounds: [0.00131 0.41648 0.58221]
# > eigenvalues after 25 rounds: [0.      0.41661 0.58339]
# > eigenvalues of the best:      [0.      0.39983 0.60017]
# > angle between the two directions without weights: 6.0 degrees

# %%
# The compiled loop solves the joint problem itself and ends with a certificate.
model = MLRL(lam, kernel="precomputed", tol=1e-6, max_iter=5000).fit(K, Y)
print(f"compiled: {model.objective_:.5f}, no model is below {model.dual_objective_:.5f}")
assert abs(model.objective_ - optimum) <= 1e-5 * optimum
# > compiled: 1.00811, no model is below 1.00811

figure, (left, right) = pyplot.subplots(1, 2, figsize=(9, 3.2), layout="constrained")
for history, name in ((values, "as printed"), (ridged, "ridge 0.01")):
    left.semilogy(range(1, 26), np.maximum(np.array(history) - optimum, 1e-9), label=name)
left.set(xlabel="round", ylabel="objective above the optimum")
left.legend(frameon=False)
left.spines[["top", "right"]].set_visible(False)
image = right.imshow(model.label_correlation_, vmin=-1, vmax=1, cmap="RdBu_r")
right.set(title="correlation of the labels", xticks=range(3), yticks=range(3))
figure.colorbar(image, ax=right)
pyplot.show()

# %%
# Exercises
# ---------
#
# 1. Start from labels that are unrelated, Omega = I / 3, and keep it: how far above the optimum is
#    (8), and which method of its own is that?
# 2. Every Z of (10), for whatever Omega, bounds (6) from below by `bound_6`. Is the best Z for the
#    covariance of the alternation as good a bound as that for the best covariance?
#
# Answers:
unrelated, *_ = mlrl.problem_8(Phi, Y, lam, np.eye(3) / 3)
print(f"1. {unrelated:.6f}: a support vector machine for each label, with 3 lam")
for name, covariance in (("alternation", after), ("best", best)):
    _, dual = mlrl.problem_10(K, Y, lam, covariance)
    print(f"2. {name}: {mlrl.bound_6(K, dual, lam):.5f}, the optimum is {optimum:.5f}")
# > 1. 1.149708: a support vector machine for each label, with 3 lam
# > 2. alternation: 1.00354, the optimum is 1.00811
# > 2. best: 1.00811, the optimum is 1.00811
