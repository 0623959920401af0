import json
from dataclasses import dataclass

import numpy as np

from multimargin.cli.output import counted, number, pairs_table, print_json


@dataclass(frozen=True)
class Inner:
    value: float


def test_json_is_strict_and_complete(capsys):
    values = {
        "array": (np.array([1.5, np.nan]), [1.5, None]),
        "numpy": (np.float64(2.0), 2.0),
        "whole": (np.int64(3), 3),
        "yes": (np.bool_(True), True),
        "inner": (Inner(float("inf")), {"value": None}),
        "tuple": (("a", None), ["a", None]),
        "name": ("漢", "漢"),
        "other": (1j, "1j"),
        4: ({}, {}),
    }
    print_json({key: given for key, (given, _) in values.items()})

    def refuse(constant):
        raise ValueError(constant)

    out = capsys.readouterr().out
    found = json.loads(out, parse_constant=refuse)
    assert found == {str(key): expected for key, (_, expected) in values.items()}
    assert "漢" in out


def test_numbers():
    assert [counted(count, "row") for count in (0, 1, 2)] == ["0 rows", "1 row", "2 rows"]
    assert [number(value) for value in (1234567, 0.12345, None)] == ["1,234,567", "0.1235", "-"]


def test_brackets_are_not_markup(capsys):
    from multimargin.cli.output import console

    console().print(pairs_table([("file", "a[red]b")]))
    assert "a[red]b" in capsys.readouterr().out
