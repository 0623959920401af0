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

from multimargin import RankSVM
from multimargin.datasets import load_digit_attributes
from multimargin.plots import ConvergenceDisplay

X, Y = load_digit_attributes().split("train")
X, Y = X[:60], Y[:60]


def fit(solver: str, bias: str) -> tuple[RankSVM, float]:
    model = RankSVM(
        C=1.0,
        kernel="rbf",
        bias=bias,
        solver=solver,
        tol=1e-3 if solver == "frank-wolfe" else 1e-8,
        max_iter=20_000,
        random_state=0,
    )
    start = perf_counter()
    model.fit(X, Y)
    return model, perf_counter() - start


print("solver        bias        objective      duality gap  scores differ by   seconds")
for bias in ("free", "penalized", "none"):
    exact, exact_seconds = fit("exact", bias)
    for solver in ("exact", "bcd", "dcd", "frank-wolfe"):
        model, seconds = (exact, exact_seconds) if solver == "exact" else fit(solver, bias)
        # A constant added to the scores of all labels changes neither the problem nor the ranking.
        difference = model.label_scores(X) - exact.label_scores(X)
        difference -= difference.mean(axis=1, keepdims=True)
        print(
            f"{solver:14s}{bias:10s}{model.objective_:12.7f}{model.dual_gap_:17.1e}"
            f"{np.abs(difference).max():18.1e}{seconds:10.3f}"
        )
        # The gap bounds the distance to the optimum: that is what it is for.
        assert model.objective_ - exact.objective_ <= model.tol * model.objective_ + 1e-6

# %%
# How the gap of each closes.
solvers = ("bcd", "dcd", "frank-wolfe")
ConvergenceDisplay.from_estimator({solver: fit(solver, "penalized")[0] for solver in solvers})
pyplot.show()
