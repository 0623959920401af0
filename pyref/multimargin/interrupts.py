"""Ctrl-C: held back while a result could be lost, and answered everywhere else."""

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, TypeVar

from multimargin import _rust

_Result = TypeVar("_Result")


class Interrupts:
    """Ctrl-C, held back while something must not be interrupted, and raised by `check`.

    Only if Python's own handler would raise it: in the main thread, without another handler.
    """

    def __init__(self) -> None:
        self._pressed = False
        self._holding = False
        self._stops_loops = False

    def note(self) -> None:
        """Remember an interrupt of which a loop was notified.

        The loop may end for another reason at that very moment.
        """
        self._pressed = True

    def check(self) -> None:
        """Raise the interrupt that was held back, if there is one."""
        if self._pressed:
            self._pressed = False
            raise KeyboardInterrupt

    @contextmanager
    def held(self) -> Iterator[None]:
        """Hold interrupts back; at the end raise one that has not been raised yet."""
        replaceable = (
            threading.current_thread() is threading.main_thread()
            and signal.getsignal(signal.SIGINT) is signal.default_int_handler
        )
        if not replaceable:
            yield
            self.check()
            return
        signal.signal(signal.SIGINT, self._answer)
        self._holding = True
        try:
            yield
        finally:
            self._holding = False
            signal.signal(signal.SIGINT, signal.default_int_handler)
        self.check()

    @contextmanager
    def allowed(self) -> Iterator[None]:
        """Let interrupts through while nothing can be lost."""
        if not self._holding:
            yield
            return
        self.check()
        signal.signal(signal.SIGINT, signal.default_int_handler)
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, self._answer)

    def reached_by(self, loop: Callable[..., _Result], *arguments: Any) -> _Result:
        """Return the result of a compiled loop, which Ctrl-C ends without any loss."""
        self.check()
        self._stops_loops = True
        try:
            return loop(*arguments)
        finally:
            self._stops_loops = False

    def _answer(self, number: int, frame: FrameType | None) -> None:
        self.note()
        if self._stops_loops and _rust.looks_for_signals():
            raise KeyboardInterrupt
