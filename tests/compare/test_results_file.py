import errno
import json
import os
import re
from dataclasses import replace
from types import SimpleNamespace
from unittest.mock import Mock

import numpy as np
import pytest

from multimargin.compare import read_results, run_experiment
from multimargin.compare.results_file import ResultsFile
from tests.support.cases import case


@pytest.fixture
def results(data):
    return run_experiment(data, ["rank-svm", "knn"], cv="official")


def test_read_back_what_was_written(results, results_file, monkeypatch):
    monkeypatch.setattr(os, "fsync", Mock())
    with pytest.raises(OSError, match=r"No such file"):
        read_results(results_file)
    # JSON allows line separators in a text, and str.splitlines breaks at them.
    names = ["a\u2028b", "c\x85d", "e\nf", "a\x00b", "\udce9", "\x1b"]
    results.append(replace(results[0], job="other", data="caf\udce9", label_names=names))
    with ResultsFile(results_file) as file:
        for result in results:
            file.append(result)
    assert read_results(results_file) == results
    assert os.fsync.call_count >= 3
    for line in results_file.read_bytes().splitlines():
        assert json.loads(line)["format"] == 1


def test_numbers_that_are_not_finite_become_null(results):
    result = replace(results[0], certificate={"gap": np.inf, "objective": float("nan")})
    row = json.loads(result.to_line())
    assert row["certificate"] == {"gap": None, "objective": None}


def test_every_torn_last_line_is_cut_off(results, results_file):
    first, second = (result.to_line().encode() for result in results)
    for length in (1, 5, 11, 12, len(second) // 2, len(second) - 1):
        results_file.write_bytes(first + second[:length])
        assert read_results(results_file) == results[:1]
        with ResultsFile(results_file) as file:
            assert file.results == results[:1]
            file.append(results[1])
        assert results_file.read_bytes() == first + second


def test_later_results_of_a_job_win(results, results_file):
    failed = replace(results[0], error={"type": "E", "message": "", "traceback": ""})
    results_file.write_text(failed.to_line() + results[1].to_line() + results[0].to_line())
    assert read_results(results_file) == results


def test_rows_of_other_formats_are_kept_but_not_read(results, results_file):
    old = '{"format": 0, "job": "x", "anything": 1}\n'
    results_file.write_text(old)
    with ResultsFile(results_file) as file:
        assert file.results == []
        file.append(results[0])
    assert read_results(results_file) == results[:1]
    assert results_file.read_text().startswith(old)


def test_foreign_files_are_refused_and_left_alone(results_file):
    for content in (
        *(b"a,b,c\n1,2,3\n", b"a,b,c", b"[1, 2]\n", b'{"format": 1, "job": "x"}\n'),
        *(b'{"other": 1}\n', b"\xff\xfe\n", b"\n"),
    ):
        results_file.write_bytes(content)
        message = r"results.jsonl.*expected a file of results or a new"
        with case(content), pytest.raises(ValueError, match=message):
            ResultsFile(results_file)
        assert results_file.read_bytes() == content


def test_second_writer_is_refused(results_file):
    pytest.importorskip("fcntl")
    message = r"is being written by another run"
    with ResultsFile(results_file), pytest.raises(OSError, match=message):
        ResultsFile(results_file)
    with ResultsFile(results_file) as file:
        assert file.results == []


def test_a_damaged_line_is_named(results, results_file):
    first, second = (result.to_line().encode() for result in results)
    for content, message in (
        (first[:50] + b"\n" + second, "line 2 is not JSON"),
        (b"[" * 100_000 + b"\n", "line 2 is not JSON"),
        (
            second[:20] + b"\xff" + second[21:],
            "line 2 is not UTF-8 text at byte 21; .*delete that lin",
        ),
    ):
        results_file.write_bytes(first + content)
        with pytest.raises(ValueError, match=message):
            read_results(results_file)


def test_file_systems_without_locks(results, results_file, monkeypatch):
    def unsupported(*_):
        raise OSError(errno.ENOTSUP, "Operation not supported")

    for lock in (SimpleNamespace(LOCK_EX=2, LOCK_NB=4, flock=unsupported), None):
        monkeypatch.setattr("multimargin.compare.results_file.fcntl", lock)
        with ResultsFile(results_file) as file:
            file.append(results[0])
    assert read_results(results_file)[0] == results[0]


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no device that is always full")
def test_a_full_disk_is_named(results, results_file):
    def write():
        with ResultsFile(results_file) as file:
            full = os.open("/dev/full", os.O_WRONLY)
            os.dup2(full, file._file.fileno())
            os.close(full)
            file.append(results[0])

    with pytest.raises(OSError, match=re.escape(f"No space left on device: '{results_file}'")):
        write()
