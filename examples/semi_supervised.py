"""
Rows without labels
===================

Rows without labels: SSMLRL takes them as rows of -1 in Y and learns from all rows.

Learn how to mark them, how to cross-validate without ever scoring one, and why to let the
validation decide whether unlabelled rows help: on these data they do not.
"""

import numpy as np
from sklearn.model_selection import GridSearchCV, KFold

from multimargin import SSMLRL
from multimargin.datasets import load_digit_attributes
from multimargin.measures import get_scorer, ranking_loss

X_train, X_test, Y_train, Y_test = load_digit_attributes().train_test()
X_train, Y_train = X_train[:600], Y_train[:600].astype(int)
Y_train[120:] = -1
labelled, unlabelled = np.arange(120), np.arange(120, 600)

# %%
# Unlabelled rows belong to every training part and to no test part.
splits = [
    (np.concatenate([labelled[train], unlabelled]), labelled[test])
    for train, test in KFold(4, shuffle=True, random_state=0).split(labelled)
]
search = GridSearchCV(
    SSMLRL(lam1=1e-3),
    {"lam2": [0.0, 1e-5, 1e-4, 1e-3]},
    scoring=get_scorer("neg_ranking_loss"),
    cv=splits,
)
search.fit(X_train, Y_train)

print("lam2 (weight of unlabelled rows)   ranking loss: cross-validated   on test rows")
for candidate, score in zip(
    search.cv_results_["params"], search.cv_results_["mean_test_score"], strict=True
):
    model = SSMLRL(lam1=1e-3, **candidate).fit(X_train, Y_train)
    on_test = ranking_loss(Y_test, model.label_scores(X_test))
    print(f"{candidate['lam2']:<34g}{-score:30.4f}{on_test:15.4f}")

best = search.best_estimator_
print(
    f"\nchosen: lam2 = {best.lam2:g}, fitted on {best.labelled_.size} labelled rows, {best.status_}"
)
