"""Kinds of the columns of a table, decided in one place, with the reason.

In this order: lists and objects, numbers and amounts, dates, few names, text. Columns without a
clear kind are asked about.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain
from numbers import Number
from typing import Any

import numpy as np
from numpy.typing import NDArray

from multimargin.checks.no_numbers import DATES, INTERVALS, kind_of_type
from multimargin.checks.parameters import check_choice
from multimargin.datasets.table_cells import Cells, example_of, is_nothing, plain_words
from multimargin.datasets.table_dates import DATE_PARTS, date_parts, is_clear, kind_of_text
from multimargin.notices import warn
from multimargin.targets.given import is_missing

# A column of names with more different ones than this is more likely text, or one name per row.
_MANY_NAMES = 50
# This many names that occur in one row each mean nothing.
_MANY_KEYS = 20
# Of fewer, texts are as good as names.
_A_FEW = 3
# Of the cells, a share that is about half.
_SOME = 0.4
# Maximum number of words of names; text has more.
_FEW_WORDS = 3
# A word of `TfidfVectorizer`.
WORD = r"\b\w\w+\b"
# "12 kg", "$1.5M", "65+"; "5 ft 11 in", "1920x1080", "52.52, 13.40": a number first, and its sign.
_BEGINS_WITH_NUMBER = re.compile(r"\s*[^\w\s(\[{]{0,3}\s*\d")
_ONE_NUMBER = re.compile(r"(?:(?<![\d.])[+-])?\d+(?:[.,]\d{3})*(?:[.,]\d+)?")
_LONGEST_UNIT = 12
_RANGE = re.compile(
    r"\D{0,3}\d[\d.,]*\s*[a-z%]{0,2}\s*(?:[-\u2013\u2014]|to|bis)\s*\D?\d[\d.,]*\D*"
)
_BOUND = re.compile(r"\s*[<>\u2264\u2265]")
_VERSION = re.compile(
    r"\s*[vV]?[0-9]+(?:\.[0-9]+)+(?:[-+.]?(?:rc|alpha|beta|dev|a|b)?[.]?[0-9]*)\s*"
)
_TWO_POINTS = re.compile(r"\s*(?:[vV][0-9]|[0-9]+\.[0-9]+\.[0-9])")
# What Prodigy writes beside the labels that it asks about, and names of parts of data.
_ANSWERS = {"accept", "reject", "ignore"}
_PARTS = re.compile(
    "(?:^|.*[^a-z])(?:(train(?:ing)?)|test(?:ing)?|dev|eval|val(?:id|idation)?)(?:[^a-z].*|$)|(tr)|te"
)
KINDS = ("number", "nominal", "text", "characters")
"""Kinds of features; of the latter two, words and runs of characters count."""
LISTING = (list, tuple, set, frozenset, np.ndarray, Mapping)
"""Types of cells that list something."""
_OBJECT = re.compile(r"""\s*\{(?:\s*["'].*:.*)?\}\s*""", re.DOTALL)
# As whole numbers are written with points between thousands.
_IN_GROUPS = re.compile(r"[+-]?(?:[1-9][0-9]{0,2}(?:\.[0-9]{3})+|[1-9][0-9]{0,2}|0)")
# "[1 2]", "array([1, 2], dtype=int8)", "(1, 2)"; a number alone in round ones is an amount owed.
_VECTOR = re.compile(
    r"\s*([\w.]+\()?\s*(?:\[([-+.0-9eE,\s]*)\]|[({]([-+.0-9eE\s]*,[-+.0-9eE,\s]*)[)}])"
    r"(?(1)(?:,[^()]*)?\))\s*"
)


# Numbers that are likely not quantities: their nature, pattern, the proposed option, and which
# names their columns have.
_CODES = (
    (
        *("postal codes", "[0-9]{4,6}", "postal codes by the column's name", "--nominal"),
        "(?:^|[^a-z])(?:zip|plz|postal|postcode|post_?code|cep|cap)(?:[^a-z]|code|$)",
    ),
    (
        *("parts of the data", "[0-9]{1,2}|(?i:true|false)"),
        *("parts of the data by the column's name", "--drop"),
        "(?:^|[^a-z])(?:k?folds?|splits?|partition|i[sn]_(?:train|test|validation))(?:[^a-z]|$)",
    ),
    (
        # Of which 1.10 follows 1.9.
        *("versions", r"[0-9]+\.[0-9]+", "versions by the column's name", "--nominal"),
        "(?:^|[^a-z])(?:version|release)(?:[^a-z]|$)",
    ),
    ("keys", r"\+[0-9]{7,}", "with a plus sign in front, as of telephones", "--drop", ""),
    ("keys", "[0-9]{16,}", "of 16 digits or more, which name the rows", "--drop", ""),
    (
        "days",
        "(?:19|20)[0-9]{2}(?:(?:0[1-9]|1[0-2])(?:0[1-9]|[12][0-9]|3[01])|0[1-9]|[1-4][0-9]|5[0-3]"
        "|[0-2][0-9]{2}|3[0-6][0-9])",
        *("whose digits are year and month, week or day", "--drop", ""),
    ),
    (
        # Of 2001 to 2034, also in thousandths.
        *("moments", r"(?:1[0-9]{9}|20[0-4][0-9]{7})(?:[0-9]{3})?(?:\.[0-9]+)?"),
        *("that are seconds since 1970 of recent years", "--drop", ""),
    ),
    (
        *("moments", r"[0-9]{5,}(?:\.[0-9]+)?", "dates by the column's name, in days", "--drop"),
        "(?:^|[^a-z])(?:date|datum|fecha|timestamp|birthday)(?:[^a-z]|$)|[a-z]_at$",
    ),
)


@dataclass(frozen=True)
class Kind:
    """Contents of a column."""

    name: str  # One of `KINDS`, "date", "vector", or what it is asked about as
    reason: str
    n_parts: int = 0  # Of a vector the numbers, of a date the parts that become features
    ask: str = ""  # The option that is proposed where it is asked about
    unit: str = ""  # The currency or the percent sign of its numbers

    @property
    def of_features(self) -> str:
        """Return the kind of its features, one of `KINDS`."""
        return self.name if self.name in KINDS else "number"

    def features(self, column: str) -> list[str]:
        """Return the names of the features of a column of this kind."""
        if self.name == "date":
            return [f"{column}: {part}" for part in DATE_PARTS[: self.n_parts]]
        if self.name == "vector":
            return [f"{column}[{place}]" for place in range(self.n_parts)]
        return [column]


def kind_of(cells: Cells) -> Kind:
    """Find the kind of a column: that of the first who has an opinion, else names."""
    names = Kind("nominal", f"{len(cells.texts)} different names, {example_of(cells.texts)}")
    return next((kind for judge in _JUDGES if (kind := judge(cells))), names)


def _asked(name: str, told: str, texts: Sequence[str], proposed: str, more: str = "") -> Kind:
    """Return a kind that is asked about, with one of its cells."""
    return Kind(name, f"{told}, {example_of(texts)}{more}", ask=proposed)


def _lists_or_objects(cells: Cells) -> Kind | None:
    """Judge lists and objects, also objects and lists of numbers in a text."""
    is_text = cells.types == {str}
    if bytes in cells.types and any("\\x" in text for text in cells.texts):
        return _asked("bytes", "bytes that are no text", cells.texts, "--drop")
    if any(issubclass(type_, Mapping) for type_ in cells.types) or (
        is_text and _all_are(_OBJECT, cells)
    ):
        return _asked("objects", "objects", cells.texts, "--drop")
    if is_text and _all_are(_VECTOR, cells):
        filled: list[Any] = cells.texts
    elif any(issubclass(type_, LISTING) for type_ in cells.types):
        filled = cells.filled()
    else:
        return None
    try:
        lengths = {len(vector_of(cell)) for cell in filled}
    except (TypeError, ValueError):
        return _asked("lists", "lists", cells.texts, "--drop")
    if len(lengths) > 1 or lengths == {0}:
        counts = f"of {min(lengths)} to {max(lengths)} numbers" if max(lengths) else "without items"
        return _asked("lists", f"lists {counts}", cells.texts, "--drop")
    (length,) = lengths
    return Kind("vector", f"lists of {length} numbers, each a feature", length)


def _all_are(pattern: re.Pattern[str], cells: Cells) -> bool:
    """Return whether a pattern fits all cells; usually the first ones suffice."""
    fits = pattern.fullmatch
    return bool(cells.first) and all(map(fits, cells.first)) and all(map(fits, cells.texts))


def vector_of(cell: str | Sequence[Any]) -> NDArray[np.float64]:
    """Return the numbers of a list, or of its text; raise an error where it has others."""
    if isinstance(cell, str):
        found = _VECTOR.fullmatch(cell)
        if found is None:
            raise ValueError(f"no list of numbers: {cell!r}")
        cell = [
            float(number) for number in re.split(r"[,\s]+", found[2] or found[3] or "") if number
        ]
    items = list(cell)
    if not all(
        (isinstance(item, Number) and not isinstance(item, np.timedelta64)) or is_missing(item)
        for item in items
    ):
        raise TypeError("a list of something other than numbers")
    return np.array([np.nan if is_missing(item) else float(item) for item in items])


def _numbers(cells: Cells) -> Kind | None:
    dtype = cells.values.dtype
    if hasattr(dtype, "categories") or kind_of_type(dtype) is not None:
        return None
    if cells.are_numbers or (cells.as_text and cells.plain_numbers is not None):
        return _codes(cells) or Kind("number", f"numbers, {example_of(cells.first)}")
    texts = cells.texts
    units = cells.units
    if units is None:
        if cells.as_text and cells.other.units is not None:
            told = f"numbers with {cells.other.mark!r} for the decimal mark"
            return _asked("other numbers", told, texts, "--nominal")
        return None
    amounts = _but_numbers(cells)
    if not (amounts or cells.as_text):
        if len(cells.types) > 1 or any(re.search("[.,]", text) for text in texts):
            told, where = "numbers that are stored as text", ", in some rows at least"
            return _asked("numbers as text", told, texts, "--number", where)
        return None
    if len(units) > 1:
        told = f"amounts of several units ({', '.join(map(repr, sorted(units)))})"
        return _asked("amounts", told, amounts, "--drop")
    if amounts:
        return Kind(
            "number", f"amounts, {example_of(amounts)}, read as numbers", unit="".join(units)
        )
    return _codes(cells) or Kind("number", f"numbers, {example_of(texts)}")


def _but_numbers(cells: Cells) -> list[str]:
    """Return the texts that are not numbers as programs write them."""
    pairs = zip(cells.texts, cells.amounts, strict=True)
    return [text for text, found in pairs if found is None or found[1] is not None]


def _codes(cells: Cells) -> Kind | None:
    """Judge numbers that are likely names, or moments."""
    first = [text for text in cells.first if not is_nothing(text)]
    if len(set(first)) < 2:
        return None
    words = plain_words(cells.name)
    for name, pattern, what, asked, of_column in _CODES:
        if not re.search(of_column, words):
            continue
        # Most columns need the first rows alone.
        texts = chain(first, (text for text in cells.texts if not is_nothing(text)))
        if all(re.fullmatch(pattern, text.strip()) for text in texts):
            return _asked(name, "numbers", first, asked, f", {what}")
    return None


def _dates(cells: Cells) -> Kind | None:
    """Judge dates, durations and the like."""
    dtype = cells.values.dtype
    found = kind_of_type(dtype)
    if found is None and dtype.kind not in "buif":
        found = _kind_of_objects(cells)
    if found is None:
        return None
    texts, doubt = cells.texts, ""
    if found == DATES:
        with suppress(ValueError):
            hours = date_parts(cells)[:, 4]
            count = 5 if np.nanmax(hours, initial=0.0) > 0 else 4
            told = f"dates, {example_of(texts)}: {', '.join(DATE_PARTS[:count])}"
            return Kind("date", told, count)
        texts = [text for text in texts if not (is_clear(text) or is_nothing(text))]
        if any(re.match(r"\s*[0-9]{1,2}[-/]", text) for text in texts[:1]):
            doubt = ", whose days and months cannot be told apart (2024-01-31 is clear)"
    return _asked(found, found, texts, "--drop", doubt)


def _kind_of_objects(cells: Cells) -> str | None:
    """Return the common kind of all cells, objects or text, that are not numbers."""
    kinds = {kind_of_type(type_.__name__) for type_ in cells.types if type_ is not str}
    for text in cells.texts if str in cells.types else ():
        if not is_nothing(text):
            kinds.add(kind_of_text(text))
        if len(kinds) > 1:
            return None
    found = kinds.pop() if len(kinds) == 1 else None
    # Intervals as categories are bins, each a name.
    return None if found == INTERVALS and hasattr(cells.values.dtype, "categories") else found


def _versions(cells: Cells) -> Kind | None:
    texts = cells.texts
    if _all_are(_VERSION, cells) and any(map(_TWO_POINTS.match, texts)):
        shown = [text for text in texts if _TWO_POINTS.match(text)]
        proposed = "--nominal" if len(texts) <= _MANY_NAMES else "--drop"
        return _asked("versions", "versions or addresses", shown, proposed)
    return None


def _parts(cells: Cells) -> Kind | None:
    """Judge parts of data, and the answers that a program writes beside labels."""
    texts = cells.texts
    if cells.name == "answer" and texts and {*texts} <= _ANSWERS:
        advice = "; leave out rows with others than 'accept'"
        return _asked("answers", "answers of an annotator", texts, "--drop", advice)
    if 1 < len(texts) <= _MANY_NAMES and _are_parts(texts):
        told, advice = "names of parts of the data", "; fit and measure them apart"
        return _asked("parts of the data", told, texts, "--drop", advice)
    return None


def _text_or_keys(cells: Cells) -> Kind | None:
    """Judge columns with a different cell in most rows."""
    texts, n_rows = cells.texts, len(cells.values)
    count = len(texts)
    told = f"{count} different values in {n_rows} rows"
    if 2 * count > n_rows and count > _A_FEW and is_wordy(texts):
        return _asked("text", told, texts, "--text")
    is_key = count > _MANY_KEYS and count == cells.counts.sum()
    # Of all numbers that are read as names, some have zeros in front.
    n_words = {len(_but_numbers(one)) for one in (cells, cells.other)}
    if (2 * count > n_rows and count > _MANY_NAMES) or (
        is_key and (n_words == {count} or (cells.as_text and n_words == {0}))
    ):
        return _asked("keys", told, texts, "--drop")
    return None


def _mixed(cells: Cells) -> Kind | None:
    """Judge numbers and dates beside something else, in their cells or in others."""
    texts, count = cells.texts, len(cells.texts)
    if 2 * sum(kind_of_text(text) is not None for text in texts) > count:
        told = f"{count} different values in {len(cells.values)} rows"
        return _asked("dates and others", told, texts, "--drop", ", most of them dates")
    are_bounds = count > 1 and all(map(_BOUND.match, texts))
    if are_bounds or 3 * sum(_RANGE.fullmatch(text) is not None for text in texts) >= count > 0:
        # "18-24" beside "65+", as of the answers of a survey.
        return Kind("nominal", f"{count} ranges of numbers, {example_of(texts)}")
    has_digits = [re.search("[0-9]", text) is not None for text in texts]
    amounts = np.array([of is not None for of in cells.amounts], dtype=bool) & has_digits
    share = cells.counts[amounts].sum() / max(cells.counts.sum(), 1)
    if _SOME <= share <= 1.0 - _SOME:
        told, others = f"numbers in {share:.0%} of its cells", ", and something else in others"
        return _asked("numbers and others", told, texts, "--nominal", others)
    filled = [text for text in texts if not is_nothing(text)]
    found = _beside_numbers(cells, len(filled))
    if any(n_numbers > 1 for _, n_numbers in found):
        return _asked("several numbers", "several numbers in a cell", texts, "--drop")
    if found:
        return _asked("numbers with units", "numbers with units", texts, "--nominal")
    if _but_numbers(cells) and all(text.strip().isnumeric() for text in filled):
        return _asked("numbers with units", "numbers in other digits", texts, "--nominal")
    return None


# In this order.
_JUDGES = (_lists_or_objects, _numbers, _dates, _versions, _parts, _text_or_keys, _mixed)


def _are_parts(texts: Sequence[str]) -> bool:
    """Return whether texts name parts of data, some of training and some not, or by a word each."""
    found = [part for text in texts if (part := _PARTS.fullmatch(plain_words(text.strip())))]
    n_of_training = sum(part.lastindex is not None for part in found)
    # "blood test" beside "skin test" is none.
    is_clear = 0 < n_of_training < len(texts) or all(part[0].isalpha() for part in found)
    return len(found) == len(texts) and is_clear


def _beside_numbers(cells: Cells, n_filled: int) -> list[tuple[str, int]]:
    """Return what most texts have beside their numbers, and how many; none if that is in no two."""
    found = []
    for text, of in zip(cells.texts, cells.amounts, strict=True):
        if of is not None or not _BEGINS_WITH_NUMBER.match(text):
            continue
        beside, n_numbers = _ONE_NUMBER.subn("", text)
        beside = "".join(beside.split())
        # Ranges, telephone numbers and the like are names; a sign may be at the end.
        is_range = beside.startswith(("-", "–", "—")) and (beside, n_numbers) != ("-", 1)
        if (beside or n_numbers > 1) and len(beside) <= _LONGEST_UNIT and not is_range:
            found.append((beside, n_numbers))
    units = [beside for beside, _ in found]
    are_alike = len({*units}) < len(units) or not any(map(str.isalpha, "".join(units)))
    return found if len(units) > 1 and 2 * len(units) > n_filled and are_alike else []


def is_wordy(texts: Sequence[str]) -> bool:
    """Return whether cells are text rather than names."""
    if all(text.isascii() and " " not in text.strip() for text in texts):
        # Addresses, paths and numbers in groups.
        return False
    return bool(np.median([len(re.findall(WORD, text)) for text in texts]) > _FEW_WORDS)


def decimal_mark(columns: Iterable[Cells], given: str | None) -> str:
    """Return the decimal mark of a file: a comma if only that makes columns numeric."""
    if given is not None:
        return check_choice("decimal", given, (".", ","))
    columns = [cells for cells in columns if cells.as_text]
    with_commas = [cells for cells in columns if cells.marks == {","}]
    in_doubt = [cells for cells in columns if _is_in_doubt(cells)]
    is_point = any(cells.marks == {"."} and cells not in in_doubt for cells in columns)
    if is_point or not (with_commas or in_doubt):
        return "."
    found = (with_commas or in_doubt)[0]
    marked = [text for text in found.texts if re.search("[.,]", text)]
    example = next((text for text in marked if with_commas and "," in text), marked[0])
    if with_commas:
        told = "a comma is read as the decimal mark"
        if "," not in example:
            told = "points are read as marks between thousands"
        warn(
            f"{told}, as in {example!r} of column {found.name!r}; decimal='.' (--decimal .) says "
            "that a point is the decimal mark"
        )
        return ","
    mark, noun, other = (",", "comma", ".") if "," in example else (".", "point", ",")
    raise ValueError(
        f"decimal: the column {found.name!r} has numbers such as {example!r}, whose {noun} may be "
        f"the decimal mark or stand between thousands; expected decimal={mark!r} (--decimal "
        f"{mark}), or decimal={other!r} (--decimal {other}) for {noun}s between thousands"
    )


def _is_in_doubt(cells: Cells) -> bool:
    """Return whether "1,234", or "1.234" beside "950", may have more than a thousand."""
    numbers = cells.plain_numbers
    if numbers is None:
        if len(cells.marks) < 2:
            return False
        found = zip(cells.texts, cells.amounts, cells.other.amounts, strict=True)
        return any("," in text and by_point != by_comma for text, by_point, by_comma in found)
    if not _all_are(_IN_GROUPS, cells):
        return False
    # No program writes three decimals of some numbers and none of others, or needs three where the
    # last two are 0 in all.
    with_point = [text for text in cells.texts if "." in text]
    others = any("." not in text and len(text) > 2 for text in cells.texts)
    are_round = len(with_point) > 1 and all(text.endswith("00") for text in with_point)
    return bool(with_point) and (others or are_round)
