"""Tables in files of every kind."""

import re
from collections.abc import Iterator, Mapping
from decimal import Decimal
from io import BytesIO
from json import JSONDecoder
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from multimargin.checks.memory import check_file_fits
from multimargin.checks.names import first_repeated, listed, quoted, unique_names
from multimargin.checks.paths import existing_file
from multimargin.datasets._reading import (
    check_unpacked,
    imported,
    opened,
    opened_text,
    reading,
    uncompressed,
)
from multimargin.datasets.arff_rows import frame_of_arff
from multimargin.datasets.delimited import HEAD_ROWS, column_name, numbered_names, read_delimited
from multimargin.datasets.odd_rows import (
    is_below_names,
    refuse_repeated_names,
    refuse_second_names,
    warn_of_comments,
    warn_of_note,
)
from multimargin.datasets.parquet import read_parquet
from multimargin.datasets.sources import LINES, OBJECTS, TABLE_KINDS, WORKBOOKS, tables_at
from multimargin.datasets.table_cells import lists_of_rows
from multimargin.datasets.text_arrays import are_blank
from multimargin.notices import warn
from multimargin.targets.given import column_of, is_missing
from multimargin.targets.names import as_written
from multimargin.typing import Frame

# Names of the list of rows, if several lists have objects.
_LISTS_OF_ROWS = ("rows", "data", "records", "items", "results")
# In files of Label Studio, Hugging Face's viewer, Jira, Elasticsearch, and GeoJSON.
_CELLS = ("data", "row", "fields", "_source", "properties")
# First bytes of .xlsx and .ods, and of older workbooks.
_OF_WORKBOOKS = (b"PK", b"\xd0\xcf\x11\xe0", b"\x09\x08")
# Commas after lines of JSON are left over from a list.
_TO_VALUE = re.compile(r"[\s,]*(?=[^\s,])")


def read_frame(path: Path, *, blank_rows: bool = False) -> Frame:
    """Read a table; the names of its columns are texts, and so are cells of files without types.

    `blank_rows` says that blank lines between rows of text are rows, too.
    """
    files = tables_at(path) or [path]
    if len(files) > 1:
        # Some programs write an empty part.
        files = [file for file in files if file.stat().st_size > 0]
    check_file_fits(path, sum(file.stat().st_size for file in files if file.is_file()))
    frame = stacked({str(file): _read_file(file, blank_rows) for file in files})
    if not blank_rows:
        frame = _without_blank_rows(frame)
    if frame.shape[0] == 0:
        raise ValueError(f"path: {path} has no rows below the names of its columns")
    warn_of_comments(frame)
    warn_of_note(frame)
    return frame


def _without_blank_rows(frame: Any) -> Any:
    """Omit rows of several columns that are blank in all, and report them."""
    blank = np.arange(len(frame) if frame.shape[1] > 1 else 0)
    for _, column in frame.items():
        if not blank.size:
            return frame
        blank = blank[are_blank(column.iloc[blank])]
    if not blank.size:
        return frame
    rows = f"{blank.size} rows have" if blank.size > 1 else "a row has"
    warn(f"{rows} no values, left out; the first is row {blank[0]}")
    return frame.drop(index=blank).reset_index(drop=True)


def stacked(frames: Mapping[str, Frame]) -> Frame:
    """Return the rows of tables as one; raise ValueError unless all have the same columns.

    No two may have the same rows, either, unless it is a single one.
    """
    # By their first rows: of many parts, not each is compared with each.
    like: dict[str, tuple[str, Frame]] = {}
    for part, table in frames.items():
        twin, rows = like.setdefault(repr(table[:3].to_numpy().tolist()), (part, table))
        if len(table) > 1 and twin != part and table.equals(rows):
            raise ValueError(f"path: {twin} and {part} have the same rows; expected each part once")
    (first_name, first), *others = frames.items()
    if not others:
        return first
    same = [first]
    for name, frame in others:
        if differing := set(frame.columns) ^ set(first.columns):
            raise ValueError(
                f"{first_name} and {name} have different columns: {listed(sorted(differing))} "
                "only in one of them"
            )
        # As objects: cells of different types stay what they are.
        types = {c: object for c in first.columns if frame[c].dtype != first[c].dtype}
        same.append(frame.astype(types))
    return imported("pandas", "tables").concat(same, ignore_index=True)


def _read_file(file: Path, blank_rows: bool) -> Any:
    existing_file(file, "path")
    kind = uncompressed(file).suffix.lower()
    if kind not in (*TABLE_KINDS, ".arff"):
        raise ValueError(
            f"path: {file} is not a table; expected a file that ends in {', '.join(TABLE_KINDS)}"
        )
    what = f"tables such as {file.name}"
    pandas = imported("pandas", what)
    if kind == ".arff":
        return with_plain_names(frame_of_arff(file, pandas), f"path: {file}")
    with reading(file, "path"):
        check_unpacked(file)
        if kind in WORKBOOKS:
            frame = _read_workbook(file, pandas)
        elif kind == ".parquet":
            frame = read_parquet(file, imported("pyarrow.parquet", what), pandas)
        else:
            frame = _read_text(file, kind, blank_rows)
    frame = with_plain_names(_with_lists(frame, file), f"path: {file}")
    refuse_second_names(frame, file)
    refuse_repeated_names(frame, file)
    return frame


def _read_text(text: Path, kind: str, blank_rows: bool) -> Any:
    if kind in OBJECTS:
        return frame_of(_read_objects(text, kind, blank_rows))
    names, cells = read_delimited(text, kind, blank_rows=blank_rows)
    frame = frame_of(dict(enumerate(cells)))
    frame.columns = names
    return frame


def _with_lists(frame: Any, file: Path) -> Any:
    """Join columns with one name, as Jira writes labels, into one of lists, and report it."""
    places: dict[str, list[int]] = {}
    for place, name in enumerate(map(column_name, frame.columns)):
        places.setdefault(name, []).append(place)
    repeated = {name: of for name, of in places.items() if name and len(of) > 1}
    if not repeated:
        return frame
    names = listed([*repeated])
    if len(frame) and all(is_below_names(frame.iloc[:, of]) for of in repeated.values()):
        raise ValueError(
            f"path: {file}: names of columns in two lines, {names} several times in the first; "
            "expected one line of different names, as pandas' frame.columns.map('_'.join) makes it"
        )
    warn(f"{file} has several columns named {names}: each is read as one, of lists")
    for same in repeated.values():
        frame.isetitem(same[0], lists_of_rows(frame.iloc[:, same]))
    left_out = [place for same in repeated.values() for place in same[1:]]
    return frame.iloc[:, np.setdiff1d(range(frame.shape[1]), left_out)]


def frame_of(columns: Mapping[Any, NDArray[np.generic]], index: ArrayLike | None = None) -> Frame:
    """Return a data frame of objects: pandas would check each cell to find a type."""
    pandas = imported("pandas", "tables")
    series = {
        name: pandas.Series(cells, dtype=cells.dtype, index=index)
        for name, cells in columns.items()
    }
    return pandas.DataFrame(series, index=index)


def with_plain_names(frame: Frame, what: str) -> Frame:
    """Return a frame whose columns have names without blanks around them, and nothing invisible.

    One without a name that holds nothing is left out, and so is an index: the first column, or one
    that pandas has named.
    """
    if frame.columns.nlevels > 1:
        raise ValueError(
            f"{what} has names of columns in {frame.columns.nlevels} lines, such as "
            f"{frame.columns[0]!r}; expected one of different names, as pandas' "
            "frame.columns.map('_'.join) makes it"
        )
    names = [column_name(column) for column in frame.columns]
    kept = [place for place, name in enumerate(names) if name or not _says_nothing(frame, place)]
    if len(kept) < len(names):
        frame = frame.iloc[:, kept]
    found = [names[place] or f"column{place + 1}" for place in kept]
    unnamed = [name for name, place in zip(found, kept, strict=True) if place and not names[place]]
    if unnamed:
        warn(
            f"{what} has columns without a name, which are called {listed(unnamed)}; expected the "
            "names of all columns in one line"
        )
    repeated = first_repeated(found)
    if repeated is not None:
        raise ValueError(f"{what} has several columns named {repeated!r}; expected different names")
    frame.columns = found
    return frame


def _says_nothing(frame: Any, place: int) -> bool:
    """Return whether a column is blank, or an index, which numbers the rows from any number."""
    cells = frame.iloc[:, place].tolist()
    texts = [as_written(cell) for cell in cells if not is_missing(cell)]
    numbers = {text for text in texts if re.fullmatch("[0-9]{1,15}", text)}
    is_index = len(numbers) == len(cells) and (place == 0 or str(frame.columns[place]).strip())
    return bool(is_index) or not any(map(str.strip, texts))


def _read_workbook(file: Path, pandas: Any) -> Any:
    """Read the first sheet of a workbook; its first row names the columns."""
    calamine = imported("python_calamine", f"tables such as {file.name}")
    with opened(file) as stream:
        content = stream.read()
    if not content.startswith(_OF_WORKBOOKS):
        raise ValueError(
            f"path: {file} is not a workbook, but begins with {quoted(content[:60])}; if that "
            "is text, name the file .csv, otherwise save it as .xlsx"
        )
    book = calamine.CalamineWorkbook.from_filelike(BytesIO(content))
    if len(book.sheet_names) > 1:
        warn(f"{file.name} has the sheets {listed(book.sheet_names)}, of which the first is read")
    rows = book.get_sheet_by_index(0).to_python() or [[]]
    names, *head = [[as_written(cell) for cell in row] for row in rows[:HEAD_ROWS]]
    numbered = numbered_names(names, head)
    cells = [[None if cell == "" else cell for cell in row] for row in rows[numbered is None :]]
    return pandas.DataFrame(cells, columns=numbered or names, dtype=object)


def _read_objects(file: Path, kind: str, blank_rows: bool) -> dict[str, NDArray[Any]]:
    """Read a file with JSON objects one after another, or a list of them, one per row."""
    with opened_text(file) as stream:
        text = stream.read()
    values = list(_values_in(text, file))
    rows: list[Mapping[str, Any]] = []
    is_line = kind in LINES and "\n" not in text.strip()
    if len(values) == 1 and (isinstance(values[0][1], list) or not is_line):
        rows += _rows_of(file, values[0][1])
    else:
        for line, value, n_blank in values:
            rows += [{}] * (n_blank if blank_rows and rows else 0)
            rows.append(_object(value, f"{file}, line {line}"))
    names = list(dict.fromkeys(key for row in rows for key in row))
    return {name: column_of([row.get(name) for row in rows]) for name in names}


def _values_in(text: str, file: Path) -> Iterator[tuple[int, Any, int]]:
    """Yield the values of JSON in a text: the line, the value, and the blank lines above it."""
    decode = JSONDecoder(
        parse_float=_Written, parse_constant=float, object_pairs_hook=unique_names
    ).raw_decode
    place, line = 0, 1
    while match := _TO_VALUE.match(text, place):
        n_breaks, place = match[0].count("\n"), match.end()
        line += n_breaks
        try:
            value, end = decode(text, place)
        except ValueError as error:
            # An object with a name twice has no place.
            at = getattr(error, "pos", place)
            line += text.count("\n", place, at)
            raise ValueError(
                f"path: {file}, line {line} is not JSON: {getattr(error, 'msg', error)}, at "
                f"{quoted(' '.join(text[max(at - 20, 0) : at + 60].split()))}"
            ) from error
        yield line, value, n_breaks - 1
        line += text.count("\n", place, end)
        place = end


def _rows_of(file: Path, found: Any) -> Iterator[Mapping[str, Any]]:
    """Yield the objects in a list, or the rows in an object."""
    if not isinstance(found, list):
        try:
            found, told = _rows_in(found)
        except (ValueError, TypeError, AttributeError) as error:
            reason = f", but {error}" if type(error) is ValueError else ""
            raise ValueError(
                f"path: {file} holds no JSON list{reason}; expected one of objects, a row each, "
                "or an object in each line (to_json(orient='records') of pandas)"
            ) from error
        if told:
            warn(f"{file.name} holds one JSON object: {told}")
    for number, row in enumerate(found, start=1):
        yield _object(row, f"{file}, element {number}")


def _rows_in(table: dict[str, Any]) -> tuple[list[Any], str]:
    """Return the rows of a table in one object, and what they are, empty where there is no doubt.

    Raises an error for an object that is none.
    """
    kinds = {*map(type, table.values())}
    lists = [key for key, value in table.items() if isinstance(value, list) and value]
    of_rows = [key for key in lists if all(isinstance(row, dict) for row in table[key])]
    # Of columns or rows, all are lists or objects.
    is_row = not of_rows or any(isinstance(table.get(key), dict) for key in _CELLS)
    if is_row and kinds - {list, dict}:
        return [table], "it is read as one row"
    lengths = {len(value) for value in table.values() if isinstance(value, list)}
    # Columns, some of which have objects.
    are_columns = kinds == {list} and len(lengths) == 1 and len(of_rows) < len(table)
    if len(of_rows) > 1:
        of_rows = [key for key in of_rows if key in _LISTS_OF_ROWS] or of_rows
    if len(of_rows) == 1 and not are_columns:
        others = [key for key in lists if key != of_rows[0]]
        left_out = f", and {listed(others)} left out" if others else ""
        return table[of_rows[0]], f"the list {of_rows[0]!r} is read as the rows{left_out}"
    if of_rows and not are_columns:
        raise ValueError(f"several, {listed(of_rows)}")
    pandas = imported("pandas", "tables")
    if {"columns", "data"} <= {*lists}:
        frame = pandas.DataFrame(table["data"], columns=table["columns"], dtype=object)
        return frame.to_dict("records"), "the list 'data' is read as the rows"
    if kinds not in ({list}, {dict}):
        raise ValueError("an object that has neither rows nor columns")
    frame = pandas.DataFrame(table, dtype=object)
    n_inside, n_entries = frame.shape
    # Of columns and rows, the latter are numbered, or more.
    inside, entries = (all(map(str.isdecimal, map(str, names))) for names in (frame.index, frame))
    if kinds == {dict} and inside == entries and n_inside == n_entries:
        raise ValueError("an object whose entries may be rows or columns")
    if kinds == {dict} and (entries if inside != entries else n_entries > n_inside):
        return frame.T.to_dict("records"), "each entry is read as a row"
    # As pandas writes them unless told otherwise: nothing else has such names.
    is_plain = not entries and [*frame.index] == [*map(str, range(max(n_inside, 2)))]
    return frame.to_dict("records"), "" if is_plain else "each entry is read as a column"


def _object(row: Any, where: str) -> Mapping[str, Any]:
    """Return a row, with the entries of an object that holds the cells of it."""
    if not isinstance(row, dict):
        raise ValueError(f"path: {where} is not a JSON object, as a row is, but {quoted(str(row))}")
    inner = next((key for key in _CELLS if isinstance(row.get(key), dict)), None)
    if inner is None:
        return row
    rest = {name: cell for name, cell in row.items() if name != inner}
    cells = row[inner].items()
    return rest | {f"{inner}.{name}" if name in rest else name: cell for name, cell in cells}


class _Written(Decimal):
    """A number of JSON with all of its digits."""

    __repr__ = Decimal.__str__
