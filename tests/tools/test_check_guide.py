"""A guide that needs the network, or lacks a picture, is found out."""

import runpy
from pathlib import Path

from tests.support.cases import case

SCRIPT = Path(__file__).parents[2] / "tools" / "check_guide.py"
faults = runpy.run_path(str(SCRIPT))["faults"]

GOOD = """<link rel="stylesheet" href="_static/a.css?v=1">
<link rel="canonical" href="https://x.org">
<script src="_static/a%20b.js"></script><script>let a = 1;</script>
<img src="data:image/png;base64,AA">
<a href="https://elsewhere.org">a link</a>"""


def test_what_a_page_and_its_styles_fetch_and_show(tmp_path):
    static, page = tmp_path / "_static", tmp_path / "page.html"
    static.mkdir()
    for name, text in (("a.css", "a { background: url(b.png) }"), ("b.png", ""), ("a b.js", "")):
        (static / name).write_text(text, encoding="utf-8")
    (tmp_path / "index.html").write_text(GOOD, encoding="utf-8")
    assert faults(tmp_path) == []
    for tag, expected in (
        ('<script src="https://cdn.org/mathjax.js"></script>', "page.html fetches "),
        ('<script src="//cdn.org/mathjax.js"></script>', "page.html fetches "),
        ('<link rel="stylesheet" href="https://fonts.org/a.css">', "page.html fetches "),
        ('<link rel="preconnect" href="https://fonts.org">', "page.html fetches "),
        ('<img src="https://shields.org/badge.svg">', "page.html fetches "),
        ('<img src="_images/none.png">', "page.html shows _images/none.png, which is not there"),
    ):
        page.write_text(tag, encoding="utf-8")
        (fault,) = faults(tmp_path)
        with case(tag):
            assert fault.startswith(expected)
    page.unlink()
    style = '@import "https://fonts.org/a.css"; a { background: url("none.png") }'
    (static / "c.css").write_text(style, encoding="utf-8")
    assert [fault.split()[1] for fault in faults(tmp_path)] == ["fetches", "shows"]
