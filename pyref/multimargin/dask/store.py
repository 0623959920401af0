"""Dual rows on the workers, under numbers that are unique in a fit.

They stay in the process that computed them. They are unknown to the scheduler, which neither moves
them nor tries to compute again what a lost worker had, from rounds that are long gone: the client
has the numbers that a fit still needs, and what to go back to.
"""

import threading
from collections import deque
from collections.abc import Sequence

from multimargin.dask.parts import State

# Fit -> number -> dual rows. Threads of one worker share it.
_STATES: dict[str, dict[int, State]] = {}
_LOCK = threading.Lock()

# Recently finished fits, so that tasks still running leave nothing behind.
_OVER: deque[str] = deque(maxlen=1000)


class StateMissingError(Exception):
    """Dual rows are missing, as their worker is a new process."""


def put(fit: str, number: int, state: State, needed: Sequence[int]) -> None:
    """Store dual rows, and release those that the fit no longer needs."""
    with _LOCK:
        if fit in _OVER:
            return
        states = _STATES.setdefault(fit, {})
        # Numbers grow: a task that runs late has a list without those above all of its own.
        known = max(needed, default=0)
        for old in states.keys() - set(needed):
            if old < known:
                del states[old]
        states[number] = state


def get(fit: str, number: int) -> State:
    """Return dual rows."""
    with _LOCK:
        try:
            return _STATES[fit][number]
        except KeyError:
            raise StateMissingError(f"dual rows {number} of the fit {fit}") from None


def numbers(fit: str) -> list[int]:
    """Return the numbers of the dual rows of a fit that this process has."""
    with _LOCK:
        return sorted(_STATES.get(fit, {}))


def end(fit: str) -> None:
    """Release all dual rows of a fit, and accept no more."""
    with _LOCK:
        _OVER.append(fit)
    drop(fit)


def drop(fit: str) -> None:
    """Release all dual rows of a fit."""
    with _LOCK:
        _STATES.pop(fit, None)
