import json
from dataclasses import dataclass

import numpy as np
import pytest

from multimargin.cli.output import counted, number, pairs_table, print_json


@dataclass(frozen=True)
class Inner:
    value: float


def test_json_is_strict_and_complete(capsys: pytest.CaptureFixture[str]) -> None:
    print_json(
        {
            "array": np.array([1.5, np.nan]),
            "numpy": np.float64(2.0),
            "whole": np.int64(3),
            "yes": np.bool_(True),
            "inner": Inner(float("inf")),
            "tuple": ("a", None),
            "name": "漢",
            "other": 1j,
            4: {},
        }
    )

    def refuse(constant: str) -> None:
        raise ValueError(constant)

    out = capsys.readouterr().out
    assert json.loads(out, parse_constant=refuse) == {
        "array": [1.5, None],
        "numpy": 2.0,
        "whole": 3,
        "yes": True,
        "inner": {"value": None},
        "tuple": ["a", None],
        "name": "漢",
        "other": "1j",
        "4": {},
    }
    assert "漢" in out


def test_numbers() -> None:
    assert [counted(count, "row") for count in (0, 1, 2)] == ["0 rows", "1 row", "2 rows"]
    assert [number(value) for value in (1234567, 0.12345, None)] == ["1,234,567", "0.1235", "-"]


def test_brackets_are_not_markup(capsys: pytest.CaptureFixture[str]) -> None:
    from multimargin.cli.output import console

    console().print(pairs_table([("file", "a[red]b")]))
    assert "a[red]b" in capsys.readouterr().out
