"""
A graph of labels
=================

Which tags of software go together? MLRL learns it, and a graph shows it.

Learn how to turn ``label_correlation_`` into a picture that one can read where a heat map of many
labels cannot be: the strongest relationships as edges, and related labels as neighbours.
"""

import numpy as np
from matplotlib import pyplot
from matplotlib.patches import PathPatch
from matplotlib.path import Path
from scipy.cluster.hierarchy import leaves_list, linkage
from scipy.spatial.distance import squareform
from sklearn.feature_extraction.text import TfidfTransformer

from multimargin import MLRL
from multimargin.datasets import load_debian_tags

data = load_debian_tags()
words, _, Y, _ = data.train_test()
X = TfidfTransformer(sublinear_tf=True).fit_transform(words)
# The tags that at least a twentieth of the programs have.
common = np.flatnonzero(Y.mean(axis=0) >= 0.05)
names = np.array(data.label_names)[common]

model = MLRL(lam=1e-4, kernel="linear").fit(X, Y[:, common])
learned = model.label_correlation_
print(f"{len(names)} tags: {model.status_}, gap {model.dual_gap_:.1e}\n")

# %%
# The strongest relationships: what goes together, and what excludes each other.
first, second = np.triu_indices(len(names), k=1)
order = np.argsort(-np.abs(learned[first, second]))[:25]
for j, k in zip(first[order][:8], second[order][:8], strict=True):
    print(f"{learned[j, k]:6.2f}   {names[j]}  and  {names[k]}")

# %%
# Related tags are neighbours on the circle (average linkage of 1 minus the correlation). Blue edges
# are positive, red ones negative; the wider, the stronger.
distances = squareform(1.0 - learned, checks=False)
place = np.argsort(leaves_list(linkage(distances, "average", optimal_ordering=True)))
angles = 2 * np.pi * place / len(names)
circle = np.column_stack([np.cos(angles), np.sin(angles)])
figure, ax = pyplot.subplots(figsize=(8, 8), layout="constrained")
for j, k in zip(first[order], second[order], strict=True):
    color = "tab:blue" if learned[j, k] > 0 else "tab:red"
    curve = Path([circle[j], 0.4 * (circle[j] + circle[k]) / 2, circle[k]], [1, 3, 3])
    ax.add_patch(
        PathPatch(curve, fill=False, color=color, linewidth=4 * abs(learned[j, k]), alpha=0.5)
    )
ax.scatter(*circle.T, s=500 * Y[:, common].mean(axis=0), color="tab:grey", zorder=2)
for name, angle, point in zip(names, np.degrees(angles), 1.06 * circle, strict=True):
    left = 90 < angle < 270
    ax.annotate(
        name,
        point,
        fontsize=8,
        rotation=angle + 180 * left,
        rotation_mode="anchor",
        ha="right" if left else "left",
        va="center",
    )
ax.set(xlim=(-1.7, 1.7), ylim=(-1.7, 1.7), aspect="equal")
ax.set_axis_off()
pyplot.show()
