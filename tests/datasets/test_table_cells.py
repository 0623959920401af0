"""Cells that prove to be numbers: columns of digits are read as one, others cell by cell."""

import datetime
from decimal import Decimal
from time import process_time

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from multimargin.datasets.table_cells import (
    WITH_ZEROS,
    Cells,
    amount,
    amounts_of,
    is_number,
    label_value,
    plain_numbers,
)
from multimargin.datasets.table_dates import date_parts
from multimargin.datasets.table_kinds import kind_of

PIECES = st.sampled_from(
    ["0", "1", "7", "12", ".", ",", "+", "-", "e", "E", " ", "x", "", "\n", "_"]
)


@settings(max_examples=300, deadline=None)
@given(rows=st.lists(st.lists(PIECES, max_size=4).map("".join), min_size=1, max_size=3))
def test_columns_of_digits_are_read_as_others_are(rows):
    for dtype, mark in ((object, "."), (object, ","), (str, "."), (str, ",")):
        found = plain_numbers(pd.Series(rows, dtype=dtype), mark)
        if found is not None:
            assert all(is_number(text, mark) for text in rows)
            assert not any(map(WITH_ZEROS.fullmatch, rows))
            np.testing.assert_array_equal(found, [amount(text, mark)[0] for text in rows])


def test_many_empty_cells_take_no_longer_than_numbers():
    """A pattern that matches line ends would try each of them for each: a thousand times longer."""
    seconds = []
    for cell in ("3", ""):
        column = pd.Series([cell, "1", *[cell] * 30_000, "2"], dtype="str")
        start = process_time()
        assert np.nanmax(plain_numbers(column)) == (3.0 if cell else 2.0)
        seconds.append(process_time() - start)
    of_numbers, of_blanks = seconds
    assert of_blanks < 20.0 * of_numbers


def test_columns_of_digits_are_found():
    for rows in (["1", "-2.5", ""], ["1e3", "+.5"], ["12", "0"]):
        assert plain_numbers(pd.Series(rows)) is not None
    for rows in (["007"], ["x"], [None], ["1.5", 2], ["2024-01-02"]):
        assert plain_numbers(pd.Series(rows, dtype=object)) is None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2024-01-05", (2024, 1, 5, 4, 0)),
        ("2024/1/5", (2024, 1, 5, 4, 0)),
        ("2024-01-05T10:00:00Z", (2024, 1, 5, 4, 10)),
        # By the clock of the place.
        ("2024-01-05 23:30:00.123 +01:00", (2024, 1, 5, 4, 23)),
        ("5.1.2024", (2024, 1, 5, 4, 0)),
        ("5 January 2024", (2024, 1, 5, 4, 0)),
        ("05-Jan-2024", (2024, 1, 5, 4, 0)),
        ("Jan 5, 24", (2024, 1, 5, 4, 0)),
        ("Fri, 05 Jan 1990 12:00:00 GMT", (1990, 1, 5, 4, 12)),
        ("Jan 5, 2024 3:30 PM", (2024, 1, 5, 4, 15)),
        ("Jan 5, 2024 12:30 am", (2024, 1, 5, 4, 0)),
    ],
)
def test_dates_become_numbers(text, expected):
    values = pd.Series([text, text, ""], dtype=object)
    kind = kind_of(Cells("c", values, as_text=True))
    assert kind.name == "date"
    assert not kind.ask
    np.testing.assert_array_equal(date_parts(Cells("c", values))[0], expected)
    assert np.isnan(date_parts(Cells("c", values))[2]).all()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # The fifth of January, or the first of May.
        ("05/01/24", "dates or times"),
        ("1/5/2024 3:30 PM", "dates or times"),
        ("12:30", "dates or times"),
        ("9:05 pm", "dates or times"),
        ("23:59:59.5", "dates or times"),
        ("3 days 01:02:03.5", "durations"),
        ("5 apples", "nominal"),
        ("5:4", "nominal"),
        ("Mar 5", "nominal"),
        ("may", "nominal"),
        ("1.2.3", "versions"),
        ("v2.10", "versions"),
        ("10.0.0.1", "versions"),
        ("2024", "number"),
        ("$1,234.50", "number"),
        ("45 %", "number"),
        ("1 234.50 EUR", "number"),
        ("(12.50)", "number"),
        ("[0.5, -1e-3]", "vector"),
        ("[a, b]", "nominal"),
        ("007", "nominal"),
    ],
)
def test_what_a_text_is_read_as(text, expected):
    kind = kind_of(Cells("c", pd.Series([text, text, ""], dtype=object), as_text=True))
    assert kind.name == expected
    assert bool(kind.ask) == (expected in ("dates or times", "durations", "versions"))
    assert kind.reason


@pytest.mark.parametrize(
    ("column", "expected"),
    [
        (pd.to_timedelta(range(3), unit="h"), "durations"),
        (pd.to_timedelta(range(3), unit="h").astype(str), "durations"),
        (["1 day, 0:00:02", "-2 days +01:00:00", "3 days 01:02:03.5"], "durations"),
        ([datetime.timedelta(1), None, datetime.timedelta(2)], "durations"),
        (pd.date_range("2020", periods=3, tz="Europe/Berlin"), "date"),
        ([datetime.date(2020, 1, 1), None, "2020-01-02"], "date"),
        (pd.array([datetime.date(2020, 1, 1)] * 2, dtype="date32[pyarrow]"), "date"),
        (pd.array([datetime.datetime(2020, 1, 1)] * 2, dtype="timestamp[us][pyarrow]"), "date"),
        (pd.array([datetime.timedelta(1)] * 2, dtype="duration[us][pyarrow]"), "durations"),
        ([datetime.time(10), datetime.time(11), None], "dates or times"),
        (pd.Categorical(pd.date_range("2020", periods=3)), "date"),
        (pd.period_range("2020", periods=3, freq="M"), "periods"),
        (pd.interval_range(0, 3), "intervals"),
        (pd.cut([1, 2, 3], 3), "nominal"),
        ([1j, 2.0, 3.0], "complex numbers"),
        ([1j, "a", None], "nominal"),
        (["3 days late", "4 days", "5 days"], "dates and others"),
        ([datetime.timedelta(1), 1.0, 2.0], "nominal"),
        (pd.array([True, False, None], dtype="boolean"), "number"),
        ([Decimal("0.5"), Decimal(1), None], "number"),
        ([None, None, None], "number"),
        (["1", "2", "3"], "nominal"),
        (["$1", "$2.50", None], "number"),
        ([[1.0, 2], np.array([3, 4]), None], "vector"),
        ([[1.0], [2.0, 3.0]], "lists"),
        ([["a"], ["b"]], "lists"),
        ([{"a": 1}, None], "objects"),
    ],
)
def test_what_a_typed_column_is_read_as(column, expected):
    assert kind_of(Cells("c", pd.Series(column))).name == expected


def test_columns_of_which_half_are_numbers_are_asked_about():
    for cells, asked in (
        (["1", "2", "a", "b"], True),
        (["$1", "2", "x", "y", "z"], True),
        (["1", *"abcdefghij"], False),
        # Rooms, most of which have a number: told, and names.
        (["1", "2", "3", "annex"], False),
        (["a", *map(str, range(10))], False),
        (["true", "false", "maybe"], False),
    ):
        kind = kind_of(Cells("c", pd.Series(cells, dtype=object), as_text=True))
        assert bool(kind.ask) == asked, cells


@pytest.mark.parametrize(
    "text",
    [
        *("2024-01-31 10:00:00 Europe/Berlin", "31. Januar 2024", "3 février 2024", "2024-01"),
        *(
            "January 31st, 2024",
            "Wed Jan 31 10:00:00 2024",
            "2024\u5e741\u670831\u65e5",
            "2024-W05",
        ),
        *("2024-Q1", "31 de enero de 2024", "gennaio 2024", "Wed, 31 Jan 2024 10:00:00 EST"),
        *(
            "PT1H30M",
            "P3D",
            "20240131",
            "1706659203.5",
            "12 kg",
            "3.5 \u00b0C",
            "0x1F",
            "1_000",
            "½",
        ),
        *("\u0661\u0662", "52.52, 13.4", "0.5 0.25 1"),
    ],
)
def test_dates_units_and_digits_of_other_kinds_are_asked_about(text):
    """None of them is a feature of its own, whatever stands beside it in place of a missing one."""
    other = text.replace("3", "1") if "3" in text else text.translate({49: 50, 0x661: 0x663})
    for beside in ("", "NULL", "\\N", "-"):
        column = pd.Series([text, other, beside, text], dtype=object)
        assert kind_of(Cells("c", column, as_text=True)).ask, beside


def test_what_stands_for_nothing_among_dates_is_missing():
    column = pd.Series(["2024-01-31", "N/A", "-", "", "\\N"], dtype=object, name="day")
    assert kind_of(Cells("day", column, as_text=True)).name == "date"
    assert np.isnan(date_parts(Cells("day", column))[1:]).all()
    for wrong in ("2024-02-30", "0000-00-00"):
        with pytest.raises(ValueError, match=f"the column 'day' has .*: '{wrong}' is not a date"):
            date_parts(Cells("day", column.replace("N/A", wrong)))


def test_texts_are_asked_about_in_small_tables_too():
    texts = ["a good film about dogs", "bad film about two cats", "nice songs of small birds"]
    texts += ["the last of all texts here"]
    for cells, asked in ((texts, "--text"), (texts[:3] * 4, ""), (["red", "two", "sea", "x"], "")):
        assert kind_of(Cells("c", pd.Series(cells, dtype=object), as_text=True)).ask == asked


def test_keys_and_objects_are_asked_about_in_small_tables_too():
    numbers = range(40)
    for written in ("u{}@x.org", "https://x.org/{}?a=b", "#00{:04x}", '{{"a": {}}}', "{{'b': {}}}"):
        column = pd.Series([written.format(k) for k in numbers], dtype=object)
        assert kind_of(Cells("c", column, as_text=True)).ask == "--drop", written
    twice = pd.Series([f"u{k % 20}@x.org" for k in numbers], dtype=object)
    assert kind_of(Cells("c", twice, as_text=True)).name == "nominal"


def test_numbers_that_are_stored_as_text_are_asked_about():
    for cells, asked in ((["1.5", "2"], True), ([1, "2"], True), ([1.5, "$2"], False)):
        kind = kind_of(Cells("c", pd.Series(cells, dtype=object)))
        assert (kind.ask == "--number") == asked


def test_postal_codes_and_moments_are_asked_about():
    codes = pd.Series(["10115", "80331", "20095"] * 3, dtype=object)
    assert kind_of(Cells("plz", codes, as_text=True)).ask == "--nominal"
    assert kind_of(Cells("price", codes, as_text=True)).name == "number"
    seconds = pd.Series([1_700_000_000 + 86_400 * k for k in range(9)])
    for values in (seconds, seconds * 1000, seconds.astype(str).astype(object)):
        kind = kind_of(Cells("created", values, as_text=values.dtype == object))
        assert (kind.name, kind.ask) == ("moments", "--drop")
    assert kind_of(Cells("created", seconds - 1_500_000_000)).name == "number"


@pytest.mark.parametrize(
    ("column", "cells", "asked"),
    [
        *((name, ["0", "1", "2"], "--drop") for name in ("fold", "kfold", "cv_folds", "dataSplit")),
        *((name, ["45391", "45012.5"], "--drop") for name in ("date", "OrderDate", "created_at")),
        *((name, ["0", "1", "2"], "") for name in ("manifold", "splitter", "date")),
        *((name, ["45391", "45012"], "") for name in ("candidates", "update", "fold")),
    ],
)
def test_numbers_in_columns_named_like_parts_or_dates_are_asked_about(column, cells, asked):
    values = pd.Series(cells * 4, dtype=object)
    for of in (values, values.astype(float)):
        assert kind_of(Cells(column, of, as_text=of.dtype == object)).ask == asked


def test_keys_are_asked_about():
    numbers = pd.Series([10**17 + 7919 * k for k in range(9)])
    for values in (numbers, numbers.astype(str).astype(object)):
        kind = kind_of(Cells("tweet", values, as_text=values.dtype == object))
        assert (kind.name, kind.ask) == ("keys", "--drop")
    assert kind_of(Cells("bytes", numbers // 1000)).name == "number"
    # Of many parts, and no words nevertheless.
    parts = pd.Series([f"{k:08x}-{k:04x}-4000-8000-{k:012x}" for k in range(80)], dtype=object)
    assert kind_of(Cells("id", parts, as_text=True)).ask == "--drop"


def test_amounts_of_two_units_are_asked_about():
    for cells in (["$5", "€6"], ["45%", "0.45"]):
        values = pd.Series(cells, dtype=object)
        assert kind_of(Cells("c", values, as_text=True)).name == "amounts"
    values = pd.Series(["$5.99", "5.00", "-$3", "", "n/a"], dtype=object)
    assert kind_of(Cells("c", values, as_text=True)).name == "number"
    expected = [5.99, 5.0, -3.0, np.nan, np.nan]
    np.testing.assert_array_equal(amounts_of(Cells("c", values))[0], expected)


UNITS = [
    (["45%", "30 %", "n/a", "12％"], "%"),
    (["3‰", "4‰"], "‰"),
    (["$5.99", "5", ""], "$"),
    (["1,234.50", "7"], ""),
    (["0.45", ".3"], ""),
    ([0.45, 0.3], ""),
    (["", "n/a"], ""),
]


@pytest.mark.parametrize(("cells", "unit"), UNITS)
def test_numbers_have_one_unit_in_all_parts_of_a_column(cells, unit):
    """As percents are a hundred times as large, and an amount in yen is another one in euros."""
    values = pd.Series(cells, dtype=None if isinstance(cells[0], float) else object)
    assert amounts_of(Cells("c", values, as_text=True))[1] == unit
    for _, known in UNITS:
        # A currency may be left out.
        fits = unit == known or not {unit, known} & {"%", "‰"} or cells == ["", "n/a"]
        if fits:
            assert amounts_of(Cells("c", values), known)[1] in (unit, known)
        else:
            with pytest.raises(ValueError, match=r"column 'c' has .* in row 0, with.*one unit"):
                amounts_of(Cells("c", values), known)


@pytest.mark.parametrize("cells", [["45%", ".45"], ["0.45", "45%"], ["€5", "$5"], ["7", "3‰"]])
def test_numbers_of_two_units_are_refused_where_numbers_are_asked_for(cells):
    with pytest.raises(ValueError, match=r"the column 'c' has .* in row 1, with.*of one unit"):
        amounts_of(Cells("c", pd.Series(cells, dtype=object)))


@pytest.mark.parametrize(
    ("text", "mark", "expected"),
    [
        ("1,234.50", ".", 1234.5),
        ("1.234,50", ",", 1234.5),
        ("1 234,5 €", ",", 1234.5),
        ("12,34,567.8", ".", 1234567.8),
        ("1'234", ".", 1234.0),
        ("45%", ".", 45.0),
        ("(1,234.50)", ".", -1234.5),
        ("-$5.99", ".", -5.99),
        ("$ -5.99", ".", -5.99),
        ("US$ 3", ".", 3.0),
    ],
)
def test_amounts(text, mark, expected):
    assert amount(text, mark)[0] == expected


@pytest.mark.parametrize("text", ["1,23.5", "1,2345", "$", "%", "5 $ 6", "1,234,5", "(5", "5 kg"])
def test_what_is_no_amount(text):
    assert amount(text) is None
    with pytest.raises(ValueError, match=r"'c' has something other than numbers: .* in row 1"):
        amounts_of(Cells("c", pd.Series(["1", text], dtype=object)))


@pytest.mark.parametrize("sign", ["?", "-", "--", ".", "NA", "n/a", "#N/A", "NULL", "none", "nan"])
def test_signs_for_nothing_among_numbers_are_no_numbers(sign):
    values = pd.Series(["1.5", sign, "", "-2"], dtype=object)
    cells = Cells("c", values, as_text=True)
    assert kind_of(cells).name == "number"
    np.testing.assert_array_equal(amounts_of(cells)[0], [1.5, np.nan, np.nan, -2.0])


def test_a_question_mark_is_an_unknown_label_and_a_dash_is_none():
    assert np.isnan(label_value("?"))
    assert label_value("-") is None


def test_answers_of_annotators_are_asked_about():
    answers = pd.Series(["accept", "reject", "accept", "ignore"] * 5, dtype=object)
    assert kind_of(Cells("answer", answers, as_text=True)).ask == "--drop"
    assert not kind_of(Cells("reply", answers, as_text=True)).ask
    assert not kind_of(Cells("answer", answers.replace("ignore", "yes"), as_text=True)).ask


@pytest.mark.parametrize(
    ("cells", "name", "asked"),
    [
        (["3/10", "7/10", "9/10"], "several numbers", "--drop"),
        (["5 ± 2", "6 +/- 1"], "several numbers", "--drop"),
        (["3e+05", "1e-02"], "number", ""),
        (["+49301234567", "+4989765432"], "keys", "--drop"),
        (["+1", "+20"], "number", ""),
        (["12 percent", "30 percent", "5 percent"], "numbers with units", "--nominal"),
        (["'5", "'6", "'70"], "numbers with units", "--nominal"),
        (['"5"', '"6"', '"70"'], "numbers with units", "--nominal"),
        (["202401", "202312", "199907"], "days", "--drop"),
        (["202401", "202353", "199913"], "days", "--drop"),
        (["202401", "202312", "199967"], "number", ""),
        (["3.40-", "2.20-", "1.90"], "numbers with units", "--nominal"),
        (["Jan-24", "Feb-24", "Dec-23"], "dates or times", "--drop"),
        (["24-Jan", "23-Dec", "1 Mar 24"], "dates or times", "--drop"),
        (["43:15.2", "00:10.1", "12:00.0"], "dates or times", "--drop"),
    ],
)
def test_what_looks_like_a_number_and_may_be_none_is_asked_about(cells, name, asked):
    kind = kind_of(Cells("c", pd.Series(cells * 4, dtype=object), as_text=True))
    assert (kind.name, kind.ask) == (name, asked)
