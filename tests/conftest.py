"""Settings of all tests."""

import os
import signal
from collections.abc import Iterator
from pathlib import Path

# The workers of a run in parallel share the cores: further threads of their libraries would spin
# while they wait for each other. What threads change is tested where their number is set.
if "PYTEST_XDIST_WORKER" in os.environ:
    for library in ("OMP", "OPENBLAS", "MKL"):
        os.environ.setdefault(f"{library}_NUM_THREADS", "1")

import numpy as np
import pytest

# Arrow's own pools reserve a gigabyte of addresses at once, which `one_gigabyte` does not leave.
os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")


def pytest_configure() -> None:
    """Let SIGINT reach child processes: background jobs of a shell ignore it and hand that on."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup() -> None:
    """Seed what ``random_state=None`` draws from, before the fixtures of a test."""
    np.random.seed(0)  # noqa: NPY002


@pytest.fixture
def one_gigabyte() -> Iterator[None]:
    """Limit the process to 1 GB more than it has."""
    resource = pytest.importorskip("resource")
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    before = resource.getrlimit(resource.RLIMIT_AS)
    limit = pages * resource.getpagesize() + 2**30
    resource.setrlimit(resource.RLIMIT_AS, (limit, before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_AS, before)


@pytest.fixture(autouse=True)
def few_trees(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the trees of a stack be few, unless something depends on how good it is."""
    if request.node.get_closest_marker("many_trees"):
        return
    for name in ("_TREES", "_TREES_OF_LABELS", "_TREES_OF_MANY", "_BOOSTED"):
        monkeypatch.setattr(f"multimargin.blocks.by_name.{name}", 4)
