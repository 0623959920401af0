"""
Protein functions
=================

A gene of yeast has four of fourteen functional classes on average: which ones?

Learn how to read a ranking where labels are common and overlap: the classes that go together, and
how far one has to read until all classes of a gene are found. The data (Elisseeff and Weston 2001)
are MULAN's files in the folder ``yeast`` of the one that the environment variable
``MULTIMARGIN_DATA`` names.
"""

import os
from pathlib import Path

import numpy as np
from matplotlib import pyplot
from sklearn.model_selection import train_test_split
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from multimargin import MLODM, RankSVM
from multimargin.datasets import load
from multimargin.measures import all_measures

data = load(Path(os.environ["MULTIMARGIN_DATA"]) / "yeast")
X, X_test, Y, Y_test = train_test_split(data.X, data.Y, test_size=0.4, random_state=0)
print(f"{len(X)} genes to learn from, {Y.sum(axis=1).mean():.1f} classes each of {Y.shape[1]}")

# %%
# The problem that Rank-SVM was made for. The certificate says how far from the optimum a fit is.
models = {
    "Rank-SVM": RankSVM(C=10.0, gamma=0.005, random_state=0),
    "mlODM": MLODM(C=10.0, gamma=0.005, random_state=0),
    "one-vs-rest": OneVsRestClassifier(SVC(C=1.0, gamma=0.005)),
}
scores = {}
print(f"{'':14s}{'ranking loss':>14s}{'coverage':>10s}{'micro F1':>10s}")
for name, model in models.items():
    pipeline = make_pipeline(StandardScaler(), model).fit(X, Y)
    scores[name] = pipeline.decision_function(X_test)
    measures = all_measures(Y_test, pipeline.predict(X_test), scores[name])
    row = (measures[key] for key in ("ranking_loss", "coverage", "micro_f1"))
    print("{:14s}{:14.4f}{:10.2f}{:10.3f}".format(name, *row))
rank_svm = models["Rank-SVM"]
print(f"\nRank-SVM: {rank_svm.status_}, {rank_svm.n_iter_} epochs, gap {rank_svm.dual_gap_:.1e}")

# %%
# Read the ranking from its top: what share of a gene's classes is found among the first k?
figure, ax = pyplot.subplots(figsize=(5.5, 3.6), layout="constrained")
for name, found in scores.items():
    order = np.argsort(-found, axis=1)
    hits = np.take_along_axis(Y_test, order, axis=1).cumsum(axis=1)
    has_some = hits[:, -1] > 0
    share = (hits[has_some] / hits[has_some, -1:]).mean(axis=0)
    ax.plot(np.arange(1, 15), share, marker=".", label=name)
ax.set(xlabel="classes read, from the top", ylabel="share of the gene's classes found", ylim=(0, 1))
ax.legend()
pyplot.show()

# The picture of the gallery where the data are not at hand.
# sphinx_gallery_thumbnail_path = "images/protein_functions.png"
