import json
import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from multimargin.cli.measuring import labels_table, rows_table
from multimargin.cli.output import console, counted, number, pairs_table, print_json, tell


@dataclass(frozen=True)
class Inner:
    value: float


def test_json_is_strict_and_complete(capsys):
    values = {
        "array": (np.array([1.5, np.nan]), [1.5, None]),
        "numpy": (np.float64(2.0), 2.0),
        "whole": (np.int64(3), 3),
        "yes": (np.bool_(True), True),
        "inner": (Inner(float("inf")), {"value": None}),
        "tuple": (("a", None), ["a", None]),
        "name": ("漢", "漢"),
        "other": (1j, "1j"),
        4: ({}, {}),
    }
    print_json({key: given for key, (given, _) in values.items()})

    def refuse(constant):
        raise ValueError(constant)

    out = capsys.readouterr().out
    found = json.loads(out, parse_constant=refuse)
    assert found == {str(key): expected for key, (_, expected) in values.items()}
    assert "漢" in out


def test_numbers():
    assert [counted(count, "row") for count in (0, 1, 2)] == ["0 rows", "1 row", "2 rows"]
    assert [number(value) for value in (1234567, 0.12345, None)] == ["1,234,567", "0.1235", "-"]


@pytest.mark.parametrize("name", ["a[red]b", "[/b]", ":dog:"])
def test_names_are_printed_as_they_are(capsys, name):
    counts = dict.fromkeys(("support", "predicted", "errors"), 1)
    shares = dict.fromkeys(("precision", "recall", "f1", "auc"))
    out = console()
    out.print(name)
    out.print(pairs_table([("file", name)]))
    out.print(labels_table([{"label": name, **counts, **shares}], 1))
    out.print(rows_table([{"row": 0, "errors": 1, "missed": [name], "wrong": []}], 1))
    tell(name)
    told = capsys.readouterr()
    assert (told.out.count(name), told.err.count(name)) == (4, 1)


@pytest.fixture
def inputs(command, tmp_path, monkeypatch):
    """A table, a model of it, a folder of parts with a list of labels, and their contents."""
    monkeypatch.chdir(tmp_path)
    table = "f,g,a,b\n" + "".join(f"{k * 7 % 11},{k % 3},{k % 2},{k // 3 % 2}\n" for k in range(24))
    Path("t.csv").write_text(table)
    assert command("fit", "t.csv", "--labels", "a,b", "-m", "rank-lsvm", "-o", "m.model").code == 0
    Path("parts").mkdir()
    for part in ("train", "test"):
        Path(f"parts/p-{part}.csv").write_text(table)
    Path("soft.csv").symlink_to("t.csv")
    os.link("t.csv", "hard.csv")
    os.link("m.model", "hard.model")
    return {path: path.read_bytes() for path in tmp_path.rglob("*.*") if path.is_file()}


@pytest.mark.parametrize(
    "line",
    [
        *(
            f"fit t.csv --labels a,b -o {file}"
            for file in ("t.csv", "./t.csv", "soft.csv", "hard.csv")
        ),
        "fit soft.csv --labels a,b -o t.csv",
        "fit parts --labels a,b -o parts/p-test.csv",
        *(f"predict m.model t.csv -o {file}" for file in ("t.csv", "soft.csv", "m.model")),
        "predict m.model t.csv --json -o hard.model",
        "predict m.model parts -o parts/p-train.csv",
        "export m.model -o hard.model",
        *(
            f"compare t.csv --labels a,b {option} hard.csv"
            for option in ("--results", "--csv", "--report")
        ),
        "compare t.csv --labels a,b --report r --csv ./r",
    ],
)
def test_what_is_read_is_not_overwritten(line, command, inputs, monkeypatch):
    Path("r").touch()

    def computed(*_, **__):
        raise AssertionError("something was computed")

    monkeypatch.setattr("multimargin.cli.table_options.load_table_or_data", computed)
    monkeypatch.setattr("multimargin.model_files.read_model", computed)
    answer = command(*line.split())
    assert answer.code == 1
    assert "is read by this command" in answer.err or "is written twice" in answer.err
    assert {path: path.read_bytes() for path in inputs} == inputs


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("predict m.model t.csv -o new.json", "of JSON, and CSV is written; expected a name such"),
        ("predict m.model t.csv -o new.PARQUET", "of Parquet, and CSV is written"),
        ("predict m.model t.csv -o new.tsv", "of TSV, and CSV is written"),
        ("predict m.model t.csv -o new.csv.gz", "of a compressed file, and CSV is written"),
        ("predict m.model t.csv --json -o new.csv", "of CSV, and JSON is written"),
        ("export m.model -o new.csv", "of CSV, and ONNX is written"),
        ("fit t.csv --labels a,b -o new.json", "of JSON, and a model is written"),
        ("compare t.csv --labels a,b --report new.csv", "of CSV, and Markdown is written"),
        ("compare t.csv --labels a,b --csv new.md", "of Markdown, and CSV is written"),
    ],
)
def test_a_name_says_what_is_written(line, said, command, inputs):
    answer = command(*line.split())
    assert answer.code == 1
    assert said in answer.err.replace("\n", " ")
    assert {path for path in Path().resolve().rglob("*.*") if path.is_file()} == set(inputs)
