"""Printed on A4 by a real browser: nothing of a report is cut off at the edge of the paper."""

import re
import shutil
import subprocess
from collections.abc import Callable
from html import unescape
from pathlib import Path
from typing import Any

import pytest

from multimargin.compare import make_report, run_experiment
from multimargin.compare.experiment.baselines import make_estimator
from multimargin.datasets import MultilabelData

pdfium = pytest.importorskip("pypdfium2")
BROWSER = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("chrome")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(BROWSER is None, reason="needs Chromium"),
]
# Points of 1/72 inch.
A4 = (595, 842)
METHODS = ("rank-svm", "mlodm", "rank-cvm", "rank-lsvm", "llsf", "ovr-linear", "ml-knn", "dummy")


@pytest.fixture(scope="module")
def report(make_data: Callable[..., MultilabelData], tmp_path_factory: Any) -> Path:
    """A report that compares eight methods."""
    import matplotlib

    matplotlib.use("agg")
    methods = {name: make_estimator(name) for name in METHODS}
    results = run_experiment([make_data("plain"), make_data("other", seed=1)], methods, cv=2)
    file: Path = tmp_path_factory.mktemp("print") / "report.html"
    file.write_text(make_report(results, title="Eight methods"), encoding="utf-8")
    return file


@pytest.fixture(scope="module")
def pages(report: Path) -> list[Any]:
    assert BROWSER is not None
    printed = report.with_suffix(".pdf")
    subprocess.run(
        [
            BROWSER,
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--no-pdf-header-footer",
            f"--user-data-dir={report.parent / 'profile'}",
            f"--print-to-pdf={printed}",
            report.as_uri(),
        ],
        check=True,
        capture_output=True,
        timeout=300,
    )
    return list(pdfium.PdfDocument(printed))


def test_the_paper_is_a4(pages: list[Any]) -> None:
    assert len(pages) > 2
    for page in pages:
        assert page.get_size() == pytest.approx(A4, abs=1)


def test_every_character_lies_on_the_paper(pages: list[Any]) -> None:
    for number, page in enumerate(pages, start=1):
        text = page.get_textpage()
        content = text.get_text_range()
        for place in range(text.count_chars()):
            left, bottom, right, top = text.get_charbox(place)
            inside = 0 <= left <= right <= A4[0] and 0 <= bottom <= top <= A4[1]
            assert inside, (number, content[max(place - 20, 0) : place + 20])


def test_every_cell_of_the_tables_is_printed(report: Path, pages: list[Any]) -> None:
    """What lies beyond the edge is missing from the text of the page."""
    printed = "".join(page.get_textpage().get_text_range() for page in pages)
    letters = re.sub(r"\s", "", printed)
    # Closed sections are not printed.
    document = re.sub(r"<details.*?</details>", "", report.read_text("utf-8"), flags=re.DOTALL)
    cells = re.findall(r"<t[dh][^>]*>(.*?)</t[dh]>", document, flags=re.DOTALL)
    words = {re.sub(r"<[^>]*>|\s", "", unescape(cell)) for cell in cells}
    assert len(words) > 100
    assert {word for word in words if word not in letters} == set()


def test_small_print_is_legible(pages: list[Any]) -> None:
    """A browser shrinks a page that is too wide; tables have 7.5 points, lines of 8.7."""
    heights = []
    for page in pages:
        text = page.get_textpage()
        boxes = [text.get_charbox(place, loose=True) for place in range(text.count_chars())]
        heights += [top - bottom for _, bottom, _, top in boxes if top > bottom]
    # Arrows and raised letters are smaller.
    assert sum(height < 8.0 for height in heights) < 0.01 * len(heights)
