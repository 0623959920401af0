"""Values that differ only by rounding are equal, and must not count as different."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

_DIGITS = 12


def rounded(values: ArrayLike) -> NDArray[np.float64]:
    """Return the values rounded to twelve significant digits; NaN stays NaN."""
    array = np.asarray(values, dtype=np.float64)
    text = np.vectorize(lambda value: f"{value:.{_DIGITS - 1}e}", otypes=[object])(array)
    return text.astype(np.float64) if array.size else array.copy()


def advantages(
    values: ArrayLike, others: ArrayLike, *, larger_is_better: bool
) -> NDArray[np.float64]:
    """Return the advantages of the first values; 0 where both agree to twelve digits."""
    first, second = np.asarray(values, dtype=np.float64), np.asarray(others, dtype=np.float64)
    difference = first - second if larger_is_better else second - first
    scale = np.maximum(np.abs(first), np.abs(second))
    return np.asarray(np.where(np.abs(difference) <= 10.0**-_DIGITS * scale, 0.0, difference))
