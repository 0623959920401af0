"""Text with a delimiter between the cells: the dialect by a few rules, read strictly.

The suffix and the line of names determine the dialect, and a row that does not fit is an error with
its line.
"""

import csv
import io
import re
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice, pairwise
from pathlib import Path
from typing import IO, Any

from multimargin.checks.names import listed, quoted
from multimargin.datasets._reading import not_utf8, opened_text, reading
from multimargin.datasets.odd_rows import plain_name, refuse_rule
from multimargin.datasets.plain_rows import plain_rows
from multimargin.datasets.sources import BETWEEN_QUOTES, DELIMITERS
from multimargin.datasets.table_cells import is_number
from multimargin.datasets.text_arrays import joined_texts, text_maker
from multimargin.notices import silenced, warn
from multimargin.targets.given import is_missing
from multimargin.targets.names import label_name

# Maximum length of a column name.
_WORDS_OF_A_NAME = 4
# Occurs in no text: the separator for files with a single column.
_NONE = "\x1f"
_MADE_UP = re.compile(r"^(?:Unnamed: [0-9.]+(?:_level_[0-9]+)?|__index_level_[0-9]+__)$")
# First characters of other kinds of content.
_OTHER_CONTENT = {
    "JSON; name it .json, or .jsonl with an object in each line": r'\{\s*"[^"]*"\s*:|\[\s*\{',
    "HTML, a page of the web": r"<!doctype|<html|<head|<table",
    "XML": r"<\?xml",
    "a pointer of Git LFS; git lfs pull fetches the file": r"version https://git-lfs",
}
_TOLD = re.compile(r'"?sep=(.)"?\r?\n?', re.IGNORECASE)
_HEAD, HEAD_ROWS = 2**18, 200
# Rows whose cells are Python objects at a time.
_BLOCK = 2**9
# Lines end as they are written.
_opened = partial(opened_text, newline="")
# The module csv has a single limit of characters per cell for the whole process.
_LONGEST, _limit = 2**31 - 1, threading.RLock()


@contextmanager
def _cells_of_any_length() -> Iterator[None]:
    with _limit:
        before = csv.field_size_limit(_LONGEST)
        try:
            yield
        finally:
            csv.field_size_limit(before)


@dataclass(frozen=True)
class _Dialect:
    """Dialect of a file."""

    delimiter: str
    names: tuple[str, ...]  # What the columns are called, as it stands
    skipped: int  # Records above the first row, blank ones too
    row_names: bool = False  # Whether rows begin with a name that no column has, as R writes
    has_blanks: bool = False  # Whether blanks stand after quotes
    escape: str = '"'  # What stands before a quotation mark in quotes; empty where none quotes

    @property
    def width(self) -> int:
        """The number of cells of a row."""
        return len(self.names) + self.row_names


class _Misfit(ValueError):
    """A row of some lines that does not fit its dialect."""


@_cells_of_any_length()
def read_delimited(
    path: Path, ending: str, *, blank_rows: bool = False
) -> tuple[Sequence[str], list[Any]]:
    """Return the names of the columns of a file, and its cells, verbatim.

    An empty cell is the empty text; blanks in front are left out. Blank lines between rows of
    several columns are rows if `blank_rows` says so; those of one column always are.
    """
    dialect, lines = _dialect_of(path, ending)
    refuse_rule(lines, path, is_table=dialect.width > 1)
    names, cells = dialect.names, _read(path, dialect, blank_rows)
    if dialect.row_names:
        row_names, *cells = cells
        if len(set(row_names.tolist())) < len(row_names):
            raise ValueError(
                f"path: {path}: rows of different lengths: each has one cell more than the "
                f"{len(names)} columns of the first line, and the first cells are not names of "
                f"rows; is {dialect.delimiter!r} the separator, and is text with it in quotes?"
            )
    return names, cells


@_cells_of_any_length()
def names_at_the_top(path: Path, ending: str) -> list[str]:
    """Return the names of columns by the first lines of a file, those of empty columns, too."""
    with silenced(UserWarning), reading(path, "path"):
        dialect, _ = _dialect_of(path, ending)
    return [column_name(n) or f"column{k}" for k, n in enumerate(dialect.names, start=1)]


def _dialect_of(path: Path, ending: str) -> tuple[_Dialect, list[str]]:
    """Return the dialect of a file, and its first lines."""
    lines, told = _head(path)
    skipped = 1 if told else _n_comments(lines, DELIMITERS[ending])
    lines = lines[skipped:]
    return _dialect(lines, told or _delimiter(lines, ending), skipped), lines


def _n_comments(lines: Sequence[str], delimiters: str) -> int:
    """Count the lines at the top that begin with "#" and have fewer cells than what follows."""
    count = next((k for k, line in enumerate(lines) if not line.startswith("#")), 0)
    widths = [max(map(line.count, delimiters)) for line in lines[: count + 1]]
    while count and widths[count - 1] >= widths[-1]:
        # Names whose first one begins with "#".
        count -= 1
    if count:
        warn(f"the first line, {quoted(lines[0].strip())}, is read as a comment and left out")
    return count


def column_name(name: object) -> str:
    """Return the name of a column, empty for missing ones and those made up by pandas."""
    return "" if is_missing(name) else _MADE_UP.sub("", label_name(str(name)))


def _head(path: Path) -> tuple[list[str], str | None]:
    """Return the first lines of a file, with line ends, and the delimiter."""
    with _opened(path) as stream:
        lines = stream.readlines(_HEAD)
    if any("\0" in line for line in lines):
        raise ValueError(not_utf8(path))
    if not any(line.strip() for line in lines):
        raise ValueError(f"path: {path} is empty; expected names of columns in its first row")
    for what, start in _OTHER_CONTENT.items():
        if re.match(start, "".join(lines[:2]).lstrip(), re.IGNORECASE):
            raise ValueError(f"path: {path} is not delimited text, but begins like {what}")
    told = _TOLD.fullmatch(lines[0])
    return lines, told[1] if told else None


def _rows(lines: Iterable[str], delimiter: str) -> list[list[str]]:
    """Return the first rows of some lines, without blank ones."""
    rows: list[list[str]] = []
    # A quote may not be closed: those above it.
    with suppress(csv.Error):
        reader = csv.reader(lines, delimiter=delimiter, skipinitialspace=True)
        rows.extend(islice(filter(None, reader), HEAD_ROWS))
    return rows


def _delimiter(lines: Sequence[str], ending: str) -> str:
    """Return the delimiter, which occurs as often in the rows as between the names.

    Of several, it is the one with the most columns.
    """
    found, best = _NONE, (-1.0, 0)
    for delimiter in DELIMITERS[ending]:
        (names, *rows) = _rows(lines, delimiter) or [[]]
        if len(names) < 2:
            continue
        fitting = [_fits(row, len(names)) for row in rows]
        share = sum(fitting) / len(fitting) if fitting else 0.5
        if (share, len(names)) > best:
            found, best = delimiter, (share, len(names))
    if found == _NONE and BETWEEN_QUOTES.match("".join(lines).lstrip().encode()):
        return " "
    return found


def _fits(row: Sequence[str], count: int) -> float:
    if len(row) == count or (len(row) == count + 1 and not row[-1].strip()):
        return 1.0
    return 0.5 if len(row) == count + 1 else 0.0


def _dialect(lines: Sequence[str], delimiter: str, skipped: int) -> _Dialect:
    """Find the names of the columns, and whether the first line has them."""
    rows = _rows(lines, delimiter)
    names, rows = rows[0], rows[1:]
    blank = next(place for place, line in enumerate(lines) if line.strip())
    while names and not names[-1].strip() and rows and all(len(r) < len(names) for r in rows):
        names = names[:-1]
    numbered = numbered_names(names, rows)
    if numbered is not None:
        return _Dialect(delimiter, tuple(numbered), skipped)
    longer = bool(rows) and all(len(row) == len(names) + 1 for row in rows)
    longer = longer and any(row[-1].strip() for row in rows)
    if longer and any('\\"' in line for line in lines):
        # Marks in quotes that are not doubled.
        mended = _mended("".join(lines), _Dialect(delimiter, (), 0, escape="\\"))
        longer = any(len(row) != len(names) for row in _rows(mended, delimiter)[1:])
    # In quotes, unless R is told otherwise; text with a comma has a blank after it.
    in_quotes = all(line.startswith('"') for line in lines[blank + 1 : blank + 3])
    row_names = longer and (in_quotes or not any(f"{delimiter} " in line for line in lines))
    if row_names and not in_quotes and delimiter in ",;":
        warn(
            f"rows have one cell more than the names, {listed(names)}: the first cells, such "
            f"as {quoted(rows[0][0])}, are read as names of the rows, as R writes them; if they "
            "belong to the first column, put cells with the delimiter in quotes"
        )
    return _Dialect(delimiter, tuple(names), skipped + blank + 1, row_names)


def numbered_names(first: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str] | None:
    """Return numbers for names, and tell, where the first row of a table is none of names."""
    if not _is_data(first, rows):
        return None
    warn(
        f"the first row, {listed(first)}, holds data like the rows below, and no names; the "
        f"columns are called column1 to column{len(first)}: add a line of names"
    )
    return [f"column{number}" for number in range(1, len(first) + 1)]


def _is_data(first: Sequence[str], rows: Sequence[Sequence[str]]) -> bool:
    """Return whether the first row is data: each of its cells is as those below, and some recur.

    A number above numbers says so, unless columns are called by numbers; and so does a cell that
    is found below, unless it is short.
    """
    names = [*map(plain_name, first)]
    rows = [row for row in rows if len(row) == len(first) and [*map(plain_name, row)] != names]
    columns = [
        _Column(cell.strip(), [row[k].strip() for row in rows]) for k, cell in enumerate(first)
    ]
    if not rows or any(of.are_numbers and not is_number(of.first) for of in columns):
        # A word above numbers is a name.
        return False
    of_numbers = [of for of in columns if of.first and of.are_numbers]
    are_called = bool(of_numbers) and _are_called_by_numbers(of_numbers)
    if are_called and not columns[0].first:
        # Beside an index, which has no name.
        return False
    if len(columns) > 1 and all(of.recurs_among(2) for of in columns):
        return True
    if any(of.recurs_among(3) for of in columns) and any(
        is_number(cell) or len(cell.split()) > _WORDS_OF_A_NAME for cell in first
    ):
        return True
    return bool(of_numbers) and not are_called


@dataclass(frozen=True)
class _Column:
    """A cell of the first row, and those below it."""

    first: str
    below: list[str]

    @property
    def are_numbers(self) -> bool:
        """True if all cells below are numbers or stand for missing ones."""
        return all(map(is_number, self.below))

    def recurs_among(self, count: int) -> bool:
        """Return whether the first cell is one of several below; a tick may have its name alone."""
        different = {*self.below} - {""}
        return self.first in different and len(different) >= count


def _are_called_by_numbers(columns: Sequence[_Column]) -> bool:
    """Return whether columns of numbers have names such as 0, 1, 2 or years."""
    if not all(of.first.isdecimal() for of in columns):
        return False
    rising = [int(of.first) for of in columns]
    are_places = {b - a for a, b in pairwise(rising)} == {1}
    are_marks = {cell for of in columns for cell in of.below} <= {"", "0", "1"}
    are_years = all(1900 <= number <= 2100 for number in rising)
    return are_years or (are_places and (len(rising) > 2 or not are_marks))


def _read(path: Path, dialect: _Dialect, blank_rows: bool) -> list[Any]:
    """Read all cells with the dialect, or with other quotation marks if only these fit."""
    strictly = partial(_strictly, path, blank_rows=blank_rows or dialect.width == 1)
    mended = replace(dialect, has_blanks=True)
    found = strictly(dialect) or strictly(mended)
    is_escaped = found is None
    if found is None:
        found = strictly(replace(mended, escape="\\"))
    columns, has_breaks = found or ([()], True)
    if has_breaks and _is_row_by_row(path, dialect):
        literal = strictly(replace(dialect, escape=""))
        if literal is not None and len(literal[0][0]) > len(columns[0]):
            warn(
                "quotation marks are read literally: some are not closed, and without them "
                f"every line has the {len(dialect.names)} cells of a row"
            )
            return literal[0]
    if found is None:
        raise ValueError(_told_of(path, dialect))
    if is_escaped:
        warn("quotation marks within texts are escaped by backslashes")
    return columns


def _is_row_by_row(path: Path, dialect: _Dialect) -> bool:
    """Return whether every line has as many cells as there are names, ignoring quotes."""
    between, count = dialect.delimiter, dialect.width - 1
    with _opened(path) as stream:
        lines = islice(stream, dialect.skipped, None)
        return count > 0 and all(line.count(between) == count for line in lines if line.strip())


def _strictly(path: Path, dialect: _Dialect, *, blank_rows: bool) -> tuple[list[Any], bool] | None:
    """Return the columns if all rows fit, and whether a text has several lines, perhaps rows."""
    with suppress(csv.Error, _Misfit), _opened(path) as stream:
        reader = _reader_of(stream, dialect)
        list(islice(reader, dialect.skipped))
        above, width = reader.line_num, dialect.width
        if dialect.escape == '"' and not dialect.has_blanks:
            plain = plain_rows(path, dialect.delimiter, width, above=above, blank_rows=blank_rows)
            if plain is not None:
                return plain
        columns = _columns_of(_fitting(reader, dialect, blank_rows), width)
        return columns, reader.line_num > above + len(columns[0])
    return None


def _reader_of(stream: IO[str], dialect: _Dialect) -> Any:
    return csv.reader(
        _mended(stream.read(), dialect) if dialect.has_blanks else stream,
        delimiter=dialect.delimiter,
        quoting=csv.QUOTE_MINIMAL if dialect.escape else csv.QUOTE_NONE,
        skipinitialspace=True,
        strict=True,
    )


def _fitting(reader: Any, dialect: _Dialect, blank_rows: bool) -> Iterator[list[str]]:
    """Yield the rows, including blank lines between others if these are rows."""
    above = 0
    for row in reader:
        if len(row) != dialect.width:
            if _is_blank(row, dialect):
                above += blank_rows
                continue
            row = row[: _width_of(row, dialect)]
        if above:
            yield from [[""] * dialect.width] * above
            above = 0
        yield row


def _is_blank(row: Sequence[str], dialect: _Dialect) -> bool:
    return not row or (len(row) == 1 < dialect.width and not row[0].strip())


def _width_of(row: Sequence[str], dialect: _Dialect) -> int:
    """Return the cells of a row without blank ones at its end that have no name."""
    width = dialect.width
    if len(row) < width or any(map(str.strip, row[width:])):
        raise _Misfit("fewer" if len(row) < width else "more")
    return width


def _mended(text: str, dialect: _Dialect) -> Iterable[str]:
    """Return the lines of a text without blanks after quotes and backslashes before marks."""
    of_cell = rf"[^\r\n{re.escape(dialect.delimiter)}]"
    inside = r'[^"]*+(?:""[^"]*+)*+'
    if dialect.escape == "\\":
        inside = r'[^"\\]*+(?:(?:""|\\.)[^"\\]*+)*+'
    # A mark at the beginning of a cell begins quotes.
    quoted = re.compile(rf'(?<!{of_cell}) *("{inside}") *(?!{of_cell})', re.DOTALL)
    if dialect.escape != "\\":
        return io.StringIO(quoted.sub(r"\1", text), newline="")
    plain = partial(re.sub, r'\\(["\\])', lambda mark: mark[1].replace('"', '""'))
    return io.StringIO(quoted.sub(lambda cell: plain(cell[1]), text), newline="")


def _columns_of(rows: Iterator[Sequence[str]], width: int) -> list[Any]:
    """Return the cells of rows by column, as pandas holds texts."""
    columns: list[list[Any]] = [[] for _ in range(width)]
    make = text_maker()
    while block := list(islice(rows, _BLOCK)):
        for parts, cells in zip(columns, zip(*block, strict=True), strict=True):
            parts.append(make(cells))
    return joined_texts(columns)


def _told_of(path: Path, dialect: _Dialect) -> str:
    """Report the first row that does not fit, and why."""
    above, kind, row = 0, "", list[str]()
    with _opened(path) as stream:
        reader = _reader_of(stream, dialect)
        try:
            for number, row in enumerate(reader):
                if number >= dialect.skipped and not _is_blank(row, dialect):
                    _width_of(row, dialect)
                above = reader.line_num
        except _Misfit as error:
            kind = str(error)
        except csv.Error:
            # A quote that is not closed.
            pass
    with _opened(path) as stream:
        lines = "".join(islice(stream, above, reader.line_num))
        ends_early = lines.endswith("\r") and next(stream, "").endswith("\n")
    held = " ".join(lines.split())
    where = f"path: {path}, line {above + 1}"
    if not kind:
        return (
            f"{where}: an opening quotation mark is not closed properly, in {quoted(held)}; "
            "expected texts with quotation marks in quotes, and their own marks doubled"
        )
    advice = f"is the separator {dialect.delimiter!r}, are texts that contain it in quotes?"
    if kind == "fewer" and len(row) == 1:
        advice = "if it is a comment or a note, and no row, remove it"
    if kind == "fewer" and ends_early:
        advice = "a carriage return in a text ends the line there: put such texts in quotes"
    return (
        f"{where}: rows of different lengths: {kind} cells than the {len(dialect.names)} columns "
        f"of the first line, in {quoted(held)}; {advice}"
    )
