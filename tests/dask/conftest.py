"""A real cluster of processes for all tests of this folder, and problems that few rounds solve."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

distributed = pytest.importorskip("distributed")


@pytest.fixture(scope="session")
def client() -> Iterator[Any]:
    cluster = distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
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
