"""One thread for BLAS and LAPACK.

Rounding depends on the number of threads, and on a busy machine each call with several threads
waits for the slowest of them: many short calls then take many times as long as with one thread.
"""

from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import cache, partial, wraps
from importlib import import_module
from typing import Any, ParamSpec, TypeVar

from threadpoolctl import OpenBLASController, ThreadpoolController

from multimargin.whole_process import WhileAny

_P = ParamSpec("_P")
_R = TypeVar("_R")


def one_blas_thread() -> AbstractContextManager[None]:
    """Limit BLAS and LAPACK to one thread while any thread of Python is in this context."""
    return _LIMIT()


def with_one_blas_thread(function: Callable[_P, _R]) -> Callable[_P, _R]:
    """Make a function call BLAS and LAPACK with one thread."""

    @wraps(function)
    def wrapped(*args: _P.args, **kwargs: _P.kwargs) -> _R:
        with one_blas_thread():
            return function(*args, **kwargs)

    return wrapped


def _limited() -> Callable[[], None]:
    """Limit the libraries, and return what gives them their numbers of threads back."""
    before = [(one, one.get_num_threads()) for one in _libraries()]
    _set([(one, 1) for one, _ in before])
    return partial(_set, before)


_LIMIT = WhileAny(_limited)


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
