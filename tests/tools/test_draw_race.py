"""The picture of the race and the paper show what its table says."""

import json
import runpy
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
script = runpy.run_path(str(ROOT / "tools" / "draw_race.py"))

TABLE = """# Page

| | ranking loss | micro-F1 | seconds |
|---|---|---|---|
| one (53 labels) | **0.10** / 0.20 | 0.5 / **0.75** | 1.5 / 2.9 / 4.8 |
| two | 0.2 / 0.2 | **0.6** / 0.5 | 1 / 2 / 4 |

| | other |
|---|---|
| three | 1 / 2 |
"""


def test_the_table_is_read() -> None:
    measures, sets = script["read_race"](TABLE)
    assert measures == ["ranking loss", "micro-F1"]
    assert sets == {"one": [(0.1, 0.2), (0.5, 0.75)], "two": [(0.2, 0.2), (0.6, 0.5)]}


def test_the_table_of_the_page_is_read() -> None:
    page = (ROOT / "docs" / "which_method.md").read_text(encoding="utf-8")
    measures, sets = script["read_race"](page)
    assert len(measures) == 6
    assert len(sets) == 10
    assert all(len(values) == 6 for values in sets.values())


def test_the_paper_has_the_race_of_the_page(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", [*sys.path])
    page = (ROOT / "docs" / "which_method.md").read_text(encoding="utf-8")
    race = runpy.run_path(str(ROOT / "paper" / "collect.py"))["race"](page)
    stored = json.loads((ROOT / "paper" / "numbers.json").read_text(encoding="utf-8"))
    assert stored["race"] == race


def test_gains_are_positive_where_ours_is_better() -> None:
    gain = script["relative_gain"]
    assert gain("ranking loss", 0.1, 0.2) == pytest.approx(50.0)
    assert gain("one-error", 0.3, 0.2) == pytest.approx(-50.0)
    assert gain("micro-F1", 0.6, 0.5) == pytest.approx(20.0)
