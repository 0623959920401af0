"""The programs import each other by their names in benchmarks/."""

import sys
from pathlib import Path

import pytest

BENCHMARKS = str(Path(__file__).parents[2] / "benchmarks")
if BENCHMARKS not in sys.path:
    sys.path.append(BENCHMARKS)


@pytest.fixture(autouse=True)
def no_settings(monkeypatch):
    """Leave what the program hands to its parts unset."""
    for name in ("RUNS", "STORED", "ONLY", "FIGURES"):
        monkeypatch.delenv(f"MULTIMARGIN_{name}", raising=False)
