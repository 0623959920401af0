"""A guide that needs the network, or lacks a picture, is found out."""

import runpy
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "tools" / "check_guide.py"
faults = runpy.run_path(str(SCRIPT))["faults"]

GOOD = """<link rel="stylesheet" href="_static/a.css?v=1">
<link rel="canonical" href="https://x.org">
<script src="_static/a%20b.js"></script><script>let a = 1;</script>
<img src="data:image/png;base64,AA">
<a href="https://elsewhere.org">a link</a>"""


@pytest.fixture
def guide(tmp_path):
    (tmp_path / "_static").mkdir()
    (tmp_path / "_static" / "a.css").write_text("a { background: url(b.png) }", encoding="utf-8")
    (tmp_path / "_static" / "b.png").touch()
    (tmp_path / "_static" / "a b.js").touch()
    (tmp_path / "index.html").write_text(GOOD, encoding="utf-8")
    return tmp_path


def test_a_guide_that_stands_alone(guide):
    assert faults(guide) == []


@pytest.mark.parametrize(
    "tag",
    [
        '<script src="https://cdn.org/mathjax.js"></script>',
        '<script src="//cdn.org/mathjax.js"></script>',
        '<link rel="stylesheet" href="https://fonts.org/a.css">',
        '<link rel="preconnect" href="https://fonts.org">',
        '<img src="https://shields.org/badge.svg">',
    ],
)
def test_what_comes_from_elsewhere(tag, guide):
    (guide / "page.html").write_text(tag, encoding="utf-8")
    (fault,) = faults(guide)
    assert fault.startswith("page.html fetches ")


def test_styles_are_read_too(guide):
    style = '@import "https://fonts.org/a.css"; a { background: url("none.png") }'
    (guide / "_static" / "c.css").write_text(style, encoding="utf-8")
    assert [fault.split()[1] for fault in faults(guide)] == ["fetches", "shows"]


def test_a_picture_that_is_missing(guide):
    (guide / "page.html").write_text('<img src="_images/none.png">', encoding="utf-8")
    assert faults(guide) == ["page.html shows _images/none.png, which is not there"]
