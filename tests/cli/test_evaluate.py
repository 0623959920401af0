import pytest

from multimargin.datasets import MultilabelData
from multimargin.measures import MEASURES, MORE_MEASURES, all_measures, more_measures
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
