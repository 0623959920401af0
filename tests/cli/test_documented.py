"""What the guide shows is what the commands print."""

import re
import shlex
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "command_line.md"
BLOCKS = re.findall(
    r"^```\{code-block\} console\n\$ multimargin (.*)\n((?:.*\n)*?)```",
    PAGE.read_text(encoding="utf-8"),
    re.MULTILINE,
)
NUMBER = re.compile(r"-?[\d,]*\.?\d+(?:e[+-]\d+)?")
SECONDS = re.compile(r"\d+\.\d\d s\b")
ROUNDING = 1e-4  # what differs by less is rounding, and differs between machines


def words(text: str) -> list[str]:
    return SECONDS.sub("SECONDS", text).split()


def agree(shown: str, printed: str) -> bool:
    if not (NUMBER.fullmatch(shown) and NUMBER.fullmatch(printed)):
        return shown == printed
    left, right = (float(text.replace(",", "")) for text in (shown, printed))
    return left == pytest.approx(right, rel=0.05, abs=ROUNDING)


def test_the_page_in_order(command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert len(BLOCKS) >= 6
    for arguments, shown in BLOCKS:
        answer = command(*shlex.split(arguments))
        assert (answer.code, answer.err) == (0, "")
        printed = words(answer.out)
        if arguments == "--help":
            printed = printed[: len(words(shown))]
        assert len(printed) == len(words(shown)), arguments
        for left, right in zip(words(shown), printed, strict=True):
            assert agree(left, right), f"{arguments}: the page shows {left}, printed is {right}"
