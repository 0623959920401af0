"""The compiled functions get arbitrary values; ``tests/fuzz/entry_points.py`` gives them more."""

import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = Path(__file__).parent / "fuzz" / "entry_points.py"

pytest.importorskip("resource")


def test_no_call_raises_anything_undocumented_or_ends_the_process():
    command = [sys.executable, PROGRAM, "--seed", "1", "--calls", "1000"]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout + run.stderr
    assert "1000 calls, 0 misses" in run.stdout


def test_a_kernel_that_overflows_stalls_the_simplex_loop():
    command = [sys.executable, PROGRAM, "--seed", "41", "--first", "236", "--calls", "1"]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout + run.stderr
