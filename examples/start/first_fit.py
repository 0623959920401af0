"""
First fit
=========

Fit Rank-SVM, look at the certificate, rank and predict the labels of new instances.

Learn what a fitted model tells about itself, and the difference between scores and predicted
labels. All measures of the predictions end the output.
"""

from matplotlib import pyplot
from sklearn.metrics import f1_score

from multimargin import RankSVM
from multimargin.datasets import load_digit_attributes
from multimargin.measures import all_measures

data = load_digit_attributes()
X_train, X_test, Y_train, Y_test = data.train_test()

model = RankSVM(C=10.0, kernel="rbf", random_state=0)
model.fit(X_train, Y_train)

# %%
# How far is this model from the best one? No model has an objective below the dual objective.
print(f"{model.status_} after {model.n_iter_} epochs")
print(f"objective {model.objective_:.4f}, optimum at least {model.dual_objective_:.4f}")
print(f"so at most {100 * model.dual_gap_:.3f} % too high\n")

# %%
# The scores rank the labels; those whose decision function is positive are predicted.
scores = model.decision_function(X_test[:3])
for row, truth in zip(scores, Y_test[:3], strict=True):
    ranked = sorted(zip(row, truth, data.label_names, strict=True), reverse=True)
    predicted = [name for score, _, name in ranked if score > 0]
    relevant = [name for _, is_relevant, name in ranked if is_relevant]
    print("predicted:", ", ".join(predicted))
    print("true:     ", ", ".join(relevant), "\n")

for name, value in all_measures(
    Y_test, model.predict(X_test), model.decision_function(X_test)
).items():
    print(f"{name:18s}{value:.4f}")

# %%
# Which labels are easy, and which are not.
pyplot.figure(layout="constrained")
pyplot.barh(data.label_names, f1_score(Y_test, model.predict(X_test), average=None))
pyplot.xlabel("F1")
pyplot.show()
