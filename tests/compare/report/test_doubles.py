"""Methods that predict alike are found, and have one rank."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from multimargin import MLODM, RankCVM, RankLSVM, RankSVM
from multimargin.compare import (
    Result,
    average_ranks,
    per_data,
    per_split,
    rank_tests_table,
    results_tables,
    run_experiment,
)
from multimargin.compare.report.doubles import alike_notes, doubles, ranked_once
from multimargin.datasets import MultilabelData


@pytest.fixture(scope="module")
def results(make_data: Callable[..., MultilabelData]) -> list[Result]:
    methods = {
        "svm": RankSVM(random_state=0),
        "cvm": RankCVM(random_state=0),
        "lsvm": RankLSVM(random_state=0),
        "again": RankSVM(random_state=0, cache_size=10),
        "lsvm, C=2": RankLSVM(C=2.0, random_state=0),
        "odm": MLODM(random_state=0),
    }
    data = [make_data(f"data {seed}", seed=seed) for seed in range(3)]
    return run_experiment(data, methods, cv=2)


def test_what_is_alike(results: list[Result]) -> None:
    assert doubles(results) == {"lsvm": "cvm", "again": "svm"}
    # The one that is asked for stands for the others.
    assert doubles(results, keep="lsvm") == {"cvm": "lsvm", "again": "svm"}
    assert alike_notes({"b": "a"}) == (
        "b and a predict alike or agree on every measure: they are ranked as one",
    )


def test_what_is_not_alike(results: list[Result]) -> None:
    # One split without the other, a failure, another measure: none of these is alike.
    other = [result for result in results if result.method in ("svm", "again")]
    assert doubles(other) == {"again": "svm"}
    assert doubles(other[:-1]) == {}
    assert doubles([*other[:-1], replace(other[-1], error={"type": "", "message": ""})]) == {}
    changed = {**other[-1].measures, "coverage": other[-1].measures["coverage"] + 1e-6}
    assert doubles([*other[:-1], replace(other[-1], measures=changed)]) == {}


def test_ranks_are_those_without_the_doubles(results: list[Result]) -> None:
    single = [result for result in results if result.method not in ("lsvm", "again")]
    means = per_data(per_split(results, "ranking_loss"))
    once = average_ranks(ranked_once(means, doubles(results)), larger_is_better=False)
    expected = average_ranks(per_data(per_split(single, "ranking_loss")), larger_is_better=False)
    assert once.average.to_dict() == expected.average.to_dict()
    (table,) = results_tables(results, ["ranking_loss"])
    (without,) = results_tables(single, ["ranking_loss"])
    ranks, expected_ranks = (t.cells["average rank"].to_dict() for t in (table, without))
    assert {name: ranks[name] for name in expected_ranks} == expected_ranks
    assert ranks["lsvm"] == ranks["cvm"]
    assert (
        "lsvm and cvm predict alike or agree on every measure: they are ranked as one"
        in table.notes
    )
    friedman = rank_tests_table(results, ["ranking_loss"])[0]
    assert friedman.cells.equals(rank_tests_table(single, ["ranking_loss"])[0].cells)
