"""Parts on the workers of a dask cluster.

Data and dual rows stay where they are; one result a round, summed in a tree of fixed shape, comes
to the client. The workers decide nothing, so neither their number nor their pace changes a bit.
"""

import asyncio
import contextlib
import os
import time
import uuid
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from distributed import Client, Future, KilledWorker, wait
from distributed.comm import CommClosedError

from multimargin.dask import parts
from multimargin.dask.inputs import FileSource
from multimargin.dask.parts import Common, Part, State, Sums
from multimargin.dask.rounds import PartsLost
from multimargin.estimators.shared.problem import Matrix

# Seconds between two looks at whether any worker is left.
_LOOK = 1.0

_BIAS = "bias.npy"

# What a task ends with when its worker, or what it needs, is gone.
_LOST = (KilledWorker, CommClosedError, CancelledError, asyncio.CancelledError)

# Losses of workers in a row, without a round in between, after which the fit is given up.
_MOST_LOSSES = 5


@dataclass(frozen=True)
class Options:
    """How to keep what could be lost.

    Parameters
    ----------
    backup_every : int
        Rounds between two copies of the dual rows on other workers.
    checkpoint : Path or None
        Folder that all workers see, for the dual rows.
    checkpoint_every : int
        Rounds between two checkpoints.
    patience : float
        Seconds without any worker after which the fit is given up.
    """

    backup_every: int = 5
    checkpoint: Path | None = None
    checkpoint_every: int = 10
    patience: float = 30.0


@dataclass
class _Counters:
    """What views of the same parts share."""

    bytes_moved: int = 0
    recoveries: int = 0
    losses_in_a_row: int = 0
    views: int = 0
    token: str = field(default_factory=lambda: uuid.uuid4().hex[:8])
    calls: int = 0


class ClusterParts:
    """Parts on the workers of a cluster.

    Parameters
    ----------
    client : Client
        The client.
    data : list of Future or FileSource
        The parts, or where to read them whenever they are needed.
    options : Options
        How to keep what could be lost.
    """

    def __init__(
        self,
        client: Client,
        data: list[Any],
        options: Options,
        counters: _Counters | None = None,
    ) -> None:
        self.client = client
        self.data = data
        self.count = len(data)
        self.options = options
        self._counters = counters or _Counters()
        self._workers: dict[int, str] = {}
        self._copies: list[Future | None] = [None] * self.count
        self.states: list[Any] = [None] * self.count
        if options.checkpoint is not None:
            self.states = [self._checkpoint_of(part) for part in range(self.count)]

    @property
    def start(self) -> Matrix | None:
        """The bias in the scores that the states of a checkpoint belong to."""
        folder = self.options.checkpoint
        if folder is None or not (folder / _BIAS).is_file():
            return None
        bias: Matrix = np.load(folder / _BIAS, allow_pickle=False)
        return bias

    @property
    def bytes_moved(self) -> int:
        """Bytes of the arrays that went to the parts and came back."""
        return self._counters.bytes_moved

    @property
    def recoveries(self) -> int:
        """How often dual rows were lost and replaced."""
        return self._counters.recoveries

    def sums(self, function: Callable[..., Any], *arguments: Any, combine: Any = parts.add) -> Any:
        """Apply a function to all parts, and combine the results in the order of the parts."""
        while True:
            with contextlib.suppress(PartsLost), self._working() as call:
                futures = call.each("describe", _of_data, function, arguments)
                return call.combined(futures, combine)

    def state_sums(self, function: Callable[..., Any], *arguments: Any) -> Sums:
        """Apply a function to all parts and their states, and add the results."""
        with self._working() as call:
            futures = call.each("certify", _of_state, function, arguments, self.states)
            result: Sums = call.combined(futures, parts.add)
            return result

    def advance(self, function: Callable[..., Any], *arguments: Any) -> Sums:
        """Replace all states by the first result of a function, and add the second ones."""
        with self._working() as call:
            answers = call.each("improve", _of_state, function, arguments, self.states)
            states = call.picked("dual-rows", answers, 0)
            result: Sums = call.combined(call.picked("moves", answers, 1), parts.add, states)
            self.states = states
            self._counters.losses_in_a_row = 0
            return result

    def replace(self, function: Callable[..., Any], *arguments: Any) -> None:
        """Replace all states by the result of a function."""
        with self._working() as call:
            states = call.each("repair", _of_state, function, arguments, self.states)
            call.wait(states)
            self.states = states

    def kept(self) -> list[Any]:
        """Return the states, to be handed to `restore`."""
        return list(self.states)

    def restore(self, states: list[Any]) -> None:
        """Go back to states that were kept."""
        self.states = list(states)

    def view(self, function: Callable[..., Any], *arguments: Any) -> "ClusterParts":
        """Return the parts after a change of their data, at fresh states."""
        self._counters.views += 1
        options = self.options
        if options.checkpoint is not None:
            folder = options.checkpoint / f"view-{self._counters.views}"
            options = Options(
                options.backup_every, folder, options.checkpoint_every, options.patience
            )
        data = [Changed(source, function, arguments) for source in self.data]
        return ClusterParts(self.client, data, options, self._counters)

    def mark(self, round_number: int, common: Common) -> None:
        """Copy the dual rows to other workers, and write them, every few rounds."""
        options = self.options
        if options.backup_every and round_number % options.backup_every == 0:
            self._back_up(common.step)
        if options.checkpoint is not None and round_number % options.checkpoint_every == 0:
            self._write_checkpoint(options.checkpoint, common)

    def _write_checkpoint(self, folder: Path, common: Common) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        step = common.step
        with self._working() as call:
            targets = [(str(_checkpoint_path(folder, part)), step) for part in range(self.count)]
            call.wait(call.each("checkpoint", _write, None, targets, self.states))
        with (folder / f"{_BIAS}.tmp").open("wb") as stream:
            np.save(stream, common.offset)
        (folder / f"{_BIAS}.tmp").replace(folder / _BIAS)

    def _back_up(self, step: float) -> None:
        """Copy each part's dual rows to the worker after its own; nobody waits for that."""
        addresses = sorted(self._addresses())
        if len(addresses) < 2:
            return
        token = self._token("copy-dual-rows")
        for part, state in enumerate(self.states):
            home = self._workers.get(part)
            place = addresses.index(home) + 1 if home in addresses else part
            self._copies[part] = self.client.submit(
                _settled_copy,
                state,
                step,
                key=(token, part),
                workers=[addresses[place % len(addresses)]],
                allow_other_workers=True,
            )

    # Who works on which part

    def _addresses(self) -> dict[str, int]:
        """Return the workers and their threads."""
        found: dict[str, int] = self.client.nthreads()
        return found

    def assigned(self) -> dict[int, str]:
        """Deal the parts to the workers that there are now, moving as few as possible."""
        threads = self._wait_for_workers()
        total = sum(threads.values())
        room = {a: int(np.ceil(self.count * t / total)) for a, t in sorted(threads.items())}
        homes: dict[int, str] = {}
        for part in range(self.count):
            home = self._workers.get(part)
            if home in room and room[home] > 0:
                homes[part] = home
                room[home] -= 1
        for part in range(self.count):
            if part not in homes:
                homes[part] = max(sorted(room), key=lambda address: room[address])
                room[homes[part]] -= 1
        self._workers = homes
        return homes

    def _wait_for_workers(self) -> dict[str, int]:
        start = time.monotonic()
        while True:
            threads = self._addresses()
            if threads:
                return threads
            if time.monotonic() - start > self.options.patience:
                raise WorkersGone(self._gone())
            time.sleep(0.1)

    def _gone(self) -> str:
        folder = self.options.checkpoint
        if folder is None:
            kept = "pass checkpoint=folder to be able to go on from there next time."
        else:
            kept = (
                f"the next fit with checkpoint={str(folder)!r} goes on from what is written there."
            )
        return (
            f"No worker of the cluster has been left for {self.options.patience:g} seconds; "
            f"expected at least one. Start workers and fit again: {kept}"
        )

    # One call for all parts

    def _token(self, name: str) -> str:
        self._counters.calls += 1
        return f"{name}-{self._counters.token}{self._counters.calls:06d}"

    @contextlib.contextmanager
    def _working(self) -> Iterator["_Call"]:
        """Give out one call; cancel its tasks if it fails, and replace what was lost."""
        call = _Call(self)
        try:
            yield call
        except PartsLost:
            call.cancel()
            self._recover()
            raise
        except BaseException:
            call.cancel()
            raise

    def _recover(self) -> None:
        """Replace states that no worker holds any more by the newest older ones."""
        counters = self._counters
        counters.recoveries += 1
        counters.losses_in_a_row += 1
        self._wait_for_workers()
        if counters.losses_in_a_row > _MOST_LOSSES:
            raise RuntimeError(
                f"Workers were lost {_MOST_LOSSES} times in a row without a round in between; "
                "expected workers with enough memory for a part (make the parts smaller, or give "
                "workers more memory)."
            )
        futures = [f for f in (*self.states, *self._copies) if isinstance(f, Future)]
        held = self.client.who_has(futures) if futures else {}
        for part, state in enumerate(self.states):
            if not isinstance(state, Future) or held.get(state.key):
                continue
            copy = self._copies[part]
            if copy is not None and held.get(copy.key):
                self.states[part] = copy
            else:
                self.states[part] = self._checkpoint_of(part)

    def _checkpoint_of(self, part: int) -> Any:
        folder = self.options.checkpoint
        path = None if folder is None else _checkpoint_path(folder, part)
        return str(path) if path is not None and path.is_file() else None


class WorkersGone(RuntimeError):
    """No worker is left."""


@dataclass(frozen=True)
class Changed:
    """A part after a change that is made whenever the part is needed."""

    source: Any
    function: Callable[..., Any]
    arguments: tuple[Any, ...]


class _Call:
    """The tasks of one function for all parts."""

    def __init__(self, cluster: ClusterParts) -> None:
        self.cluster = cluster
        self.client = cluster.client
        self.futures: list[Future] = []
        self.homes: set[str] = set()

    def each(
        self,
        name: str,
        run: Callable[..., Any],
        function: Any,
        arguments: Any,
        states: list[Any] | None = None,
    ) -> list[Future]:
        """Run a function for each part; a list of arguments has one entry a part."""
        homes = self.cluster.assigned()
        self.homes |= set(homes.values())
        shared: Any = arguments
        if not isinstance(arguments, list):
            size = _size(arguments)
            self.cluster._counters.bytes_moved += size * self.cluster.count
            if size > 10_000:
                shared = self._scattered(arguments)
        token = self.cluster._token(name)
        futures = []
        for part, source in enumerate(self.cluster.data):
            own = shared[part] if isinstance(shared, list) else shared
            source, changes = _unwrapped(source)
            state = () if states is None else (states[part],)
            future = self.client.submit(
                run,
                function,
                source,
                changes,
                *state,
                own,
                key=(token, part),
                workers=[homes[part]],
                allow_other_workers=True,
                pure=False,
            )
            futures.append(future)
        self.futures += futures
        return futures

    def _scattered(self, arguments: Any) -> Future:
        """Hand over what all parts share, once."""
        try:
            # A tuple alone would be scattered item by item.
            (future,) = self.client.scatter([arguments], hash=False)
        except OSError as error:
            raise PartsLost from error
        self.futures.append(future)
        return future

    def picked(self, name: str, answers: list[Future], item: int) -> list[Future]:
        """Pick one item of each answer."""
        token = self.cluster._token(name)
        futures = [
            self.client.submit(_item, answer, item, key=(token, part), pure=False)
            for part, answer in enumerate(answers)
        ]
        self.futures += futures
        return futures

    def combined(self, futures: list[Future], combine: Any, others: Any = ()) -> Any:
        """Combine neighbours until one result is left, and return it."""
        level = list(futures)
        while len(level) > 1:
            token = self.cluster._token("sum")
            level = [
                self.client.submit(combine, *level[k : k + 2], key=(token, k), pure=False)
                if k + 1 < len(level)
                else level[k]
                for k in range(0, len(level), 2)
            ]
            self.futures += level
        self.wait([level[0], *others])
        result = self._result(level[0])
        self.cluster._counters.bytes_moved += _size(result) * self.cluster.count
        return result

    def wait(self, futures: list[Future]) -> None:
        """Wait until all are there.

        Raises
        ------
        PartsLost
            If some cannot be computed because workers were lost.
        """
        while True:
            try:
                with self.client.as_current():
                    wait(futures, timeout=_LOOK)
                break
            except TimeoutError:
                workers = self.cluster._wait_for_workers()
                if not self.homes <= workers.keys():
                    # What its tasks came from may be gone, too: nobody would compute them again.
                    raise PartsLost from None
            except _LOST as error:
                raise PartsLost from error
        for future in futures:
            if future.status == "error":
                self._raise(future.exception())
            elif future.status != "finished":
                raise PartsLost

    def _result(self, future: Future) -> Any:
        try:
            return future.result()
        except Exception as error:
            return self._raise(error)

    def _raise(self, error: Any) -> Any:
        if isinstance(error, _LOST):
            raise PartsLost from error
        raise error

    def cancel(self) -> None:
        """Cancel all tasks of the call."""
        with contextlib.suppress(Exception):
            self.client.cancel(self.futures, force=True)


def _unwrapped(source: Any) -> tuple[Any, list[Any]]:
    """Return the innermost source and the changes on it, innermost first."""
    changes: list[Any] = []
    while isinstance(source, Changed):
        changes.insert(0, (source.function, source.arguments))
        source = source.source
    return source, changes


def _part(source: Any, changes: list[Any]) -> Part:
    part: Part = source.load() if isinstance(source, FileSource) else source
    for function, arguments in changes:
        part = function(part, *arguments)
    return part


def _of_data(function: Any, source: Any, changes: list[Any], arguments: Any) -> Any:
    return function(_part(source, changes), *arguments)


def _of_state(function: Any, source: Any, changes: list[Any], state: Any, arguments: Any) -> Any:
    part = _part(source, changes)
    return function(part, _state(part, state), *arguments)


def _write(_: None, source: Any, changes: list[Any], state: Any, target: tuple[str, float]) -> None:
    path, step = target
    if not isinstance(state, State):
        return
    state = parts.settled(state, step)
    dual = state.dual.toarray() if hasattr(state.dual, "toarray") else state.dual
    rows, labels = np.nonzero(dual)
    temporary = Path(f"{path}.{os.getpid()}.tmp.npz")
    np.savez(
        temporary,
        rows=rows,
        labels=labels,
        values=dual[rows, labels],
        terms=state.terms,
        shape=dual.shape,
    )
    temporary.replace(path)


def _state(part: Part, state: Any) -> State:
    """Return a state that is there, in a checkpoint, or fresh."""
    if state is None:
        return parts.fresh(part)
    if isinstance(state, State):
        return state
    with np.load(state, allow_pickle=False) as stored:
        if tuple(stored["shape"]) != part.indicator.shape:
            raise ValueError(
                f"checkpoint: {state} has dual rows of shape {tuple(stored['shape'])}, expected "
                f"{part.indicator.shape}: it belongs to another fit."
            )
        dual = np.zeros(part.indicator.shape)
        dual[stored["rows"], stored["labels"]] = stored["values"]
        return parts.state_of(dual, stored["terms"])


def _checkpoint_path(folder: Path, part: int) -> Path:
    return folder / f"part-{part:05d}.npz"


def _settled_copy(state: Any, step: float) -> Any:
    return parts.settled(state, step) if isinstance(state, State) else state


def _item(answer: tuple[Any, ...], item: int) -> Any:
    return answer[item]


def _size(value: Any) -> int:
    """Return the bytes of all arrays in a value."""
    if isinstance(value, np.ndarray):
        return int(value.nbytes)
    if isinstance(value, dict):
        return sum(map(_size, value.values()))
    if isinstance(value, tuple | list):
        return sum(map(_size, value))
    if isinstance(value, Common):
        return value.weights.nbytes + value.offset.nbytes
    return 0
