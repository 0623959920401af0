"""The benchmark of mechanisms knows those of the extension."""

import re
import runpy
import warnings
from pathlib import Path

import numpy as np
import pytest

from multimargin import _rust

ABLATE = Path(__file__).parents[2] / "benchmarks" / "ablate.py"


def test_a_fit_without_each_mechanism(monkeypatch, capsys):
    arguments = ["--packaged", "--repeats", "1", "--only", "RankSVM linear moderation"]
    monkeypatch.syspath_prepend(ABLATE.parent)
    monkeypatch.setattr("sys.argv", [str(ABLATE), *arguments])
    # The benchmark replaces it; other tests need it as it was.
    monkeypatch.setattr(_rust, "solve_pairwise", _rust.solve_pairwise)
    with warnings.catch_warnings():
        runpy.run_path(str(ABLATE), run_name="__main__")
    out = capsys.readouterr().out
    header = next(line for line in out.splitlines() if "used by" in line)
    rows = out.split(header)[1].strip().splitlines()
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
