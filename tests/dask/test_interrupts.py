"""Ctrl-C at any place of a fit: it is raised, and the cluster has nothing of the fit left."""

import asyncio
import os
import signal
import threading
import time
from typing import Any

import dask.array as da
import distributed
import numpy as np
import pytest

import multimargin.dask
from multimargin import RankSVM
from multimargin.dask import calls, owned, store
from multimargin.dask.cluster import ClusterParts
from multimargin.dask.owned import OwnedTasks
from multimargin.dask.rounds import Rounds
from multimargin.interrupts import Interrupts
from tests.support.certificates import objective

# Where Ctrl-C comes: a function of another module, whether after it has done its work, and at which
# of its calls.
PLACES = {
    "parts are about to be given out": (distributed.Client, "compute", False, [1]),
    "parts were given out": (distributed.Client, "compute", True, [1]),
    "between two calls": (ClusterParts, "advance", False, [1, 4]),
    "a task is about to be given out": (distributed.Client, "submit", False, [1, 40]),
    "a task was given out, and its future is lost": (distributed.Client, "submit", True, [2, 41]),
    "a message was written": (distributed.Client, "_send_to_scheduler", True, [3, 45]),
    "waiting": (OwnedTasks, "wait", False, [1, 5]),
    "all was waited for": (OwnedTasks, "wait", True, [2, 6]),
    "before fetching a sum": (distributed.Client, "gather", False, [1, 5]),
    "before weights are handed over": (distributed.Client, "scatter", False, [1, 4]),
    # Every other one fetches a sum.
    "weights are on their way": (asyncio, "run_coroutine_threadsafe", True, [1, 3, 4, 5, 6]),
}
WHERE = [(place, number) for place, (*_, numbers) in PLACES.items() for number in numbers]


def interrupt() -> None:
    raise KeyboardInterrupt


def press() -> None:
    os.kill(os.getpid(), signal.SIGINT)


def at_call(monkeypatch: pytest.MonkeyPatch, place: str, number: int, event: Any) -> list[int]:
    """Have something happen at the call of that number; return how many there were."""
    holder, name, after, _ = PLACES[place]
    original, seen, due = getattr(holder, name), [0], [True]

    def watched(*arguments: Any, **options: Any) -> Any:
        if threading.current_thread() is not threading.main_thread():
            return original(*arguments, **options)
        seen[0] += 1
        # A call that ends with an error of its own leaves it to the next one.
        result = original(*arguments, **options) if after else None
        if due[0] and seen[0] >= number:
            due[0] = False
            event()
        return result if after else original(*arguments, **options)

    monkeypatch.setattr(holder, name, watched)
    return seen


def model() -> RankSVM:
    return RankSVM(kernel="linear", bias="penalized", C=10.0, tol=1e-12, max_iter=6)


def fit_to_parts(model: RankSVM, client: Any, data: Any) -> None:
    blocks = [da.from_array(array, chunks=(12, array.shape[1])) for array in data]
    multimargin.dask.fit(model, *blocks, client)


def names_on_scheduler(client: Any) -> set[str]:
    names: set[str] = client.run_on_scheduler(
        lambda dask_scheduler: set(map(str, dask_scheduler.tasks))
    )
    return names


def check_nothing_is_left(client: Any, before: set[str]) -> None:
    deadline = time.monotonic() + 60.0
    while (left := names_on_scheduler(client) - before) or any(client.run(held_fits).values()):
        assert time.monotonic() < deadline, left
        time.sleep(0.02)


def held_fits() -> list[str]:
    return list(store._STATES)


@pytest.mark.parametrize(("place", "number"), WHERE)
def test_no_task_is_left_wherever_it_comes(
    place: str, number: int, client: Any, data: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(calls, "_LARGE", 0)
    before = names_on_scheduler(client)
    with monkeypatch.context() as patched:
        seen = at_call(patched, place, number, interrupt)
        # What is caught holds the futures that were on their way, and is kept.
        with pytest.raises(KeyboardInterrupt) as caught:
            fit_to_parts(model(), client, data)
    assert seen[0] >= number
    check_nothing_is_left(client, before)
    del caught


@pytest.mark.parametrize("number", [1, 4])
@pytest.mark.parametrize("place", ["a task is about to be given out", "weights are on their way"])
def test_the_signal_keeps_the_certified_point(
    place: str, number: int, client: Any, data: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(calls, "_LARGE", 0)
    before, record, certified = names_on_scheduler(client), Rounds.record, list[int]()

    def recorded(self: Rounds, round_number: int, *arguments: Any, **options: Any) -> None:
        record(self, round_number, *arguments, **options)
        # Calls before depend on the machine: each look at the workers is one.
        if not certified:
            at_call(monkeypatch, place, number, press)
        certified.append(round_number)

    monkeypatch.setattr(Rounds, "record", recorded)
    interrupted = model()
    with pytest.raises(KeyboardInterrupt) as caught:
        fit_to_parts(interrupted, client, data)
    check_nothing_is_left(client, before)
    del caught
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    assert interrupted.status_ == "interrupted"
    assert interrupted.n_iter_ in certified
    assert 0.0 < interrupted.dual_gap_ < 1.0
    assert interrupted.objective_ == pytest.approx(objective(interrupted, *data), rel=1e-9)


def test_an_interrupt_is_raised_at_the_next_look() -> None:
    interrupts = Interrupts()
    with interrupts.held():
        interrupts.check()
        press()
        with pytest.raises(KeyboardInterrupt):
            interrupts.check()
        interrupts.check()
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_sum_that_takes_long_to_fetch_arrives(
    client: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each look at the workers used to begin the transfer anew, so large weights never came."""
    monkeypatch.setattr(owned, "LOOK", 1e-4)
    looks: list[int] = []
    with OwnedTasks(client, Interrupts()) as tasks:
        future = tasks.submit("a-large-array", np.zeros, 5_000_000)
        fetched = tasks.fetch(future, lambda: looks.append(1))
    assert fetched.shape == (5_000_000,)
    assert len(looks) > 1


def test_dual_rows_that_come_after_the_end_are_not_kept() -> None:
    state: Any = None
    store.put("a fit", 1, state, [1])
    store.end("a fit")
    store.put("a fit", 2, state, [2])
    assert store.numbers("a fit") == []
