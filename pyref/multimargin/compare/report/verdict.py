"""The first sentence of a report: which method is first, and whether that is significant."""

from collections.abc import Sequence
from math import isnan

from multimargin.compare.measured import DEFAULT, find_measured
from multimargin.compare.report.collect import per_data, per_split, test_train_ratios
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
    """Say in one sentence which method is first by the first measure.

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
    larger, title = measured.larger_is_better, measured.title
    table = per_split(results, measured.name)
    means = per_data(table)
    several = len(means) > 1
    if several:
        ranks = average_ranks(means, larger_is_better=larger)
        means = means.loc[ranks.ranks.index]
        order = ranks.average.sort_values(kind="stable")
        where, form, what = f"Over {len(means)} data set{'s' * (len(means) > 1)}", ".2f", "rank "
    else:
        order = means.iloc[0].dropna().sort_values(ascending=not larger, kind="stable")
        where, what = f"On {means.index[0]}", ""
        form = ".3g" if measured.name.endswith("seconds") else ".4f"
    if order.empty:
        whose, where = ("all methods", "any data set") if several else ("a method", "all splits")
        return f"No {title} of {whose} on {where}."
    names = [str(name) for name in order.index]
    won = f"{what}{order.iloc[0]:{form}}"
    if len(order) == 1:
        return f"{where}, {names[0]} alone has a {title} ({won})."
    values = rounded(order)
    first = [name for name, value in zip(names, values, strict=True) if value == values[0]]
    if len(first) > 1:
        return f"{where}, {' and '.join(first)} share the first place by {title} ({won})."
    pair = names[:2]
    if several:
        found = wilcoxon_tests(means[pair], pair[0], larger_is_better=larger, alpha=alpha)
        how, tested = "Wilcoxon's signed ranks", len(means) > 1
    else:
        found = win_tie_loss(
            table[pair],
            pair[0],
            larger_is_better=larger,
            test=test,
            test_train_ratios=test_train_ratios(results),
            alpha=alpha,
        ).details
        how, tested = f"{_NAMES.get(test)} over {len(table)} splits", test != "none"
    p_value = float(found["p_value"].iloc[0])
    if not tested:
        said = "not tested"
    elif isnan(p_value):
        said = "one split cannot tell whether that is chance"
    else:
        said = "significant" if p_value < alpha else "may be chance, not significant"
        said = f"{said} ({how}, p = {p_value:.2g})"
    second = f"{what}{order.iloc[1]:{form}}"
    return f"{where}, {pair[0]} is first by {title} ({won}), before {pair[1]} ({second}): {said}."
