"""Likely contents of the columns of a table, before its labels are named."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np

from multimargin.checks.names import option
from multimargin.datasets.feature_columns import options_for
from multimargin.datasets.label_columns import indicator_of_columns, labels_at_the_end
from multimargin.datasets.odd_columns import warn_of_missing_numbers
from multimargin.datasets.table_cells import Cells, amounts_of, are_row_numbers
from multimargin.datasets.table_kinds import Kind, decimal_mark, is_wordy, kind_of
from multimargin.datasets.table_tags import recurring_tags
from multimargin.notices import silenced
from multimargin.typing import Frame

Counts = tuple[tuple[str, int], ...]

_EXAMPLES = 3


@dataclass(frozen=True)
class ColumnOverview:
    """Likely contents of a column."""

    name: str
    holds: str  # What it is read as, or asked about as
    reason: str  # Why
    n_different: int  # Different values
    n_missing: int  # Rows without a value
    examples: tuple[str, ...]  # The first different values
    tags: Counts = ()  # Of lists of tags: the rows of each, the most first
    separator: str | None = None  # What stands between two of them


@dataclass(frozen=True)
class TableOverview:
    """Likely contents of the columns of a table, and the options that name them."""

    name: str
    n_rows: int
    columns: tuple[ColumnOverview, ...]
    labels: str  # The option that names what look like labels; empty where nothing does
    label_counts: Counts  # The rows of each of these, the most first
    options: str  # Those for columns that a fit would ask about, quoted for a shell


def overview(frame: Frame, name: str, *, as_text: bool) -> TableOverview:
    """Look at the columns of a table; `as_text` says that it comes from a file without types."""
    cells = [Cells(column, frame[column], as_text) for column in frame.columns]
    mark = "."
    # In doubt, which a fit asks about, it is a point.
    with silenced(UserWarning), suppress(ValueError):
        mark = decimal_mark(cells, None)
    found = [_column(one.with_mark(mark)) for one in cells]
    columns = tuple(column for column, _ in found)
    labels, taken, counts = _likely_labels(frame, columns)
    features = {column.name: kind for column, kind in found if column.name not in taken}
    return TableOverview(name, len(frame), columns, labels, counts, options_for(features))


def _likely_labels(frame: Any, columns: Sequence[ColumnOverview]) -> tuple[str, list[str], Counts]:
    """Return the option for likely labels, their columns, and the rows of each label."""
    last = labels_at_the_end(frame)
    if len(last) > 1:
        Y, _ = indicator_of_columns(frame, last, "0")
        rows = dict(zip(last, np.count_nonzero(Y == 1, axis=0).tolist(), strict=True))
        return f"--labels last:{len(last)}", last, _most_first(rows)
    lists = [column for column in columns if column.tags]
    if not lists:
        return "", [], ()
    most = max(lists, key=lambda column: sum(count for _, count in column.tags))
    named = option("--tags-column", [most.name])
    if most.separator not in (None, ","):
        shown = repr(most.separator)[1:-1] if most.separator.isspace() else most.separator
        named += f" {option('--separator', [shown])}"
    return named, [most.name], most.tags


def _column(cells: Cells) -> tuple[ColumnOverview, Kind]:
    """Return the overview of a column, and its kind."""
    kind = kind_of(cells)
    tags: Mapping[str, int] = {}
    separator = None
    if not cells.texts:
        kind = Kind("nothing", "no cell is filled", ask="--drop")
    elif len(cells.texts) == 1:
        kind = Kind("one value", "the same in all rows", ask="--drop")
    elif kind.name == "number":
        numbers, _ = amounts_of(cells)
        warn_of_missing_numbers(cells.name, numbers)
        if set(numbers[np.isfinite(numbers)].tolist()) <= {0.0, 1.0}:
            kind = Kind("0 and 1", kind.reason)
        elif are_row_numbers(numbers):
            kind = Kind("row numbers", "each once, without a gap", ask="--drop")
    elif kind.name in ("nominal", "keys", "text", "lists", "objects", "versions"):
        if recurring := recurring_tags(cells.values):
            tags, separator = recurring
            kind = Kind("lists of tags", f"{len(tags)} different names that recur", ask="--drop")
        elif kind.name == "nominal" and is_wordy(cells.texts):
            kind = Kind("text", f"words: {kind.reason}", ask="--text")
    shown = ColumnOverview(
        cells.name,
        _NAMES.get(kind.name, kind.name),
        kind.reason,
        len(cells.texts),
        cells.n_missing,
        tuple(cells.texts[:_EXAMPLES]),
        _most_first(tags),
        separator,
    )
    return shown, kind


_NAMES = {"number": "numbers", "nominal": "names", "date": "dates or times"}


def _most_first(counts: Mapping[str, int]) -> Counts:
    return tuple(sorted(counts.items(), key=lambda entry: (-entry[1], entry[0])))
