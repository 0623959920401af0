"""Lists and objects in cells of tags: what is none, and what is an indicator."""

import warnings

import pandas as pd
import pytest

from multimargin.datasets.table_tags import indicator_of_tags


@pytest.mark.parametrize("separator", [",", ", ", ";", "|", " "])
@pytest.mark.parametrize("one", ["1", "1.0", "True"])
def test_rows_of_an_indicator_in_a_cell_are_refused(separator, one):
    zero = {"1": "0", "1.0": "0.0", "True": "False"}[one]
    cells = [separator.join(row) for row in ((one, zero, zero), (zero, one, one), (one, one, zero))]
    with pytest.raises(ValueError, match=r"lists .* for all labels in each row, which is an in"):
        indicator_of_tags(pd.Series(cells, name="t"), separator.strip() or " ")
    with pytest.warns(UserWarning, match="each is one tag|names with only 0 and 1") as told:
        indicator_of_tags(pd.Series(["1 0 1", "0 0 1"], name="t"), ",")
    assert len(told) == 2
    # Names 0 and 1 of a few of which a row has some.
    tags = indicator_of_tags(pd.Series(["0", "0,1", "1"], name="t"), ",")
    assert tags.Y.tolist() == [[1, 0], [1, 1], [0, 1]]


@pytest.mark.parametrize(
    "cell", ['[{"label": "a"} {"label": "b"}]', '[{"label": "a"', "{'a': 1, b: 0}", "[['a'], 'b"]
)
def test_texts_that_look_like_objects_and_are_none_are_refused(cell):
    cells = ['[{"label": "a"}]', '[{"label": "b"}, {"label": "a"}]', cell]
    with pytest.raises(ValueError, match=r"lists .* in row 2; expected a list of names, or an obj"):
        indicator_of_tags(pd.Series(cells, name="t"), None)


def test_a_list_that_is_none_is_named_with_its_row():
    cells = ["['a', 'b']", "['b']", "['a', None]"]
    with pytest.raises(ValueError, match=r"has \"\['a', None\]\" in row 2, which is not a list of"):
        indicator_of_tags(pd.Series(cells, name="t"), None)


@pytest.mark.parametrize("key", ["displayName", "classname", "category", "label", "name"])
def test_objects_of_annotation_tools_name_their_labels(key):
    cells = [[{key: "a", "start": 3}], [{key: "b"}, {key: "a"}]]
    assert indicator_of_tags(pd.Series(cells, name="t"), None).names == ["a", "b"]


@pytest.mark.parametrize(
    ("key", "yes", "no"), [("selected", True, False), ("value_is", 1, 0), ("answer", "yes", "No")]
)
def test_objects_that_say_whether_their_name_applies_are_told(key, yes, no):
    cells = [
        [{"label": "a", key: yes}, {"label": "b", key: no}],
        [{"label": "a", key: no}, {"label": "b", key: yes}],
    ]
    with pytest.warns(UserWarning, match=f"has objects whose '{key}' is no, or below 0.5, for"):
        indicator_of_tags(pd.Series(cells, name="t"), None)


@pytest.mark.parametrize(
    ("key", "low"), [("selected", False), ("prob", 0.1), ("Relevance", 0.2), ("p", "0.3")]
)
def test_keys_that_say_whether_their_name_applies_are_told_of_any_name(key, low):
    cells = [[{"label": "a", key: 1}, {"label": "b", key: low}], [{"label": "c", key: 0.9}]]
    with pytest.warns(UserWarning, match=f"has objects whose '{key}' is no, or below 0.5, for"):
        indicator_of_tags(pd.Series(cells, name="t"), None)


def test_what_is_the_same_for_a_name_says_not_whether_it_applies():
    for key, value in (("default", False), ("x", 0.1), ("prob", 0.7)):
        cells = [[{"name": "a", key: 1}, {"name": "b", key: value}], []]
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            tags = indicator_of_tags(pd.Series(cells, name="t"), None)
        assert tags.Y.tolist() == [[1, 1], [0, 0]]


@pytest.mark.parametrize("item", [("a", 0.9), {"a", "b"}, ["a"]])
def test_lists_in_lists_are_refused(item):
    with pytest.raises(ValueError, match=r"column 't' lists .*'a'.* in row 1; expected a list of"):
        indicator_of_tags(pd.Series([["a"], [item, "b"]], name="t"), None)


def test_a_number_beside_a_text_is_no_name():
    cells = [[{"id": 1, "text": "a"}], [{"id": 2, "text": "b"}]]
    with pytest.raises(
        ValueError, match=r"lists \{'id': 1, 'text': 'a'\} in row 0; expected a list"
    ):
        indicator_of_tags(pd.Series(cells, name="t"), None)
    for ids in ({"id": 1}, {"id": "a", "url": "http://b"}):
        tags = indicator_of_tags(pd.Series([[ids], [{"id": "c"}]], name="t"), None)
        assert len(tags.names) == 2
