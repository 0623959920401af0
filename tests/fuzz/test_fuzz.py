"""A short run of the fuzzer, and that it finds what it looks for."""

import os
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

from tests.support.subsets import first_fast

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="reads /proc and forks"),
    # The children only read files.
    pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning"),
]


@pytest.fixture(autouse=True)
def fuzz(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(Path(__file__).parent)
    import children

    return children


# The models among them are of one version of scikit-learn.
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.InconsistentVersionWarning")
def test_sound_files_are_read(tmp_path: Path) -> None:
    from formats import FORMATS

    for kind in FORMATS.values():
        for number, content in enumerate(kind.originals):
            file = tmp_path / f"{number}{kind.suffix}"
            file.write_bytes(content)
            kind.read(file)


@pytest.mark.parametrize("numbers", first_fast([range(10), range(10, 40)], 1))
def test_damaged_files_are_refused(fuzz: ModuleType, numbers: range) -> None:
    from formats import FORMATS

    found = {name: list(fuzz.misses(kind, 20, numbers)) for name, kind in FORMATS.items()}
    assert {name: misses for name, misses in found.items() if misses} == {}


def test_no_call_raises_anything_undocumented_or_ends_the_process(fuzz: ModuleType) -> None:
    from formats import FORMATS

    assert list(fuzz.misses(FORMATS["calls"], 1, range(1000))) == []


def _crash(file: Path) -> None:
    os.kill(os.getpid(), signal.SIGSEGV)


def _fill_memory(file: Path) -> None:
    bytearray(2**31)


def _hang(file: Path) -> None:
    while True:
        time.sleep(1)


def _name_nothing(file: Path) -> None:
    raise ValueError("something is wrong")


def _raise_something_else(file: Path) -> None:
    raise KeyError(str(file))


@pytest.mark.parametrize(
    ("read", "reason"),
    [
        (_crash, "died by SIGSEGV"),
        (_fill_memory, "MemoryError"),
        (_hang, "took more than 0.02 s"),
        (_name_nothing, "ValueError: something"),
        (_raise_something_else, "KeyError"),
    ],
)
def test_faults_are_found(fuzz: ModuleType, read: Callable[[Path], None], reason: str) -> None:
    from formats import Format

    kind = Format(".txt", (b"content",), read)
    found = list(fuzz.misses(kind, 0, range(3), seconds=0.02 if read is _hang else 20.0))
    assert [miss.number for miss in found] == [0, 1, 2]
    assert all(reason in miss.reason for miss in found)
    assert found[1].content == fuzz.damaged_file(kind, 0, 1)
