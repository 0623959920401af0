"""What labels are given as: every container that holds the same labels is the same."""

import warnings
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse

from multimargin.targets.given import recognise
from multimargin.targets.indicator import check_indicator
from multimargin.targets.reading import read_targets
from multimargin.targets.separators import warn_of_lists_in_texts
from tests.support.cases import case

LISTS = [["b", "a"], ["c"], [], ["a"]]
OF_LISTS = [[1, 1, 0], [0, 0, 1], [0, 0, 0], [1, 0, 0]]
CONTAINERS_OF_LISTS = {
    "tuples": [tuple(row) for row in LISTS],
    "sets": [set(row) for row in LISTS],
    "arrays": [np.array(row, dtype=object) for row in LISTS],
    "arrays of text": [np.array(row, dtype=str) for row in LISTS],
    "keys": [dict.fromkeys(row).keys() for row in LISTS],
    "indices": [pd.Index(row) for row in LISTS],
    "polars cells": [pl.Series(row, dtype=pl.String) for row in LISTS],
    "arrow scalars": list(pa.array(LISTS)),
    "objects": np.array(LISTS, dtype=object),
    "column": pd.Series(LISTS, index=[7, 7, 1, 0]),
    "column of sets": pd.Series([frozenset(row) for row in LISTS]),
    "column of arrays": pd.Series([np.array(row) for row in LISTS]),
    "arrow column": pd.Series(LISTS, dtype=pd.ArrowDtype(pa.list_(pa.string()))),
    "frame": pd.DataFrame({"tags": LISTS}),
    "polars": pl.Series(LISTS),
    "polars frame": pl.DataFrame({"tags": LISTS}),
    "arrow": pa.array(LISTS),
    "arrow chunks": pa.chunked_array([LISTS[:1], LISTS[1:]]),
    "arrow table": pa.table({"tags": LISTS}),
}


@pytest.mark.parametrize("container", CONTAINERS_OF_LISTS)
def test_lists_of_names_come_in_any_container(container: str) -> None:
    found = read_targets(CONTAINERS_OF_LISTS[container])
    assert found.indicator.tolist() == OF_LISTS
    assert found.label_names is not None
    assert found.label_names.tolist() == ["a", "b", "c"]


def test_of_a_row_without_a_list_nothing_is_known() -> None:
    rows = [["b"], None, ["a", "b"]]
    others = [float("nan"), pd.NA, np.float32("nan")]
    for y in (
        rows,
        pl.Series(rows),
        pa.array(rows),
        *(pd.Series([["b"], other, ["a", "b"]]) for other in others),
    ):
        with case(y):
            assert read_targets(y, unknown="take").indicator.tolist() == [[0, 1], [2, 2], [1, 1]]
            with pytest.raises(ValueError, match=r"^y has no list in 1 of 3 rows, first in row 1"):
                read_targets(y)


def test_blanks_around_names_and_empty_names_are_left_out_and_told() -> None:
    for rows in ([["a ", ""], [" a", "b"]], [{"a", ""}, {"a", "\tb "}], [["a", " "], ["a", "b"]]):
        with case(rows):
            with pytest.warns(
                UserWarning, match="are empty, or have surrounding blanks .* in [12] of 2"
            ):
                found = read_targets(rows)
            assert found.label_names is not None
            assert found.label_names.tolist() == ["a", "b"]
            assert found.indicator.tolist() == [[1, 0], [1, 1]]


NUMBERS = [[0, 1, 0], [1, 1, 0], [0, 0, 1]]
COLUMNS_OF_NUMBERS = {
    "lists": pd.Series(NUMBERS),
    "arrays": pd.Series([np.array(row, dtype=float) for row in NUMBERS]),
    "truth values": pd.Series(np.array(NUMBERS, dtype=bool).tolist()),
    "polars": pl.Series(NUMBERS),
    "polars arrays": pl.Series(np.array(NUMBERS)),
    "arrow": pa.array(NUMBERS),
    "frame": pd.DataFrame({"y": NUMBERS}),
}


@pytest.mark.parametrize("container", COLUMNS_OF_NUMBERS)
def test_a_column_of_indicator_rows_is_an_indicator_and_told(container: str) -> None:
    y = COLUMNS_OF_NUMBERS[container]
    with pytest.warns(UserWarning, match="a column of lists of 3 numbers each, read as the rows"):
        found = read_targets(y)
    assert found.indicator.tolist() == check_indicator(y).tolist() == NUMBERS
    assert found.label_names is None


AMBIGUOUS = {
    "numbers as text": [["0", "1"], ["1", "0"]],
    "truth values as text": pd.Series([["True", "False"], ["False", "False"]]),
    "other codes": pd.Series([[1, -1, -1], [-1, 1, 1]]),
    "one and two": pd.Series([[1, 2, 2], [2, 1, 1]]),
    "probabilities": pd.Series([[0.1, 0.9], [0.7, 0.3]]),
    "rows of different lengths": pd.Series([[0], [0, 1], [1]]),
    "one number each": pd.Series([[0], [1], [1]]),
    "lists of lists": pd.Series([[["a"], ["b"]], [["c"]]]),
    "dictionaries": pd.Series([{"a": 1, "b": 0}, {"a": 0, "b": 1}]),
    "one dictionary": [["a"], {"b": 1}],
    "lazy": pl.LazyFrame({"a": [0, 1], "b": [1, 0]}),
    "text in a frame": pd.DataFrame({"a": ["1", "0"], "b": ["0", "1"]}),
    "text in an array": np.array([["a", "b"], ["c", "a"]]),
}


@pytest.mark.filterwarnings("ignore:y is a column of lists")
@pytest.mark.parametrize("kind", AMBIGUOUS)
def test_what_may_be_an_indicator_or_names_is_refused(kind: str) -> None:
    with pytest.raises((TypeError, ValueError), match=r"^y .*(; expected|values other than 0)"):
        read_targets(AMBIGUOUS[kind])


def test_numbers_may_be_names() -> None:
    for y, names in (
        (pd.Series([[3, 5], [2, 7]]), [2, 3, 5, 7]),
        ([[3, 5], [2], [5, 2]], [2, 3, 5]),
        ([np.array([3, 5]), np.array([2])], [2, 3, 5]),
        ([{0, 1}, {1}], [0, 1]),
    ):
        with case(y):
            found = read_targets(y).label_names
            assert found is not None
            assert found.tolist() == names
            assert all(type(name) is int for name in found)


KNOWN = [[1, 0], [0, 1], [1, 1]]
UNKNOWN_SECOND = [[1, 0], [2, 1], [1, 1]]
FRAMES = {
    "floats": pd.DataFrame({"a": [1.0, np.nan, 1.0], "b": [0, 1, 1]}),
    "booleans": pd.DataFrame(
        {"a": pd.array([True, pd.NA, True], dtype="boolean"), "b": [False, True, True]}
    ),
    "integers": pd.DataFrame({"a": pd.array([1, pd.NA, 1], dtype="Int64"), "b": [0.0, 1.0, 1.0]}),
    "objects": pd.DataFrame({"a": [1, None, True], "b": [0, 1, np.float32(1)]}, dtype=object),
    "arrow": pd.DataFrame({"a": [1, None, 1], "b": [0, 1, 1]}).convert_dtypes(
        dtype_backend="pyarrow"
    ),
    "arrow booleans": pd.DataFrame(
        {"a": [True, None, True], "b": [False, True, True]}, dtype="bool[pyarrow]"
    ),
    "polars": pl.DataFrame({"a": [1, None, 1], "b": [0, 1, 1]}),
    "polars booleans": pl.DataFrame({"a": [True, None, True], "b": [False, True, True]}),
    "arrow table": pa.table({"a": [1, None, 1], "b": [0, 1, 1]}),
    "categories": pd.DataFrame({"a": pd.Categorical([1, None, 1]), "b": pd.Categorical([0, 1, 1])}),
}


@pytest.mark.parametrize("kind", FRAMES)
def test_a_missing_label_of_any_kind_of_frame_is_unknown(kind: str) -> None:
    found = read_targets(FRAMES[kind], unknown="take")
    assert found.indicator.tolist() == UNKNOWN_SECOND
    assert found.label_names is not None
    assert found.label_names.tolist() == ["a", "b"]
    with pytest.raises(ValueError, match="y has NaN, which stands for an unknown label"):
        read_targets(FRAMES[kind])


def test_columns_of_a_frame_are_names_whatever_their_type() -> None:
    for columns in ([101, 205], [1, 0], ["b", 2], [("x", 1), ("x", 2)]):
        with case(columns):
            found = read_targets(pd.DataFrame(KNOWN, columns=pd.Index(columns))).label_names
            assert found is not None
            assert found.tolist() == columns
    assert read_targets(pd.DataFrame(KNOWN)).label_names is None


def test_classes_come_in_any_container() -> None:
    for y in (
        pd.Categorical(["b", "a", "b"]),
        pd.Index(["b", "a", "b"]),
        pl.Series(["b", "a", "b"]),
        pl.Series(["b", "a", "b"], dtype=pl.Categorical),
        pa.array(["b", "a", "b"]),
        [np.str_("b"), "a", "b"],
    ):
        with case(y):
            found = read_targets(y)
            assert (found.classes.tolist(), found.multilabel) == (["a", "b"], False)
            assert found.indicator.tolist() == [[0, 1], [1, 0], [0, 1]]


def test_rows_are_taken_out_of_every_kind() -> None:
    rows = np.array([2, 0])
    matrix = np.array(KNOWN)
    assert recognise(LISTS).take(rows).values == [[], ["b", "a"]]
    for y in (matrix, sparse.coo_array(matrix), pd.DataFrame(matrix, columns=["a", "b"])):
        taken = recognise(y).take(rows)
        assert read_targets(y).indicator[rows].tolist() == check_indicator(taken.values).tolist()


LISTING = {
    "few combinations": (["a,b", "a", "b", "b,c", "c", "a,b,c", "none"], 200, r"split\(','\)"),
    "new combinations": (["a|b", "b|c", "a|c"], 6, r"split\('\|'\)"),
    "blanks": (["a b", "a", "b", "a c", "c", "b c", "a b c"], 90, r"split\(' '\)"),
    "lines": (["a\nb", "a", "b", "b\nc", "c"], 90, r"split\('\\n'\)"),
    "written lists": (["['a', 'b']", "['a']", "[]"], 90, "ast.literal_eval"),
    "ideographic": (["a\u3001b", "a", "b", "b\u3001c", "c"], 90, r"split\('\u3001'\)"),
    "underlines": (["a_b", "a", "b", "a_c", "c", "b_c", "a_b_c"], 90, r"split\('_'\)"),
    "dots": (
        ["a \u00b7 b", "a", "b", "a \u00b7 c", "c", "b \u00b7 c", "a \u00b7 b \u00b7 c"],
        90,
        "split",
    ),
    "marks": (["#a#b", "#a", "#b", "#a#c", "#c", "#b#c", "#a#b#c"], 90, r"split\('#'\)"),
    "elements": (["<a><b>", "<a>", "<b>", "<b><c>", "<c>", "<a><c>"], 90, "split"),
    "words": (["a and b", "a", "b", "a and c", "c", "b and c", "a and b and c"], 90, r"' and '"),
    "many names": ([f"a{k}, b{k}" for k in range(9)], 12, r"split\(','\)"),
    "bits": (["010", "110", "001", "100"], 90, r"y\.map\(list\)"),
    "numbers": (["[0, 1]", "[1, 0]"], 90, "ast.literal_eval"),
}


@pytest.mark.parametrize("kind", LISTING)
def test_texts_that_list_labels_are_told_of(kind: str) -> None:
    classes, n, advice = LISTING[kind]
    with pytest.warns(UserWarning, match=f"each is read as a class.*{advice}"):
        warn_of_lists_in_texts(classes, n)


@pytest.mark.parametrize("both", ["rye+oats", "rye/oats", "rye, oats", "rye and oats"])
def test_a_class_that_is_made_of_others_is_told(both: str) -> None:
    with pytest.warns(UserWarning, match="y has 'rye.*oats', which is read as one tag, though"):
        warn_of_lists_in_texts(["oats", "rye", both], 100)


def test_names_of_classes_may_have_separators_in_them() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for classes in (
            ["New York", "York", "Boston"],
            ["very good", "good", "very bad", "bad"],
            ["a|b", "b|c"],
            [f"{a}{mark}{b}" for mark in "_-:/" for a in ("cat", "dog") for b in ("old", "new")],
            ["North", "North > Sea", "South", "South > Sea", "East"],
            ["c", "c++", "c#", "java"],
            ["I", "II", "III", "IV", "V", "VI"],
            ["AC/DC", "Simon & Garfunkel", "Earth, Wind & Fire"],
        ):
            warn_of_lists_in_texts(classes, 100)


def test_nothing_that_was_passed_in_is_changed() -> None:
    rows: list[Any] = [[" a", ""], ["b"], None]
    frame = pd.DataFrame({"a": [1, None], "b": [0, 1]}, dtype=object)
    before = frame.copy()
    with pytest.warns(UserWarning, match="blanks"):
        read_targets(rows, unknown="take")
    read_targets(frame, unknown="take")
    assert rows == [[" a", ""], ["b"], None]
    pd.testing.assert_frame_equal(frame, before)
