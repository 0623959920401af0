"""Changes of the whole process while any thread wants them."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import RLock
from weakref import WeakSet


class _Stay:
    """A thread's stay in the context."""


class WhileAny:
    """A change that the first thread to enter makes, and the last one to leave undoes.

    `make` makes it and returns what undoes it, which may be called twice. Python checks for Ctrl-C
    after calls, but never between acquiring a lock and entering its block: `with` never leaves a
    lock acquired.
    """

    def __init__(self, make: Callable[[], Callable[[], object]]) -> None:
        self._make = make
        self._undo: Callable[[], object] | None = None
        self._lock = RLock()
        # Weak references: a stay that Ctrl-C ended before it could leave disappears as well.
        self._stays: WeakSet[_Stay] = WeakSet()

    @contextmanager
    def __call__(self) -> Iterator[None]:
        """Stay in the context."""
        stay = _Stay()
        try:
            self._enter(stay)
            yield
        finally:
            try:
                self._leave(stay)
            except KeyboardInterrupt:
                # It may have come before anything was done.
                self._leave(stay)
                raise

    def _enter(self, stay: _Stay) -> None:
        with self._lock:
            self._stays.add(stay)
            if self._undo is None:
                self._undo = self._make()

    def _leave(self, stay: _Stay) -> None:
        with self._lock:
            self._stays.discard(stay)
            if not self._stays and self._undo is not None:
                self._undo()
                self._undo = None
