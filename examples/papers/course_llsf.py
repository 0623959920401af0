"""
A course: features of a label's own
===================================

Huang et al. 2015 on a toy: the problem, what is wrong with it, the printed loop, the fast one.

Learn why the published objective has no minimum where features outnumber rows, which smallest
change gives it one, and what the published loop does in both cases. Beside the paper, read
``multimargin/reference/llsf.py``: it has the paper's algorithms step by step.
"""

import numpy as np
from matplotlib import pyplot

from multimargin import LLSF
from multimargin.reference import llsf

# Six rows, nine features, three labels, each of which depends on two features.
random = np.random.default_rng(1)
X = random.standard_normal((6, 9))
Y = np.column_stack([X[:, 2 * k] + X[:, 2 * k + 1] > 0 for k in range(3)]).astype(int)
alpha, beta = 2.0, 0.1

# %%
# Label dissimilarity (2) has a zero diagonal, so it has a negative eigenvalue; where X^T X has a
# null space, the objective (3) falls without end along it.
R = llsf.label_dissimilarity(Y)
print("eigenvalues of R:", np.linalg.eigvalsh(R).round(3))
printed = llsf.algorithm_1(X, Y, alpha, beta, max_iter=200)
print("the loop as printed, every 50th:", [f"{value:.3g}" for value in printed.history[::50]])

# %%
# The smallest multiple of the identity that makes R harmless adds a ridge and keeps every coupling.
delta = llsf.shift(X, Y, alpha)
optimum, W = llsf.problem_3(X, Y, alpha, beta)
convex = llsf.algorithm_1(X, Y, alpha, beta, max_iter=3000, delta=delta)
print(f"shift {delta:.3f}: exact {optimum:.8f}, printed loop {convex.objective:.8f}")

# %%
# The compiled loop solves the same problem with a certificate.
model = LLSF(alpha, beta, tol=1e-8, max_iter=100_000).fit(X, Y)
print(f"compiled: {model.objective_:.8f}, no model is below {model.dual_objective_:.8f}")
assert abs(model.objective_ - optimum) <= 1e-6 * optimum
print("features of each label:", [np.flatnonzero(w).tolist() for w in model.coef_])

figure, (left, right) = pyplot.subplots(1, 2, figsize=(9, 3.2), layout="constrained")
left.plot(printed.history[:60], color="C3", label="as printed")
left.plot(convex.history[:60], color="C0", label="convex form")
left.set_yscale("symlog", linthresh=10.0)
left.set(xlabel="iteration", ylabel="objective")
left.legend(frameon=False)
above = np.maximum(convex.history[:1000] - optimum, 1e-12)
right.semilogy(above, color="C0")
right.set(xlabel="iteration", ylabel="convex form: above the optimum")
for ax in (left, right):
    ax.spines[["top", "right"]].set_visible(False)
pyplot.show()
