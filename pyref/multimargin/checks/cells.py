"""Cells of any container: which are missing, and columns of them."""

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray


def is_missing(value: Any) -> bool:
    """Return whether a value is None, NaN or what pandas has for them."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, float | np.floating | np.datetime64) and bool(value != value)


def column_of(cells: Iterable[Any]) -> NDArray[Any]:
    """Return objects as an array of one dimension, whatever they are."""
    cells = list(cells)
    column = np.empty(len(cells), dtype=object)
    column[:] = cells
    return column
