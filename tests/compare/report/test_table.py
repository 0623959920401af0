from io import StringIO

import pandas as pd
import pytest

from multimargin.compare.report.table import Table, to_markdown

AWKWARD = r"a|b_c*[x]`<i>&%$#{}~^\ü"


@pytest.fixture
def table():
    index = pd.Index(["first", AWKWARD], name="method")
    cells = pd.DataFrame({"loss ↓": ["0.50 ± 0.01", "1e3"], AWKWARD: ["007", "–"]}, index=index)
    best = pd.DataFrame([[True, False], [False, False]], index=index, columns=cells.columns)
    return Table("A title", cells, best, ("a note", f"on {AWKWARD}"))


def test_markdown(table):
    text = to_markdown([table])
    lines = text.splitlines()
    assert lines[0] == "### A title"
    # Four cells bars a row: those inside of names are escaped.
    assert all(line.replace("\\|", "").count("|") == 4 for line in lines[2:6])
    assert "**0.50 ± 0.01**" in text
    assert " 007 |" in text
    assert " 1e3 |" in text
    assert r"a\|b\_c\*\[x\]\`\<i\>" in text
    assert "a note." in lines


def test_the_terminal_shows_names_as_they_are(table):
    from rich.console import Console
    from rich.markdown import Markdown

    stream = StringIO()
    Console(file=stream, width=120).print(Markdown(to_markdown([table])))
    shown = stream.getvalue()
    assert shown.count(AWKWARD) == 3
    assert "0.50 ± 0.01" in shown
    assert "a note." in shown
