"""The statistics of the papers' tables: symbols of tests, counts and orders."""

from collections.abc import Mapping

import numpy as np
import pandas as pd

from multimargin.compare.statistics.differences import rounded
from multimargin.compare.statistics.ranks import average_ranks, wilcoxon_tests
from multimargin.compare.statistics.win_tie_loss import win_tie_loss

# Of the reference method against another, as in Xu 2013.
SYMBOLS = {"win": ">", "tie": "=", "loss": "<", "untested": "?"}


def w_test(table: pd.DataFrame, reference: str, *, larger_is_better: bool) -> dict[str, str]:
    """Return the row "W-test" of Xu 2013, tables 3 to 7: Wilcoxon's signed ranks at 5 %.

    Parameters
    ----------
    table : DataFrame
        One row per data set, one column per method.
    reference : str
        The method compared with the others.
    larger_is_better : bool
        Direction of the measure.

    Returns
    -------
    dict of str to str
        By method ">", "=" or "<": the reference is better, as good, worse.
    """
    tested = wilcoxon_tests(table, reference, larger_is_better=larger_is_better)["outcome"]
    return {reference: "="} | {str(method): SYMBOLS[tested[method]] for method in tested.index}


def counts(
    tables: Mapping[str, pd.DataFrame], reference: str, larger: Mapping[str, bool]
) -> dict[str, tuple[int, int, int]]:
    """Count better, equal and worse over all measures and data sets (Tan et al. 2019, table 2).

    Parameters
    ----------
    tables : mapping of str to DataFrame
        By measure: one row per data set, one column per method.
    reference : str
        The method that is counted for.
    larger : mapping of str to bool
        Direction of each measure.

    Returns
    -------
    dict of str to tuple of three int
        Wins, ties and losses of the reference by method.
    """
    totals: dict[str, np.ndarray] = {}
    for measure, table in tables.items():
        for method in table.columns.drop(reference):
            both = table[[reference, method]].dropna()
            gain = rounded(both[reference]) - rounded(both[method])
            gain = gain if larger[measure] else -gain
            tally = np.array([(gain > 0).sum(), (gain == 0).sum(), (gain < 0).sum()])
            totals[str(method)] = totals.get(str(method), 0) + tally
    return {
        method: (int(wins), int(ties), int(losses))
        for method, (wins, ties, losses) in totals.items()
    }


def t_tests(
    values: Mapping[str, pd.DataFrame], reference: str, *, larger_is_better: bool
) -> dict[tuple[str, str], str]:
    """Return the outcomes of paired t-tests at 5 % (Zhang & Yeung 2013).

    Parameters
    ----------
    values : mapping of str to DataFrame
        By data set: one row per split, one column per method.
    reference : str
        The method compared with the others.
    larger_is_better : bool
        Direction of the measure.

    Returns
    -------
    dict of (str, str) to str
        By data set and method "win", "tie", "loss" of the reference, or "untested".
    """
    found: dict[tuple[str, str], str] = {}
    for data, table in values.items():
        index = pd.MultiIndex.from_product([[data], map(str, table.index)], names=["data", "split"])
        tested = win_tie_loss(
            table.set_axis(index), reference, larger_is_better=larger_is_better, test="paired"
        )
        for row in tested.details.itertuples():
            found[str(row.data), str(row.method)] = str(row.outcome)
    return found


def total_order(table: pd.DataFrame, *, larger_is_better: bool) -> str:
    """Return the last row of Huang et al. 2015, tables II to VIII.

    Parameters
    ----------
    table : DataFrame
        One row per data set, one column per method.
    larger_is_better : bool
        Direction of the measure.

    Returns
    -------
    str
        The methods by average rank, with ">" between them, and ">=" where it is the same; of
        such methods the one that stands first in the table is first.
    """
    average = average_ranks(table, larger_is_better=larger_is_better).average
    average = average.sort_values(kind="stable")
    text = str(average.index[0])
    for before, method in zip(average.index, average.index[1:], strict=False):
        same = bool(np.isclose(average[before], average[method]))
        text += f" {'>=' if same else '>'} {method}"
    return text


def pairwise_counts(
    tables: Mapping[str, pd.DataFrame], method: str, other: str, larger: Mapping[str, bool]
) -> tuple[int, int, int]:
    """Count the measures by average rank (Huang et al. 2015, table IX).

    Parameters
    ----------
    tables : mapping of str to DataFrame
        By measure: one row per data set, one column per method.
    method, other : str
        The methods compared.
    larger : mapping of str to bool
        Direction of each measure.

    Returns
    -------
    tuple of three int
        In how many measures `method` is better than, ties with and is worse than `other`.
    """
    tally = [0, 0, 0]
    for measure, table in tables.items():
        average = average_ranks(table, larger_is_better=larger[measure]).average
        gain = float(average[other] - average[method])
        tally[1 if np.isclose(gain, 0.0) else 0 if gain > 0 else 2] += 1
    return tally[0], tally[1], tally[2]
