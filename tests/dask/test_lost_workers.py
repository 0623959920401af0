"""Workers that are killed, come late or are all gone, and lost schedulers: no model is lost."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import dask.array as da
import distributed
import numpy as np
import pytest
from sklearn.base import clone

import multimargin.dask
from multimargin import RankSVM
from multimargin.dask import calls, store
from multimargin.dask.owned import OwnedTasks
from multimargin.model_files import load_model, save_model
from tests.support.certificates import objective
from tests.support.exact import exact_objective
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
    model = RankSVM(kernel="linear", C=10.0, tol=1e-3, random_state=0, **options)
    return multimargin.dask.fit(model, *blocks(data, 6), client)


def blocks(data: Any, rows: int) -> list[Any]:
    return [da.from_array(array, chunks=(rows, array.shape[1])) for array in data]


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
    alone = clone(model).fit(*data)
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


# What a fit asks of the parts, how many times before a worker is killed, and the kind of bias.
PHASES = [
    ("make_part", 1, "none"),
    ("describe", 1, "none"),
    ("label_network", 1, "free"),
    ("gram", 1, "penalized"),
    ("contribution", 1, "penalized"),
    ("split", 1, "none"),
    ("split", 7, "free"),
    ("pairs_near_margin", 1, "free"),
    ("rerouted", 1, "free"),
    ("certify", 1, "free"),
    ("sampled_rows", 1, "none"),
    # Of the threshold that needs sums over all rows.
    ("threshold_rows", 1, "none"),
]


@pytest.mark.slow
@pytest.mark.parametrize("count", [1, 4])
@pytest.mark.parametrize(("function", "number", "bias"), PHASES)
def test_killed_in_every_phase(
    workers: Any,
    data: Any,
    monkeypatch: pytest.MonkeyPatch,
    function: str,
    number: int,
    bias: str,
    count: int,
) -> None:
    seen = 0

    def watched(method: Any) -> Any:
        def killing(self: Any, *arguments: Any, **options: Any) -> Any:
            nonlocal seen
            found = method(self, *arguments, **options)
            asked = arguments[2].__name__ if len(arguments) > 1 else "make_part"
            seen += asked == function
            if asked == function and seen == number:
                kill(workers, count)
            return found

        return killing

    monkeypatch.setattr(calls.Call, "each", watched(calls.Call.each))
    monkeypatch.setattr(OwnedTasks, "compute", watched(OwnedTasks.compute))
    threshold = "scores" if function == "threshold_rows" else "auto"
    model = fitted(workers, data, bias=bias, threshold=threshold)
    assert seen >= number
    check(model, data)


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


@pytest.mark.parametrize("bias", ["none", "free"])
def test_a_client_that_has_lost_its_scheduler(
    client: Any, data: Any, bias: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The best model so far is kept, and goes on elsewhere, in other parts."""
    model = RankSVM(kernel="linear", C=10.0, bias=bias, tol=1e-4, warm_start=True)
    with distributed.Client(client.scheduler.address, set_as_default=False) as other:
        at_rounds(monkeypatch, {20: other.close})
        with pytest.raises(RuntimeError, match=r"scheduler of the cluster is gone.* warm_start"):
            multimargin.dask.fit(model, *blocks(data, 12), other)
    # The workers, which others use, keep nothing of it.
    assert not any(client.run(lambda: list(store._STATES)).values())
    assert (model.status_, model.n_iter_) == ("interrupted", 19)
    assert model.objective_ == pytest.approx(objective(model, *data), rel=1e-9)
    exact = exact_objective(model, *data)
    assert model.dual_objective_ <= exact * (1 + 1e-6) <= model.objective_ * (1 + 2e-6)
    assert (model.dual_gap_ < 0.1) == (bias == "none")
    save_model(model, tmp_path / "saved.model")
    saved = load_model(tmp_path / "saved.model").set_params(tol=1e-2)
    again = multimargin.dask.fit(saved, *blocks(data, 24), client)
    assert again.status_ == "converged"
    assert again.history_["primal"][0] == pytest.approx(model.objective_, rel=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("when", [1, 10])
def test_a_killed_scheduler(data: Any, when: int, monkeypatch: pytest.MonkeyPatch) -> None:
    start = [sys.executable, "-m"]
    scheduler = subprocess.Popen(
        [*start, "distributed.cli.dask_scheduler", "--host", "127.0.0.1", "--port", "0"],
        stderr=subprocess.PIPE,
        text=True,
    )
    assert scheduler.stderr is not None
    line = next(line for line in scheduler.stderr if "Scheduler at:" in line)
    address = line.split()[-1]
    worker = subprocess.Popen(
        [*start, "distributed.cli.dask_worker", address, "--no-nanny", "--no-dashboard"],
        stderr=subprocess.DEVNULL,
    )
    model = RankSVM(kernel="linear", C=10.0, bias="none", tol=1e-9)
    try:
        with distributed.Client(address, set_as_default=False) as client:
            at_rounds(monkeypatch, {when: scheduler.kill})
            with pytest.raises(RuntimeError, match="scheduler of the cluster is gone"):
                multimargin.dask.fit(model, *blocks(data, 12), client)
    finally:
        for process in (scheduler, worker):
            process.kill()
            process.communicate()
    assert getattr(model, "n_iter_", 0) == when - 1
