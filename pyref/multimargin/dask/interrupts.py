"""Ctrl-C between messages to a cluster, and never within one.

Raised within a message, it could leave a task on the scheduler that is in no list here.
"""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


class Interrupts:
    """Ctrl-C, held back while tasks are given out and raised by `check`.

    Only where Python's own handler would raise it: in the main thread, without another handler.
    """

    def __init__(self) -> None:
        self._pressed = False
        self._holding = False

    def check(self) -> None:
        """Raise the interrupt that was held back, if there is one.

        Raises
        ------
        KeyboardInterrupt
            If Ctrl-C was pressed.
        """
        if self._pressed:
            self._pressed = False
            raise KeyboardInterrupt

    @contextmanager
    def held(self) -> Iterator[None]:
        """Hold interrupts back; at the end raise what was not raised by then."""
        replaceable = (
            threading.current_thread() is threading.main_thread()
            and signal.getsignal(signal.SIGINT) is signal.default_int_handler
        )
        if not replaceable:
            yield
            return
        signal.signal(signal.SIGINT, self._note)
        self._holding = True
        try:
            yield
        finally:
            self._holding = False
            signal.signal(signal.SIGINT, signal.default_int_handler)
        self.check()

    @contextmanager
    def allowed(self) -> Iterator[None]:
        """Let interrupts through: nothing here talks to the cluster."""
        if not self._holding:
            yield
            return
        self.check()
        signal.signal(signal.SIGINT, signal.default_int_handler)
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, self._note)

    def _note(self, number: int, frame: FrameType | None) -> None:
        self._pressed = True
