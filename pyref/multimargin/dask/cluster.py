"""Parts on the workers of a dask cluster.

Data and dual rows stay where they are; one result per round, summed in a tree of fixed shape, comes
to the client. Neither the number of the workers nor their speed changes a bit of the result.
"""

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from multimargin.dask import parts, store, tasks
from multimargin.dask.calls import LOST, Call, Shared
from multimargin.dask.owned import OwnedTasks
from multimargin.dask.parts import Sums
from multimargin.dask.rounds import Cluster, ClusterLostError, PartsLost
from multimargin.dask.tasks import Change, Changed, Held
from multimargin.dask.workers import dealt, next_to, workers_of

# Consecutive losses of workers, without a round in between, after which the fit is given up.
_MOST_LOSSES = 5
# Rounds between two copies of the dual rows on other workers.
_BACKUP_EVERY = 5


class ClusterParts(Cluster):
    """Parts on the workers of a cluster."""

    def __init__(
        self,
        owned: OwnedTasks,
        data: Sequence[object],
        patience: float,
        shared: Shared | None = None,
    ) -> None:
        self.owned = owned
        self.client = owned.client
        self.data = data
        self.count = len(data)
        # Seconds without any worker after which the fit is given up.
        self.patience = patience
        self._shared = shared or Shared()
        self._described: Sums | None = None
        # The worker of each part in the last call, and the latest copy of its dual rows elsewhere.
        self._homes: dict[int, str] = {}
        self._copies: dict[int, Held] = {}
        self.states: list[Any] = [None] * self.count

    @property
    def bytes_moved(self) -> int:
        return self._shared.bytes_moved

    @property
    def recoveries(self) -> int:
        """Number of times dual rows were lost and replaced."""
        return self._shared.recoveries

    def threads(self) -> dict[str, int]:
        """Return the workers and their threads as soon as there is any."""
        return workers_of(self.owned, self.patience)

    def described(self) -> Sums:
        if self._described is None:
            self._described = self.sums(parts.describe)
        return self._described

    def at(self, data: Sequence[object]) -> "ClusterParts":
        """Return the same parts from other sources, at fresh states."""
        changed = ClusterParts(self.owned, data, self.patience)
        changed._described = self._described
        return changed

    def sums(
        self,
        function: Callable[..., object],
        *arguments: Any,
        combine: Callable[..., object] = parts.add,
    ) -> Any:
        while True:
            with contextlib.suppress(PartsLost), self._working() as call:
                futures = call.each("describe", tasks.of_data, function, arguments)
                return call.combined(futures, combine)

    def state_sums(self, function: Callable[..., object], *arguments: Any) -> Sums:
        return self._summed("certify", tasks.of_state, function, arguments)

    def advance(self, function: Callable[..., object], *arguments: Any) -> Sums:
        return self._summed("improve", tasks.new_state, function, arguments, new=True)

    def _summed(
        self, name: str, run: Any, function: Any, arguments: Any, *, new: bool = False
    ) -> Sums:
        """Add results, and keep new dual rows where they were computed."""
        shared = self._shared
        with self._working() as call:
            states = self._at_home(call)
            results = [shared.held(call.homes[part]) for part in range(self.count)] if new else None
            futures = call.each(
                name,
                run,
                function,
                arguments,
                states=states,
                results=results,
                needed=shared.needed_numbers() if new else None,
            )
            result: Sums = call.combined(futures, parts.add)
            if results is not None:
                self.states = results
                shared.losses_in_a_row = 0
            return result

    def replace(self, function: Callable[..., object], *arguments: Any) -> None:
        self.advance(tasks.only_state, Change(function, arguments))

    def kept(self) -> list[object]:
        return list(self.states)

    def restore(self, states: Sequence[Any]) -> None:
        self.states = list(states)

    def view(self, function: Callable[..., object], *arguments: Any) -> "ClusterParts":
        data = [Changed(source, Change(function, arguments)) for source in self.data]
        return ClusterParts(self.owned, data, self.patience, self._shared)

    def close(self) -> None:
        """Let the workers release all dual rows; the workers themselves may be gone."""
        self._copies = {}
        with contextlib.suppress(Exception):
            self.owned.run_on_workers(store.end, self._shared.name)

    def interruptible(self) -> contextlib.AbstractContextManager[None]:
        return self.owned.interrupts.allowed()

    def mark(self, round_number: int, step: float) -> None:
        if round_number % _BACKUP_EVERY == 0:
            self._back_up(step)

    def _back_up(self, step: float) -> None:
        """Copy each part's dual rows to the worker after its own, and drop older copies."""
        addresses = sorted(self.threads())
        copies = {
            part: (state, self._shared.held(next_to(state.home, addresses)))
            for part, state in enumerate(self.states)
            if isinstance(state, Held) and state.home in addresses and len(addresses) > 1
        }
        if not copies:
            return
        with self._working() as call:
            numbers = self._shared.needed_numbers()
            call.wait([call.copied(part, *pair, step, numbers) for part, pair in copies.items()])
        self._copies = {part: copy for part, (_, copy) in copies.items()}

    def _at_home(self, call: Call) -> list[Any]:
        """Return the states as the tasks of a call take them: those that move, as results."""
        return [
            call.moved(part, state)
            if isinstance(state, Held) and state.home != call.homes[part]
            else state
            for part, state in enumerate(self.states)
        ]

    def _dealt(self) -> dict[int, str]:
        """Assign the parts to the current workers, moving as few as possible."""
        homes = [
            state.home if isinstance(state, Held) else self._homes.get(part)
            for part, state in enumerate(self.states)
        ]
        self._homes = dealt(self.threads(), homes)
        return self._homes

    @contextlib.contextmanager
    def _working(self) -> Iterator[Call]:
        """Submit one call; cancel its tasks at the end, and replace lost states."""
        try:
            with self.owned.of_a_call() as owned:
                yield Call(self.data, self.threads, self._shared, owned, self._dealt())
        except LOST as error:
            self._recover()
            raise PartsLost from error

    def _recover(self) -> None:
        """Replace states that no worker holds any more by the latest copies."""
        shared = self._shared
        shared.recoveries += 1
        shared.losses_in_a_row += 1
        self.threads()
        if shared.losses_in_a_row > _MOST_LOSSES:
            raise ClusterLostError(
                f"Workers were lost {_MOST_LOSSES} times in a row without a round in between; "
                "expected workers with enough memory for a part (make the parts smaller, or give "
                "workers more memory), and X and y that can be recomputed: what client.scatter "
                "gave to a worker is lost with it; files, delayed objects and dask collections are "
                "not."
            )
        found = self.client.run(store.numbers, shared.name, on_error="ignore")

        def there(held: Held) -> bool:
            return held.number in (found.get(held.home) or ())

        for part, state in enumerate(self.states):
            if isinstance(state, Held) and not there(state):
                copy = self._copies.get(part)
                whole = copy is not None and there(copy)
                self.states[part] = copy if whole else None
