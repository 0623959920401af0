"""Durations in words."""

import pytest

from multimargin.durations import duration


@pytest.mark.parametrize(
    ("seconds", "expected"),
    [
        (0.0, "0 s"),
        (0.234, "0.23 s"),
        (9.96, "10 s"),
        (119.4, "119 s"),
        (510.0, "8 min"),
        (7300.0, "2.0 h"),
    ],
)
def test_durations_have_no_exponent(seconds: float, expected: str) -> None:
    assert duration(seconds) == expected
