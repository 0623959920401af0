"""Values in messages."""

import pytest

from multimargin.checks.names import quoted


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("1234", "'1234'"),
        ("12345", "'123…'"),
        (b"1234", "b'12…'"),
        ([1, 2, 3], "[1, …]"),
        (12.5, "12.5"),
    ],
)
def test_what_is_cut_shows_it_inside_of_its_quotes(value: object, shown: str) -> None:
    assert quoted(value, 4) == shown


def test_as_much_as_a_line_is_not_cut() -> None:
    assert quoted("a" * 60) == repr("a" * 60)
    assert quoted("a" * 61) == f"'{'a' * 59}…'"
