"""
Choose a method
===============

Every method on the same data: what it is good for, how long it takes, how well it does.

Learn how the estimators, which share one interface, compare, and which question leads to which.
"""

from time import perf_counter

from matplotlib import pyplot

from multimargin import LLSF, MLODM, MLRL, RankCVM, RankHLapSVM, RankLSVM, RankSVM
from multimargin.datasets import load_digit_attributes
from multimargin.measures import all_measures

X_train, X_test, Y_train, Y_test = load_digit_attributes().train_test()

METHODS = {
    "a ranking with a large margin": RankSVM(C=10.0, random_state=0),
    "the same, linear: for text": RankSVM(
        C=10.0, kernel="linear", bias="penalized", random_state=0
    ),
    "the same, with a smooth loss": RankLSVM(C=10.0, random_state=0),
    "a margin that is learned, too": RankCVM(C=10.0, random_state=0),
    "margins that are all alike": MLODM(C=10.0, random_state=0),
    "similar scores for shared labels": RankHLapSVM(random_state=0),
    "how labels are related": MLRL(lam=1e-4),
    "which features a label needs": LLSF(alpha=0.1, beta=1.0),
}

print("what I want                       method        seconds  ranking loss  Hamming loss     gap")
losses = {}
for purpose, model in METHODS.items():
    start = perf_counter()
    model.fit(X_train, Y_train)
    seconds = perf_counter() - start
    measures = all_measures(Y_test, model.predict(X_test), model.decision_function(X_test))
    losses[f"{purpose}\n{type(model).__name__}"] = measures["ranking_loss"]
    print(
        f"{purpose:34s}{type(model).__name__:12s}{seconds:9.2f}{measures['ranking_loss']:14.4f}"
        f"{measures['hamming_loss']:14.4f}{model.dual_gap_:8.0e}"
    )

print(
    "\nThe gap says how far a model is from the best one for its own objective, so differences in"
    "\nthe losses are differences of the methods and their parameters, not of unfinished solvers."
)
print("For rows without labels there is SSMLRL, see semi_supervised.py.")

figure, ax = pyplot.subplots(figsize=(6.4, 4.2), layout="constrained")
ax.barh(list(losses), list(losses.values()), color="#4477aa")
ax.invert_yaxis()
ax.tick_params(axis="y", labelsize=8)
ax.set_xlabel("Ranking loss on the test images")
pyplot.show()
