"""One HTML file with everything about a comparison, which needs nothing else to be read."""

from base64 import b64encode
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

from multimargin.compare.measured import DEFAULT
from multimargin.compare.report.collect import check_comparable
from multimargin.compare.report.conditions import (
    certificates_table,
    data_table,
    environments_table,
    failures_table,
    label_table,
    parameters_table,
    remarks_table,
    tuning_table,
)
from multimargin.compare.report.figures import critical_difference_images, data_images
from multimargin.compare.report.significance import rank_tests_table, win_tie_loss_table
from multimargin.compare.report.table import Table
from multimargin.compare.report.tables import results_tables
from multimargin.compare.report.verdict import verdict
from multimargin.compare.report.wording import date_in_words
from multimargin.compare.results import Result
from multimargin.files import write_text

_TEMPLATE = "report.html.jinja"
# Characters in a line of A4 in small print.
_LINE = 105


def make_report(
    results: Sequence[Result],
    *,
    measures: str | Sequence[str] = DEFAULT,
    reference: str | None = None,
    test: str = "corrected",
    alpha: float = 0.05,
    title: str = "Comparison of multi-label methods",
    command: str | None = None,
) -> str:
    """Write a comparison as one HTML document.

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
    title : str
        Title of the document.
    command : str or None, default=None
        The command line that made it, to be shown.

    Returns
    -------
    str
        The document: who wins in one sentence, results, ranks, wins, ties and losses, critical
        differences, failures, plots and measures by label for each data set, parameters, versions
        and machine. Pictures are inside, all names are escaped. Without matplotlib it has no plots
        and says so.

    Raises
    ------
    ValueError
        If the results cannot stand side by side: a data set with different contents, scalings or
        kinds of splits, a method with different parameters.
    """
    from jinja2 import Environment

    check_comparable(results)
    names = list(dict.fromkeys(result.data for result in results))
    comparison = [
        win_tie_loss_table(results, measures, reference=reference, test=test, alpha=alpha)
    ]
    if len(names) > 1:
        comparison += rank_tests_table(results, measures, reference=reference, alpha=alpha)
    pictures: dict[str, list[Any]] = {name: [] for name in names}
    critical_differences: list[Any] = []
    plots_missing = ""
    try:
        critical_differences += critical_difference_images(results, measures, alpha=alpha)
        for name in names:
            pictures[name] += data_images(results, name)
    except ImportError as error:
        plots_missing = f"Without plots: {error}."
    failures = failures_table(results)
    conditions = [
        tuning_table(results),
        certificates_table(results),
        remarks_table(results),
        data_table(results),
        parameters_table(results),
        environments_table(results),
    ]
    sections = {
        "results": "Results",
        "comparison": "Comparison",
        "failures": "Failures",
        "data": "Data set by data set",
        "conditions": "Conditions",
    }
    if failures is None:
        del sections["failures"]
    environment = Environment(autoescape=True, trim_blocks=False)
    environment.filters["base64"] = lambda content: b64encode(content).decode("ascii")
    template = environment.from_string(
        files("multimargin.compare.report").joinpath(_TEMPLATE).read_text(encoding="utf-8")
    )
    return template.render(
        title=title,
        verdict=verdict(results, measures, test=test, alpha=alpha),
        summary=_summary(results),
        command=command,
        sections=sections,
        results=_whole(results_tables(results, measures)),
        comparison=_whole(comparison),
        critical_differences=critical_differences,
        failures=failures,
        tracebacks=_tracebacks(results),
        data=[
            {"name": name, "images": pictures[name], "labels": _whole([labels])}
            for name, labels in ((name, label_table(results, name)) for name in names)
        ],
        plots_missing=plots_missing,
        conditions=[table for table in conditions if table is not None],
    )


def write_report(results: Sequence[Result], path: str | Path, **options: Any) -> None:
    """Write a comparison into an HTML file.

    Parameters
    ----------
    results : sequence of Result
        As for `make_report`.
    path : str or Path
        The file; it is replaced.
    **options : object
        As for `make_report`.
    """
    write_text(path, make_report(results, **options))


def _whole(tables: Sequence[Table | None]) -> list[Table]:
    """Exchange rows and columns where that makes a table fit on paper; a wider one scrolls."""
    found = [table for table in tables if table is not None]
    fitted = (table.within(_LINE) for table in found)
    return [
        parts[0] if len(parts) == 1 else table for table, parts in zip(found, fitted, strict=True)
    ]


def _summary(results: Sequence[Result]) -> str:
    n_data = len({result.data for result in results})
    n_methods = len({result.method for result in results})
    n_failed = sum(result.failed for result in results)
    failed = f", {n_failed} of them failed" if n_failed else ""
    last = date_in_words(max(result.finished for result in results))
    return (
        f"{n_methods} method{'s' * (n_methods > 1)} on {n_data} data set{'s' * (n_data > 1)}: "
        f"{len(results)} fit{'s' * (len(results) > 1)}{failed}. The last ended on {last}."
    )


def _tracebacks(results: Sequence[Result]) -> list[tuple[str, str]]:
    """Return one traceback for each method, data set and message."""
    found: dict[tuple[str, str, str], tuple[str, str]] = {}
    for result in results:
        if result.error is not None:
            key = (result.data, result.method, result.error["message"])
            name = f"{result.method} on {result.data}, {result.split}"
            found.setdefault(key, (name, result.error["traceback"]))
    return list(found.values())
