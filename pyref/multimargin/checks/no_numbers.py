"""Dates, durations and the like, which NumPy silently converts to numbers."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from multimargin.checks.names import quoted

if TYPE_CHECKING:
    from multimargin.typing import MatrixLike


DURATIONS, DATES, INTERVALS = "durations", "dates or times", "intervals"
COMPLEX = "complex numbers"
# By how the names of types begin, those of NumPy, pandas, polars, Arrow and Python: what they hold,
# and what is to be learned from instead.
_KINDS = {
    ("timedelta", "duration"): (DURATIONS, "in one unit (seconds, by .dt.total_seconds())"),
    ("date", "time"): (DATES, "what counts of them (year, weekday, days since a date)"),
    ("period",): ("periods", "what counts of them (year, month, days since a date)"),
    ("interval",): (INTERVALS, "their ends or their middles"),
    ("complex",): (COMPLEX, "their real and imaginary parts"),
}


def check_no_others(X: "MatrixLike", name: str) -> None:
    """Raise TypeError where features, scores or weights are dates, durations or the like.

    Of complex numbers it is a ValueError, with scikit-learn's words for them.
    """
    for column, found, cell in _found(X):
        expected = next(of for what, of in _KINDS.values() if what == found)
        where = "" if column is None else f" in column {column!r}"
        example = "" if cell is None else f", such as {quoted(str(cell))}"
        message = f"{name} holds {found}{where}{example}; expected numbers: {expected}."
        if found == COMPLEX:
            raise ValueError(f"{message} Complex data not supported.")
        raise TypeError(message)


def kind_of_type(type_: object) -> str | None:
    """Return the kind of non-numbers of a type, or of its name."""
    start = str(type_).lower()
    return next((found for starts, (found, _) in _KINDS.items() if start.startswith(starts)), None)


def _found(X: Any) -> Iterator[tuple[Any, str, Any]]:
    """Yield columns of non-numbers, with their kind and an example, if there is one."""
    if isinstance(X, np.ndarray):
        if X.dtype.kind in "biuf":
            return
        columns: Any = [(None, X.dtype)]
    elif hasattr(X, "column_names"):
        columns = zip(X.column_names, X.schema.types, strict=True)
    elif hasattr(X, "columns") and hasattr(X, "dtypes"):
        columns = zip(X.columns, X.dtypes, strict=True)
    else:
        columns = [(getattr(X, "name", None), getattr(X, "dtype", ""))]
    for place, (column, dtype) in enumerate(columns):
        if (found := kind_of_type(dtype)) is not None:
            yield column, found, None
        elif str(dtype) in ("object", "category"):
            cells = X.iloc[:, place] if hasattr(X, "columns") else X
            # The first cell of each type
            of_types = {type(cell): cell for cell in np.asarray(cells, dtype=object).ravel()[::-1]}
            for type_, cell in of_types.items():
                if (found := kind_of_type(type_.__name__)) is not None:
                    yield column, found, cell
