"""
Certified convergence
=====================

How far from the optimum, at any moment? The duality gap bounds the true error from above.

Learn that objective and lower bound enclose the optimum, which an interior-point method of CVXPY
(pip install multimargin[exact]) confirms. Run it with a path to save the picture of the README.
"""

import sys
from time import perf_counter

from matplotlib import pyplot
from sklearn.metrics.pairwise import rbf_kernel

from multimargin import RankSVM
from multimargin.datasets import load_digit_attributes
from multimargin.plots import ConvergenceDisplay
from multimargin.reference.exact import hinge

X, Y = load_digit_attributes().split("train")
X, Y = X[:80], Y[:80]


# The rbf kernel of RankSVM with gamma="scale", its default.
K = rbf_kernel(X, gamma=1.0 / (X.shape[1] * X.var()))


def fit(solver, tol=1e-8):
    model = RankSVM(
        C=10.0, bias="penalized", solver=solver, tol=tol, max_iter=20_000, random_state=0
    )
    return model.fit(X, Y)


def seconds(model):
    return model.history_["seconds"][-1]


began = perf_counter()
optimum = hinge(K, Y, 10.0, "penalized").upper
seconds_of_cvxpy = perf_counter() - began
# The fastest of many runs: on a busy machine single ones stand still now and then.
models = {
    "multimargin": min((fit("bcd") for _ in range(10)), key=seconds),
    "Frank-Wolfe, as published": min((fit("frank-wolfe", 1e-2) for _ in range(10)), key=seconds),
}
print(f"{'interior-point method (CVXPY)':32s}{seconds_of_cvxpy:7.3f} s  optimum   {optimum:12.8f}")
for name, model in models.items():
    primal, dual = model.history_["primal"], model.history_["dual"]
    gaps, errors = (primal - dual) / primal, (primal - optimum) / primal
    print(
        f"{name:32s}{seconds(model):7.3f} s  objective {model.objective_:12.8f}"
        f"  gap {model.dual_gap_:.0e}, true error {errors[-1]:.0e}"
    )
    # The interior-point method itself is accurate to nine digits or so.
    assert (errors <= gaps + 1e-8).all()

# %%
# Left the two numbers between which the optimum lies, right how fast they meet.
figure, (left, right) = pyplot.subplots(1, 2, figsize=(9.5, 3.4), layout="constrained")
history = models["multimargin"].history_
left.fill_between(history["epoch"], history["dual"], history["primal"], color="0.92")
ConvergenceDisplay({"multimargin": history}).plot(quantity="objectives", ax=left)
left.axhline(optimum, color="black", linewidth=1.0, linestyle=":")
left.annotate("optimum", (history["epoch"][-1], 0.95 * optimum), ha="right", va="top")
left.set(xscale="log", title="The optimum lies between two known numbers")

ConvergenceDisplay.from_estimator(models, x="seconds", ax=right)
right.plot(seconds_of_cvxpy, 1e-8, "k*", markersize=10.0)
right.annotate("CVXPY", (seconds_of_cvxpy, 3e-8), ha="center")
right.set(xscale="log", ylim=(3e-9, 30.0), title="Distance to the optimum, certified")
for ax in (left, right):
    ax.spines[["top", "right"]].set_visible(False)
    ax.get_legend().set_frame_on(False)
if len(sys.argv) > 1:
    figure.savefig(sys.argv[1], dpi=130)
pyplot.show()
