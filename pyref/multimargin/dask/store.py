"""Dual rows and weights on the workers, under numbers that are used once in a fit.

Dual rows stay in the process that computed them; of the weights each process keeps the last ones.

They are unknown to the scheduler, which neither moves them nor tries to compute again what a lost
worker had, from rounds that are long gone: the client has the numbers that a fit still needs, and
what to go back to.
"""

import threading
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

from multimargin.dask.parts import State
from multimargin.estimators.shared.problem import Matrix

# Fit -> number -> dual rows. Threads of one worker share it.
_STATES: dict[str, dict[int, State]] = {}
_LOCK = threading.Lock()

# Fit -> number and weights, and the last change of them that was summed here. One thread makes new
# weights, the others wait for them.
_WEIGHTS: dict[str, tuple[int, Matrix]] = {}
_CHANGES: dict[str, tuple[int, Any]] = {}
_MAKING = threading.Lock()

# The last fits that are over: a task that still ran then leaves nothing.
_OVER: deque[str] = deque(maxlen=1000)


class StateMissingError(Exception):
    """Dual rows or weights are not where they were left: their worker is a new process."""


def put(fit: str, number: int, state: State, needed: Sequence[int]) -> None:
    """Keep dual rows, and let go of those that the fit needs no more."""
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


def weights(
    fit: str, number: int, previous: int | None, make: Callable[[Matrix | None], Matrix]
) -> Matrix:
    """Return weights, which are made from the previous ones if they are not here yet."""
    with _MAKING:
        here, kept = _WEIGHTS.get(fit, (-1, None))
        if here == number and kept is not None:
            return kept
        if here > number or previous not in (None, here):
            raise StateMissingError(f"weights {number} of the fit {fit}")
        made = make(None if previous is None else kept)
        with _LOCK:
            if fit not in _OVER:
                _WEIGHTS[fit] = (number, made)
        return made


def keep_change(fit: str, number: int, change: Any) -> None:
    """Keep a change of the weights in the place of the one before."""
    with _LOCK:
        if fit not in _OVER and _CHANGES.get(fit, (-1,))[0] < number:
            _CHANGES[fit] = (number, change)


def change(fit: str, number: int) -> Any:
    """Return a change of the weights."""
    with _LOCK:
        kept, found = _CHANGES.get(fit, (-1, None))
    if kept != number:
        raise StateMissingError(f"change {number} of the weights of the fit {fit}")
    return found


def numbers(fit: str) -> list[int]:
    """Return the numbers of the dual rows of a fit that this process has."""
    with _LOCK:
        return sorted(_STATES.get(fit, {}))


def end(fit: str) -> None:
    """Let go of all that a fit has here, and take no more of it."""
    with _LOCK:
        _OVER.append(fit)
    drop(fit)


def drop(fit: str) -> None:
    """Let go of all dual rows and weights of a fit."""
    with _LOCK:
        _STATES.pop(fit, None)
        _WEIGHTS.pop(fit, None)
        _CHANGES.pop(fit, None)
