"""
Tune parameters
===============

Tune a method: folds that keep rare labels, scorers that rank, and searches that save fits.

Learn how to search gamma and C one after the other, as the Rank-CVM paper does.
"""

from matplotlib import pyplot
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler

from multimargin import RankSVM
from multimargin.datasets import load_digit_attributes
from multimargin.measures import all_measures, get_scorer
from multimargin.tuning import LazySearchCV, MultilabelStratifiedKFold

X_train, X_test, Y_train, Y_test = load_digit_attributes().train_test()
X_train, Y_train = X_train[:400], Y_train[:400]
folds = MultilabelStratifiedKFold(3)
scoring = get_scorer("neg_ranking_loss")
C = [2.0**k for k in range(-2, 7)]
gamma = [2.0**k for k in range(-5, 3)]

# %%
# Scaling is learned inside each fold, so that no row is seen before it is predicted.
pipeline = make_pipeline(MinMaxScaler(), RankSVM(random_state=0))
lazy = LazySearchCV(
    pipeline, {"ranksvm__gamma": gamma, "ranksvm__C": C}, scoring=scoring, cv=folds
).fit(X_train, Y_train)
print(f"one parameter at a time: {len(lazy.cv_results_['params'])} candidates")
print(f"  {lazy.best_params_}, cross-validated ranking loss {-lazy.best_score_:.4f}")

grid = GridSearchCV(
    RankSVM(random_state=0), {"gamma": gamma, "C": C}, scoring=scoring, cv=folds
).fit(X_train, Y_train)
print(f"all pairs: {len(grid.cv_results_['params'])} candidates")
print(f"  {grid.best_params_}, cross-validated ranking loss {-grid.best_score_:.4f}\n")

# %%
# Test rows took no part in any of this.
print("                 untuned     one at a time     all pairs")
untuned = RankSVM(random_state=0).fit(X_train, Y_train)
measures = [
    all_measures(Y_test, model.predict(X_test), model.decision_function(X_test))
    for model in (untuned, lazy, grid)
]
for name in ("ranking_loss", "hamming_loss", "micro_f1"):
    print(f"{name:14s}" + "".join(f"{of_model[name]:14.4f}" for of_model in measures))

# %%
# The score over both parameters.
loss = -grid.cv_results_["mean_test_score"]
places = [
    [parameters[name] for parameters in grid.cv_results_["params"]] for name in ("C", "gamma")
]
pyplot.figure(layout="constrained")
pyplot.scatter(*places, c=loss, cmap="cividis", s=200)
pyplot.xscale("log", base=2)
pyplot.yscale("log", base=2)
pyplot.xlabel("C")
pyplot.ylabel("gamma")
pyplot.colorbar(label="ranking loss")
pyplot.show()
