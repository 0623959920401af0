"""What came out of the race, in tables."""

from collections.abc import Mapping, Sequence
from typing import Any

from rich.table import Table
from rich.text import Text

from multimargin.cli.certificate import certificate
from multimargin.cli.demonstration.race import Outcome
from multimargin.cli.demonstration.words import plain
from multimargin.estimators.shared.certificate import gap_text
from multimargin.measures import MEASURES

_N_NEXT = 4


def measures_table(outcomes: Mapping[str, Outcome], criterion: str) -> Table:
    """Lay out all measures, one column a contestant tuned for `criterion`, the best in bold."""
    title = f"Tuned for {plain(criterion)}, measured on the test part"
    table = Table(title=title, title_justify="left", title_style="bold", box=None)
    table.add_column("", no_wrap=True)
    table.add_column("\nbetter", no_wrap=True)
    for name, outcome in outcomes.items():
        side = "" if outcome.ours else "one-vs-rest"
        table.add_column(f"{side}\n{name}", justify="right", no_wrap=True)
    results = [outcome.best[criterion] for outcome in outcomes.values()]
    for key, measure in MEASURES.items():
        values = [result.measures[key] for result in results]
        best = max(values) if measure.larger_is_better else min(values)
        cells = [Text(f"{v:.4f}", style="bold green" if v == best else "") for v in values]
        table.add_row(plain(key), measure.better, *cells)
    table.add_row("C, cross-validated", "", *(f"{result.C:g}" for result in results))
    table.add_row("one fit, seconds", "lower", *(f"{result.seconds:.2f}" for result in results))
    return table


def certificate_table(name: str, model: Any) -> Table:
    """Lay out how far a fitted pipeline is from the optimum."""
    found = certificate(model)
    assert found is not None
    title = f"Certificate of {name}"
    table = Table(
        title=title, title_justify="left", title_style="bold", show_header=False, box=None
    )
    table.add_column()
    table.add_column(justify="right")
    table.add_column()
    table.add_row("objective", f"{found['objective']:.6f}", "what this model costs")
    table.add_row("lower bound", f"{found['dual_objective']:.6f}", "no model costs less than this")
    table.add_row("relative gap", gap_text(found["dual_gap"]), f"stops at tol = {found['tol']:g}")
    table.add_row("status", found["status"], f"after {found['n_iter']} epochs")
    return table


def tags_table(found: Mapping[str, Sequence[tuple[str, bool, bool]]]) -> Table:
    """Lay out the best ranked tags of programs, as `words.ranked_tags` returns them.

    Predicted tags come first, then the next ones, with a star those that people gave.
    """
    table = Table(
        title="Tags of programs that were not fitted, the best ranked first (*: people gave it)",
        title_justify="left",
        title_style="bold",
        show_header=False,
        box=None,
    )
    table.add_column(style="bold", no_wrap=True)
    table.add_column(no_wrap=True)
    table.add_column()
    for program, tags in found.items():
        chosen = [tag for tag in tags if tag[1]]
        table.add_row(program, "predicted", _tags(chosen))
        table.add_row("", "next", _tags(tags[len(chosen) :][:_N_NEXT]))
    return table


def _tags(tags: Sequence[tuple[str, bool, bool]]) -> Text:
    written = Text()
    for position, (name, _, given) in enumerate(tags):
        written.append(", " if position else "")
        written.append(f"{name}*" if given else name, style="green" if given else "")
    return written if tags else Text("none")
