"""Parts that are all in this process: for tests of the rounds, and as the plainest description."""

from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager, nullcontext
from functools import reduce
from typing import Any

from multimargin.dask import parts
from multimargin.dask.parts import Common, Part, State, Sums
from multimargin.estimators.shared.problem import Matrix


class LocalParts:
    """Parts in this process, one after the other.

    Parameters
    ----------
    data : iterable of Part
        The parts, in their order.
    """

    def __init__(self, data: Iterable[Part]) -> None:
        self.data = list(data)
        self.count = len(self.data)
        self.bytes_moved = 0
        self.start: Matrix | None = None
        self.states: list[State] = [parts.fresh(part) for part in self.data]

    def described(self) -> Sums:
        """Return the sums of `parts.describe`."""
        described: Sums = self.sums(parts.describe)
        return described

    def sums(self, function: Callable[..., Any], *arguments: Any, combine: Any = parts.add) -> Any:
        """Apply a function to all parts, and combine the results in the order of the parts."""
        return combined([parts.applied(function, part, *arguments) for part in self.data], combine)

    def state_sums(self, function: Callable[..., Any], *arguments: Any) -> Sums:
        """Apply a function to all parts and their states, and add the results."""
        pairs = zip(self.data, self.states, strict=True)
        result: Sums = combined(
            [parts.applied(function, part, state, *arguments) for part, state in pairs]
        )
        return result

    def advance(self, function: Callable[..., Any], *arguments: Any) -> Sums:
        """Replace all states by the first result of a function, and add the second ones."""
        pairs = zip(self.data, self.states, strict=True)
        answers = [parts.applied(function, part, state, *arguments) for part, state in pairs]
        self.states = [state for state, _ in answers]
        result: Sums = combined([answer for _, answer in answers])
        return result

    def replace(self, function: Callable[..., Any], *arguments: Any) -> None:
        """Replace all states by the result of a function."""
        pairs = zip(self.data, self.states, strict=True)
        self.states = [parts.applied(function, part, state, *arguments) for part, state in pairs]

    def kept(self) -> list[State]:
        """Return the states, to be handed to `restore`."""
        return self.states

    def follow(self, weights: Matrix, step: float | None) -> None:
        """Do nothing: the weights are here."""

    def restore(self, states: list[State]) -> None:
        """Go back to states that were kept."""
        self.states = states

    def view(self, function: Callable[..., Any], *arguments: Any) -> "LocalParts":
        """Return the parts after a change of their data, at fresh states."""
        return LocalParts([parts.applied(function, part, *arguments) for part in self.data])

    def mark(self, round_number: int, common: Common) -> None:
        """Do nothing: a process has no older copies of itself."""

    def interruptible(self) -> AbstractContextManager[None]:
        """Return a context that changes nothing: Ctrl-C is raised at once everywhere."""
        return nullcontext()


def combined(results: list[Any], combine: Any = parts.add) -> Any:
    """Combine neighbours until one result is left, always in the same order."""
    while len(results) > 1:
        results = [
            reduce(combine, results[k : k + parts.NEIGHBOURS])
            for k in range(0, len(results), parts.NEIGHBOURS)
        ]
    return results[0]
