"""
Tags for software
=================

Which of 84 tags apply to a program, by the words of its description?

The demonstration, ``make demo``: one call of `LabelRankerCV` against scikit-learn's linear
classifiers, one a tag, that a grid search tunes on the same folds for the same measure, and
against calibrated ones and a forest. Which ranks the tags better, which chooses better, and how
long does it take, tuning included?
"""

import json
import sys
import time

import numpy as np
from matplotlib import pyplot
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.multiclass import OneVsRestClassifier
from sklearn.svm import LinearSVC

from multimargin import CalibratedClassifier, LabelRankerCV
from multimargin.datasets import load_debian_tags
from multimargin.measures import all_measures, get_scorer, more_measures
from multimargin.tuning import MultilabelStratifiedKFold

data = load_debian_tags()
counts, counts_test, y, y_test = data.train_test()
weighting = TfidfTransformer(sublinear_tf=True)
X, X_test = weighting.fit_transform(counts), weighting.transform(counts_test)
print(
    f"{X.shape[0]} programs, {X.shape[1]} words, {y.shape[1]} tags; {len(y_test)} programs to tag"
)

# %%
# The peers: linear classifiers with scikit-learn's weights for rare tags; and, with our
# calibration, the better of them and a forest.
folds = MultilabelStratifiedKFold(3)
models = {"LabelRankerCV": LabelRankerCV(random_state=0)}
for peer, Cs in (
    (LogisticRegression(solver="liblinear", class_weight="balanced"), [0.3, 1, 3, 10]),
    (LinearSVC(class_weight="balanced", random_state=0), [0.03, 0.1, 0.3, 1]),
):
    models[f"{type(peer).__name__}, balanced"] = GridSearchCV(
        OneVsRestClassifier(peer),
        {"estimator__C": Cs},
        scoring=get_scorer("ranking_average_precision"),
        cv=folds,
    )
forest = RandomForestClassifier(50, random_state=0)
models["RandomForest, calibrated"] = CalibratedClassifier(forest, cv=folds)

# %%
# What a person reads: tags in the proposed order until the last right one is found; how many of the
# first five are right; and the tags that are chosen.
ROWS = {
    "coverage (tags read until all are found)": "coverage",
    "precision@5 (right in the first five), %": "precision_at_5",
    "micro-F1 (of all chosen tags), %": "micro_f1",
    "macro-F1 (mean over the tags), %": "macro_f1",
    "average precision, %": "ranking_average_precision",
    "ranking loss (pairs ranked wrongly), %": "ranking_loss",
    "one-error (best tag wrong), %": "one_error",
}


def measured(model, seconds=0.0):
    """Fit a model, and return its values and the processor seconds that it took."""
    start = time.process_time()
    model.fit(X, y)
    seconds += time.process_time() - start
    scores = model.decision_function(X_test)
    measures = all_measures(y_test, model.predict(X_test), scores) | more_measures(y_test, scores)
    # Coverage counts from 0.
    values = [1 + measures[k] if k == "coverage" else 100 * measures[k] for k in ROWS.values()]
    return [*values, seconds]


found = {name: measured(model) for name, model in models.items()}
# The better linear classifier with the C that was found, calibrated.
best = models["LogisticRegression, balanced"].best_estimator_
calibrated = CalibratedClassifier(clone(best), cv=folds)
tuning = found["LogisticRegression, balanced"][-1]
found["LogisticRegression, calibrated"] = measured(calibrated, tuning)
titles = [*ROWS, "processor seconds, tuning and fit"]
kinds, weights = zip(*((*name.split(", "), "")[:2] for name in found), strict=True)
for row in (kinds, weights):
    print(f"{'':42s}" + "".join(f"{cell:>20s}" for cell in row))
for place, title in enumerate(titles):
    print(f"{title:42s}" + "".join(f"{values[place]:20.1f}" for values in found.values()))

# %%
# The first tags of three programs, with their probabilities; a star marks those that people gave.
model = models["LabelRankerCV"]
names = np.array(data.label_names)
for row, p in zip((3, 40, 200), model.predict_proba(X_test[[3, 40, 200]]), strict=True):
    first = np.argsort(-p)[:5]
    shown = (f"{names[k]} {p[k]:.2f}{'*' if y_test[row, k] else ''}" for k in first)
    print(f"\n{data.sample_names[data.splits['test'][row]]}: {', '.join(shown)}")
print(f"\n{model.best_params_}: gap {model.dual_gap_:.1e} ({model.status_})")

# %%
# Names stand in the bars, so that the picture is narrow: it is read on a telephone, too.
figure, axes = pyplot.subplots(3, 1, figsize=(7.2, 5.6), layout="constrained")
for ax, place in zip(axes, (1, 2, 5), strict=True):
    values = [row[place] for row in found.values()]
    bars = ax.barh(list(found), values, color=["#E8A06C"] + ["0.85"] * (len(found) - 1))
    ax.bar_label(bars, fmt="%.1f", padding=4, size=14)
    ax.set_yticks(range(len(found)), list(found), ha="left", size=14)
    ax.tick_params("y", length=0, pad=-8)
    better = "less" if place == 5 else "more"
    ax.set_title(f"{titles[place]} ({better} is better)", loc="left", size=15, weight="bold")
    ax.set(xlim=(0, 1.12 * max(values)), xticks=[])
    ax.invert_yaxis()
    ax.spines[:].set_visible(False)
if len(sys.argv) > 1:
    # The picture says which numbers it shows.
    shown = {titles[place]: [round(row[place], 1) for row in found.values()] for place in (1, 2, 5)}
    figure.savefig(sys.argv[1], dpi=100, metadata={"Description": json.dumps(shown)})
pyplot.show()
