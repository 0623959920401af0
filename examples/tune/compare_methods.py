"""
Compare methods
===============

Compare methods fairly: the same folds for all, ranks over data sets, and tests of them.

Learn how an experiment is run, summed up and tested: Friedman's test asks whether methods differ,
Nemenyi's which do (pip install multimargin[stats]).
"""

from matplotlib import pyplot
from scikit_posthocs import critical_difference_diagram
from sklearn.datasets import make_multilabel_classification

from multimargin import MLODM, RankSVM
from multimargin.compare import friedman_test, nemenyi_test, per_data, per_split, run_experiment
from multimargin.datasets import MultilabelData
from multimargin.methods import make_method

# %%
# Six made-up problems stand in for benchmark data, which need a download.
data = []
for seed in range(6):
    X, Y = make_multilabel_classification(
        n_samples=150, n_features=20, n_classes=4 + seed % 3, length=30, random_state=seed
    )
    data.append(MultilabelData(X, Y, name=f"made up {seed}"))

methods = {
    "Rank-SVM": RankSVM(C=10.0, gamma=0.1),
    "mlODM": MLODM(C=10.0, gamma=0.1),
    # Baselines from scikit-learn, by name.
    "one-vs-rest SVC": make_method("ovr-svc", C=10.0, gamma=0.1),
    "neighbours": make_method("knn"),
    "label frequencies": make_method("dummy"),
}
results = run_experiment(data, methods, cv=2)

table = per_data(per_split(results, "ranking_loss"))
print("ranking loss, mean of 2 folds")
print(table.round(3).to_string(), "\n")

friedman = friedman_test(table, larger_is_better=False)
print(f"Friedman (Iman and Davenport): p = {friedman.f_p_value:.1e}")
nemenyi = nemenyi_test(table, larger_is_better=False)
print(f"Nemenyi: average ranks that are {nemenyi.critical_difference:.2f} apart differ")
for name, rank in nemenyi.ranks.average.sort_values().items():
    print(f"  {rank:.2f}  {name}")

# %%
# The critical difference diagram: methods that a bar joins do not differ significantly.
pyplot.figure(figsize=(7, 2.5), layout="constrained")
critical_difference_diagram(nemenyi.ranks.average.to_dict(), nemenyi.p_values)
pyplot.show()
