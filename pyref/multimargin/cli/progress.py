"""A bar that shows how a fit proceeds."""

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, redirect_stdout
from io import TextIOBase
from math import isfinite, log10
from time import monotonic
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn

from multimargin.cli.output import tell

# Of lines where there is no terminal.
_SECONDS_BETWEEN_LINES = 10.0


class Lines(TextIOBase):
    """What a fit prints of its progress: the latest line in a display, or one every ten seconds."""

    def __init__(self, progress: Progress, task: Any) -> None:
        self._progress = progress
        self._task = task
        self._said = monotonic()

    def write(self, text: str) -> int:
        """Show a text, unless it is blank."""
        line = text.strip()
        if line:
            self._progress.update(self._task, note=line)
            if self._progress.disable and monotonic() - self._said > _SECONDS_BETWEEN_LINES:
                self._said = monotonic()
                tell(line)
        return len(text)


class EpochBar:
    """A scikit-learn callback that shows each epoch and how far the duality gap has closed.

    Where the display is no terminal, it writes a line every ten seconds.
    """

    def __init__(self, progress: Progress, task: Any, tol: float) -> None:
        self._progress = progress
        self._task = task
        self._tol = tol
        self._lines = Lines(progress, task)

    def setup(self, estimator: Any, context: Any) -> None:
        """Do nothing: the display belongs to the caller."""

    def on_fit_task_begin(self, estimator: Any, context: Any) -> None:
        """Do nothing: an epoch is shown when it is over."""

    def on_fit_task_end(
        self, estimator: Any, context: Any, *, metadata: dict[str, Any] | None = None
    ) -> None:
        """Show an epoch; the end of the fit itself comes without metadata."""
        if metadata is None:
            return
        gap = metadata["gap"]
        note = f"epoch {metadata['epoch']}, duality gap {gap:.1e}"
        self._progress.update(self._task, total=1.0, completed=closed_part(gap, self._tol))
        self._lines.write(note)

    def teardown(self, estimator: Any, context: Any) -> None:
        """Do nothing: the display belongs to the caller."""


def closed_part(gap: float, tol: float) -> float:
    """Return how much of the way from a gap of 1 to the tolerance is done, on a log scale."""
    if gap <= tol:
        return 1.0
    if not isfinite(gap) or gap >= 1.0 or tol >= 1.0:
        return 0.0
    return log10(gap) / log10(tol) if tol > 0.0 else 0.0


def new_progress(console: Console, *, transient: bool = False) -> Progress:
    """Return a display of fits, to be used as a context manager.

    A `transient` one disappears at the end, and is not shown at all where there is no terminal.
    """
    return Progress(
        SpinnerColumn("line"),
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.fields[note]}"),
        console=console,
        transient=transient,
        disable=transient and not console.is_terminal,
    )


@contextmanager
def shown_fit(progress: Progress, title: str, model: Any) -> Iterator[None]:
    """Show the epochs of a model that is fitted meanwhile.

    Where it takes no callbacks (scikit-learn before 1.9, or a classifier of other parts), only a
    spinner is shown. Of a search, what it prints of its settings is.
    """
    task = progress.add_task(title, total=None, note="")
    searches = hasattr(model, "cv_tol") and not model.verbose
    if searches:
        model.set_params(verbose=1)
    has_callbacks = hasattr(model, "set_callbacks") and hasattr(model, "tol")
    if has_callbacks:
        model.set_callbacks(EpochBar(progress, task, model.tol))
    try:
        with redirect_stdout(Lines(progress, task)) if searches else nullcontext():
            yield
    finally:
        if searches:
            model.set_params(verbose=0)
        if has_callbacks:
            # A display cannot be pickled with the model.
            model.set_callbacks()
    progress.update(task, total=1.0, completed=1.0)
