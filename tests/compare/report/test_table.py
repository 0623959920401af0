from io import StringIO

import pandas as pd
import pytest

from multimargin.compare.report.table import Table, to_markdown, to_rich

AWKWARD = r"a|b_c*[x]`<i>&%$#{}~^\ü"


@pytest.fixture
def table() -> Table:
    index = pd.Index(["first", AWKWARD], name="method")
    cells = pd.DataFrame({"loss ↓": ["0.50 ± 0.01", "1e3"], AWKWARD: ["007", "–"]}, index=index)
    best = pd.DataFrame([[True, False], [False, False]], index=index, columns=cells.columns)
    return Table("A title", cells, best, ("a note", f"on {AWKWARD}"))


def test_rows(table: Table) -> None:
    assert table.header == ["method", "loss ↓", AWKWARD]
    assert list(table.rows()) == [
        ("first", [("0.50 ± 0.01", True), ("007", False)]),
        (AWKWARD, [("1e3", False), ("–", False)]),
    ]


def test_markdown(table: Table) -> None:
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


def test_rich(table: Table) -> None:
    from rich.console import Console

    stream = StringIO()
    Console(file=stream, width=120).print(to_rich(table))
    shown = stream.getvalue()
    assert shown.count(AWKWARD) == 3
    assert "0.50 ± 0.01" in shown
    assert "a note." in shown


def wide(columns: int, rows: int = 3) -> Table:
    index = pd.Index([f"method {row}" for row in range(rows)], name="method")
    cells = pd.DataFrame(
        {f"measure {k}": [f"0.{row}{k}" for row in range(rows)] for k in range(columns)},
        index=index,
    )
    cells.columns.name = "measure"
    return Table("Wide", cells, cells == "0.01", ("a note",))


def shown_width(table: Table) -> int:
    from rich.console import Console

    stream = StringIO()
    Console(file=stream, width=1000).print(to_rich(table))
    return max(len(line.rstrip()) for line in stream.getvalue().splitlines())


@pytest.mark.parametrize("width", [30, 40, 80, 120])
@pytest.mark.parametrize("columns", [1, 2, 7, 23])
def test_tables_are_brought_to_a_width(width: int, columns: int) -> None:
    table = wide(columns, rows=30)
    parts = table.within(width)
    assert all(shown_width(part) <= width for part in parts)
    cells = pd.concat([part.cells for part in parts], axis=1)
    assert cells.equals(table.cells)
    assert [part.notes for part in parts[:-1]] == [()] * (len(parts) - 1)
    assert parts[-1].notes == ("a note",)
    if len(parts) > 1:
        assert parts[0].title == f"Wide (1 of {len(parts)})"
        # No part has room for a column of the next.
        joined = pd.concat([parts[0].cells, parts[1].cells.iloc[:, :1]], axis=1)
        assert shown_width(Table("Wide", joined)) > width
    best = [bool(part.best.to_numpy().any()) for part in parts if part.best is not None]
    assert sum(best) == (columns > 1)
