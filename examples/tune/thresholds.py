"""
From scores to labels
=====================

One ranking, several ways to cut it.

Learn how thresholds are learned after the scores, how they change what is predicted and not the
ranking, and which measure each is made for.
"""

from matplotlib import pyplot
from sklearn.feature_extraction.text import TfidfTransformer

from multimargin import MLODM
from multimargin.datasets import load_debian_tags
from multimargin.measures import all_measures

counts, counts_test, Y, Y_test = load_debian_tags().train_test()
weighting = TfidfTransformer(sublinear_tf=True)
X, X_test = weighting.fit_transform(counts), weighting.transform(counts_test)

MEASURES = ("hamming_loss", "micro_f1", "macro_f1", "ranking_loss")
NAMES = {
    "0": 0.0,
    "a function of the scores": "scores",
    "one per label": "macro",
    "the number of labels": "count",
}
found = {}
print(f"{'threshold':26s}" + "".join(f"{measure:>14s}" for measure in MEASURES))
for name, threshold in NAMES.items():
    model = MLODM(C=10.0, kernel="linear", threshold=threshold, random_state=0).fit(X, Y)
    predicted = model.predict(X_test)
    measures = all_measures(Y_test, predicted, model.label_scores(X_test))
    found[name] = predicted.sum(axis=1)
    print(f"{name:26s}" + "".join(f"{measures[measure]:14.4f}" for measure in MEASURES))

# %%
# How many labels each of them gives to a row, and how many the rows have.
figure, ax = pyplot.subplots(figsize=(6.5, 3.2), layout="constrained")
bins = range(int(max(Y_test.sum(axis=1).max(), 12)) + 2)
ax.hist(Y_test.sum(axis=1), bins, color="0.85", label="true")
for name, numbers in found.items():
    ax.hist(numbers, bins, histtype="step", linewidth=1.5, label=name)
ax.set(xlabel="labels of a row", ylabel="rows", xlim=(0, max(bins)))
ax.legend(frameon=False)
pyplot.show()
