"""Text with a delimiter between the cells: the dialect by a few rules, read strictly by DuckDB.

DuckDB's own guess at a dialect is not used: where rows have different lengths it skips rows, or
takes another delimiter, without a word. Here the ending of the name and the line of names decide,
and a row that does not fit is an error with its line.
"""

import codecs
import csv
import io
import re
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import islice, pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from multimargin.checks.names import listed
from multimargin.datasets._reading import as_utf8, connected, not_utf8, pattern_of
from multimargin.datasets.sources import BETWEEN_QUOTES, DELIMITERS
from multimargin.datasets.table_cells import is_number
from multimargin.notices import warn
from multimargin.targets.names import label_name

# What a column is called has hardly more.
_WORDS_OF_A_NAME = 4
# Stands in no text: what separates the columns of a file that has one.
_NONE = "\x1f"
_MADE_UP = re.compile(r"^Unnamed: [0-9]+(?:_level_[0-9]+)?$")
_TOLD = re.compile(r'"?sep=(.)"?\r?\n?', re.IGNORECASE)
# Bytes of a line, unless one is longer; DuckDB reads as many at a time.
_LONGEST = 2**21
_HEAD_BYTES, HEAD_ROWS = 2**18, 200


@dataclass(frozen=True)
class _Dialect:
    """Dialect of a file."""

    delimiter: str
    names: tuple[str, ...]  # What the columns are called, as it stands
    skipped: int  # Records above the first row, blank ones too
    row_names: bool = False  # Whether rows begin with a name that no column has, as R writes
    quote: str = '"'
    escape: str = '"'

    @property
    def width(self) -> int:
        """The number of cells of a row."""
        return len(self.names) + self.row_names


@dataclass(frozen=True)
class _Found:
    """Cells of a file, read with a dialect."""

    columns: list[Any]
    rejected: list[tuple[Any, ...]]  # The first rows that do not fit: place, kind and text
    has_breaks: bool = False  # Whether a text has several lines, which may be rows

    @property
    def n_rows(self) -> int:
        """The number of rows that fit."""
        return len(self.columns[0])


def read_delimited(
    path: Path, ending: str, shown: Path, *, blank_rows: bool = False
) -> tuple[Sequence[str], list[NDArray[np.object_]]]:
    """Return the names of the columns of a file, and its cells, all as they are written.

    `shown` is the path in messages. An empty cell is the empty text. Blank lines between rows of
    several columns are rows if `blank_rows` says so; those of one column always are.
    """
    dialect, lines, lone = _dialect_of(path, ending, shown)
    _refuse_rule(lines, dialect, shown)
    if not lone:
        return dialect.names, _cells(path, dialect, shown, blank_rows)
    warn(f"the line of names, {lone!r:.60}, has a quotation mark that is not closed")
    written, plain = lone.encode(), lone.replace('"', "").encode()
    with _changed(path, lambda content: content.replace(written, plain, 1)) as copy:
        return dialect.names, _cells(copy, dialect, shown, blank_rows)


def _cells(path: Path, dialect: _Dialect, shown: Path, blank_rows: bool) -> list[Any]:
    """Return the cells of a file by column."""
    fitting, cells = _read(path, dialect, shown)
    if blank_rows and dialect.width > 1:
        cells = _with_blank_rows(path, fitting) or cells
    if dialect.row_names:
        names, *cells = cells
        if len(set(names.tolist())) < len(names):
            raise ValueError(
                f"path: {shown}: rows of different lengths: each has a cell more than the "
                f"{len(dialect.names)} columns of the first line, and the first cells are no names "
                f"of rows; is the separator {dialect.delimiter!r}, are texts with it in quotes?"
            )
    _refuse_repeated_names(dict(zip(dialect.names, cells, strict=True)), shown)
    return cells


def names_at_the_top(path: Path, ending: str) -> list[str]:
    """Return the names of columns by the first lines of a file, those of empty columns, too."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        dialect, _, _ = _dialect_of(path, ending, path)
    return [column_name(n) or f"column{k}" for k, n in enumerate(dialect.names, start=1)]


def _dialect_of(path: Path, ending: str, shown: Path) -> tuple[_Dialect, list[str], str]:
    """Return the dialect of a file, its first lines, and its line of names if a quote is lone."""
    lines, told = _head(path, shown)
    lone = _with_lone_quote(lines, told or DELIMITERS[ending])
    if lone:
        lines = [line.replace('"', "") if line.strip() == lone else line for line in lines]
    dialect = _dialect(lines, told or _delimiter(lines, ending), skipped=1 if told else 0)
    return dialect, lines, lone


def column_name(name: object) -> str:
    """Return the name of a column, empty where it is none, as that which pandas makes up."""
    return _MADE_UP.sub("", label_name(str(name)))


def _with_lone_quote(lines: Sequence[str], delimiters: str) -> str:
    """Return a line of names with a quotation mark that the row below shows to be none, else ""."""
    names, below = (*(line.strip() for line in lines if line.strip()), "", "")[:2]
    if [line.count('"') % 2 for line in (names, below)] != [1, 0]:
        return ""
    # A name may have several lines.
    fits = any(
        0 < names.count(between) == len(row) - 1
        for between in delimiters
        for row in _rows([below], between)
    )
    return names if fits else ""


def _refuse_rule(lines: Sequence[str], dialect: _Dialect, shown: Path) -> None:
    """Raise ValueError for a table drawn with characters, a rule of dashes below its names."""
    for number, line in enumerate(lines[:5], start=1):
        has_dashes = any(mark in line for mark in ("--", ":-", "-:"))
        is_table = dialect.width > 1 or line.startswith("+")
        if is_table and has_dashes and not line.strip("|+:- \t\r\n"):
            raise ValueError(
                f"path: {shown}, line {number}: a line that only draws a rule, in "
                f"{line.strip()!r:.70}; expected rows of cells: remove such lines"
            )


def _refuse_repeated_names(columns: Mapping[str, Any], shown: Path) -> None:
    """Raise ValueError for a row that repeats the names of the columns, as of files in one."""
    from pandas import Series

    (name, first), *others = columns.items()
    # A mark of byte order may stand before it.
    short = Series(first).str.len() <= len(name) + 2 if others else ()
    same = [k for k in np.flatnonzero(short) if _alike(first[k], name)]
    row = next((k for k in same if all(_alike(of[k], other) for other, of in others)), None)
    if row is not None:
        raise ValueError(
            f"path: {shown} has the names of the columns again, {listed(list(columns))}, in row "
            f"{row}; were several files concatenated? Remove such lines"
        )


def _alike(cell: str, name: str) -> bool:
    """Return whether a cell is a name but for capital letters and what is invisible."""
    return label_name(cell).casefold() == label_name(name).casefold()


def _head(path: Path, shown: Path) -> tuple[list[str], str | None]:
    """Return the first lines of a file, with their ends, and the delimiter that it tells."""
    with path.open("rb") as stream:
        content = stream.read(_HEAD_BYTES)
        is_whole = not stream.read(1)
    with as_utf8(path, shown):
        # The end may be in the middle of a character.
        text = codecs.getincrementaldecoder("utf-8-sig")().decode(content, is_whole)
    if "\0" in text:
        raise ValueError(not_utf8(path, shown))
    lines = io.StringIO(text, newline="").readlines()
    lines = lines if is_whole or len(lines) == 1 else lines[:-1]
    if not any(line.strip() for line in lines):
        raise ValueError(f"path: {shown} is empty; expected names of columns in its first row")
    told = _TOLD.fullmatch(lines[0])
    return (lines[1:], told[1]) if told else (lines, None)


def _rows(lines: Sequence[str], delimiter: str) -> list[list[str]]:
    """Return the first rows of some lines, without blank ones."""
    rows: list[list[str]] = []
    try:
        for row in csv.reader(lines, delimiter=delimiter, skipinitialspace=True):
            if row:
                rows.append(row)
            if len(rows) == HEAD_ROWS:
                break
    except csv.Error:
        # A quote that is not closed; DuckDB says where.
        pass
    return rows


def _delimiter(lines: Sequence[str], ending: str) -> str:
    """Return what stands between the names of the columns and, as often, in the rows below.

    Of several, it is what makes the most columns.
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
    """Find out what the columns are called, and whether the first line says so."""
    rows = _rows(lines, delimiter)
    names, rows = rows[0], rows[1:]
    blank = next(place for place, line in enumerate(lines) if line.strip())
    while names and not names[-1].strip() and rows and all(len(r) < len(names) for r in rows):
        names = names[:-1]
    numbered = numbered_names(names, rows)
    if numbered is not None:
        return _Dialect(delimiter, tuple(numbered), skipped)
    longer = bool(rows) and all(len(row) == len(names) + 1 for row in rows)
    if longer and not any(row[-1].strip() for row in rows):
        # DuckDB takes a delimiter at the end of a row, and no blanks after it.
        blanks = any(line.rstrip() != line.rstrip("\r\n") for line in lines[blank + 1 :])
        names = [*names, ""] if blanks else names
        longer = False
    # In quotes, unless R is told otherwise; text with a comma has a blank after it.
    in_quotes = all(line.startswith('"') for line in lines[blank + 1 : blank + 3])
    row_names = longer and (in_quotes or not any(f"{delimiter} " in line for line in lines))
    if row_names and not in_quotes and delimiter in ",;":
        warn(
            f"rows have a cell more than the line of names, {listed(names)}: the first cells, such "
            f"as {rows[0][0]!r:.40}, are taken for names of the rows, as R writes them; if they "
            "belong to the first column, put cells with the delimiter in quotes"
        )
    return _Dialect(delimiter, tuple(names), skipped + blank + 1, row_names)


def numbered_names(first: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str] | None:
    """Return numbers for names, and tell, where the first row of a table is none of names."""
    if not _is_data(first, rows):
        return None
    warn(
        f"the first row, {listed(first)}, holds data like the rows below, and no names; the "
        f"columns are called column1 to column{len(first)}: write names above"
    )
    return [f"column{number}" for number in range(1, len(first) + 1)]


def _is_data(first: Sequence[str], rows: Sequence[Sequence[str]]) -> bool:
    """Return whether the first row has no names: numbers where all others have, or their cells."""
    rows = [row for row in rows if len(row) == len(first) and not all(map(_alike, row, first))]
    # A word above numbers is a name.
    if any(
        not is_number(cell) and all(is_number(row[place]) for row in rows)
        for place, cell in enumerate(first)
    ):
        return False
    # Where somebody has ticked a box, a survey repeats its name, and has nothing else below.
    below = [{row[place].strip() for row in rows} - {""} for place in range(len(first))]
    recurs = any(
        c.strip() in found and len(found) > 2 for c, found in zip(first, below, strict=True)
    )
    if recurs and any(is_number(cell) or len(cell.split()) > _WORDS_OF_A_NAME for cell in first):
        return True
    numbers = [
        place
        for place, cell in enumerate(first)
        if cell.strip() and is_number(cell) and all(is_number(row[place]) for row in rows)
    ]
    if not rows or not numbers:
        return False
    found = [first[place].strip() for place in numbers]
    if not all(number.isdecimal() for number in found):
        return True
    # Columns may be called 0, 1, 2 or by years.
    rising = [int(number) for number in found]
    steps = {b - a for a, b in pairwise(rising)}
    is_marks = {row[place].strip() for row in rows for place in numbers} <= {"0", "1", ""}
    return not (steps == {1} and (len(found) > 2 or not is_marks)) and not all(
        1900 <= number <= 2100 for number in rising
    )


def _read(path: Path, dialect: _Dialect, shown: Path) -> tuple[_Dialect, list[Any]]:
    """Read all cells with the dialect, or with other marks of quotation where these alone fit."""
    found = _strictly(path, dialect)
    if found.rejected:
        escaped = replace(dialect, escape="\\")
        if not (other := _strictly(path, escaped)).rejected:
            warn("quotation marks within texts are escaped by backslashes")
            return escaped, other.columns
    if (found.rejected or found.has_breaks) and _is_row_by_row(path, dialect):
        literal = replace(dialect, quote="", escape="")
        other = _strictly(path, literal)
        if not other.rejected and (found.rejected or other.n_rows > found.n_rows):
            warn(
                "quotation marks are read literally: some are not closed, and without them every "
                f"line has the {len(dialect.names)} cells of a row"
            )
            return literal, other.columns
    if found.rejected:
        _refuse(path, found.rejected, dialect, shown)
    return dialect, found.columns


def _is_row_by_row(path: Path, dialect: _Dialect) -> bool:
    """Return whether every line has as many cells as there are names, whatever is in quotes."""
    between, count = dialect.delimiter.encode(), dialect.width - 1
    with path.open("rb") as stream:
        lines = islice(stream, dialect.skipped, None)
        return count > 0 and all(line.count(between) == count for line in lines if line.strip())


def _strictly(path: Path, dialect: _Dialect, longest: int = _LONGEST) -> _Found:
    """Read a file with a dialect; `longest` are the bytes of its longest line."""
    import duckdb

    columns = {f"c{place}": "VARCHAR" for place in range(dialect.width)}
    try:
        with connected() as connection:
            query = connection.sql(
                "FROM read_csv($path, auto_detect=false, header=false, skip=$skip, "
                f"delim=$delimiter, quote=$quote, escape=$escape, columns={columns}, "
                f"force_not_null={list(columns)}, strict_mode=true, null_padding=false, "
                "store_rejects=true, rejects_limit=20, max_line_size=$longest, "
                "buffer_size=$buffer)",
                params={
                    "path": pattern_of(path),
                    "skip": dialect.skipped,
                    "delimiter": dialect.delimiter,
                    "quote": dialect.quote,
                    "escape": dialect.escape,
                    "longest": longest,
                    "buffer": 16 * longest if longest == _LONGEST else 2 * longest,
                },
            )
            cells, has_breaks = _columns_of(query)
            rejected = connection.execute(
                "SELECT line_byte_position, error_type, csv_line FROM reject_errors ORDER BY line"
            ).fetchall()
            found = _Found(cells, rejected, has_breaks)
    except duckdb.InvalidInputException as error:
        if "invalid state" not in str(error) or not _ends_in_two_ways(path):
            raise
        found = _Found([], [(0, "lines that end in two ways", "")])
    if found.rejected and _ends_in_two_ways(path):
        with _changed(path, lambda content: re.sub(b"\r\n?", b"\n", content)) as copy:
            return _strictly(copy, dialect)
    if longest == _LONGEST and any("LINE SIZE" in kind for _, kind, _ in found.rejected):
        return _strictly(path, dialect, max(path.stat().st_size, longest + 1))
    return found


def _ends_in_two_ways(path: Path) -> bool:
    """Return whether lines of a file end in different ways, as of files that were put together."""
    content = path.read_bytes()
    both, cr, lf = (content.count(end) for end in (b"\r\n", b"\r", b"\n"))
    return sum(count > 0 for count in (both, cr - both, lf - both)) > 1


@contextmanager
def _changed(path: Path, change: Callable[[bytes], bytes]) -> Iterator[Path]:
    """Give a changed copy of a file for the while."""
    with TemporaryDirectory() as folder:
        copy = Path(folder, path.name)
        copy.write_bytes(change(path.read_bytes()))
        yield copy


def _with_blank_rows(path: Path, dialect: _Dialect) -> list[Any] | None:
    """Read a file whose blank lines are rows without anything; None if it has no such lines."""
    delimiter = dialect.delimiter.encode()
    inside = {"": b"", '"': b'(?:[^"]|"")*', "\\": rb'(?:[^"\\]|\\.)*'}[dialect.escape]
    # Texts in quotes are passed over: a quotation mark begins one at the beginning of a cell.
    text = b'(?<![^\r\n%b])"%b"|' % (re.escape(delimiter), inside) if dialect.quote else b""
    blank = re.compile(text + rb"(?<=\n)(?=\r?\n)", re.DOTALL)
    row = delimiter * (dialect.width - 1)
    # Blank lines at the end are none.
    content = path.read_bytes().removeprefix(codecs.BOM_UTF8).rstrip(b"\r\n")
    if not re.search(rb"\n\r?\n", content):
        return None
    with _changed(path, lambda _: blank.sub(lambda found: found[0] or row, content)) as copy:
        return _strictly(copy, dialect).columns


def _columns_of(query: Any) -> tuple[list[Any], bool]:
    """Return the columns of texts of a query as pandas holds them, and whether one has a break."""
    from pandas import Series

    of_text = Series([""]).dtype
    if getattr(of_text, "storage", "") != "pyarrow":
        objects = [np.ma.getdata(column) for column in query.fetchnumpy().values()]
        return objects, any("\n" in cell for column in objects for cell in column)
    # Without an object of Python for each cell.
    texts = query.to_arrow_table().columns
    contents = [chunk.buffers()[2] for text in texts for chunk in text.chunks]
    has_breaks = any((np.frombuffer(c or b"", np.uint8) == ord("\n")).any() for c in contents)
    return [type(Series([""]).array)(text, dtype=of_text) for text in texts], has_breaks


def _refuse(
    path: Path, rejected: Sequence[tuple[Any, ...]], dialect: _Dialect, shown: Path
) -> NoReturn:
    """Raise ValueError for rows that do not fit, with the first of them."""
    if any(kind == "INVALID ENCODING" for _, kind, _ in rejected):
        raise ValueError(not_utf8(path, shown))
    place, kind, text = rejected[0]
    with path.open("rb") as stream:
        # A record may have several lines.
        before = stream.read(place) + (b"\n" if text.startswith("\n") else b"")
    line = 1 + max(before.count(b"\n"), before.count(b"\r"))
    where, held = f"path: {shown}, line {line}", f"{' '.join(text.split())!r:.70}"
    if kind == "UNQUOTED VALUE":
        raise ValueError(
            f"{where}: an opening quotation mark is not closed properly, in {held}; expected "
            "texts with quotation marks in quotes, and their own marks doubled"
        )
    if kind not in ("MISSING COLUMNS", "TOO MANY COLUMNS"):
        raise ValueError(f"{where}: {str(kind).lower()}: {held}")
    raise ValueError(
        f"{where}: rows of different lengths: {'fewer' if kind[0] == 'M' else 'more'} cells than "
        f"the {len(dialect.names)} columns of the first line, in {held}; is the separator "
        f"{dialect.delimiter!r}, are texts with it in quotes?"
    )
