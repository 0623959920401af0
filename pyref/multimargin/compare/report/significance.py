"""The tables of tests: wins, ties and losses against a reference, ranks and their tests."""

from collections.abc import Sequence
from math import isnan
from typing import Any

import pandas as pd

from multimargin.compare.measured import DEFAULT, Measured, find_measured
from multimargin.compare.report.collect import (
    check_comparable,
    per_data,
    per_split,
    test_train_ratios,
)
from multimargin.compare.report.table import Table
from multimargin.compare.report.tables import readable
from multimargin.compare.report.wording import left_out, number_of
from multimargin.compare.results import Result
from multimargin.compare.statistics.ranks import friedman_test, nemenyi_test, wilcoxon_tests
from multimargin.compare.statistics.win_tie_loss import win_tie_loss

_TESTS = {
    "corrected": "corrected paired t-test (Nadeau and Bengio)",
    "paired": "paired t-test",
    "none": "means alone, without a test",
}


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
    results, measures, reference, test, alpha
        As in `make_report`; each measure has a column.

    Returns
    -------
    Table
        One row a compared method, cells "win/tie/loss" of the reference; "+ n untested" where there
        were too few splits.
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
    cells.columns.name = "measure"
    title = f"Win/tie/loss of {reference} over data sets, {_TESTS[test]}{level}"
    return readable(Table(title, cells, notes=notes.merged(wanted)))


def rank_tests_table(
    results: Sequence[Result],
    measures: str | Sequence[str] = DEFAULT,
    *,
    reference: str | None = None,
    alpha: float = 0.05,
) -> list[Table]:
    """Lay out the tests over data sets."""
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
                "critical difference (Nemenyi)": number_of(after.critical_difference, ".3g"),
            }
        )
        for note in (test.note, after.note, *left_out(test.ranks)):
            notes.add(note, measured)
        pairs = wilcoxon_tests(table, reference, **options)
        wilcoxon[f"{measured.title} {measured.arrow}"] = [
            f"{row.outcome} (p = {number_of(row.p_value, '.2g')})"
            if row.outcome != "untested"
            else row.outcome
            for row in pairs.itertuples()
        ]
        for row in pairs.itertuples():
            wilcoxon_notes.add(row.note, measured, str(row.Index))
    title = f"Ranks over data sets, tests at {100 * alpha:g} %"
    titles, told = [measured.title for measured in wanted], notes.merged(wanted)
    tables = [Table.of_rows(title, "measure", titles, friedman, notes=told)]
    if len(pairs):
        cells = pd.DataFrame(wilcoxon, index=pairs.index.set_names(f"{reference} against"))
        cells.columns.name = "measure"
        signed_ranks = Table(
            f"Wilcoxon's signed ranks of {reference} over data sets, at {100 * alpha:g} %",
            cells,
            notes=wilcoxon_notes.merged(wanted),
        )
        tables.append(readable(signed_ranks))
    return tables


def first_method(results: Sequence[Result]) -> str:
    """Return the method of the first result; raise ValueError if there is none."""
    check_comparable(results)
    return results[0].method


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


def _statistic(value: float, p_value: float) -> str:
    return "–" if isnan(value) else f"{value:.2f} (p = {p_value:.2g})"
