"""Tasks of the workers: functions of a part, and of the dual rows that its worker holds."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce
from typing import Any, TypeVar

from multimargin.dask import parts, store
from multimargin.dask.inputs import FileSource
from multimargin.dask.parts import Part, State, Sums

_R = TypeVar("_R")


@dataclass(frozen=True)
class Change:
    """A function of a part, or of a part and its dual rows, and its other arguments.

    dask computes a tuple that begins with a function before a task gets it.
    """

    function: Callable[..., Any]
    arguments: tuple[Any, ...]

    def of(self, *first: Any) -> Any:
        """Apply the function to its first arguments and those held here."""
        return self.function(*first, *self.arguments)


@dataclass(frozen=True)
class Changed:
    """A part after a change that is made whenever the part is needed."""

    source: Any
    change: Change


@dataclass(frozen=True, eq=False)
class Held:
    """Dual rows that a worker holds for a fit."""

    fit: str  # Name of the fit
    number: int  # Their number in it
    home: str  # Address of the worker


def of_data(
    function: Callable[..., _R],
    source: object,
    changes: list[Change],
    arguments: tuple[object, ...],
) -> _R:
    """Return a function of a part."""
    return parts.applied(function, _part(source, changes), *parts.aligned(arguments))


def of_state(
    function: Callable[..., _R],
    source: object,
    changes: list[Change],
    arguments: tuple[object, ...],
    state: object,
) -> _R:
    """Return a function of a part and its dual rows."""
    part = _part(source, changes)
    return parts.applied(function, part, _state(part, state), *parts.aligned(arguments))


def new_state(
    function: Callable[..., tuple[State, _R]],
    source: object,
    changes: list[Change],
    arguments: tuple[object, ...],
    state: object,
    result: Held,
    needed: tuple[int, ...],
) -> _R:
    """Keep the first result of a function of a part and its dual rows, and return the second."""
    made, answer = of_state(function, source, changes, arguments, state)
    store.put(result.fit, result.number, made, needed)
    return answer


def only_state(part: Part, state: State, change: Change) -> tuple[State, Sums]:
    """Return the dual rows of a part after a change, and nothing to be added."""
    return change.of(part, state), {}


def combined(combine: Callable[[_R, _R], _R], *results: _R) -> _R:
    """Return the results of neighbours combined from left to right."""
    return reduce(combine, results)


def held(state: Held) -> State:
    """Return dual rows that this worker holds."""
    return store.get(state.fit, state.number)


def settled(state: Held, step: float) -> State:
    """Return a copy of the dual rows that this worker holds, `step` along their last move."""
    return parts.settled(held(state), step)


def put(copy: Held, state: State, needed: tuple[int, ...]) -> None:
    """Keep a copy of another worker's dual rows."""
    store.put(copy.fit, copy.number, state, needed)


def unwrapped(source: object) -> tuple[object, list[Change]]:
    """Return the innermost source and the changes on it, innermost first."""
    changes: list[Change] = []
    while isinstance(source, Changed):
        changes.insert(0, source.change)
        source = source.source
    return source, changes


def _part(source: Any, changes: list[Change]) -> Part:
    part: Part = source.load() if isinstance(source, FileSource) else source
    for change in changes:
        part = change.of(part)
    found: Part = parts.aligned(part)
    return found


def _state(part: Part, state: Any) -> State:
    """Return dual rows held here, copied from another worker, or fresh."""
    if state is None:
        return parts.fresh(part)
    found: State = parts.aligned(held(state) if isinstance(state, Held) else state)
    return found
