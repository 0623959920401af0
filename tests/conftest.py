"""Settings of all tests."""

import signal


def pytest_configure() -> None:
    """Let SIGINT reach child processes: a background job of a shell ignores it and hands that on."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
