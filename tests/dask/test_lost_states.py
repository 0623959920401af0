"""Dual rows that a worker has no more: rounds go on from copies, or from the start."""

import gc
from typing import Any

import dask.array as da
import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

import multimargin.dask
from multimargin import RankSVM
from multimargin.dask import calls, owned, solving, store
from multimargin.dask import cluster as clusters
from multimargin.dask.cluster import ClusterParts
from multimargin.dask.owned import OwnedTasks
from multimargin.interrupts import Interrupts
from tests.support.certificates import objective
from tests.support.exact import exact_objective
from tests.support.rounds import at_rounds
from tests.support.subsets import first_fast


def parted(data: Any) -> list[Any]:
    return [da.from_array(array, chunks=(12, array.shape[1])) for array in data]


@pytest.mark.parametrize(
    ("count", "large", "features"),
    # Each two of them in each way first.
    first_fast(
        [
            *((1, 10_000, 0), (2, 1000, 0), (1, 1000, 4096), (2, 10_000, 4096)),
            *((1, 1000, 0), (2, 10_000, 0), (1, 10_000, 4096), (2, 1000, 4096)),
        ],
        4,
    ),
)
def test_rounds_go_on_from_copies_or_from_the_start(
    client: Any, data: Any, monkeypatch: pytest.MonkeyPatch, count: int, large: int, features: int
) -> None:
    """One worker's rows have copies with the other one; where both forget, there are none."""
    monkeypatch.setattr(calls, "_LARGE", large)
    monkeypatch.setattr(solving, "MOST_FEATURES", features)

    def forget() -> None:
        workers = sorted(client.nthreads())[:count]
        client.run(store.drop, seen[-1]._shared.name, workers=workers)

    seen = at_rounds(monkeypatch, {7: forget})
    model = RankSVM(kernel="linear", bias="none", C=10.0, tol=1e-9, max_iter=8, random_state=0)
    with pytest.warns(ConvergenceWarning):
        multimargin.dask.fit(model, *parted(data), client)
    assert seen[-1].recoveries == 1
    assert model.objective_ == pytest.approx(objective(model, *data), rel=1e-9)
    exact = exact_objective(model, *data)
    assert model.history_["dual"][-1] <= exact * (1 + 1e-6)
    dual = model.history_["dual"]
    if features:
        # Those at the time of the loss are the best ones.
        assert (np.diff(dual) >= 0.0).all()
        return
    assert (np.diff(dual[:6]) > 0.0).all()
    assert dual[-1] > dual[5] if count == 1 else dual[-1] == 0.0


def test_losses_without_a_round_in_between_end_the_fit(
    client: Any, data: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def forget() -> None:
        client.run(store.drop, seen[-1]._shared.name)

    monkeypatch.setattr(clusters, "_MOST_LOSSES", 0)
    seen = at_rounds(monkeypatch, {3: forget})
    with pytest.raises(RuntimeError, match=r"lost 0 times in a row .* enough memory for a part"):
        multimargin.dask.fit(RankSVM(kernel="linear"), *parted(data), client)


def test_dual_rows_that_nobody_needs_go_at_once(
    client: Any, data: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also after waiting for long, without the help of Python's collection of garbage."""
    monkeypatch.setattr(owned, "LOOK", 1e-3)

    def look() -> None:
        held = client.run(store.numbers, seen[-1]._shared.name).values()
        found.append(len(set().union(*held)))

    found: list[int] = []
    seen = at_rounds(monkeypatch, dict.fromkeys(range(2, 12), look))
    gc.disable()
    try:
        model = RankSVM(kernel="linear", bias="none", tol=1e-9, max_iter=12)
        with pytest.warns(ConvergenceWarning):
            multimargin.dask.fit(model, *parted(data), client)
    finally:
        gc.enable()
    # Those of this round and of the one before, and their copies, for each of four parts.
    assert max(found) <= 4 * 4


def test_no_worker(client: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    parts = ClusterParts(OwnedTasks(client, Interrupts()), [], 1e-3)
    monkeypatch.setattr(OwnedTasks, "threads", lambda self: {})
    with pytest.raises(RuntimeError, match=r"No worker .* Start workers and fit again"):
        parts.threads()


def test_dual_rows_that_are_not_here() -> None:
    with pytest.raises(store.StateMissingError, match="dual rows 3 of the fit nobody's"):
        store.get("nobody's", 3)
    assert store.numbers("nobody's") == []
