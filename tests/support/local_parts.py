"""Parts that are all in this process: rounds without a cluster."""

from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import reduce
from typing import Any

from multimargin.dask import parts
from multimargin.dask.parts import Part, State, Sums
from multimargin.dask.rounds import Cluster


class LocalParts(Cluster):
    """Parts in this process, one after the other."""

    # Nothing travels.
    bytes_moved = 0

    def __init__(self, data: Iterable[Part]) -> None:
        self.data = list(data)
        self.count = len(self.data)
        self.states: list[State] = [parts.fresh(part) for part in self.data]

    def described(self) -> Sums:
        described: Sums = self.sums(parts.describe)
        return described

    def sums(
        self,
        function: Callable[..., Any],
        *arguments: Any,
        combine: Callable[..., object] = parts.add,
    ) -> Any:
        return combined([parts.applied(function, part, *arguments) for part in self.data], combine)

    def state_sums(self, function: Callable[..., Any], *arguments: Any) -> Sums:
        pairs = zip(self.data, self.states, strict=True)
        result: Sums = combined(
            [parts.applied(function, part, state, *arguments) for part, state in pairs]
        )
        return result

    def advance(self, function: Callable[..., Any], *arguments: Any) -> Sums:
        pairs = zip(self.data, self.states, strict=True)
        answers = [parts.applied(function, part, state, *arguments) for part, state in pairs]
        self.states = [state for state, _ in answers]
        result: Sums = combined([answer for _, answer in answers])
        return result

    def replace(self, function: Callable[..., Any], *arguments: Any) -> None:
        pairs = zip(self.data, self.states, strict=True)
        self.states = [parts.applied(function, part, state, *arguments) for part, state in pairs]

    def kept(self) -> list[State]:
        return self.states

    def mark(self, round_number: int, step: float) -> None:
        return  # A process has no older copies of itself.

    def restore(self, states: Sequence[State]) -> None:
        self.states = list(states)

    def view(self, function: Callable[..., Any], *arguments: Any) -> "LocalParts":
        return LocalParts([parts.applied(function, part, *arguments) for part in self.data])

    def interruptible(self) -> AbstractContextManager[None]:
        return nullcontext()


def combined(results: list[Any], combine: Any = parts.add) -> Any:
    """Combine neighbours until one result is left, always in the same order."""
    while len(results) > 1:
        results = [
            reduce(combine, results[k : k + parts.NEIGHBOURS])
            for k in range(0, len(results), parts.NEIGHBOURS)
        ]
    return results[0]
