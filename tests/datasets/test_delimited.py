"""Text with delimiters: dialects, rows that do not fit, and what must not happen in silence."""

import csv
import gzip
import multiprocessing
import os
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import pytest

from multimargin.datasets import load_table
from multimargin.datasets.delimited import names_at_the_top
from multimargin.datasets.row_hashes import row_hashes
from multimargin.datasets.table_files import read_frame
from tests.support.cases import case


def read(path, text, ending=".csv"):
    """The columns of a text, and what was said."""
    file = path / f"t{ending}"
    file.write_bytes(text.encode() if isinstance(text, str) else text)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        frame = read_frame(file)
    return frame.to_dict("list"), [str(warning.message) for warning in caught]


ROWS = [["1", "red, fish", "a;b"], ["2", 'a "quoted" word', "b"], ["3", "two\nlines", ""]]


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("ending", [".csv", ".tsv", ".txt", ".psv", ".tab"])
@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_the_line_of_names_tells_the_delimiter(tmp_path, delimiter, ending, end):
    frame = pd.DataFrame(ROWS, columns=["id", "the text", "tags"])
    frame.to_csv(tmp_path / f"t{ending}", sep=delimiter, index=False, lineterminator=end)
    found, said = read(tmp_path, (tmp_path / f"t{ending}").read_bytes(), ending)
    assert found == frame.to_dict("list")
    assert said == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # A delimiter that only the texts have, in the first row alone.
        ('text,tags\n"x; y",a;b\nz,b\n', {"text": ["x; y", "z"], "tags": ["a;b", "b"]}),
        ("a;b;tags\n1,5;2,5;x,y\n3,5;4;y\n", {"a": ["1,5", "3,5"], "tags": ["x,y", "y"]}),
        # A name with a comma, above numbers with one.
        ("x;y;size, m\n1;2;1,5\n3;4;2,5\n", {"y": ["2", "4"], "size, m": ["1,5", "2,5"]}),
        # A cell more than there are names, and nothing in it.
        ("a,x\n1,0,\n2,1,\n", {"a": ["1", "2"], "x": ["0", "1"]}),
        ("a,x\n1,0,\n2,1\n", {"a": ["1", "2"], "x": ["0", "1"]}),
        ("a,x,\n1,0,\n2,1,\n", {"a": ["1", "2"], "x": ["0", "1"]}),
        ("a,x,\n1,0\n2,1\n", {"a": ["1", "2"], "x": ["0", "1"]}),
        # As write.table of R has it: the names of rows have no name.
        ('"a","x"\n"r1",1,0\n"r2",2,1\n', {"a": ["1", "2"], "x": ["0", "1"]}),
        ("a\tx\nr1\t1\t0\nr2\t2\t1\n", {"a": ["1", "2"], "x": ["0", "1"]}),
        # One column has no delimiter, and a blank line is a row of it.
        ("text\nred, fish\n\nblue; sea\n", {"text": ["red, fish", "", "blue; sea"]}),
        (" a , x \n1,0\n", {"a": ["1"], "x": ["0"]}),
        # Lines that end in two ways.
        ("a,x\r\n1,0\n2,1\r\n", {"a": ["1", "2"], "x": ["0", "1"]}),
        ("a,x\r1,0\r2,1\r", {"a": ["1", "2"], "x": ["0", "1"]}),
        ("a,x\n1,0\n   \n2,1\n  ", {"a": ["1", "2"], "x": ["0", "1"]}),
        ('a, x\n"r, s", 0\nt, "1"\n', {"a": ["r, s", "t"], "x": ["0", "1"]}),
        ('a,x\n"r, ""s""" ,"0"\n"t" ,"1" \n', {"a": ['r, "s"', "t"], "x": ["0", "1"]}),
        ("a,x\n1,0,,\n2,1,,,\n", {"a": ["1", "2"], "x": ["0", "1"]}),
        # Columns that are called by numbers.
        ("0,1,2\n5,6,0\n7,8,1\n", {"0": ["5", "7"], "1": ["6", "8"], "2": ["0", "1"]}),
        # Words above numbers are names, and so are the numbers beside them.
        ("x,1,2\n5,0,1\n6,1,0\n", {"1": ["0", "1"], "2": ["1", "0"]}),
        # An index that pandas wrote, and read again.
        ("Unnamed: 0,x\n0,5\n1,6\n", {"x": ["5", "6"]}),
        ("name,2019,2020\nq,6,0\nr,8,1\n", {"2019": ["6", "8"], "2020": ["0", "1"]}),
    ],
)
def test_what_is_read_without_a_word(tmp_path, text, expected):
    found, said = read(tmp_path, text)
    assert {name: found[name] for name in expected} == expected
    assert said == []


def test_a_first_row_of_data_is_told(tmp_path):
    for text, first in (
        ("5.1,3.5,1,0\n4.9,3.0,0,1\n", ["5.1", "4.9"]),
        ("red fish,1,0\nblue sea,0,1\n", ["red fish", "blue sea"]),
        ("3,4,4\n5,6,7\n", ["3", "5"]),
    ):
        found, said = read(tmp_path, text)
        assert found["column1"] == first
        assert len(said) == 1
        assert "holds data like the rows below, and no names" in said[0]


def test_a_carriage_return_within_a_text_is_named(tmp_path):
    (tmp_path / "t.csv").write_bytes(b"text,n\nred,1\nblue\rsea,2\nsky,3\n")
    with pytest.raises(
        ValueError, match=r"line 3: rows of different lengths.* a carriage return in"
    ):
        read_frame(tmp_path / "t.csv")


def test_names_of_rows_that_may_be_cells_are_told(tmp_path):
    found, said = read(tmp_path, "x,tags\n1,a,b\n2,b,c\n")
    assert found == {"x": ["a", "b"], "tags": ["b", "c"]}
    assert "the first cells, such as '1', are read as names of the rows" in said[0]


def test_lone_quotes_swallow_no_row(tmp_path):
    for text in (
        '"red is a colour\ta\nblue sea\tb\nso he said "yes\ta\n',
        '"red is a colour\ta\nblue sea\tb\nhe said yes"\ta\n',
        # With backslashes before marks, these rows would be one.
        '"\ta\n\\"red\\"\tb\n"\ta\n',
    ):
        found, said = read(tmp_path, f"text\ttags\n{text}", ".tsv")
        assert found["tags"] == ["a", "b", "a"]
        assert len(said) == 1
        assert "quotation marks are read literally" in said[0]
    text = 'id,text,tags\n1,"he said \\"hi\\", ""so"" he",a\n2,"C:\\dir" ,b\n3,D:\\"x",c\n'
    found, said = read(tmp_path, text)
    assert found["text"] == ['he said "hi", "so" he', "C:\\dir", 'D:\\"x"']
    assert "are escaped by backslashes" in said[0]
    # A delimiter after such a mark makes no name of a row.
    found, said = read(tmp_path, 'text,tags\n"he said \\"hi\\", then",a\n"so \\"I\\", now",b\n')
    assert found == {"text": ['he said "hi", then', 'so "I", now'], "tags": ["a", "b"]}
    assert "are escaped by backslashes" in said[0]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("id,text,tags\n1,red, blue,a\n2,red,b\n", ", line 2: rows of .* more cells .* '1,red, bl"),
        ("a,x,y\n1,0,1\n2,0\n", ", line 3: rows of different lengths: fewer cells than the 3"),
        ('a,x\n"two\nlines",1\n2,0,1\n', ", line 4: rows of different lengths: more"),
        ('"a\nb",x\n1,1\n2,0,1\n', ", line 4: rows of different lengths: more"),
        ("sep=;\na;x\n1;1\n2;0;1\n", ", line 4: rows of different lengths: more"),
        (
            'a,b,x\n1,"red" fish,1\n2,b,0\n3,"c, d",0\n',
            ", line 2: an opening quotation mark is not",
        ),
        # The texts have a comma, and are in no quotes.
        ("id,text,tags\n1,red, fish,a\n2,blue, sea,b\n", "rows of different lengths: more cells"),
        ('"a","x"\n"r",1,0\n"r",2,1\n', "and the first cells are not names of rows"),
        (
            "a,x\n1,caf\xe9\n".encode("latin-1"),
            r" is not text in UTF-8, in line 2, b'1,caf\\xe9'; .*iconv -f WINDOWS-1252",
        ),
        (b"a,x\n" + b"1,0\n" * 2**18 + b"1,\xe9\n", " is not text in UTF-8, in line 262146, "),
        # Notes and comments are told from rows that lack a cell.
        (
            "a,x\n1,0\n(1 rows)\n",
            r", line 3: .* '\(1 rows\)'; if it is a comment or a note",
        ),
        ("a,x\n1,0\n# more\n2,1\n", ", line 3: .* '# more'; if it is a comment or a note"),
        (
            "a,b,x\n1,0,1\n2,0\n",
            ", line 3: .* is the separator ',', are texts that",
        ),
    ],
)
def test_a_row_that_does_not_fit_is_named(tmp_path, text, message):
    with pytest.raises(ValueError, match=rf"t\.csv{message}|{message}"):
        read(tmp_path, text)


def test_paths_are_no_patterns(tmp_path):
    for name in ("a[1]", "b*", "c?"):
        file = tmp_path / f"{name}.csv"
        file.write_text(f"a,x\n{len(name)},0\n")
    for name in ("a[1]", "b*", "c?"):
        assert read_frame(tmp_path / f"{name}.csv")["a"].tolist() == [str(len(name))]


def test_labels_stay_under_their_names(tmp_path):
    """Labels of every dialect are those of the rows, whatever ends a row."""
    random = np.random.default_rng(0)
    Y = random.integers(0, 2, (30, 3))
    for end in ("", ",", ", "):
        lines = [f"{k % 7},{','.join(map(str, row))}{end}" for k, row in enumerate(Y)]
        file = tmp_path / "t.csv"
        file.write_text("\n".join(["size,x,y,z", *lines]))
        with case(end):
            data = load_table(file, labels="x,y,z")
            np.testing.assert_array_equal(data.Y, Y)
            assert data.feature_names == ("size",)


def test_a_lone_quotation_mark_among_the_names_is_refused(tmp_path):
    """Else what follows would be part of a name up to the next mark."""
    file = tmp_path / "t.csv"
    for names in ('"id;text;y', 'id;"text;y'):
        file.write_text(f'{names}\n1;"red; fish";a\n2;blue;b\n', encoding="utf-8")
        with pytest.raises(ValueError, match="line 1: an opening quotation mark is not closed"):
            read_frame(file)
    file.write_text('id;text;5"\n1;"red; fish";a\n', encoding="utf-8")
    assert list(read_frame(file).columns) == ["id", "text", '5"']
    for name in ("my\ntext", "my\nlong\ntext", "my\n\ntext"):
        file.write_text(f'id,"{name}",y\n1,red,a\n', encoding="utf-8")
        assert list(read_frame(file).columns) == ["id", name, "y"]


def test_names_of_columns_have_nothing_invisible(tmp_path):
    (tmp_path / "t.csv").write_text("\ufeff\ufeffa,\u200bcafe\u0301 ,\u00a0c\n1,2,3\n", "utf-8")
    assert list(read_frame(tmp_path / "t.csv").columns) == ["a", "caf\u00e9", "c"]
    (tmp_path / "t.jsonl").write_text('{"\u200ba": 1, " b": 2}\n', "utf-8")
    assert list(read_frame(tmp_path / "t.jsonl").columns) == ["a", "b"]


@pytest.mark.parametrize("end", ["\r\n", "\r", "\n"])
@pytest.mark.parametrize("other", ["\r\n", "\n", "\r"])
def test_lines_may_end_in_two_ways_with_texts_in_quotes(tmp_path, end, other):
    text = f'id,text,y{end}1,"red, fish",a{end}2,blue,"b, c"{other}3,sky,"a"{end}'
    (tmp_path / "t.csv").write_bytes(text.encode())
    assert read_frame(tmp_path / "t.csv").to_dict("list") == {
        "id": ["1", "2", "3"],
        "text": ["red, fish", "blue", "sky"],
        "y": ["a", "b, c", "a"],
    }


def test_blank_lines_are_rows_where_each_line_is_answered(tmp_path):
    text = '\na,b\n\n1,2\n\n\n3,"x\n\ny"\n4,"' + 200_000 * "z" + '"\n\n'
    (tmp_path / "t.csv").write_text(text, encoding="utf-8")
    assert read_frame(tmp_path / "t.csv")["a"].tolist() == ["1", "3", "4"]
    frame = read_frame(tmp_path / "t.csv", blank_rows=True)
    assert frame["a"].tolist() == ["", "1", "", "", "3", "4"]
    assert frame["b"].tolist()[:5] == ["", "2", "", "", "x\n\ny"]
    for text, expected in (
        ('a,b\n1,"he said \\"hi\\", so"\n\n2,"x\n\ny"\n', ["1", "", "2"]),
        ('a,b\n1,5" pipe\n\n2,6" pipe\n', ["1", "", "2"]),
        ('a,b\n"1,"x\n\n2,6"\n', ['"1', "", "2"]),
    ):
        (tmp_path / "t.csv").write_text(text, encoding="utf-8")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            assert read_frame(tmp_path / "t.csv", blank_rows=True)["a"].tolist() == expected


def test_texts_are_the_same_with_and_without_arrow(tmp_path):
    """Without pyarrow, pandas holds texts as objects of Python."""
    if pd.Series([""]).dtype == object:
        pytest.skip("this pandas holds all texts so")
    text = 'id,text,y\n1,"red, fish\nswims",a\n2,,"a,b"\n,caf\u00e9,b\n'
    (tmp_path / "t.csv").write_text(text, encoding="utf-8")
    expected = {
        "id": ["1", "2", ""],
        "text": ["red, fish\nswims", "", "caf\u00e9"],
        "y": ["a", "a,b", "b"],
    }
    found = []
    for storage in ("auto", "python"):
        with pd.option_context("mode.string_storage", storage):
            frame = read_frame(tmp_path / "t.csv")
            found.append(load_table(tmp_path / "t.csv", tags_column="y", text="text", drop="id"))
        assert frame.to_dict("list") == expected
        assert (storage == "python") == (frame["text"].dtype == object)
    assert found[0].label_names == found[1].label_names
    np.testing.assert_array_equal(found[0].Y, found[1].Y)
    np.testing.assert_array_equal(found[0].X, found[1].X)


def test_rows_of_text_have_the_same_hashes_however_they_are_held(tmp_path):
    """By them it is told which rows a model was fitted to."""
    frame = pd.DataFrame({"text": ["red fish", "", "caf\u00e9"], "x": [1.0, 2.0, np.nan]})
    as_objects = frame.astype({"text": object})
    assert row_hashes(frame).tolist() == row_hashes(as_objects).tolist()


def _values(file):
    return sorted(set(read_frame(file)["a"]))


# Python 3.12 warns of what is tried here.
@pytest.mark.filterwarnings("ignore:.*use of fork:DeprecationWarning")
def test_files_are_read_by_threads_and_forks_and_as_they_are_now(tmp_path):
    """Nothing of a file is kept."""
    files = [tmp_path / f"{k}.csv" for k in range(8)]
    for k, file in enumerate(files):
        file.write_text("a,b\n" + 500 * f"{k},x\n")
    short = tmp_path / "short.csv"
    short.write_text("a,b\n1,2\n1\n")
    with pytest.raises(ValueError, match="line 3: rows of different lengths: fewer"):
        read_frame(short)
    expected = [[str(k)] for k in range(8)]
    with ThreadPoolExecutor(4) as threads:
        assert list(threads.map(_values, files)) == expected
    if "fork" in multiprocessing.get_all_start_methods():
        with multiprocessing.get_context("fork").Pool(2) as processes:
            assert processes.map_async(_values, files).get(60) == expected
    for ending, write in ((".csv", pd.DataFrame.to_csv), (".parquet", pd.DataFrame.to_parquet)):
        file = tmp_path / f"same{ending}"
        for value in ("1", "2"):
            write(pd.DataFrame({"a": [value], "b": ["x"]}), file)
            # Nothing about the file says that it is another.
            os.utime(file, (1e9, 1e9))
            assert _values(file) == [value]


def test_a_long_cell_is_read(tmp_path):
    """The module csv has a limit, which is lower unless it is told otherwise."""
    long = "z" * 200_000
    limit = csv.field_size_limit()
    (tmp_path / "t.csv").write_text(f'a,b\n1,"{long}\n{long}"\n2,x\n')
    assert read_frame(tmp_path / "t.csv")["b"].tolist() == [f"{long}\n{long}", "x"]
    (tmp_path / "t.csv").write_text(f"a,b\n1,{long}\n2\n")
    with pytest.raises(ValueError, match="line 3: rows of different lengths: fewer"):
        read_frame(tmp_path / "t.csv")
    assert csv.field_size_limit() == limit


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"])
@pytest.mark.parametrize("kind", [".csv", ".tsv", ".txt", ".jsonl", ".csv.gz"])
def test_a_mark_says_which_unicode_a_text_is_in(tmp_path, encoding, kind):
    """Excel writes its "Unicode text" in UTF-16."""
    columns = {"text": ['der f\u00fcchsische "Hund"', "\u72d0\u72f8"], "tags": ["a", "b"]}
    frame = pd.DataFrame(columns)
    if kind == ".jsonl":
        text = frame.to_json(orient="records", lines=True, force_ascii=False)
    else:
        text = frame.to_csv(index=False, sep="," if ".csv" in kind else "\t")
    encoded = f"\ufeff{text}".encode(encoding)
    file = tmp_path / f"t{kind}"
    file.write_bytes(gzip.compress(encoded) if kind == ".csv.gz" else encoded)
    assert read_frame(file).to_dict("list") == columns
    if kind in (".csv", ".tsv"):
        assert names_at_the_top(file, kind) == ["text", "tags"]


def test_nul_bytes_are_named_with_a_remedy(tmp_path):
    file = tmp_path / "t.csv"
    for content, message in (
        ("a,x\n1,0\n".encode("utf-16-le"), "in line 1, .*; convert it: iconv -f UTF-16"),
        ("a,x\n1,0\n".encode("utf-16-be"), "in line 1, .*; convert it: iconv -f UTF-16"),
        (b"text,x\nred fox,0\nse\0a,1\n", r"in line 3, b'se\\x00a,1'; remove them: tr -d"),
        (b"text,x\nred fox,0\n\0\0\0", "in line 3, .*; remove them: tr -d"),
    ):
        file.write_bytes(content)
        with case(content), pytest.raises(ValueError, match=message):
            read_frame(file)


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ('[{"a": 1, "x": 0}]', "JSON; name it"),
        ('[\n  {\n    "a": 1}]', "JSON; name it"),
        ('{"a": 1, "x": 0}\n{"a": 2, "x": 1}\n', "JSON; name it"),
        ("<!DOCTYPE html>\n<html>", "HTML"),
        ("\n<html><body>Sign in, please</body></html>", "HTML"),
        ("<table><tr><td>a</td></tr></table>", "HTML"),
        ('<?xml version="1.0"?>\n<posts>\n', "XML"),
        ("version https://git-lfs.github.com/spec/v1\noid sha256:4d\nsize 9\n", "a pointer of Git"),
    ],
)
@pytest.mark.parametrize("ending", [".csv", ".tsv", ".txt"])
def test_content_of_another_kind_is_named(tmp_path, ending, text, what):
    file = tmp_path / f"t{ending}"
    file.write_text(text, encoding="utf-8")
    for read_it in (read_frame, lambda file: names_at_the_top(file, ending)):
        with pytest.raises(ValueError, match=f"is not delimited text, but begins like {what}"):
            read_it(file)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("red fish\t2\te1\nsea\t0,2\te2\nsky\t1\te3\nrock\t2\te4\n", False),
        ("red sky over the sea\tcs.lg\nsea\tcs.lg\nred\tmath\nrock\tcs.lg math\n", False),
        ("red\tno\nsea\tyes\nred\tyes\nsky\tno\n", False),
        ("\t0\t1\t2\n0\t2\t1\t7\n1\t3\t2\t2\n2\t4\t0\t1\n", True),
        ("word\tPizza\nsea\tPizza\nsky\t\nred\tPizza\n", True),
        ("word\tkind\nsea\ta\nsky\tb\nred\tc\n", True),
        ("word\tother\nsea\ta\nsky\tother\nred\tc\n", True),
    ],
)
def test_a_first_row_whose_cells_recur_below_holds_no_names(tmp_path, text, names):
    (tmp_path / "t.tsv").write_text(text)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        frame = read_frame(tmp_path / "t.tsv")
    assert (frame.columns[0] in ("word", "0")) is names
    assert ["holds data like the rows below" in str(one.message) for one in caught] == [
        True for _ in range(not names)
    ]


@pytest.mark.parametrize("above", ["# by a tool", '# 2024-01-31, it\'s "new"', "##a=1\n##b=2"])
def test_comments_above_the_names_are_left_out_and_told(tmp_path, above):
    columns, told = read(tmp_path, f"{above}\na,x,y\n1,0,1\n2,1,0\n")
    assert columns == {"a": ["1", "2"], "x": ["0", "1"], "y": ["1", "0"]}
    assert len(told) == 1
    assert "is read as a comment" in told[0]


@pytest.mark.parametrize("text", ["#a\tx\n1\t0\n", "#a\n1\n", "#a,#x\n1,2\n"])
def test_names_may_begin_with_the_mark_of_a_comment(tmp_path, text):
    columns, told = read(tmp_path, text)
    assert next(iter(columns)) == "#a"
    assert not told
