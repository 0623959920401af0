"""Warnings that name the caller's line."""

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

# Whose frames lie between the caller and what it is told.
_BETWEEN = {"multimargin", "sklearn", "joblib", "contextlib"}
_SILENCED: ContextVar[tuple[type[Warning], ...]] = ContextVar("silenced", default=())


def warn(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn, as from the innermost line outside of this package and of scikit-learn."""
    if issubclass(category, _SILENCED.get()):
        return
    level, frame = 2, sys._getframe(1)
    # Code that exec runs may have no name.
    while (
        frame.f_globals.get("__name__", "").partition(".")[0] in _BETWEEN
        and frame.f_back is not None
    ):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)


@contextmanager
def silenced(*categories: type[Warning]) -> Iterator[None]:
    """Keep `warn` from giving warnings of these kinds in this thread.

    `warnings.catch_warnings` changes a list of the whole process: threads that enter and leave it
    at the same time put each other's lists back.
    """
    token = _SILENCED.set(_SILENCED.get() + categories)
    try:
        yield
    finally:
        _SILENCED.reset(token)
