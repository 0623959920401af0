"""Rows of tables that are likely none: rules, names again, types, comments, notes and sums."""

import re
from collections.abc import Iterable, Sequence
from itertools import islice, takewhile
from pathlib import Path
from typing import Any

import numpy as np

from multimargin.checks.names import listed, quoted
from multimargin.datasets.table_cells import is_nothing, is_number
from multimargin.notices import warn
from multimargin.targets.given import is_blank
from multimargin.targets.names import as_written, label_name

# What draws frames around tables, with characters of their own too, and between columns.
_RULE, _CORNERS = re.compile(r"[|+:=,;\s\u2500-\u257f-]+"), ("+", "\u250c", "\u2554", "\u256d")
_COLUMNS_OF_DASHES = re.compile(r"\s*(-+|=+)(?:\s+(-+|=+))+\s*$")
# As ClickHouse and Orange write below the names.
_TYPE = re.compile(
    r"(?:nullable\(|array\(|lowcardinality\()*(?:string|text|varchar|u?int(?:eger|[0-9]+)?|bigint"
    r"|float[0-9]*|double|decimal|numeric|real|bool(?:ean)?|date(?:time)?(?:64)?|timestamp|object"
    r"|continuous|discrete)(?:\([^()]*\))?\)*",
    re.IGNORECASE,
)
# A comment is one of so many rows at least.
_MANY_OF_A_KIND = 4
_MANY_NOTES = 9
_NOTE = re.compile(
    r"\s*(?:\(?[0-9][0-9,.]* *(?:rows?|records?|lines?|zeilen|lignes?|filas|righe)\b"
    r"|(?:sources?|notes?|exported|generated|created|downloaded|quelle|fuente|fonte)\b.*:|©|\*+ )",
    re.IGNORECASE,
)
# What stands between rows, too, and hardly is a name.
_SUBTOTALS = {"total", "grand total", "subtotal", "sub-total", "zwischensumme", "итого", "小计"}
_TOTALS = _SUBTOTALS | {
    *("totals", "sum", "sums", "average", "mean"),
    *("overall", "gesamt", "summe", "insgesamt", "mittelwert", "somme", "moyenne", "suma"),
    *("totale", "media", "всего", "合計", "合计", "总计"),
}


def refuse_rule(lines: Sequence[str], shown: Path, *, is_table: bool) -> None:
    """Raise ValueError for a table drawn with characters, a rule of dashes below its names."""
    for number, line in enumerate(lines[:5], start=1):
        has_dashes = re.search("--|:-|-:|==|[\u2500\u2550]", line)
        is_drawn = is_table or line.startswith(_CORNERS) or _COLUMNS_OF_DASHES.match(line)
        if is_drawn and has_dashes and not _RULE.sub("", line):
            raise ValueError(
                f"path: {shown}, line {number}: a line that only draws a rule, in "
                f"{quoted(line.strip())}; expected rows of cells: remove such lines"
            )


def refuse_types(frame: Any, shown: Path) -> None:
    """Raise ValueError for a first row that says which types the columns have."""
    first = _texts_of(frame, 0) if len(frame) else []
    if len(first) > 1 and all(map(_TYPE.fullmatch, first)):
        raise ValueError(
            f"path: {shown} has the types of its columns, {listed(first)}, in row 0; expected rows "
            "of cells below the names: remove such lines"
        )


def refuse_repeated_names(frame: Any, shown: Path) -> None:
    """Raise ValueError for a row of names, as of files in one, in whatever order and case."""
    names = {plain_name(name) for name in frame.columns} - {""}
    # A mark of byte order may stand before it.
    marked = {f"\ufeff{name}" for name in frame.columns}
    rows = _rows_of(frame.iloc[:, 0], {*frame.columns, *marked}) if frame.shape[1] > 1 else []
    # A survey repeats the name of a box where it is ticked, and has nothing else below.
    is_no_box = [
        len(rows) > 0 and not {*map(_text_of, column.tolist())} <= {name, ""}
        for name, column in frame.items()
    ]
    for row in rows:
        cells = [cell for cell, kept in zip(_texts_of(frame, row), is_no_box, strict=True) if kept]
        known = {plain_name(cell) for cell in cells} & names
        is_data = any(cell and is_number(cell) for cell in cells)
        if len(known) > 1 and 2 * len(known) > len(cells) and not is_data:
            raise ValueError(
                f"path: {shown} has the names of the columns again, {listed(cells)}, in row {row}; "
                "were several files concatenated? Remove such lines"
            )


def _texts_of(frame: Any, row: int) -> list[str]:
    return [_text_of(cell) for cell in frame.iloc[row].tolist()]


def _text_of(cell: Any) -> str:
    return "" if is_blank(cell) else as_written(cell).strip()


def warn_of_comments(first: Any) -> None:
    """Warn of a few rows whose first cell begins as a comment does."""
    from pandas import Series

    rows = np.flatnonzero(Series(first).str.match(r"#\s"))
    if 0 < _MANY_OF_A_KIND * len(rows) <= len(first):
        warn(
            f"row {rows[0]} begins with {quoted(first[rows[0]])}, unlike others; if that is a "
            "comment, remove it"
        )


def plain_name(name: str) -> str:
    """Return a name without capital letters and what is invisible."""
    return label_name(name).casefold()


def is_below_names(columns: Any) -> bool:
    """Return whether the first row has words, and the last numbers."""
    first, last = (list(map(as_written, columns.iloc[row])) for row in (0, -1))
    return not any(is_nothing(cell) or is_number(cell) for cell in first) and (
        all(map(is_number, last)) and not all(map(is_nothing, last))
    )


def warn_of_rows_below(frame: Any) -> None:
    """Warn of a last row that has one cell alone, unlike all others, of notes, and of sums."""

    def filled(row: Iterable[Any]) -> list[Any]:
        return [cell for cell in row if not is_blank(cell)]

    if frame.shape[1] < 2 or len(frame) < 3:
        return
    rows = (filled(frame.iloc[-back].tolist()) for back in range(1, len(frame)))
    notes = [row[0] for row in takewhile(lambda row: len(row) == 1, islice(rows, _MANY_NOTES))]
    is_note = any(_NOTE.match(as_written(cell)) for cell in notes)
    if len(notes) == 1 and not is_note:
        is_note = all(len(filled(row)) > 1 for row in frame[:-1].itertuples(index=False))
    if is_note:
        some = f"the last {len(notes)} rows have" if len(notes) > 1 else "the last row has"
        warn(
            f"{some} {quoted(notes[-1])} and nothing else, unlike others; if that is a note below "
            "the table, remove it"
        )
    last = {} if notes else dict(zip(frame.columns, frame.iloc[-1].tolist(), strict=True))
    sums = {column for column, cell in last.items() if type(cell) is str and _is_total(cell)}
    for column, words in {frame.columns[0]: _SUBTOTALS, **dict.fromkeys(sums, _TOTALS)}.items():
        found = _rows_of(frame[column], words)
        # Several below each other are names as others.
        if 0 < _MANY_OF_A_KIND * len(found) <= len(frame) or len(found) == 1:
            row = found[-1]
            warn(
                f"row {row} has {frame[column].iloc[row]!r} in the column {column!r}; if it is a "
                "row of sums, remove it"
            )


def _is_total(cell: str) -> bool:
    return cell.strip(" :").lower() in _TOTALS


def _rows_of(column: Any, words: Iterable[str]) -> list[int]:
    """Return the rows with one of some words alone, with capital letters or without."""
    forms = (str, str.lower, str.upper, str.title, str.capitalize)
    written = {form(word) + end for word in words for form in forms for end in ("", " ", ":")}
    try:
        return np.flatnonzero(column.isin(written)).tolist()
    except TypeError:
        # Of lists and objects.
        return []
