"""One child process a flip: it runs the tests and says by its exit code what they noticed."""

import importlib.util
import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from python_code import PythonFlip
from rust_code import Extension, RustFlip, limit_processor_time
from targets import ROOT, Group

# A flip may make a loop endless: processor seconds of a child, as a multiple of those without any
# flip, and beside them.
_MOST_TIMES, _MORE_SECONDS = 2, 30
_SURVIVED, _CAUGHT, _UNTESTED = 0, 1, 3


def run_all(
    flips: Sequence[PythonFlip | RustFlip], group: Group, extension: Extension | None, jobs: int
) -> Iterator[tuple[PythonFlip | RustFlip, str]]:
    """Yield each flip with "caught", "survived" or "not compiled"."""
    # What all children need: a child begins where its parent is.
    import numpy  # noqa: F401
    import pytest  # noqa: F401
    import scipy.sparse  # noqa: F401
    import sklearn.utils.estimator_checks  # noqa: F401

    _, status, used = os.wait4(_start(None, group.tests, seconds=3600), 0)
    seconds = int(_MOST_TIMES * (used.ru_utime + used.ru_stime)) + _MORE_SECONDS
    if _outcome(status) != "survived":
        raise RuntimeError(f"without any flip a test fails: pytest -m 'not slow' {group.tests}")
    if extension is not None:
        for flip in flips:
            assert isinstance(flip, RustFlip)
            yield flip, _outcome_of_rust(flip, group, extension, seconds)
        return
    running: dict[int, PythonFlip | RustFlip] = {}
    waiting = list(flips)
    while waiting or running:
        while waiting and len(running) < jobs:
            flip = waiting.pop(0)
            running[_start(flip, group.tests_of(flip.file), seconds=seconds)] = flip
        child, status = os.wait()
        yield running.pop(child), _outcome(status)


def _outcome_of_rust(flip: RustFlip, group: Group, extension: Extension, seconds: int) -> str:
    try:
        extension.put(flip)
        if group.unit_tests:
            if not extension.build_unit_tests():
                return "not compiled"
            if not extension.unit_tests_pass(group.unit_tests, seconds):
                return "caught"
        if not extension.build():
            return "not compiled"
        child = _start(flip, group.tests, seconds=seconds, library=extension.library)
        _, status = os.waitpid(child, 0)
        return _outcome(status)
    finally:
        extension.restore(flip)


def _outcome(status: int) -> str:
    code = os.waitstatus_to_exitcode(status)
    if code == _UNTESTED:
        raise RuntimeError("the tests of a group do not run; see what pytest says of them")
    return "survived" if code == _SURVIVED else "caught"


def _start(
    flip: PythonFlip | RustFlip | None,
    tests: Sequence[str],
    *,
    seconds: int,
    library: Path | None = None,
) -> int:
    child = os.fork()
    if child:
        return child
    code = _CAUGHT
    try:
        limit_processor_time(seconds)
        silence = os.open(os.devnull, os.O_WRONLY)
        os.dup2(silence, 1)
        os.dup2(silence, 2)
        code = _run(flip, tests, library)
    finally:
        os._exit(code)


def _run(flip: PythonFlip | RustFlip | None, tests: Sequence[str], library: Path | None) -> int:
    import pytest

    if library is not None:
        name = "multimargin._rust"
        spec = importlib.util.spec_from_file_location(name, library)
        assert spec is not None
        assert spec.loader is not None
        sys.modules[name] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(sys.modules[name])
    elif isinstance(flip, PythonFlip):
        flip.install()
    os.chdir(ROOT)
    options = ["-x", "-q", "-p", "no:cacheprovider", "-p", "no:randomly", "-m", "not slow"]
    answer = pytest.main([*options, *tests])
    if answer in (pytest.ExitCode.USAGE_ERROR, pytest.ExitCode.NO_TESTS_COLLECTED):
        return _UNTESTED
    return _SURVIVED if answer == pytest.ExitCode.OK else _CAUGHT
