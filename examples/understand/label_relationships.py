"""
Label relationships
===================

Which labels go together? MLRL learns the label covariance together with the scores.

Learn how to read ``label_correlation_``, how it differs from counting labels that occur together,
and how little it changes the predictions here: MLRL is the method for those who want the
relationships. Those who want the best ranking are better served by Rank-SVM.
"""

import numpy as np
from matplotlib import pyplot

from multimargin import MLRL
from multimargin.datasets import load_digit_attributes
from multimargin.estimators import RelationshipOptions

data = load_digit_attributes()
X_train, X_test, Y_train, Y_test = data.train_test()
names = np.array(data.label_names)

model = MLRL(lam=1e-3).fit(X_train, Y_train)
print(
    f"{model.status_}: the objective is at most {100 * model.dual_gap_:.2f} % above the optimum\n"
)

# %%
# The correlation of the labels' weights, and that of the labels themselves.
learned = model.label_correlation_
counted = np.corrcoef(Y_train.T)

first, second = np.triu_indices(len(names), k=1)
order = np.argsort(-np.abs(learned[first, second]))
print("strongest relationships                       learned   counted")
for j, k in zip(first[order][:6], second[order][:6], strict=True):
    print(f"{names[j]:>20s}  and  {names[k]:20s}{learned[j, k]:8.2f}{counted[j, k]:10.2f}")

# %%
# Labels with few examples borrow from related ones. A covariance that is held at the identity
# divided by the number of labels learns each label on its own.
few = slice(0, 80)
on_their_own = np.eye(len(names)) / len(names)
print("\nHamming loss after 80 rows     each label on its own   labels together")
for lam in (1e-4, 1e-3, 1e-2):
    wrong = []
    for covariance in (on_their_own, None):
        estimator = MLRL(lam=lam, options=RelationshipOptions(fixed_covariance=covariance)).fit(
            X_train[few], Y_train[few]
        )
        wrong.append(np.mean(estimator.predict(X_test) != Y_test))
    print(f"lam = {lam:<25g}{wrong[0]:21.4f}{wrong[1]:18.4f}")
print("The stronger the regularisation, the more the relationships count.")

# %%
# The learned correlation of all labels.
pyplot.figure(layout="constrained")
pyplot.imshow(learned, vmin=-1, vmax=1, cmap="RdBu_r")
pyplot.xticks(range(len(names)), names, rotation=45, ha="right")
pyplot.yticks(range(len(names)), names)
pyplot.colorbar(label="correlation of weights")
pyplot.show()
