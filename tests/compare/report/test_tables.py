import json
from dataclasses import replace

import numpy as np
import pytest

from multimargin.compare import run_experiment
from multimargin.compare.measured import MEASURED
from multimargin.compare.report.conditions import (
    certificates_table,
    data_table,
    environments_table,
    failures_table,
    remarks_table,
)
from multimargin.compare.report.significance import rank_tests_table, win_tie_loss_table
from multimargin.compare.report.tables import results_frame, results_tables


@pytest.fixture(scope="module")
def one(make_data):
    return run_experiment(make_data("one"), ["rank-svm", "knn", "dummy"], cv=3)


@pytest.fixture(scope="module")
def several(make_data):
    data = [make_data(f"data {seed}", seed=seed) for seed in range(3)]
    return run_experiment(data, ["rank-svm", "knn", "dummy"], cv=2)


def with_failure(results):
    error = {"type": "RuntimeError", "message": "no luck", "traceback": "somewhere"}
    failed = replace(results[0], measures={}, label_counts=[], certificate=None, error=error)
    return [failed, *results[1:]]


def cell(table, row, column):
    return str(table.cells.loc[row, column])


def test_one_data_set_has_one_table_with_a_column_a_measure(one):
    (table,) = results_tables(one, ["ranking_loss", "ranking_average_precision"])
    assert list(table.cells.columns) == ["ranking loss ↓", "average precision ↑"]
    values = [r.measures["ranking_loss"] for r in one if r.method == "knn"]
    expected = f"{np.mean(values):.4f} ± {np.std(values, ddof=1):.4f}"
    assert cell(table, "knn", "ranking loss ↓") == expected
    means = [
        np.mean([r.measures["ranking_loss"] for r in one if r.method == method])
        for method in table.cells.index
    ]
    assert list(table.best["ranking loss ↓"]) == list(np.array(means) == min(means))


def test_several_data_sets_have_one_table_a_measure(several):
    tables = results_tables(several, "all")
    assert len(tables) == len(MEASURED)
    assert list(tables[0].cells.columns) == ["data 0", "data 1", "data 2", "average rank"]
    # Many columns become rows.
    many = [replace(r, data=f"{r.data}, {k}") for k in range(3) for r in several]
    (table,) = results_tables(many, ["ranking_loss"])
    assert list(table.cells.columns) == ["rank-svm", "knn", "dummy"]
    assert table.best.loc["data 0, 0"].tolist() == tables[0].best.loc[:, "data 0"].tolist()
    ranks = [float(text) for text in tables[0].cells["average rank"]]
    assert sum(ranks) == pytest.approx(6.0, abs=0.02)


def test_incomplete_means_are_marked_and_not_compared(several):
    table = results_tables(with_failure(several), ["one_error"])[0]
    assert cell(table, "rank-svm", "data 0").endswith("(1 of 2)")
    assert not table.best.loc["rank-svm", "data 0"]
    assert any("not ranked: data data 0, where rank-svm lacks" in note for note in table.notes)
    assert any("followed by their number" in note for note in table.notes)


def test_methods_that_always_fail_are_named(several):
    error = {"type": "E", "message": "m", "traceback": "t"}
    results = [replace(r, measures={}, error=error) if r.method == "dummy" else r for r in several]
    table = results_tables(results, ["one_error"])[0]
    assert set(table.cells.loc["dummy", ["data 0", "data 1", "data 2"]]) == {"failed"}
    assert cell(table, "dummy", "average rank") == "–"
    assert cell(table, "knn", "average rank") != "–"
    assert "not ranked: dummy, without a value on any data set" in table.notes
    counted = win_tie_loss_table(results, ["one_error"])
    assert cell(counted, "dummy", "one-error ↓") == "0/0/0 + 3 untested"


def test_wins_ties_and_losses_add_up(several):
    table = win_tie_loss_table(several, ["one_error", "macro_f1"], reference="knn", test="none")
    assert list(table.cells.index) == ["rank-svm", "dummy"]
    for text in table.cells.to_numpy().ravel():
        assert sum(int(count) for count in text.split("/")) == 3
    assert table.cells.index.name == "knn against"
    assert "without a test" in table.title


def test_rank_tests(one, several):
    friedman, wilcoxon = rank_tests_table(several, ["one_error", "macro_f1"])
    assert list(friedman.cells.index) == ["one-error", "F1, macro"]
    assert set(friedman.cells["data sets"]) == {"3"}
    assert list(wilcoxon.cells.index) == ["knn", "dummy"]
    # The same for all measures and methods: said once.
    note = "knn; dummy: 3 data sets are too few for p < 0.05, whatever the values"
    assert [note for note in wilcoxon.notes if "too few" in note] == [note]
    friedman, _ = rank_tests_table(one, ["one_error"])
    assert cell(friedman, "one-error", "Friedman χ²") == "–"
    assert any("1 data set with values" in note for note in friedman.notes)


def test_certificates(one):
    table = certificates_table(one)
    assert table.cells[["method", "status"]].to_numpy().tolist() == [["rank-svm", "3 converged"]]
    gaps = [r.certificate["gap"] for r in one if r.certificate]
    assert float(table.cells["largest gap"].iloc[0]) == pytest.approx(max(gaps), rel=0.05)
    assert certificates_table([r for r in one if r.method == "knn"]) is None


def test_failures(one):
    assert failures_table(one) is None
    told = ["rank-svm", "fold 1 of 3, seed 0", "RuntimeError: no luck"]
    assert failures_table(with_failure(one)).cells.iloc[0].tolist() == told


def test_remarks(one):
    said = {"warnings": ["UserWarning: careful"], "one_class_labels": ["label 1"]}
    results = [replace(r, scores="predict", **said) for r in one if r.method == "knn"]
    table = remarks_table(results)
    assert sorted(table.cells["remark"]) == [
        "UserWarning: careful",
        "has no scores: its labels tie in the ranking measures",
        "one class in the training part: label 1",
    ]
    assert set(table.cells["splits"]) == {"3 splits"}
    names = [f"label {k}" for k in range(40)]
    many = [
        replace(result, one_class_labels=names[place * 10 : place * 10 + 20])
        for place, result in enumerate(results)
    ]
    table = remarks_table(many)
    line = f"one class in the training part: 40 labels, such as {', '.join(names[:5])}"
    assert sorted(table.cells["remark"])[-1] == line


def test_data_and_environment(several):
    table = data_table(several)
    assert cell(table, "data 1", "rows, train + test") == "30 + 30"
    assert cell(table, "data 1", "splits") == "2"
    environments = environments_table(several)
    assert environments.cells.shape[1] == 1
    other = replace(several[0], environment={**several[0].environment, "numpy": "0.1"})
    mixed = environments_table([other, *several[1:]])
    assert next(iter(mixed.cells.loc["numpy"])) == "0.1"
    assert mixed.notes == ("the results come from different environments",)


def test_frame_has_one_row_a_result(one):
    frame = results_frame(with_failure(one))
    assert len(frame) == len(one)
    assert frame.loc[0, "error"] == "RuntimeError: no luck"
    assert np.isnan(frame.loc[0, "one_error"])
    assert frame.loc[1, "one_error"] == one[1].measures["one_error"]
    assert json.loads(frame.loc[1, "estimator"]) == one[1].estimator


def test_malformed_arguments(one):
    for make, message in (
        (lambda: results_tables(one, ["f1"]), "measures has 'f1'"),
        (lambda: results_tables(one, []), "measures is empty"),
        (lambda: win_tie_loss_table(one, reference="x"), "reference is 'x'"),
        (lambda: results_tables([]), "results is empty"),
    ):
        with pytest.raises(ValueError, match=message):
            make()
