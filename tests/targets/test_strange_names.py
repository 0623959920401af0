"""Names of tags that are likely more or less than names: what is told of them."""

import warnings

import pandas as pd
import pytest

from multimargin.datasets.table_tags import indicator_of_tags


@pytest.mark.parametrize(
    ("cells", "told"),
    [
        (["R&amp;D,b", "b,c"], "HTML character references"),
        (["R&amp;D;b", "b;c"], "HTML character references"),
        (["caf&#233;,b", "b,c"], "HTML character references"),
        (["a<br>b,c", "c,d"], "HTML elements"),
        (["a:0.9,b:0.1", "a:0.2,b:1"], "a number after each, perhaps a score"),
        (["a=1,b=0", "a=0,b=1"], "a number after each, perhaps a score"),
        (["a:12,b:3", "a:2,b:140"], "a number after each, perhaps a score"),
        (["'red, dark','b'", "'b'"], "quotes, which are read literally"),
        (['"red","b"', '"b"'], "quotes, which are read literally"),
        (["+red,-b", "+b", "-c"], "a mark in front, which is read as part"),
        (["__label__red,__label__b", "__label__b"], "a mark in front, which is read as part"),
        (["a: true,b: false", "a: false,b: true"], "yes or no after each"),
        (["a:yes,b:no", "b:yes"], "yes or no after each"),
        (["a%2Cb,rock%20roll", "c"], "percent-encoded characters"),
        (["caf%C3%A9,b", "b"], "percent-encoded characters"),
        (["a\u00a0b,c", "c"], "unusual or repeated blanks inside"),
        (["a  b,c", "c"], "unusual or repeated blanks inside"),
        (["a\x1db,c", "c"], "unusual or repeated blanks inside"),
        (["a\u2028b,c", "c"], "unusual or repeated blanks inside"),
        (["caf\u00c3\u00a9,b", "b"], "characters of another encoding"),
        (["it\u00e2\u20ac\u2122s,b", "b"], "characters of another encoding"),
        (["caf\ufffd,b", "b"], "characters of another encoding"),
        (["a,b,etc.", "b"], "a word for further names"),
        (["a,b,...", "b"], "a word for further names"),
        (["a,b", "All of the above", "b"], "a word for further names"),
        (["a,b,+2 more", "b"], "a word for further names"),
        (["c\u0430t", "cat,b"], "letters of two alphabets"),
        (["red", "[]", "b"], "a word for no label"),
        (["red", "[None]", "b"], "a word for no label"),
        (["red", "N.A.", "b"], "a word for no label"),
        (["red", "<none>", "b"], "a word for no label"),
        (["red", "(blank)", "b"], "a word for no label"),
        (["a+,b-", "a-,b+"], "yes or no after each"),
        (["0b101", "0b1"], "binary or hexadecimal numbers"),
        (["0x5", "0x1"], "binary or hexadecimal numbers"),
        (["101b", "001b"], "only 0 and 1"),
        (["YNY", "NNY", "YYN"], "only 0 and 1, or T and F"),
        (["+--", "-++", "+-+"], "only 0 and 1, or T and F"),
        (["red x2,b x3", "red x5"], "beside numbers or brackets"),
        (["red/2,b/3", "red/5"], "beside numbers or brackets"),
        (["0.9 red,0.2 b", "0.7 red"], "beside numbers or brackets"),
        (["red (90%),b (20%)", "red (70%)"], "beside numbers or brackets"),
        (["red (T);b (F)", "red (F);b (T)"], "beside numbers or brackets"),
        (["red[0:3];b[1:4]", "red[2:7]"], "beside numbers or brackets"),
        (["red (2024-01-02);b (2024-01-03)", "red (2024-02-04)"], "beside numbers or brackets"),
        (["red;b", "not red;b", "red;not b"], "not red"),
        (["red;b", "red?;b", "red;b?"], "b\\?"),
        (["red;b", "red=0;b", "red;b=0"], "red=0"),
        (["Counter({'a': 2, 'b': 1})", "Counter({'b': 2})"], "brackets that are not closed"),
        (['a:1:{i:0;b:3:"red";}', 'a:1:{i:0;s:1:"b";}'], "brackets that are not closed"),
    ],
)
def test_names_that_are_more_than_names_are_told(cells, told):
    with pytest.warns(UserWarning, match=f"has names .*{told}"):
        indicator_of_tags(pd.Series(cells, name="t"), ";" if ";" in cells[0] else ",")


@pytest.mark.parametrize(
    "name", ["No Finding", "no labels", "none of these", "keine Angabe", "unlabeled", "Untagged"]
)
def test_a_name_that_says_no_and_stands_alone_is_told(name):
    cells = pd.Series(["a,b", name, "b", name], name="t")
    with pytest.warns(UserWarning, match=f"has '{name}', never together with another name; if"):
        assert name in indicator_of_tags(cells, ",").names
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        # Beside another it applies with that, and of single names none stands beside another.
        indicator_of_tags(pd.Series(["a,b", f"{name},a"], name="t"), ",")
        indicator_of_tags(pd.Series(["a", name, "b"], name="t"), ",")


@pytest.mark.parametrize("name", ["keine", "\u65e0", "other", "0"])
def test_one_name_that_is_alone_in_standing_alone_is_told(name):
    cells = ["a,b", "b,c", "a,b,c", "a", name] * 8
    with pytest.warns(UserWarning, match=f"has '{name}', never together with another name; if"):
        assert name in indicator_of_tags(pd.Series(cells, name="t"), ",").names
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        # Two such are classes of their own, and few rows may be alone by chance.
        indicator_of_tags(pd.Series([*cells, *["d"] * 8], name="t"), ",")
        indicator_of_tags(pd.Series(["a", "b", "c", "a,b", "b,c", "a,c", name], name="t"), ",")


@pytest.mark.parametrize(
    "names", ["A01 A01.1 A01.2 B20 B20.1", "level-1 level-2 pass", "X-A X-B", "covid-19 sars-2 flu"]
)
def test_names_with_numbers_of_their_own_are_names(names):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        cells = [" ".join(names.split()[k:]) for k in range(len(names.split()))]
        indicator_of_tags(pd.Series(cells, name="t"), " ")


@pytest.mark.parametrize(
    "rows", [["no,yes,no", "yes,no,no"], ["-1,1,1", "1,-1,-1"], ["0,2,0", "3,0,1"], ["T,F", "T,T"]]
)
def test_rows_of_marks_in_any_words_are_refused(rows):
    for cells in (rows, [row.split(",") for row in rows]):
        with pytest.raises(ValueError, match=r"in each row, which is an indicator, not names"):
            indicator_of_tags(pd.Series(cells, name="t"), None)


@pytest.mark.parametrize(
    "names",
    [
        ["c++", "c#", ".net"],
        ["50%", "100 %"],
        ["a: b", "a: c"],
        ["no smoking", "none of these"],
        ["do", "''90s", "idem velle"],
        ["rock & roll", "r'n'b", "New York"],
        ["genre::rock", "genre::folk"],
        ["dr.", "mr."],
        ["\N{WATER WAVE}", "\N{FIRE}\ufe0f"],
    ],
)
def test_names_that_are_no_more_than_names_are_not_told(names):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        indicator_of_tags(pd.Series(["|".join(names), names[0], names[-1]], name="t"), "|")


def test_marks_after_backslashes_are_told():
    with pytest.warns(UserWarning, match="quotation marks after backslashes, which are read liter"):
        indicator_of_tags(pd.Series(['a \\"b\\" c,d', "d", "e"], name="t"), ",")


@pytest.mark.filterwarnings("ignore:.* names that differ only by")
@pytest.mark.parametrize("code", ["0", "-1"])
def test_a_number_for_no_further_tag_is_told(code):
    columns = {"t1": ["3", "1", "2", "3"], "t2": ["2", code, code, "1"], "t3": ["1", *[code] * 3]}
    with pytest.warns(UserWarning, match=f"'t2', 't3' have '{code}' in all but the first, which"):
        indicator_of_tags(pd.DataFrame(columns), None)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        indicator_of_tags(pd.DataFrame({"t1": [code, "5", "2"], "t2": ["5", code, "3"]}), None)
