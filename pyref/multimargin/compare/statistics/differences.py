"""Values that differ by rounding alone are equal: statistics must not see a difference in them."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

_DIGITS = 12


def rounded(values: Any) -> NDArray[np.float64]:
    """Round to twelve significant digits.

    Parameters
    ----------
    values : array-like
        Numbers; NaN stays NaN.

    Returns
    -------
    ndarray
        A new array of the same shape.
    """
    array = np.asarray(values, dtype=np.float64)
    text = np.vectorize(lambda value: f"{value:.{_DIGITS - 1}e}", otypes=[object])(array)
    return text.astype(np.float64) if array.size else array.copy()


def advantages(values: Any, others: Any, *, larger_is_better: bool) -> NDArray[np.float64]:
    """Return by how much the first values are better than the second.

    Parameters
    ----------
    values, others : array-like of shape (n,)
        Numbers.
    larger_is_better : bool
        Their direction.

    Returns
    -------
    ndarray of shape (n,)
        Positive where the first is better, 0 where both agree to twelve digits.
    """
    first, second = np.asarray(values, dtype=np.float64), np.asarray(others, dtype=np.float64)
    difference = first - second if larger_is_better else second - first
    scale = np.maximum(np.abs(first), np.abs(second))
    return np.asarray(np.where(np.abs(difference) <= 10.0**-_DIGITS * scale, 0.0, difference))
