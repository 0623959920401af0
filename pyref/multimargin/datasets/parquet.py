"""Tables in Parquet files: types as they were written, also where Arrow's schema alone has them."""

import json
from base64 import b64decode
from collections.abc import Iterator, Mapping
from pathlib import Path
from struct import unpack_from
from types import ModuleType
from typing import Any

import numpy as np

from multimargin.checks.names import listed
from multimargin.datasets._reading import connected, pattern_of
from multimargin.targets.given import column_of, is_missing
from multimargin.typing import Frame

# Of Arrow's durations.
_UNITS = ("s", "ms", "us", "ns")
_DURATION = 18


def read_parquet(file: Path, pandas: ModuleType) -> Frame:
    """Read a Parquet file: whole numbers beside missing ones stay whole, lists are lists."""
    with connected() as connection:
        source = {"path": pattern_of(file)}
        described = connection.execute("DESCRIBE SELECT * FROM read_parquet($path)", source)
        types = {name: str(type_) for name, type_, *_ in described.fetchall()}
        metadata = connection.execute("SELECT key, value FROM parquet_kv_metadata($path)", source)
        told = {bytes(key): bytes(value) for key, value in metadata.fetchall()}
        by_pandas, by_hugging_face = (
            json.loads(told.get(key, b"{}")) for key in (b"pandas", b"huggingface")
        )
        index = by_pandas.get("index_columns", ())
        columns = {}
        for name, type_ in types.items():
            if name in index:
                continue
            quoted = '"' + name.replace('"', '""') + '"'
            # Without a time zone, which is for people.
            as_type = "TIMESTAMP" if type_.startswith("TIMESTAMP WITH") else type_
            query = f"SELECT CAST({quoted} AS {as_type}) AS c FROM read_parquet($path)"
            columns[name] = _column_of(connection.execute(query, source), type_, pandas)
    for name, unit in _durations(b64decode(told.get(b"ARROW:schema", b""))):
        if name in columns:
            columns[name] = columns[name].astype(object).astype(f"timedelta64[{unit}]")
    for name, names in _names_of_classes(by_hugging_face):
        if name in columns:
            columns[name] = pandas.Series(_named(columns[name], names, name), dtype=object)
    for column in by_pandas.get("columns", ()):
        if column.get("name") in columns and column.get("pandas_type") == "categorical":
            columns[column["name"]] = columns[column["name"]].astype("category")
    return pandas.DataFrame(columns)


def _column_of(found: Any, type_: str, pandas: Any) -> Any:
    """Return the cells of a query of one column."""
    if type_.endswith("]") or type_.startswith(("STRUCT", "MAP", "DECIMAL", "BLOB")):
        return pandas.Series([cell for (cell,) in found.fetchall()], dtype=object)
    cells = found.fetchnumpy()["c"]
    if not isinstance(cells, np.ma.MaskedArray):
        return pandas.Series(cells)
    column = pandas.Series(cells.data)
    if cells.dtype.kind in "iub":
        column = column.convert_dtypes()
    elif cells.dtype.kind == "O":
        column = column.astype(object)
    return column.mask(np.ma.getmaskarray(cells))


def _durations(schema: bytes) -> Iterator[tuple[str, str]]:
    """Yield the columns of durations and their units, which Parquet itself has as whole numbers.

    The schema is a message of Arrow's IPC format: tables of FlatBuffers, whose entries are found by
    the place of each in its definition.
    """

    def number(form: str, place: int) -> int:
        return int(unpack_from(f"<{form}", schema, place)[0])

    def target(place: int) -> int:
        return place + number("I", place)

    def entry(table: int, place: int) -> int:
        """Return where an entry of a table is; 0 where it has its default."""
        offsets = table - number("i", table)
        has_it = 4 + 2 * place < number("H", offsets)
        offset = number("H", offsets + 4 + 2 * place) if has_it else 0
        return offset and table + offset

    if not schema:
        return
    # After a mark and a length.
    message = target(8)
    fields = target(entry(target(entry(message, 2)), 1))
    for place in range(number("I", fields)):
        field = target(fields + 4 * (place + 1))
        if number("B", entry(field, 2)) == _DURATION:
            name, unit = target(entry(field, 0)), entry(target(entry(field, 3)), 0)
            text = schema[name + 4 : name + 4 + number("I", name)]
            yield text.decode(), _UNITS[number("H", unit) if unit else 1]


def _names_of_classes(told: Mapping[str, Any]) -> Iterator[tuple[str, list[str]]]:
    """Yield the columns of classes, or of lists of classes, that Hugging Face's files name."""
    for column, of in told.get("info", {}).get("features", {}).items():
        of = of[0] if isinstance(of, list) and of else of
        of = of.get("feature", of) if isinstance(of, dict) else of
        if isinstance(of, dict) and of.get("_type") == "ClassLabel" and of.get("names"):
            yield column, of["names"]


def _named(cells: Any, names: list[str], column: str) -> Any:
    """Return the names of classes in the place of their numbers."""

    def name(number: Any) -> str | None:
        # Below 0 stands what is not known.
        if is_missing(number) or number < 0:
            return None
        if number >= len(names):
            raise ValueError(
                f"the column {column!r} has the class {number}; expected less than {len(names)}, "
                f"for the names {listed(names)} that the file has for them"
            )
        return names[int(number)]

    return column_of(
        [name(one) for one in cell] if isinstance(cell, list) else name(cell)
        for cell in cells.tolist()
    )
