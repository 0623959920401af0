"""The tables of a comparison: results, ranks and tests, certificates, failures, parameters."""

import json
from collections.abc import Sequence
from math import isnan
from typing import Any

import numpy as np
import pandas as pd

from multimargin.compare.measured import DEFAULT, MEASURED, Measured, find_measured
from multimargin.compare.report.collect import (
    check_comparable,
    per_data,
    per_split,
    test_train_ratios,
    value_of,
)
from multimargin.compare.report.label_measures import label_measures
from multimargin.compare.report.table import Table
from multimargin.compare.results import Result
from multimargin.compare.statistics.differences import rounded
from multimargin.compare.statistics.ranks import (
    Ranks,
    average_ranks,
    friedman_test,
    nemenyi_test,
    wilcoxon_tests,
)
from multimargin.compare.statistics.win_tie_loss import win_tie_loss

_TESTS = {
    "corrected": "corrected paired t-test (Nadeau and Bengio)",
    "paired": "paired t-test",
    "none": "means alone, without a test",
}


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
                "error": None if result.error is None else _message(result),
                "estimator": json.dumps(result.estimator),
                "job": result.job,
            }
        )
    return pd.DataFrame(rows)


def results_tables(
    results: Sequence[Result], measures: str | Sequence[str] = DEFAULT
) -> list[Table]:
    """Lay out means and standard deviations over the splits, one row a method.

    Parameters
    ----------
    results : sequence of Result
        The results.
    measures : sequence of str or "all"
        Keys of `multimargin.compare.measured.MEASURED`.

    Returns
    -------
    list of Table
        One table with a column a measure for one data set; for several, one table a measure with a
        column a data set and the average ranks. The best means are emphasised.

    Raises
    ------
    ValueError
        If there is no result or no such measure, or the results cannot stand side by side.
    """
    wanted = find_measured(measures)
    tables = {measured: per_split(results, measured.name) for measured in wanted}
    data = list(dict.fromkeys(result.data for result in results))
    if len(data) == 1:
        columns = {
            f"{measured.title} {measured.arrow}": _column(table, measured)
            for measured, table in tables.items()
        }
        return [_table(f"{data[0]}: {_spread(results)}", columns, tables.values())]
    laid_out = []
    for measured, table in tables.items():
        columns = {
            name: _column(table.loc[[name]], measured) for name in table.index.unique("data")
        }
        ranks = average_ranks(per_data(table), larger_is_better=measured.larger_is_better)
        if not ranks.average.empty:
            best = rounded(ranks.average) == rounded(ranks.average).min()
            texts = [f"{value:.2f}" for value in ranks.average]
            by_method = dict(zip(ranks.average.index, zip(texts, best, strict=True), strict=True))
            cells = [by_method.get(method, ("–", False)) for method in table.columns]
            columns["average rank"] = ([text for text, _ in cells], [flag for _, flag in cells])
        title = f"{_capital(measured.title)} {measured.arrow}, {_spread(results)}"
        laid_out.append(_table(title, columns, [table], _left_out(ranks)))
    return laid_out


def win_tie_loss_table(
    results: Sequence[Result],
    measures: str | Sequence[str] = DEFAULT,
    *,
    reference: str | None = None,
    test: str = "corrected",
    alpha: float = 0.05,
) -> Table:
    """Count wins, ties and losses of one method over the data sets.

    Parameters
    ----------
    results : sequence of Result
        The results.
    measures : sequence of str or "all"
        The measures, one column each.
    reference : str, default=None
        The method; the first when None.
    test : {"corrected", "paired", "none"}, default="corrected"
        See `win_tie_loss`.
    alpha : float, default=0.05
        Level of the test.

    Returns
    -------
    Table
        One row a compared method, cells "win/tie/loss" of the reference; "+ n untested" where there
        were too few splits.

    Raises
    ------
    ValueError
        If an argument is malformed.
    """
    reference = first_method(results) if reference is None else reference
    ratios = test_train_ratios(results)
    columns, notes = {}, _Notes()
    wanted = find_measured(measures)
    for measured in wanted:
        counted = win_tie_loss(
            per_split(results, measured.name),
            reference,
            larger_is_better=measured.larger_is_better,
            test=test,
            test_train_ratios=ratios,
            alpha=alpha,
        )
        columns[f"{measured.title} {measured.arrow}"] = [
            f"{row.win}/{row.tie}/{row.loss}" + (f" + {row.untested} untested" * (row.untested > 0))
            for row in counted.counts.itertuples()
        ]
        for row in counted.details.itertuples():
            notes.add(row.note, measured, f"{row.data}, {row.method}")
        index = counted.counts.index
    level = "" if test == "none" else f" at {100 * alpha:g} %"
    cells = pd.DataFrame(columns, index=index.set_names(f"{reference} against"))
    title = f"Win/tie/loss of {reference} over data sets, {_TESTS[test]}{level}"
    return Table(title, cells, notes=notes.merged(wanted))


def rank_tests_table(
    results: Sequence[Result],
    measures: str | Sequence[str] = DEFAULT,
    *,
    reference: str | None = None,
    alpha: float = 0.05,
) -> list[Table]:
    """Lay out the tests over data sets.

    Parameters
    ----------
    results : sequence of Result
        The results.
    measures : sequence of str or "all"
        The measures, one row each.
    reference : str, default=None
        The method that Wilcoxon's test compares with the others; the first when None.
    alpha : float, default=0.05
        Level of the tests.

    Returns
    -------
    list of Table
        Friedman's test with the critical difference, and Wilcoxon's.

    Raises
    ------
    ValueError
        If an argument is malformed.
    """
    reference = first_method(results) if reference is None else reference
    friedman, wilcoxon = [], {}
    notes, wilcoxon_notes = _Notes(), _Notes()
    wanted = find_measured(measures)
    for measured in wanted:
        table = per_data(per_split(results, measured.name))
        options: dict[str, Any] = {"larger_is_better": measured.larger_is_better, "alpha": alpha}
        test, after = friedman_test(table, **options), nemenyi_test(table, **options)
        friedman.append(
            {
                "data sets": str(len(test.ranks.ranks)),
                "Friedman χ²": _statistic(test.chi_square, test.chi_square_p_value),
                "Iman-Davenport F": _statistic(test.f, test.f_p_value),
                "critical difference (Nemenyi)": _number(after.critical_difference, ".3g"),
            }
        )
        for note in (test.note, after.note, *_left_out(test.ranks)):
            notes.add(note, measured)
        pairs = wilcoxon_tests(table, reference, **options)
        wilcoxon[f"{measured.title} {measured.arrow}"] = [
            f"{row.outcome} (p = {_number(row.p_value, '.2g')})"
            if row.outcome != "untested"
            else row.outcome
            for row in pairs.itertuples()
        ]
        for row in pairs.itertuples():
            wilcoxon_notes.add(row.note, measured, str(row.Index))
    index = pd.Index([measured.title for measured in wanted], name="measure")
    tables = [
        Table(
            f"Ranks over data sets, tests at {100 * alpha:g} %",
            pd.DataFrame(friedman, index=index),
            notes=notes.merged(wanted),
        )
    ]
    if len(pairs):
        tables.append(
            Table(
                f"Wilcoxon's signed ranks of {reference} over data sets, at {100 * alpha:g} %",
                pd.DataFrame(wilcoxon, index=pairs.index.set_names(f"{reference} against")),
                notes=wilcoxon_notes.merged(wanted),
            )
        )
    return tables


def certificates_table(results: Sequence[Result]) -> Table | None:
    """Lay out how far the fits are from their optima.

    Parameters
    ----------
    results : sequence of Result
        The results.

    Returns
    -------
    Table or None
        One row a data set and method with certificates; None without any.
    """
    certified: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for result in results:
        if result.certificate is not None:
            certified.setdefault((result.data, result.method), []).append(result.certificate)
    if not certified:
        return None
    rows = []
    for (_, method), found in certified.items():
        statuses = pd.Series([entry["status"] for entry in found]).value_counts()
        gaps = [entry["gap"] for entry in found]
        known = [gap for gap in gaps if gap is not None and np.isfinite(gap)]
        worst = f"{max(known):.1e}" if len(known) == len(gaps) else "unknown"
        rows.append(
            {
                "method": method,
                "status": ", ".join(f"{count} {status}" for status, count in statuses.items()),
                "largest gap": worst,
                "tol": f"{found[0]['tol']:g}",
                "mean epochs": f"{np.mean([entry['n_iter'] for entry in found]):.1f}",
            }
        )
    index = pd.Index([data for data, _ in certified], name="data")
    return Table("Certificates: relative duality gaps", pd.DataFrame(rows, index=index))


def label_table(results: Sequence[Result], data: str, *, limit: int = 200) -> Table | None:
    """Lay out the F1 of each label, from the counts of all test rows together.

    Parameters
    ----------
    results : sequence of Result
        The results.
    data : str
        Name of the data set.
    limit : int, default=200
        Largest number of labels shown; the most frequent ones are.

    Returns
    -------
    Table or None
        One row a label, one column a method; "–" where a label is neither true nor predicted. None
        if all methods failed.
    """
    found = label_measures(results, data)
    if not found.measures:
        return None
    order = np.sort(np.argsort(-found.support, kind="stable")[:limit])
    index = pd.Index(
        [f"{found.label_names[label]} ({found.support[label]})" for label in order],
        name="label (rows)",
    )
    f1 = pd.DataFrame(
        {method: of_method["f1"][order] for method, of_method in found.measures.items()},
        index=index,
    )
    cells = f1.map(lambda value: _number(value, ".3f"))
    left_out = found.support.size - order.size
    notes = (f"without the {left_out} rarest labels",) if left_out else ()
    title = f"{data}: F1 of each label, all splits together"
    return Table(title, cells, f1.eq(f1.max(axis=1), axis=0), notes)


def failures_table(results: Sequence[Result]) -> Table | None:
    """Lay out what failed, and why.

    Parameters
    ----------
    results : sequence of Result
        The results.

    Returns
    -------
    Table or None
        One row a method and data set, or None without failures.
    """
    failed: dict[tuple[str, str, str], list[str]] = {}
    for result in results:
        if result.failed:
            failed.setdefault((result.data, result.method, _message(result)), []).append(
                result.split
            )
    return _messages_table("Failures", "error", failed)


def remarks_table(results: Sequence[Result]) -> Table | None:
    """Lay out what to know about results that did not fail.

    Parameters
    ----------
    results : sequence of Result
        The results.

    Returns
    -------
    Table or None
        Warnings, methods without scores, labels with one class in a training part; None without
        any.
    """
    found: dict[tuple[str, str, str], list[str]] = {}
    for result in results:
        for warning in result.warnings:
            found.setdefault((result.data, result.method, warning), []).append(result.split)
        if result.scores == "predict":
            remark = "has no scores: its labels tie in the ranking measures"
            found.setdefault((result.data, result.method, remark), []).append(result.split)
        if result.one_class_labels:
            remark = f"one class in the training part: {', '.join(result.one_class_labels)}"
            splits = found.setdefault((result.data, "all", remark), [])
            if result.split not in splits:
                splits.append(result.split)
    return _messages_table("Remarks", "remark", found)


def _messages_table(
    title: str, column: str, splits_of: dict[tuple[str, str, str], list[str]]
) -> Table | None:
    """Lay out messages by data set and method, with the splits that each is about."""
    if not splits_of:
        return None
    rows = [
        {"method": method, "splits": _list(splits), column: message}
        for (_, method, message), splits in splits_of.items()
    ]
    index = pd.Index([data for data, _, _ in splits_of], name="data")
    return Table(title, pd.DataFrame(rows, index=index), numeric=False)


def parameters_table(results: Sequence[Result]) -> Table:
    """Lay out the estimators with all their parameters.

    Parameters
    ----------
    results : sequence of Result
        The results.

    Returns
    -------
    Table
        One row a method.
    """
    estimators = {result.method: result.estimator for result in results}
    texts = [_expression(estimator) for estimator in estimators.values()]
    index = pd.Index(list(estimators), name="method")
    return Table("Methods", pd.DataFrame({"estimator": texts}, index=index), numeric=False)


def data_table(results: Sequence[Result]) -> Table:
    """Lay out the data sets.

    Parameters
    ----------
    results : sequence of Result
        The results.

    Returns
    -------
    Table
        One row a data set.
    """
    firsts = {result.data: result for result in reversed(results)}
    rows, names = [], list(dict.fromkeys(result.data for result in results))
    for name in names:
        first = firsts[name]
        splits = dict.fromkeys(result.split for result in results if result.data == name)
        rows.append(
            {
                "rows, train + test": f"{first.shape['n_train']} + {first.shape['n_test']}",
                "features": str(first.shape["n_features"]),
                "labels": str(first.shape["n_labels"]),
                "splits": str(len(splits)),
                "scaling": first.scaling,
                "fingerprint": first.fingerprint[:8],
            }
        )
    return Table("Data", pd.DataFrame(rows, index=pd.Index(names, name="data")))


def environments_table(results: Sequence[Result]) -> Table:
    """Lay out versions and machines.

    Parameters
    ----------
    results : sequence of Result
        The results.

    Returns
    -------
    Table
        One column an environment; more than one if results come from different ones.
    """
    distinct = list({json.dumps(r.environment): r.environment for r in results}.values())
    names = list(dict.fromkeys(name for environment in distinct for name in environment))
    columns = {
        "" if len(distinct) == 1 else f"environment {number}": [
            environment.get(name, "") for name in names
        ]
        for number, environment in enumerate(distinct, start=1)
    }
    notes = () if len(distinct) == 1 else ("the results come from different environments",)
    return Table(
        "Versions and machine",
        pd.DataFrame(columns, index=pd.Index(names, name="what")),
        notes=notes,
        numeric=False,
    )


def first_method(results: Sequence[Result]) -> str:
    """Return the method of the first result.

    Parameters
    ----------
    results : sequence of Result
        The results.

    Returns
    -------
    str
        The name.

    Raises
    ------
    ValueError
        If there is no result.
    """
    check_comparable(results)
    return results[0].method


Column = tuple[list[str], list[bool]]


def _column(table: pd.DataFrame, measured: Measured) -> Column:
    """Write the cells of one measure on one data set, by method."""
    texts: list[str] = []
    means = []
    for method in table.columns:
        values = table[method].dropna()
        complete = len(values) == len(table)
        means.append(values.mean() if complete else float("nan"))
        if not len(values):
            texts.append("failed" if len(table) else "–")
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


def _left_out(ranks: Ranks) -> tuple[str, ...]:
    methods = [
        f"not ranked: {method}, without a value on any data set" for method in ranks.without_values
    ]
    data = [
        f"not ranked: data {name}, where {' and '.join(lacking)} "
        f"{'lacks' if len(lacking) == 1 else 'lack'} a value"
        for name, lacking in ranks.left_out.items()
    ]
    return (*methods, *data)


class _Notes:
    """Notes on measures, of which most are the same for all of them."""

    def __init__(self) -> None:
        self._found: dict[str, dict[str, list[str]]] = {}

    def add(self, text: str, measured: Measured, where: str = "") -> None:
        if text:
            self._found.setdefault(text, {}).setdefault(where, []).append(measured.title)

    def merged(self, wanted: Sequence[Measured]) -> tuple[str, ...]:
        notes: dict[tuple[str, tuple[str, ...]], list[str]] = {}
        for text, places in self._found.items():
            for where, found in places.items():
                notes.setdefault((text, tuple(dict.fromkeys(found))), []).append(where)
        sentences = []
        for (text, titles), wheres in notes.items():
            parts = [] if len(titles) == len(wanted) else [", ".join(titles)]
            named = [where for where in wheres if where]
            if named:
                parts.append("; ".join(named) if len(named) <= 3 else f"{len(named)} comparisons")
            sentences.append(f"{'; '.join(parts)}: {text}" if parts else text)
        return tuple(sentences)


def _capital(title: str) -> str:
    return title[:1].upper() + title[1:]


def _value(value: float, measured: Measured) -> str:
    return f"{value:.3g}" if measured.name.endswith("seconds") else f"{value:.4f}"


def _number(value: float, form: str) -> str:
    return "–" if isnan(value) else format(value, form)


def _statistic(value: float, p_value: float) -> str:
    return "–" if isnan(value) else f"{value:.2f} (p = {p_value:.2g})"


def _message(result: Result) -> str:
    assert result.error is not None
    return f"{result.error['type']}: {result.error['message']}"


def _list(splits: Sequence[str]) -> str:
    return "; ".join(splits) if len(splits) <= 2 else f"{len(splits)} splits"


def _expression(described: Any) -> str:
    """Write a described estimator as the call that would make it."""
    if isinstance(described, dict) and set(described) == {"class", "parameters"}:
        arguments = (
            f"{name}={_expression(value)}" for name, value in described["parameters"].items()
        )
        return f"{described['class']}({', '.join(arguments)})"
    return repr(described)
