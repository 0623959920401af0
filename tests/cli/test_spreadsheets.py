import csv
import io

import numpy as np
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


def test_no_text_begins_like_a_formula() -> None:
    characters = [chr(code) for code in range(256)]
    rng = np.random.default_rng(0)
    texts = ["".join(rng.choice(characters, size=3)) for _ in range(2000)]
    stream = io.StringIO()
    csv.writer(stream, lineterminator="\n").writerows([as_cell(text)] for text in texts)
    for line in stream.getvalue().split("\n")[:-1]:
        assert line.removeprefix('"')[:1] not in ("=", "+", "-", "@", "\t", "\r")
        assert line.isprintable() or "\xa0" in line or "\xad" in line
