"""The sentence with which a report opens: who wins, by how much, and whether it is chance."""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from multimargin.compare.measured import DEFAULT, Measured, find_measured
from multimargin.compare.report.collect import per_data, per_split, test_train_ratios
from multimargin.compare.report.doubles import doubles, ranked_once
from multimargin.compare.results import Result
from multimargin.compare.statistics.differences import rounded
from multimargin.compare.statistics.ranks import average_ranks, wilcoxon_tests
from multimargin.compare.statistics.win_tie_loss import win_tie_loss

_NAMES = {"corrected": "corrected paired t-test", "paired": "paired t-test"}


def verdict(
    results: Sequence[Result],
    measures: str | Sequence[str] = DEFAULT,
    *,
    test: str = "corrected",
    alpha: float = 0.05,
) -> str:
    """Say in one sentence which method wins by the first measure.

    Parameters
    ----------
    results, measures, test, alpha
        As in `make_report`; the first of the measures decides. Several data sets are compared by
        Wilcoxon's signed ranks, in place of the test over the splits of one.

    Returns
    -------
    str
        The sentence. The best method is compared with the next one, and the test does not allow for
        the two having been chosen by their results.
    """
    measured = find_measured(measures)[0]
    alike = doubles(results)
    table = ranked_once(per_split(results, measured.name), alike)
    means = per_data(table)
    if len(means) > 1:
        return _over_data_sets(means, measured, alike, alpha)
    complete = means.iloc[0].dropna()
    if complete.empty:
        return f"No method has a value of the {measured.title} on every split."
    data = str(means.index[0])
    order = complete.sort_values(ascending=not measured.larger_is_better, kind="stable")
    best = str(order.index[0])
    won = f"{_number(order.iloc[0], measured)}"
    if len(order) == 1:
        return f"On {data}, {_named(best, alike)} has a {measured.title} of {won}."
    superlative = "largest" if measured.larger_is_better else "smallest"
    next_best = str(order.index[1])
    first, second = rounded(order.iloc[:2])
    if first == second:
        shared = " and ".join(
            _named(str(name), alike) for name in order.index[rounded(order) == first]
        )
        return f"On {data}, {shared} share the {superlative} {measured.title}, {won}."
    return (
        f"On {data}, {_named(best, alike)} has the {superlative} {measured.title}, {won}, "
        f"{_apart(first, second, _named(next_best, alike), measured)}; "
        f"{_tested(table[[best, next_best]], results, measured, test, alpha)}."
    )


def _tested(
    table: pd.DataFrame, results: Sequence[Result], measured: Measured, test: str, alpha: float
) -> str:
    best = str(table.columns[0])
    if test == "none":
        return "the difference was not tested"
    compared = win_tie_loss(
        table,
        best,
        larger_is_better=measured.larger_is_better,
        test=test,
        test_train_ratios=test_train_ratios(results),
        alpha=alpha,
    )
    row = compared.details.iloc[0]
    if np.isnan(row["p_value"]):
        return "one split cannot tell whether that is chance"
    how = f"{_NAMES[test]} over {row['n_splits']} splits, p = {row['p_value']:.2g}"
    return _judged(row["p_value"] < alpha, how)


def _over_data_sets(
    means: pd.DataFrame, measured: Measured, alike: Mapping[str, str], alpha: float
) -> str:
    ranks = average_ranks(means, larger_is_better=measured.larger_is_better)
    n = len(ranks.ranks)
    if n == 0 or ranks.average.empty:
        return f"No data set has a value of the {measured.title} of every method."
    order = ranks.average.sort_values(kind="stable")
    best = str(order.index[0])
    where = f"Over {n} data set{'s' * (n > 1)}"
    rank = f"average rank {order.iloc[0]:.2f}"
    if len(order) == 1:
        return f"{where}, {_named(best, alike)} alone has a {measured.title} on each."
    next_best = str(order.index[1])
    both = ranks.ranks[[best, next_best]]
    wins = int((both[best] < both[next_best]).sum())
    losses = int((both[best] > both[next_best]).sum())
    if order.iloc[0] == order.iloc[1]:
        return (
            f"{where}, {_named(best, alike)} and {_named(next_best, alike)} share the first place "
            f"by {measured.title} ({rank})."
        )
    compared = wilcoxon_tests(
        means.loc[both.index, [best, next_best]],
        best,
        larger_is_better=measured.larger_is_better,
        alpha=alpha,
    )
    p_value = float(compared["p_value"].iloc[0])
    how = f"Wilcoxon's signed ranks, p = {p_value:.2g}"
    tested = "not tested" if np.isnan(p_value) else _judged(p_value < alpha, how)
    return (
        f"{where}, {_named(best, alike)} is first by {measured.title} ({rank}), before "
        f"{_named(next_best, alike)} ({order.iloc[1]:.2f}): it wins {wins} and loses {losses}; "
        f"{tested}."
    )


def _judged(significant: bool, how: str) -> str:
    if significant:
        return f"the difference is significant ({how})"
    return f"the difference may be chance: it is not significant ({how})"


def _apart(best: float, other: float, name: str, measured: Measured) -> str:
    if other == 0.0:
        return f"where {name}, the next, has 0"
    share = 100.0 * abs(best - other) / abs(other)
    direction = "more" if measured.larger_is_better else "less"
    return f"{share:.2g} % {direction} than {name}, the next with {_number(other, measured)}"


def _named(method: str, alike: Mapping[str, str]) -> str:
    same = [name for name, other in alike.items() if other == method]
    return f"{method} (and {', '.join(same)}, with the same values)" if same else method


def _number(value: float, measured: Measured) -> str:
    return f"{value:.3g}" if measured.name.endswith("seconds") else f"{value:.4f}"
