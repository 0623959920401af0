"""
A course: labels that share a covariance
========================================

Zhang & Yeung 2013 on a toy of twelve rows: the problem, the printed alternation, the fast loop.

Learn what the label covariance does, why the alternation can stop above the optimum, and how the
published method, the exact model and the compiled loop agree. Beside the paper, read
``multimargin/reference/mlrl.py``: it has the paper's order, letters and equation numbers.
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
optimum, W, b, Omega = mlrl.problem_6(Phi, Y, lam)
print(f"(6), Omega a variable: {optimum:.6f}")
print(f"(6), trace norm:       {mlrl.trace_norm(Phi, Y, lam)[0]:.6f}")
print("Omega:", Omega.round(3), sep="\n")

# %%
# The printed method takes turns: weights by sequential minimal optimisation of (10), then the
# covariance by (11). Any dual point of (10) also bounds (6) from below.
Z, b, Omega, values = mlrl.mlrl(K, Y, lam, rounds=25, epsilon=1e-8)
print(f"alternation, as printed: {values[-1]:.6f}, bound {mlrl.bound_6(K, Z, lam):.6f}")
*_, ridged = mlrl.mlrl(K, Y, lam, rounds=25, epsilon=1e-8, ridge=0.01)
print(f"with a ridge of 0.01:    {ridged[-1]:.6f}")

# %%
# The compiled loop solves the joint problem itself and ends with a certificate.
model = MLRL(lam, kernel="precomputed", tol=1e-6, max_iter=5000).fit(K, Y)
print(f"compiled: {model.objective_:.6f}, no model is below {model.dual_objective_:.6f}")
assert abs(model.objective_ - optimum) <= 1e-5 * optimum

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
