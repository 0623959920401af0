from dataclasses import replace
from pathlib import Path

import numpy as np

from multimargin.datasets import MultilabelData, describe, load_digit_attributes
from tests.support.files import write_arff


def test_a_table_of_all_rows_and_each_split(command, folder: Path, small: MultilabelData) -> None:
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


def test_json(command, folder: Path, small: MultilabelData) -> None:
    found = command("info", folder, "--json").json
    expected = describe(small)
    assert found["n_pairs"] == expected.n_pairs
    assert found["splits"]["test"]["label_density"] == expected.splits["test"].label_density
    assert found["warnings"] == []


def test_shifted_labels_are_told(command, tmp_path: Path) -> None:
    data = load_digit_attributes()
    Y = data.Y.copy()
    Y[data.splits["test"]] = np.roll(Y[data.splits["test"]], 1, axis=1)
    for part in ("train", "test"):
        write_arff(replace(data, Y=Y), tmp_path / f"x-{part}.arff", split=part)
    answer = command("info", tmp_path)
    assert answer.code == 0
    assert "warning: label frequencies of train and test do not correlate" in answer.out
    assert len(command("info", tmp_path, "--json").json["warnings"]) == 1


DAMAGED = """size,weight,kind,a,b,c
1.5,2,x,0,1,1
2.5,,y,1,2,1
3.5,inf,x,0,,1
4.0,5,,1,1,1
5.5,6,x,0,0,1
9.0,1,y,1,0,1
7.5,1,y,1,0,maybe
"""


def test_damage_is_described_by_column(command, tmp_path: Path) -> None:
    (tmp_path / "bad.csv").write_text(DAMAGED)
    answer = command("info", tmp_path / "bad.csv", "--labels", "a,b,c")
    assert answer.code == 0
    said = [line.removeprefix("warning: ") for line in answer.out.splitlines() if "warning" in line]
    assert said[:3] == [
        "the label 'b' is neither 0 nor 1 in 1 row, first in row 1 (2.0)",
        "the label 'c' is neither 0 nor 1 in 1 row, first in row 6 (maybe)",
        "2 rows left out for their labels in what follows",
    ]
    assert "1 label applies to every row, so nothing can be learned: c" in said
    # What has gone with the rows is no longer missing; an unknown label takes no row along.
    assert "values are missing of 2 columns: weight (1), kind (1)" in said
    found = command("info", tmp_path / "bad.csv", "--labels", "a,b,c", "--json").json
    assert (found["n_samples"], found["n_labels"], found["n_unknown_labels"]) == (5, 3, 1)
    assert found["warnings"] == said
    # To fit it is refused, as before.
    refused = command("fit", tmp_path / "bad.csv", "--labels", "a,b,c")
    assert refused.code == 1
    assert "the column 'b' has 2.0 in row 1; expected 0 or 1" in refused.err


def test_infinite_numbers_are_named(command, tmp_path: Path) -> None:
    for part, rows in (
        ("train", "1,inf,0,1\n2,3,1,0\n,4,0,1\n"),
        ("test", "5,6,1,2\n7,-inf,0,0\n"),
    ):
        (tmp_path / f"d-{part}.csv").write_text("x,z,a,b\n" + rows)
    answer = command("info", tmp_path, "--labels", "a,b", "--json")
    assert answer.json["warnings"] == [
        "the label 'b' is neither 0 nor 1 in 1 row, first in row 3 (2)",
        "1 row left out for their labels in what follows",
        "the column 'z' is infinite in 2 rows, first in row 0; counted as missing in what follows",
        "values are missing of 2 columns: z (2), x (1)",
    ]
    assert {name: part["n_samples"] for name, part in answer.json["splits"].items()} == {
        "train": 3,
        "test": 1,
    }


def test_absent_labels_are_named(command, tmp_path: Path) -> None:
    data = MultilabelData(np.ones((2, 1)), [[1, 0], [1, 0]], label_names=["a", "[b]"])
    write_arff(data, tmp_path / "x.arff")
    assert "absent from x: [b]\n" in command("info", tmp_path / "x.arff").out
