"""What the guide shows is what the commands print."""

import re
import shlex
from pathlib import Path

import pytest

from tests.support.subsets import first_fast

DOCS = Path(__file__).parents[2] / "docs"
BLOCKS = re.compile(
    r"^```\{code-block\} console\n\$ multimargin (.*)\n((?:.*\n)*?)```", re.MULTILINE
)
# What writes the files that the commands read.
PREPARATION = re.compile(r"^```\{code-block\} python\n(import numpy(?:.*\n)*?)```", re.MULTILINE)
NUMBER = re.compile(r"-?[\d,]*\.?\d+(?:e[+-]\d+)?")
SECONDS = re.compile(r"\d+\.\d+ s\b")
ROUNDING = 1e-4  # what differs by less is rounding, and differs between machines


def words(text: str) -> list[str]:
    return SECONDS.sub("SECONDS", text).split()


def agree(shown: str, printed: str) -> bool:
    if not (NUMBER.fullmatch(shown) and NUMBER.fullmatch(printed)):
        return shown == printed
    left, right = (float(text.replace(",", "")) for text in (shown, printed))
    return left == pytest.approx(right, rel=0.05, abs=ROUNDING)


@pytest.mark.parametrize(
    ("page", "least"), first_fast([("command_line.md", 6), ("from_a_table.md", 4)], 1)
)
def test_the_page_in_order(
    page: str, least: int, command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    text = (DOCS / page).read_text(encoding="utf-8")
    for code in PREPARATION.findall(text):
        exec(compile(code, page, "exec"), {})
    blocks = BLOCKS.findall(text)
    assert len(blocks) >= least
    for arguments, shown in blocks:
        answer = command(*shlex.split(arguments))
        assert (answer.code, answer.err) == (0, "")
        printed, shown = words(answer.out), words(shown)
        if arguments == "--help":
            # Versions of Typer differ in what they put in brackets.
            shown = [word.strip("[]") for word in shown]
            printed = [word.strip("[]") for word in printed[: len(shown)]]
        assert len(printed) == len(shown), arguments
        for left, right in zip(shown, printed, strict=True):
            assert agree(left, right), f"{arguments}: the page shows {left}, printed is {right}"
