"""Tasks with an owner: each has a name before it is sent, and is cancelled by that name.

A future that is still referenced, by a traceback for example, or that was lost on its way to the
client, then leaves no task on the scheduler.
"""

import asyncio
import contextlib
import threading
import time
from collections.abc import Callable, Coroutine, Sequence
from concurrent import futures as concurrent
from typing import Any

from dask.delayed import Delayed
from distributed import Client, Future

from multimargin.dask.rounds import ClusterLostError
from multimargin.interrupts import Interrupts

# Seconds between two checks for interrupts and lost workers.
LOOK = 0.2
# And between two checks for completed tasks.
_GLANCE = 0.002

# Seconds for another way to a scheduler that a client has lost.
_ANOTHER_WAY = 2.0

# Seconds that data may take to reach the scheduler, once their fit was interrupted.
_ARRIVAL = 30.0


class OwnedTasks:
    """Tasks that end with their owner; a context manager that cancels them."""

    def __init__(self, client: Client, interrupts: Interrupts, address: str | None = None) -> None:
        self.client = client
        self.interrupts = interrupts
        # Of the scheduler; a client that has lost it does not say
        self._address = address or client.scheduler.address
        # Held until they are cancelled: the scheduler cannot cancel tasks that its client has
        # released while others depend on them. None until a future has arrived.
        self._futures: dict[Any, Future | None] = {}
        self._on_their_way: list[threading.Event] = []

    def __enter__(self) -> "OwnedTasks":
        return self

    def __exit__(self, _: object, error: BaseException | None, __: object) -> None:
        self.cancel()
        if isinstance(error, Exception) and not isinstance(error, ClusterLostError):
            # Any error here has that cause.
            self.check_scheduler(error)

    def of_a_call(self) -> "OwnedTasks":
        """Return the owner of further tasks, which end earlier."""
        return OwnedTasks(self.client, self.interrupts, self._address)

    def check(self) -> None:
        """Raise an interrupt that was held back, or an error if the scheduler is gone."""
        self.interrupts.check()
        self.check_scheduler()

    def check_scheduler(self, cause: Exception | None = None) -> None:
        """Raise `ClusterLostError` if the client has lost its scheduler, and all results."""
        if self.client.status != "running":
            raise ClusterLostError(
                "The scheduler of the cluster is gone, or the connection to it; expected one that "
                "lasts as long as the fit. Connect to a cluster and fit again, with "
                "warm_start=True to continue from the best model so far."
            ) from cause

    def run_on_workers(self, function: Callable[..., object], *arguments: Any) -> None:
        """Call a function on all workers, by another client where this one has lost its scheduler.

        The scheduler may have dropped a client, and workers outlast it.
        """
        if self.client.status == "running":
            self.client.run(function, *arguments, on_error="ignore")
            return
        found = {"security": self.client.security, "timeout": _ANOTHER_WAY}
        with Client(self._address, set_as_default=False, **found) as other:
            other.run(function, *arguments, on_error="ignore")

    def threads(self) -> dict[str, int]:
        """Return the current workers, and their threads."""
        found: dict[str, int] = self._result(self.client.scheduler.ncores())
        return found

    def submit(
        self,
        name: object,
        function: Callable[..., object],
        *arguments: Any,
        workers: list[str] | None = None,
    ) -> Future:
        """Submit a task under a new name."""
        self.check()
        self._futures[name] = None
        future = self.client.submit(function, *arguments, key=name, workers=workers)
        self._futures[name] = future
        return future

    def compute(self, delayed: Sequence[Delayed]) -> list[Future]:
        """Submit delayed objects that are in no other list."""
        self.check()
        self._futures |= dict.fromkeys(one.key for one in delayed)
        made: list[Future] = self.client.compute(delayed)
        self._futures |= {future.key: future for future in made}
        return made

    def scatter(self, name: str, value: object, worker: str, look: Callable[[], None]) -> Future:
        """Transfer a value under a new name; `look` is called until it has arrived."""
        self._futures[name] = None
        coroutine = self.client.scatter(
            {name: value}, hash=False, workers=[worker], asynchronous=True
        )
        arrived = threading.Event()
        self._on_their_way.append(arrived)
        sent: dict[str, Future] = self._result(_announced(coroutine, arrived), look)
        self._futures |= sent
        return sent[name]

    def wait(self, futures: list[Future]) -> bool:
        """Wait a moment; return whether all futures are done."""
        self.check()
        # `distributed.wait` would end with an exception whose frames keep the dual rows of this
        # round, on all workers, until Python collects its garbage.
        end = time.monotonic() + LOOK
        while not all(future.done() for future in futures):
            if time.monotonic() > end:
                return False
            time.sleep(_GLANCE)
        return True

    def fetch(self, future: Future, look: Callable[[], None]) -> Any:
        """Return the result of a future; `look` is called repeatedly until it has arrived."""
        return self._result(self.client.gather(future, asynchronous=True), look)

    def _result(
        self, coroutine: Coroutine[Any, Any, Any], look: Callable[[], object] = bool
    ) -> Any:
        """Run a coroutine where the client runs: `Client.sync` would give up what takes long."""
        loop = self.client.loop.asyncio_loop
        transfer = asyncio.run_coroutine_threadsafe(coroutine, loop)
        while not concurrent.wait([transfer], timeout=LOOK).done:
            self.interrupts.check()
            try:
                self.check_scheduler()
                look()
            except BaseException:
                # A transfer to or from a lost worker would take long.
                transfer.cancel()
                raise
        return transfer.result()

    def cancel(self) -> None:
        """Cancel all tasks."""
        # Tasks in transit would reach the scheduler after the message that cancels them.
        for arrived in self._on_their_way:
            arrived.wait(_ARRIVAL)
        self._on_their_way.clear()
        self._cancelled(list(self._futures))

    def _cancelled(self, names: list[Any]) -> None:
        if not names or self.client.status != "running":
            return
        # The client may have been closed, and the scheduler be gone.
        with contextlib.suppress(Exception):
            self.client.cancel([Future(name, self.client) for name in names], force=True)
        for name in names:
            self._futures.pop(name, None)


async def _announced(coroutine: Coroutine[Any, Any, Any], arrived: threading.Event) -> Any:
    try:
        return await coroutine
    finally:
        arrived.set()
