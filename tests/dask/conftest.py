"""A real cluster of processes for all tests of this folder, and problems that few rounds solve."""

from collections.abc import Iterator
from importlib.util import find_spec
from typing import Any

import numpy as np
import pytest

collect_ignore_glob = [] if find_spec("distributed") else ["test_*.py"]


# Of the package: a cluster at rest looks at itself many times a second.
@pytest.fixture(scope="package")
def client() -> Iterator[Any]:
    import dask
    import distributed

    quiet = {"worker.profile.enabled": False, "admin.tick.interval": "1s"}
    with (
        dask.config.set({f"distributed.{name}": value for name, value in quiet.items()}),
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0"
        ) as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):
        yield client


@pytest.fixture
def data() -> tuple[Any, Any]:
    """More features than rows: smooth losses need few rounds."""
    random = np.random.default_rng(0)
    X = random.normal(size=(48, 60)) / 8.0
    Y = X @ random.normal(size=(60, 5)) + 0.3 * random.normal(size=(48, 5)) > 0.3
    return X, Y.astype(np.uint8)


@pytest.fixture(autouse=True)
def no_argument_is_a_task(monkeypatch: pytest.MonkeyPatch) -> None:
    """Up to 2024.11, dask computes tuples that begin with a function before a task gets them."""
    from multimargin.dask.owned import OwnedTasks

    submit = OwnedTasks.submit

    def checked(self: OwnedTasks, name: Any, function: Any, *arguments: Any, **where: Any) -> Any:
        assert not any(map(_holds_a_task, arguments)), (name, function)
        return submit(self, name, function, *arguments, **where)

    monkeypatch.setattr(OwnedTasks, "submit", checked)


def _holds_a_task(value: Any) -> bool:
    if isinstance(value, tuple) and callable(next(iter(value), None)):
        return True
    return isinstance(value, tuple | list) and any(map(_holds_a_task, value))
