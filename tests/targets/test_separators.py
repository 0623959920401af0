"""Separators of tags: which are found, and which are named where there is a doubt."""

import re
import warnings

import pandas as pd
import pytest

from multimargin.datasets.table_tags import indicator_of_tags


@pytest.mark.parametrize("mark", ["\u00b7", " \u2014 ", "~", "^", "_", "-", ".", " ", "%"])
def test_a_separator_that_is_in_doubt_is_named(mark):
    """Half of the rows have one tag: nothing is taken, and nothing is passed over in silence."""
    cells = [mark.join(tags) for tags in (("aa", "bb"), ("bb", "cc"), ("aa",), ("cc",))]
    for separator in (None, ";"):
        with pytest.warns(UserWarning, match="each is one tag") as told:
            tags = indicator_of_tags(pd.Series(cells, name="tags"), separator)
        assert f"is {mark.strip() or ' '!r} the separator?" in str(told[0].message)
        assert len(tags.names) == 4


@pytest.mark.parametrize("mark", ["~", "^", " \u00b7 ", "\u2192", "=", "*", "\\", "@", "\u00a6"])
@pytest.mark.parametrize("n_rows", [2, 3, 5])
def test_a_rare_separator_in_one_of_a_few_rows_is_named(mark, n_rows):
    cells = [mark.join(["aa", "bb"]), "cc", "dd", "ee", "ff"][:n_rows]
    with pytest.warns(UserWarning, match="each is one tag") as told:
        indicator_of_tags(pd.Series(cells, name="t"), None)
    assert f"is {mark.strip()!r} the separator?" in str(told[0].message)


@pytest.mark.parametrize("mark", ["/", "+", " / ", "::"])
def test_a_usual_separator_in_one_of_a_few_rows_is_named_where_a_tag_recurs(mark):
    with pytest.warns(UserWarning, match=f"is '{re.escape(mark)}' the separator"):
        indicator_of_tags(pd.Series([f"aa{mark}bb", "bb", "cc"], name="t"), None)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        indicator_of_tags(pd.Series([f"aa{mark}bb", "cc", "dd"], name="t"), None)


def test_a_mark_before_every_tag_separates_them():
    for mark in ("#", "\u2022", "@"):
        cells = [f"{mark}a", f"{mark}a {mark}b", f"{mark}b{mark}c", f"{mark}c"]
        with pytest.warns(UserWarning, match=f"'{mark}' is used as the separator"):
            assert indicator_of_tags(pd.Series(cells, name="t"), None).names == ["a", "b", "c"]


@pytest.mark.parametrize("mark", [" \u00b7 ", " \u2022 ", " \u2192 ", " ~ ", " ^ "])
def test_a_mark_between_blanks_is_named_rather_than_the_blank(mark):
    cells = [mark.join(tags) for tags in (("aa", "b-b"), ("cc",), ("cc", "dd"), ("aa", "dd"))]
    with pytest.warns(UserWarning, match="each is one tag") as told:
        indicator_of_tags(pd.Series(cells * 6, name="tags"), None)
    assert f"is {mark.strip()!r} the separator?" in str(told[0].message)


@pytest.mark.parametrize("word", ["und", "y", "et", "と"])
def test_a_word_between_tags_separates_them_rather_than_the_blanks(word):
    lists = (
        ("aa", "bb"),
        ("cc",),
        ("cc", "bb", "aa"),
        ("aa", "cc"),
        ("bb", "aa"),
        ("cc", "aa"),
        ("aa",),
    )
    cells = [f" {word} ".join(tags) for tags in lists]
    with pytest.warns(UserWarning, match=f"' {word} ' is used as the separator"):
        tags = indicator_of_tags(pd.Series(cells * 3, name="tags"), None)
    assert tags.names == ["aa", "bb", "cc"]


def test_a_mark_separates_tags_of_several_words_rather_than_the_blanks():
    cells = ["aa; not bb", "not aa; bb", "not aa; not bb", "aa; bb"]
    with pytest.warns(UserWarning, match="';' is used as|differ only by|other names with a mark"):
        tags = indicator_of_tags(pd.Series(cells * 3, name="tags"), None)
    assert tags.names == ["aa", "bb", "not aa", "not bb"]


@pytest.mark.parametrize("both", ["\U0001f600\U0001f602", "\u2764\ufe0f\U0001f602"])
def test_emojis_side_by_side_are_told(both):
    cells = ["\U0001f600", "\U0001f602", "\u2764\ufe0f", both]
    with pytest.warns(UserWarning, match="read as one tag, .* is a separator missing"):
        indicator_of_tags(pd.Series(cells, name="t"), None)


@pytest.mark.parametrize("mark", ["-", " - ", ":", "^", "~", "=", " or ", " und "])
def test_a_name_of_two_others_is_told_whatever_stands_between(mark):
    cells = ["aa", "bb", f"aa{mark}bb", "cc", "dd", "cc"]
    shown = re.escape(mark.strip() or mark)
    with pytest.warns(UserWarning, match=f"is ' ?{shown} ?' (the|a) separator"):
        indicator_of_tags(pd.Series(cells, name="t"), None)


def test_numbers_with_a_point_are_no_two_tags():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        indicator_of_tags(pd.Series(["1", "2", "1.2", "1,2"], name="t"), None)
