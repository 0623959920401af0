"""What paths stand for: compressed files, folders and patterns of parts, streams."""

import bz2
import gzip
import io
import json
import lzma
import os
import re
import sys
import time
import zipfile
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from multimargin.checks import memory
from multimargin.datasets import MultilabelData, load, load_table, sources, table_files
from multimargin.datasets.feature_columns import UndecidedColumns
from multimargin.datasets.table_files import read_frame
from tests.support.cases import case

TEXT = "size,x,y\n" + "".join(f"{k % 5},{k % 2},{k // 2 % 2}\n" for k in range(20))
EXPECTED = [[k % 2, k // 2 % 2] for k in range(20)]


@pytest.fixture
def frame(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return pd.read_csv(io.StringIO(TEXT))


def pack_zip(name, content):
    with zipfile.ZipFile(name, "w") as archive:
        archive.writestr("__MACOSX/x", "")
        archive.writestr("t.csv", content)


def pack_zst(name, content):
    pyarrow = pytest.importorskip("pyarrow")
    with pyarrow.CompressedOutputStream(name, "zstd") as stream:
        stream.write(content)


@pytest.mark.parametrize("kind", [".gz", ".bz2", ".xz", ".zip", ".zst"])
def test_compressed_tables(frame, kind):
    content = TEXT.encode()
    if kind in (".zip", ".zst"):
        {".zip": pack_zip, ".zst": pack_zst}[kind](f"t.csv{kind}", content)
    else:
        opener = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}[kind]
        with opener(f"t.csv{kind}", "wb") as stream:
            stream.write(content)
    data = load(f"t.csv{kind}", labels="x,y")
    assert data.name == "t"
    np.testing.assert_array_equal(data.Y, EXPECTED)


def test_an_archive_says_what_it_holds(frame):
    pack_zip("data.zip", TEXT)
    np.testing.assert_array_equal(load_table("data.zip", labels="x,y").Y, EXPECTED)
    with zipfile.ZipFile("data.zip", "a") as archive:
        archive.writestr("more.csv", TEXT)
    with pytest.raises(ValueError, match=r"data\.zip holds 2 files, 't\.csv', 'more\.csv'"):
        load_table("data.zip", labels="x,y")


def test_kinds_of_files(frame):
    frame.to_parquet("t.parquet")
    frame.set_index("size").to_parquet("indexed.parquet")
    with open("t.jsonl", "w") as stream:
        stream.write("\n".join(map(json.dumps, frame.to_dict("records"))))
    for file in ("t.parquet", "t.jsonl"):
        with case(file):
            data = load(file, labels="x,y")
            np.testing.assert_array_equal(data.Y, EXPECTED)
            assert data.feature_names == ("size",)
    # The index is no column.
    with pytest.raises(ValueError, match="no column is left for the features"):
        load("indexed.parquet", labels="x,y")


def test_types_of_parquet(frame):
    typed = pd.DataFrame(
        {
            "whole": pd.array([2**53 + 1, None, 3], dtype="Int64"),
            "kind": pd.Categorical([1, 2, 1]),
            "when": pd.to_datetime(["2024-01-05", None, "2023-12-31"]),
            "zone": pd.to_datetime(["2024-01-05"] * 3, utc=True),
            "vector": [[0.5, 1.0], [2.0, 3.0], [4.0, 5.0]],
            "tags": [["a"], None, ["a", "b"]],
            "flag": [True, None, False],
        }
    )
    typed.to_parquet("t.parquet")
    assert read_frame(Path("t.parquet"))["whole"][0] == 2**53 + 1
    with pytest.warns(UserWarning, match="no value in 1 of 3 rows"):
        data = load("t.parquet", tags_column="tags")
    dates = [f"{name}: {part}" for name in ("when", "zone") for part in table_parts()]
    assert set(data.feature_names) == {
        *("whole", "kind_1", "kind_2", "flag", "vector[0]", "vector[1]"),
        *dates,
    }
    X = pd.DataFrame(np.asarray(data.X.todense() if hasattr(data.X, "todense") else data.X))
    X.columns = data.feature_names
    assert X["vector[1]"].tolist() == [1.0, 3.0, 5.0]
    assert X["when: weekday"].tolist()[::2] == [4.0, 6.0]
    assert np.isnan(X.loc[1, ["whole", "when: year", "flag"]].to_numpy(dtype=float)).all()


def table_parts():
    return ("year", "month", "day", "weekday")


def test_numbers_of_classes_have_their_names_where_the_file_tells_them(frame):
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    told = {
        "info": {
            "features": {
                "tags": {
                    "feature": {"names": ["red", "green", "blue"], "_type": "ClassLabel"},
                    "_type": "Sequence",
                },
                "size": {"dtype": "int64", "_type": "Value"},
            }
        }
    }
    table = pyarrow.table({"size": [1, 2, 5], "tags": [[0, 2], [], [2]]})
    metadata = {"huggingface": json.dumps(told)}
    parquet.write_table(table.replace_schema_metadata(metadata), "t.parquet")
    data = load("t.parquet", tags_column="tags")
    assert data.label_names == ("blue", "red")
    np.testing.assert_array_equal(data.Y, [[1, 1], [0, 0], [1, 0]])
    features = told["info"]["features"]
    # As older versions write lists.
    features["tags"] = [features["tags"]["feature"]]
    metadata = {"huggingface": json.dumps(told)}
    parquet.write_table(table.replace_schema_metadata(metadata), "t.parquet")
    assert load("t.parquet", tags_column="tags").label_names == ("blue", "red")
    del features["tags"][0]["names"][2]
    metadata = {"huggingface": json.dumps(told)}
    parquet.write_table(table.replace_schema_metadata(metadata), "t.parquet")
    with pytest.raises(ValueError, match="column 'tags' has the class 2; expected less than 2"):
        load("t.parquet", tags_column="tags")


def write_workbook(name, rows):
    """A workbook of one sheet: texts and numbers, nothing for None."""

    def cell(value):
        if isinstance(value, str):
            return f'<c t="inlineStr"><is><t>{value}</t></is></c>'
        return "<c/>" if value is None else f"<c><v>{value}</v></c>"

    space = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    of = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    package = "http://schemas.openxmlformats.org/package/2006"
    kind = "application/vnd.openxmlformats-officedocument.spreadsheetml"
    data = "".join(f"<row>{''.join(map(cell, row))}</row>" for row in rows)
    parts = {
        "[Content_Types].xml": f'<Types xmlns="{package}/content-types">'
        '<Default Extension="rels" '
        'ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        f'<Override PartName="/xl/workbook.xml" ContentType="{kind}.sheet.main+xml"/>'
        f'<Override PartName="/xl/worksheets/s.xml" ContentType="{kind}.worksheet+xml"/></Types>',
        "_rels/.rels": f'<Relationships xmlns="{package}/relationships"><Relationship Id="a" '
        f'Type="{of}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
        "xl/workbook.xml": f'<workbook xmlns="{space}" xmlns:r="{of}"><sheets>'
        '<sheet name="s" sheetId="1" r:id="a"/></sheets></workbook>',
        "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{package}/relationships">'
        f'<Relationship Id="a" Type="{of}/worksheet" Target="worksheets/s.xml"/></Relationships>',
        "xl/worksheets/s.xml": f'<worksheet xmlns="{space}"><sheetData>{data}'
        "</sheetData></worksheet>",
    }
    with zipfile.ZipFile(name, "w") as archive:
        for part, text in parts.items():
            archive.writestr(part, f'<?xml version="1.0" encoding="UTF-8"?>{text}')


def test_workbooks(frame):
    pytest.importorskip("python_calamine")
    rows = [["size", "zip", "tags", None], [1.5, "007", "a; b", None], [None, "010", "b", None]]
    write_workbook("t.xlsx", rows)
    data = load("t.xlsx", tags_column="tags", separator=";")
    assert data.label_names == ("a", "b")
    assert data.feature_names == ("size", "zip_007", "zip_010")
    np.testing.assert_array_equal(data.Y, [[1, 1], [0, 1]])


def write_open_workbook(name, *sheets):
    """A workbook of LibreOffice, with a sheet for each list of rows."""

    def cell(value):
        if value is None:
            return "<table:table-cell/>"
        told = 'string"' if isinstance(value, str) else f'float" office:value="{value}"'
        shown = f"<text:p>{value}</text:p></table:table-cell>"
        return f'<table:table-cell office:value-type="{told}>{shown}'

    space = "urn:oasis:names:tc:opendocument:xmlns:"
    spaces = " ".join(f'xmlns:{of}="{space}{of}:1.0"' for of in ("office", "table", "text"))
    tables = [
        f'<table:table table:name="s{number}">'
        + "".join(f"<table:table-row>{''.join(map(cell, row))}</table:table-row>" for row in rows)
        + "</table:table>"
        for number, rows in enumerate(sheets)
    ]
    with zipfile.ZipFile(name, "w") as archive:
        archive.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet")
        archive.writestr("META-INF/manifest.xml", f'<m:manifest xmlns:m="{space}manifest:1.0"/>')
        archive.writestr(
            "content.xml",
            f"<office:document-content {spaces}><office:body><office:spreadsheet>{''.join(tables)}"
            "</office:spreadsheet></office:body></office:document-content>",
        )


def test_workbooks_of_libreoffice_and_their_sheets(tmp_path, monkeypatch):
    pytest.importorskip("python_calamine")
    monkeypatch.chdir(tmp_path)
    rows = [["size", "tags"], [1.5, "a; b"], [None, "b"]]
    write_open_workbook("t.ods", rows)
    data = load("t.ods", tags_column="tags", separator=";")
    np.testing.assert_array_equal(data.Y, [[1, 1], [0, 1]])
    np.testing.assert_array_equal(data.X, [[1.5], [np.nan]])
    write_open_workbook("t.ods", rows, rows[::-1])
    with pytest.warns(UserWarning, match=r"t\.ods has the sheets 's0', 's1', of which the first"):
        found = load("t.ods", tags_column="tags", separator=";")
    np.testing.assert_array_equal(found.Y, data.Y)


@pytest.mark.parametrize("kind", ["csv", "ods", "jsonl"])
def test_a_note_below_a_table_is_told(tmp_path, kind):
    def write(*rows):
        rows = [["t", "x", "y"], *rows]
        if kind == "ods":
            write_open_workbook(tmp_path / "t.ods", rows)
        elif kind == "csv":
            lines = (",".join("" if cell is None else str(cell) for cell in row) for row in rows)
            (tmp_path / "t.csv").write_text("\n".join(lines))
        else:
            objects = (dict(zip(rows[0], row, strict=True)) for row in rows[1:])
            (tmp_path / "t.jsonl").write_text("\n".join(map(json.dumps, objects)))
        return read_frame(tmp_path / f"t.{kind}")

    rows = [["red", 1, 0], ["sea", 0, None], ["red", None, 1]]
    with pytest.warns(UserWarning, match="the last row has 'Source: us' and nothing else"):
        assert len(write(*rows, ["Source: us", None, None])) == 4
    # Others have no more, either.
    write(*rows, ["sky", None, None], ["sea", None, None])
    write(*rows, ["sky", None, 1])


def test_columns_without_a_name_are_told(tmp_path):
    """As below merged cells, where a second line has the names."""
    (tmp_path / "t.csv").write_text("id,colours,,size\n,red,blue,\n1,1,0,5\n2,0,1,6\n")
    with pytest.warns(UserWarning, match="has columns without a name, which are called 'column3'"):
        assert list(read_frame(tmp_path / "t.csv")) == ["id", "colours", "column3", "size"]
    # Names of rows, and columns that hold nothing.
    (tmp_path / "t.csv").write_text(",x,,y,\nr,1,,0,\ns,0,,1,\n")
    assert list(read_frame(tmp_path / "t.csv")) == ["column1", "x", "y"]


def test_the_rows_of_an_object_with_several_lists(tmp_path):
    rows = [{"row_idx": k, "row": {"text": f"word {k}", "tags": ["a"]}} for k in range(3)]
    features = [{"name": "text"}, {"name": "tags"}]
    (tmp_path / "t.json").write_text(json.dumps({"features": features, "rows": rows, "n": 3}))
    with pytest.warns(UserWarning, match="list 'rows' is read as the rows, and 'features' left"):
        assert list(read_frame(tmp_path / "t.json")["text"]) == ["word 0", "word 1", "word 2"]
    (tmp_path / "t.json").write_text(json.dumps({"cards": rows, "lists": features, "n": 3}))
    with pytest.raises(ValueError, match="no JSON list, but several, 'cards', 'lists'; expected"):
        read_frame(tmp_path / "t.json")
    # Columns, one of which has objects.
    columns = {"text": ["red", "sea"], "cats": [{"a": 1}, {"a": 0}]}
    (tmp_path / "t.json").write_text(json.dumps(columns))
    with pytest.warns(UserWarning, match="each entry is read as a column"):
        assert read_frame(tmp_path / "t.json").to_dict("list") == columns


def test_the_first_row_of_a_workbook_may_be_no_names(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_workbook("t.xlsx", [[5.5, 0, 1], [6.1, 1, 0], [7.2, 1, 1]])
    with pytest.warns(UserWarning, match="the first row, '5.5', '0', '1', holds data"):
        data = load("t.xlsx", labels="last:2")
    assert data.label_names == ("column2", "column3")
    assert data.Y.tolist() == [[0, 1], [1, 0], [1, 1]]
    write_workbook("t.xlsx", [["size", 2023, 2024], [6, 1, 0], [7, 1, 1]])
    assert load("t.xlsx", labels="last:2").label_names == ("2023", "2024")


def test_parts_of_one_table(frame):
    for folder, names in (
        ("spark.csv", ["part-00000-5e-c000.csv", "part-00001-5e-c000.csv"]),
        ("dask", ["0.part.csv", "1.part.csv"]),
        ("numbered", ["t1.csv", "t2.csv"]),
    ):
        os.mkdir(folder)
        for k, name in enumerate(names):
            frame[10 * k : 10 * k + 10].to_csv(f"{folder}/{name}", index=False)
        for beside in ("_SUCCESS", ".part-00000.csv.crc"):
            open(f"{folder}/{beside}", "w").close()
        with case(folder):
            np.testing.assert_array_equal(load(folder, labels="x,y").Y, EXPECTED)
            np.testing.assert_array_equal(load(f"{folder}/*.csv", labels="x,y").Y, EXPECTED)
    frame.rename(columns={"size": "sizes"}).to_csv("numbered/t2.csv", index=False)
    with pytest.raises(ValueError, match=r"t1\.csv and .*t2\.csv have different columns: 'size'"):
        load("numbered", labels="x,y")
    # Two tables that are no parts.
    os.rename("numbered/t2.csv", "numbered/other.csv")
    assert sources.table_files("numbered") is None


def test_parts_are_in_the_order_of_their_numbers_and_may_be_empty(frame):
    os.mkdir("d")
    for number, rows in ((2, slice(0, 10)), (10, slice(10, 20))):
        frame[rows].to_csv(f"d/part-{number}.csv", index=False)
    open("d/part-3.csv", "w").close()
    for source in ("d", "d/part-*.csv"):
        np.testing.assert_array_equal(load(source, labels="x,y").Y, EXPECTED)


def test_tables_that_are_not_read_are_told(frame):
    os.mkdir("d")
    for rows, name in enumerate(("train", "test", "valid")):
        frame[rows:].to_csv(f"d/{name}.csv", index=False)
    with pytest.warns(UserWarning, match=r"'train.csv', 'test.csv', .* 'valid.csv', left out"):
        load("d", labels="x,y")
    os.rename("d/valid.csv", "d/tr.csv")
    with pytest.raises(FileNotFoundError, match=r"there is no file 'd/z\*\.csv'"):
        load_table("d/z*.csv", labels="x,y")
    os.mkdir("empty")
    with pytest.raises(ValueError, match=r"expected the folder empty to hold .*; found no such"):
        load_table("empty", labels="x,y")


def test_files_of_another_kind_are_named(frame):
    content = {
        "a.csv": (gzip.compress(TEXT.encode()), r"begins like a file of \.gz"),
        "b.csv": (frame.to_parquet(), r"begins like a file of \.parquet"),
        "c.csv": (TEXT.encode("utf-16-le"), "in line 1, .* iconv -f UTF-16"),
        "d.csv": (TEXT.encode().replace(b"1", b"\0", 1), "not text in UTF-8: .* tr -d"),
        "e.html": (b"<html>", "ends in '.html'; expected one of"),
        "f.xls": (
            b"<html>",
            r"f\.xls is not a workbook, but begins with b'<html>'; if that is",
        ),
        "g.xlsx": (TEXT.encode(), r"g\.xlsx is not a workbook, but begins with b'size,x,y"),
        "h.xls": (b"\xd0\xcf\x11\xe0damaged", r"h\.xls: the file is damaged"),
    }
    pack_zip("f.csv", TEXT)
    content["f.csv"] = (Path("f.csv").read_bytes(), r"begins like a file of \.zip or \.xlsx")
    for name, (written, message) in content.items():
        with open(name, "wb") as stream:
            stream.write(written)
        with case(name), pytest.raises(ValueError, match=message):
            load(name, labels="x,y")


def test_rows_without_anything_are_left_out_and_told(frame):
    blank = {"csv": ",,\n", "jsonl": "{}\n"}
    for kind, line in blank.items():
        with open(f"t.{kind}", "w") as stream:
            rows = TEXT if kind == "csv" else frame.to_json(orient="records", lines=True)
            stream.write(rows + 2 * line)
        with pytest.warns(UserWarning, match="2 rows have no values, left out; .* is row 20"):
            data = load(f"t.{kind}", labels="x,y")
        np.testing.assert_array_equal(data.Y, EXPECTED)
        assert len(table_files.read_frame(Path(f"t.{kind}"), blank_rows=True)) == 22


def test_the_text_of_an_object_is_no_text(frame):
    rows = [
        {"content": {"text": "red fish"}, "x": 1, "y": 0},
        {"content": {"text": "sea"}, "x": 0, "y": 1},
    ]
    with open("t.json", "w") as stream:
        json.dump(rows, stream)
    with pytest.raises(ValueError, match="the column 'content' holds objects, such as"):
        load("t.json", labels="x,y", text="content")


@pytest.mark.parametrize("key", ["data", "row"])
@pytest.mark.parametrize("ending", ["json", "jsonl"])
def test_cells_in_an_object_of_each_row_are_cells(frame, key, ending):
    """As Label Studio writes its tasks, and the viewer of Hugging Face its rows."""
    rows = [
        {"id": k, "total": 1, key: {"text": f"red {k}", "id": f"t{k}"}, "choices": ["a", "b"][k:]}
        for k in range(2)
    ]
    lines = "\n".join(map(json.dumps, rows))
    Path(f"t.{ending}").write_text(json.dumps(rows) if ending == "json" else lines)
    found = read_frame(Path(f"t.{ending}"))
    assert found.columns.tolist() == ["id", "total", "choices", "text", f"{key}.id"]
    assert found["text"].tolist() == ["red 0", "red 1"]
    assert found[f"{key}.id"].tolist() == ["t0", "t1"]


def test_numbered_parts_of_train_and_test(frame):
    os.mkdir("hub")
    for name, rows in (("train-00000-of-00002", 10), ("train-00001-of-00002", 5)):
        frame[:rows].to_parquet(f"hub/{name}.parquet")
    frame[10:].to_parquet("hub/test-00000-of-00001.parquet")
    data = load("hub", labels="x,y")
    assert {name: len(rows) for name, rows in data.splits.items()} == {"train": 15, "test": 10}
    np.testing.assert_array_equal(data.Y[data.splits["test"]], EXPECTED[10:])


def zipped(content):
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as writer:
        writer.writestr("of any name", content)
    return archive.getvalue()


@pytest.mark.parametrize("packed", [bytes, gzip.compress, bz2.compress, lzma.compress, zipped])
@pytest.mark.parametrize("kind", ["csv", "tsv", "jsonl", "json", "parquet"])
def test_standard_input(frame, monkeypatch, kind, packed):
    content = {
        "csv": TEXT.encode(),
        "tsv": TEXT.replace(",", "\t").encode(),
        "jsonl": "\n".join(map(json.dumps, frame.to_dict("records"))).encode(),
        "json": json.dumps(frame.to_dict("records")).encode(),
        "parquet": frame.to_parquet(),
    }[kind]
    for source in ("-", "/dev/stdin"):
        stream = SimpleNamespace(buffer=io.BytesIO(packed(content)))
        monkeypatch.setattr(sys, "stdin", stream)
        sources.standard_input.cache_clear()
        data = load(source, labels="x,y")
        assert data.name == "stdin"
        np.testing.assert_array_equal(data.Y, EXPECTED)
        # It is read once, and stays.
        np.testing.assert_array_equal(load(source, labels="x,y").Y, EXPECTED)
    sources.standard_input.cache_clear()


def test_a_table_that_is_too_large_is_refused_at_once(frame, monkeypatch):
    frame.to_csv("t.csv", index=False)
    with gzip.open("t.csv.gz", "wt") as stream:
        stream.write(TEXT)
    monkeypatch.setattr(memory.os, "sysconf", lambda name: 10 if "SIZE" in name else 20)
    for file in ("t.csv", "t.csv.gz"):
        message = (
            rf"{file} has 0\.0 GB, more than half of the 0\.0 GB of memory; expected a smaller"
        )
        with pytest.raises(MemoryError, match=message):
            load(file, labels="x,y")


def test_bytes_that_are_no_text_are_named(frame):
    for name, content in (
        ("t.jsonl", b'{"a": 1, "l": "x"}\n{"a": 2, "l": "caf\xe9"}\n'),
        ("t.json", b'[{"a": 1, "l": "x"}, {"a": 2, "l": "caf\xe9"}]'),
        ("t.csv", b"a,l\n1,x\n2,caf\xe9\n"),
    ):
        with open(name, "wb") as stream:
            stream.write(content)
        line = content[: content.index(b"\xe9")].count(b"\n") + 1
        with pytest.raises(ValueError, match=f"{name} is not text in UTF-8, in line {line}, b"):
            load_table(name, tags_column="l")


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
@pytest.mark.parametrize(
    ("name", "text"), [("t.csv.gz", "a,b\n1,2\n1\n"), ("t.jsonl.gz", '{"a": 1}\n{"a": }\n')]
)
def test_an_error_of_a_packed_file_names_it_and_no_copy(tmp_path, name, text, encoding):
    (tmp_path / name).write_bytes(gzip.compress(text.encode(encoding)))
    with pytest.raises(ValueError, match=f"^path: {tmp_path / name}, line [23]") as found:
        read_frame(tmp_path / name)
    assert str(found.value).count("/t.") == 1


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_durations_inside_of_lists_are_no_numbers(tmp_path, unit):
    pa, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    of, values = pa.duration(unit), [3, None, 5]
    nested = {
        "list": pa.array([[v, v] for v in values], pa.list_(of)),
        "fixed": pa.array([[v] for v in values], pa.list_(of, 1)),
        "deep": pa.array([[[v], []] for v in values], pa.large_list(pa.list_(of))),
        "object": pa.array([{"n": 1, "t": v} for v in values], pa.struct([("n", "i8"), ("t", of)])),
        "numbers": pa.array([[1, 2]] * 3, pa.list_(pa.int64())),
    }
    parquet.write_table(pa.table(nested), tmp_path / "t.parquet")
    frame = read_frame(tmp_path / "t.parquet")
    three = pd.Timedelta(3, unit)
    assert frame["list"].tolist() == [[three, three], [None, None], [pd.Timedelta(5, unit)] * 2]
    assert frame["deep"][0] == [[three], []]
    assert frame["numbers"][0] == [1, 2]
    frame["a"], frame["b"] = [0, 1, 0], [1, 0, 1]
    asked = r"'list' holds lists.*'fixed' holds lists.*'deep'.*'object' holds objects"
    with pytest.raises(UndecidedColumns, match=asked):
        MultilabelData.from_frame(frame, labels="a,b")


def test_durations_that_arrow_alone_knows_are_no_numbers(tmp_path):
    """Parquet has whole numbers for them; the schema that Arrow adds says what they are."""
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    units = ("s", "ms", "us", "ns")
    columns = {f"{unit} é": pa.array([1, None, 3], pa.duration(unit)) for unit in units}
    table = pa.table({"n": [1, 2, 3], **columns, "tags": ["a,b", "b", "a"]})
    parquet.write_table(table, tmp_path / "t.parquet")
    frame = read_frame(tmp_path / "t.parquet")
    assert frame["n"].tolist() == [1, 2, 3]
    for unit in units:
        assert frame[f"{unit} é"].iloc[2] == pd.Timedelta(3, unit)
        assert frame[f"{unit} é"].isna().tolist() == [False, True, False]
    with pytest.raises(UndecidedColumns, match=r"'s é' holds durations.*'ns é' holds durations"):
        load_table(tmp_path / "t.parquet", tags_column="tags")


@pytest.mark.parametrize("ending", [".json", ".jsonl"])
def test_a_name_that_an_object_has_twice_is_refused(tmp_path, ending):
    """Of the two, a parser would keep the last in silence."""
    for row in ('{"a": 1, "tags": ["x"], "a": 2}', '{"a": {"b": 1, "b": 2}, "tags": []}'):
        lines = ['{"a": 0, "tags": ["y"]}', row]
        text = f"[{','.join(lines)}]" if ending == ".json" else "\n".join(lines)
        (tmp_path / f"t{ending}").write_text(text)
        where = ", line 2" if ending == ".jsonl" else ", line 1"
        message = rf"t{ending}{where} is not JSON: '[ab]' is named twice"
        with pytest.raises(ValueError, match=message):
            read_frame(tmp_path / f"t{ending}")
    cells = pd.DataFrame({"n": [1, 2], "cats": ['{"a": 1, "b": 0}', '{"a": 1, "a": 0}']})
    with pytest.raises(ValueError, match="'a' is named twice"):
        MultilabelData.from_frame(cells, tags_column="cats")


def test_a_part_and_its_compressed_copy_are_not_read_both(frame):
    os.mkdir("copies")
    frame.to_csv("copies/part-0.csv", index=False)
    frame.to_csv("copies/part-0.csv.gz", index=False)
    with pytest.raises(ValueError, match=r"expected the folder .*found part-0.csv, part-0.csv.gz"):
        load("copies", labels="x,y")
    told = r"copies/part-0.csv and copies/part-0.csv.gz have the same rows; expected each part once"
    with pytest.raises(ValueError, match=told):
        load("copies/part-*", labels="x,y")
    with pytest.raises(ValueError, match="train and test have the same rows"):
        load_table("copies/part-0.csv", test="copies/part-0.csv.gz", labels="x,y")
    frame[::-1].to_csv("copies/part-1.csv", index=False)
    os.remove("copies/part-0.csv")
    found = load("copies/part-*", labels="x,y").Y
    np.testing.assert_array_equal(found, [*EXPECTED, *EXPECTED[::-1]])


def test_parts_of_one_row_may_be_equal(frame):
    os.mkdir("single")
    for k in range(2):
        frame[:1].to_csv(f"single/part-{k}.csv", index=False)
    assert len(read_frame(Path("single"))) == 2


def test_what_lies_beside_the_parts_of_a_table_is_none(frame):
    os.mkdir("parts")
    for k in range(2):
        frame[10 * k : 10 * k + 10].to_csv(f"parts/part-{k}.csv", index=False)
    Path("parts/README.txt").write_text("a,b\n1,2\n")
    Path("parts/schema.json").write_text("{}")
    np.testing.assert_array_equal(load("parts", labels="x,y").Y, EXPECTED[:20])


@pytest.mark.parametrize("row_names", [True, False])
def test_a_table_as_r_writes_it_has_blanks_between_quotes(tmp_path, row_names):
    rows = ['"size of it" "kind" "l.a" "l.b"']
    for k in range(6):
        name = f'"{k + 1}" ' if row_names else ""
        rows.append(f'{name}{"NA" if k == 2 else k / 2} "dark {k % 2}" {k % 2} {k // 3}')
    for name in ("t.txt", "t.csv"):
        (tmp_path / name).write_text("\n".join(rows))
        data = load(tmp_path / name, labels="l.*")
        assert data.feature_names == ("size of it", "kind_dark 0", "kind_dark 1")
        np.testing.assert_array_equal(data.X[:, 0], [0.0, 0.5, np.nan, 1.5, 2.0, 2.5])
        assert data.Y.tolist() == [[k % 2, k // 3] for k in range(6)]
    (tmp_path / "one.csv").write_text('"full name"\n"Ada Lovelace"\n"Alan Turing"\n')
    assert list(read_frame(tmp_path / "one.csv").columns) == ["full name"]


def test_an_empty_list_among_objects_is_no_name(tmp_path):
    """As JSON writes it in a column of texts, beside lists of objects with ids and names."""
    cells = [
        '[{"id": 1, "name": "war"}, {"id": 2, "name": "art"}]',
        "[]",
        '[{"id": 2, "name": "art"}]',
    ]
    frame = pd.DataFrame({"x": [1.0, 2.0, 3.0, 4.0], "tags": [*cells, '["war"]']})
    data = MultilabelData.from_frame(frame, tags_column="tags")
    assert data.label_names == ("art", "war")
    assert data.Y.tolist() == [[1, 1], [0, 0], [1, 0], [0, 1]]


@pytest.mark.parametrize(
    ("cells", "what"),
    [
        (["0110", "1000", "0001"], "only 0 and 1"),
        (["tag(a, b", "c)", "d"], "brackets that are not closed"),
        (["Diabetes (type 1, 2)", "Gout", "Flu"], "brackets that are not closed"),
    ],
)
def test_names_that_are_parts_of_something_else_are_told(cells, what):
    frame = pd.DataFrame({"x": [1.0, 2.0, 3.0], "tags": cells})
    with pytest.warns(UserWarning, match=rf"'tags' has names with {what}"):
        MultilabelData.from_frame(frame, tags_column="tags")


def test_lists_of_a_tensor_are_no_names():
    frame = pd.DataFrame({"x": [1.0, 2.0], "tags": ["tensor([0, 1])", "tensor([1, 1])"]})
    told = pytest.warns(UserWarning, match="texts in brackets")
    with told, pytest.raises(ValueError, match="lists '0', '1' for all labels in each row"):
        MultilabelData.from_frame(frame, tags_column="tags")


@pytest.mark.parametrize("of_machine", ["America/New_York", "Asia/Tokyo"])
def test_moments_in_parquet_are_by_the_clock_of_their_place(tmp_path, monkeypatch, of_machine):
    """As in data frames, and not by the clock of the machine that reads."""
    days = pd.to_timedelta(range(4), unit="D")
    frame = pd.DataFrame(
        {
            "there": pd.Timestamp("2024-03-30 00:30", tz="Europe/Berlin") + days,
            "utc": pd.Timestamp("2024-03-30 23:30", tz="UTC") + days,
            "nowhere": pd.Timestamp("2024-03-30 00:30") + days,
            "gap": (pd.Timestamp("2024-03-30 00:30", tz="Asia/Kolkata") + days).where(
                days.days > 0
            ),
            "a": [0, 1, 0, 1],
            "b": [1, 0, 0, 1],
        }
    )
    frame.to_parquet(tmp_path / "t.parquet")
    monkeypatch.setenv("TZ", of_machine)
    time.tzset()
    try:
        read = load_table(tmp_path / "t.parquet", labels="a,b")
    finally:
        monkeypatch.undo()
        time.tzset()
    data = MultilabelData.from_frame(frame, labels="a,b")
    assert read.feature_names == data.feature_names
    np.testing.assert_array_equal(read.X, data.X)
    assert read.X[:, read.feature_names.index("there: day")].tolist() == [30, 31, 1, 2]


def test_columns_of_one_name_are_lists_of_tags(tmp_path):
    """As in the exports of Jira, which have as many columns as the row with the most labels."""
    text = "Summary,Labels,size,Labels , Labels\nred fish swim here,bug,1.5,ui,\n"
    text += "blue birds fly there,,2.5,,\nold stones lie still,ui,4.5,,\n"
    (tmp_path / "t.csv").write_text(text)
    told = pytest.warns(UserWarning, match=r"several columns named 'Labels': each is read as one")
    with told:
        data = load_table(tmp_path / "t.csv", tags_column="Labels", text="Summary")
    assert data.label_names == ("bug", "ui")
    np.testing.assert_array_equal(data.Y, [[1, 1], [0, 0], [0, 1]])
    assert data.feature_names[0] == "size"
    with told:
        assert list(read_frame(tmp_path / "t.csv").columns) == ["Summary", "Labels", "size"]


ROWS = [{"a": 1.5, "tags": ["x"]}, {"a": 2.5, "tags": ["y", "x"]}, {"a": 3.5, "tags": []}]
OBJECTS = [json.dumps(row) for row in ROWS]


@pytest.mark.parametrize("kind", ["json", "jsonl"])
@pytest.mark.parametrize(
    "text",
    [
        "".join(OBJECTS),
        "".join(f"{row},\n" for row in OBJECTS),
        "\n".join(json.dumps(row, indent=2) for row in ROWS),
        "\r\n".join(OBJECTS),
        f"\ufeff\n\n{json.dumps(ROWS)}\n",
    ],
    ids=["side by side", "commas", "of several lines", "returns", "list"],
)
def test_objects_one_after_the_other(tmp_path, kind, text):
    (tmp_path / f"t.{kind}").write_text(text, encoding="utf-8", newline="")
    frame = read_frame(tmp_path / f"t.{kind}", blank_rows=True)
    assert [float(a) for a in frame["a"]] == [1.5, 2.5, 3.5]
    assert frame["tags"].tolist() == [["x"], ["y", "x"], []]


def test_an_error_of_json_has_its_line_and_place(tmp_path):
    for text, line, shown in (
        ('{"a": 1}\n\n{"a": 2,, "b": 1}\n', 3, '{"a": 2,, "b"'),
        ('[{"a": 1},\n {"a": }]', 2, '{"a": }]'),
        ('{"a": 1}\n// end\n', 2, "// end"),
    ):
        (tmp_path / "t.jsonl").write_text(text)
        told = rf"t\.jsonl, line {line} is not JSON: [A-Z].*, at .*{re.escape(shown)}"
        with case(text), pytest.raises(ValueError, match=told):
            read_frame(tmp_path / "t.jsonl")


@pytest.mark.parametrize("key", ["data", "row", "fields", "_source", "properties"])
def test_cells_may_be_in_an_object_of_the_row(tmp_path, key):
    lines = [json.dumps({"id": k, key: {"a": k + 0.5, "id": "n"}}) for k in range(3)]
    (tmp_path / "t.jsonl").write_text("\n".join(lines))
    assert list(read_frame(tmp_path / "t.jsonl").columns) == ["id", "a", f"{key}.id"]


@pytest.mark.parametrize("name", ["Unnamed: 0", "Unnamed: 0.1", "__index_level_0__", ""])
def test_an_index_that_was_written_is_no_column(tmp_path, name):
    (tmp_path / "t.csv").write_text(f"{name},a,x\n7,1.5,0\n3,2.5,1\n5,2.5,1\n")
    assert list(read_frame(tmp_path / "t.csv").columns) == ["a", "x"]


@pytest.mark.parametrize("name", ["", " "])
def test_numbers_without_a_name_between_others_are_a_column(tmp_path, name):
    (tmp_path / "t.csv").write_text(f"a,{name},x\n7,15,0\n3,25,1\n5,20,1\n")
    with pytest.warns(UserWarning, match="columns without a name, which are called 'column2'"):
        assert read_frame(tmp_path / "t.csv")["column2"].tolist() == ["15", "25", "20"]
