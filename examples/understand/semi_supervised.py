"""
Rows without labels
===================

Rows without labels: SSMLRL takes them as rows of -1 in y and learns from all rows.

Learn how to mark them, how to cross-validate without ever scoring one, and where they help. They
say in which directions *all* rows vary, labelled or not, and SSMLRL keeps the weights small there.
This helps most where few rows are labelled and something that has nothing to do with the labels
varies more than what has: here, the light in which images of digits were taken. In even light the
same rows help little or not at all, and cross-validation then chooses a small ``lam2`` or 0.
"""

import numpy as np
from matplotlib import pyplot
from sklearn.model_selection import GridSearchCV, KFold

from multimargin import SSMLRL
from multimargin.datasets import load_digit_attributes
from multimargin.measures import get_scorer, ranking_loss

N_ROWS, N_LABELLED = 600, 60
X_train, X_test, Y_train, Y_test = load_digit_attributes().train_test()
X_train, Y_train = X_train[:N_ROWS], Y_train[:N_ROWS].astype(int)
Y_train[N_LABELLED:] = -1
labelled, unlabelled = np.arange(N_LABELLED), np.arange(N_LABELLED, N_ROWS)

# %%
# Uneven light is a random sum of 16 smooth patterns, new for every image.
waves = np.cos(np.pi * np.outer(np.arange(4), np.arange(8) + 0.5) / 8)
patterns = np.einsum("ax,by->abxy", waves, waves).reshape(16, 64)
random = np.random.default_rng(0)


def in_uneven_light(X):
    """Add to each image of 8 x 8 pixels a light of its own."""
    return X + random.standard_normal((len(X), len(patterns))) @ patterns


light = {
    "even": (X_train, X_test),
    "uneven": (in_uneven_light(X_train), in_uneven_light(X_test)),
}

# %%
# Unlabelled rows belong to every training part and to no test part. ``lam2 = 0`` is the same model
# without them.
splits = [
    (np.concatenate([labelled[train], unlabelled]), labelled[test])
    for train, test in KFold(5, shuffle=True, random_state=0).split(labelled)
]


def best_of(lam2, X):
    """Choose lam1 and lam2 by cross-validation on the labelled rows."""
    search = GridSearchCV(
        SSMLRL(kernel="linear"),
        {"lam1": [1e-3, 1e-2], "lam2": lam2},
        scoring=get_scorer("neg_ranking_loss"),
        cv=splits,
    )
    return search.fit(X, Y_train).best_estimator_


print(f"ranking loss on {len(X_test)} images; trained on {N_LABELLED} images with labels\n")
print(f"light     labelled rows alone   with {N_ROWS - N_LABELLED} unlabelled rows   lam2")
losses = {}
for name, (X, X_new) in light.items():
    alone, together = best_of([0.0], X), best_of([0.0, 1e-5, 1e-4], X)
    loss = [ranking_loss(Y_test, model.label_scores(X_new)) for model in (alone, together)]
    losses[f"{name} light"] = loss
    print(f"{name:10s}{loss[0]:19.3f}{loss[1]:27.3f}{together.lam2:10g}")

figure, ax = pyplot.subplots(figsize=(6.4, 3.0), layout="constrained")
places = np.arange(len(losses))
for k, title in enumerate(("labelled rows alone", "with unlabelled rows")):
    ax.bar(places + 0.35 * k, [loss[k] for loss in losses.values()], width=0.33, label=title)
ax.set_xticks(places + 0.175, list(losses))
ax.set_ylabel("Ranking loss on the test images")
ax.legend()
pyplot.show()
