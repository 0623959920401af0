"""The first sentence: its numbers are those of the tables and tests."""

from dataclasses import replace

import pytest

from multimargin.compare import per_data, per_split, run_experiment, verdict, wilcoxon_tests
from multimargin.compare.statistics.win_tie_loss import paired_t_test


@pytest.fixture(scope="module")
def results(make_data):
    data = [make_data(f"data {seed}", seed=seed) for seed in range(3)]
    return run_experiment(data, ["rank-svm", "knn", "dummy"], cv=4)


def of_one(results, *methods, data="data 0"):
    return [r for r in results if r.data == data and (not methods or r.method in methods)]


def test_one_data_set(results):
    one = of_one(results, "rank-svm", "dummy")
    table = per_split(one, "ranking_loss")
    mean = table.mean()
    # Four folds: the test part is a third of the training part.
    _, p = paired_t_test((table["dummy"] - table["rank-svm"]).to_numpy(), test_train_ratio=1 / 3)
    head = (
        f"On data 0, rank-svm is first by ranking loss ({mean['rank-svm']:.4f}), before dummy "
        f"({mean['dummy']:.4f}): "
    )
    tail = f" (corrected paired t-test over 4 splits, p = {p:.2g})."
    # The level decides.
    chance = verdict(one, ["ranking_loss", "coverage"], alpha=p / 2)
    assert chance == f"{head}may be chance, not significant{tail}"
    assert verdict(one, alpha=min(2 * p, 0.999)) == f"{head}significant{tail}"
    assert verdict(one, test="none") == f"{head}not tested."
    assert "rank-svm is first by average precision (" in verdict(one, ["ranking_average_precision"])


def test_several_data_sets(results):
    some = [result for result in results if result.method != "knn"]
    means = per_data(per_split(some, "ranking_loss"))
    assert (means["rank-svm"] < means["dummy"]).all()
    p = wilcoxon_tests(means, "rank-svm", larger_is_better=False)["p_value"].iloc[0]
    assert verdict(some) == (
        "Over 3 data sets, rank-svm is first by ranking loss (rank 1.00), before dummy (rank 2.00):"
        f" may be chance, not significant (Wilcoxon's signed ranks, p = {p:.2g})."
    )


def test_one_split_and_one_method(data):
    single = run_experiment(data, ["rank-svm", "dummy"], cv="official")
    assert verdict(single).endswith(": one split cannot tell whether that is chance.")
    alone = [result for result in single if result.method == "dummy"]
    value = alone[0].measures["ranking_loss"]
    assert verdict(alone) == f"On small, dummy alone has a ranking loss ({value:.4f})."


def test_ranks_that_are_shared_or_alone(results):
    # On each data set one of them is better by as much as the other is on the next.
    value = {("data 0", "knn"): 0.1, ("data 0", "dummy"): 0.2, ("data 1", "knn"): 0.2}
    shared = [
        replace(r, measures=r.measures | {"ranking_loss": value.get((r.data, r.method), 0.1)})
        for r in results
        if r.method != "rank-svm" and r.data != "data 2"
    ]
    said = "Over 2 data sets, knn and dummy share the first place by ranking loss (rank 1.50)."
    assert verdict(shared, ["ranking_loss"]) == said
    alone = [r for r in results if r.method == "knn"]
    said = "Over 3 data sets, knn alone has a ranking loss (rank 1.00)."
    assert verdict(alone, ["ranking_loss"]) == said


def test_a_measure_that_some_splits_lack_is_not_said_to_lack_in_all(results):
    lacking = [
        replace(r, measures={} if "fold 2" in r.split else r.measures) for r in of_one(results)
    ]
    assert verdict(lacking) == "No ranking loss of a method on all splits."
