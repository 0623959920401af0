"""Rank-SVM beside one-vs-rest SVM on real data: ``multimargin demo`` or ``make demo``."""

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from time import perf_counter
from typing import Any

from sklearn.multiclass import OneVsRestClassifier
from sklearn.svm import SVC

try:
    from rich.console import Console
    from rich.table import Table
except ImportError as error:
    raise ImportError(
        "the demo draws its tables with rich, which is not installed: pip install multimargin[cli]"
    ) from error

from multimargin import RankSVM
from multimargin.cli.progress import new_progress, shown_fit
from multimargin.datasets import MultilabelData, load_digit_attributes
from multimargin.measures import MEASURES, all_measures

C = 10.0
KERNEL = "rbf"
GAMMA = "scale"


@dataclass(frozen=True)
class Result:
    """What one method achieved.

    Parameters
    ----------
    model : estimator
        The fitted model.
    seconds : float
        Time of its fit.
    measures : dict of str to float
        All measures on the test part.
    """

    model: Any
    seconds: float
    measures: dict[str, float]


def compare(
    data: MultilabelData, fitting: Callable[[str, Any], AbstractContextManager[None]] | None = None
) -> dict[str, Result]:
    """Fit Rank-SVM and one-vs-rest SVM with the same kernel and C, and measure both.

    Parameters
    ----------
    data : MultilabelData
        Data with the splits "train" and "test".
    fitting : callable, optional
        Called with the name and the unfitted model of each method; returns a context manager that
        is open while the model is fitted.

    Returns
    -------
    dict of str to Result
        "RankSVM" and "one-vs-rest SVC".
    """
    X_train, X_test, Y_train, Y_test = data.train_test()
    models = {
        "RankSVM": RankSVM(C=C, kernel=KERNEL, gamma=GAMMA, random_state=0),
        "one-vs-rest SVC": OneVsRestClassifier(SVC(C=C, kernel=KERNEL, gamma=GAMMA)),
    }
    results = {}
    for name, model in models.items():
        with fitting(name, model) if fitting else nullcontext():
            start = perf_counter()
            model.fit(X_train, Y_train)
            seconds = perf_counter() - start
        measures = all_measures(Y_test, model.predict(X_test), model.decision_function(X_test))
        results[name] = Result(model, seconds, measures)
    return results


def measures_table(results: dict[str, Result]) -> Table:
    """Lay out all measures, one column a method, the better value in bold.

    Parameters
    ----------
    results : dict of str to Result
        Methods and what they achieved.

    Returns
    -------
    rich.table.Table
        The table.
    """
    table = Table(title="Measured on the test part", title_justify="left")
    table.add_column("measure")
    table.add_column("better is")
    for name in results:
        table.add_column(name, justify="right")
    for key, measure in MEASURES.items():
        values = [result.measures[key] for result in results.values()]
        best = max(values) if measure.larger_is_better else min(values)
        cells = [f"[bold green]{v:.4f}[/]" if v == best else f"{v:.4f}" for v in values]
        table.add_row(measure.title, measure.better, *cells)
    table.add_section()
    table.add_row("fit, seconds", "lower", *(f"{r.seconds:.3f}" for r in results.values()))
    return table


def certificate_table(model: RankSVM) -> Table:
    """Lay out how far a fit is from the optimum.

    Parameters
    ----------
    model : RankSVM
        A fitted model.

    Returns
    -------
    rich.table.Table
        The table.
    """
    table = Table(title="Certificate of the RankSVM fit", title_justify="left", show_header=False)
    table.add_column()
    table.add_column(justify="right")
    table.add_column()
    table.add_row("primal objective", f"{model.objective_:.6f}", "what this model costs")
    table.add_row("dual objective", f"{model.dual_objective_:.6f}", "no model costs less than this")
    table.add_row("relative duality gap", f"{model.dual_gap_:.2e}", f"stops at tol = {model.tol:g}")
    table.add_row("status", model.status_, f"after {model.n_iter_} epochs")
    return table


def main(data: MultilabelData | None = None, console: Console | None = None) -> None:
    """Run the demonstration and print its tables.

    Parameters
    ----------
    data : MultilabelData, optional
        Data with the splits "train" and "test"; the digit attributes by default.
    console : rich.console.Console, optional
        Where to print; the standard output by default.
    """
    data = data or load_digit_attributes()
    console = console or Console()
    console.print()
    console.print(_description(data))
    console.print()
    with new_progress(console) as progress:
        results = compare(data, lambda name, model: shown_fit(progress, f"fitting {name}", model))
    console.print()
    console.print(measures_table(results))
    console.print()
    console.print(certificate_table(results["RankSVM"].model))
    console.print(
        "\nThe digit alone decides these labels, which makes them easy for one-vs-rest: this is a "
        "problem for trying methods out, not one to rank them by. README.md shows how to go on.",
        highlight=False,
    )


def _description(data: MultilabelData) -> Table:
    grid = Table.grid(padding=(0, 2))
    grid.add_row("[bold]data[/]", f"{data.name}: {data.n_samples} rows, {data.n_features} features")
    grid.add_row("[bold]labels[/]", ", ".join(data.label_names))
    train, test = (len(data.splits[name]) for name in ("train", "test"))
    grid.add_row("[bold]task[/]", f"learn from {train} rows which labels apply to the other {test}")
    grid.add_row("[bold]models[/]", f"both with the {KERNEL} kernel and C = {C:g}")
    return grid
