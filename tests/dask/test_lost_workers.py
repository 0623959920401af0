"""Workers that are killed, come late or are all gone: nothing is lost but time."""

import os
import signal
import threading
import time
from collections.abc import Iterator
from typing import Any

import dask.array as da
import distributed
import numpy as np
import pytest

import multimargin.dask
from multimargin import RankSVM
from multimargin.dask import calls, store
from tests.support.certificates import objective
from tests.support.rounds import at_rounds


@pytest.fixture
def workers() -> Iterator[Any]:
    """Four processes; a nanny replaces each one that dies."""
    with (
        distributed.LocalCluster(
            n_workers=4, threads_per_worker=1, processes=True, dashboard_address=":0"
        ) as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):
        yield client


@pytest.fixture(autouse=True)
def workers_keep_weights(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have weights as small as these kept by the workers, as large ones are."""
    monkeypatch.setattr(calls, "_LARGE", 1000)


def fitted(client: Any, data: Any, **options: Any) -> RankSVM:
    X, Y = data
    blocks = [da.from_array(array, chunks=(6, array.shape[1])) for array in (X, Y)]
    model = RankSVM(kernel="linear", C=10.0, tol=1e-3, random_state=0)
    return multimargin.dask.fit(model, *blocks, client, **options)


def kill(client: Any, count: int, after: float = 0.0) -> None:
    """Kill workers by SIGKILL, at once or when their tasks have begun."""
    pids = sorted(client.run(os.getpid).items())[:count]

    def strike() -> None:
        for _, pid in pids:
            os.kill(pid, signal.SIGKILL)

    if after > 0.0:
        threading.Timer(after, strike).start()
    else:
        strike()


def check(model: RankSVM, data: Any) -> None:
    alone = RankSVM(kernel="linear", C=10.0, tol=1e-3, random_state=0).fit(*data)
    assert model.status_ == "converged"
    assert 0.0 <= model.dual_gap_ <= model.tol
    assert abs(model.objective_ - alone.objective_) <= 1.1e-3 * alone.objective_
    X, Y = data
    # The objective is that of the model, from its own scores.
    assert model.objective_ == pytest.approx(objective(model, X, Y), rel=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize(("when", "count", "after"), [(1, 1, 0.0), (7, 1, 0.01), (8, 4, 0.0)])
def test_killed_workers(
    workers: Any, data: Any, monkeypatch: pytest.MonkeyPatch, when: int, count: int, after: float
) -> None:
    seen = at_rounds(monkeypatch, {when: lambda: kill(workers, count, after)})
    model = fitted(workers, data)
    check(model, data)
    assert len(seen) > when
    assert seen[-1].recoveries > 0


@pytest.mark.slow
def test_one_death_after_another(workers: Any, data: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    at_rounds(monkeypatch, {k: lambda: kill(workers, 1, 0.005) for k in (2, 6, 9, 10, 15)})
    check(fitted(workers, data), data)


@pytest.mark.slow
def test_a_worker_that_comes_late_is_used(
    workers: Any, data: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = fitted(workers, data)
    workers.cluster.scale(2)
    while len(workers.nthreads()) != 2:
        time.sleep(0.01)

    def join() -> None:
        workers.cluster.scale(3)
        workers.wait_for_workers(3)

    found: dict[str, int] = {}

    def look() -> None:
        held = workers.run(store.numbers, seen[-1]._shared.name)
        found.update({address: len(numbers) for address, numbers in held.items()})

    seen = at_rounds(monkeypatch, {3: join, 5: look})
    model = fitted(workers, data)
    assert len(found) == 3
    assert all(found.values())
    # Neither the number of workers nor a change of it is seen in the bits.
    np.testing.assert_array_equal(model.coef_, expected.coef_)
