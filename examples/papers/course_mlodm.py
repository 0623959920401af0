"""
A course: margins that are neither small nor large
==================================================

Tan et al. 2019 on a toy of six rows: the problem, the printed block descent, the fast loop.

Learn what the two dual variables of a pair say, how multiplicative updates approach a solution of
a block, and what theta and mu do to the distribution of margins. Beside the paper, read
``multimargin/reference/mlodm.py``.
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

# %%
# Algorithm 1 solves for the pairs of one row at a time, each time by algorithm 2: factors that keep
# the variables positive and approach the zeros without end.
found_alpha, found_beta, values = mlodm.algorithm_1(K, Y, C, theta, mu, tol=1e-7)
B = mlodm.expansion(found_alpha, found_beta, Y)
print(f"algorithm 1, {len(values)} epochs: {-values[-1]:.7f}")
print(f"its model has the objective {mlodm.objective_15(K, Y, C, theta, mu, B):.7f}")

# %%
# The compiled loop solves each block exactly, and certifies the result.
fast = MLODM(C, kernel="linear", theta=theta, mu=mu, tol=1e-8, max_iter=10_000, random_state=0)
fast.fit(X, Y)
print(f"compiled: {fast.objective_:.7f}, no model is below {fast.dual_objective_:.7f}")
assert abs(fast.objective_ - optimum) <= 1e-6 * optimum
assert abs(-values[-1] - optimum) <= 1e-5 * optimum

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
