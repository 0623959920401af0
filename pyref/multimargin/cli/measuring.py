"""Measures of a fitted model on rows whose labels are known."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from rich.table import Table

    from multimargin.cli.table_options import Data
    from multimargin.typing import Marks, Matrix

# Maximum number of labels named for a row.
_FEW = 8


def measured_on(scores: "Matrix", Y: "Marks") -> dict[str, float]:
    """Return all measures of scores that are positive for predicted labels, by name."""
    from multimargin.measures import all_measures, more_measures

    return all_measures(Y, (scores > 0).astype(int), scores) | more_measures(Y, scores)


def measures_table(measures: dict[str, float]) -> "Table":
    """Lay out measures, a row each."""
    from multimargin.cli.output import plain_table
    from multimargin.measures import MEASURES, MORE_MEASURES

    table = plain_table("measure", "value", "better is")
    known = {**MEASURES, **MORE_MEASURES}
    for name, value in measures.items():
        table.add_row(known[name].title, f"{value:.4f}", known[name].better)
    return table


def measured_by_label(scores: "Matrix", Y: "Marks", names: Sequence[str]) -> list[dict[str, Any]]:
    """Return the measures of each label, those with most errors first; None where undefined."""
    import numpy as np

    from multimargin.measures import label_measures

    found = label_measures(Y, (scores > 0).astype(int), scores)
    order = np.lexsort((-found["support"], -found["errors"]))
    return [{"label": names[k]} | _defined(found, k) for k in order]


def labels_table(labels: Sequence[Mapping[str, Any]], shown: int) -> "Table":
    """Lay out measures of labels, a row each."""
    from multimargin.cli.output import plain_table

    counts, shares = ("support", "predicted", "errors"), ("precision", "recall", "f1", "auc")
    titles = {"f1": "F1", "auc": "AUC"}
    table = plain_table("label", *(titles.get(name, name) for name in (*counts, *shares)))
    for one in labels[:shown]:
        values = [f"{one[name]:.0f}" for name in counts]
        values += ["" if one[name] is None else f"{one[name]:.3f}" for name in shares]
        table.add_row(one["label"], *values)
    if len(labels) > shown:
        table.caption = f"{shown} of {len(labels)} labels, those with most errors first"
    return table


def measured_by_row(
    scores: "Matrix", Y: "Marks", rows: "NDArray[np.intp]", names: Sequence[str]
) -> list[dict[str, Any]]:
    """Return the measures of each row, those with most errors first; None where undefined."""
    import numpy as np

    from multimargin.measures import row_measures

    predicted = (scores > 0).astype(int)
    found = row_measures(Y, predicted)
    order = np.lexsort((found["support"], -found["errors"]))

    def named(marks: Any) -> list[str]:
        return [names[k] for k in np.flatnonzero(marks).tolist()]

    return [
        {"row": int(rows[k])}
        | _defined(found, k)
        | {"missed": named((Y[k] == 1) & (predicted[k] == 0))}
        | {"wrong": named((Y[k] == 0) & (predicted[k] == 1))}
        for k in order
    ]


def _defined(found: "Mapping[str, NDArray[np.float64]]", place: int) -> dict[str, float | None]:
    """Return the measures at a place, None for those that are not defined there."""
    values = {name: float(of[place]) for name, of in found.items()}
    return {name: None if value != value else value for name, value in values.items()}


def rows_table(rows: Sequence[Mapping[str, Any]], shown: int) -> "Table":
    """Lay out measures of rows, a row each."""
    from rich.table import Table

    table = Table(box=None, padding=(0, 2, 0, 0))
    for name in ("row", "errors", "relevant labels missed", "labels predicted wrongly"):
        table.add_column(name, justify="right" if name in ("row", "errors") else "left")
    wrong = [one for one in rows if one["errors"]]
    for one in wrong[:shown]:
        cells = (str(one["row"]), f"{one['errors']:.0f}", *map(_few, (one["missed"], one["wrong"])))
        table.add_row(*cells)
    table.caption = f"{len(wrong)} of {len(rows)} rows have errors"
    if len(wrong) > shown:
        table.caption += f"; the {shown} with most"
    return table


def _few(names: list[str]) -> str:
    more = f" and {len(names) - _FEW} more" if len(names) > _FEW else ""
    return ", ".join(names[:_FEW]) + more


def measurable_rows(data: "Data", Y: "Marks", rows: "NDArray[np.intp]") -> "NDArray[np.intp]":
    """Return the rows with a known label; raise ValueError if none can be measured."""
    from multimargin.targets.indicator import known_both, known_rows

    rows = rows[known_rows(Y[rows])]
    if not rows.size:
        raise ValueError(f"{data.name} has no row with a known label; expected some to measure on")
    if not known_both(Y[rows], axis=1).any():
        raise ValueError(
            f"{data.name} has no row with a label that applies and one that does not, of those "
            "that the model knows; expected some, for measures of the ranking"
        )
    return rows
