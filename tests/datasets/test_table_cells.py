"""Cells that prove to be numbers: columns of digits are read as one, others cell by cell."""

import datetime
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from multimargin.datasets.table_cells import (
    has_zeros_in_front,
    holds_no_numbers,
    holds_numbers,
    is_number,
    number_of,
    numbers_of,
    plain_numbers,
    stands_for_nothing,
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
        ("12:30", True),
        ("23:59:59.5", True),
        ("9:05 pm", True),
        ("5 apples", False),
        ("5:4", False),
        ("Mar 5", False),
        ("may", False),
        ("1.2.3", False),
        ("2024", False),
    ],
)
def test_dates_are_found(text, expected):
    found = holds_no_numbers(pd.Series([text, text, ""], dtype=object))
    assert found == ("dates or times" if expected else None)


@pytest.mark.parametrize(
    ("column", "expected"),
    [
        (pd.to_timedelta(range(3), unit="h"), "durations"),
        (pd.to_timedelta(range(3), unit="h").astype(str), "durations"),
        (["1 day, 0:00:02", "-2 days +01:00:00", "3 days 01:02:03.5"], "durations"),
        ([datetime.timedelta(1), None, datetime.timedelta(2)], "durations"),
        (pd.date_range("2020", periods=3, tz="Europe/Berlin"), "dates or times"),
        ([datetime.date(2020, 1, 1), None, "2020-01-02"], "dates or times"),
        ([datetime.time(10), datetime.time(11), None], "dates or times"),
        (pd.Categorical(pd.date_range("2020", periods=3)), "dates or times"),
        (pd.period_range("2020", periods=3, freq="M"), "periods"),
        (pd.interval_range(0, 3), "intervals"),
        (pd.cut([1, 2, 3], 3), None),
        ([1j, 2.0, 3.0], "complex numbers"),
        ([1j, "a", None], None),
        (["3 days late", "4 days", "5 days"], None),
        ([datetime.timedelta(1), 1.0, 2.0], None),
        (pd.array([True, False, None], dtype="boolean"), None),
        ([Decimal("0.5"), Decimal(1), None], None),
        ([None, None, None], None),
    ],
)
def test_what_is_no_number_is_found(column, expected):
    assert holds_no_numbers(pd.Series(column)) == expected


@pytest.mark.parametrize("sign", ["?", "-", "--", ".", "NA", "n/a", "#N/A", "NULL", "none", "nan"])
def test_signs_for_nothing_among_numbers_are_no_numbers(sign):
    values = pd.Series(["1.5", sign, "", "-2"], dtype=object)
    assert holds_numbers(values, as_text=True)
    np.testing.assert_array_equal(numbers_of(values), [1.5, np.nan, np.nan, -2.0])


def test_a_question_mark_is_an_unknown_label_and_a_dash_is_none():
    assert stands_for_nothing("?")
    assert not stands_for_nothing("-")
