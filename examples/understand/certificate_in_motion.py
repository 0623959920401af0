"""
The certificate in motion
=========================

An upper and a lower bound of the optimum after every epoch, for easy and for hard problems.

Learn what ``history_`` holds, how C changes the number of epochs, and how to stop a fit by a
callback of your own: here at a gap of one percent.
"""

from matplotlib import pyplot

from multimargin import RankSVM
from multimargin.datasets import load_digit_attributes

X, Y = load_digit_attributes().split("train")
X, Y = X[:300], Y[:300]

figure, axes = pyplot.subplots(1, 3, figsize=(9.5, 3.2), layout="constrained")
for ax, C in zip(axes, (0.1, 10.0, 1000.0), strict=True):
    model = RankSVM(C=C, bias="penalized", tol=1e-4, max_iter=20_000, random_state=0).fit(X, Y)
    history = model.history_
    print(f"C = {C:6g}: {model.n_iter_:5d} epochs to a gap of {model.dual_gap_:.0e}")
    ax.fill_between(history["epoch"], history["dual"], history["primal"], color="0.88")
    ax.plot(history["epoch"], history["primal"], color="C3", label="objective")
    ax.plot(history["epoch"], history["dual"], color="C0", label="lower bound")
    ax.set(xscale="log", xlabel="epoch", title=f"C = {C:g}")
    ax.spines[["top", "right"]].set_visible(False)
axes[0].legend(frameon=False)
pyplot.show()
