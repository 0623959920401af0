"""Columns of texts as pandas holds them: in memory of Arrow if that is installed, else objects."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from multimargin.targets.given import column_of, is_blank

if TYPE_CHECKING:
    from multimargin.typing import Column


def holds_arrow() -> bool:
    """Return whether pandas holds texts in memory of Arrow."""
    from pandas import Series

    return arrow_of(Series([""])) is not None


def text_maker() -> Callable[[Sequence[str]], Any]:
    """Return what makes a part of a column of its texts."""
    if not holds_arrow():
        return column_of
    from pyarrow import array, large_string

    return partial(array, type=large_string())


def joined_texts(columns: list[list[Any]]) -> list[Any]:
    """Return columns as pandas holds texts, and use up the parts that are given for each."""
    if not holds_arrow():
        return [np.concatenate([column_of([]), *parts]) for parts in columns]
    from pandas import Series
    from pyarrow import chunked_array, large_string

    of_texts = Series([""]).array
    joined = list[Any]()
    for place, parts in enumerate(columns):
        # Both take memory until then.
        columns[place] = []
        texts = chunked_array(parts, type=large_string()).combine_chunks()
        joined.append(type(of_texts)(texts, dtype=of_texts.dtype))
    return joined


def arrow_of(column: "Column") -> Any:
    """Return the texts of a column in memory of Arrow; None of any other column."""
    from pandas import StringDtype

    is_arrow = isinstance(column.dtype, StringDtype) and column.dtype.storage == "pyarrow"
    return column.array.__arrow_array__() if is_arrow else None


def are_blank(column: "Column") -> NDArray[np.bool_]:
    """Return which cells have no value, or a text of blanks."""
    texts = arrow_of(column)
    if texts is None:
        return np.array([*map(is_blank, column.tolist())], dtype=bool)
    from pyarrow import compute

    blank = compute.or_(compute.equal(texts, ""), compute.utf8_is_space(texts))
    return np.asarray(blank.fill_null(True), dtype=bool)


def rows_beginning(column: "Column", start: str) -> list[int]:
    """Return the rows whose cell is a text that begins so."""
    texts = arrow_of(column)
    if texts is None:
        cells = enumerate(column.tolist())
        return [k for k, cell in cells if isinstance(cell, str) and cell.startswith(start)]
    from pyarrow import compute

    return [*np.flatnonzero(compute.starts_with(texts, start).fill_null(False)).tolist()]


def rows_of_names(column: "Column", names: Sequence[str], around: str) -> list[int]:
    """Return the rows whose cell is one of some names, in any case and with marks around it."""
    texts = arrow_of(column)
    if texts is None:
        lower = {name.lower() for name in names}
        cells = enumerate(column.tolist())
        return [k for k, c in cells if isinstance(c, str) and c.strip(around).lower() in lower]
    from pyarrow import array, compute

    # Of texts, most are too long.
    may_be = compute.less_equal(compute.binary_length(texts), 4 * max(map(len, names)))
    for mark in around:
        for has_mark in (compute.starts_with, compute.ends_with):
            may_be = compute.or_(may_be, has_mark(texts, mark))
    rows = np.flatnonzero(may_be.fill_null(False))
    found = compute.utf8_lower(compute.utf8_trim(texts.filter(may_be), around))
    known = compute.utf8_lower(array(names, type=found.type))
    return [*rows[np.asarray(compute.is_in(found, value_set=known), dtype=bool)].tolist()]
