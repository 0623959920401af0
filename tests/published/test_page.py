"""TABLES.md lists the commands that print the tables and draw the figures."""

import re
import runpy
import warnings
from importlib import import_module
from pathlib import Path

import pytest

from published.page import LISTED, MARKED, marked_parts

ROOT = Path(__file__).parents[2]
PAPERS = ROOT / "benchmarks" / "papers.py"
PAGE = (ROOT / "benchmarks" / "published" / "TABLES.md").read_text(encoding="utf-8")


def parts():
    """Return the parts by the names of the command."""
    papers = runpy.run_path(str(PAPERS))["PAPERS"]
    return {
        f"{paper}/{part}": make
        for paper, files in papers.items()
        for file in files
        for part, make in import_module(f"published.{file}").PARTS.items()
    }


def test_the_page_lists_every_part_and_no_other():
    assert set(re.findall(r"^\| `(\S+/\S+)`", PAGE, re.MULTILINE)) == set(parts())


def test_the_page_marks_parts_and_ends_each():
    marked = marked_parts(PAGE)
    assert set(marked) <= set(parts())
    assert len(marked) == len(set(marked)) == PAGE.count("<!-- end -->")


def other_seconds(listed):
    """The line of a table whose runs took a minute, if they took seconds and are stored."""
    part = listed["part"]
    stored = part in marked_parts(PAGE) and not part.endswith(("table-1", "table-I"))
    seconds = "60 s" if stored and re.fullmatch(r"\d+ s", listed[3]) else listed[3]
    return f"{listed[1]}{seconds}{listed[4]}"


def test_the_tables_are_those_of_the_stored_runs(monkeypatch, tmp_path):
    page = tmp_path / "page.md"
    # Without its tables, and with other seconds where runs took a number of them.
    empty = MARKED.sub(r"\1\4", LISTED.sub(other_seconds, PAGE))
    assert len(empty) < 0.5 * len(PAGE)
    page.write_text(empty, encoding="utf-8")
    for name in ("RUNS", "STORED", "MARKDOWN", "FIGURES"):
        monkeypatch.setenv(f"MULTIMARGIN_{name}", "")  # and back when the test ends
    figures = str(tmp_path)
    command = [str(PAPERS), "--stored", "--page", str(page), "--figures", figures]
    monkeypatch.setattr("sys.argv", command)
    with warnings.catch_warnings():
        runpy.run_path(str(PAPERS), run_name="__main__")
    assert page.read_text(encoding="utf-8") == PAGE


def test_without_stored_runs_nothing_is_computed(monkeypatch, tmp_path):
    monkeypatch.setenv("MULTIMARGIN_STORED", "yes")
    monkeypatch.setattr("common.DATA", tmp_path)  # whoever loads data ends the test
    for part, make in parts().items():
        if not part.endswith(("table-1", "table-I")):  # of the data sets themselves
            make()


def test_a_part_that_is_none_is_refused(monkeypatch, capsys):
    monkeypatch.setattr("sys.argv", [str(PAPERS), "rank-cvm/table-99"])
    with pytest.raises(SystemExit):
        runpy.run_path(str(PAPERS), run_name="__main__")
    assert "no part rank-cvm/table-99; expected a paper or one of" in capsys.readouterr().err
