"""One thread for BLAS and LAPACK.

Rounding depends on the number of threads, and on a busy machine each call of several threads waits
for the slowest of them: many short calls then take many times as long as one thread does.
"""

from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import cache, wraps
from importlib import import_module
from typing import Any, ParamSpec, TypeVar

from threadpoolctl import ThreadpoolController

_P = ParamSpec("_P")
_R = TypeVar("_R")


def one_blas_thread() -> AbstractContextManager[Any]:
    """Return a context in which BLAS and LAPACK have one thread."""
    context: AbstractContextManager[Any] = _libraries().limit(limits=1, user_api="blas")
    return context


def with_one_blas_thread(function: Callable[_P, _R]) -> Callable[_P, _R]:
    """Let a function call BLAS and LAPACK with one thread."""

    @wraps(function)
    def wrapped(*args: _P.args, **kwargs: _P.kwargs) -> _R:
        with one_blas_thread():
            return function(*args, **kwargs)

    return wrapped


@cache
def _libraries() -> ThreadpoolController:
    """Return the libraries that NumPy and SciPy have loaded; each look for them takes 5 ms."""
    # SciPy has a library of its own, which it loads with this module.
    import_module("scipy.linalg")
    return ThreadpoolController()
