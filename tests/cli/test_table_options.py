"""Tables in, names out."""

import json
from itertools import combinations

import numpy as np
import pytest

from multimargin import RankSVM
from multimargin.datasets import load_debian_tags
from multimargin.measures import ranking_loss
from multimargin.model_files import load_model, read_info

pd = pytest.importorskip("pandas")

TAGS = ("interface::commandline", "interface::x11", "works-with::text")
COLUMNS = ("--tags-column", "tags", "--separator", "|", "--drop", "package", "--text", "about")
FIT = ("-m", "mlodm", "--set", "kernel=linear", "--set", "C=4")
LABELS = ("--labels", "tag:*")


@pytest.fixture(scope="module")
def frame():
    """150 programs, with what a table may have: a name, text, a category, numbers, tags."""
    data = load_debian_tags()
    words = np.array(data.feature_names)
    rows = data.splits["train"][:150]
    places = [data.label_names.index(tag) for tag in TAGS]
    return pd.DataFrame(
        {
            "package": [data.sample_names[row] for row in rows],
            "about": [" ".join(words[data.X[[row]].indices]) for row in rows],
            "letter": [data.sample_names[row][0] for row in rows],
            "length": [len(data.X[[r]].indices) if n % 9 else None for n, r in enumerate(rows)],
            "tags": ["|".join(np.array(TAGS)[data.Y[row, places] == 1]) for row in rows],
        }
    )


@pytest.fixture(scope="module")
def files(frame, tmp_path_factory):
    folder = tmp_path_factory.mktemp("tables")
    frame[:100].to_csv(folder / "old.csv", index=False)
    frame[100:].to_csv(folder / "new.tsv", index=False, sep="\t")
    frame[100:].drop(columns="tags")[::-1].to_csv(folder / "bare.csv", index=False)
    return folder


def test_fit_evaluate_and_predict(command, files, frame, tmp_path):
    model = tmp_path / "tags.model"
    fitted = command("fit", files / "old.csv", *COLUMNS, *FIT, "-o", model)
    assert fitted.code == 0, fitted.err
    assert "length: 12 missing values, filled in by the median of the column" in fitted.err
    # One number, the letters, and the words of the text.
    pipeline = load_model(model)
    n_features = len(pipeline[0].get_feature_names_out())
    assert n_features == pipeline[-1].n_features_in_ > 100
    assert f"100 rows (all), {n_features} features of 3 columns, 3 labels" in fitted.out
    evaluated = command("evaluate", model, files / "new.tsv", "--json").json
    assert evaluated["n_rows"] == 50
    assert evaluated["measures"]["ranking_loss"] < 0.3

    best = ("--top", "2", "--keep", "package")
    found = command("predict", model, files / "bare.csv", *best).rows
    assert [row["package"] for row in found] == frame["package"][100:].tolist()[::-1]
    for row in found:
        tags, scores = row["tags"].split("|"), [float(s) for s in row["scores"].split(", ")]
        assert len(tags) == len(scores) == 2
        assert set(tags) < set(TAGS)
        assert scores == sorted(scores, reverse=True)

    # The file holds the whole pipeline: the raw table is enough.
    loaded = load_model(model)
    info = read_info(model)
    raw = frame[100:].drop(columns="tags")[::-1].assign(package="ignored")
    expected = loaded.decision_function(raw[list(info.feature_names)])
    labels = command("predict", model, files / "bare.csv", "--format", "all").rows
    for row, scores in zip(labels, expected, strict=True):
        assert [float(row[f"score: {tag}"]) for tag in TAGS] == pytest.approx(scores.tolist())
        assert [int(row[tag]) for tag in TAGS] == (scores > 0).astype(int).tolist()
    # As the table listed them.
    chosen = command("predict", model, files / "bare.csv").rows
    for row, scores in zip(chosen, expected, strict=True):
        tags = {tag for tag in row["tags"].split("|") if tag}
        assert tags == {tag for tag, s in zip(TAGS, scores, strict=True) if s > 0}
    only = command("predict", model, files / "bare.csv", "--format", "labels").rows
    assert list(only[0]) == ["row", *TAGS]
    # What is missing of a text is told, too.
    bare = pd.read_csv(files / "bare.csv")
    for empty, told in (
        (slice(2), "2 missing values, read as no words"),
        (slice(None), "no value"),
    ):
        bare.loc[bare.index[empty], "about"] = None
        bare.to_csv(tmp_path / "empty.csv", index=False)
        assert f"about: {told}" in command("predict", model, tmp_path / "empty.csv").err


def test_a_model_keeps_the_separator_that_its_table_had(command, tmp_path):
    file, model = tmp_path / "t.csv", tmp_path / "t.model"
    cells = [" ".join(three) for three in combinations("abcdefg", 3)]
    pd.DataFrame({"x": np.arange(35) % 8, "tags": cells}).to_csv(file, index=False)
    answer = command("fit", file, "--tags-column", "tags", *FIT, "-o", model)
    assert answer.code == 0, answer.err
    line = "warning: --tags-column: no cell of 'tags' has the separator ','; ' ' is used as the"
    assert line in answer.err
    assert read_info(model).table.separator == " "
    pd.DataFrame({"x": [1, 2], "tags": ["a", "b"]}).to_csv(file, index=False)
    assert command("evaluate", model, file, "--json").code == 0


def test_a_default_kernel_that_does_not_suit_text_is_told(command, files):
    fit = ("fit", files / "old.csv", *COLUMNS, "-m", "rank-lsvm")
    assert "--set kernel=linear --scale unit" in command(*fit).err
    assert command(*fit, "--set", "kernel=rbf").err == command(*fit, "--set", "kernel=linear").err


def test_other_commands_take_tables(command, files, tmp_path):
    found = command("info", files / "old.csv", *COLUMNS, "--json").json
    assert (found["n_samples"], found["n_labels"], found["n_missing_values"]) == (100, 3, 12)
    some = ("--tags-column", "tags", "--separator", "|", "--drop", "package,about,letter")
    results = ("--results", tmp_path / "r.jsonl", "-m", "rank-lsvm", "--cv", "2", "--json")
    compared = command("compare", files / "old.csv", *some, *results)
    assert compared.code == 0, compared.err
    assert "length: 12 missing values" in compared.err


def test_characters_may_be_missing(command, files, tmp_path):
    table = pd.read_csv(files / "old.csv")
    table.loc[3, "about"] = None
    table.to_csv(tmp_path / "t.csv", index=False)
    answer = command("fit", tmp_path / "t.csv", *COLUMNS, "--analyzer", "char", *FIT)
    assert answer.code == 0, answer.err
    assert "about: 1 missing value, read as no characters" in answer.err


def test_messages(command, files, monkeypatch):
    monkeypatch.chdir(files)
    tags = "fit old.csv --tags-column tags"
    for line, code, message in (
        ("fit old.csv", 2, "--labels is not given, expected names of columns"),
        (f"{tags} --labels a", 2, "are both given"),
        ("fit old.csv --separator ;", 2, "--separator is given without --tags-column"),
        ("fit old.csv --tags-column tag", 1, "--tags-column: there is no column 'tag'"),
        (tags, 1, "--text about --drop package"),
        (
            f"{tags} --text tags,about",
            1,
            "--text has the column 'tags', which is given as --tags-column too",
        ),
        (f"{tags} --group no", 1, "--group: there is no"),
        ("info digits --drop x", 2, "--drop is for tables"),
        ("info no.csv --drop x", 1, "there is no file or folder 'no.csv'"),
    ):
        answer = command(*line.split())
        assert answer.code == code, line
        assert message in answer.err, line


def test_a_model_of_a_table_says_what_it_takes(command, files, tmp_path):
    model, other, short = (tmp_path / name for name in ("tags.model", "digits.model", "short.csv"))
    assert command("fit", files / "old.csv", *COLUMNS, *FIT, "-o", model).code == 0
    assert command("fit", "digits", "-m", "rank-lsvm", "-o", other).code == 0
    short.write_text("about,letter\nx,y\n")
    (tmp_path / "words.csv").write_text("about,letter,length\nx,y,long\n")
    for arguments, code, message in (
        ([model, "digits"], 1, "there is no file or folder 'digits'"),
        ([model, files / "none.csv"], 1, "there is no file or folder"),
        ([model, model], 1, "is not a table; expected one, as the model was fitted to one"),
        ([model, short], 1, "short.csv lacks 1 of the 3 columns of features: 'length'"),
        (
            [model, tmp_path / "words.csv"],
            1,
            "the column 'length' has something other than numbers: 'long' in row 0",
        ),
        (
            [other, files / "bare.csv", "--keep", "package"],
            2,
            "--keep is for models that were fitted to a table",
        ),
    ):
        answer = command("predict", *arguments)
        assert (answer.code, message in answer.err) == (code, True), message
    answer = command("evaluate", model, files / "old.csv", "--labels", "last:1")
    assert (answer.code, answer.err.count("--labels has no effect: the model was")) == (0, 1)
    for name in ("predict", "evaluate"):
        answer = command(name, other, files / "old.csv")
        assert answer.code == 1
        assert "old.csv is a table; expected the kind of file that the model was" in answer.err


@pytest.fixture
def partly(frame, tmp_path):
    """A table with a label that is unknown in every fifth row."""
    table = pd.DataFrame({"x": np.arange(90) * 37 % 91, "y": np.arange(90) * 53 % 89})
    for k, tag in enumerate(("tag:a", "tag:b", "tag:c")):
        table[tag] = (table["x"] * (k + 1) % 91 > 40).astype(float)
    table.loc[::5, "tag:b"] = np.nan
    table.to_csv(tmp_path / "partly.csv", index=False)
    return tmp_path / "partly.csv"


def test_empty_cells_of_labels_are_unknown(command, partly, tmp_path):
    file = partly
    model = tmp_path / "partly.model"
    fitted = command("fit", file, *LABELS, "-m", "rank-svm", "-o", model)
    assert fitted.code == 0
    told, empty, _ = fitted.err.split("\n")
    assert told == "18 of 270 labels are unknown, and their loss is left out: tag:b (18)"
    assert empty.startswith("warning: y has no label in 10 % of the rows")
    estimator = load_model(model)
    table = pd.read_csv(file)
    expected = RankSVM(random_state=0).fit(
        estimator[:-1].transform(table), table.filter(like="tag:")
    )
    assert estimator[-1].objective_ == expected.objective_
    # Every row is measured by its known labels.
    answer = command("evaluate", model, file, "--json")
    assert answer.json["n_rows"] == 90
    loss = ranking_loss(table.filter(like="tag:"), estimator.decision_function(table))
    assert answer.json["measures"]["ranking_loss"] == pytest.approx(loss)
    assert "18 of 270 labels are unknown, and are not measured: tag:b (18)" in answer.err


def test_unknown_labels_are_compared_around(command, partly, tmp_path):
    file = partly
    arguments = ("-m", "rank-svm,mlodm,ovr-svc", "--cv", "3", "--results", tmp_path / "r.jsonl")
    compared = command("compare", file, *LABELS, *arguments)
    assert compared.code == 0
    results = [json.loads(line) for line in (tmp_path / "r.jsonl").read_text().splitlines()]
    found = [one for one in results if one.get("method") in ("mlodm", "ovr-svc")]
    assert sum(one["shape"]["n_test"] for one in found) == 2 * 90
    assert all(0.0 <= one["measures"]["ranking_loss"] < 0.5 for one in found)
    # Those that take no unknown labels are fitted to the other rows, and say so.
    said = {one["method"]: " ".join(one["warnings"]) for one in found}
    assert "training rows: the others have unknown labels" in said["ovr-svc"]
    assert "unknown" not in said["mlodm"]
    refused = command("fit", file, *LABELS, "-m", "ml-knn")
    assert refused.code == 1
    assert "leave rows with unknown labels out, or write 0" in refused.err


def test_what_a_newcomer_meets(command, partly, tmp_path):
    file = partly
    table = pd.read_csv(file).assign(empty=np.nan, colour=["red", None] * 45)
    table.to_csv(file, index=False)
    # Missing values are counted by column, names among them.
    info = command("info", file, *LABELS)
    assert "warning: values are missing of 2 columns: empty (90), colour (45)" in info.out
    fitted = command("fit", file, *LABELS, "-o", tmp_path / "m.model")
    told = "empty: no values, filled in by the median of the column; a fit can leave the column out"
    assert f"{told} (--drop empty)\n" in fitted.err
    predicted = command("predict", tmp_path / "m.model", file, "--top", "2", "-o", tmp_path / "p")
    assert predicted.out.startswith("90 rows, the best 2 labels of each, written to ")
    # Options have the names that are typed.
    refused = command("fit", file, "--labels", "colour")
    assert "or --tags-column for a column that lists the tags of each row" in refused.err


def test_tags_that_hold_the_separator_of_others_are_read_back(command, tmp_path):
    names = ["smith, j.", "doe, a.", "roe, r."]
    rows = [[name for k, name in enumerate(names) if (row >> k) & 1] for row in range(8)] * 5
    lines = [f'{row % 2},{row % 3},"{"|".join(listed)}"' for row, listed in enumerate(rows)]
    table = tmp_path / "d.csv"
    table.write_text("\n".join(["p,q,tags", *lines]) + "\n")
    model = tmp_path / "m.model"
    fit = ("--tags-column", "tags", "--separator", "|", "-m", "rank-svm", "-o", model)
    command("fit", table, *fit)
    for row in command("predict", model, table, "--top", 2).rows:
        assert set(row["tags"].split("|")) <= set(names)
    table.write_text("p,q,tags\n1,2,SMITH|roe\n0,1,SMITH\n0,0,\n")
    answer = command("evaluate", model, table)
    assert "2 tags that the model does not know, with the number of rows: 'SMITH (2)'" in answer.err


def test_columns_of_one_name_are_told_apart(command, tmp_path):
    table = tmp_path / "d.csv"
    lines = [f"{k % 2},{k % 3},{k},{'row' if k % 2 else 'id'};x" for k in range(20)]
    table.write_text("\n".join(["p,q,id,tags", *lines]) + "\n")
    model = tmp_path / "m.model"
    fit = ("--tags-column", "tags", "--separator", ";", "--drop", "id", "-m", "rank-svm", "-o")
    command("fit", table, *fit, model)
    rows = command("predict", model, table, "--format", "labels", "--keep", "id").rows
    assert list(rows[0]) == ["row", "id", "label: id", "label: row", "x"]


def test_an_arff_file_with_texts_is_a_table(command, tmp_path):
    """Its header names the labels, which new rows may lack; what is proposed is taken."""
    header = (
        "@relation 'r: -C 2'\n@attribute a {0,1}\n@attribute b {0,1}\n"
        "@attribute about string\n@attribute size numeric\n@attribute day date\n@data\n"
    )
    words = ("red", "blue", "red blue", "green")
    rows = [
        f"{k % 2},{k // 2 % 2},'{words[k % 4]} fish in the sea {k}',{k % 7},2024-01-05"
        for k in range(40)
    ]
    (tmp_path / "old.arff").write_text(header + "\n".join(rows))
    (tmp_path / "new.arff").write_text(header + "?,?,'red fish',1,2024-01-05\n")
    for roles in (("--text", "about"), ("--drop", "about,day")):
        fitted = command("fit", tmp_path / "old.arff", *roles, *FIT, "-o", tmp_path / "m")
        assert fitted.code == 0, fitted.err
        found = command("predict", tmp_path / "m", tmp_path / "new.arff", "--keep", "size")
        assert found.out.splitlines()[0] == "row,size,a,b,score: a,score: b"
        assert found.out.splitlines()[1].startswith("0,1,")
        assert command("evaluate", tmp_path / "m", tmp_path / "old.arff", "--json").code == 0
    asked = command("fit", tmp_path / "old.arff", *FIT, "-o", tmp_path / "m")
    assert "--text about" in asked.err
