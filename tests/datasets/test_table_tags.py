"""Tags in cells: read as they are written, whatever spells or separates them."""

import json
import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from multimargin.cli.spreadsheets import as_cell
from multimargin.datasets import load_table
from multimargin.datasets.table_tags import indicator_of_tags, joined

SPELLED = ["007", "1.10", "3", "3.0", "nan", "null", "NA", "TRUE", "1e5", "c++", "o'neil"]


def read(path, cells, **options):
    """The tags of each row of a file of cells."""
    frame = pd.DataFrame({"x": np.arange(len(cells)) ** 2 % 7, "tags": cells})
    frame.to_csv(path, index=False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        data = load_table(path, tags_column="tags", **options)
    names = np.array(data.label_names)
    return [set(names[row == 1].tolist()) for row in np.asarray(data.Y)]


@pytest.mark.parametrize("blank", [False, True])
def test_tags_are_not_numbers_nor_missing_values(tmp_path, blank):
    rows = [[SPELLED[k], SPELLED[(k + 3) % len(SPELLED)]] for k in range(len(SPELLED))] * 2
    cells = ["|".join(row) for row in rows]
    if blank:
        rows, cells = [*rows, []], [*cells, ""]
    assert read(tmp_path / "t.csv", cells, separator="|") == [set(row) for row in rows]


@pytest.mark.parametrize(
    "written",
    [
        json.dumps,
        repr,
        lambda tags: repr(tuple(tags)),
        lambda tags: repr(np.array(tags)),
        lambda tags: repr(np.array(tags, dtype=object)),
        lambda tags: "{" + ",".join(json.dumps(tag) for tag in tags) + "}",
        lambda tags: repr(set(tags)),
    ],
    ids=["json", "list", "tuple", "array", "array of objects", "postgres", "set"],
)
def test_lists_as_text(tmp_path, written):
    rows = [["red", "dark blue"], ["red"], ["o'neil", "red"], ["dark blue"]] * 3
    assert read(tmp_path / "t.csv", [written(row) for row in rows]) == [set(row) for row in rows]


@pytest.mark.parametrize("separator", ["|", ";", " / ", " & ", " + ", "::", "\n"])
def test_a_separator_is_found_by_pieces_that_recur(tmp_path, separator):
    rng = np.random.default_rng(0)
    names = [f"tag{k}" for k in range(12)]
    rows = [sorted(rng.choice(names, size=2, replace=False)) for _ in range(60)]
    found = read(tmp_path / "t.csv", [separator.join(row) for row in rows])
    assert found == [set(row) for row in rows]


names = st.text("abc d'-.é0\",|", min_size=1, max_size=6).map(str.strip).filter(bool)


@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data(), separator=st.sampled_from(["|", ";", ",", "::"]))
def test_what_is_written_is_read_again(data, separator):
    known = data.draw(st.lists(names, min_size=3, max_size=6, unique=True))
    rows = data.draw(
        st.lists(st.lists(st.sampled_from(known), unique=True), min_size=4, max_size=9)
    )
    rows += [[name] for name in known]
    pad = data.draw(st.sampled_from(["", " "]))
    cells = [as_cell(pad + joined(row, separator) + pad) for row in rows]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tags = indicator_of_tags(pd.Series(cells, name="tags"), separator)
    found = [{tags.names[k] for k in np.flatnonzero(row)} for row in tags.Y]
    assert found == [set(row) for row in rows]


@pytest.mark.parametrize(
    ("cell", "expected"),
    [
        ('solar,"heat, low",wind', ["solar", "heat, low", "wind"]),
        ('"a, b", "c, d"', ["a, b", "c, d"]),
        ('"a, ""b""",c', ['a, "b"', "c"]),
        ('"as written",c', ['"as written"', "c"]),
        ('12" pipe, 6" pipe', ['12" pipe', '6" pipe']),
        ('"not closed, b', ['"not closed', "b"]),
        ('"x" y, z', ['"x" y', "z"]),
    ],
)
def test_a_tag_in_quotes_may_have_the_separator_in_it(cell, expected):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tags = indicator_of_tags(pd.Series([cell, "other, another"], name="tags"), ",")
    assert [tags.names[k] for k in np.flatnonzero(tags.Y[0])] == sorted(expected)


def test_tags_that_a_model_does_not_know_are_counted():
    column = pd.Series(["a|b", "A|b", "A", ""], name="tags")
    tags = indicator_of_tags(column, "|", ["b", "a"])
    assert tags.names == ["b", "a"]
    assert tags.Y.tolist() == [[1, 1], [1, 0], [0, 0], [0, 0]]
    assert dict(tags.unknown) == {"A": 2}


def test_nominal_features_and_keys_stay_as_they_are(tmp_path):
    frame = pd.DataFrame(
        {
            "zip": ["007", "010", "007", "010"] * 5,
            "key": [f"90071992547409{k:02d}" for k in range(20)],
            "x": range(20),
            "tags": ["a;b", "b", "a", "b"] * 5,
        }
    )
    for blank in (False, True):
        part = frame.copy()
        if blank:
            part.loc[3, "zip"] = ""
        part.to_csv(tmp_path / "t.csv", index=False)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            data = load_table(
                tmp_path / "t.csv", tags_column="tags", separator=";", nominal="zip", drop="key"
            )
        assert {"zip_007", "zip_010"} <= set(data.feature_names)
