import errno
import json
import os
import re
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from multimargin.compare import read_results, run_experiment
from multimargin.compare.results import Result
from multimargin.compare.results_file import ResultsFile
from multimargin.datasets import MultilabelData


@pytest.fixture
def results(data: MultilabelData) -> list[Result]:
    return run_experiment(data, ["rank-svm", "knn"], cv="official")


def test_read_back_what_was_written(results: list[Result], results_file: Path) -> None:
    with ResultsFile(results_file) as file:
        for result in results:
            file.append(result)
    assert read_results(results_file) == results
    for line in results_file.read_text().splitlines():
        assert json.loads(line)["format"] == 1


def test_numbers_that_are_not_finite_become_null(results: list[Result]) -> None:
    result = replace(results[0], certificate={"gap": np.inf, "objective": float("nan")})
    row = json.loads(result.to_line())
    assert row["certificate"] == {"gap": None, "objective": None}


def test_every_torn_last_line_is_cut_off(results: list[Result], results_file: Path) -> None:
    first, second = (result.to_line().encode() for result in results)
    for length in (1, 5, 11, 12, len(second) // 2, len(second) - 1):
        results_file.write_bytes(first + second[:length])
        assert read_results(results_file) == results[:1]
        with ResultsFile(results_file) as file:
            assert file.results == results[:1]
            file.append(results[1])
        assert results_file.read_bytes() == first + second


def test_later_results_of_a_job_win(results: list[Result], results_file: Path) -> None:
    failed = replace(results[0], error={"type": "E", "message": "", "traceback": ""})
    results_file.write_text(failed.to_line() + results[1].to_line() + results[0].to_line())
    assert read_results(results_file) == results


def test_rows_of_other_formats_are_kept_but_not_read(
    results: list[Result], results_file: Path
) -> None:
    old = '{"format": 0, "job": "x", "anything": 1}\n'
    results_file.write_text(old)
    with ResultsFile(results_file) as file:
        assert file.results == []
        file.append(results[0])
    assert read_results(results_file) == results[:1]
    assert results_file.read_text().startswith(old)


@pytest.mark.parametrize(
    "content",
    [
        b"a,b,c\n1,2,3\n",
        b"a,b,c",
        b"[1, 2]\n",
        b'{"format": 1, "job": "x"}\n',
        b'{"other": 1}\n',
        b"\xff\xfe\n",
        b"\n",
    ],
)
def test_foreign_files_are_refused_and_left_alone(content: bytes, results_file: Path) -> None:
    results_file.write_bytes(content)
    with pytest.raises(ValueError, match=r"results.jsonl.*expected a file of results or a new"):
        ResultsFile(results_file)
    assert results_file.read_bytes() == content


def test_damaged_line_in_the_middle_is_named(results: list[Result], results_file: Path) -> None:
    line = results[0].to_line()
    results_file.write_text(line + line[:50] + "\n" + line)
    with pytest.raises(ValueError, match=r"line 2 is not JSON"):
        read_results(results_file)


def test_second_writer_is_refused(results_file: Path) -> None:
    pytest.importorskip("fcntl")
    with (
        ResultsFile(results_file),
        pytest.raises(OSError, match=r"is being written by another run"),
    ):
        ResultsFile(results_file)
    with ResultsFile(results_file) as file:
        assert file.results == []


def test_unusable_paths(tmp_path: Path) -> None:
    with pytest.raises(OSError, match=r"directory"):
        ResultsFile(tmp_path)
    with pytest.raises(OSError, match=r"No such file"):
        read_results(tmp_path / "missing.jsonl")


def test_a_damaged_byte_is_named_with_its_line(results: list[Result], results_file: Path) -> None:
    first, second = (result.to_line().encode() for result in results)
    results_file.write_bytes(first + second[:20] + b"\xff" + second[21:])
    with pytest.raises(ValueError, match=r"line 2 is not UTF-8 text at byte 21; .*delete that lin"):
        read_results(results_file)
    results_file.write_bytes(first + b"[" * 100_000 + b"\n")
    with pytest.raises(ValueError, match="line 2 is not JSON"):
        read_results(results_file)


def test_a_full_disk_is_named(
    results: list[Result], results_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with ResultsFile(results_file) as file:
        monkeypatch.setattr(os, "fsync", full)
        with pytest.raises(OSError, match=re.escape(str(results_file))):
            file.append(results[0])


def test_file_systems_without_locks(
    results: list[Result], results_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unsupported(*_: object) -> None:
        raise OSError(errno.ENOTSUP, "Operation not supported")

    for lock in (SimpleNamespace(LOCK_EX=2, LOCK_NB=4, flock=unsupported), None):
        monkeypatch.setattr("multimargin.compare.results_file.fcntl", lock)
        with ResultsFile(results_file) as file:
            file.append(results[0])
    assert read_results(results_file)[0] == results[0]


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no device that is always full")
def test_a_full_disk_is_named_when_the_file_closes_too(
    results: list[Result], results_file: Path
) -> None:
    def write() -> None:
        with ResultsFile(results_file) as file:
            full = os.open("/dev/full", os.O_WRONLY)
            os.dup2(full, file._file.fileno())
            os.close(full)
            file.append(results[0])

    with pytest.raises(OSError, match=re.escape(f"No space left on device: '{results_file}'")):
        write()


def test_line_separators_inside_texts(results: list[Result], results_file: Path) -> None:
    # JSON allows them in a text, and str.splitlines breaks at them.
    result = replace(results[0], label_names=["a\u2028b", "c\x85d", "e\nf"])
    with ResultsFile(results_file) as file:
        file.append(result)
    assert read_results(results_file) == [result]


def test_names_that_are_not_utf_8(results: list[Result], results_file: Path) -> None:
    result = replace(results[0], data="caf\udce9", label_names=["a\x00b", "\udce9", "\x1b"])
    with ResultsFile(results_file) as file:
        file.append(result)
    assert read_results(results_file) == [result]
