"""
Tags for software
=================

Which of 84 tags does a program deserve, by the words of its description?

Learn how a pairwise method and one linear machine a label differ on text with many labels: in the
order of the tags, and in the tags that are chosen.
"""

import numpy as np
from matplotlib import pyplot
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.multiclass import OneVsRestClassifier
from sklearn.svm import LinearSVC

from multimargin import MLODM
from multimargin.datasets import load_debian_tags
from multimargin.measures import all_measures

data = load_debian_tags()
counts, counts_test, Y, Y_test = data.train_test()
weighting = TfidfTransformer(sublinear_tf=True)
X, X_test = weighting.fit_transform(counts), weighting.transform(counts_test)
print(f"{X.shape[0]} programs, {X.shape[1]} words, {Y.shape[1]} tags")

# %%
# Both get a few values of C; what is printed is the best ranking loss of each on the test rows, so
# that neither suffers from a choice that the other was spared.
CANDIDATES = {
    "mlODM": [MLODM(C=C, kernel="linear", random_state=0) for C in (3.0, 10.0, 30.0)],
    "one-vs-rest": [OneVsRestClassifier(LinearSVC(C=C)) for C in (0.03, 0.1, 0.3, 1.0)],
}
best, points = {}, {}
for name, models in CANDIDATES.items():
    found = []
    for model in models:
        model.fit(X, Y)
        measures = all_measures(Y_test, model.predict(X_test), model.decision_function(X_test))
        found.append((measures["ranking_loss"], measures, model))
    points[name] = [(loss, measures["micro_f1"]) for loss, measures, _ in found]
    best[name] = min(found, key=lambda entry: entry[0])[1:]

print(f"{'':14s}{'ranking loss':>14s}{'coverage':>10s}{'one-error':>11s}{'micro F1':>10s}")
for name, (measures, _) in best.items():
    row = (measures[key] for key in ("ranking_loss", "coverage", "one_error", "micro_f1"))
    print("{:14s}{:14.4f}{:10.2f}{:11.3f}{:10.3f}".format(name, *row))

# %%
# The tags that the ranking puts first, for three programs; a star marks those they have.
scores = best["mlODM"][1].label_scores(X_test)
names = np.array(data.label_names)
for row in (3, 40, 200):
    first = np.argsort(-scores[row])[:6]
    print(", ".join(f"{names[k]}{'*' if Y_test[row, k] else ''}" for k in first))

# %%
# Every C of both: the left is the better ranking, the top the better choice of tags. One-vs-rest
# ranks best at one C and chooses best at another.
figure, ax = pyplot.subplots(figsize=(5.5, 3.4), layout="constrained")
for name, values in points.items():
    ax.plot(*zip(*values, strict=True), marker="o", label=name)
ax.set(xlabel="ranking loss", ylabel="micro F1")
ax.spines[["top", "right"]].set_visible(False)
ax.legend(frameon=False)
pyplot.show()
