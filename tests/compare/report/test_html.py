import builtins
import importlib
import re
from base64 import b64decode
from collections.abc import Callable
from html.parser import HTMLParser
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from multimargin.compare import Result, make_report, run_experiment, write_report
from multimargin.datasets import MultilabelData
from multimargin.methods import make_method

NASTY = "<script>alert('x')</script> & \"y\""
VOID = {"meta", "img", "link", "br"}


class Outline(HTMLParser):
    """Collects tags, sources and links, and checks that tags are closed."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[str] = []
        self.sources: list[str] = []
        self.links: list[str] = []
        self.anchors: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        if tag not in VOID:
            self.open.append(tag)
        for name, value in attrs:
            found = {"src": self.sources, "href": self.links, "id": self.anchors}.get(name)
            if found is not None:
                found.append(value or "")

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


@pytest.fixture(scope="module", autouse=True)
def draw_into_files() -> None:
    import matplotlib

    matplotlib.use("agg")


@pytest.fixture(scope="module")
def results(make_data: Callable[..., MultilabelData]) -> list[Result]:
    plain, nasty = make_data("plain"), make_data("nasty", seed=1)
    nasty = MultilabelData(
        X=nasty.X, Y=nasty.Y, label_names=[f"{NASTY} {k}" for k in range(4)], name=NASTY
    )
    methods = {
        NASTY: make_method("rank-svm"),
        "mlrl": make_method("mlrl"),
        "llsf": make_method("llsf"),
        "dummy": make_method("dummy"),
        "bad": make_method("knn", n_neighbors=1000),
    }
    return run_experiment([plain, nasty], methods, cv=2)


@pytest.fixture(scope="module")
def document(results: list[Result]) -> str:
    return make_report(results, title=f"Report {NASTY}")


@pytest.fixture(scope="module")
def outline(document: str) -> Outline:
    parser = Outline()
    parser.feed(document)
    parser.close()
    assert parser.open == []
    return parser


def test_nothing_comes_from_elsewhere(outline: Outline, document: str) -> None:
    assert all(source.startswith("data:image/png;base64,") for source in outline.sources)
    assert {link[0] for link in outline.links} == {"#"}
    assert {link[1:] for link in outline.links} == set(outline.anchors)
    assert "http://" not in document
    assert "https://" not in document


def test_pictures(outline: Outline, document: str) -> None:
    from matplotlib.image import imread

    titles = re.findall(r'alt="([^"]*)"', document)
    for expected in (
        "Ranking loss: average ranks",
        "Measures by label",
        "Convergence over epochs",
        "Convergence over time",
        "Margins",
        "Label correlations of mlrl",
        "Label-specific features of llsf",
    ):
        assert expected in titles
    for source in outline.sources:
        pixels = imread(BytesIO(b64decode(source.partition(",")[2])))
        assert pixels.shape[0] > 100
        assert pixels.std() > 0.01  # something is drawn


def test_sections(document: str) -> None:
    for words in (
        "Win/tie/loss of",
        "Iman-Davenport",
        "Wilcoxon",
        "Certificates",
        "Versions and machine",
        "n_neighbors=1000",
        "Expected n_neighbors &lt;= n_samples_fit",
        "Traceback",
        "5 methods on 2 data sets: 20 fits, 4 of them failed.",
    ):
        assert words in document


def test_everything_failed(results: list[Result]) -> None:
    only = [result for result in results if result.failed]
    document = make_report(only)
    assert "4 fits, 4 of them failed" in document


def test_without_matplotlib(results: list[Result], monkeypatch: pytest.MonkeyPatch) -> None:
    # scikit-posthocs needs matplotlib itself.
    importlib.import_module("scikit_posthocs")
    load = builtins.__import__

    def without(name: str, *rest: Any, **named: Any) -> Any:
        if name.startswith("matplotlib"):
            raise ImportError(f"no {name}")
        return load(name, *rest, **named)

    monkeypatch.setattr(builtins, "__import__", without)
    document = make_report(results)
    assert "Without plots: plots need matplotlib" in document
    assert "<img" not in document


def test_write(results: list[Result], tmp_path: Path) -> None:
    failed = [result for result in results if result.failed]
    path = tmp_path / "report.html"
    write_report(failed, path, title="ü ↓")
    assert path.read_text(encoding="utf-8") == make_report(failed, title="ü ↓")


def test_wide_tables_scroll_and_of_many_labels_thirty_are_drawn(
    make_data: Callable[..., MultilabelData],
) -> None:
    few = make_data("data")
    Y = (np.random.default_rng(0).random((len(few.Y), 45)) < 0.3).astype(int)
    many = MultilabelData(
        X=few.X, Y=Y, label_names=[f"label {k}" for k in range(45)], name="a long name of data"
    )
    methods = {f"a long name of method {k}": make_method("dummy") for k in range(12)}
    page = make_report(run_experiment(many, methods, cv=2), measures="all")
    assert "(1 of" not in page
    assert "of the 30 of 45 labels with most rows" in page


def test_names_are_escaped(outline: Outline, document: str) -> None:
    assert "script" not in outline.tags
    assert "&lt;script&gt;alert" in document
    assert NASTY not in document
