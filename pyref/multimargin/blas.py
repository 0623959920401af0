"""One thread for BLAS and LAPACK.

Rounding depends on the number of threads, and on a busy machine each call with several threads
waits for the slowest of them: many short calls then take many times as long as with one thread.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache, wraps
from importlib import import_module
from threading import RLock
from typing import Any, ParamSpec, TypeVar
from weakref import WeakSet

from threadpoolctl import OpenBLASController, ThreadpoolController

_P = ParamSpec("_P")
_R = TypeVar("_R")


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Limit BLAS and LAPACK to one thread while any thread of Python is in this context."""
    stay = _Stay()
    try:
        _LIMIT.enter(stay)
        yield
    finally:
        try:
            _LIMIT.leave(stay)
        except KeyboardInterrupt:
            # It may have come before anything was done.
            _LIMIT.leave(stay)
            raise


def with_one_blas_thread(function: Callable[_P, _R]) -> Callable[_P, _R]:
    """Make a function call BLAS and LAPACK with one thread."""

    @wraps(function)
    def wrapped(*args: _P.args, **kwargs: _P.kwargs) -> _R:
        with one_blas_thread():
            return function(*args, **kwargs)

    return wrapped


class _Stay:
    """A thread's stay in the context."""


class _Limit:
    """The limit of the whole process: the first stay sets it, the end of the last one lifts it.

    Python checks for Ctrl-C after calls, but never between acquiring a lock and entering its block:
    `with` never leaves a lock acquired.
    """

    def __init__(self) -> None:
        self._lock = RLock()
        # Weak references: a stay that Ctrl-C ended before it could leave disappears as well.
        self._stays: WeakSet[_Stay] = WeakSet()
        # The libraries with their numbers of threads before the limit; empty if there is none.
        self._before: list[tuple[Any, int]] = []

    def enter(self, stay: _Stay) -> None:
        with self._lock:
            self._stays.add(stay)
            if not self._before:
                self._before = [(one, one.get_num_threads()) for one in _libraries()]
                _set([(one, 1) for one, _ in self._before])

    def leave(self, stay: _Stay) -> None:
        with self._lock:
            self._stays.discard(stay)
            if not self._stays:
                _set(self._before)
                self._before = []


_LIMIT = _Limit()


def _set(numbers: list[tuple[Any, int]]) -> None:
    """Set numbers of threads of libraries."""
    # From threadpoolctl 3.8 on, one thread alone can.
    take_control = getattr(OpenBLASController, "clear_controlling_thread", None)
    if numbers and take_control is not None:
        take_control(force=True)
    for library, number in numbers:
        library.set_num_threads(number)
    if numbers and take_control is not None:
        take_control(force=True)


@cache
def _libraries() -> list[Any]:
    """Return the libraries that NumPy and SciPy have loaded; finding them takes 5 ms."""
    # SciPy has a library of its own, which it loads with this module.
    import_module("scipy.linalg")
    return [one for one in ThreadpoolController().lib_controllers if one.user_api == "blas"]
