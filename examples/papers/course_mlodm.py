"""
A course: margins that are neither small nor large
==================================================

Tan et al. 2019 on a toy of six rows: the problem, the printed block descent, the fast loop.

Learn what the two dual variables of a pair say, how multiplicative updates approach a solution of a
block, and what theta and mu do to the distribution of margins. Beside the paper, read
``multimargin/reference/mlodm.py``. Lines that begin with ``# >`` are what the code prints.

The method in use: :doc:`/methods/mlodm`. Before this lesson:
:ref:`sphx_glr_gallery_papers_course_llsf.py`. After it:
:ref:`sphx_glr_gallery_papers_course_rank_hlapsvm.py`.
"""

import numpy as np
from matplotlib import pyplot

from multimargin import MLODM
from multimargin.reference import mlodm

# Six rows, three labels.
random = np.random.default_rng(2)
X = random.standard_normal((6, 2))
Y = np.array([[1, 0, 0], [1, 1, 0], [0, 1, 0], [0, 1, 1], [0, 0, 1], [1, 0, 1]])
K, C, theta, mu = X @ X.T, 4.0, 0.2, 0.5
i, k, l = mlodm.pairs(Y)  # noqa: E741

# %%
# Problem (15) and its dual (18). Of the two variables of a pair one is 0: a margin cannot be too
# small and too large.
optimum, W = mlodm.problem_15(X, Y, C, theta, mu)
minus, alpha, beta = mlodm.problem_18(K, Y, C, theta, mu)
print(f"(15): {optimum:.7f}    minus (18): {-minus:.7f}")
F = X @ W
for row in zip(i, k, l, F[i, k] - F[i, l], alpha, beta, strict=True):
    print("row {}: label {} over {}: margin {:6.3f}, alpha {:.4f}, beta {:.4f}".format(*row))
# > (15): 4.9840900    minus (18): 4.9840900
# > row 0: label 0 over 1: margin  0.388, alpha 0.8232, beta 0.0000
# > row 0: label 0 over 2: margin  0.353, alpha 0.8946, beta 0.0000
# > row 1: label 0 over 2: margin  1.513, alpha 0.0000, beta 0.3135
# > row 1: label 1 over 2: margin -0.123, alpha 1.8462, beta 0.0000
# > row 2: label 1 over 0: margin  0.547, alpha 0.5061, beta 0.0000
# > row 2: label 1 over 2: margin  0.004, alpha 1.5930, beta 0.0000
# > row 3: label 1 over 0: margin  0.581, alpha 0.4376, beta 0.0000
# > row 3: label 2 over 0: margin  0.527, alpha 0.5464, beta 0.0000
# > row 4: label 2 over 0: margin -0.382, alpha 2.3641, beta 0.0000
# > row 4: label 2 over 1: margin  0.041, alpha 1.5189, beta 0.0000
# > row 5: label 0 over 1: margin  0.349, alpha 0.9014, beta 0.0000
# > row 5: label 2 over 1: margin  0.050, alpha 1.4992, beta 0.0000

# %%
# Algorithm 2 solves a block, the pairs of one row, by multiplicative updates: variables stay
# positive, and those that are 0 at the solution shrink by about the same factor each time. Here
# the first block: the two pairs of row 0, with alpha first, then beta.
own = i == 0
c_i = mlodm.coefficients(Y)[:, own]
A, M = c_i.T @ c_i * K[0, 0], 1 / (2 * mlodm.pair_weights(Y, C)[own])
H = np.block([[A, -A], [-A, A]]) + 2 * np.diag(np.r_[M, M / mu])
v = np.r_[np.full(2, theta - 1), np.full(2, theta + 1)]
for updates in (1, 10, 100):
    print(f"after {updates:3d} updates:", mlodm.algorithm_2(H, v, 0.0, updates).round(5))
# > after   1 updates: [1.13364 1.13364 0.44891 0.44891]
# > after  10 updates: [0.56165 0.56165 0.0007  0.0007 ]
# > after 100 updates: [0.56061 0.56061 0.      0.     ]

# %%
# Algorithm 1 goes over all rows like that, until an epoch hardly lowers (18).
found_alpha, found_beta, values = mlodm.algorithm_1(K, Y, C, theta, mu, tol=1e-7)
B = mlodm.expansion(found_alpha, found_beta, Y)
print(f"algorithm 1, {len(values)} epochs: {-values[-1]:.7f}")
print(f"its model has the objective {mlodm.objective_15(K, Y, C, theta, mu, B):.7f}")
# > algorithm 1, 53 epochs: 4.9840834
# > its model has the objective 4.9840930

# %%
# The compiled loop solves each block exactly, and certifies the result.
fast = MLODM(C, kernel="linear", theta=theta, mu=mu, tol=1e-8, max_iter=10_000, random_state=0)
fast.fit(X, Y)
print(f"compiled: {fast.objective_:.5f}, no model is below {fast.dual_objective_:.5f}")
assert abs(fast.objective_ - optimum) <= 1e-6 * optimum
assert abs(-values[-1] - optimum) <= 1e-5 * optimum
# > compiled: 4.98409, no model is below 4.98409

# %%
# The role of theta: within theta of 1 a margin costs nothing. A larger theta leaves less loss, so
# the weights are smaller, and margins concentrate near 0 instead of 1.
for wider in (0.0, 0.2, 0.5, 0.8):
    value, W = mlodm.problem_15(X, Y, C, wider, mu)
    margins = X @ W
    margins = margins[i, k] - margins[i, l]
    spread = f"margins {margins.min():5.2f} to {margins.max():4.2f}, mean {margins.mean():.2f}"
    print(f"theta {wider}: objective {value:.4f}, {spread}")
# > theta 0.0: objective 8.0480, margins -0.43 to 1.65, mean 0.36
# > theta 0.2: objective 4.9841, margins -0.38 to 1.51, mean 0.32
# > theta 0.5: objective 1.9096, margins -0.28 to 1.13, mean 0.23
# > theta 0.8: objective 0.3055, margins -0.11 to 0.45, mean 0.09

figure, (left, right) = pyplot.subplots(1, 2, figsize=(9, 3.2), layout="constrained")
left.semilogy(range(1, len(values) + 1), np.maximum(np.array(values) - minus, 1e-12))
left.set(xlabel="epoch of algorithm 1", ylabel="(18) above its optimum")
for height, weight in enumerate((0.05, 0.5, 1.0)):
    _, W = mlodm.problem_15(X, Y, C, theta, weight)
    F = X @ W
    right.plot(F[i, k] - F[i, l], np.full(len(i), height), "o", alpha=0.6)
right.axvspan(1 - theta, 1 + theta, color="0.92")
right.set(xlabel="margins of the pairs", yticks=range(3), yticklabels=["mu 0.05", "0.5", "1"])
right.set_ylim(-0.5, 2.5)
for ax in (left, right):
    ax.spines[["top", "right"]].set_visible(False)
pyplot.show()

# %%
# Exercises
# ---------
#
# 1. mu is the price of a margin that is too large. What are the largest margins for mu = 0.05 and
#    mu = 1, and which is closer to Rank-LSVM without its bias?
# 2. At the solution alpha_ikl = C_i xi_ikl and beta_ikl = mu C_i epsilon_ikl. Check it with the
#    table.
#
# Answers:
for price in (0.05, 1.0):
    F = X @ mlodm.problem_15(X, Y, C, theta, price)[1]
    print(f"1. mu {price}: largest margin {(F[i, k] - F[i, l]).max():.3f}")
print("   Rank-LSVM has no price above the margin: mu = 0.05 is nearer.")
F, C_i = X @ mlodm.problem_15(X, Y, C, theta, mu)[1], mlodm.pair_weights(Y, C)
margin = F[i, k] - F[i, l]
slacks = np.maximum(0, 1 - theta - margin), np.maximum(0, margin - 1 - theta)
print("2. alpha:", np.allclose(alpha, C_i * slacks[0], atol=1e-4), end=", ")
print("beta:", np.allclose(beta, mu * C_i * slacks[1], atol=1e-4))
# > 1. mu 0.05: largest margin 1.756
# > 1. mu 1.0: largest margin 1.411
# >    Rank-LSVM has no price above the margin: mu = 0.05 is nearer.
# > 2. alpha: True, beta: True
