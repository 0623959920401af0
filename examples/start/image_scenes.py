"""
Image scenes
============

Beach, sunset, foliage, field, mountain, urban: what is in a photograph?

Learn how a kernel method is scaled and tuned on few dense features, and where photographs with two
labels make it err. The data (Boutell et al. 2004; colours in a grid of 7 x 7) are MULAN's files in
the folder ``scene`` of the one that the environment variable ``MULTIMARGIN_DATA`` names.
"""

import os
from pathlib import Path

import numpy as np
from matplotlib import pyplot
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler
from sklearn.svm import SVC

from multimargin import RankSVM
from multimargin.datasets import load
from multimargin.measures import all_measures, get_scorer

data = load(Path(os.environ["MULTIMARGIN_DATA"]) / "scene")
X, X_test, Y, Y_test = train_test_split(data.X, data.Y, test_size=0.5, random_state=0)
names = np.array(data.label_names)
print(f"{len(X)} photographs to learn from, {Y.sum(axis=1).mean():.2f} labels each")

# %%
# Features between 0 and 1; C from a search, by the ranking loss over three folds.
search = GridSearchCV(
    RankSVM(gamma=0.1, random_state=0),
    {"C": [1.0, 3.0, 10.0, 30.0]},
    scoring=get_scorer("neg_ranking_loss"),
    cv=3,
)
ranked = make_pipeline(MinMaxScaler(), search).fit(X, Y)
print(f"chosen: C = {search.best_params_['C']:g}")
one_by_one = make_pipeline(MinMaxScaler(), OneVsRestClassifier(SVC(C=10.0, gamma=0.1))).fit(X, Y)

print(f"{'':14s}{'ranking loss':>14s}{'one-error':>11s}{'micro F1':>10s}")
for name, model in (("Rank-SVM", ranked), ("one-vs-rest", one_by_one)):
    measures = all_measures(Y_test, model.predict(X_test), model.decision_function(X_test))
    row = (measures[key] for key in ("ranking_loss", "one_error", "micro_f1"))
    print("{:14s}{:14.4f}{:11.3f}{:10.3f}".format(name, *row))

# %%
# Which label is confused with which: of the photographs with a label, the share whose highest wrong
# label is above it.
scores = ranked.decision_function(X_test)
confused = np.zeros((len(names), len(names)))
for y, f in zip(Y_test, scores, strict=True):
    for m in np.flatnonzero(y):
        confused[m] += (y == 0) & (f > f[m])
confused /= Y_test.sum(axis=0)[:, None]

figure, ax = pyplot.subplots(figsize=(5.2, 4.2), layout="constrained")
image = ax.imshow(confused, cmap="Blues", vmin=0)
ax.set_xticks(range(len(names)), names, rotation=45, ha="right")
ax.set_yticks(range(len(names)), names)
ax.set(xlabel="wrong label above it", ylabel="label of the photograph")
figure.colorbar(image, label="share of the photographs")
pyplot.show()

# The picture of the gallery where the data are not at hand.
# sphinx_gallery_thumbnail_path = "images/image_scenes.png"
