"""Lines of tables that are likely not rows: rules, repeated names, types, comments and notes."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from multimargin.checks.names import listed, quoted
from multimargin.datasets.table_cells import is_nothing, is_number
from multimargin.datasets.text_arrays import are_blank, rows_beginning, rows_of_names
from multimargin.notices import warn
from multimargin.targets.given import is_blank
from multimargin.targets.names import as_written, label_name

# What draws frames around tables, with characters of their own too, and between columns.
_RULE, _CORNERS = re.compile(r"[|+:=,;\s\u2500-\u257f-]+"), ("+", "\u250c", "\u2554", "\u256d")
_COLUMNS_OF_DASHES = re.compile(r"\s*(-+|=+)(?:\s+(-+|=+))+\s*$")
# Rows are at least this many times as many as comments.
_ROWS_PER_COMMENT = 4
# Of fewer rows, all may have the same words.
_A_FEW = 3
# Rows that are looked at below words.
_HEAD = 50


def refuse_rule(lines: Sequence[str], file: Path, *, is_table: bool) -> None:
    """Raise ValueError for a table drawn with characters, a rule of dashes below its names."""
    for number, line in enumerate(lines[:5], start=1):
        has_dashes = re.search("--|:-|-:|==|[\u2500\u2550]", line)
        is_drawn = is_table or line.startswith(_CORNERS) or _COLUMNS_OF_DASHES.match(line)
        if is_drawn and has_dashes and not _RULE.sub("", line):
            raise ValueError(
                f"path: {file}, line {number}: a line that only draws a rule, in "
                f"{quoted(line.strip())}; expected rows of cells: remove such lines"
            )


def refuse_second_names(frame: Any, file: Path) -> None:
    """Raise ValueError for a first row of words above numbers in several columns."""
    # A blank one may stand below a title.
    row = next((row for row in range(len(frame)) if any(_texts_of(frame, row))), 0)
    if len(frame) - row <= _A_FEW:
        return
    first, above = _texts_of(frame, row), frame[row : row + _HEAD]
    if any(word and is_number(word) for word in first):
        # A row of data may have codes above numbers.
        return
    words = [
        word for word, of in zip(first, above, strict=True) if word and _has_numbers(above[of])
    ]
    if len(words) > 1:
        raise ValueError(
            f"path: {file} has {listed(words)} in row {row}, above numbers; expected one line of "
            "names above the rows: remove lines with titles, other names, questions, types or units"
        )


def _has_numbers(column: Any) -> bool:
    """Return whether the cells below the first are numbers."""
    below = [_text_of(cell) for cell in column.iloc[1:].tolist()]
    return all(map(is_number, below)) and not all(map(is_nothing, below))


def refuse_repeated_names(frame: Any, file: Path) -> None:
    """Raise ValueError for a repeated row of names, as in joined files, in any order and case."""
    if frame.shape[1] < 2:
        return
    names = {plain_name(name) for name in frame.columns} - {""}
    # A mark of byte order may stand before it.
    rows = rows_of_names(frame.iloc[:, 0], [*frame.columns], around="\ufeff ")
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
                f"path: {file} has the names of the columns again, {listed(cells)}, in row {row}; "
                "were several files concatenated? Remove such lines"
            )


def _texts_of(frame: Any, row: int) -> list[str]:
    return [_text_of(cell) for cell in frame.iloc[row].tolist()]


def _text_of(cell: Any) -> str:
    return "" if is_blank(cell) else as_written(cell).strip()


def plain_name(name: str) -> str:
    """Return a name without capital letters and what is invisible."""
    return label_name(name).casefold()


def is_below_names(columns: Any) -> bool:
    """Return whether the first row has words, and others numbers, or these words for ticks."""
    first, last = (_texts_of(columns, row) for row in (0, -1))
    if any(is_nothing(cell) or is_number(cell) for cell in first):
        return False
    if all(map(is_number, last)) and not all(map(is_nothing, last)):
        return True
    below = [{*map(_text_of, columns.iloc[1:, place])} - {""} for place in range(len(first))]
    return len(columns) > _A_FEW and below == [{word} for word in first]


def warn_of_comments(frame: Any) -> None:
    """Warn of a few rows whose first cell begins like a comment."""
    cells = frame.iloc[:, 0]
    rows = rows_beginning(cells, "# ")
    if 0 < _ROWS_PER_COMMENT * len(rows) <= len(cells):
        warn(
            f"row {rows[0]} begins with {quoted(cells.iloc[rows[0]])}, unlike others; if that is a "
            "comment, remove it"
        )


def warn_of_note(frame: Any) -> None:
    """Warn of a last row that has one cell alone, unlike all others."""
    if frame.shape[1] < 2 or len(frame) < 3:
        return
    last = [cell for cell in frame.iloc[-1].tolist() if not is_blank(cell)]
    if len(last) == 1 and np.sum([~are_blank(of) for _, of in frame[:-1].items()], 0).min() > 1:
        warn(
            f"the last row has {quoted(last[0])} and nothing else, unlike others; if that is a "
            "note below the table, remove it"
        )
