"""Flips in Python: operators of a module's syntax tree, put in place when it is imported."""

import ast
import importlib.abc
import importlib.util
import sys
from dataclasses import dataclass
from pathlib import Path
from types import CodeType, ModuleType

from targets import PACKAGE

OPERATORS: dict[type[ast.AST], type[ast.AST]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Lt: ast.GtE,
    ast.LtE: ast.Gt,
    ast.Gt: ast.LtE,
    ast.GtE: ast.Lt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.USub: ast.UAdd,
}
SIGNS: dict[type[ast.AST], str] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.USub: "-",
    ast.UAdd: "+",
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
}


@dataclass(frozen=True)
class PythonFlip:
    """The `number`-th operator of a file, turned round."""

    file: Path
    number: int
    text: str

    def __str__(self) -> str:
        return self.text

    def code(self) -> CodeType:
        """The module with that operator."""
        tree = ast.parse(self.file.read_bytes())
        node, name, place, operator = _operators(tree)[self.number]
        flipped = OPERATORS[type(operator)]()
        if place is None:
            setattr(node, name, flipped)
        else:
            getattr(node, name)[place] = flipped
        return compile(ast.fix_missing_locations(tree), str(self.file), "exec")

    def install(self) -> None:
        """From now on the import of the module gives the flipped one."""
        module = ".".join(self.file.relative_to(PACKAGE.parent).with_suffix("").parts)
        sys.meta_path.insert(0, _Finder(module, self.file, self.code()))


def python_flips(file: Path) -> list[PythonFlip]:
    """Every flip of a file."""
    lines = file.read_text(encoding="utf-8").splitlines()
    flips = []
    for number, (node, _, _, operator) in enumerate(_operators(ast.parse(file.read_bytes()))):
        old, new = SIGNS[type(operator)], SIGNS[OPERATORS[type(operator)]]
        line = lines[node.lineno - 1].strip()
        place = f"{file.relative_to(PACKAGE)}:{node.lineno}"
        flips.append(PythonFlip(file, number, f"{place}  {old} to {new} in `{line}`"))
    return flips


def _operators(tree: ast.Module) -> list[tuple[ast.expr, str, int | None, ast.AST]]:
    """Every operator: its node, the node's field, the place in it if that is a list."""
    found: list[tuple[ast.expr, str, int | None, ast.AST]] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.BinOp | ast.UnaryOp) and type(node.op) in OPERATORS:
            found.append((node, "op", None, node.op))
        elif isinstance(node, ast.Compare):
            found += [
                (node, "ops", place, operator)
                for place, operator in enumerate(node.ops)
                if type(operator) in OPERATORS
            ]
    return found


class _Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def __init__(self, name: str, file: Path, code: CodeType) -> None:
        self._name, self._file, self._code = name, file, code

    def find_spec(self, name: str, path: object = None, target: object = None) -> object:
        if name != self._name:
            return None
        return importlib.util.spec_from_file_location(name, self._file, loader=self)

    def create_module(self, spec: object) -> None:
        return None

    def exec_module(self, module: ModuleType) -> None:
        exec(self._code, module.__dict__)
