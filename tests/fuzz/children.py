"""Reads damaged files in child processes, whose memory and time are limited."""

import faulthandler
import json
import mmap
import os
import resource
import signal
import sys
import tempfile
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from formats import Format

_MEMORY = 2**30
_ALARMS = (signal.SIGALRM, signal.SIGPROF)


@dataclass(frozen=True)
class Miss:
    """A file that was neither read nor refused as it should be."""

    number: int
    reason: str
    content: bytes


def damaged_file(kind: Format, seed: int, number: int) -> bytes:
    """Return a damaged file, the same for the same arguments."""
    rng = np.random.default_rng([seed, number])
    first, second = (kind.originals[i] for i in rng.integers(len(kind.originals), size=2))
    return kind.damage(first, second, rng)


def misses(kind: Format, seed: int, numbers: range, seconds: float = 20.0) -> Iterator[Miss]:
    """Read damaged files in a child process; a new one takes over where one dies.

    Yields the files that crash, keep the processor busy for longer, take more than 1 GB, or raise
    something other than a ValueError that names the file.
    """
    position = mmap.mmap(-1, 8)
    start = numbers.start
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        while start < numbers.stop:
            reports = folder / "reports"
            reports.write_bytes(b"")
            sys.stdout.flush()
            child = os.fork()
            if child == 0:
                _read_all(kind, seed, range(start, numbers.stop), folder, position, seconds)
            _, status = os.waitpid(child, 0)
            for line in reports.read_text().splitlines():
                number, reason = json.loads(line)
                yield Miss(number, reason, damaged_file(kind, seed, number))
            if status == 0:
                return
            at = int.from_bytes(position[:8], "little")
            yield Miss(at, _ending(status, seconds), damaged_file(kind, seed, at))
            start = at + 1


def _ending(status: int, seconds: float) -> str:
    if not os.WIFSIGNALED(status):
        return f"the process ended with code {os.waitstatus_to_exitcode(status)}"
    number = os.WTERMSIG(status)
    if number in _ALARMS:
        return f"took more than {seconds:g} s"
    return f"the process died by {signal.Signals(number).name}"


def _read_all(
    kind: Format, seed: int, numbers: range, folder: Path, position: mmap.mmap, seconds: float
) -> None:
    """Be the child: the caller's process never comes here, and this one does not return."""
    code = 1
    try:
        # What C code of a crash writes is of no interest, and neither is a core file.
        faulthandler.disable()
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        pages = int(Path("/proc/self/statm").read_text().split()[0])
        limit = pages * mmap.PAGESIZE + _MEMORY
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
        for alarm in _ALARMS:
            signal.signal(alarm, signal.SIG_DFL)
        warnings.simplefilter("ignore")
        file = folder / f"damaged{kind.suffix}"
        with (folder / "reports").open("a") as reports:
            for number in numbers:
                position[:8] = number.to_bytes(8, "little")
                file.write_bytes(damaged_file(kind, seed, number))
                # Seconds of work, so that a busy machine finds no fault; sleep would be one, too.
                signal.setitimer(signal.ITIMER_PROF, seconds)
                signal.setitimer(signal.ITIMER_REAL, 10 * seconds)
                reason = _fault(kind, file)
                signal.setitimer(signal.ITIMER_PROF, 0)
                signal.setitimer(signal.ITIMER_REAL, 0)
                if reason is not None:
                    reports.write(json.dumps([number, reason]) + "\n")
                    reports.flush()
        code = 0
    finally:
        os._exit(code)


def _fault(kind: Format, file: Path) -> str | None:
    try:
        kind.read(file)
    except BaseException as error:
        if type(error) is ValueError and str(file) in str(error):
            return None
        return f"{type(error).__name__}: {str(error)[:300]}"
    return None
