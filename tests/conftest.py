"""Settings of all tests."""

import signal


def pytest_configure() -> None:
    """Let SIGINT reach child processes: background jobs of a shell ignore it and hand that on."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
