"""Tables in the form of the papers': one a measure, a line per data set, a column per method."""

from collections.abc import Callable, Mapping, Sequence
from statistics import mode

import numpy as np
import pandas as pd

from common import print_note, print_table
from published.comparison import Measure
from published.statistics import t_tests

# By data set and method, one list of measures a run.
Found = Mapping[tuple[str, str], Sequence[Sequence[float]]]
# Gets the means, one row per data set, and returns lines of a name and a cell a method.
Footer = Callable[[pd.DataFrame, Measure], list[tuple[str, dict[str, str]]]]


def means(found: Found, measures: Sequence[Measure]) -> dict[str, pd.DataFrame]:
    """Return our tables: by key of the measure, one row per data set, one column per method.

    Parameters
    ----------
    found : mapping
        The runs.
    measures : sequence of Measure
        What each run lists.

    Returns
    -------
    dict of str to DataFrame
        Means over the runs; NaN where there is none.
    """
    data, methods = (list(dict.fromkeys(key[k] for key in found)) for k in (0, 1))
    tables = {}
    for k, measure in enumerate(measures):
        table = pd.DataFrame(np.nan, index=data, columns=methods)
        for (name, method), runs in found.items():
            table.loc[name, method] = float(np.mean([run[k] for run in runs]))
        tables[measure.key] = table
    return tables


def print_data(
    title: str,
    columns: Sequence[str],
    published: Mapping[str, Sequence[float]],
    ours: Mapping[str, Sequence[float]],
    *,
    digits: int,
) -> None:
    """Print what a paper says of its data sets, and what holds of ours.

    Parameters
    ----------
    title : str
        Paper and table.
    columns : sequence of str
        What is counted.
    published, ours : mapping of str to sequence of float
        By data set; those of ours are printed.
    digits : int
        Decimals of what is no whole number.
    """
    lines = []
    for name, own in ours.items():
        for data, source, row in ((name, "published", published[name]), ("", "ours", own)):
            shown = (f"{v:.{digits}f}" if isinstance(v, float) else str(v) for v in row)
            lines.append((data, source, *shown))
    print_table(title, ("data", "", *columns), lines)


def print_measures(
    title: str,
    measures: Sequence[Measure],
    methods: Sequence[str],
    found: Found,
    published: Mapping[str, pd.DataFrame],
    *,
    digits: int,
    footer: Footer | None = None,
    prints: Mapping[str, str] | None = None,
) -> None:
    """Print one table a measure: published and ours, and what the paper prints below.

    Parameters
    ----------
    title : str
        Paper and tables.
    measures : sequence of Measure
        The tables.
    methods : sequence of str
        The columns.
    found : mapping
        Our runs, by data set and method.
    published : mapping of str to DataFrame
        Printed tables by measure.
    digits : int
        Decimals that the paper prints.
    footer : callable, optional
        Makes the last lines from a table.
    prints : mapping of str to str, optional
        The method whose printed column stands beside one of ours; the same by default.
    """
    ours = means(found, measures)
    for k, measure in enumerate(measures):
        lines, good, counted = [], 0, 0
        for data in dict.fromkeys(name for name, _ in found):
            theirs, mine = [], []
            for method in methods:
                value = _printed(published[measure.key], data, (prints or {}).get(method, method))
                runs = [run[k] for run in found.get((data, method), ())]
                theirs.append("" if value is None else f"{value:.{digits}f}")
                mine.append(_ours(runs, digits))
                if value is not None and runs:
                    mean = round(float(np.mean(runs)), digits)
                    good += mean >= value if measure.larger_is_better else mean <= value
                    counted += 1
            lines += [(data, "published", *theirs), ("", "ours", *mine)]
        if footer is not None:
            for source, table in (
                ("published", published[measure.key]),
                ("ours", ours[measure.key]),
            ):
                kept = [method for method in methods if method in table]
                for name, cells in footer(table[kept], measure):
                    lines.append((name, source, *(cells.get(method, "") for method in methods)))
        print_table(f"{title}: {measure.title}", ("data", "", *methods), lines)
        print_note(f"as good as printed: {good} of {counted}")
    if any(len(runs) > 1 for runs in found.values()):
        print_note(f"runs: {_numbers_of_runs(found)}")


def _numbers_of_runs(found: Found) -> str:
    """Return how many runs each mean is over, by data set, with the methods that have others."""
    texts = []
    for data in dict.fromkeys(name for name, _ in found):
        numbers = {method: len(runs) for (name, method), runs in found.items() if name == data}
        usual = mode(numbers.values())
        others = [f"{method} {number}" for method, number in numbers.items() if number != usual]
        texts.append(f"{data} {usual}" + (f" ({', '.join(others)})" if others else ""))
    return ", ".join(texts)


def _printed(table: pd.DataFrame, data: str, method: str) -> float | None:
    if data not in table.index or method not in table.columns:
        return None
    return float(table.loc[data, method])


def _ours(runs: Sequence[float], digits: int) -> str:
    if not runs:
        return "not run"
    spread = f" ± {np.std(runs):.{digits}f}" if len(runs) > 1 else ""
    return f"{np.mean(runs):.{digits}f}{spread}"


def print_t_tests(
    title: str,
    measures: Sequence[Measure],
    found: Found,
    reference: str,
    published: Mapping[str, str],
) -> None:
    """Print wins, ties and losses of a method by paired t-tests, and on which data sets they are.

    Parameters
    ----------
    title : str
        Paper and table.
    measures : sequence of Measure
        The lines.
    found : mapping
        Our runs, by data set and method; runs of the same number are on the same split.
    reference : str
        The method that is counted for.
    published : mapping of str to str
        By method the printed counts over all measures, "wins/ties/losses".
    """
    kinds = ("win", "tie", "loss")
    lines, total = [], {method: [0, 0, 0] for method in published}
    for k, measure in enumerate(measures):
        splits: dict[str, dict[str, pd.Series]] = {}
        for (name, method), runs in found.items():
            splits.setdefault(name, {})[method] = pd.Series([run[k] for run in runs])
        frames = {name: pd.DataFrame(own) for name, own in splits.items() if reference in own}
        outcomes = t_tests(frames, reference, larger_is_better=measure.larger_is_better)
        cells = []
        for method in published:
            own = {name: outcome for (name, m), outcome in outcomes.items() if m == method}
            tally = [sum(outcome == kind for outcome in own.values()) for kind in kinds]
            total[method] = [a + b for a, b in zip(total[method], tally, strict=True)]
            where = ", ".join(f"{name} {outcome}" for name, outcome in own.items())
            cells.append("/".join(map(str, tally)) + f" ({where})" if own else "not run")
        lines.append((measure.title, *cells))
    lines.append(("total, ours", *("/".join(map(str, total[m])) for m in published)))
    lines.append(("total, published", *published.values()))
    print_table(title, ("measure", *published), lines)
