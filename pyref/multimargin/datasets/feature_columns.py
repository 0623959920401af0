"""Columns of features: the kinds of all, and their contents by kind."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from multimargin.checks.names import option, quoted
from multimargin.checks.parameters import check_choice
from multimargin.datasets.odd_columns import warn_of_odd_columns
from multimargin.datasets.table_cells import Cells, amounts_of, as_text_column
from multimargin.datasets.table_columns import TableColumns
from multimargin.datasets.table_dates import date_parts
from multimargin.datasets.table_kinds import Kind, decimal_mark, kind_of, vector_of
from multimargin.targets.given import is_blank
from multimargin.targets.names import label_name


class UndecidedColumns(ValueError):
    """Columns whose kind must be specified."""


def feature_kinds(
    features: Mapping[str, Cells], uses: Mapping[str, Sequence[str]], columns: TableColumns
) -> tuple[dict[str, Kind], str]:
    """Find the kind of each column of features, and the decimal mark of its numbers."""
    check_choice("analyzer", columns.analyzer, ("word", "char"))
    of_text = "text" if columns.analyzer == "word" else "characters"
    said = {
        column: Kind(of_text if use == "text" else use, "as asked for")
        for use in ("text", "nominal", "number")
        for column in uses[use]
    }
    of_numbers = [c for name, c in features.items() if name not in said or name in uses["number"]]
    mark = decimal_mark(of_numbers, columns.decimal)
    features = {name: cells.with_mark(mark) for name, cells in features.items()}
    kinds = {name: said.get(name) or kind_of(cells) for name, cells in features.items()}
    for name in uses["number"]:
        kinds[name] = replace(kinds[name], unit=amounts_of(features[name])[1])
    if asked := {column: kind for column, kind in kinds.items() if kind.ask}:
        # All in one message, not one per attempt.
        told = "; ".join(f"{column!r} holds {kind.reason}" for column, kind in asked.items())
        raise UndecidedColumns(
            f"say what some columns are: {told}. Choose text (--text), numbers (--number), names "
            "(--nominal) or nothing to learn from (--drop), for example "
            f"{options_for(asked, uses['text'])}"
        )
    warn_of_odd_columns(features, kinds, said)
    return kinds, mark


def options_for(kinds: Mapping[str, Kind], text: Sequence[str] = ()) -> str:
    """Write the options that specify the proposed kinds of columns."""
    chosen = {"--text": list(text), "--number": list[str](), "--nominal": [], "--drop": []}
    for column, kind in kinds.items():
        if kind.ask:
            chosen[kind.ask].append(column)
    return " ".join(option(name, of) for name, of in chosen.items() if of)


def features_of_columns(
    columns: TableColumns, cells_of: Callable[[str], Cells]
) -> dict[str, NDArray[np.generic]]:
    """Return the features of a table by name, given the kinds of its columns."""
    found: dict[str, Any] = {}
    for column, kind in columns.kinds.items():
        cells = cells_of(column).with_mark(columns.decimal or ".")
        names = kind.features(column)
        # Hours may not be among the parts of dates.
        found |= zip(names, _CONTENTS[kind.name](cells, kind)[: len(names)], strict=True)
    return found


def _vectors(cells: Cells, kind: Kind) -> Any:
    """Return the numbers of lists, by place; NaN in rows without."""
    parts = np.full((len(cells.values), kind.n_parts), np.nan)
    for row, cell in enumerate(cells.values.tolist()):
        if is_blank(cell):
            continue
        try:
            # Of one number, NumPy would fill the row.
            parts[row] = vector_of(cell).reshape(kind.n_parts)
        except (TypeError, ValueError) as error:
            raise ValueError(
                f"the column {cells.name!r} has {quoted(cell)} in row {row}; expected a list of "
                f"{kind.n_parts} numbers"
            ) from error
    return parts.T


def _texts(cells: Cells, kind: Kind) -> list[Any]:
    """Return a column of text; what is missing is empty."""
    values = cells.values
    if values.dtype == "str" and not values.hasnans:
        # Arrow's texts stay there: an object for each takes as long as to read them.
        return [values.array]
    if (one := next((c for c in values.tolist() if isinstance(c, Mapping)), None)) is not None:
        raise ValueError(
            f"text: the column {cells.name!r} holds objects, such as {quoted(str(one))}; "
            "expected text: write what is to be read into a column of its own"
        )
    return [np.array(as_text_column(values), dtype=object)]


def _names(cells: Cells, kind: Kind) -> list[Any]:
    """Return a column of names; what is missing is NaN."""
    names = np.array([*map(label_name, cells.texts), np.nan], dtype=object)
    place = dict(zip(cells.texts, range(len(cells.texts)), strict=True))
    return [names[cells.mapped(lambda text: place.get(text, -1)).astype(np.intp)]]


def _numbers(cells: Cells, kind: Kind) -> list[Any]:
    """Return a column of finite numbers; what is missing is NaN."""
    numbers, _ = amounts_of(cells, kind.unit)
    if (infinite := np.isinf(numbers)).any():
        raise ValueError(
            f"the column {cells.name!r} is infinite in row {int(np.argmax(infinite))}; "
            "expected finite numbers, or nothing where a value is missing"
        )
    return [numbers]


# The features of a column by its kind, one or several.
_CONTENTS: Mapping[str, Callable[[Cells, Kind], Any]] = {
    "number": _numbers,
    "nominal": _names,
    "text": _texts,
    "characters": _texts,
    "vector": _vectors,
    "date": lambda cells, kind: date_parts(cells).T,
}
