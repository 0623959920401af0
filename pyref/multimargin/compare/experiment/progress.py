"""How far an experiment has come, shown with rich where it is installed."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from multimargin.compare.results import Result

Shown = Callable[[Result], None]


@contextmanager
def progress_display(wanted: bool, n_jobs_known: int, n_jobs_total: int) -> Iterator[Shown]:
    """Show a bar on the standard error stream, where it is wanted, while the context is open.

    Yields a callable that takes each new result.
    """
    if not wanted:
        yield _nothing
        return
    try:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
        from rich.progress import TimeRemainingColumn as Remaining
        from rich.text import Text
    except ImportError:
        yield _nothing
        return

    console = Console(stderr=True)
    columns = (BarColumn(), MofNCompleteColumn(), Remaining(), TextColumn("{task.fields[note]}"))
    # A log file gets the failures, not every state of a bar.
    watched = console.is_terminal or console.is_jupyter
    with Progress(*columns, console=console, disable=not watched) as progress:
        task = progress.add_task("", total=n_jobs_total, completed=n_jobs_known, note="")

        def show(result: Result) -> None:
            name = f"{result.data}, {result.split}, {result.method}"
            # Names may hold what rich takes for markup.
            progress.update(task, advance=1, note=name.replace("[", "\\["))
            if result.error is not None:
                message = f"failed: {name}: {result.error['type']}: {result.error['message']}"
                console.print(Text(message, style="red"))

        yield show


def _nothing(result: Result) -> None:
    pass
