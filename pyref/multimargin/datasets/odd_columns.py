"""Warnings of columns of features that likely hold something other than what they are read as."""

import re
from collections import Counter
from collections.abc import Collection, Mapping

import numpy as np
from numpy.typing import NDArray

from multimargin.checks.names import listed, option, quoted
from multimargin.datasets.listed_text import is_quoted_list
from multimargin.datasets.table_cells import (
    WITH_ZEROS,
    Cells,
    amounts_of,
    are_row_numbers,
    as_text_column,
    example_of,
    plain_words,
)
from multimargin.datasets.table_dates import date_parts
from multimargin.datasets.table_kinds import WORD, Kind
from multimargin.notices import warn
from multimargin.targets.names import label_name, warn_of_lookalikes
from multimargin.targets.separators import list_of_tags

# Number of rows from which words are judged, and its minimum.
_MANY_ROWS, _ROWS_TO_JUDGE = 1000, 20
# Of fewer numbers, one is far from the others by chance.
_A_FEW = 3
_CODE = re.compile(
    "(?:.*[_ .-])?(?:id|ids|uid|guid|key|index|nr|isbn|ean|barcode|doi|sku|ssn|phone|tel|mobile"
    "|code|category|cluster|type|fips|naics|sex|gender|race|ethnicity|nationality|religion"
    "|marital_status|occupation|level_[0-9])"
)
# Of fewer numbers, gaps say little; this many times as wide as others, one is wide.
_MANY_APART, _WIDE, _FAR = 4, 3.0, 10.0
# Numbers of which the median is at most so many times the smallest are no amounts.
_FEW_TIMES = 4.0
# Codes of surveys and instruments for a missing number.
_MISSING = [
    *(-1, -9, -999.25, 1e20, 1e30),
    *(sign * (10**k - 1) for sign in (-1, 1) for k in range(2, 7)),
    # Of surveys: 88 and 97, say.
    *(digit * (10**k // 9) for digit in (-8, -7, 7, 8) for k in (2, 3, 4)),
    *(10**k - below for below in (2, 3, 4) for k in (2, 3, 4)),
    *(sign * 2**k - (sign > 0) for sign in (-1, 1) for k in (15, 31)),
]
# Codes that are numbers like others unless these are far.
_SHORT = [0, 7, 8, 9]


def warn_of_odd_columns(
    features: Mapping[str, Cells], kinds: Mapping[str, Kind], said: Collection[str]
) -> None:
    """Warn of columns without content or of likely another kind, unless specified."""
    empty = list[str]()
    for column, cells in features.items():
        kind = kinds[column].name
        if not cells.first:
            empty.append(column)
        elif kind == "text":
            _warn_of_rare_words(cells)
        elif column in said:
            continue
        elif kind == "nominal":
            warn_of_names(cells)
        elif kind == "date":
            warn_of_missing_numbers(column, date_parts(cells)[:, 0], n_others=1)
        elif kind == "number":
            numbers, _ = amounts_of(cells)
            _warn_of_keys(cells, numbers)
            warn_of_missing_numbers(column, numbers)
            if np.isnan(numbers).all():
                empty.append(column)
    if empty:
        warn(
            f"nothing is learned from empty columns, {listed(empty)}; leave them out "
            f"({option('--drop', empty)})"
        )


def _warn_of_rare_words(cells: Cells) -> None:
    """Warn of text whose words do not recur."""
    texts = as_text_column(cells.values[:_MANY_ROWS])
    rows = [{*re.findall(WORD, text.lower())} for text in texts]
    counts = Counter(word for row in rows for word in row)
    recurring = sum(count for count in counts.values() if count > 1)
    if len(rows) >= _ROWS_TO_JUDGE and 10 * recurring < counts.total():
        warn(
            f"hardly any word of the column {cells.name!r} occurs in two rows, so little can be "
            "learned from it; analyzer='char' (--analyzer char) learns from runs of characters, "
            f"as in text without blanks, and {option('--drop', [cells.name])} leaves it out"
        )


def _warn_of_keys(cells: Cells, numbers: NDArray[np.float64]) -> None:
    """Warn of a column that numbers the rows, or is called a key or a code."""
    is_code = _CODE.fullmatch(plain_words(cells.name))
    if (is_code and len(cells.values) == len(cells.texts) > 1) or are_row_numbers(numbers):
        warn(
            f"the column {cells.name!r} has a different number in each row, used as a feature; "
            f"if it only numbers the rows, drop it ({option('--drop', [cells.name])})"
        )
    elif is_code and len(cells.texts) > 2 and not np.any(np.floor(numbers) < numbers):
        warn(
            f"the column {cells.name!r} has codes, judging by its name, but is read as quantities; "
            f"{option('--nominal', [cells.name])} reads names, {option('--drop', [cells.name])} "
            "leaves it out"
        )


def warn_of_missing_numbers(
    column: str, numbers: NDArray[np.float64], n_others: int = _A_FEW
) -> None:
    """Warn of numbers, or years, that recur far from all others: one is likely missing there."""
    least, most = (end.reduce(numbers, initial=np.nan).item() for end in (np.fmin, np.fmax))
    far = _ends_apart(least, most, numbers)
    if not (far or np.isin([least, most], [*_MISSING, *_SHORT]).any()):
        return
    numbers, counts = np.unique(numbers[np.isfinite(numbers)], return_counts=True)
    is_code, is_short = np.isin(numbers, [*_MISSING, *far]), np.isin(numbers, _SHORT)
    others = numbers[~is_code]
    if others.size < n_others:
        return
    is_far = np.abs(numbers) / 2.0 >= np.abs(others).max()
    is_far |= np.isin(numbers, far) & (others.size >= _A_FEW)
    # A share may be 0, and scales of answers have no 0.
    is_short &= (numbers == 0.0) & (numbers.max() > 1.0) if 0.0 in numbers else True
    is_negative = (numbers < 0.0) & (others.min() >= 0.0) & (others.max() > 1.0)
    odd = is_code & (is_far | is_negative | _are_apart(numbers, counts, is_code))
    positive = others[others > 0.0]
    if positive.size and _FEW_TIMES * positive[0] < np.median(positive):
        # Of amounts, nothing is one.
        is_short &= numbers > 0.0
    odd |= is_short & _are_apart(numbers, counts, is_code | is_short)
    if (places := np.flatnonzero(odd & (counts > 1))).size:
        told = " and ".join(f"{numbers[k]:.10g} in {counts[k]} rows" for k in places)
        warn(
            f"the column {column!r} has {told}, unlike its others; if that stands for missing "
            "ones, leave such cells empty"
        )


def _ends_apart(least: float, most: float, numbers: NDArray[np.float64]) -> list[float]:
    """Return the ends of numbers that are many times as far from others as these are apart."""
    low = np.fmin.reduce(numbers, initial=np.nan, where=numbers != least).item()
    high = np.fmax.reduce(numbers, initial=np.nan, where=numbers != most).item()
    is_far = (low - least) / _FAR > most - low > 0.0, (most - high) / _FAR > high - least > 0.0
    return [end for end, far in zip((least, most), is_far, strict=True) if far]


def _are_apart(
    numbers: NDArray[np.float64], counts: NDArray[np.intp], is_code: NDArray[np.bool_]
) -> NDArray[np.bool_]:
    """Return which codes below or above all others, in rising order, are beyond a wide gap.

    It is wide beside the gaps between the nearer half of the others, the nearest of which is in no
    more rows.
    """
    found = np.zeros(numbers.size, dtype=bool)
    others = np.flatnonzero(~is_code)
    if others.size < _MANY_APART:
        return found
    gaps, half = np.diff(numbers[others]), others.size // 2
    for codes, nearest, near in (
        (np.arange(others[0])[::-1], others[0], gaps[:half]),
        (np.arange(others[-1] + 1, numbers.size), others[-1], gaps[-half:]),
    ):
        steps = np.abs(np.diff(numbers[[nearest, *codes]]))
        is_beyond = np.logical_or.accumulate(steps >= _WIDE * near.max())
        found[codes] = is_beyond & (counts[codes] >= counts[nearest])
    return found


def warn_of_names(cells: Cells) -> None:
    """Warn of a column of names that likely are more than names, or numbers."""
    texts, rows, n_rows = cells.texts, cells.counts, len(cells.values)
    warn_of_lookalikes(dict.fromkeys(map(label_name, texts)), f"the column {cells.name!r} has")
    words = np.array([of is None for of in cells.amounts], dtype=bool)
    others = np.array([of is None for of in cells.other.amounts], dtype=bool) & words
    zeros = next(filter(WITH_ZEROS.fullmatch, texts), None) if cells.as_text else None
    stored = not cells.as_text and not hasattr(cells.values.dtype, "categories")
    in_quotes = [*filter(is_quoted_list, texts)]
    if listing := in_quotes or list_of_tags(texts, n_rows):
        told = f"several names in a cell, {example_of(listing[:1])}"
        advice = "pandas' Series.str.get_dummies makes a column of 0 and 1 for each"
    elif zeros is not None and not words.any():
        told, advice = f"zeros in front, as in {zeros!r}", "numbers have none"
    elif stored and texts and cells.types == {str} and cells.units is not None:
        told = f"numbers that are stored as text, {example_of(texts)}"
        advice = f"{option('--number', [cells.name])} reads numbers"
    elif words.any() and 2 * rows[others].sum() < rows.sum():
        # The first of them by row.
        word = texts[int(np.argmax(words))]
        told = (
            f"something other than a number in {rows[words].sum()} of {n_rows} rows, first "
            f"{quoted(word)} in row {cells.row_of(word)}"
        )
        advice = (
            "if numbers are meant, correct such cells or leave them empty, or drop the column "
            f"({option('--drop', [cells.name])})"
        )
    else:
        return
    warn(
        f"the column {cells.name!r} has {told}, and is read as names, each a feature of its own; "
        f"{advice}"
    )
