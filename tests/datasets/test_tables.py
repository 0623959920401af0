"""Tables: which columns are labels, what the others hold, and what becomes of them."""

import gzip
import json
import re
import sys
import warnings
from decimal import Decimal
from itertools import combinations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from multimargin.datasets import MultilabelData, load, load_table
from multimargin.datasets.feature_columns import UndecidedColumns
from multimargin.datasets.sources import table_files
from multimargin.datasets.table_columns import TableColumns
from multimargin.datasets.table_encoder import make_encoder, with_encoder
from multimargin.datasets.table_files import read_frame
from multimargin.datasets.tables import features_of, read_table, table_of
from tests.support.cases import case

pd = pytest.importorskip("pandas")

FRAME = pd.DataFrame(
    {
        "id": [7, 3, 9, 4],
        "size": [1.0, None, 3.0, 8.0],
        "kind": ["a", "b", None, "a"],
        "about": ["red fox", "blue fox", None, "red hen"],
        "tag:x": [1, 0, 1, 0],
        "tag:y": [True, True, False, False],
        "z": ["yes", "no", "no", "yes"],
    }
)
Y = np.array([[1, 1, 1], [0, 1, 0], [1, 0, 0], [0, 0, 1]])


def test_labels_by_names_patterns_and_places():
    for labels, names in (
        ("tag:x,tag:y", ("tag:x", "tag:y")),
        ("tag:*", ("tag:x", "tag:y")),
        ("z, tag:*", ("tag:x", "tag:y", "z")),
        (["z", "tag:x"], ("tag:x", "z")),
        ("last:3", ("tag:x", "tag:y", "z")),
        (-3, ("tag:x", "tag:y", "z")),
    ):
        table = table_of(FRAME, TableColumns(labels, drop="id", text="about"))
        assert table.label_names == names
        places = [("tag:x", "tag:y", "z").index(name) for name in names]
        assert_array_equal(table.Y, Y[:, places])
        assert not set(names) & set(table.feature_names)
    table = table_of(FRAME[FRAME.columns[::-1]], TableColumns(2, drop="id", text="about"))
    assert table.label_names == ("z", "tag:y")


def test_a_frame_becomes_numbers_with_names():
    data = MultilabelData.from_frame(FRAME.set_index("id"), "last:3", text="about", name="few")
    assert data.label_names == ("tag:x", "tag:y", "z")
    assert data.sample_names == ("7", "3", "9", "4")
    dense = data.X.toarray() if sparse.issparse(data.X) else data.X
    column = {name: dense[:, k] for k, name in enumerate(data.feature_names)}
    assert_array_equal(column["size"], [1.0, np.nan, 3.0, 8.0])
    assert_array_equal(column["kind_a"], [1, 0, 0, 1])
    assert_array_equal(column["kind_(missing)"], [0, 0, 1, 0])
    assert (column["about: hen"] > 0).tolist() == [False, False, False, True]
    # No word, no weight: the missing text.
    assert not any(values[2] for name, values in column.items() if name.startswith("about: "))


def test_missing_numbers_are_filled_in_by_the_median_of_the_fitted_rows_and_scaled():
    kinds = {"size": "number"}
    encoder = make_encoder(kinds, scaling="minmax", n_rows=4)
    train = pd.DataFrame({"size": [1.0, 2.0, 5.0]})
    encoder.fit(train)
    new = pd.DataFrame({"size": [np.nan, 5.0]})
    assert_allclose(encoder.transform(new).ravel(), [(2 - 1) / 4, 1.0])


@pytest.mark.parametrize("scaling", ["minmax", "standard", "unit", "none"])
def test_columns_tell_where_numbers_of_the_fitted_rows_are_missing(scaling):
    kinds = {"size": "number", "kind": "nominal", "age": "number"}
    encoder = make_encoder(kinds, scaling=scaling, n_rows=4)
    train = pd.DataFrame({"size": [1.0, 2.0, np.nan], "kind": "x", "age": [1.0, 2.0, 4.0]})
    encoder.fit(train)
    names = encoder.get_feature_names_out().tolist()
    assert names == ["size", "age", "size: missing", "kind_x"]
    new = pd.DataFrame({"size": [5.0, np.nan], "kind": "x", "age": [np.nan, 3.0]})
    there, missing = encoder.transform(new)[:, 2]
    fitted = encoder.transform(train)[:, 2]
    assert (there, missing) == (fitted[0], fitted[2])
    assert missing > there
    whole = make_encoder(kinds, scaling=scaling, n_rows=4).fit(train[:2])
    assert whole.get_feature_names_out().tolist() == ["size", "age", "kind_x"]


def test_columns_of_an_encoder_are_found_by_name_and_kept_by_number():
    kinds = {"c": "number", "kind": "nominal", "a": "number"}
    encoder = make_encoder(kinds, scaling="none", n_rows=2)
    table = pd.DataFrame({"a": [1.0, 2.0], "other": 9.0, "c": [3.0, 4.0], "kind": ["x", "x"]})
    expected = [[3.0, 1.0, 1.0], [4.0, 2.0, 1.0]]
    assert_array_equal(encoder.fit_transform(table), expected)
    # By numbers: scikit-learn looks through all names of the table for each that it is given.
    assert [columns for _, _, columns in encoder.transformers_[:2]] == [[2, 0], [3]]
    assert_array_equal(encoder.transform(table[["kind", "c", "a"]]), expected)
    with pytest.raises(ValueError, match="the table lacks 2 of the 2 columns: 'c', 'a'"):
        make_encoder(kinds, scaling="none", n_rows=2).fit(table[["kind"]])


def test_a_column_of_tags():
    for cells, separator, names, indicator in (
        (["a, b", "b", "", " "], ",", ["a", "b"], [[1, 1], [0, 1], [0, 0], [0, 0]]),
        (["a|b c", "b c"], "|", ["a", "b c"], [[1, 1], [0, 1]]),
        ([["b", "a"], np.array(["a"]), []], ",", ["a", "b"], [[1, 1], [1, 0], [0, 0]]),
    ):
        frame = pd.DataFrame({"n": np.arange(len(cells)) ** 2.0, "tags": cells})
        data = MultilabelData.from_frame(frame, tags_column="tags", separator=separator)
        assert list(data.label_names) == names
        assert_array_equal(data.Y, indicator)
    # Of a row without a value nothing is known, as where y lists names.
    for cells in (["a,b", None, "", "a"], [["a", "b"], None, [], ["a"]]):
        frame = pd.DataFrame({"n": np.arange(4) ** 2.0, "tags": cells})
        with pytest.warns(UserWarning, match="'tags' has no value in 1 of 4 rows, first in row 1"):
            data = MultilabelData.from_frame(frame, tags_column="tags")
        assert_array_equal(data.Y, [[1, 1], [np.nan, np.nan], [0, 0], [1, 0]])
    # Only known tags are taken.
    frame = pd.DataFrame({"n": [0.0, 1.0], "tags": ["new,b", "a"]})
    table = table_of(frame, TableColumns(tags_column="tags"), known_labels=("b", "a", "c"))
    assert_array_equal(table.Y, [[1, 0, 0], [0, 1, 0]])


def test_messages():
    for arguments, message in (
        ({}, r"labels is not given.*the last 3 hold 0 and 1 \(labels last:3\?\)"),
        ({"labels": "tag:x"}, "labels has one column, 'tag:x'; expected at least two"),
        ({"labels": "tagx,z"}, r"labels: there is no column 'tagx' \(did you mean 'tag:x'\?\)"),
        ({"labels": "kind,z"}, "labels: the column 'kind' has .* in row 0; expected 0 or 1"),
        ({"labels": "id,z"}, "labels: the column 'id' has .*7.* in row 0; expected 0 or 1"),
        ({"labels": "last:9"}, "labels is 'last:9', but there are 7 columns"),
        ({"labels": "*"}, "labels: the column 'id'"),
        ({"labels": "tag:*", "drop": "nothing"}, "drop: there is no column 'nothing'"),
        ({"labels": "tag:*", "drop": "id,size,kind,about,z"}, "no column is left"),
        ({"labels": "tag:*", "tags_column": "kind"}, "labels and tags_column are both given"),
        ({"tags_column": "kind", "separator": ""}, "separator is empty"),
    ):
        with case(arguments), pytest.raises(ValueError, match=message):
            MultilabelData.from_frame(FRAME, **arguments)
    with pytest.raises(ValueError, match=r"group is 'kin\*'; expected the name of one"):
        table_of(FRAME, TableColumns(tags_column="kind", group="kin*"))
    options = {"text": "about", "tags_column": "z", "separator": "e", "number": "id"}
    data = MultilabelData.from_frame(FRAME, **options)
    assert data.n_labels == 3


@pytest.mark.parametrize("pattern", ["kind", "k*"])
def test_a_column_is_one_thing_and_nothing_else_if_dropped(pattern):
    frame = FRAME.assign(kind=["a", "b", "b", "a"], left=1.0)
    one, several = ("tags_column", "group"), ("labels", "text", "drop")
    for use, other in combinations((*one, *several), 2):
        given = {"labels": "tag:*,z", "drop": "id,size,about"}
        for argument in (use, other):
            if argument in one:
                given[argument] = "kind"
            else:
                given[argument] = f"{given.get(argument, pattern)},{pattern}"
        if "tags_column" in given and "labels" not in (use, other):
            del given["labels"]
        columns = TableColumns(**given)
        if "drop" in (use, other) and use != "tags_column":
            found = table_of(frame, columns)
            assert found.feature_names == ("left",)
            assert found.label_names == ("tag:x", "tag:y", "z")
            assert (found.groups is not None) == (use == "group")
            continue
        message = r"has the column 'kind', .* given as \w+ too"
        if (use, other) == ("tags_column", "labels"):
            message = "labels and tags_column are both given"
        with case(use, other), pytest.raises(ValueError, match=message):
            table_of(frame, columns)


@pytest.mark.parametrize("form", [list, pd.Index, pd.Categorical])
def test_words_among_numbers_are_told(form):
    stored = None if form is pd.Categorical else "numbers that are stored as text, such as '0'"
    other = "something other than a number"
    for words, told in (
        ({3: "unknown"}, f"{other} in 1 of 40 rows, first 'unknown' in row 3"),
        ({3: None, 9: "n/k", 8: "!"}, f"{other} in 2 of 40 rows, first '!' in row 8"),
        ({3: None, 9: "?", 8: "-"}, stored),
        ({k: f"{k},5" for k in range(40)}, f"{other} in 40 of 40 rows, first '0,5' in row 0"),
        ({}, stored),
        ({3: None}, stored),
        ({k: "word" for k in range(35)}, None),
    ):
        column = form([words.get(k, str(k)) for k in range(40)])
        frame = pd.DataFrame({"c": column, "x": [0, 1] * 20, "y": [1, 0] * 20}, index=[7] * 40)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            MultilabelData.from_frame(frame, "x,y")
        found = [str(warning.message) for warning in caught]
        assert len(found) == (told is not None), words
        assert all(f"'c' has {told}" in line for line in found), words


def test_columns_that_are_no_features():
    for column, message in (
        (pd.date_range("2020-01-01", periods=60).time, r"'c' holds dates or times.*--drop c"),
        (pd.to_timedelta(range(60), unit="h"), r"'c' holds durations, such as.*--drop c"),
        ([f"name {k}" for k in range(60)], r"'c' holds 60 different values in 60 rows, such as 'n"),
        ([np.inf] + [0.0] * 59, "'c' is infinite in row 0"),
    ):
        frame = pd.DataFrame({"c": column, "x": [0, 1] * 30, "y": [1, 0] * 30})
        with pytest.raises(ValueError, match=message):
            MultilabelData.from_frame(frame, "x,y")


def test_one_message_settles_all_columns():
    frame = pd.DataFrame({"x": [0, 1] * 30, "y": [1, 0] * 30})
    frame["id"], frame["source"] = [[f"{name} {k}" for k in range(60)] for name in "ab"]
    frame["about"] = frame["title"] = [f"a text of several words {k}" for k in range(60)]
    with pytest.raises(ValueError, match=r"'id' holds 60 different values .*; 'source'") as found:
        MultilabelData.from_frame(frame, "x,y", text="title")
    assert str(found.value).endswith("for example --text title,about --drop id,source")
    MultilabelData.from_frame(frame, "x,y", text="title,about", drop="id,source")


def test_what_is_passed_in_is_not_modified():
    before = FRAME.copy(deep=True)
    MultilabelData.from_frame(FRAME, "last:3", drop="id", text="about")
    pd.testing.assert_frame_equal(FRAME, before)
    assert MultilabelData.from_frame({"n": [1], "x": [0], "y": [1]}, "x,y").n_samples == 1
    with pytest.raises(TypeError, match="frame is a list; expected a data frame"):
        MultilabelData.from_frame([[1]], "last:3")


def test_files(tmp_path):
    for ending, separator, index in (("csv", ",", 1), ("tsv", "\t", 1), ("csv", ";", 0)):
        FRAME.to_csv(tmp_path / f"few.{ending}", sep=separator, index=bool(index))
        check_file(tmp_path / f"few.{ending}")
    pytest.importorskip("pyarrow")
    FRAME.to_parquet(tmp_path / "few.parquet")
    check_file(tmp_path / "few.parquet")


def check_file(file):
    data = load(file, labels="last:3", drop="id", text="about")
    assert (data.name, data.n_samples, data.label_names) == ("few", 4, ("tag:x", "tag:y", "z"))
    assert_array_equal(data.Y, Y)


def test_train_and_test_parts(tmp_path):
    FRAME[:3].to_csv(tmp_path / "few-train.csv", index=False)
    FRAME[["z", *FRAME.columns[:-1]]][3:].to_csv(tmp_path / "few-test.csv", index=False)
    data = load(tmp_path, labels="tag:*,z", drop="id", text="about")
    splits = {name: rows.tolist() for name, rows in data.splits.items()}
    assert splits == {"train": [0, 1, 2], "test": [3]}
    # The words of the test part are not learned.
    assert "about: hen" not in data.feature_names
    train, test = tmp_path / "few-train.csv", tmp_path / "few-test.csv"
    assert table_files(tmp_path) == {"train": train, "test": test}
    assert table_files(train) == {"train": train}
    assert table_files(__file__) is None
    FRAME.rename(columns={"z": "zz"}).to_csv(tmp_path / "few-test.csv", index=False)
    with pytest.raises(ValueError, match="train and test have different columns: 'z', 'zz'"):
        load(tmp_path, labels="tag:*")
    test.unlink()
    assert table_files(tmp_path) == {"train": train}
    (tmp_path / "more.csv").touch()
    assert table_files(tmp_path) is None


def test_an_empty_cell_of_a_label_is_an_unknown_label(tmp_path):
    file = tmp_path / "t.csv"
    file.write_text("x,a,b\n1,1,\n2,,0\n3,0,1\n4,yes,no\n")
    data = load_table(file, labels="a,b")
    assert_array_equal(data.Y, [[1, np.nan], [np.nan, 0], [0, 1], [1, 0]])
    assert data.Y.dtype == np.float64
    frame = pd.read_csv(file)
    assert_array_equal(MultilabelData.from_frame(frame, "a,b").Y, data.Y)
    # Of which nothing is known is no label.
    file.write_text("x,a,b\n1,1,\n2,0,\n")
    with pytest.raises(ValueError, match="the column 'b' is empty; expected 0 or 1 in some row"):
        load_table(file, labels="a,b")
    # All known: as before.
    file.write_text("x,a,b\n1,1,0\n2,0,1\n")
    assert load_table(file, labels="a,b").Y.dtype == np.int32


def test_features_have_the_names_of_their_columns(tmp_path):
    frame = pd.DataFrame({"size": [1.0, 2.0, 3.0], "kind": ["a", "b", "a"]})
    frame["on__it"] = ["red hen", "red fox", "size"]
    frame["x"], frame["y"] = [0, 1, 1], [1, 0, 1]
    data = MultilabelData.from_frame(frame, "x,y", text="on__it")
    words = ("on__it: fox", "on__it: hen", "on__it: red", "on__it: size")
    assert tuple(data.feature_names) == ("size", "kind_a", "kind_b", *words)
    # Where a column has the name that a name of another one makes, it is said which is which.
    both = MultilabelData.from_frame(frame.rename(columns={"size": "kind_a"}), "x,y", drop="on__it")
    assert tuple(both.feature_names) == ("numbers__kind_a", "names__kind_a", "kind_b")
    with pytest.raises(ValueError, match="no word of the column 'kind' occurs in as many of"):
        MultilabelData.from_frame(frame, "x,y", text="kind,on__it")


@pytest.mark.parametrize("ending", [".csv", ".tsv"])
def test_files_that_are_no_tables(ending, tmp_path):
    file = tmp_path / f"t{ending}"
    for content, message in (
        (b"", " is empty; expected names of columns in its first row"),
        (b"x,a,b\n1,0,1\n2,1,0,7\n", ", line 3: rows of different lengths: more cells than the 3"),
        (
            "café,a,b\n".encode("latin-1"),
            " is not text in UTF-8, in line 1, .*iconv -f WINDOWS-1252 ",
        ),
        ("ä,a,b\n1,0,1\n".encode("utf-16-le"), " is not text in UTF-8: .*iconv -f UTF-16 "),
        (b"x,a,b\n", " has no rows below the names of its columns"),
    ):
        file.write_bytes(content.replace(b",", b"\t") if ending == ".tsv" else content)
        with case(content), pytest.raises(ValueError, match=f"t{ending}{message}"):
            load_table(file, labels="a,b")


def test_names_of_columns_may_have_line_breaks(tmp_path):
    file = tmp_path / "t.csv"
    named = pd.DataFrame({"a size\nin cm": [1.0, 2.0], "b": [0, 1], "c": [1, 0]})
    for separator in (",", ";"):
        named.to_csv(file, sep=separator, index=False)
        data = load_table(file, labels="b,c")
        assert data.feature_names == ("a size\nin cm",)
        assert_array_equal(data.X, [[1.0], [2.0]])


def test_a_column_that_numbers_the_rows_is_told():
    n = 12
    Y = {"a": np.arange(n) % 2, "b": np.arange(n) % 3 % 2}
    frame = pd.DataFrame({"row": np.arange(4, n + 4), "x": np.arange(n) ** 2, **Y})
    told = r"'row' has a different number in each row, .*\(--drop row\)"
    with pytest.warns(UserWarning, match=told) as warned:
        MultilabelData.from_frame(frame, labels="a,b")
    assert len(warned) == 1
    shuffled = frame.assign(row=np.random.default_rng(0).permutation(n))
    with pytest.warns(UserWarning, match=told):
        MultilabelData.from_frame(shuffled, labels="a,b")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        MultilabelData.from_frame(frame, labels="a,b", number="row")
        # Which is chance.
        MultilabelData.from_frame(frame[:5], labels="a,b")
        MultilabelData.from_frame(frame.assign(row=frame["row"] + 1990), labels="a,b")


def test_a_column_that_is_called_a_key_is_told():
    for name, numbers in (("user_id", [7, 3, 9]), ("ISBN", [978, 979, 980])):
        frame = pd.DataFrame({name: numbers, "x": [1, 0, 1], "y": [0, 1, 1]})
        with pytest.warns(UserWarning, match=f"{name}' has a different number in each row"):
            MultilabelData.from_frame(frame, labels="x,y")
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            MultilabelData.from_frame(frame, labels="x,y", number=name)


def test_tables_need_pandas(tmp_path, monkeypatch):
    file = tmp_path / "a.csv"
    file.write_text("x,a,b\n1,0,1\n")
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match=r"pip install 'multimargin\[tables\]'"):
        load_table(file, labels="a,b")


def tags_of(cells, separator=None):
    frame = pd.DataFrame({"x": np.arange(len(cells)) ** 2.0, "tags": cells})
    data = MultilabelData.from_frame(frame, tags_column="tags", separator=separator)
    return list(data.label_names)


@pytest.mark.parametrize("separator", ["^", "~", "::", "\x01", "  "])
def test_a_table_of_one_column_says_what_separates_columns(tmp_path, separator):
    (tmp_path / "t.csv").write_text(f"text{separator}tags\nred{separator}a\nsea{separator}b\n")
    with pytest.raises(ValueError, match=r"the only column is 'text.*tags' \(commas, semicolons, "):
        load_table(tmp_path / "t.csv", tags_column="tags", text="text")


def test_patterns_of_names_with_brackets(tmp_path):
    """As surveys write them: brackets are classes of characters only where these fit."""
    file = tmp_path / "t.csv"
    file.write_text("size,Q1[a],Q1[b],Q2[a]\n5,1,0,1\n6,0,1,1\n7,1,1,0\n")
    for labels in ("Q1[*]", "Q1[?]", "Q1*", "Q1[a],Q1[b]"):
        data = load_table(file, labels=labels, drop="Q2*")
        assert data.label_names == ("Q1[a]", "Q1[b]")
    assert load_table(file, labels="Q[12]*").label_names == ("Q1[a]", "Q1[b]", "Q2[a]")


def test_a_column_without_its_separator_is_told():
    cells = ["a; b", "b; c", "c"]
    with pytest.warns(UserWarning, match="no cell .* has the separator '#'.*is ';' the separator"):
        assert tags_of(cells, "#") == cells
    assert len(tags_of(["science", "fiction", "old books"])) == 3  # one tag per row, most of a word
    with pytest.raises(ValueError, match=r"'tags' has 1 different tag\(s\) with the separator ','"):
        tags_of(["a", "a", ""])
    cells = ["science fiction", "historical novel", "short stories"] * 4
    with pytest.warns(UserWarning, match="so each is one tag, such as 'historical novel'"):
        assert len(tags_of(cells)) == 3


@pytest.mark.parametrize("separator", [";", "|", "\t", " "])
def test_where_no_cell_has_a_comma_the_separator_is_what_most_have(separator):
    cells = [separator.join(pair) for pair in combinations("abcdef", 2)]
    message = f"{separator!r} is used as the separator, which gives 6 different tags"
    with pytest.warns(UserWarning, match=re.escape(message)):
        assert tags_of([*cells, "a"]) == list("abcdef")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert tags_of(cells, separator) == list("abcdef")
    # One comma is no proof against all the others.
    with pytest.warns(UserWarning, match="tags_column") as told:
        assert set(tags_of([*cells, "a,b"])) == {*"abcdef", "a,b"}
    first, second = (str(warning.message) for warning in told)
    assert f"{separator!r} is used as the separator" in first
    assert "'a,b', which is read as one tag, though 'a', 'b' are tags too" in second


def test_words_speak_beside_a_large_number_where_rows_have_length_one():
    kinds = {"size": "number", "about": "text"}
    table = pd.DataFrame({"size": [3e6, 1e6, 2e6, 1e6], "about": FRAME.about.fillna("")})
    X = with_encoder("passthrough", kinds, "unit", n_rows=4)[:-1].fit_transform(table)
    X = X.toarray() if sparse.issparse(X) else X
    norms = np.linalg.norm(X[:, 1:], axis=1)
    assert_allclose(norms, [2**-0.5, 1, 0, 1], atol=1e-12)
    # Numbers alone are rows as they stand.
    alone = with_encoder("passthrough", {"size": "number"}, "unit", n_rows=4)[:-1]
    assert_allclose(alone.fit_transform(table[["size"]]), 1)


def test_columns_of_the_same_name_are_refused(tmp_path):
    # The second would be a feature, renamed, that gives the label away.
    file = tmp_path / "twice.csv"
    file.write_text("size,x,x\n1,0,1\n0,1,0\n", encoding="utf-8")
    told = pytest.warns(UserWarning, match="several columns named 'x': each is read as one, of lis")
    with told, pytest.raises(ValueError, match=r"'x' has .* in row 0; expected 0 or 1"):
        load_table(file, labels="x,size")
    with pytest.raises(ValueError, match=r"^frame has several columns named 'x'; expected d"):
        MultilabelData.from_frame(pd.DataFrame([[1, 2], [0, 1]], columns=["x", "x"]), labels="x")


def test_columns_named_like_tags_are_told():
    rows = {"text": ["red sea", "sky"] * 6, "tags": ["a|b", "b", "c"] * 4, "size": [3.0, 2.0] * 6}
    told = pytest.warns(UserWarning, match=r"named like tags, 'a', 'c', which may.*--drop a,c\)")
    options = {"tags_column": "tags", "separator": "|", "text": "text"}
    with told:
        MultilabelData.from_frame(rows | {"a": [1, 0, 0] * 4, "c": [0, 0, 1] * 4}, **options)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        MultilabelData.from_frame(rows | {"a": [1, 0, 0] * 4}, **options, drop="a")


@pytest.mark.parametrize("separator", [";", ",", "\t"])
def test_the_line_that_tells_spreadsheets_the_separator_is_no_name(tmp_path, separator):
    rows = [["size", "text", "tags"]] + [[f"{k}.5", f"a, {k}", "x|y"[k % 3 :]] for k in range(6)]
    lines = [separator.join(f'"{cell}"' for cell in row) for row in rows]
    file = tmp_path / "t.csv"
    for end in ("\n", "\r\n"):
        for mark in ("", "\N{BYTE ORDER MARK}"):
            text = end.join([f"{mark}sep={separator}", *lines, ""])
            file.write_bytes(text.encode())
            frame = read_frame(file)
            assert frame.columns.tolist() == rows[0]
            assert frame.to_numpy().tolist() == rows[1:]


@pytest.mark.parametrize(
    ("frame", "told"),
    [
        ({"x": [1, 2, 3], "a": [0, 1], "b": [1, 0, 1]}, "frame has columns of the lengths {'x': 3"),
        ({"x": "red", "a": [0, 1], "b": [1, 0]}, "'x': None, .* expected a sequence for each col"),
        ({"x": 1, "a": 0, "b": 1}, "frame has columns of the lengths {'x': None"),
        ({"x": [], "a": [], "b": []}, "the table has no rows; expected some"),
        (
            pd.DataFrame([[1, 0, 1]], columns=pd.MultiIndex.from_product([["x"], ["n", "a", "b"]])),
            r"frame has names of columns in 2 lines, such as \('x', 'n'\); expected one",
        ),
    ],
)
def test_frames_that_are_no_tables_are_refused(frame, told):
    with pytest.raises(ValueError, match=told):
        MultilabelData.from_frame(frame, "a,b")


@pytest.mark.parametrize("name", [None, np.nan, ""])
def test_a_column_without_a_name_is_called_by_its_place(name):
    frame = pd.DataFrame([[1.5, 0, 1], [2.5, 1, 0]], columns=[name, "a", "b"], dtype=object)
    assert MultilabelData.from_frame(frame, "a,b").feature_names == ("column1",)


def test_new_numbers_in_another_unit_are_told():
    sizes = np.linspace(150.0, 200.0, 30)
    days = pd.date_range("2024-01-10", periods=30, freq="h")
    frame = pd.DataFrame({"size": sizes, "day": days, "n": 1, "x": [0, 1] * 15, "y": [1, 0] * 15})
    table = table_of(frame, TableColumns(labels="x,y"))
    encoder = make_encoder(table.kinds, scaling="minmax", n_rows=30).fit(table.X)

    def told(**new):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            encoder.transform(features_of(frame.assign(**new), table.columns, "new"))
        return [str(warning.message) for warning in caught]

    for unit in (10.0, 0.01):
        (message,) = told(size=sizes * unit)
        assert message.startswith("many numbers are far from those of the fitted rows in 'size',")
        assert message.endswith("where these have 150 to 200; is the unit the same?")
    # A code for missing ones in some rows, and not numbers that are far for themselves.
    (message,) = told(size=[*[-999.0] * 5, *sizes[5:]])
    assert "'size', such as -999 where" in message
    assert told(size=[-999.0, 900.0, 800.0, *sizes[3:]]) == []
    # Above 0, a tenth of the least is far, however wide the others are.
    wide = make_encoder(table.kinds, scaling="none", n_rows=30)
    wide.fit(table.X.assign(size=sizes * np.linspace(10.0, 100.0, 30)))
    with pytest.warns(UserWarning, match="numbers are far .* 'size', such as 1.5 where"):
        wide.transform(table.X.assign(size=sizes / 100.0))
    # Days of another month, larger ones, missing ones, and what is the same in all fitted rows.
    later = {"day": days + pd.Timedelta("18D"), "size": sizes + 40.0, "n": 5}
    assert told(**later) == told(size=np.nan) == told() == []
    few = make_encoder(table.kinds, scaling="none", n_rows=9).fit(table.X[:9])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        few.transform(table.X.assign(size=sizes * 10.0))


def test_all_undecided_columns_are_asked_about_at_once(tmp_path):
    rows = [f"A{k:04d},2024-01-{1 + k % 28:02d},1{k % 7}:30,{k % 9},{k % 2},1" for k in range(60)]
    path = tmp_path / "t.csv"
    path.write_text("\n".join(["key,day,time,x,a,b", *rows]), encoding="utf-8")
    with pytest.raises(UndecidedColumns, match="--drop key,time") as asked:
        load_table(path, labels=["a", "b"])
    for found in ("'time' holds dates or times", "'key' holds 60 different values"):
        assert found in str(asked.value)
    with pytest.raises(UndecidedColumns, match=r"--drop time"):
        load_table(path, labels=["a", "b"], nominal="key")
    data = load_table(path, labels=["a", "b"], drop="key,time")
    assert data.feature_names == ("day: year", "day: month", "day: day", "day: weekday", "x")


def test_the_decimal_mark_is_one_for_all_columns_or_asked_about(tmp_path):
    def read(*columns, **options):
        labels = ["1", "0", "0"] * 20, ["0", "1", "0"] * 20
        rows = zip(*(column * 30 for column in columns), *labels, strict=True)
        lines = [";".join(row) for row in rows]
        names = [f"c{k}" for k in range(len(columns))]
        (tmp_path / "t.csv").write_text("\n".join([";".join([*names, "x", "y"]), *lines]))
        return load_table(tmp_path / "t.csv", labels="x,y", **options)

    point, comma, doubt = ["1,234.50", "7.5"], ["1.234,50", "7,5"], ["1,234", "56,789"]
    with pytest.warns(UserWarning, match="a comma is read as the decimal mark, as in '1.234,50'"):
        assert read(comma).X[:2, 0].tolist() == [1234.5, 7.5]
    assert read(point).X[:2, 0].tolist() == [1234.5, 7.5]
    # Another column settles it.
    assert read(point, doubt).X[0].tolist() == [1234.5, 1234]
    with pytest.warns(UserWarning, match="a comma is read as the decimal mark"):
        assert read(comma, doubt).X[0].tolist() == [1234.5, 1.234]
    with pytest.raises(ValueError, match="'c0' has numbers such as '1,234', whose comma may be"):
        read(doubt)
    assert read(doubt, decimal=".").X[0, 0] == 1234
    assert read(doubt, decimal=",").X[0, 0] == 1.234
    with pytest.raises(UndecidedColumns, match="'c1' holds numbers with ',' for the decimal mark"):
        read(point, comma)
    assert "c1_7,5" in read(point, comma, nominal="c1").feature_names


RECORDS = [
    {"key": 9007199254740993, "size": 1.5, "about": "red fox", "tags": ["x", "y"]},
    {"key": 3, "size": None, "about": "blue fox", "tags": []},
    {"key": 4, "size": 2.0, "about": "red hen", "tags": ["y"]},
]


def test_objects_in_lines_or_in_a_list_are_the_same_table(tmp_path):
    lines = "\n".join(map(json.dumps, RECORDS))
    (tmp_path / "t.jsonl").write_text(lines)
    texts = {
        "t.json": json.dumps(RECORDS, indent=2),
        "u.json": json.dumps(RECORDS),
        "v.json": lines,
    }
    for name, text in texts.items():
        (tmp_path / name).write_text(text, encoding="utf-8-sig")
        with (tmp_path / name).open("rb") as plain, gzip.open(tmp_path / f"{name}.gz", "wb") as to:
            to.write(plain.read())
    expected = read_frame(tmp_path / "t.jsonl")
    for name in ("t.json", "u.json", "v.json", "t.json.gz"):
        pd.testing.assert_frame_equal(read_frame(tmp_path / name), expected)
    table = load_table(tmp_path / "t.json", tags_column="tags", text="about", drop="key")
    assert table.label_names == ("x", "y")


@pytest.mark.parametrize(
    ("orient", "told"),
    [
        ("columns", "each entry is read as a column"),
        ("index", "each entry is read as a row"),
        ("split", "the list 'data' is read as the rows"),
        ("table", "the list 'data' is read as the rows"),
        ("list", "each entry is read as a column"),
        ("items", "the list 'items' is read as the rows"),
    ],
)
def test_one_object_of_a_whole_table_is_read_and_told(tmp_path, orient, told):
    frame = pd.DataFrame(RECORDS, index=[7, 3, 12])
    texts = {
        "list": lambda: json.dumps({name: [row[name] for row in RECORDS] for name in RECORDS[0]}),
        "items": lambda: json.dumps({"version": 2, "items": RECORDS, "tags": []}),
    }
    text = texts[orient]() if orient in texts else frame.to_json(orient=orient)
    (tmp_path / "t.json").write_text(text)
    with pytest.warns(UserWarning, match=f"t.json holds one JSON object: {told}"):
        found = read_frame(tmp_path / "t.json")
    (tmp_path / "u.json").write_text(json.dumps(RECORDS))
    expected = read_frame(tmp_path / "u.json")
    assert found.drop(columns="index", errors="ignore").columns.equals(expected.columns)
    assert found[expected.columns].equals(expected)


def test_the_columns_that_pandas_writes_unasked_are_read_without_a_word(tmp_path):
    pd.DataFrame(RECORDS).to_json(tmp_path / "t.json")
    pd.DataFrame(RECORDS).to_json(tmp_path / "u.json", orient="records")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert read_frame(tmp_path / "t.json").equals(read_frame(tmp_path / "u.json"))


@pytest.mark.parametrize("indent", [None, 2])
@pytest.mark.parametrize("ending", [".json", ".jsonl", ".json.gz"])
@pytest.mark.parametrize(
    "row",
    [
        {"text": "red hen"},
        {"text": "red", "tags": ["x", "y"]},
        {"size": 1, "cats": {"x": 1.0, "y": 0.0}},
        {"id": 3, "data": {"text": "red"}, "annotations": [{"result": []}]},
    ],
)
def test_one_object_of_a_row_is_one_row(tmp_path, row, ending, indent):
    file = tmp_path / f"t{ending}"
    with (gzip.open if ending.endswith("gz") else open)(file, "wt") as stream:
        stream.write(json.dumps(row, indent=indent))
    is_line = ending == ".jsonl" and indent is None
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = read_frame(file).to_dict("records")
    held = {name: cell for name, cell in row.items() if name != "data"}
    assert found == [held | row.get("data", {})]
    assert ["read as one row" in str(one.message) for one in caught] == [True] * (not is_line)


@pytest.mark.parametrize("orient", ["columns", "index"])
def test_entries_by_name_are_rows_where_there_are_more_of_them(tmp_path, orient):
    rows = {f"r{k}": {"size": k * 0.5, "tags": ["x", "y"][: k % 3]} for k in range(4)}
    pd.DataFrame(rows).T.to_json(tmp_path / "t.json", orient=orient)
    told = "column" if orient == "columns" else "row"
    with pytest.warns(UserWarning, match=f"each entry is read as a {told}"):
        found = read_frame(tmp_path / "t.json")
    assert found.astype({"size": float}).to_dict("records") == list(rows.values())


def test_lists_are_columns_whatever_they_are_called(tmp_path):
    (tmp_path / "t.json").write_text(json.dumps({"0": [1, 2], "1": [0, 1], "2": [1, 0]}))
    with pytest.warns(UserWarning, match="each entry is read as a column"):
        assert read_frame(tmp_path / "t.json").shape == (2, 3)


@pytest.mark.parametrize(
    "held",
    [
        {"a": {"b": 1}},
        {"1": {"2": 1}},
        {"a": [1], "b": []},
        {"a": [{"b": 1}], "c": [{"d": 1}], "n": 2},
        {},
        7,
    ],
)
def test_an_object_that_is_no_table_is_refused(tmp_path, held):
    (tmp_path / "t.json").write_text(json.dumps(held))
    with pytest.raises(ValueError, match=r"t\.json holds no JSON list[;,] .*orient='records'"):
        read_frame(tmp_path / "t.json")


def test_numbers_of_json_are_shown_as_they_are_written(tmp_path):
    rows = [{"n": k, "tags": [["red", 0.90], ["sea", 0.5]]} for k in range(3)]
    (tmp_path / "t.json").write_text(json.dumps(rows))
    with pytest.raises(ValueError, match=r"lists \['red', 0\.9\] in row 0; expected a list of"):
        load_table(tmp_path / "t.json", tags_column="tags")


def test_what_is_no_list_of_objects_is_named(tmp_path):
    lines = "\n".join(map(json.dumps, RECORDS))
    for name, text, message in (
        ("a.json", "{" + lines, r"a\.json, line 1 is not JSON: Expecting property name"),
        (
            "b.json",
            "{}",
            r"b\.json holds no JSON list, but an object that has neither rows nor columns; exp",
        ),
        ("c.json", "[{}, 3]", r"c\.json, element 2 is not a JSON object"),
        ("e.json", "[]", r"e\.json has no rows"),
        ("f.json", "", r"f\.json has no rows"),
        ("g.jsonl", "3\n", r"g\.jsonl, line 1 is not a JSON object"),
    ):
        (tmp_path / name).write_text(text)
        with case(name), pytest.raises(ValueError, match=message):
            read_frame(tmp_path / name)


def test_a_description_beside_a_table_is_no_table(tmp_path):
    (tmp_path / "rows.csv").write_text("a,b\n1,0\n")
    (tmp_path / "about.json").write_text("{}")
    assert table_files(tmp_path) == {"train": tmp_path / "rows.csv"}
    (tmp_path / "rows.csv").unlink()
    (tmp_path / "about.json").rename(tmp_path / "train.json")
    (tmp_path / "test.json").write_text("[]")
    assert set(table_files(tmp_path)) == {"train", "test"}


def test_a_frame_as_scikit_learn_fetches_it_from_openml():
    of_labels = pd.CategoricalDtype(["FALSE", "TRUE"])
    frame = pd.DataFrame(
        {
            "loudness": [0.5, 1.5, 2.5],
            "genre": pd.Categorical(["rock", "pop", "rock"], ["rock", "pop", "folk"]),
            "calm": pd.Series(["TRUE", "FALSE", "TRUE"], dtype=of_labels),
            "sad": pd.Series(["FALSE", "FALSE", "TRUE"], dtype=of_labels),
        }
    )
    data = MultilabelData.from_frame(frame, labels="last:2")
    assert data.feature_names == ("loudness", "genre_pop", "genre_rock")
    assert data.label_names == ("calm", "sad")
    assert data.Y.tolist() == [[1, 0], [0, 0], [1, 1]]


@pytest.mark.parametrize("wrong", ["[0.5]", "[1, 2]", "[]", "red", [7.0], [1.0, 2.0, 3.0, 4.0]])
def test_a_list_of_another_length_than_the_others_is_refused(wrong):
    """One number alone would become all numbers of its row."""
    frame = pd.DataFrame({"v": ["[1, 2, 3]", "[4, 5, 6]"], "x": [0, 1], "y": [1, 0]})
    columns = table_of(frame, TableColumns(labels="x,y"), as_text=True).columns
    assert list(columns.features) == ["v[0]", "v[1]", "v[2]"]
    new = pd.DataFrame({"v": ["[7, 8, 9]", "", wrong]})
    message = r"the column 'v' has .* in row 2; expected a list of 3 numbers"
    with pytest.raises(ValueError, match=message):
        features_of(new, columns, "new")
    X = features_of(new[:2], columns, "new")
    assert_array_equal(X.to_numpy(), [[7, 8, 9], [np.nan] * 3])


@pytest.mark.parametrize(
    ("train", "test"), [("45%", "0.45"), ("0.45", "45%"), ("$7", "€7"), ("$7", "7%")]
)
def test_another_unit_in_a_later_part_or_in_new_rows_is_refused(tmp_path, train, test):
    for name, cell in (("train", train), ("test", test)):
        rows = [f"{cell},{k % 2},{1 - k % 2}" for k in range(4)]
        (tmp_path / f"{name}.csv").write_text("\n".join(["rate,a,b", *rows]))
    message = r"the column 'rate' has .* in row 4, with.*; expected numbers of one unit"
    with pytest.raises(ValueError, match=message):
        load_table(tmp_path / "train.csv", test=tmp_path / "test.csv", labels="a,b")
    columns = TableColumns(labels="a,b")
    table = read_table({"train": tmp_path / "train.csv"}, columns)
    new = pd.read_csv(tmp_path / "test.csv", dtype=str)
    with pytest.raises(ValueError, match=r"'rate' has .* in row 0, with.*of one unit"):
        features_of(new, table.columns, "new")
    X = features_of(new.assign(rate=["", "na", train, train]), table.columns, "new")
    assert X["rate"].isna().tolist() == [True, True, False, False]


def test_names_that_no_fitted_row_has_are_told():
    """As where a spreadsheet has dropped the zeros in front."""
    rows = {"zip": ["0123", "0456", None] * 4, "x": [3, 5, 4] * 4, "a": [0, 1] * 6, "b": [1, 0] * 6}
    table = table_of(pd.DataFrame(rows), TableColumns(labels="a,b"))
    encoder = make_encoder(table.kinds, scaling="none", n_rows=12).fit(table.X)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        encoder.transform(table.X.assign(zip=["7", None, "0123"] * 4))
        encoder.transform(table.X.assign(zip=None))
    with pytest.warns(UserWarning, match=r"'zip' has names that .* in 8 of 12 rows, such as '123'"):
        encoder.transform(table.X.assign(zip=["123", "456", "0123"] * 4))


def test_cells_with_commas_are_no_lists():
    frame = pd.DataFrame({"v": ["[1, 2]", "[3, 4]"], "x": [0, 1], "y": [1, 0]})
    columns = table_of(frame, TableColumns(labels="x,y"), as_text=True).columns
    for cell in ("2,234", "3 4", "[3, 4"):
        with pytest.raises(ValueError, match=r"'v' has .* in row 0; expected a list of 2 numbers"):
            features_of(pd.DataFrame({"v": [cell]}), columns, "new")


def test_points_between_thousands_are_read_as_in_the_fitted_rows():
    """As the mark of a model's decimals is a comma, 1.234 is more than a thousand."""
    price = {"price": ["0,5", "1,5"], "a": ["0", "1"], "b": ["1", "0"]}
    columns = TableColumns(labels="a,b", decimal=",")
    table = table_of(pd.DataFrame(price), columns, as_text=True)
    new = pd.DataFrame({"price": ["1.234", "2.500"]})
    assert features_of(new, table.columns, "new")["price"].tolist() == [1234, 2500]
    for wrong in ("2.5", "0.500"):
        new = pd.DataFrame({"price": ["1.234", wrong]})
        with pytest.raises(ValueError, match=f"numbers, with ',' for the decimal mark: '{wrong}'"):
            features_of(new, table.columns, "new")
    # Numbers that are no texts have no mark.
    for numbers in ([1.234, 0.5], [Decimal("1.234"), None], pd.array([1.5, None], "Float64")):
        new = pd.DataFrame({"price": pd.Series(numbers, dtype=getattr(numbers, "dtype", object))})
        found = features_of(new, table.columns, "new")["price"]
        assert_array_equal(found, new["price"].astype(float))


@pytest.mark.parametrize("pair", [("Red", "red"), ("sci-fi", "SciFi"), ("a", "1. a")])
def test_columns_of_labels_that_look_alike_are_told(pair):
    frame = pd.DataFrame({"n": [0.5, 1.5], pair[0]: [0, 1], pair[1]: [1, 0]})
    with pytest.warns(UserWarning, match="labels has names that differ only by"):
        table_of(frame, TableColumns(labels=list(pair)))


def test_blanks_of_a_label_without_0_beside_others_are_told():
    frame = pd.DataFrame({"n": [1, 2, 3], "a": ["x", "", "x"], "b": ["1", "0", ""]})
    with pytest.warns(UserWarning, match="labels: no 0 is in 'a', and what is missing there"):
        data = MultilabelData.from_frame(frame, labels="a,b")
    assert_array_equal(data.Y, [[1, 1], [np.nan, 0], [1, np.nan]])
    data = MultilabelData.from_frame(frame, labels="a,b", blank="0")
    assert data.Y.tolist() == [[1, 1], [0, 0], [1, 0]]


@pytest.mark.parametrize("parts", [(["1", ""], ["1", "0"]), (["1", "0"], ["1", ""])])
def test_labels_of_a_part_that_are_written_otherwise_are_told(parts, tmp_path):
    files = [tmp_path / "train.csv", tmp_path / "test.csv"]
    for file, (one, zero) in zip(files, parts, strict=True):
        rows = [f"{k},{one},{zero}\n{k},{zero},{one}" for k in (3, 5, 4)]
        file.write_text("\n".join(["n,a,b", *rows]), encoding="utf-8")
    with pytest.warns(UserWarning, match="labels: no 0 is in 'a', 'b', and what is missing there"):
        load_table(files[0], test=files[1], labels="a,b")


def test_a_ticked_box_of_a_survey_has_the_name_of_its_column():
    frame = pd.DataFrame({"n": [1, 2, 3], "Pizza": ["Pizza", "", "Pizza"], "Ice": ["", "Ice ", ""]})
    with pytest.warns(UserWarning, match="no label is 0 in any row"):
        data = MultilabelData.from_frame(frame, labels="Pizza,Ice")
    assert data.Y.tolist() == [[1, 0], [0, 1], [1, 0]]


@pytest.mark.parametrize("names", [("0", "1"), ("F", "T"), ("no", "yes"), ("N", "Y")])
def test_labels_with_names_of_marks_have_these_marks(names):
    no, yes = names
    frame = pd.DataFrame({"n": [1, 2, 3], no: [yes, no, yes], yes: [no, yes, yes]})
    data = MultilabelData.from_frame(frame, labels=list(names))
    assert data.Y.tolist() == [[1, 0], [0, 1], [1, 1]]


def test_a_ticked_box_may_be_called_no():
    frame = pd.DataFrame({"n": [1, 2, 3], "No": ["No", "", ""], "None": ["", "None", "None"]})
    with pytest.warns(UserWarning, match="no label is 0 in any row"):
        data = MultilabelData.from_frame(frame, labels="No,None")
    assert data.Y.tolist() == [[1, 0], [0, 1], [0, 1]]


@pytest.mark.parametrize(
    ("one", "nothing"), [("1", "NA"), ("1", "NULL"), ("1", "\\N"), ("yes", "?")]
)
def test_labels_without_0_whose_others_are_missing_are_told(one, nothing):
    frame = pd.DataFrame({"n": [1, 2, 3], "a": [one, nothing, one], "b": [nothing, one, one]})
    with pytest.warns(UserWarning, match="labels: no 0 is in 'a', 'b', and what is missing there"):
        MultilabelData.from_frame(frame, labels="a,b")
    frame = pd.DataFrame({"n": [1, 2, 3], "a": ["0", "", "0"], "b": ["0", "1", "1"]})
    with pytest.warns(UserWarning, match="labels: no 1 is in 'a', and what is missing there"):
        MultilabelData.from_frame(frame, labels="a,b")


def test_texts_without_a_word_of_the_fitted_rows_are_told():
    texts = ["red sea", "blue sky", "", "red sky"] * 3
    frame = pd.DataFrame({"t": texts, "x": [3, 5, 4] * 4, "a": [0, 1] * 6, "b": [1, 0] * 6})
    table = table_of(frame, TableColumns(labels="a,b", text="t"))
    encoder = make_encoder(table.kinds, scaling="none", n_rows=12).fit(table.X)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        encoder.transform(table.X.assign(t=["red", "neu", "", "sky"] * 3))
        encoder.transform(table.X.assign(t=""))
    with pytest.warns(UserWarning, match="'t' has no word of the fitted rows in 6 of 12 rows"):
        encoder.transform(table.X.assign(t=["neu", "alt", "", "sea"] * 3))


@pytest.mark.parametrize(
    ("role", "told"),
    [
        ("nominal", "'t' has names that the fitted rows do not have in 2 of 2 rows"),
        ("text", "'t' has no word of the fitted rows in 2 of 2 rows"),
    ],
)
def test_names_that_are_new_in_the_test_part_are_told_however_short_it_is(tmp_path, role, told):
    train, test = tmp_path / "t-train.csv", tmp_path / "t-test.csv"
    train.write_text("t,a,b\n" + "red,0,1\nsea,1,0\n" * 5)
    test.write_text("t,a,b\nRosso,0,1\nMare,1,0\n")
    with pytest.warns(UserWarning, match=told):
        load_table(train, test=test, labels="a,b", **{role: "t"})
