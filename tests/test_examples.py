"""Runs every script in examples/ and the Python code of README and guide; compares its output."""

import doctest
import io
import re
import runpy
import sys
from collections.abc import Iterator
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

import matplotlib
import pytest
from matplotlib import pyplot

from tests.support.data import DATA
from tests.support.subsets import fast_only

pytestmark = pytest.mark.many_trees

ROOT = Path(__file__).parents[1]
EXAMPLES = sorted((ROOT / "examples").rglob("*.py"))
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
# Code that needs files which are not there is marked as {code-block} instead.
# A block of text right below is what the code prints.
RUNNABLE = re.compile(
    r"^```python\n(?P<code>.*?)^```\n(?:\n```text\n(?P<output>.*?)^```$)?", re.DOTALL | re.MULTILINE
)

NEEDS_DATA = re.compile(r'\benviron\["MULTIMARGIN_DATA"\]')


def blocks_of(page: Path) -> list[tuple[str, str | None]]:
    """The blocks of code of a page, in order, each with what it prints where the page says so."""
    found = RUNNABLE.finditer(page.read_text(encoding="utf-8"))
    return [(block["code"], block["output"]) for block in found]


WITH_CODE = [page for page in PAGES if blocks_of(page)]
QUICK_NAMES = ("README", "index", "getting_started", "datasets", "llsf", "is_it_converged")
QUICK = [page for page in WITH_CODE if page.stem in QUICK_NAMES]


@pytest.mark.parametrize("script", fast_only(EXAMPLES, [EXAMPLES[0]]), ids=lambda path: path.stem)
def test_example(
    script: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    matplotlib.use("Agg")
    if NEEDS_DATA.search(script.read_text(encoding="utf-8")):
        if not DATA.is_dir():
            pytest.skip("needs the real data")
        monkeypatch.setenv("MULTIMARGIN_DATA", str(DATA))
    picture = tmp_path / "picture.png"
    code = script.read_text(encoding="utf-8")
    saves = "sys.argv" in code
    monkeypatch.setattr(sys, "argv", [str(script), *([str(picture)] if saves else [])])
    monkeypatch.setattr(pyplot, "show", lambda: None)
    pyplot.close("all")
    runpy.run_path(str(script), run_name="__main__")
    printed = capsys.readouterr().out
    assert printed
    shown = [line[4:] for line in code.splitlines() if line.startswith("# > ")]
    assert not shown or [line.rstrip() for line in printed.splitlines()] == shown
    # Each lesson of the course shows it.
    assert bool(shown) == script.stem.startswith("course_")
    assert picture.exists() == saves
    assert bool(pyplot.get_fignums()) == ("pyplot.show()" in code)
    pyplot.close("all")


def write_packages(path: Path, rows: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Write the table that the front pages read, as the example that they name does."""
    script = ROOT / "examples" / "start" / "packages_csv.py"
    monkeypatch.setattr(sys, "argv", [str(script), str(path), str(rows)])
    with redirect_stdout(io.StringIO()):
        runpy.run_path(str(script), run_name="__main__")


def wrong_outputs(blocks: list[tuple[str, str | None]], name: str) -> Iterator[str]:
    """Run blocks, later ones with the names of earlier ones; yield what differs from the page."""
    names: dict[str, Any] = {"__name__": "__main__"}
    for code, expected in blocks:
        printed = io.StringIO()
        with redirect_stdout(printed):
            exec(compile(code, name, "exec"), names)
        example = doctest.Example(code, expected or "")
        checker, options = doctest.OutputChecker(), doctest.ELLIPSIS
        if expected and not checker.check_output(expected, printed.getvalue(), options):
            yield checker.output_difference(example, printed.getvalue(), options)


def test_a_wrong_output_is_found() -> None:
    blocks = [("x = 1", None), ("print(x)", "1\n"), ("print(x + 1)", "3\n")]
    (difference,) = wrong_outputs(blocks, "page")
    assert "3" in difference
    assert "2" in difference


@pytest.mark.parametrize("page", fast_only(WITH_CODE, QUICK), ids=lambda page: page.stem)
def test_code_of_page(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    matplotlib.use("Agg")
    monkeypatch.chdir(tmp_path)
    blocks = blocks_of(page)
    if any("packages.csv" in code for code, _ in blocks):
        # The front page prints what a table of 800 programs gives.
        rows = {"index": 800, "README": 150}.get(page.stem, 300)
        write_packages(tmp_path / "packages.csv", rows, monkeypatch)
    differences = list(wrong_outputs(blocks, str(page)))
    pyplot.close("all")
    assert not differences, "\n".join(differences)
