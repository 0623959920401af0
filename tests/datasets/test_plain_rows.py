"""Rows that Arrow reads: the same cells as Python's csv finds, or none."""

import gzip
import sys

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from multimargin.datasets import delimited, plain_rows
from multimargin.datasets.table_files import read_frame
from multimargin.datasets.text_arrays import are_blank, rows_beginning, rows_of_names
from multimargin.targets.given import is_blank
from tests.support.cases import case

if pd.Series([""]).dtype == object:
    pytest.skip("this pandas holds texts as objects", allow_module_level=True)


def plain(file, width, above=1, blank_rows=False):
    """The columns of a file with commas, if Arrow reads it."""
    found = plain_rows.plain_rows(file, ",", width, above=above, blank_rows=blank_rows)
    return found and ([column.tolist() for column in found[0]], found[1])


@pytest.mark.parametrize("block", [1, 5, 2**22])
def test_usual_texts_are_plain(tmp_path, monkeypatch, block):
    monkeypatch.setattr(plain_rows, "_BLOCK", block)
    monkeypatch.setattr(plain_rows, "_PER_COLUMN", 1)
    for text, above, expected in (
        ('a,b\n1,"x, y"\n\n2,\n', 1, ([["1", "2"], ["x, y", ""]], True)),
        ('a,b\r\n"",""""\r\n2,"""z"" "', 1, ([["", "2"], ['"', '"z" ']], False)),
        ('a,b\n1,"x\n\n""y,\r\nz"\n', 1, ([["1"], ['x\n\n"y,\r\nz']], True)),
        ('"a\nb",c\n1," x"\n" ",y\n', 2, ([["1", " "], [" x", "y"]], False)),
        ("\ufeff1,caf\u00e9\n2,\u65e5\u672c\n", 0, ([["1", "2"], ["caf\u00e9", "日本"]], False)),
        ("\ufeffa,b\n1,2", 1, ([["1"], ["2"]], False)),
        ("a,b\n", 1, ([[], []], False)),
    ):
        with case(text):
            (tmp_path / "t.csv").write_bytes(text.encode())
            assert plain(tmp_path / "t.csv", 2, above) == expected
            (tmp_path / "t.csv.gz").write_bytes(gzip.compress(text.encode()))
            assert plain(tmp_path / "t.csv.gz", 2, above) == expected


ODD = ["1, x", " 1,x", '1,"x" ', '1,x"y', '1,"x"y"', '1,"x', '1,"a,"b', "1,x\r2,y", "1,x\r\r"]
ODD += ["1,\0", "1", "1,2,3", "1,2,", " ", 'a"",b', "\r1,2", '"x""y"z,b']


@pytest.mark.parametrize("row", ODD)
def test_odd_texts_are_left_to_others(tmp_path, row):
    (tmp_path / "t.csv").write_bytes(f"a,b\n3,4\n{row}\n5,6\n".encode())
    assert plain(tmp_path / "t.csv", 2) is None


def test_what_is_no_utf8_is_odd(tmp_path):
    for text in ("a,b\n1,caf\u00e9\n".encode("latin-1"), "a,b\n1,2\n".encode("utf-16")):
        (tmp_path / "t.csv").write_bytes(text)
        assert plain(tmp_path / "t.csv", 2) is None


def test_blank_lines_that_are_rows_are_odd(tmp_path):
    (tmp_path / "t.csv").write_bytes(b"a,b\n1,2\n\n3,4\n")
    assert plain(tmp_path / "t.csv", 2) == ([["1", "3"], ["2", "4"]], True)
    assert plain(tmp_path / "t.csv", 2, blank_rows=True) is None
    (tmp_path / "t.csv").write_bytes(b'a,b\n1,2\n3,"\n\n"\n')
    assert plain(tmp_path / "t.csv", 2, blank_rows=True) == ([["1", "3"], ["2", "\n\n"]], True)


def test_a_quote_that_is_not_closed_takes_no_memory(tmp_path, monkeypatch):
    monkeypatch.setattr(plain_rows, "_BLOCK", 2**10)
    monkeypatch.setattr(plain_rows, "_LONGEST_ROW", 2**14)
    (tmp_path / "t.csv").write_text('a,b\n1,"' + "x\n" * 2**12 + '"\n', encoding="utf-8")
    assert plain(tmp_path / "t.csv", 2) is not None
    (tmp_path / "t.csv").write_text('a,b\n1,"' + "x\n" * 2**15 + '"\n', encoding="utf-8")
    assert plain(tmp_path / "t.csv", 2) is None


CELLS = st.text(alphabet='a,"\n\r \u00e9\u3000\ufeff', max_size=4)
QUOTED = CELLS.map(lambda cell: '"' + cell.replace('"', '""') + '"')
ROWS = st.lists(st.lists(st.one_of(CELLS, QUOTED), min_size=1, max_size=3), max_size=5)


@settings(max_examples=300, deadline=None)
@given(rows=ROWS, ends=st.sampled_from(["\n", "\r\n"]), blank_rows=st.booleans())
def test_cells_are_those_of_the_module_csv(tmp_path_factory, rows, ends, blank_rows):
    file = tmp_path_factory.mktemp("rows") / "t.csv"
    width = max(map(len, rows), default=1)
    lines = [",".join("abc"[:width]), *map(",".join, rows)]
    file.write_bytes(ends.join(lines).encode())
    dialect = delimited._Dialect(",", tuple("abc"[:width]), 1)
    blank_rows = blank_rows or width == 1
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(plain_rows, "_BLOCK", 4)
        patch.setattr(plain_rows, "_PER_COLUMN", 1)
        found = plain(file, width, blank_rows=blank_rows)
        patch.setattr(delimited, "plain_rows", lambda *_, **__: None)
        expected = delimited._strictly(file, dialect, blank_rows=blank_rows)
    if found is not None:
        columns, has_breaks = expected
        assert found == ([column.tolist() for column in columns], has_breaks)


def test_a_table_of_texts_is_read_by_arrow(tmp_path, monkeypatch):
    """Otherwise it takes several times as long, and nothing else would tell."""
    monkeypatch.setattr(delimited, "_columns_of", None)
    text = 'id,text,y\n1,"red, ""big"" fish\n\nswims",a;b\n2, "x",b\n'
    (tmp_path / "t.csv").write_text(text.replace(', "x"', ',"x"'), encoding="utf-8")
    assert read_frame(tmp_path / "t.csv")["text"].tolist() == ['red, "big" fish\n\nswims', "x"]


def test_texts_are_judged_alike_however_they_are_held():
    blank = [chr(code) for code in range(sys.maxunicode) if chr(code).isspace()]
    cells = [
        *blank,
        "".join(blank),
        "",
        "a",
        " a ",
        "\u200b",
        "# a",
        "#a",
        " # a",
        "\ufeff B ",
        "bb",
    ]
    for dtype in ("str", object):
        column = pd.Series([*cells, None], dtype=dtype)
        assert are_blank(column).tolist() == [*map(is_blank, column.tolist())]
        assert rows_beginning(column, "# ") == [cells.index("# a")]
        rows = [cells.index("a"), cells.index(" a "), cells.index("\ufeff B ")]
        assert rows_of_names(column, ["A", "b"], " \ufeff") == rows
