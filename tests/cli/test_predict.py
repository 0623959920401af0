"""Predictions by name, also where the data have another order or no labels."""

import io
import sys
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from multimargin import RankSVM, explain
from multimargin.datasets import MultilabelData, sources
from multimargin.model_files import load_model, read_info, save_model
from tests.support.files import write_arff, write_svmlight


def scores_of(model, X):
    return load_model(model).decision_function(X)


def test_csv(command, model, folder, small, tmp_path):
    out = tmp_path / "out.csv"
    answer = command("predict", model, folder, "-o", out)
    assert (answer.code, answer.err) == (0, "")
    assert answer.out.startswith("40 rows, ")
    printed = command("predict", model, folder)
    assert printed.out == out.read_text(encoding="utf-8")
    rows = printed.rows
    expected = scores_of(model, small.split("test")[0])
    assert [int(row["row"]) for row in rows] == list(range(90, 130))
    for label, column in zip(small.label_names, expected.T, strict=True):
        # Written with all their digits.
        assert_array_equal([float(row[f"score: {label}"]) for row in rows], column)
        assert_array_equal([int(row[label]) for row in rows], column > 0)


def test_json(command, model, folder, small, tmp_path):
    found = command("predict", model, folder, "--json", "--split", "train").json
    expected = scores_of(model, small.split("train")[0])
    names = list(small.label_names)
    assert found["labels"] == names
    assert_allclose([list(row["scores"].values()) for row in found["rows"]], expected)
    chosen = [name for name, score in zip(names, expected[3], strict=True) if score > 0]
    assert found["rows"][3]["labels"] == chosen
    out = tmp_path / "out.json"
    written = command("predict", model, folder, "--json", "-o", out).json
    assert written == {"output": str(out), "n_rows": 40}
    assert out.read_text(encoding="utf-8").startswith('{"labels"')
    # The best tags.
    found = command("predict", model, folder, "--json", "--top", "2").json
    scores = scores_of(model, small.split("test")[0])
    for row, expected in zip(found["rows"], scores, strict=True):
        best = np.argsort(-expected)[:2]
        assert row["labels"] == [names[k] for k in best]
        assert row["scores"] == {names[k]: expected[k] for k in best}


def test_features_in_another_order_and_without_labels(command, model, small, tmp_path):
    order = np.random.default_rng(0).permutation(32)
    names = [small.feature_names[k] for k in order]
    file = tmp_path / "new.arff"
    # Labels that nobody knows yet, of other names.
    write_arff(MultilabelData(small.X[:5, order], np.full((5, 7), np.nan), names), file)
    found = command("predict", model, file, "--json").json
    expected = scores_of(model, small.X[:5])
    assert_allclose([list(row["scores"].values()) for row in found["rows"]], expected)


def test_svmlight_rows_with_fewer_features(command, small, tmp_path):
    """Numbers mean what they meant in training, whatever occurs in the new file."""
    for zero_based in (False, True):
        train, new, model = (tmp_path / name for name in ("train.svm", "new.svm", "a.model"))
        bases = {"zero_based": zero_based, "labels_zero_based": zero_based}
        X = small.X[:90].copy()
        X[0, [0, -1]] = 1.0
        write_svmlight(MultilabelData(X, small.Y[:90]), train, **bases)
        assert command("fit", train, "-o", model).code == 0
        rows = small.X[90:].copy()
        rows[:, :3], rows[:, -4:] = 0.0, 0.0
        labels = np.zeros((40, 7), dtype=int)
        labels[:, 3] = 1
        write_svmlight(MultilabelData(rows, labels), new, **bases)
        found = command("predict", model, new, "--json").json
        expected = load_model(model).decision_function(rows)
        assert_allclose(
            [list(row["scores"].values()) for row in found["rows"]], expected, atol=1e-9
        )


def test_wrong_data(command, model, folder, tmp_path):
    np.savez(tmp_path / "a.npz", X=[[1.0]], Y=[[1]])
    (tmp_path / "a.arff").write_text("@relation r\n@attribute f numeric\n@data\n1\n")
    for arguments, code, message in (
        (["digits", "--split", "x"], 2, "--split is 'x'"),
        ([tmp_path / "a.npz"], 1, "a lacks 32 of the 32 features of the model"),
        ([tmp_path / "a.arff"], 1, "a.arff lacks 32 of the 32 features"),
        ([folder, "-o", tmp_path / "no" / "out.csv"], 1, "--output: there is no folder"),
        ([folder, "--format", "all", "--top", 2], 2, "--format is 'all' with --top"),
        ([folder, "--format", "labels", "--why", 2], 2, "--format is 'labels' with --why"),
        ([folder, "--format", "labels", "--probabilities"], 2, "with --probabilities, which"),
        ([folder, "--format", "xml"], 2, "--format is 'xml'; expected one of all, labels, tags"),
    ):
        answer = command("predict", model, *arguments)
        assert (answer.code, message in answer.err) == (code, True), arguments
        assert answer.err.startswith("multimargin predict: ")


def test_labels_that_a_spreadsheet_would_compute(command, tmp_path):
    rng = np.random.default_rng(0)
    X, names = rng.random((20, 3)), ['=HYPERLINK("http://x")', "@b", "c\td"]
    Y = (rng.random((20, 3)) < 0.5).astype(int)
    np.savez(tmp_path / "data.npz", X=X, Y=Y, label_names=names)
    model = tmp_path / "a.model"
    assert command("fit", tmp_path / "data.npz", "-m", "llsf", "-o", model).code == 0
    rows = command("predict", model, tmp_path / "data.npz").rows
    assert list(rows[0])[1:4] == ["'" + names[0], "'@b", r"c\td"]


def test_file_name_that_is_no_text(command, model, folder, tmp_path):
    out = tmp_path / "caf\udce9"
    try:
        out.touch()
    except OSError:
        pytest.skip("this file system refuses such names")
    answer = command("predict", model, folder, "-o", out)
    assert answer.code == 0
    assert r"caf\udce9" in answer.out
    assert command("predict", model, folder, "--json", "-o", out).json["output"] == str(out)


def test_why(command, tmp_path):
    pd = pytest.importorskip("pandas")
    file, model = tmp_path / "songs.csv", tmp_path / "songs.model"
    words = ["slow sad strings", "slow quiet piano", "fast loud drums", "fast happy drums"]
    tags = ['"calm,sad"', "calm", "dance", '"dance,happy"']
    lines = [f"{text},{tag}" for text, tag in zip(words, tags, strict=True)] * 3
    file.write_text("\n".join(["lyrics,tags", *lines]) + "\n")
    options = "--tags-column tags --text lyrics -m rank-svm --set kernel={} -o"
    answer = command("fit", file, *options.format("linear").split(), model)
    assert answer.code == 0
    found = command("predict", model, file, "--why", 2, "--top", 1, "--json").json
    pipeline = load_model(model)
    for number, row in enumerate(found["rows"]):
        (label,) = row["labels"]
        text = pd.DataFrame({"lyrics": [words[number % 4]]})
        (expected,) = explain(pipeline, text, label, k=2)
        assert row["why"] == {
            label: dict(zip(expected.features, expected.contributions, strict=True))
        }
        assert set(row["why"][label]) <= {f"lyrics: {word}" for word in words[number % 4].split()}
    csv = command("predict", model, file, "--why", 2).out.splitlines()
    assert csv[0] == "row,tags,scores,why"
    assert "calm: lyrics: slow +" in csv[1]
    assert command("fit", file, *options.format("rbf").split(), model).code == 0
    answer = command("predict", model, file, "--why", 2)
    assert (answer.code, "kernel='linear'" in answer.err) == (1, True)


def test_a_model_that_was_saved_in_python_is_told(command, small, tmp_path):
    model = tmp_path / "a.model"
    save_model(RankSVM(tol=0.1).fit(small.X, small.Y), model)
    assert "use this one in Python, by load_model" in command("predict", model, "digits").err


def test_copied_columns_do_not_replace_what_is_predicted(command, tmp_path):
    file, model = tmp_path / "t.csv", tmp_path / "t.model"
    rows = "".join(f"id{k},{k + 50},{k * 7 % 11},{k % 2},{k // 3 % 2}\n" for k in range(24))
    file.write_text("labels,row,f,a,b\n" + rows)
    fit = ("fit", file, "--labels", "a,b", "--drop", "labels,row", "-m", "rank-lsvm", "-o", model)
    assert command(*fit).code == 0
    for kept in ("labels", "row"):
        answer = command("predict", model, file, "--keep", kept, "--json")
        assert (answer.code, answer.out) == (1, "")
        assert f"--keep: the column {kept!r} has the name of what predict writes" in answer.err


def test_a_folder_is_no_model(command, tmp_path):
    for name in ("predict", "evaluate"):
        answer = command(name, tmp_path, "digits")
        assert (answer.code, "is a folder; expected a file" in answer.err) == (1, True)


def test_probabilities(command, model, folder, small, tmp_path):
    file = tmp_path / "calibrated.model"
    options = ["-m", "label-ranker", "--set", "loss=squared_hinge", "-o"]
    assert command("fit", folder, *options, file).code == 0
    ranker, X = load_model(file), small.split("test")[0]
    expected, names = ranker.predict_proba(X), list(small.label_names)
    rows = command("predict", file, folder, "--probabilities").rows
    for label, p, predicted in zip(names, expected.T, ranker.predict(X).T, strict=True):
        assert_array_equal([float(row[f"probability: {label}"]) for row in rows], p)
        assert_array_equal([int(row[label]) for row in rows], predicted)
    found = command("predict", file, folder, "--probabilities", "--json", "--top", 2).json
    for row, p in zip(found["rows"], expected, strict=True):
        best = np.argsort(-p, kind="stable")[:2]
        assert row["probabilities"] == {names[k]: p[k] for k in best}
    csv = command("predict", file, folder, "--probabilities", "--top", 1).out.splitlines()
    assert csv[0] == "row,tags,probabilities"
    answer = command("predict", model, folder, "--probabilities")
    assert (answer.code, "has no probabilities; expected" in answer.err) == (1, True)


@pytest.fixture
def sizes(command, tmp_path):
    """A model of a table of sizes, calibrated, and the folder that it is in."""
    lines = [f"{k % 7},{k % 2},{k // 2 % 2}" for k in range(60)]
    (tmp_path / "t.csv").write_text("\n".join(["size,x,y", *lines]) + "\n")
    fit = ("fit", tmp_path / "t.csv", "--labels", "x,y", "-m", "rank-svm", "-o")
    assert command(*fit, tmp_path / "m.model").code == 0
    return tmp_path


KEYS = ["-73.5", "+2.25", "-1e5", "-.5", "-Qk001", "=1+1", "a-b", "@x", "-12%", "- 3", "007"]


def test_columns_that_are_kept_are_as_they_are_but_for_formulas(command, sizes):
    lines = [f"{key},{k}" for k, key in enumerate(KEYS)]
    (sizes / "new.csv").write_text("\n".join(["key,size", *lines]) + "\n")
    predict = ("predict", sizes / "m.model", sizes / "new.csv", "--keep", "key")
    answer = command(*predict)
    formulas = {"-Qk001", "=1+1", "@x", "- 3"}
    expected = [f"'{key}" if key in formulas else key for key in KEYS]
    assert [row["key"] for row in answer.rows] == expected
    told = "4 cells of --keep, such as '-Qk001', would be executed by a spreadsheet and get a"
    assert told in " ".join(answer.err.split())
    answer = command(*predict, "--as-is")
    assert [row["key"] for row in answer.rows] == KEYS
    assert answer.err == ""
    assert [row["key"] for row in command(*predict, "--json").json["rows"]] == KEYS


def test_a_dash_is_standard_output(command, sizes, monkeypatch):
    monkeypatch.chdir(sizes)
    expected = command("predict", "m.model", "t.csv", "--top", "1")
    for more in ((), ("--json",)):
        answer = command("predict", "m.model", "t.csv", "--top", "1", *more, "-o", "-")
        assert answer.out == command("predict", "m.model", "t.csv", "--top", "1", *more).out
    assert not (sizes / "-").exists()
    assert len(expected.rows) == 60


def test_there_is_a_row_for_each_line(command, tmp_path):
    texts = ["red fish", "blue sea", "red sea", "green tree"] * 8
    pairs = zip(texts, ["a", "b", "a,b", ""] * 8, strict=True)
    lines = [f'{text},"{tags}"' for text, tags in pairs]
    (tmp_path / "t.csv").write_text("\n".join(["text,tags", *lines]) + "\n")
    fit = ("fit", tmp_path / "t.csv", "--tags-column", "tags", "--text", "text", "-m", "rank-svm")
    assert command(*fit, "-o", tmp_path / "m.model").code == 0
    (tmp_path / "new.csv").write_text("text\nred fish\n\nblue, sea\n")
    rows = command("predict", tmp_path / "m.model", tmp_path / "new.csv", "--top", "1").rows
    assert [row["row"] for row in rows] == ["0", "1", "2"]
    assert [rows[0]["tags"], rows[2]["tags"]] == ["a", "b"]
    (tmp_path / "new.jsonl").write_text('{"text": "red fish"}\n\n \n{"text": "blue sea"}\n\n')
    rows = command("predict", tmp_path / "m.model", tmp_path / "new.jsonl", "--top", "1").rows
    assert [row["row"] for row in rows] == ["0", "1", "2", "3"]
    assert [rows[0]["tags"], rows[3]["tags"]] == ["a", "b"]


def test_patterns_and_names_in_messages(command, sizes, monkeypatch):
    monkeypatch.chdir(sizes)
    assert len(command("predict", "m.model", "t*.csv").rows) == 60
    (sizes / "new.csv").write_text("size\n1\nlarge\n")
    assert "'large' in row 1 (in new.csv)" in command("predict", "m.model", "new.csv").err
    for content, told in (
        ("size\n1\nlarge\n", "'large' in row 1 (in standard input)"),
        ("size,more\n1,2\n1\n", "standard input, line 3: rows of different lengths"),
        ("", "standard input is empty"),
    ):
        stream = SimpleNamespace(buffer=io.BytesIO(content.encode()))
        monkeypatch.setattr(sys, "stdin", stream)
        sources.standard_input.cache_clear()
        assert told in " ".join(command("predict", "m.model", "-").err.split())
    sources.standard_input.cache_clear()


def test_the_best_labels_have_probabilities_where_there_are_some(command, sizes):
    few = "--set Cs=[1] --set stack=None --set loss=hinge --set class_weight=None --set top_k=None"
    model = sizes / "p.model"
    fit = ("fit", sizes / "t.csv", "--labels", "x,y", *few.split(), "-o", model)
    assert command(*fit).code == 0
    rows = command("predict", model, sizes / "t.csv", "--top", "1").rows
    expected = load_model(model).predict_proba(pd.read_csv(sizes / "t.csv")[["size"]])
    found = [float(row["probabilities"]) for row in rows]
    assert_allclose(found, expected.max(axis=1), atol=1e-4)
    rows = command("predict", sizes / "m.model", sizes / "t.csv", "--top", "1").rows
    assert "scores" in rows[0]


def test_dates_amounts_and_lists_of_new_rows_are_read_as_in_the_fit(command, tmp_path):
    def write(name, rows, labels=True):
        lines = []
        for k in rows:
            price = f"{1000 * k + 0.5:,.2f}".replace(",", " ").replace(".", ",").replace(" ", ".")
            cells = [f"2024-0{1 + k % 9}-1{k % 7}", f"{price} €", f"[{k}, {k / 8}]"]
            lines.append(";".join([*cells, *([str(k % 2), str(k // 2 % 2)] if labels else [])]))
        head = "when;price;vector" + (";x;y" if labels else "")
        (tmp_path / name).write_text("\n".join([head, *lines]) + "\n", encoding="utf-8")

    write("t.csv", range(40))
    write("new.csv", range(3), labels=False)
    model = tmp_path / "m.model"
    fit = ("fit", tmp_path / "t.csv", "--labels", "x,y", "-m", "rank-svm", "-o", model)
    answer = command(*fit)
    assert answer.code == 0, answer.err
    parts = [f"when: {part}" for part in ("year", "month", "day", "weekday")]
    names = (*parts, "price", "vector[0]", "vector[1]")
    assert read_info(model).feature_names == names
    expected = pd.DataFrame(
        [
            [2024, 1 + k % 9, 10 + k % 7, weekday, 1000 * k + 0.5, k, k / 8]
            for k, weekday in zip(range(3), (2, 6, 1), strict=True)
        ],
        columns=names,
        dtype=float,
    )
    scores = load_model(model).decision_function(expected)
    rows = command("predict", model, tmp_path / "new.csv").rows
    assert_allclose([[float(row["score: x"]), float(row["score: y"])] for row in rows], scores)
    (tmp_path / "new.csv").write_text("when;price;vector\n;1,5;[1, 2]\n2024-01-01;2,5;\n")
    answer = command("predict", model, tmp_path / "new.csv")
    told = "1 missing value, filled in by the median of the column\n"
    assert answer.err == f"when: {told}vector: {told}"
    (tmp_path / "new.csv").write_text("when;price\n2024-01-01;1\n")
    answer = command("predict", model, tmp_path / "new.csv")
    assert "lacks 1 of the 3 columns of features: 'vector'" in answer.err
    exported = command("export", model, "-o", tmp_path / "m.onnx", "--json").json
    assert exported["inputs"] == {"X": ["double", 7]}
