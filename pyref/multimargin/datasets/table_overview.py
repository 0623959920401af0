"""Likely contents of the columns of a table, before its labels are named."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from multimargin.checks.names import option
from multimargin.checks.no_numbers import KINDS
from multimargin.datasets.table_cells import (
    has_decimal_commas,
    holds_no_numbers,
    holds_numbers,
    numbers_of,
    rise_by_one,
    written,
)
from multimargin.datasets.table_columns import (
    has_many_names,
    indicator_of_columns,
    is_wordy,
    labels_at_the_end,
)
from multimargin.datasets.table_tags import recurring_tags

Counts = tuple[tuple[str, int], ...]

_EXAMPLES = 3
# What is nothing to learn from.
_UNUSABLE = ("nothing", "one value", "row numbers", "keys", *KINDS)


@dataclass(frozen=True)
class ColumnOverview:
    """Likely contents of a column."""

    name: str
    holds: str  # "numbers", "names", "text", "lists of tags", "0 and 1" or one of `_UNUSABLE`
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


def overview(frame: Any, name: str, *, as_text: bool) -> TableOverview:
    """Look at the columns of a table; `as_text` says that it comes from a file without types."""
    columns = tuple(_column(frame[column], as_text=as_text) for column in frame.columns)
    labels, taken, counts = _likely_labels(frame, columns)
    features = {column.name: column.holds for column in columns if column.name not in taken}
    chosen = {
        "--text": [name for name, holds in features.items() if holds == "text"],
        "--drop": [name for name, holds in features.items() if holds in _UNUSABLE],
    }
    options = " ".join(option(name, of) for name, of in chosen.items() if of)
    return TableOverview(name, len(frame), columns, labels, counts, options)


def _likely_labels(frame: Any, columns: Sequence[ColumnOverview]) -> tuple[str, list[str], Counts]:
    """Return the option for what look like labels, their columns, and the rows of each label."""
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


def _column(values: Any, *, as_text: bool) -> ColumnOverview:
    cells = written(values)
    different = list(dict.fromkeys(cell for cell in cells if cell is not None))
    holds = _simple_kind(values, cells, different, as_text=as_text)
    found = recurring_tags(values) if holds is None else None
    tags, separator = found or ({}, None)
    if holds is None:
        words = "text" if is_wordy(different) else "names"
        many = words == "names" and has_many_names(len(different), len(cells))
        holds = "lists of tags" if tags else "keys" if many else words
    return ColumnOverview(
        str(values.name),
        holds,
        len(different),
        sum(cell is None for cell in cells),
        tuple(different[:_EXAMPLES]),
        _most_first(tags),
        separator,
    )


def _simple_kind(
    values: Any, cells: Sequence[str | None], different: Sequence[str], *, as_text: bool
) -> str | None:
    """Return what a column without names or words holds, else None."""
    if not different:
        return "nothing"
    if len(different) == 1:
        return "one value"
    if (found := holds_no_numbers(values)) is not None:
        return found
    mark = "," if as_text and has_decimal_commas(cells) else "."
    if not holds_numbers(values, mark, as_text=as_text):
        return None
    numbers = numbers_of(values, mark)
    if set(numbers[np.isfinite(numbers)].tolist()) <= {0.0, 1.0}:
        return "0 and 1"
    return "row numbers" if rise_by_one(numbers) else "numbers"


def _most_first(counts: Mapping[str, int]) -> Counts:
    return tuple(sorted(counts.items(), key=lambda entry: (-entry[1], entry[0])))
