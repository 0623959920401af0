"""Parts on the workers of a dask cluster.

Data and dual rows stay where they are; one result a round, summed in a tree of fixed shape, comes
to the client. The workers decide nothing, so neither their number nor their pace changes a bit.
"""

import contextlib
import time
import uuid
import weakref
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from distributed import Future

from multimargin.dask import parts, store, tasks
from multimargin.dask.calls import Call, common_weights, large
from multimargin.dask.checkpoints import Checkpoint, RowsFile
from multimargin.dask.owned import OwnedTasks
from multimargin.dask.parts import Common, Sums
from multimargin.dask.replicas import Replicas
from multimargin.dask.rounds import Cluster, PartsLost
from multimargin.dask.tasks import Change, Changed, Held
from multimargin.estimators.shared.problem import Matrix

# Losses of workers in a row, without a round in between, after which the fit is given up.
_MOST_LOSSES = 5


@dataclass(frozen=True)
class Options:
    """How to keep what could be lost."""

    backup_every: int = 5  # Rounds between two copies of the dual rows on other workers
    checkpoint: Checkpoint | None = None  # Where the dual rows are written
    checkpoint_every: int = 10  # Rounds between two checkpoints
    patience: float = 30.0  # Seconds without any worker after which the fit is given up


@dataclass
class _Shared:
    """What views of the same parts share."""

    name: str = field(default_factory=lambda: uuid.uuid4().hex[:8])
    bytes_moved: int = 0
    recoveries: int = 0
    losses_in_a_row: int = 0
    views: int = 0
    calls: int = 0
    numbers: int = 0
    # Dual rows that somebody may still ask for.
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

    def needed_numbers(self) -> tuple[int, ...]:
        return tuple(sorted(held.number for held in self.needed))


@dataclass(eq=False)
class _Copy:
    """A copy of dual rows, and the tasks that settle and keep it."""

    held: Held
    settled: Future | None
    kept: Future

    @property
    def whole(self) -> bool:
        """Whether the other worker has it."""
        return bool(self.kept.status == "finished")

    def tasks(self) -> list[Future]:
        return [self.kept] if self.settled is None else [self.settled, self.kept]


class ClusterParts(Cluster):
    """Parts on the workers of a cluster."""

    def __init__(
        self, owned: OwnedTasks, data: list[Any], options: Options, shared: _Shared | None = None
    ) -> None:
        self.owned = owned
        self.client = owned.client
        self.data = data
        self.count = len(data)
        self.options = options
        self._shared = shared or _Shared()
        self._described: Sums | None = None
        self._homes: dict[int, str] = {}
        # Of each part the newest copies on other workers.
        self._copies: list[list[_Copy]] = [[] for _ in range(self.count)]
        self._replicas = Replicas(self._shared.name, self._shared.number)
        self.states: list[Any] = [self._checkpoint_of(part) for part in range(self.count)]

    @property
    def start(self) -> Matrix | None:
        if self.options.checkpoint is None or all(state is None for state in self.states):
            return None
        q = self.described()["shapes"][0][2]
        bias = self.options.checkpoint.bias(q)
        return np.zeros(q) if bias is None else bias

    @property
    def bytes_moved(self) -> int:
        return self._shared.bytes_moved

    @property
    def recoveries(self) -> int:
        """How often dual rows were lost and replaced."""
        return self._shared.recoveries

    def described(self) -> Sums:
        if self._described is None:
            self._described = self.sums(parts.describe)
        return self._described

    def kept_by(self, options: Options, data: list[Any] | None = None) -> "ClusterParts":
        """Return the same parts with other options, or in another place; at fresh states."""
        changed = ClusterParts(self.owned, self.data if data is None else data, options)
        changed._described = self._described
        return changed

    def sums(self, function: Callable[..., Any], *arguments: Any, combine: Any = parts.add) -> Any:
        while True:
            with contextlib.suppress(PartsLost), self._working() as call:
                futures = call.each("describe", tasks.of_data, function, arguments)
                return call.combined(futures, combine)

    def state_sums(self, function: Callable[..., Any], *arguments: Any) -> Sums:
        with self._working() as call:
            replicas = self._replicas_for(arguments)
            futures = call.each(
                "certify",
                tasks.of_state,
                function,
                arguments,
                states=self._at_home(call),
                replicas=replicas,
            )
            return self._summed(call, futures, replicas)

    def advance(self, function: Callable[..., Any], *arguments: Any) -> Sums:
        with self._working() as call:
            old, new = self._at_home(call), self._new(call)
            replicas = self._replicas_for(arguments)
            futures = call.each(
                "improve",
                tasks.new_state,
                function,
                arguments,
                states=old,
                results=new,
                needed=self._shared.needed_numbers(),
                replicas=replicas,
            )
            result = self._summed(call, futures, replicas)
            self.states = new
            self._shared.losses_in_a_row = 0
            return result

    def _replicas_for(self, arguments: Any) -> Replicas | None:
        """Return what the workers know of the weights, where these are large."""
        return None if common_weights(arguments) is None else self._replicas

    def _summed(self, call: Call, futures: list[Future], replicas: Replicas | None) -> Sums:
        """Add results; a change of the weights is kept where it was summed."""
        kept = Held(self._shared.name, self._shared.number(), call.homes[0])
        result: Sums = call.combined(futures, parts.add, kept)
        if replicas is not None:
            replicas.reached(call.homes.values())
        if large(result.get("weights")):
            self._replicas.changed(kept, result["weights"].nbytes)
        return result

    def follow(self, weights: Matrix, step: float | None) -> None:
        self._replicas.follow(weights, step)

    def replace(self, function: Callable[..., Any], *arguments: Any) -> None:
        self.advance(tasks.only_state, Change(function, arguments))

    def kept(self) -> list[Any]:
        return list(self.states)

    def restore(self, states: list[Any]) -> None:
        self.states = list(states)
        # The workers' weights, and the last change, are those of the point that is left.
        self._replicas.forget()

    def view(self, function: Callable[..., Any], *arguments: Any) -> "ClusterParts":
        self._shared.views += 1
        options = self.options
        if options.checkpoint is not None:
            options = replace(options, checkpoint=options.checkpoint.view(self._shared.views))
        data = [Changed(source, Change(function, arguments)) for source in self.data]
        return ClusterParts(self.owned, data, options, self._shared)

    def close(self) -> None:
        """Have the workers let go of all dual rows; the workers may be gone themselves."""
        self._copies = [[] for _ in range(self.count)]
        with contextlib.suppress(Exception):
            self.client.run(store.end, self._shared.name, on_error="ignore")

    def interruptible(self) -> contextlib.AbstractContextManager[None]:
        return self.owned.interrupts.allowed()

    # Copies

    def mark(self, round_number: int, common: Common) -> None:
        options = self.options
        self._clear_up()
        if options.backup_every and round_number % options.backup_every == 0:
            self._back_up(common.step)
        if options.checkpoint is not None and round_number % options.checkpoint_every == 0:
            self._write_checkpoint(options.checkpoint, common)

    def _write_checkpoint(self, checkpoint: Checkpoint, common: Common) -> None:
        checkpoint.path.mkdir(parents=True, exist_ok=True)
        with self._working() as call:
            call.wait(
                call.each(
                    "checkpoint",
                    tasks.write,
                    [checkpoint.rows_of(part) for part in range(self.count)],
                    common.step,
                    states=self._at_home(call),
                )
            )
        checkpoint.write_bias(common.offset)

    def _back_up(self, step: float) -> None:
        """Copy each part's dual rows to the worker after its own, without waiting."""
        addresses = sorted(self._addresses())
        if len(addresses) < 2:
            return
        token = self.token("copy-dual-rows")
        for part, state in enumerate(self.states):
            if not isinstance(state, Held) or state.home not in addresses:
                continue
            place = addresses[(addresses.index(state.home) + 1) % len(addresses)]
            copy = self._shared.held(place)
            settled = self.owned.submit(
                (f"settle-{token}", part), tasks.settled, state, step, workers=[state.home]
            )
            numbers = self._shared.needed_numbers()
            kept = self.owned.submit(
                (token, part), tasks.put, copy, settled, numbers, workers=[place]
            )
            # The last one that is whole may be older than this one, which is not there yet.
            last = [older for older in self._copies[part] if older.whole][-1:]
            for older in self._copies[part]:
                if older not in last:
                    self.owned.let_go(older.tasks())
            self._copies[part] = [*last, _Copy(copy, settled, kept)]

    def _clear_up(self) -> None:
        """Let go of what copies that are whole were made from."""
        copies = [copy for copies in self._copies for copy in copies if copy.whole]
        done = [copy for copy in copies if copy.settled is not None]
        self.owned.let_go([copy.settled for copy in done if copy.settled is not None])
        for copy in done:
            copy.settled = None

    # Who works on which part

    def _addresses(self) -> dict[str, int]:
        """Return the workers and their threads."""
        found: dict[str, int] = self.client.nthreads()
        return found

    def assigned(self) -> dict[int, str]:
        """Deal the parts to the workers that there are now, moving as few as possible."""
        threads = self.wait_for_workers()
        total = sum(threads.values())
        room = {a: int(np.ceil(self.count * t / total)) for a, t in sorted(threads.items())}
        homes: dict[int, str] = {}
        for part, state in enumerate(self.states):
            home = state.home if isinstance(state, Held) else self._homes.get(part)
            if home in room and room[home] > 0:
                homes[part] = home
                room[home] -= 1
        # Neighbours have the same worker where that can be: their results are added there.
        places = [a for a, t in sorted(threads.items()) for _ in range(t)]
        for part in range(self.count):
            if part not in homes:
                home = places[part * total // self.count]
                if room[home] == 0:
                    home = max(sorted(room), key=lambda address: room[address])
                homes[part] = home
                room[home] -= 1
        self._homes = homes
        return homes

    def _at_home(self, call: Call) -> list[Any]:
        """Return the states as the tasks of a call take them: those that move, as results."""
        states: list[Any] = []
        for part, state in enumerate(self.states):
            moves = isinstance(state, Held) and state.home != call.homes[part]
            states.append(call.moved(part, state) if moves else state)
        return states

    def _new(self, call: Call) -> list[Held]:
        return [self._shared.held(call.homes[part]) for part in range(self.count)]

    def wait_for_workers(self) -> dict[str, int]:
        """Return the workers and their threads as soon as there is any."""
        start = time.monotonic()
        while True:
            self.owned.interrupts.check()
            threads = self._addresses()
            if threads:
                return threads
            if time.monotonic() - start > self.options.patience:
                raise WorkersGoneError(self._gone())
            time.sleep(0.1)

    def _gone(self) -> str:
        checkpoint = self.options.checkpoint
        if checkpoint is None:
            kept = "pass checkpoint=folder to be able to go on from there next time."
        else:
            folder = str(checkpoint.path)
            kept = f"the next fit with checkpoint={folder!r} goes on from what is written there."
        return (
            f"No worker of the cluster has been left for {self.options.patience:g} seconds; "
            f"expected at least one. Start workers and fit again: {kept}"
        )

    # One call for all parts

    def token(self, name: str) -> str:
        """Return a new name for tasks."""
        self._shared.calls += 1
        return f"{name}-{self._shared.name}{self._shared.calls:06d}"

    def count_bytes(self, size: int) -> None:
        """Count bytes that go to a part or come from it."""
        self._shared.bytes_moved += size

    @contextlib.contextmanager
    def _working(self) -> Iterator[Call]:
        """Give out one call; cancel its tasks when it is over, and replace what was lost."""
        try:
            with self.owned.of_a_call() as owned:
                yield Call(self, owned)
        except PartsLost:
            self._replicas.forget()
            self._recover()
            raise
        except BaseException:
            self._replicas.forget()
            raise

    def _recover(self) -> None:
        """Replace states that no worker holds any more by the newest older ones."""
        shared = self._shared
        shared.recoveries += 1
        shared.losses_in_a_row += 1
        self.wait_for_workers()
        if shared.losses_in_a_row > _MOST_LOSSES:
            raise RuntimeError(
                f"Workers were lost {_MOST_LOSSES} times in a row without a round in between; "
                "expected workers with enough memory for a part (make the parts smaller, or give "
                "workers more memory)."
            )
        found = self.client.run(store.numbers, shared.name, on_error="ignore")

        def there(held: Held) -> bool:
            return held.number in (found.get(held.home) or ())

        for part, state in enumerate(self.states):
            if isinstance(state, Held) and not there(state):
                whole = [copy.held for copy in self._copies[part] if there(copy.held)]
                self.states[part] = whole[-1] if whole else self._checkpoint_of(part)

    def _checkpoint_of(self, part: int) -> RowsFile | None:
        checkpoint = self.options.checkpoint
        file = None if checkpoint is None else checkpoint.rows_of(part)
        return file if file is not None and Path(file.path).is_file() else None


class WorkersGoneError(RuntimeError):
    """No worker is left."""
