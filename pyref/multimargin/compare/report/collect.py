"""Results as tables: one row per split or a data set, one column per method."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from multimargin.compare.measured import find_measured
from multimargin.compare.results import Result


def per_split(results: Sequence[Result], measure: str) -> pd.DataFrame:
    """Lay out one measure split by split.

    Parameters
    ----------
    results : sequence of Result
        The results.
    measure : str
        A key of `multimargin.compare.measured.MEASURED`.

    Returns
    -------
    DataFrame
        Rows are (data, split), columns methods, in the order of their first results. NaN where a
        method failed, has no result, or the measure is not defined.

    Raises
    ------
    ValueError
        If there is no result or no such measure, or if results cannot stand side by side: a data
        set with different contents, scalings or kinds of splits, a method with different
        parameters.
    """
    (measured,) = find_measured([measure])
    check_comparable(results)
    rows = list(dict.fromkeys((result.data, result.split) for result in results))
    methods = list(dict.fromkeys(result.method for result in results))
    index = pd.MultiIndex.from_tuples(rows, names=["data", "split"])
    table = pd.DataFrame(np.nan, index=index, columns=pd.Index(methods, name="method"))
    for result in results:
        value = value_of(result, measured.name)
        table.loc[(result.data, result.split), result.method] = np.nan if value is None else value
    return table


def per_data(table: pd.DataFrame) -> pd.DataFrame:
    """Average over the splits.

    Parameters
    ----------
    table : DataFrame
        Result of `per_split`.

    Returns
    -------
    DataFrame
        Rows are data sets. NaN where any split lacks a value: a mean over the splits on which a
        method did not fail would flatter it.
    """
    means = table.groupby(level="data", sort=False).agg(lambda values: values.mean(skipna=False))
    assert isinstance(means, pd.DataFrame)
    return means


def value_of(result: Result, measure: str) -> float | None:
    """Return a measure of a result, "fit_seconds" or "predict_seconds"; None where it has none."""
    if result.failed:
        return None
    if measure in ("fit_seconds", "predict_seconds"):
        seconds: float | None = getattr(result, measure)
        return seconds
    return result.measures.get(measure)


def test_train_ratios(results: Sequence[Result]) -> dict[str, float]:
    """Return the mean of n_test / n_train by name of the data set."""
    ratios: dict[str, list[float]] = {}
    for result in results:
        ratio = result.shape["n_test"] / result.shape["n_train"]
        ratios.setdefault(result.data, []).append(ratio)
    return {name: sum(values) / len(values) for name, values in ratios.items()}


def check_comparable(results: Sequence[Result]) -> None:
    """Check that results can stand side by side in one table."""
    if not results:
        raise ValueError("results is empty; expected at least one result.")
    conditions: dict[str, Result] = {}
    cells: dict[tuple[str, str, str], Result] = {}
    parameters: dict[tuple[str, str], Result] = {}
    for result in results:
        first = conditions.setdefault(result.data, result)
        for what, found, expected in (
            ("content", result.fingerprint, first.fingerprint),
            ("scaling", result.scaling, first.scaling),
            ("kind of splits", _kind(result.split), _kind(first.split)),
        ):
            if found != expected:
                raise ValueError(
                    f"results: data {result.data!r} has more than one {what}, {expected!r} and "
                    f"{found!r}; expected results of one experiment."
                )
        same = parameters.setdefault((result.data, result.method), result)
        if same.estimator != result.estimator:
            raise ValueError(
                f"results: method {result.method!r} has different parameters on data "
                f"{result.data!r}; expected different names for them."
            )
        cell = (result.data, result.split, result.method)
        if cell in cells:
            raise ValueError(
                f"results: method {result.method!r} has two results for data {result.data!r}, "
                f"{result.split}; expected one."
            )
        cells[cell] = result


def _kind(split: str) -> str:
    """Return the name of a split without the number of its fold."""
    head, separator, tail = split.partition(" of ")
    return tail if separator and head.startswith("fold ") else split
