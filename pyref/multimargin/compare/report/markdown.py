"""A comparison as one Markdown document: the verdict, all tables, and their conditions."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from multimargin.compare.measured import DEFAULT
from multimargin.compare.report.conditions import (
    certificates_table,
    data_table,
    environments_table,
    failures_table,
    parameters_table,
    remarks_table,
    tuning_table,
)
from multimargin.compare.report.significance import rank_tests_table, win_tie_loss_table
from multimargin.compare.report.table import Table, escaped, to_markdown
from multimargin.compare.report.tables import results_tables
from multimargin.compare.report.verdict import verdict
from multimargin.compare.results import Result
from multimargin.files import write_text


def make_report(
    results: Sequence[Result],
    *,
    measures: str | Sequence[str] = DEFAULT,
    reference: str | None = None,
    test: str = "corrected",
    alpha: float = 0.05,
    command: str | None = None,
) -> str:
    """Write a comparison as one Markdown document.

    Parameters
    ----------
    results : sequence of Result
        Results of one experiment.
    measures : sequence of str or "all", default=DEFAULT
        Keys of `multimargin.compare.measured.MEASURED`.
    reference : str, default=None
        The method that is compared with the others; the first when None.
    test : {"corrected", "paired", "none"}, default="corrected"
        The test behind wins, ties and losses, see `win_tie_loss`.
    alpha : float, default=0.05
        Level of all tests, in (0, 1).
    command : str or None, default=None
        The command line that made it, to be shown.

    Returns
    -------
    str
        The document: who wins in one sentence, means, wins, ties and losses, ranks and their tests,
        parameters that were chosen, certificates, failures, remarks, data, parameters, versions and
        machine.

    Raises
    ------
    ValueError
        If the results cannot stand side by side: a data set with different contents, scalings or
        kinds of splits, a method with different parameters.
    """
    tables = comparison_tables(results, measures, reference=reference, test=test, alpha=alpha)
    tables += condition_tables(results)
    tables += [data_table(results), parameters_table(results), environments_table(results)]
    head = [f"# {escaped(verdict(results, measures, test=test, alpha=alpha))}"]
    head += [f"    {command}"] if command is not None else []
    return "\n\n".join([*head, to_markdown(tables)])


def write_report(results: Sequence[Result], path: str | Path, **options: Any) -> None:
    """Write a comparison into a Markdown file.

    Parameters
    ----------
    results : sequence of Result
        As for `make_report`.
    path : str or Path
        The file; it is replaced.
    **options : object
        As for `make_report`.
    """
    write_text(path, make_report(results, **options), streams=True)


def comparison_tables(
    results: Sequence[Result],
    measures: str | Sequence[str],
    *,
    reference: str | None,
    test: str,
    alpha: float,
) -> list[Table]:
    """Return the tables of means and of tests: of several methods, and of several data sets."""
    tables = results_tables(results, measures)
    if len({result.method for result in results}) > 1:
        tables.append(
            win_tie_loss_table(results, measures, reference=reference, test=test, alpha=alpha)
        )
        if len({result.data for result in results}) > 1:
            tables += rank_tests_table(results, measures, reference=reference, alpha=alpha)
    return tables


def condition_tables(results: Sequence[Result]) -> list[Table]:
    """Return the tables of the conditions of fits that are not empty."""
    tables = (certificates_table, tuning_table, failures_table, remarks_table)
    return [table for table in (make(results) for make in tables) if table is not None]
