"""
Verify against the exact problem
================================

Is it the optimum? Compare every solver with an interior-point method on a small problem.

Learn that all solvers reach the same objective and the same scores, and how to check it yourself.
Needs CVXPY: pip install multimargin[exact]
"""

from time import perf_counter

import numpy as np
from matplotlib import pyplot
from sklearn.metrics.pairwise import rbf_kernel

from multimargin import RankSVM
from multimargin.datasets import load_digit_attributes
from multimargin.plots import ConvergenceDisplay
from multimargin.reference.exact import hinge

X, Y = load_digit_attributes().split("train")
X, Y = X[:60], Y[:60]
K = rbf_kernel(X, gamma=0.05)


def fit(solver: str, bias: str) -> tuple[RankSVM, float]:
    model = RankSVM(
        C=1.0,
        kernel="rbf",
        gamma=0.05,
        bias=bias,
        solver=solver,
        tol=1e-3 if solver == "frank-wolfe" else 1e-8,
        max_iter=20_000,
        random_state=0,
    )
    start = perf_counter()
    model.fit(X, Y)
    return model, perf_counter() - start


row = "{:14s}{:10s}{:12.7f}{:17.1e}{:18.1e}{:10.3f}".format
print("solver        bias        objective      duality gap  scores differ by   seconds")
for bias in ("free", "penalized", "none"):
    start = perf_counter()
    exact = hinge(K, Y, 1.0, bias)
    gap = (exact.upper - exact.lower) / exact.upper
    print(row("CVXPY", bias, exact.upper, gap, 0.0, perf_counter() - start))
    for solver in ("bcd", "dcd", "frank-wolfe"):
        model, seconds = fit(solver, bias)
        # A constant added to the scores of all labels changes neither the problem nor the ranking.
        difference = model.label_scores(X) - (K @ exact.B + exact.b)
        difference -= difference.mean(axis=1, keepdims=True)
        apart = np.abs(difference).max()
        print(row(solver, bias, model.objective_, model.dual_gap_, apart, seconds))
        # The gap bounds the distance to the optimum: that is what it is for.
        assert model.objective_ - exact.upper <= model.tol * model.objective_ + 1e-6

# %%
# How the gap of each closes.
solvers = ("bcd", "dcd", "frank-wolfe")
ConvergenceDisplay.from_estimator({solver: fit(solver, "penalized")[0] for solver in solvers})
pyplot.show()
