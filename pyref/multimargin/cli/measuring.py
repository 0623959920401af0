"""Measures of a fitted model on rows whose labels are known."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.table import Table


def measured_on(model: Any, X: Any, Y: Any) -> dict[str, float]:
    """Return all measures of a fitted model, by name."""
    from multimargin.measures import all_measures, more_measures

    scores = model.decision_function(X)
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


def measurable_rows(data: Any, Y: Any, rows: Any) -> Any:
    """Return the rows with a known label; raise ValueError if there is none."""
    from multimargin.checks.labels import known_rows

    rows = rows[known_rows(Y[rows])]
    if not rows.size:
        raise ValueError(f"{data.name} has no row with a known label; expected some to measure on")
    return rows
