"""Cells of a table, verbatim, and as numbers if they are numbers."""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import cached_property
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from multimargin.checks.names import quoted
from multimargin.datasets.text_arrays import arrow_of
from multimargin.targets.given import column_of, is_blank, is_missing
from multimargin.targets.names import as_written

if TYPE_CHECKING:
    from multimargin.typing import Column, Frame

_DIGITS = r"(?:[0-9]+{mark}?[0-9]*|{mark}[0-9]+)(?:[eE][+-]?[0-9]+)?|inf(?:inity)?"
_NUMERAL = {
    mark: re.compile(rf"\s*[+-]?(?:{_DIGITS.format(mark=re.escape(mark))})\s*", re.IGNORECASE)
    for mark in (".", ",")
}
WITH_ZEROS = re.compile(r"\s*0[0-9]+\s*")
_LINE_WITH_ZEROS = re.compile("^0[0-9]+$", re.MULTILINE)
_CURRENCY = (
    r"(?:[A-Z]{0,2}[$€£¥₹₩₽₺₫₪₴฿]|USD|EUR|GBP|JPY|CHF|CNY|INR|AUD|CAD|SEK|NOK|DKK|PLN|CZK|HUF|BRL"
    r"|KRW|RUB|TRY|ZAR|Rs\.?|kr\.?|zł|Kč|Ft)"
)
# With three digits after the last, marks may stand between thousands, two as in India before.
_AMOUNT = {
    mark: re.compile(
        rf"\s*(?P<owed>\()?\s*(?P<sign>[+\-−])?\s*(?P<before>{_CURRENCY})?\s*(?P<minus>[+\-−])?"
        rf"(?P<whole>[1-9][0-9]{{0,2}}(?P<t>[{other}'’ \u00a0\u2007\u2009\u202f])"
        rf"(?:[0-9]{{2,3}}(?P=t))*[0-9]{{3}}|[0-9]+)?"
        rf"(?P<part>{re.escape(mark)}[0-9]*)?\s*(?P<unit>[%％‰]|{_CURRENCY})?\s*\)?\s*"
    )
    for mark, other in ((".", ","), (",", "."))
}
# Signs of shares, of which a number without one may be a hundred times as much.
_SHARES = {"%", "‰"}
_TRUTH = {"true": 1.0, "false": 0.0}
# Words for a label that applies, or does not.
_RELEVANT = {
    *("true", "yes", "y", "t", "on", "x", "ja", "oui", "si", "sì", "sí", "sim", "tak", "да", "是"),
    *("wahr", "vrai", "vero", "verdadero", "verdadeiro", "waar", "sant", "prawda", "истина", "真"),
    *("checked", "selected", "✓", "✔", "✅", "☑"),
}
_IRRELEVANT = {
    *("false", "no", "n", "f", "off", "nein", "non", "nee", "nej", "não", "nie", "нет", "否"),
    *("falsch", "faux", "falso", "onwaar", "falskt", "fałsz", "ложь", "假"),
    *("unchecked", "not selected", "✗", "❌", "☐"),
}
# Words for a missing number.
_NO_NUMBER = {
    *("", "na", "n/a", "#n/a", "nan", "-nan", "null", "none", "<na>", "#na", "1.#ind"),
    *("-1.#ind", "1.#qnan", "-1.#qnan", "#n/a n/a", "?", "\\n", "#ref!", "#div/0!", "#value!"),
    *("#null!", "#num!", "#name?"),
}
# The same among numbers alone; of a label, a dash may mean that it does not apply.
_DASHES = {"-", "--", "–", "—", ".", ".."}
# Number of rows from which a column is judged.
_HEAD = 50
# Fewer numbers are all different, without a gap, by chance.
_MANY_STEPS = 10
_YEARS = (1700.0, 2100.0)
_FORMULA = re.compile(r"'(?='*[=+\-@])")


@dataclass(frozen=True, eq=False)
class Cells:
    """A column of n rows, stored by its distinct cells, verbatim."""

    name: str
    values: Any  # (n,): The column
    as_text: bool = False  # Whether it comes from a file whose cells have no types
    mark: str = "."  # The decimal mark of numbers
    same: "Cells | None" = None  # These cells with the other mark

    @cached_property
    def _found(self) -> tuple[NDArray[np.intp], list[str | None]]:
        if self.same is not None:
            return self.same._found
        codes, different = factorized(self.values)
        return codes, [None if cell is None else _text_of(cell) for cell in different]

    @property
    def codes(self) -> NDArray[np.intp]:
        """(n,): The place of each cell among the distinct ones, -1 if it is missing."""
        return self._found[0]

    @cached_property
    def texts(self) -> list[str]:
        """The distinct cells that are not blank."""
        return [text for text in self._found[1] if text is not None]

    @cached_property
    def first(self) -> list[str]:
        """Cells of the first rows that are not blank: most columns of numbers need no others."""
        head = (_text_of(cell) for cell in self.values[:_HEAD].tolist() if not is_missing(cell))
        return [text for text in head if text is not None] or self.texts[:1]

    @cached_property
    def other(self) -> "Cells":
        """The same cells, with a comma for the decimal mark in place of a point, or a point."""
        return self.same or replace(self, mark="," if self.mark == "." else ".", same=self)

    def with_mark(self, mark: str) -> "Cells":
        """Return the same cells with a decimal mark."""
        return self if mark == self.mark else self.other

    @cached_property
    def plain_numbers(self) -> NDArray[np.float64] | None:
        """A column of numbers, or of texts that are digits alone, as numbers; None for others."""
        if self.values.dtype.kind in "buif":
            return np.asarray(self.values.to_numpy(dtype=np.float64, na_value=np.nan))
        return plain_numbers(self.values, self.mark)

    @cached_property
    def amounts(self) -> list[tuple[float, str | None] | None]:
        """The numbers of the texts with their signs, see `amount`."""
        return [amount(text, self.mark) for text in self.texts]

    @cached_property
    def units(self) -> set[str] | None:
        """The units of texts that are numbers or amounts, "" for none; else None.

        Whole numbers with zeros in front are codes.
        """
        if any(amount(text, self.mark) is None for text in self.first[:1]):
            return None
        found = self.amounts
        if None in found or any(map(WITH_ZEROS.fullmatch, self.texts)):
            return None
        return {*_apart(unit or "" for number, unit in filter(None, found) if number == number)}

    @cached_property
    def marks(self) -> set[str]:
        """The decimal marks with which all cells are numbers or amounts."""
        by_point = self.with_mark(".")
        numbers = by_point.plain_numbers
        if numbers is None:
            return {one.mark for one in (by_point, by_point.other) if one.units is not None}
        return {"."} if np.any(np.floor(numbers) < numbers) else {".", ","}

    @cached_property
    def counts(self) -> NDArray[np.intp]:
        """Rows of each of them."""
        codes, different = self._found
        rows = np.bincount(codes[codes >= 0], minlength=len(different))
        return rows[[place for place, text in enumerate(different) if text is not None]]

    @cached_property
    def types(self) -> set[type]:
        """The types of the cells that are not blank."""
        if self.as_text or self.values.dtype.kind in "buif":
            return {str} if self.as_text else set()
        return set(map(type, self.filled()))

    @cached_property
    def are_numbers(self) -> bool:
        """True if the cells are numbers by their types, whatever mark texts have."""
        if self.as_text or self.values.dtype == "str":
            return False
        return all(issubclass(type_, Real | Decimal | np.bool_) for type_ in self.types)

    def filled(self) -> list[Any]:
        """Return the cells that are not blank, row by row."""
        return [cell for cell in self.values.tolist() if not is_blank(cell)]

    def row_of(self, text: str) -> int:
        """Return the first row with a cell."""
        return int(np.argmax(self.codes == self._found[1].index(text)))

    def mapped(self, value_of: Callable[..., float | list[float]]) -> NDArray[np.float64]:
        """Apply a function from texts, None for blank ones, to numbers to each row."""
        codes, different = self._found
        values = [value_of(text) for text in different]
        return np.array([*values, value_of(None)], dtype=np.float64)[codes]

    @property
    def n_missing(self) -> int:
        """Number of rows without a cell."""
        return int(len(self.values) - self.counts.sum())


def factorized(values: "Column") -> tuple[NDArray[np.intp], list[Any]]:
    """Return the place of each cell among the different ones, in the order of rows, and these.

    A missing cell has the place -1. Cells that cannot be compared are different in each row.
    """
    from pandas import factorize

    if hasattr(values.dtype, "categories") or values.dtype.kind in "biuf" or values.dtype == "str":
        codes, different = factorize(values)
        return codes, different.tolist()
    # Most are texts.
    cells = [c if type(c) is str or not is_missing(c) else None for c in values.tolist()]
    try:
        codes, different = factorize(np.array([*cells, None], dtype=object)[:-1])
    except TypeError:
        found = np.array([cell is not None for cell in cells], dtype=bool)
        return np.where(found, np.cumsum(found) - 1, -1), [c for c in cells if c is not None]
    return codes, list(different)


def as_text_column(values: "Column") -> list[str]:
    """Return a column of text; what is missing is empty."""
    return [
        value if type(value) is str else "" if is_missing(value) else as_written(value)
        for value in values.tolist()
    ]


def lists_of_rows(columns: "Frame") -> NDArray[np.object_]:
    """Return a list for each row, of its cells that are not blank."""
    cells = [columns.iloc[:, place].tolist() for place in range(columns.shape[1])]
    return column_of([[c for c in row if not is_blank(c)] for row in zip(*cells, strict=True)])


def numbered_keys(column: "Column", argument: str) -> NDArray[np.intp]:
    """Return a number for each row, the same for equal values; raise ValueError where one lacks."""
    keys = Cells(str(column.name), column)
    place = {text: number for number, text in enumerate(dict.fromkeys(map(str.strip, keys.texts)))}
    codes = keys.mapped(lambda text: -1 if text is None else place[text.strip()]).astype(np.intp)
    if (codes < 0).any():
        raise ValueError(
            f"{argument}: the column {keys.name!r} has no value in row "
            f"{int(np.argmax(codes < 0))}; expected one in each"
        )
    return codes


def _text_of(cell: Any) -> str | None:
    text = cell if type(cell) is str else as_written(cell)
    return text if text and not text.isspace() else None


def from_cell(text: str) -> str:
    """Return the text of a cell without the apostrophe that keeps spreadsheets from computing."""
    return text[1:] if text.startswith("'") and _FORMULA.match(text) else text


def plain_numbers(values: "Column", mark: str = ".") -> NDArray[np.float64] | None:
    """Return a column of texts as numbers, NaN where empty; None unless all are digits alone.

    This is much faster than checking cells one by one, and suits most columns of numbers.
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
        held = arrow_of(values)
        if held is not None and "+" not in lines:
            from pyarrow import compute

            # Ten times as fast as NumPy with objects.
            filled = compute.if_else(compute.equal(held, ""), None, held)
            return np.asarray(compute.cast(filled, "float64"), dtype=np.float64)
        cells = values.to_numpy(dtype=object)
        return np.asarray(np.where(cells == "", "nan", cells).astype(np.float64))
    except ValueError:
        return None


def is_nothing(text: str) -> bool:
    """Return whether a text is blank, or stands for a missing value among numbers and dates."""
    word = text.strip().lower()
    return word in _NO_NUMBER or word in _DASHES


def amount(text: str, mark: str = ".") -> tuple[float, str | None] | None:
    """Return the number that a text is, NaN for a missing one, and its currency or percent sign.

    The sign is None of a number as programs write it, or a truth value, and empty where there are
    only marks between thousands. None stands for a text that is not a number.
    """
    word = text.strip().lower()
    if is_nothing(word):
        return np.nan, None
    if word in _TRUTH:
        return _TRUTH[word], None
    if _NUMERAL[mark].fullmatch(text):
        return float(word.replace(mark, ".")), None
    found = _AMOUNT[mark].fullmatch(text)
    if found is None or not re.search("[0-9]", text) or (found["owed"] and ")" not in text):
        return None
    digits = re.sub("[^0-9]", "", found["whole"] or "0")
    number = float(f"{digits}.{(found['part'] or '.')[1:] or '0'}")
    negative = found["owed"] or (found["sign"] or found["minus"] or "+") != "+"
    unit = found["before"] or found["unit"] or ""
    return -number if negative else number, unit.replace("％", "%")


def is_number(text: str, mark: str = ".") -> bool:
    """Return whether a text is a number, a truth value or stands for a missing number."""
    found = amount(text, mark)
    return found is not None and found[1] is None


def label_value(text: str) -> float | None:
    """Return 0, 1, -1, NaN for an unknown label, or None for what is no label."""
    word = text.strip().lower()
    if word in _NO_NUMBER:
        return np.nan
    if word in _RELEVANT or word in _IRRELEVANT:
        return float(word in _RELEVANT)
    number, unit = amount(word) or (np.nan, None)
    return number if unit is None and number in (0.0, 1.0, -1.0) else None


def score_of(text: str) -> float | None:
    """Return the number of a text as of a label, or another number, None for what is none."""
    number, _ = amount(text) or (None, None)
    return number if (value := label_value(text)) is None else value


def _apart(units: Iterable[str]) -> list[str]:
    """Return the units of a column that must not be mixed, "" for none, each once."""
    units = [*dict.fromkeys(units)]
    # "$5.99" beside "5.99" is clear enough, and "45%" beside "0.45" is not.
    return units if _SHARES & {*units} else [unit for unit in units if unit]


def amounts_of(cells: Cells, known: str | None = None) -> tuple[NDArray[np.float64], str]:
    """Return a column as numbers, and their currency or percent sign, empty where there is none.

    `known` is the sign of other rows. Raises ValueError where one is not a number, or they
    differ in the sign; a currency may be left out, a percent sign may not.
    """
    cells = cells.with_mark(".") if cells.are_numbers else cells
    if cells.plain_numbers is not None and not known:
        return cells.plain_numbers, ""
    numbers: dict[str | None, float] = {None: np.nan}
    first: dict[str, str] = {}
    for text, found in zip(cells.texts, cells.amounts, strict=True):
        if found is None:
            marked = "" if cells.mark == "." else f", with {cells.mark!r} for the decimal mark"
            raise ValueError(
                f"the column {cells.name!r} has something other than numbers{marked}: "
                f"{quoted(text)} in row {cells.row_of(text)}"
            )
        numbers[text], unit = found
        if not np.isnan(found[0]):
            first.setdefault(unit or "", text)
    units = _apart(first if known is None else [known, *first])
    if len(units) > 1:
        usual, other = (f"with {unit!r}" if unit else "without a sign" for unit in units[:2])
        text = first[units[1]]
        raise ValueError(
            f"the column {cells.name!r} has {quoted(text)} in row {cells.row_of(text)}, {other}, "
            f"and others {usual}; expected numbers of one unit"
        )
    return cells.mapped(numbers.__getitem__), "".join(units)


def are_row_numbers(numbers: NDArray[np.float64]) -> bool:
    """Return whether numbers are all different, without a gap, in any order; years are others."""
    is_long = numbers.size >= _MANY_STEPS and np.ptp(numbers) == numbers.size - 1
    are_years = is_long and _YEARS[0] <= numbers.min() and numbers.max() <= _YEARS[1]
    return bool(is_long and not are_years and (np.diff(np.sort(numbers)) == 1.0).all())


def example_of(texts: Sequence[str]) -> str:
    """Write one of the cells of a column for a message."""
    return f"such as {quoted(' '.join(texts[0].split()))}" if texts else "none of them filled"


def plain_words(name: str) -> str:
    """Return a name in small letters, "user_id" of "userId"."""
    return re.sub("(?<=[a-z])(?=[A-Z])", "_", name).lower()
