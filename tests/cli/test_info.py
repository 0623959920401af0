import numpy as np

from multimargin.datasets import MultilabelData, describe
from tests.support.files import write_arff


def test_a_table_of_all_rows_and_each_split(command, folder, small):
    answer = command("info", folder)
    assert (answer.code, answer.err) == (0, "")
    lines = {line[:36].strip(): line[36:].split() for line in answer.out.splitlines()}
    expected = describe(small)
    assert lines["rows"] == ["130", "90", "40"]
    assert lines["label pairs (relevant, irrelevant)"] == [
        f"{part.n_pairs:,}" for part in (expected, *expected.splits.values())
    ]
    assert lines["labels per row (cardinality)"][0] == f"{expected.label_cardinality:.4f}"
    assert "warning" not in answer.out
    found = command("info", folder, "--json").json
    assert found["n_pairs"] == expected.n_pairs
    assert found["splits"]["test"]["label_density"] == expected.splits["test"].label_density
    assert found["warnings"] == []


def test_absent_labels_are_named(command, tmp_path):
    data = MultilabelData(np.ones((2, 1)), [[1, 0], [1, 0]], label_names=["a", "[b]"])
    write_arff(data, tmp_path / "x.arff")
    assert "absent from x: [b]\n" in command("info", tmp_path / "x.arff").out
    assert len(command("info", tmp_path / "x.arff", "--json").json["warnings"]) == 2
