"""The paper compiles to four pages, and every number in it comes from `paper/numbers.json`."""

import json
import re
import sys
from pathlib import Path

import pytest

PAPER = Path(__file__).parents[1] / "paper"
SOURCE = (PAPER / "paper.typ").read_text(encoding="utf-8")
NUMBERS = json.loads((PAPER / "numbers.json").read_text(encoding="utf-8"))
FORMULA = re.compile(r"\$[^$]*\$")
# What is not prose: comments, code, names of works and figures, addresses.
NOT_PROSE = (
    r"(?<!:)//[^\n]*",
    r"```.*?```",
    r"`[^`]*`",
    r"@[\w-]+",
    r"<[\w-]+>",
    r"https?://\S+",
    # Lengths and columns of tables.
    r"\b\d+(?:\.\d+)?(?:pt|em|in)\b",
    r"\b(?:colspan|columns): \d+",
    # Names with a digit.
    r"micro-F1|micro_f1|rcv1subset1",
)
# Values of the file, up to a call such as `.map(`.
USE = re.compile(r"#?\bn((?:\.\w+(?!\w*\())+)")
# In formulas: constants of the problems, and the C of two settings.
CONSTANTS = {"0", "1", "2", "10", "100"}


def body() -> str:
    """What follows the settings of the head, without what is no prose."""
    text = SOURCE[SOURCE.index("#align(center)") :]
    for pattern in NOT_PROSE:
        text = re.sub(pattern, " ", text, flags=re.DOTALL)
    return USE.sub(" ", text)


def test_no_number_is_written_out() -> None:
    lines = FORMULA.sub(" ", body()).splitlines()
    assert [line for line in lines if re.search(r"\d", line)] == []


def test_formulas_have_constants_only() -> None:
    formulas = " ".join(FORMULA.findall(body()))
    assert set(re.findall(r"[\d.,]*\d", formulas)) <= CONSTANTS


def test_the_numbers_are_there_and_printed_as_they_are() -> None:
    uses = USE.findall(SOURCE)
    assert len(uses) >= 20
    for use in uses:
        value = NUMBERS
        for key in use.strip(".").split("."):
            value = value[key]
        assert isinstance(value, (str, list, dict)), use


def test_four_pages() -> None:
    # There is no wheel of it for free-threaded Python.
    typst = pytest.importorskip("typst")
    pages = typst.compile(PAPER / "paper.typ", root=PAPER.parent, format="png", ppi=10)
    assert isinstance(pages, list)
    assert len(pages) <= 4


@pytest.fixture
def collect(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.syspath_prepend(str(PAPER))
    monkeypatch.syspath_prepend(str(PAPER.parent / "benchmarks"))
    import collect

    yield collect
    for name in ("collect", "race", "common"):
        sys.modules.pop(name, None)


def test_tables_are_read_as_benchmarks_print_them(
    collect, capsys: pytest.CaptureFixture[str]
) -> None:
    from common import print_table

    print("a line before, data of everything")
    rows = [("emotions", "10", "two words"), ("a b", "1000000", "x")]
    print_table("A title of the data", ("data", "C", "long name"), rows)
    print("  after: it, and more")
    read = collect.table(capsys.readouterr().out, "data")
    assert read == [dict(zip(("data", "C", "long name"), row, strict=True)) for row in rows]


@pytest.mark.parametrize(
    ("value", "shown"),
    [(0.076, "0.076"), (0.0795, "0.08"), (0.309, "0.31"), (2.711, "2.7"), (41.3, "41")],
)
def test_digits(collect, value: float, shown: str) -> None:
    assert float(collect.digits(value)) == float(shown)
