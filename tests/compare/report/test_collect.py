from dataclasses import replace
from math import isnan

import pytest

from multimargin.compare import per_data, per_split, run_experiment
from multimargin.compare.report.collect import test_train_ratios as ratios_of
from tests.support.cases import case


@pytest.fixture(scope="module")
def results(make_data):
    two = [make_data("a"), make_data("b", seed=1, n=40)]
    return run_experiment(two, ["knn", "dummy"], cv=2)


def test_values_by_split_and_method(results):
    table = per_split(results, "ranking_loss")
    assert list(table.columns) == ["knn", "dummy"]
    assert list(table.index) == [(d, f"fold {i} of 2, seed 0") for d in "ab" for i in (1, 2)]
    for result in results:
        value = table.loc[(result.data, result.split), result.method]
        assert value == result.measures["ranking_loss"]
    seconds = per_split(results, "fit_seconds")
    assert seconds.iloc[0, 0] == results[0].fit_seconds


def test_means_over_all_splits_or_none(results):
    error = {"type": "E", "message": "m", "traceback": "t"}
    failed = replace(results[0], measures={}, error=error)
    for some in ([failed, *results[1:]], results[1:]):
        table = per_split(some, "one_error")
        assert table.isna().sum().sum() == 1
        means = per_data(table)
        assert isnan(means.loc["a", "knn"])
        assert means.loc["b", "knn"] == pytest.approx(table.loc["b", "knn"].mean())
        assert set(means.index) == {"a", "b"}


def test_ratios(results):
    shapes = {(r.data, r.split): r.shape for r in results}
    expected = {
        name: sum(s["n_test"] / s["n_train"] for (d, _), s in shapes.items() if d == name) / 2
        for name in "ab"
    }
    assert ratios_of(results) == pytest.approx(expected)


def test_what_cannot_stand_side_by_side(results):
    for changes, message in (
        ({"fingerprint": "x"}, r"data 'a' has more than one content"),
        ({"scaling": "none"}, r"data 'a' has more than one scaling, 'minmax' and 'none'"),
        ({"split": "official"}, r"more than one kind of splits, '2, seed 0' and 'official'"),
        ({"split": "fold 1 of 3, seed 0"}, r"more than one kind of splits"),
        ({"estimator": {}}, r"method 'dummy' has different parameters on data 'a'"),
        ({"split": "fold 1 of 2, seed 0"}, r"method 'dummy' has two results for data 'a', fold 1"),
    ):
        mixed = [*results, replace(results[3], **changes)]
        with case(changes), pytest.raises(ValueError, match=message):
            per_split(mixed, "one_error")
    with pytest.raises(ValueError, match=r"results is empty"):
        per_split([], "one_error")
    with pytest.raises(ValueError, match=r"measures has 'accuracy'; expected some of ranking_loss"):
        per_split(results, "accuracy")
