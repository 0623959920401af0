"""
Words and their meaning
=======================

Do vectors of what a description means help to tag a program, beside its words?

`LabelRankerCV` gets the words, static vectors, and both as two views. The peers get the same
matrices side by side: one-vs-rest logistic regressions, tuned on the same folds and calibrated.
Needs ``pip install 'multimargin[meaning]'``; nothing is downloaded.
"""

import numpy as np
import pandas as pd
from matplotlib import pyplot
from sklearn.compose import ColumnTransformer
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.multiclass import OneVsRestClassifier

from multimargin import CalibratedClassifier, LabelRankerCV
from multimargin.datasets import load_debian_tags
from multimargin.embeddings import StaticEmbedding
from multimargin.measures import get_scorer, micro_f1, ranking_average_precision
from multimargin.tuning import MultilabelStratifiedKFold

data = load_debian_tags()
*counts, y, y_test = data.train_test()
# Vectors help most where rows are few: every second one is enough here.
counts[0], y = counts[0][::2], y[::2]
names = np.array(data.feature_names)
table, table_test = (
    pd.DataFrame(
        {"text": [" ".join(np.repeat(names[row.indices], row.data.astype(int))) for row in X]}
    )
    for X in counts
)

values = {}


def measure(name, model, rows):
    """Print average precision of the ranked tags and micro-F1 of the chosen ones."""
    values[name] = ranking_average_precision(y_test, model.decision_function(rows))
    print(f"{name:28s} {values[name]:.4f}   {micro_f1(y_test, model.predict(rows)):.4f}")


# %%
# A view has a name, a transformer and a column. One calibration weighs what each says of a label.
words = ("words", TfidfVectorizer(sublinear_tf=True, token_pattern=r"\S+"), "text")
meaning = ("meaning", StaticEmbedding(), "text")
for name, views in (("words", [words]), ("meaning", [meaning]), ("both", [words, meaning])):
    model = LabelRankerCV(views=views, random_state=0).fit(table, y)
    measure(f"LabelRankerCV, {name}", model, table_test)

# %%
# The peers get words alone, or words and vectors side by side in one matrix.
folds = MultilabelStratifiedKFold(3)
for name, views in (("words", [words]), ("both", [words, meaning])):
    transformer = ColumnTransformer(views, sparse_threshold=1.0)
    X, X_test = transformer.fit_transform(table), transformer.transform(table_test)
    search = GridSearchCV(
        OneVsRestClassifier(LogisticRegression(solver="liblinear")),
        {"estimator__C": [1.0, 3.0, 10.0]},
        scoring=get_scorer("ranking_average_precision"),
        cv=folds,
    ).fit(X, y)
    calibrated = CalibratedClassifier(search.best_estimator_, cv=folds).fit(X, y)
    measure(f"logistic regression, {name}", calibrated, X_test)

# %%
# Both views together rank best. The peers gain from the vectors, too, and stay behind.
figure, ax = pyplot.subplots(figsize=(7.2, 2.6), layout="constrained")
colors = ["#E8A06C" if name == "LabelRankerCV, both" else "0.85" for name in values]
bars = ax.barh(list(values), list(values.values()), color=colors)
ax.bar_label(bars, fmt="%.3f", padding=4)
ax.set_title("Average precision on 779 programs", loc="left")
ax.set_xlim(0.6, 0.8)
ax.invert_yaxis()
pyplot.show()
