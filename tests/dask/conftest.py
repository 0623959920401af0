"""A real cluster of processes for all tests of this folder, and problems that few rounds solve."""

from collections.abc import Iterator
from importlib.util import find_spec
from typing import Any

import numpy as np
import pytest

collect_ignore_glob = [] if find_spec("distributed") else ["test_*.py"]


@pytest.fixture(scope="session")
def client() -> Iterator[Any]:
    import distributed

    cluster = distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0"
    )
    with cluster, distributed.Client(cluster, set_as_default=False) as client:
        yield client


@pytest.fixture
def data() -> tuple[Any, Any]:
    """More features than rows: smooth losses need few rounds."""
    random = np.random.default_rng(0)
    X = random.normal(size=(48, 60)) / 8.0
    Y = X @ random.normal(size=(60, 5)) + 0.3 * random.normal(size=(48, 5)) > 0.3
    return X, Y.astype(np.uint8)
