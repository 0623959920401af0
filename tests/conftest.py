"""Settings of all tests."""

import signal

import numpy as np
import pytest


def pytest_configure() -> None:
    """Let SIGINT reach child processes: background jobs of a shell ignore it and hand that on."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup() -> None:
    """Seed what ``random_state=None`` draws from, before the fixtures of a test."""
    np.random.seed(0)  # noqa: NPY002
