"""Cells that prove to be numbers: columns of digits are read as one, others cell by cell."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from multimargin.datasets.table_cells import (
    has_zeros_in_front,
    holds_dates,
    is_number,
    number_of,
    plain_numbers,
)

PIECES = st.sampled_from(
    ["0", "1", "7", "12", ".", ",", "+", "-", "e", "E", " ", "x", "", "\n", "_"]
)


@settings(max_examples=300, deadline=None)
@given(rows=st.lists(st.lists(PIECES, max_size=4).map("".join), min_size=1, max_size=3))
def test_columns_of_digits_are_read_as_others_are(rows):
    values = pd.Series(rows, dtype=object)
    for mark in (".", ","):
        found = plain_numbers(values, mark)
        if found is not None:
            assert all(is_number(text, mark) for text in rows)
            assert not has_zeros_in_front(rows)
            np.testing.assert_array_equal(found, [number_of(text, mark) for text in rows])


def test_columns_of_digits_are_found():
    for rows in (["1", "-2.5", ""], ["1e3", "+.5"], ["12", "0"]):
        assert plain_numbers(pd.Series(rows)) is not None
    for rows in (["007"], ["x"], [None], ["1.5", 2], ["2024-01-02"]):
        assert plain_numbers(pd.Series(rows, dtype=object)) is None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2024-01-05", True),
        ("2024-01-05T10:00:00Z", True),
        ("2024-01-05 10:00:00.123 +01:00", True),
        ("05/01/24", True),
        ("5 January 2024", True),
        ("05-Jan-2024", True),
        ("Jan 5, 2024", True),
        ("Fri, 05 Jan 2024 10:00:00 GMT", True),
        ("1/5/2024 3:30 PM", True),
        ("5 apples", False),
        ("Mar 5", False),
        ("may", False),
        ("1.2.3", False),
        ("2024", False),
    ],
)
def test_dates_are_found(text, expected):
    assert holds_dates(pd.Series([text, text, ""], dtype=object)) == expected
