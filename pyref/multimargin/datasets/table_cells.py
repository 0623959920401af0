"""Cells of a table: as they are written, and the numbers that they prove to be."""

import re
from collections.abc import Sequence
from numbers import Number
from typing import Any

import numpy as np
from numpy.typing import NDArray

from multimargin.checks.given import is_missing
from multimargin.checks.no_numbers import DATES, DURATIONS, INTERVALS, kind_of_type

_DIGITS = r"(?:[0-9]+{mark}?[0-9]*|{mark}[0-9]+)(?:[eE][+-]?[0-9]+)?|inf(?:inity)?"
_NUMERAL = {
    mark: re.compile(rf"\s*[+-]?(?:{_DIGITS.format(mark=re.escape(mark))})\s*", re.IGNORECASE)
    for mark in (".", ",")
}
_LINE_WITH_ZEROS = re.compile("^0[0-9]+$", re.MULTILINE)
_WITH_ZEROS = re.compile(r"\s*0[0-9]+\s*")
# With three digits after each, commas may stand between thousands.
_THOUSANDS = re.compile(r"\s*[+-]?[1-9][0-9]{0,2}(?:,[0-9]{3})+\s*")
_TRUTH = {"true": 1.0, "false": 0.0}
# What programs write into a column of numbers where there is none.
_NO_NUMBER = {
    *("", "na", "n/a", "#n/a", "nan", "-nan", "null", "none", "<na>", "#na", "1.#ind"),
    *("-1.#ind", "1.#qnan", "-1.#qnan", "#n/a n/a", "?"),
}
# The same among numbers alone; of a label, a dash may mean that it does not apply.
_DASHES = {"-", "--", "."}
_MONTH = "(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*[.]?"
_DATE = re.compile(
    r"\s*(?:[0-9]{4}([-/.])[0-9]{1,2}\1[0-9]{1,2}|[0-9]{1,2}([-/.])[0-9]{1,2}\2(?:[0-9]{4}|[0-9]{2})"
    rf"|(?:(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*,?\ )?"
    rf"(?:[0-9]{{1,2}}[ -]{_MONTH}|{_MONTH}\ [0-9]{{1,2}}),?[ -](?:[0-9]{{4}}|[0-9]{{2}}))"
    r"(?:,?[ T][0-9:.]+(?:\ ?[ap]m)?(?:\ ?(?:Z|UTC|GMT|[+-][0-9:]+))?)?\s*"
    r"|\s*[0-9]{1,2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]+)?)?(?:\ ?[ap]m)?\s*",
    re.IGNORECASE,
)
_DURATION = re.compile(r"\s*-?[0-9]+ days?(?:,? [+-]?[0-9]+:[0-9]{2}:[0-9]{2}(?:\.[0-9]+)?)?\s*")
_FORMULA = re.compile(r"'(?='*[=+\-@])")


def as_written(value: Any) -> str:
    """Return a cell as text, a whole number without a point whatever type it was stored in."""
    if isinstance(value, float | np.floating):
        number = float(value)
        return str(int(number)) if number.is_integer() and abs(number) < 2**53 else repr(number)
    if isinstance(value, bytes):
        return value.decode("utf-8", "backslashreplace")
    return str(value)


def from_cell(text: str) -> str:
    """Return the text of a cell without the apostrophe that keeps spreadsheets from computing."""
    return text[1:] if _FORMULA.match(text) else text


def written(values: Any) -> list[str | None]:
    """Return the cells of a column as they are written, None where nothing is."""
    cells = (
        value if type(value) is str else None if is_missing(value) else as_written(value)
        for value in values.tolist()
    )
    return [cell if cell and cell.strip() else None for cell in cells]


def plain_numbers(values: Any, mark: str = ".") -> NDArray[np.float64] | None:
    """Return a column of texts as numbers, NaN where empty; None unless all are digits alone.

    It is much faster than to look at cells one by one, and most columns of numbers are so.
    """
    texts = values.tolist()
    try:
        lines = "\n".join(texts)
    except TypeError:
        return None
    signs = b"0123456789+-eE\n" + (b"." if mark == "." else b"")
    others = lines.encode("utf-8", "replace").translate(None, signs)
    if others or _LINE_WITH_ZEROS.search(lines):
        return None
    try:
        return np.array([float(text) if text else np.nan for text in texts])
    except ValueError:
        return None


def stands_for_nothing(text: str) -> bool:
    """Return whether a text is blank, or what programs write for a missing number."""
    return text.strip().lower() in _NO_NUMBER


def is_number(text: str | None, mark: str = ".") -> bool:
    """Return whether a text is a number, a truth value or stands for a missing number."""
    if text is None or _NUMERAL[mark].fullmatch(text):
        return True
    word = text.strip().lower()
    return word in _TRUTH or word in _NO_NUMBER or word in _DASHES


def number_of(text: str | None, mark: str = ".") -> float:
    """Return the number that a text is; NaN for a missing one. Raises ValueError."""
    if text is None:
        return np.nan
    word = text.strip().lower()
    if word in _NO_NUMBER or word in _DASHES:
        return np.nan
    if word in _TRUTH:
        return _TRUTH[word]
    if not _NUMERAL[mark].fullmatch(text):
        raise ValueError(f"{text!r} is no number")
    return float(word if mark == "." else word.replace(mark, "."))


def numbers_of(values: Any, mark: str = ".") -> NDArray[np.float64]:
    """Return a column as numbers; raise ValueError where one is none."""
    if values.dtype.kind in "buif":
        return np.asarray(values.to_numpy(dtype=np.float64, na_value=np.nan))
    plain = plain_numbers(values, mark)
    if plain is not None:
        return plain
    return np.array([number_of(text, mark) for text in written(values)], dtype=np.float64)


def holds_numbers(values: Any, mark: str = ".", *, as_text: bool) -> bool:
    """Return whether a column holds numbers.

    Text is names, unless the file has no types (`as_text`): then it is numbers if all of it can be,
    none of them with zeros in front, as codes have.
    """
    if values.dtype.kind in "buif":
        return True
    if hasattr(values.dtype, "categories"):
        return False
    if not as_text:
        cells = [value for value in values.tolist() if not is_missing(value)]
        return all(isinstance(value, Number | np.bool_) for value in cells)
    cells = written(values)
    return all(is_number(cell, mark) for cell in cells) and not has_zeros_in_front(cells)


def rise_by_one(numbers: NDArray[np.float64]) -> bool:
    """Return whether numbers rise by one from row to row."""
    return numbers.size > 2 and bool((np.diff(numbers) == 1.0).all())


def has_zeros_in_front(cells: Sequence[str | None]) -> bool:
    """Return whether whole numbers among the cells have zeros in front."""
    return any(cell is not None and _WITH_ZEROS.fullmatch(cell) for cell in cells)


def has_decimal_commas(cells: Sequence[str | None]) -> bool | None:
    """Return whether a column is numbers with decimal commas; None if these may be thousands."""
    with_comma = [cell for cell in cells if cell is not None and "," in cell]
    if not with_comma or not all(is_number(cell, ",") for cell in cells):
        # Several commas are between thousands: "1,234,567".
        return (
            None
            if with_comma
            and all(cell is None or _THOUSANDS.fullmatch(cell) or is_number(cell) for cell in cells)
            else False
        )
    return None if all(map(_THOUSANDS.fullmatch, with_comma)) else True


def holds_no_numbers(values: Any) -> str | None:
    """Return which of `KINDS` a column holds and nothing else, as objects or as text."""
    found = kind_of_type(values.dtype)
    if found is not None or values.dtype.kind in "buif":
        return found
    for cell in values.tolist():
        if is_missing(cell) or (isinstance(cell, str) and not cell.strip()):
            continue
        kind = _kind_of_text(cell) if isinstance(cell, str) else kind_of_type(type(cell).__name__)
        if kind is None or found not in (None, kind):
            return None
        found = kind
    # Intervals as categories are bins, each a name.
    return None if found == INTERVALS and hasattr(values.dtype, "categories") else found


def _kind_of_text(cell: str) -> str | None:
    return DATES if _DATE.fullmatch(cell) else DURATIONS if _DURATION.fullmatch(cell) else None
