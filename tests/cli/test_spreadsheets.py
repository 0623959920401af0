import pytest

from multimargin.cli.spreadsheets import as_cell


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("=1+1", "'=1+1"),
        ("+a", "'+a"),
        ("-a", "'-a"),
        ("@SUM(A1)", "'@SUM(A1)"),
        ("\t=1", "\\t=1"),
        ("\r=1", "\\r=1"),
        ("a\x1b[31m\x00\x85", "a\\x1b[31m\\x00\\x85"),
        ("happy-sad = 1", "happy-sad = 1"),
        ("'quoted'", "'quoted'"),
        ("é", "é"),
        ("", ""),
        (-1.5, -1.5),
        (None, None),
    ],
)
def test_only_text_that_would_be_computed_is_changed(value: object, expected: object) -> None:
    assert as_cell(value) == expected
