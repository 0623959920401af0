"""The benchmark of mechanisms knows those of the extension."""

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from multimargin import _rust

ABLATE = Path(__file__).parents[2] / "benchmarks" / "ablate.py"


def test_a_fit_without_each_mechanism():
    arguments = ["--packaged", "--repeats", "1", "--only", "RankSVM linear moderation"]
    run = subprocess.run(
        [sys.executable, ABLATE, *arguments], capture_output=True, text=True, check=True
    )
    header = next(line for line in run.stdout.splitlines() if "used by" in line)
    rows = run.stdout.split(header)[1].strip().splitlines()
    nonsense = {"without": ["haste"], "solver": "bcd", "loss": "hinge", "kernel_name": "linear"}
    with pytest.raises(ValueError, match="without is") as error:
        _rust.solve_pairwise(
            np.array([[1, 0]], dtype=np.uint8),
            np.ones((1, 1)),
            c=1.0,
            bias="none",
            tolerance=1e-3,
            max_epochs=1,
            **nonsense,
        )
    known = re.findall(r"'(\w+)'", str(error.value))
    assert {row.split()[0] for row in rows} == set(known)
