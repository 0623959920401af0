"""Durations in words."""

from multimargin.durations import duration


def test_durations_have_no_exponent() -> None:
    seconds = (0.0, 0.234, 9.96, 119.4, 510.0, 7300.0)
    expected = ["0 s", "0.23 s", "10 s", "119 s", "8 min", "2.0 h"]
    assert list(map(duration, seconds)) == expected
