"""The commands that the guide shows run, in the order of the page."""

import re
import shlex
from pathlib import Path

import pytest

from tests.support.subsets import first_fast

DOCS = Path(__file__).parents[2] / "docs"
COMMAND = re.compile(r"^```\{code-block\} console\n\$ multimargin ((?:.*\\\n)*.*)$", re.MULTILINE)
# What writes the files that the commands read.
PREPARATION = re.compile(r"^```\{code-block\} python\n(import numpy(?:.*\n)*?)```", re.MULTILINE)


@pytest.mark.parametrize(
    ("page", "least"), first_fast([("command_line.md", 6), ("from_a_table.md", 4)], 1)
)
def test_the_page_in_order(page, least, command, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = (DOCS / page).read_text(encoding="utf-8")
    for code in PREPARATION.findall(text):
        exec(compile(code, page, "exec"), {})
    commands = COMMAND.findall(text)
    assert len(commands) >= least
    for arguments in commands:
        answer = command(*shlex.split(arguments.replace("\\\n", "")))
        told = [line for line in answer.err.splitlines() if "at most" not in line]
        assert (answer.code, told) == (0, []), arguments
