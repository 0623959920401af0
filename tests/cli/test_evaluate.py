import numpy as np
import pytest

from multimargin.datasets import MultilabelData
from multimargin.measures import (
    MEASURES,
    MORE_MEASURES,
    all_measures,
    label_measures,
    more_measures,
)
from multimargin.model_files import load_model
from tests.support.files import write_arff


def expected(model, X, Y):
    pipeline = load_model(model)
    scores = pipeline.decision_function(X)
    return all_measures(Y, pipeline.predict(X), scores) | more_measures(Y, scores)


def test_all_measures(command, model, folder, small):
    answer = command("evaluate", model, folder)
    assert (answer.code, answer.err) == (0, "")
    assert answer.out.startswith("mlodm on small, test: 40 rows\n")
    lines = {line[:20].strip(): line[20:].split() for line in answer.out.splitlines()}
    values, shown = expected(model, *small.split("test")), MEASURES | MORE_MEASURES
    assert list(values) == list(shown)
    for name, measure in shown.items():
        direction = "higher" if measure.larger_is_better else "lower"
        assert lines[measure.title] == [f"{values[name]:.4f}", direction]
    assert "fitted to these rows" not in answer.out


def test_json_and_splits(command, model, folder, small):
    for split, seen in (("train", 1.0), ("test", 0.0)):
        found = command("evaluate", model, folder, "--split", split, "--json").json
        assert found["measures"] == pytest.approx(expected(model, *small.split(split)))
        assert found["share_fitted_to"] == seen
    found = command("evaluate", model, folder, "--split", "all", "--json").json
    assert found["n_rows"] == 130
    answer = command("evaluate", model, folder, "--split", "train")
    assert "warning: the model was fitted to all of these rows" in answer.err


def test_labels_in_another_order_and_others(command, model, small, tmp_path):
    order = [6, 0, 5, 1, 4, 2, 3]
    names = [small.label_names[k] for k in order]
    data = MultilabelData(small.X[90:], small.Y[90:, order], small.feature_names, names)
    write_arff(data, tmp_path / "x.arff")
    found = command("evaluate", model, tmp_path / "x.arff", "--json").json
    assert found["measures"] == pytest.approx(expected(model, *small.split("test")))
    write_arff(MultilabelData(small.X, small.Y, small.feature_names), tmp_path / "x.arff")
    answer = command("evaluate", model, tmp_path / "x.arff")
    assert answer.code == 1
    assert answer.err.startswith("multimargin evaluate: x has 7 label(s) that the model does not")


def test_rows_that_cannot_be_ranked_are_refused_in_terms_of_the_data(
    command, model, small, tmp_path
):
    data = MultilabelData(small.X, 0 * small.Y, small.feature_names, small.label_names)
    write_arff(data, tmp_path / "x.arff")
    answer = command("evaluate", model, tmp_path / "x.arff")
    assert answer.code == 1
    assert answer.err.startswith("multimargin evaluate: x has no row with a label that applies")


def test_labels_with_most_errors_come_first(command, model, folder, small):
    X, Y = small.split("test")
    pipeline = load_model(model)
    expected = label_measures(Y, pipeline.predict(X), pipeline.decision_function(X))
    found = command("evaluate", model, folder, "--per-label", "--json").json["labels"]
    assert [one["errors"] for one in found] == sorted(expected["errors"], reverse=True)
    for one in found:
        k = list(small.label_names).index(one.pop("label"))
        assert one == {name: pytest.approx(values[k]) for name, values in expected.items()}
    lines = command("evaluate", model, folder, "--per-label", "--show", 3).out.splitlines()
    head = next(n for n, line in enumerate(lines) if line.startswith("label"))
    heads = ["label", "support", "predicted", "errors", "precision", "recall", "F1", "AUC"]
    assert lines[head].split() == heads
    assert [line.split()[-5] for line in lines[head + 1 : head + 4]] == [
        f"{errors:.0f}" for errors in np.sort(expected["errors"])[:-4:-1]
    ]
    assert "3 of 7 labels" in lines[head + 4]


def test_rows_with_most_errors_come_first(command, model, folder, small):
    X, Y = small.split("test")
    predicted = load_model(model).predict(X)
    errors = (predicted != Y).sum(axis=1)
    found = command("evaluate", model, folder, "--per-row", "--json").json["rows"]
    assert [one["errors"] for one in found] == sorted(errors, reverse=True)
    place = {int(row): number for number, row in enumerate(small.splits["test"])}
    for one in found:
        k = place.pop(one["row"])
        for name, marks in (("missed", Y[k] > predicted[k]), ("wrong", Y[k] < predicted[k])):
            assert one[name] == [small.label_names[label] for label in np.flatnonzero(marks)]
        assert one["support"] == Y[k].sum()
        assert one["errors"] == errors[k]
    assert not place
    lines = command("evaluate", model, folder, "--per-row", "--show", 2).out.splitlines()
    head = next(n for n, line in enumerate(lines) if line.split()[:2] == ["row", "errors"])
    assert lines[head + 1].split()[:2] == [str(found[0]["row"]), f"{found[0]['errors']:.0f}"]
    assert found[0]["missed"][0] in lines[head + 1] or found[0]["wrong"][0] in lines[head + 1]
    assert f"{np.count_nonzero(errors)} of 40 rows have errors; the 2 with most" in lines[-1]
    answer = command("evaluate", model, folder, "--per-row", "--show", 40)
    assert len(answer.out.splitlines()) == len(lines) + np.count_nonzero(errors) - 2
