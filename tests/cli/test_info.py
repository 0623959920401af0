import shlex
import subprocess
import sys

import numpy as np
import pandas as pd

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


def write_tickets(path):
    """A table with dates, text and tags, whose columns have blanks in their names."""
    words = ["late parcel from the courier", "please refund this charge", "the login does not work"]
    rows = [
        {
            "opened at": f"2024-02-{1 + k % 28:02}",
            "message text": f"{words[k % 3]} number {k}",
            "tags": ["shipping", "billing;account", "account", "billing;shipping"][k % 4],
        }
        for k in range(80)
    ]
    pd.DataFrame(rows).to_csv(path, index=False)


def test_a_table_is_shown_before_anything_is_asked(command, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_tickets("my tickets.csv")
    answer = command("info", "my tickets.csv")
    assert (answer.code, answer.err) == (0, "")
    for kind in ("dates", "text", "lists of tags"):
        assert kind in answer.out
    assert "most frequent labels: account (40), billing (40), shipping (40)" in answer.out
    proposed = [line for line in answer.out.splitlines() if line.startswith("  multimargin")]
    assert [shlex.split(line)[:3] for line in proposed] == [
        ["multimargin", "info", "my tickets.csv"],
        ["multimargin", "fit", "my tickets.csv"],
    ]
    described = command(*shlex.split(proposed[0])[1:])
    assert described.code == 0
    assert "most frequent labels: account (40)" in described.out
    found = command("info", "my tickets.csv", "--json").json
    assert [column["holds"] for column in found["columns"]] == [
        "dates or times",
        "text",
        "lists of tags",
    ]


def test_columns_to_ask_about_are_shown(command, tmp_path):
    write_tickets(tmp_path / "t.csv")
    answer = command("info", tmp_path / "t.csv", "--tags-column", "tags", "--separator", ";")
    assert answer.code == 0
    assert "'message text' holds 80 different values" in answer.err
    assert "--text 'message text'" in answer.err
    # Decisions come with their reasons.
    assert "dates, such as" in answer.out
    assert "lists of tags" in answer.out


def test_rare_labels_are_left_out_on_demand(command, tmp_path):
    frame = pd.DataFrame(
        {"x": np.arange(60) % 7, "tags": ["a;b", "a", "b;c", "a;b;c", "b", "rare;a"][:5] * 12}
    )
    frame.loc[3, "tags"] = "rare;a"
    frame.to_csv(tmp_path / "t.csv", index=False)
    options = ["--tags-column", "tags", "--separator", ";"]
    answer = command("info", tmp_path / "t.csv", *options, "--min-count", 5)
    assert "1 label with fewer than 5 rows left out, 3 taken" in answer.err
    few = command("info", tmp_path / "t.csv", *options, "--min-count", 50)
    assert few.code == 1
    assert "--min-count is 50, and 0 label(s) have as many rows" in few.err
    model = tmp_path / "t.model"
    fit = ["fit", tmp_path / "t.csv", *options, "--min-count", 5, "-m", "rank-svm", "-o", model]
    assert command(*fit).code == 0
    assert "1 tag" in command("evaluate", model, tmp_path / "t.csv").err


def test_a_missing_file_is_told_before_libraries_are_imported(tmp_path):
    code = (
        "import sys\nfrom multimargin.cli import main\n"
        "try:\n    main(['info', 'there/is/none.csv'])\n"
        "except SystemExit as end:\n    print(end.code, 'sklearn' in sys.modules)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=tmp_path
    )
    assert done.stdout == "1 False\n"
    assert "there is no file or folder 'there/is/none.csv'" in done.stderr
