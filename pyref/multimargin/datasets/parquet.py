"""Tables in Parquet files, with the types that pandas and Hugging Face write beside them."""

import json
from collections.abc import Iterator, Mapping
from io import BytesIO
from pathlib import Path
from types import ModuleType
from typing import Any

from multimargin.checks.names import listed
from multimargin.datasets._reading import opened
from multimargin.targets.given import column_of, is_missing
from multimargin.typing import Frame


def read_parquet(file: Path, parquet: ModuleType, pandas: ModuleType) -> Frame:
    """Read a Parquet file; integers with missing values stay integers, and lists are lists."""
    with opened(file) as stream:
        packed = file.suffix.lower() != ".parquet"
        # Of this file alone: no folder above it is a column.
        table = parquet.ParquetFile(BytesIO(stream.read()) if packed else file).read()
    told = table.schema.metadata or {}
    by_pandas, by_hugging_face = (
        json.loads(told.get(key, b"{}")) for key in (b"pandas", b"huggingface")
    )
    index = by_pandas.get("index_columns", ())
    categories = {
        column.get("name")
        for column in by_pandas.get("columns", ())
        if column.get("pandas_type") == "categorical"
    }
    classes = dict(_names_of_classes(by_hugging_face))
    names = [name for name in table.column_names if name not in index]
    columns = []
    for name, cells in zip(table.column_names, table.columns, strict=True):
        if name not in index:
            column = _column_of(cells, pandas)
            if name in classes:
                column = pandas.Series(_named(column, classes[name], name), dtype=object)
            columns.append(column.astype("category") if name in categories else column)
    frame = pandas.DataFrame(dict(enumerate(columns)))
    frame.columns = names
    return frame


def _column_of(cells: Any, pandas: Any) -> Any:
    """Convert a column of Arrow to pandas."""
    from pyarrow import types

    if types.is_dictionary(cells.type):
        cells = cells.cast(cells.type.value_type)
    if types.is_map(cells.type):
        maps = [None if pairs is None else dict(pairs) for pairs in cells.to_pylist()]
        return pandas.Series(maps, dtype=object)
    kinds = (types.is_nested, types.is_decimal, types.is_binary, types.is_large_binary)
    if any(is_kind(cells.type) for is_kind in kinds):
        return pandas.Series(cells.to_pylist(), dtype=object)
    if cells.null_count and (types.is_integer(cells.type) or types.is_boolean(cells.type)):
        # Their missing ones make no floats.
        return cells.to_pandas(types_mapper=pandas.ArrowDtype)
    column = cells.to_pandas(date_as_object=False)
    if types.is_timestamp(cells.type) and cells.type.tz:
        # By the clock of the place.
        return column.dt.tz_localize(None)
    # Types hardly supported by pandas.
    return column.astype("float32") if column.dtype == "float16" else column


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
