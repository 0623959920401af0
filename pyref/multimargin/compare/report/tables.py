"""The tables of results: a frame of all of them, and means by method and data set."""

import json
from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from multimargin.compare.measured import DEFAULT, MEASURED, Measured, find_measured
from multimargin.compare.report.collect import per_data, per_split, value_of
from multimargin.compare.report.table import Table
from multimargin.compare.report.wording import left_out, message_of, number_of
from multimargin.compare.results import Result
from multimargin.compare.statistics.differences import rounded
from multimargin.compare.statistics.ranks import average_ranks

# More columns than this are laid out as rows, unless there are as many rows.
_MOST_COLUMNS = 8


def results_frame(results: Sequence[Result]) -> pd.DataFrame:
    """Lay out all results, one row each, for CSV files and your own analyses.

    Parameters
    ----------
    results : sequence of Result
        The results.

    Returns
    -------
    DataFrame
        Names, conditions, all measures, seconds, certificate, error and parameters (as JSON).
    """
    rows = []
    for result in results:
        certificate = result.certificate or {}
        rows.append(
            {
                "data": result.data,
                "split": result.split,
                "method": result.method,
                "scaling": result.scaling,
                "seed": result.seed,
                **result.shape,
                **{name: value_of(result, name) for name in MEASURED},
                "scores": result.scores,
                "status": certificate.get("status"),
                "gap": certificate.get("gap"),
                "n_iter": certificate.get("n_iter"),
                "error": None if result.error is None else message_of(result),
                "estimator": json.dumps(result.estimator),
                "job": result.job,
            }
        )
    return pd.DataFrame(rows)


def results_tables(
    results: Sequence[Result], measures: str | Sequence[str] = DEFAULT
) -> list[Table]:
    """Lay out means and standard deviations over the splits, one row per method.

    Parameters
    ----------
    results, measures
        As in `make_report`.

    Returns
    -------
    list of Table
        One table with a column a measure for one data set; for several, one table a measure with a
        column a data set and the average ranks. The best means are emphasised. Where there are more
        than eight columns and more than rows, both are exchanged.
    """
    wanted = find_measured(measures)
    tables = {measured: per_split(results, measured.name) for measured in wanted}
    data = list(dict.fromkeys(result.data for result in results))
    failed = {
        name: {result.method for result in results if result.failed and result.data == name}
        for name in data
    }
    if len(data) == 1:
        columns = {
            f"{measured.title} {measured.arrow}": _column(table, measured, failed[data[0]])
            for measured, table in tables.items()
        }
        whole = _table(f"{data[0]}: {_spread(results)}", columns, tables.values())
        whole.cells.columns.name = "measure"
        return [readable(whole)]
    laid_out = []
    for measured, table in tables.items():
        columns = {
            name: _column(table.loc[[name]], measured, failed[name])
            for name in table.index.unique("data")
        }
        ranks = average_ranks(per_data(table), larger_is_better=measured.larger_is_better)
        if not ranks.average.empty:
            # NaN for methods that have no rank.
            values = rounded(ranks.average.reindex(table.columns))
            texts = [number_of(value, ".2f") for value in values]
            columns["average rank"] = (texts, list(values == np.nanmin(values)))
        name = measured.title[:1].upper() + measured.title[1:]
        title = f"{name} {measured.arrow}, {_spread(results)}"
        whole = _table(title, columns, [table], left_out(ranks))
        whole.cells.columns.name = "data"
        laid_out.append(readable(whole))
    return laid_out


def readable(table: Table) -> Table:
    """Return a table with its rows and columns exchanged if it has too many columns."""
    n_rows, n_columns = table.cells.shape
    if n_columns <= max(_MOST_COLUMNS, n_rows):
        return table
    best = None if table.best is None else table.best.T
    return replace(table, cells=table.cells.T, best=best)


Column = tuple[list[str], list[bool]]


def _column(table: pd.DataFrame, measured: Measured, failed: Collection[str]) -> Column:
    """Write the cells of one measure on one data set, by method; a dash where it is undefined."""
    texts: list[str] = []
    means = []
    for method in table.columns:
        values = table[method].dropna()
        complete = len(values) == len(table)
        means.append(values.mean() if complete else float("nan"))
        if not len(values):
            texts.append("failed" if len(table) and method in failed else "–")
            continue
        text = _value(values.mean(), measured)
        if len(table) > 1 and len(values) > 1:
            text += f" ± {_value(values.std(ddof=1), measured)}"
        if not complete:
            text += f" ({len(values)} of {len(table)})"
        texts.append(text)
    compared = rounded(means)
    if np.isnan(compared).all():
        return texts, [False] * len(texts)
    best = np.nanmax(compared) if measured.larger_is_better else np.nanmin(compared)
    return texts, list(compared == best)


def _table(
    title: str, columns: dict[str, Column], shown: Any, notes: tuple[str, ...] = ()
) -> Table:
    shown = list(shown)
    index = pd.Index(shown[0].columns, name="method")
    cells = pd.DataFrame({name: texts for name, (texts, _) in columns.items()}, index=index)
    best = pd.DataFrame({name: flags for name, (_, flags) in columns.items()}, index=index)
    if cells.map(lambda text: text.endswith(")")).any(axis=None):
        incomplete = (
            "a mean over some of the splits is followed by their number, and takes no part in "
            "comparisons",
        )
        notes = (*notes, *incomplete)
    return Table(title, cells, best, notes)


def _spread(results: Sequence[Result]) -> str:
    numbers = pd.Series({(r.data, r.split): 0 for r in results}).groupby(level=0).size()
    smallest, largest = numbers.min(), numbers.max()
    if largest == 1:
        return "one split"
    count = str(largest) if smallest == largest else f"{smallest} to {largest}"
    return f"mean ± standard deviation over {count} splits"


def _value(value: float, measured: Measured) -> str:
    return f"{value:.3g}" if measured.name.endswith("seconds") else f"{value:.4f}"
