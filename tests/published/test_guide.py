"""The guide lists the commands that print the tables and draw the figures."""

import re
import runpy
from importlib import import_module
from pathlib import Path

import pytest

from published.guide import marked_parts

ROOT = Path(__file__).parents[2]
PAPERS = ROOT / "benchmarks" / "papers.py"
GUIDE = (ROOT / "docs" / "reproduction_tables.md").read_text(encoding="utf-8")


def parts() -> set[str]:
    """Return the parts by the names of the command."""
    papers = runpy.run_path(str(PAPERS))["PAPERS"]
    return {
        f"{paper}/{part}"
        for paper, files in papers.items()
        for file in files
        for part in import_module(f"published.{file}").PARTS
    }


def test_the_guide_lists_every_part_and_no_other() -> None:
    assert set(re.findall(r"^\| `(\S+/\S+)`", GUIDE, re.MULTILINE)) == parts()


def test_the_guide_marks_parts_and_ends_each() -> None:
    marked = marked_parts(GUIDE)
    assert set(marked) <= parts()
    assert len(marked) == len(set(marked)) == GUIDE.count("<!-- end -->")


def test_a_part_that_is_none_is_refused(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.argv", [str(PAPERS), "rank-cvm/table-99"])
    with pytest.raises(SystemExit):
        runpy.run_path(str(PAPERS), run_name="__main__")
    assert "no part rank-cvm/table-99; expected a paper or one of" in capsys.readouterr().err
