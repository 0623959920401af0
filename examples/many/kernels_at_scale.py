"""
Kernels at scale
================

A kernel for more rows than fit into a kernel matrix: map the rows first, then fit a linear
model.

Learn how Nystroem's map brings a linear model to the quality of the kernel, at the price of its
number of components. The mapped rows can also be distributed over many machines.
"""

from time import perf_counter

from matplotlib import pyplot
from sklearn.kernel_approximation import Nystroem
from sklearn.pipeline import make_pipeline

from multimargin import RankSVM
from multimargin.datasets import load_digit_attributes
from multimargin.measures import ranking_loss

X, X_test, Y, Y_test = load_digit_attributes().train_test()
linear = RankSVM(C=10.0, kernel="linear", random_state=0)
MODELS = {"linear": linear}
for components in (25, 100, 400):
    features = Nystroem(gamma=0.5, n_components=components, random_state=0)
    MODELS[f"{components} components"] = make_pipeline(features, linear)
MODELS["the kernel itself"] = RankSVM(C=10.0, kernel="rbf", gamma=0.5, random_state=0)

losses = {}
print(f"{'':20s}{'seconds':>8s}{'ranking loss':>14s}")
for name, model in MODELS.items():
    start = perf_counter()
    model.fit(X, Y)
    seconds = perf_counter() - start
    losses[name] = loss = ranking_loss(Y_test, model.decision_function(X_test))
    print(f"{name:20s}{seconds:8.2f}{loss:14.4f}")

figure, ax = pyplot.subplots(figsize=(6.4, 2.6), layout="constrained")
ax.barh(list(losses), list(losses.values()), color="#4477aa")
ax.invert_yaxis()
ax.set_xlabel("Ranking loss on the test images")
pyplot.show()
