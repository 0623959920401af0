"""
A course: features of a label's own
===================================

Huang et al. 2015 on a toy: the problem, what is wrong with it, the printed loop, the fast one.

Learn why the published objective has no minimum where features outnumber rows, which smallest
change gives it one, and what the published loop does in both cases. Beside the paper, read
``multimargin/reference/llsf.py``: it has the paper's algorithms step by step. Lines that begin with
``# >`` are what the code prints.

The method in use: :doc:`/methods/llsf`. Before this lesson:
:ref:`sphx_glr_gallery_papers_course_mlrl.py`. After it:
:ref:`sphx_glr_gallery_papers_course_mlodm.py`.
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
# null space, the objective (3) is unbounded below along it.
R = llsf.label_dissimilarity(Y)
print("eigenvalues of R:", np.linalg.eigvalsh(R).round(3))
printed = llsf.algorithm_1(X, Y, alpha, beta, max_iter=200)
print("the loop as printed, every 50th:", [f"{value:.3g}" for value in printed.history[::50]])
# > eigenvalues of R: [-0.791 -0.333  1.124]
# > the loop as printed, every 50th: ['19.4', '-9.65e+05', '-5.57e+14', '-1.36e+24']

# %%
# The smallest multiple of the identity that makes R positive semidefinite is a ridge term.
delta = llsf.shift(X, Y, alpha)
optimum, W = llsf.problem_3(X, Y, alpha, beta)
convex = llsf.algorithm_1(X, Y, alpha, beta, max_iter=3000, delta=delta)
print(f"shift {delta:.3f}: exact {optimum:.8f}, printed loop {convex.objective:.8f}")
# > shift 0.791: exact 2.81426071, printed loop 2.81426071

# %%
# The compiled loop solves the same problem with a certificate.
model = LLSF(alpha, beta, tol=1e-8, max_iter=100_000).fit(X, Y)
print(f"compiled: {model.objective_:.5f}, no model is below {model.dual_objective_:.5f}")
assert abs(model.objective_ - optimum) <= 1e-6 * optimum
print("features of each label:", [np.flatnonzero(w).tolist() for w in model.coef_])
# > compiled: 2.81426, no model is below 2.81426
# > features of each label: [[1, 2, 3, 4, 5, 7, 8], [1, 2, 3, 4, 6, 7], [0, 1, 3, 4, 5, 6, 7, 8]]

# %%
# Label 0 depends on the features 0 and 1, but feature 0 is not selected: a coefficient is 0 where
# the gradient of the smooth part is within beta. Six rows cannot distinguish feature 0 from the
# seven selected instead; sixty can, with a larger beta.
W = model.coef_.T
slope = llsf.gradient(X, Y, W, R + delta * np.eye(3), alpha)
print(f"feature 0, label 0: gradient {slope[0, 0]:.3f}, within beta = {beta}")
print(f"feature 1, label 0: gradient {slope[1, 0]:.3f}, coefficient {W[1, 0]:.3f}")
many = random.standard_normal((60, 9))
labels = np.column_stack([many[:, 2 * k] + many[:, 2 * k + 1] > 0 for k in range(3)]).astype(int)
for stronger in (2.0, 5.0, 10.0):
    own = LLSF(alpha, stronger, tol=1e-8, max_iter=100_000).fit(many, labels).coef_
    print(f"60 rows, beta {stronger:4.1f}:", [np.flatnonzero(w).tolist() for w in own])
# > feature 0, label 0: gradient -0.051, within beta = 0.1
# > feature 1, label 0: gradient -0.100, coefficient 0.032
# > 60 rows, beta  2.0: [[0, 1, 2, 5, 6, 7, 8], [0, 2, 3, 5, 8], [0, 1, 2, 3, 4, 5, 6, 8]]
# > 60 rows, beta  5.0: [[0, 1, 2, 7, 8], [0, 2, 3, 5, 8], [2, 4, 5, 8]]
# > 60 rows, beta 10.0: [[0, 1, 2], [2, 3], [4, 5]]

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

# %%
# Exercises
# ---------
#
# 1. What is the smallest beta without any feature? W = 0 is the solution where the gradient there,
#    -X^T Y, is within beta.
# 2. The printed L_f of (15) is an upper bound of the Lipschitz constant; by how much do larger
#    steps of 1 / (sigma_max(X^T X) + alpha sigma_max(R + delta I)) shorten the printed loop?
#
# Answers:
most = np.abs(X.T @ Y).max()
for just in (0.999, 1.001):
    _, W = llsf.problem_3(X, Y, alpha, just * most)
    print(f"1. beta = {just} x {most:.3f}: {np.count_nonzero(np.abs(W) > 1e-6)} coefficients")
shifted = R + delta * np.eye(3)
tight = np.linalg.norm(X.T @ X, 2) + alpha * np.linalg.norm(shifted, 2)
print(f"2. L_f {llsf.lipschitz(X, shifted, alpha):.2f}, tight {tight:.2f}: at most sqrt(2) times")
# > 1. beta = 0.999 x 4.066: 1 coefficients
# > 1. beta = 1.001 x 4.066: 0 coefficients
# > 2. L_f 33.62, tight 27.29: at most sqrt(2) times
