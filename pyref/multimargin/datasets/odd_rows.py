"""Rows of tables that are likely none: rules, names again, types, comments, notes and sums."""

import re
from collections.abc import Iterable, Mapping, Sequence
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
_TOTAL = re.compile(
    r"\s*(?:(?:grand |sub-?)?totals?|sums?|averages?|means?|overall|gesamt|summe|insgesamt"
    r"|mittelwert|somme|moyenne|suma|totale|media|итого|всего|合計|合计|总计|小计)\s*:?\s*",
    re.IGNORECASE,
)


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


def refuse_types(first: Sequence[str], shown: Path) -> None:
    """Raise ValueError for a first row that says which types the columns have."""
    if len(first) > 1 and all(_TYPE.fullmatch(cell.strip()) for cell in first):
        raise ValueError(
            f"path: {shown} has the types of its columns, {listed(first)}, in row 0; expected rows "
            "of cells below the names: remove such lines"
        )


def refuse_repeated_names(columns: Mapping[str, Any], shown: Path) -> None:
    """Raise ValueError for a row of names, as of files in one, in whatever order and case."""
    from pandas import Series

    names = {plain_name(name) for name in columns} - {""}
    # A mark of byte order may stand before it.
    first = Series(next(iter(columns.values()))).str.strip("\ufeff\u200b ").str.lower()
    rows = np.flatnonzero(first.isin(names)) if len(columns) > 1 else ()
    # A survey repeats the name of a box where it is ticked, and has nothing else below.
    boxes = {
        name for name, of in columns.items() if len(rows) and {*map(str.strip, of)} <= {name, ""}
    }
    for row in rows:
        cells = [of[row] for name, of in columns.items() if name not in boxes]
        known = {plain_name(cell) for cell in cells} & names
        is_data = any(cell.strip() and is_number(cell) for cell in cells)
        if len(known) > 1 and 2 * len(known) > len(cells) and not is_data:
            raise ValueError(
                f"path: {shown} has the names of the columns again, {listed(cells)}, in row {row}; "
                "were several files concatenated? Remove such lines"
            )


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
    for column, cell in last.items():
        is_total = isinstance(cell, str) and _TOTAL.fullmatch(cell)
        if is_total and (frame[column] == cell).sum() == 1:
            warn(
                f"the last row has {cell!r} in the column {column!r}; if it is a row of sums below "
                "the table, remove it"
            )
