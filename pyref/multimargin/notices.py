"""Warnings that name the caller's line."""

import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar, copy_context
from functools import partial
from typing import ParamSpec, TypeVar

from multimargin.whole_process import WhileAny

# Packages whose frames are skipped to find the caller's line.
_BETWEEN = {"multimargin", "sklearn", "joblib", "contextlib"}
_SILENCED: ContextVar[tuple[type[Warning], ...]] = ContextVar("silenced", default=())
_TOLD: ContextVar[set[tuple[str, type[Warning]]] | None] = ContextVar("told", default=None)


def warn(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn, as from the innermost line outside of this package and of scikit-learn."""
    told = _TOLD.get()
    if issubclass(category, _SILENCED.get()) or (told is not None and (message, category) in told):
        return
    if told is not None:
        told.add((message, category))
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

    `warnings.catch_warnings` changes a list of the whole process, which threads that use it at the
    same time restore in the wrong order.
    """
    token = _SILENCED.set(_SILENCED.get() + categories)
    try:
        yield
    finally:
        _SILENCED.reset(token)


def filters_put_back() -> AbstractContextManager[None]:
    """Put the warning filters back, which threads of scikit-learn may leave changed.

    The last of several threads in this context puts back what the first of them found.
    """
    return _FILTERS()


def _kept() -> Callable[[], None]:
    """Keep the warning filters, and return what puts them back."""
    filters = warnings.catch_warnings()
    filters.__enter__()
    return partial(filters.__exit__, None, None, None)


_FILTERS = WhileAny(_kept)


_P = ParamSpec("_P")
_R = TypeVar("_R")


def telling_once(function: Callable[_P, _R], *args: _P.args, **named: _P.kwargs) -> _R:
    """Call a function, in which `warn` does not give a warning twice in this thread.

    The call has its own context, so that nothing is left behind whenever Ctrl-C arrives.
    """
    context = copy_context()
    if context.get(_TOLD) is None:
        context.run(_TOLD.set, set())
    return context.run(function, *args, **named)
