"""
A race against one-vs-rest
==========================

How soon is a good model found? Both sides walk along their path of C, and the clock runs.

Learn how to time methods fairly: the same rows, the same features, one thread each, quality beside
the seconds. ``python benchmarks/race.py`` is the long version, on ten data sets with folds.
"""

import time

from matplotlib import pyplot
from sklearn.base import clone
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.multiclass import OneVsRestClassifier
from sklearn.svm import LinearSVC

from multimargin import MLODM, RankSVM
from multimargin.datasets import load_debian_tags
from multimargin.measures import micro_f1, ranking_loss

data = load_debian_tags()
words, words_test, Y, Y_test = data.train_test()
weighting = TfidfTransformer(sublinear_tf=True)
X, X_test = weighting.fit_transform(words), weighting.transform(words_test)

# %%
# Ours start each C from the model of the one before it.
settings = {"kernel": "linear", "random_state": 0, "warm_start": True, "n_jobs": 1}
contestants = {
    "mlODM": (MLODM(**settings), "C", (0.3, 1.0, 3.0, 10.0, 30.0)),
    "Rank-SVM": (RankSVM(bias="penalized", **settings), "C", (0.3, 1.0, 3.0, 10.0, 30.0)),
    "one-vs-rest": (
        OneVsRestClassifier(LinearSVC()),
        "estimator__C",
        (0.03, 0.1, 0.3, 1.0, 3.0),
    ),
}
curves = {}
for name, (model, parameter, values) in contestants.items():
    model = clone(model)
    seconds, curve = 0.0, []
    for C in values:
        start = time.process_time()
        model.set_params(**{parameter: C}).fit(X, Y)
        seconds += time.process_time() - start
        scores = model.decision_function(X_test)
        curve.append((seconds, ranking_loss(Y_test, scores), micro_f1(Y_test, scores > 0)))
    curves[name] = curve

print(f"{'':12s}{'seconds':>9s}{'best ranking loss':>19s}{'best micro F1':>15s}")
for name, curve in curves.items():
    seconds, losses, f1 = zip(*curve, strict=True)
    print(f"{name:12s}{seconds[-1]:9.2f}{min(losses):19.4f}{max(f1):15.3f}")

# %%
# A point a C. The lower left is the better ranking, sooner; the upper left the better sets, sooner.
figure, axes = pyplot.subplots(1, 2, figsize=(8.5, 3.4), layout="constrained")
for name, curve in curves.items():
    seconds, losses, f1 = zip(*curve, strict=True)
    for ax, quality in zip(axes, (losses, f1), strict=True):
        ax.plot(seconds, quality, marker="o", label=name)
for ax, title in zip(axes, ("ranking loss", "micro F1"), strict=True):
    ax.set(xscale="log", xlabel="seconds of fitting", ylabel=title)
axes[0].legend()
pyplot.show()
