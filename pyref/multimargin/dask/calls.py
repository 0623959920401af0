"""One function for all parts, as tasks of a dask cluster."""

import asyncio
import uuid
import weakref
from collections.abc import Callable, Sequence
from concurrent.futures import CancelledError
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from distributed import Future, KilledWorker
from distributed.comm import CommClosedError

from multimargin.dask import tasks
from multimargin.dask.owned import OwnedTasks
from multimargin.dask.parts import NEIGHBOURS, Common, aligned
from multimargin.dask.rounds import PartsLost
from multimargin.dask.split_parts import SplitCommon
from multimargin.dask.store import StateMissingError
from multimargin.dask.tasks import Change, Held, held, unwrapped

# Exceptions of a call if a worker, or the input of a task, is lost.
LOST = (
    PartsLost,
    StateMissingError,
    KilledWorker,
    CommClosedError,
    CancelledError,
    asyncio.CancelledError,
)

# Bytes from which common data is transferred once, and not with each task.
_LARGE = 10_000


@dataclass
class Shared:
    """State that views of the same parts share."""

    name: str = field(default_factory=lambda: uuid.uuid4().hex[:8])
    bytes_moved: int = 0
    recoveries: int = 0
    losses_in_a_row: int = 0
    calls: int = 0
    numbers: int = 0
    # Dual rows that may still be needed.
    needed: "weakref.WeakSet[Held]" = field(default_factory=weakref.WeakSet)

    def number(self) -> int:
        """Return a new number, larger than all before."""
        self.numbers += 1
        return self.numbers

    def held(self, home: str) -> Held:
        """Return a name for new dual rows."""
        held = Held(self.name, self.number(), home)
        self.needed.add(held)
        return held

    def token(self, name: str) -> str:
        """Return a new name for tasks."""
        self.calls += 1
        return f"{name}-{self.name}{self.calls:06d}"

    def needed_numbers(self) -> tuple[int, ...]:
        return tuple(sorted(held.number for held in self.needed))


class Call:
    """The tasks of one function for all parts.

    Each task is bound to the worker of its part. If one of these workers is gone, so is what its
    tasks came from, and it would not be computed again: the call ends with one of `LOST`.
    """

    def __init__(
        self,
        data: Sequence[object],
        workers: Callable[[], dict[str, int]],
        names: Shared,
        owned: OwnedTasks,
        homes: dict[int, str],
    ) -> None:
        self.data = data
        self.workers = workers  # The current workers, and their threads
        self.names = names
        self.owned = owned
        self.homes = homes  # The worker of each part
        self._sources: set[str] = set(homes.values())

    def each(
        self,
        name: str,
        run: Callable[..., object],
        function: object,
        arguments: object,
        *,
        states: Sequence[object] | None = None,
        results: list[Held] | None = None,
        needed: tuple[int, ...] | None = None,
    ) -> list[Future]:
        """Run a function for each part; a list of functions has one entry per part."""
        size = _size(arguments)
        large = size > _LARGE
        self.names.bytes_moved += size * (len({*self.homes.values()}) if large else len(self.homes))
        shared = self._scattered(arguments) if large else arguments
        token = self.names.token(name)
        futures = []
        for part, source in enumerate(self.data):
            source, changes = unwrapped(source)
            optional = [] if states is None else [states[part]]
            if results is not None:
                optional += [results[part], needed]
            futures.append(
                self.owned.submit(
                    (token, part),
                    run,
                    function[part] if isinstance(function, list) else function,
                    source,
                    changes,
                    shared,
                    *optional,
                    workers=[self.homes[part]],
                )
            )
        return futures

    def moved(self, part: int, state: Held) -> Future:
        """Fetch the dual rows of a part that changes its worker."""
        self._sources.add(state.home)
        token = self.names.token("move-dual-rows")
        return self.owned.submit((token, part), held, state, workers=[state.home])

    def copied(
        self, part: int, state: Held, copy: Held, step: float, needed: tuple[int, ...]
    ) -> Future:
        """Copy the dual rows of a part, `step` along their last move, to another worker."""
        self._sources |= {state.home, copy.home}
        settled, token = self.names.token("settle"), self.names.token("copy-dual-rows")
        source = self.owned.submit(
            (settled, part), tasks.settled, state, step, workers=[state.home]
        )
        return self.owned.submit(
            (token, part), tasks.put, copy, source, needed, workers=[copy.home]
        )

    def _scattered(self, arguments: Any) -> Future:
        """Transfer common data once."""
        worker, token = min(self.homes.values()), self.names.token("common")
        try:
            return self.owned.scatter(token, arguments, worker, self._check_sources)
        except (OSError, TimeoutError) as error:
            raise PartsLost from error

    def combined(self, futures: list[Future], combine: Callable[..., object]) -> Any:
        """Combine neighbours until one result is left, and return it."""
        level = list(futures)
        while len(level) > 1:
            token = self.names.token("sum")
            groups = [level[k : k + NEIGHBOURS] for k in range(0, len(level), NEIGHBOURS)]
            level = [
                self.owned.submit((token, k), tasks.combined, combine, *group)
                for k, group in enumerate(groups)
            ]
        self.wait(level)
        result = aligned(self.owned.fetch(level[0], self._check_sources))
        # Parts of one worker are neighbours, so that a result leaves each worker once.
        self.names.bytes_moved += _size(result) * len(set(self.homes.values()))
        return result

    def wait(self, futures: list[Future]) -> None:
        """Wait until all are complete."""
        while not self.owned.wait(futures):
            self._check_sources()
        for future in futures:
            if future.status == "error":
                raise future.exception()
            if future.status != "finished":
                raise PartsLost

    def _check_sources(self) -> None:
        """Raise PartsLost if a worker that this call needs is gone."""
        if not self._sources <= self.workers().keys():
            raise PartsLost


def _size(value: Any) -> int:
    """Return the bytes of all arrays in a value."""
    if isinstance(value, np.ndarray):
        return int(value.nbytes)
    if isinstance(value, dict):
        return sum(map(_size, value.values()))
    if isinstance(value, tuple | list):
        return sum(map(_size, value))
    if isinstance(value, Change):
        return _size(value.arguments)
    if isinstance(value, Common | SplitCommon):
        return _size(vars(value))
    return 0
