"""Kinds of columns in doubt: what is warned of or asked about, and what is not."""

import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from multimargin.datasets.odd_columns import warn_of_names
from multimargin.datasets.table_cells import Cells
from multimargin.datasets.table_columns import TableColumns
from multimargin.datasets.table_kinds import kind_of, vector_of
from multimargin.datasets.tables import features_of, table_of

AS_WRITTEN = st.sampled_from(["{}", "{}.0", "${}", "{} €"])
CODES = st.sampled_from([-1, -9, -99, -999, -9999, 88, 97, 998, 999, 7777, 99999, 32767, -32768])


def read(cells, **roles):
    """Return a column as a table has it, and what is told of it."""
    rows = len(cells)
    frame = {"n": cells, "x": [k % 2 for k in range(rows)], "y": [k % 3 % 2 for k in range(rows)]}
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        table = table_of(pd.DataFrame(frame), TableColumns(labels="x,y", **roles), as_text=True)
    return table.X.iloc[:, 0].tolist(), " ".join(str(one.message) for one in told)


@settings(max_examples=30, deadline=None)
@given(
    code=CODES,
    written=AS_WRITTEN,
    others=st.lists(st.integers(0, 40), min_size=3, max_size=12, unique=True),
    count=st.integers(2, 4),
)
def test_numbers_for_missing_ones_are_told_and_kept(code, written, others, count):
    assume(max(others) > 1)
    cells = [written.format(number) for number in others]
    found, told = read(cells + [written.format(code)] * count)
    assert f"the column 'n' has {code} in {count} rows, unlike its others; if" in told
    assert found == [*others, *[code] * count]
    assert not read(cells + [written.format(code)] * count, number="n")[1]
    assert "in 1 rows" not in read([*cells, written.format(code)])[1]


@settings(max_examples=30, deadline=None)
@given(
    code=CODES,
    others=st.lists(st.integers(-8, 8), min_size=3, max_size=12),
    scale=st.sampled_from([2, 1000]),
)
def test_numbers_among_others_like_them_are_no_codes(code, others, scale):
    """They have smaller and larger ones, of both signs, around them."""
    around = [scale * code, -scale * code]
    cells = [str(number) for number in [*others, *around, code, code] * 2]
    assert "unlike its others" not in read(cells)[1]


@pytest.mark.parametrize("code", ["-999.25", "1e30", "1e+20", "2147483647"])
def test_numbers_that_instruments_write_for_missing_ones_are_told(code):
    told = read(["1.5", "2.25", "0.5", code, "3.5", code])[1]
    assert f"the column 'n' has {float(code):.10g} in 2 rows, unlike its others; if" in told


@pytest.mark.parametrize(
    ("cells", "code"),
    [
        # Zero where nobody measured, and codes above a scale of few or of many steps.
        ([24, 26, 30, 33, 38, 40, 44, 50, 58, 64, 72, 90, 122, 0, 0, 0], 0),
        ([21, 34, 28, 51, 0, 33, 0, 47], 0),
        ([23, 31, 34, 45, 56, 62, 99, 99], 99),
        ([1, 2, 3, 4, 2, 3, 8, 8], 8),
        ([1, 2, 3, 4, 5, 9, 9, 5], 9),
        # No usual code, but very far, or the only one below 0.
        ([3, 5, 8, 9, 12, 12345, 12345], 12345),
        ([3, 5, 8, 9, 12, 65535, 65535], 65535),
        ([2019, 2020, 2022, 2023, 1901, 1901], 1901),
        ([3, 5, 8, 9, 12, -88, -88], -88),
    ],
)
def test_numbers_that_stand_apart_from_all_others_are_told(cells, code):
    told = read([*map(str, cells)])[1]
    assert f"the column 'n' has {code} in {cells.count(code)} rows, unlike its others" in told


@pytest.mark.parametrize(
    "cells",
    [
        [0, 1, 2, 5, 0, 3, 1, 0],
        [0, 9.99, 19.99, 29.99, 39.99, 0],
        [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 8, 9],
        [1, 2, 3, 4, 5, 6, 7, 8, 9, 8, 9, 9],
        # Amounts, of which nothing is one.
        [0, 0, 0.2, 0.21, 0.23, 0.24, 0.26, 0.27, 3.5, 3.6, 3.7, 3.8, 3.9, 4, 4.1, 4.2, 4.3],
        [0, 114, 401, 594, 914, 1055, 0, 0],
        [0, 1, 1, 0],
        [21, 34, 28, 51, 0, 33, 47, 95, 98, 99],
        # Shares, and counts, which begin at 0.
        [0.61, 0.62, 0.64, 0.65, 0.7, 0.71, 0, 0],
        [0, 1, 2, 3, 4, 2, 3, 8, 8],
        [-20, -10, 3, 5, 8, -20],
        [1, 2, 40, 40, 1],
        [3, 5, 8, 9, 12, 65535],
    ],
)
def test_numbers_that_continue_the_others_are_none_for_missing_ones(cells):
    assert "unlike its others" not in read([*map(str, cells)])[1]


def test_keys_with_zeros_in_front_are_asked_about():
    keys = Cells("c", pd.Series([f"0171{k:06}" for k in range(30)]), as_text=True)
    assert (kind_of(keys).name, kind_of(keys).ask) == ("keys", "--drop")


def test_bytes_that_are_no_text_are_asked_about():
    assert kind_of(Cells("c", pd.Series([b"\x89PNG", b"\xff\xd8"] * 9))).name == "bytes"
    assert kind_of(Cells("c", pd.Series([b"red", b"blue"] * 9))).name == "nominal"


def test_years_of_no_date_are_told():
    days = [f"2024-01-{day:02}" for day in range(1, 7)] + ["2023-05-01", "2022-05-01"]
    assert "'n' has 9999 in 2 rows, unlike" in read([*days, "9999-12-31", "9999-12-31"])[1]
    assert not read([*days, *days])[1]


COLUMNS = {
    "amounts": ["$1,234.50", "$7", "", "$-3.25", "n/a"],
    "commas": ["1.234,5", "0,5", "12", "-7,25", "?"],
    "percent": ["45%", "7 %", "", "0.5%", "100%"],
    "dates": ["2024-01-31", "2023-12-01", "", "2024-02-29", "NULL"],
    "times": ["2024-01-31 10:00", "2023-12-01 00:00", "", "2024-02-29 23:59", "2024-03-01 07:30"],
    "vectors": ["[1, 2.5]", "[0, -1e3]", "", "[3, 4]", "[5,6]"],
    "names": ["red", " sea ", "NA", "", "red"],
    "digits": ["1", "0", "", "17", "3"],
    "codes": ["007", "010", "", "099", "007"],
}


@pytest.mark.parametrize("name", COLUMNS)
@pytest.mark.parametrize("as_text", [True, False])
def test_each_row_is_read_alone_as_among_others(name, as_text):
    """The kind, the unit and the decimal mark of a column are those of the fit."""
    frame = pd.DataFrame({"c": COLUMNS[name], "n": range(5), "x": [0, 1] * 2 + [1], "y": 1})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        table = table_of(frame, TableColumns(labels="x,y"), as_text=as_text)
    for row in range(5):
        alone = features_of(frame[row : row + 1], table.columns, "new")
        pd.testing.assert_frame_equal(alone, table.X[row : row + 1])


@pytest.mark.parametrize(
    "form",
    [
        "[{}, {}]",
        "[{} {}]",
        "({}, {})",
        "{{{},{}}}",
        "array([{}, {}], dtype=float32)",
        "tensor([{}, {}])",
    ],
)
def test_lists_of_numbers_are_read_as_programs_write_them(form):
    cells = pd.Series([form.format(k + 0.5, -k) for k in range(4)], dtype=object)
    column = Cells("n", cells, as_text=True)
    assert kind_of(column).features("n") == ["n[0]", "n[1]"]
    assert vector_of(cells[3]).tolist() == [3.5, -3]
    # Amounts that are owed, and bins.
    for other in ("({}.5)", "({}, 10]"):
        texts = pd.Series([other.format(k) for k in range(4)], dtype=object)
        assert kind_of(Cells("n", texts, as_text=True)).name != "vector"


def test_a_column_of_signs_has_no_code():
    for cells in (["-1", "0", "1"] * 3, ["-1", "1"] * 4, ["99", "1"] * 4):
        assert not read(cells)[1]


def test_three_decimals_in_every_row_are_asked_about_where_they_are_round():
    """No table of many has numbers of three decimals of which the last two are always 0."""
    with pytest.raises(
        ValueError, match=r"numbers such as '1\.500', whose point may be the decimal"
    ):
        read(["1.500", "2.000", "12.000"])
    assert read(["1.500", "2.000", "12.000"], decimal=".")[0] == [1.5, 2.0, 12.0]
    assert read(["1.475", "2.000", "12.000"])[0] == [1.475, 2.0, 12.0]
    assert read(["1.000", "0.500", "1.500"])[0] == [1.0, 0.5, 1.5]


@settings(max_examples=30, deadline=None)
@given(
    thousands=st.lists(st.tuples(st.integers(1, 999), st.integers(0, 999)), min_size=1, max_size=9),
    hundreds=st.lists(st.integers(100, 999), min_size=1, max_size=9),
)
def test_points_between_thousands_are_asked_about(thousands, hundreds):
    assume(any(rest for _, rest in thousands))
    cells = [f"{number}.{rest:03}" for number, rest in thousands] + list(map(str, hundreds))
    with pytest.raises(ValueError, match=r"'n' has numbers such as .*, whose point may be"):
        read(cells)
    numbers = [1000 * number + rest for number, rest in thousands]
    assert read(cells, decimal=",")[0] == [*numbers, *hundreds]
    assert read(cells, decimal=".")[0] == [number / 1000 for number in numbers] + hundreds
    fixed = [f"{float(number):.3f}" for number in (1.25, 950, 3.125)]
    assert read(fixed)[0] == [1.25, 950, 3.125]
    # As decimals are written.
    for other in ("0.250", "1.25", "1250.500"):
        assert read([*cells, other])[0][-1] == float(other)


@pytest.mark.parametrize("mark", [".", " ", "'", "’", "\u00a0", "\u2009", "\u202f"])
@pytest.mark.parametrize("decimals", ["", ",5"])
def test_marks_between_thousands(mark, decimals):
    """Two of them leave no doubt, and neither does a decimal mark."""
    cells = [f"1{mark}234{mark}567{decimals}", f"12{mark}345{mark}678{decimals}", "999", "7"]
    part = 0.5 if decimals else 0
    found, told = read(cells)
    assert found == [1234567 + part, 12345678 + part, 999, 7]
    assert ("points are read as marks between" in told) == (mark == "." and not decimals)
    assert ("a comma is read as the decimal mark" in told) == bool(decimals)


@pytest.mark.parametrize("nothing", ["", "NA", "-", "\u2014", " "])
def test_a_column_without_anything_is_told(nothing):
    found, told = read([nothing] * 7)
    assert np.isnan(np.array(found, dtype=float)).all()
    assert "nothing is learned from empty columns, 'n'; leave them out" in told
    assert "empty columns" not in read([nothing] * 7 + ["5"])[1]


@pytest.mark.parametrize("odd", ["$ -", "$5 off", "n.k.", "10-20"])
def test_amounts_with_something_else_in_some_rows_are_told(odd):
    cells = [f"$ 1,{number}.00" for number in range(100, 110)]
    column = Cells("n", pd.Series([odd, *cells] * 2, dtype=object), as_text=True)
    assert kind_of(column).name == "nominal"
    with pytest.warns(UserWarning, match="something other than a number in 2 of 22 rows, first"):
        warn_of_names(column)


@pytest.mark.parametrize(
    "cells",
    [
        ["7M", "12M", "Varies with device", "3.5M"],
        ["1,000+", "10,000+", "1,000,000+"],
        ["0.1*", "0.25*", "0.5**", "0.4"],
        ["$1.5M", "$2M", "$300K", "$10K"],
        ["5 Mio.", "6 Mio.", "7,5 Mio."],
        ["$15/hr", "$20/hr"],
        ["\u20bf0.5", "\u20bf1.2"],
        ["13 января", "14 января", "2 мая"],
    ],
)
def test_numbers_with_units_in_most_cells_are_asked_about(cells):
    kind = kind_of(Cells("n", pd.Series(cells * 4, dtype=object), as_text=True))
    assert (kind.name, kind.ask) == ("numbers with units", "--nominal")


@pytest.mark.parametrize(
    "cells",
    [
        ["1 1/2", "2 3/4", "0 1/8"],
        ["5'11\"", "6'0\"", "5' 4\""],
        ["5 ft 11 in", "6 ft 0 in"],
        ["1920x1080", "1280x720"],
        ["3 of 5", "2 of 5"],
        ["1h 30m", "2h 15m", "45m"],
        ["-33.86, 151.2", "52.52, 13.4"],
        ["=1+2", "=3+4"],
    ],
)
def test_several_numbers_in_a_cell_are_asked_about(cells):
    kind = kind_of(Cells("n", pd.Series(cells * 4, dtype=object), as_text=True))
    assert (kind.name, kind.ask) == ("several numbers", "--drop")


@pytest.mark.parametrize(
    "cells",
    [
        ["10-20", "20-30", "30+"],
        ["18 - 24 years", "25 - 34 years"],
        ["(0, 10]", "(10, 20]"],
        ["1. red", "2. blue", "3. sea"],
        ["C1", "C2", "C3"],
        ["5 - always", "4 - often", "1 - never"],
        ["12345-6789", "22345-6789"],
        ["<20", "20-40", ">40"],
        [">=40", "<40"],
        ["0", "1-2", "3-5", "30", "did not drive"],
        ["$50,000 to $74,999", "$75,000 to $99,999"],
        ["1960-64", "1965-74"],
    ],
)
def test_ranges_numbered_answers_and_codes_are_names(cells):
    assert kind_of(Cells("n", pd.Series(cells * 4, dtype=object), as_text=True)).name == "nominal"


@pytest.mark.parametrize(
    "parts",
    [
        ["train", "test"],
        ["TRAIN", "Test", "val"],
        ["dev", "eval"],
        ["training set", "test set"],
        ["train_1", "train_2", "test_1"],
        ["Training", "PublicTest", "PrivateTest"],
        ["tr", "te"],
        ["TR", "TE", "val"],
    ],
)
def test_parts_of_the_data_are_asked_about(parts):
    kind = kind_of(Cells("split", pd.Series(parts * 4, dtype=object), as_text=True))
    assert (kind.name, kind.ask) == ("parts of the data", "--drop")
    for others in (
        [*parts, "bus"],
        ["te", "reo"],
        ["blood test", "skin test"],
        ["latest", "train"],
    ):
        cells = Cells("split", pd.Series(others * 4, dtype=object), as_text=True)
        assert kind_of(cells).name == "nominal"


@pytest.mark.parametrize("name", ["is_train", "isTest", "in_validation"])
@pytest.mark.parametrize("marks", [["0", "1"], ["True", "False"], [True, False], [1, 0]])
def test_marks_of_parts_of_the_data_are_asked_about(name, marks):
    cells = Cells(name, pd.Series(marks * 4), as_text=isinstance(marks[0], str))
    assert kind_of(cells).ask == "--drop"
    assert kind_of(Cells("is_trained", pd.Series(marks * 4), as_text=True)).name == "number"


def test_versions_of_two_numbers_are_asked_about():
    cells = pd.Series(["1.9", "1.10", "1.2"], dtype=object)
    for name in ("version", "App Version", "release"):
        assert kind_of(Cells(name, cells, as_text=True)).ask == "--nominal"
    assert kind_of(Cells("conversion", cells, as_text=True)).name == "number"
    assert kind_of(Cells("version", pd.Series([1, 2, 3]))).name == "number"


@pytest.mark.parametrize("written", ["0000-00-00", "2023-02-29", "31.06.2024", "31 Jun 2024"])
def test_dates_that_no_calendar_has_are_asked_about(written):
    kind = kind_of(Cells("d", pd.Series(["2024-01-31", written] * 4, dtype=object), as_text=True))
    assert (kind.name, kind.ask) == ("dates or times", "--drop")
    assert repr(written) in kind.reason


def test_a_year_far_from_all_others_is_told():
    assert "has 9999 in 4 rows, unlike" in read(["2024-01-31", "2024-02-01", "9999-12-31"] * 4)[1]
    assert "unlike" not in read(["2024-01-31", "2023-02-01", "1970-01-01"] * 4)[1]
    days = [f"{year}-02-01" for year in (2019, 2020, 2022, 2024)]
    assert "has 1900 in 2 rows, unlike" in read([*days, "1900-01-01", "1900-01-01"])[1]


@pytest.mark.parametrize(
    ("yes", "no"),
    [
        *(("TRUE", "FALSE"), ("WAHR", "FALSCH"), ("VRAI", "FAUX"), ("VERO", "FALSO")),
        *(("VERDADERO", "FALSO"), ("VERDADEIRO", "FALSO"), ("WAAR", "ONWAAR"), ("SANT", "FALSKT")),
        *(("PRAWDA", "FAŁSZ"), ("ИСТИНА", "ЛОЖЬ"), ("真", "假"), ("Checked", "Unchecked")),
        *(("Selected", "Not Selected"), ("☑", "☐"), ("✓", "✗"), ("Ja", "Nein"), ("t", "f")),
    ],
)
def test_labels_as_programs_of_any_language_write_them(yes, no):
    cells = [yes, no, f" {no} ", yes.lower(), ""]
    frame = pd.DataFrame({"n": range(5), "x": cells, "y": cells[::-1]})
    Y = table_of(frame, TableColumns(labels="x,y"), as_text=True).Y
    np.testing.assert_array_equal(Y[:, 0], [1, 0, 0, 1, np.nan])


def test_names_of_a_feature_that_look_the_same_are_one():
    """As names of labels are: composed, and without blanks and what is invisible."""
    spelled = ["caf\u00e9", "cafe\u0301", "caf\u00e9\u200b", " caf\u00e9\u00a0", "bar", "bar "]
    frame = pd.DataFrame({"place": spelled, "a": [0, 1] * 3, "b": [1, 0] * 3})
    table = table_of(frame, TableColumns(labels="a,b", nominal="place"))
    assert set(table.X["place"]) == {"bar", "caf\u00e9"}


@pytest.mark.parametrize(
    "name", ["user_id", "categoryId", "Country Code", "type", "Sex", "index", "level_0", "phone"]
)
def test_codes_that_recur_are_told_by_the_name_of_their_column(name):
    frame = {name: [3, 7, 9, 3, 7, 9], "x": [0, 1] * 3, "y": [0, 1, 1] * 2}
    with pytest.warns(UserWarning, match=f"{name!r} has codes, judging by its name, but is"):
        table_of(pd.DataFrame(frame), TableColumns(labels="x,y"))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        # Of two, a model knows as much as of names.
        for others in (
            {"video": [3, 7, 9, 3, 7, 9]},
            {name: [0.5, 7, 9, 3, 7, 9]},
            {name: [1, 2] * 3},
        ):
            rest = {"x": frame["x"], "y": frame["y"]}
            table_of(pd.DataFrame(others | rest), TableColumns(labels="x,y"))


@pytest.mark.parametrize(
    "cells",
    [
        ["R;Java", "R", "Java", "C;R", "C", "C;Java"],
        ["a|b", "b|c", "c", "a|c", "a", "b"],
        ['["a", "b"]', '["b"]', "[]", '["a"]', '["b"]', '["a", "c"]'],
        ["['a' 'b']", "['b']", "['a']", "['c']", "['c' 'a']", "['b']"],
    ],
)
def test_features_that_list_names_are_told(cells):
    assert "'n' has several names in a cell, such as" in read(cells * 3)[1]
    assert "several names in a cell" not in read(["red", "dark red", "blue", "dark blue"] * 3)[1]


def test_one_of_several_names_in_a_cell_is_shown():
    cells = ["red", "sea", "sea, red", "red, sky", "sky, sea", "sea"]
    assert "several names in a cell, such as 'sea, red', and" in read(cells * 6)[1]
    # As there are two countries of most of these names.
    cells = ["Aa, Rep.", "Aa, Dem. Rep.", "Bb, Rep.", "Bb, Dem. Rep.", *"cdefghijkl"]
    assert "several names" not in read(cells * 12)[1]


@pytest.mark.filterwarnings("ignore:the column 'type' has codes, judging by its name")
@pytest.mark.parametrize("name", ["n", "type", "date"])
def test_numbers_without_bound_are_named_by_their_row(name):
    frame = pd.DataFrame({name: ["1", "inf", "3"] * 4, "x": [0, 1] * 6, "y": [0, 1, 1] * 4})
    with pytest.raises(ValueError, match=f"the column '{name}' is infinite in row 1"):
        table_of(frame, TableColumns(labels="x,y"), as_text=True)


@pytest.mark.parametrize("pair", [("Male", "male "), ("re-use", "Re Use"), ("yes", "yes.")])
def test_features_whose_names_look_alike_are_told(pair):
    assert "'n' has names that differ only by capital letters" in read([*pair, "other"] * 4)[1]
    assert "differ only" not in read(["A", "A-", "A+"] * 4)[1]
