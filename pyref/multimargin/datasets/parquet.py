"""Tables in Parquet files: types as they were written, also where Arrow's schema alone has them."""

import json
from base64 import b64decode
from collections.abc import Iterator, Mapping
from pathlib import Path
from struct import unpack_from
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

from multimargin.checks.names import listed
from multimargin.datasets._reading import connected, pattern_of
from multimargin.targets.given import column_of, is_missing
from multimargin.typing import Column, Frame

# Of Arrow's durations and moments.
_UNITS = ("s", "ms", "us", "ns")
_TIMESTAMP, _DURATION = 10, 18
# Of short, long and fixed lists, and of views of lists.
_LISTS = {12, 21, 16, 25, 26}
# Lists in lists; a damaged file may have a list in itself.
_DEEPEST = 9


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
    for time in _times(b64decode(told.get(b"ARROW:schema", b""))):
        if time.column in columns:
            columns[time.column] = time.of(columns[time.column])
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


class _Times(NamedTuple):
    """A column of durations, or of moments by the clock of a place."""

    column: str
    unit: str  # Of durations
    zone: str  # Of moments
    is_inside: bool  # Whether these are in lists

    def of(self, cells: Column) -> Column:
        """Return what Parquet has as whole numbers, and as moments of UTC."""
        if self.zone:
            there = cells.dt.tz_localize("UTC").dt.tz_convert(self.zone)
            return there.dt.tz_localize(None)
        if not self.is_inside:
            return cells.astype(object).astype(f"timedelta64[{self.unit}]")
        timed = column_of(map(self._inside, cells.tolist()))
        return type(cells)(timed, dtype=object)

    def _inside(self, cell: Any) -> Any:
        from pandas import Timedelta

        if isinstance(cell, list):
            return list(map(self._inside, cell))
        return Timedelta(cell, self.unit) if isinstance(cell, int) else cell


def _times(schema: bytes) -> Iterator[_Times]:
    """Yield what Arrow's schema says of times, of which Parquet itself knows less.

    It is a message of Arrow's IPC format: tables of FlatBuffers, whose entries are found by the
    place of each in its definition.
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

    def fields_of(table: int, place: int) -> Iterator[int]:
        """Yield the fields that an entry of a table lists."""
        fields = entry(table, place) and target(entry(table, place))
        for number_of_field in range(number("I", fields) if fields else 0):
            yield target(fields + 4 * (number_of_field + 1))

    def text(place: int) -> str:
        start = target(place)
        return schema[start + 4 : start + 4 + number("I", start)].decode()

    if not schema:
        return
    # After a mark and a length.
    for field in fields_of(target(entry(target(8), 2)), 1):
        name, inner = text(entry(field, 0)), field
        for _ in range(_DEEPEST):
            kind = number("B", entry(inner, 2))
            if kind not in _LISTS:
                break
            inner = next(fields_of(inner, 5))
        if kind == _DURATION:
            unit = entry(target(entry(inner, 3)), 0)
            yield _Times(name, _UNITS[number("H", unit) if unit else 1], "", inner != field)
        elif kind == _TIMESTAMP and inner == field and (zone := entry(target(entry(field, 3)), 1)):
            yield _Times(name, "", text(zone), False)


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
