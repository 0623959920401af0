"""The list of damages is up to date, and has all problems of the reference."""

import ast
import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
tool = runpy.run_path(str(ROOT / "tools" / "damage.py"))
ALL = tool["REFERENCE"] + tool["ESTIMATORS"] + tool["LOSSES"]
SOLVES = ("problem_", "primal", "dual", "trace_norm", "before_")


def test_every_damage_has_its_place():
    for damage in ALL:
        text = (ROOT / tool["path_of"](damage)).read_text(encoding="utf-8")
        assert tool["damaged"](text, damage) != text
    with pytest.raises(ValueError, match="out of date"):
        tool["damaged"](text, damage._replace(old="nowhere"))


def test_every_problem_of_the_reference_is_damaged():
    found = set()
    for file in (ROOT / "pyref/multimargin/reference").glob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef) and node.name.startswith(SOLVES):
                found.add((file.stem, node.name))
    assert len(found) > 25
    assert found <= {(damage.file, damage.function) for damage in tool["REFERENCE"]}
