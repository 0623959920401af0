"""Columns of very different scales: advice about them, and their ranges."""

from collections.abc import Sequence

import numpy as np
from scipy import sparse
from sklearn.utils import gen_batches

from multimargin.typing import Features, Matrix, Name, Vector, is_sparse

# Ratio of the largest numbers of two columns from which their scales count as different.
_OTHER_SCALE = 100.0

# Times the mean entry of the median column.
_FAR_LARGER = 10.0
# Root of the least variance of all columns together with which C means much the same as with 1.
_LEAST_DEVIATION = np.sqrt(0.1)
# Entries that are centred at a time.
_ENTRIES = 2**20

Ranges = tuple[Vector, Vector]
"""The lowest number of each column, and the inverse of half its range; 0 for constant columns.

Where columns keep their zero, 0 and twice a factor.
"""


def largest_of_columns(X: Features) -> Vector:
    """Return the largest magnitude of each column."""
    largest = abs(X).max(axis=0)
    return np.ravel(largest.toarray() if is_sparse(X) else largest)


def times_columns(X: Features, factors: Vector) -> Features:
    """Return features with each column multiplied by a number."""
    return X @ sparse.diags_array(factors) if is_sparse(X) else X * factors


def ends_of_scale(largest: Vector) -> tuple[int, int] | None:
    """Return the columns of the smallest and the largest numbers, None if their scales are alike.

    Columns of zeros have no scale.
    """
    used = np.flatnonzero(largest)
    if not used.size:
        return None
    least, most = used[largest[used].argmin()], used[largest[used].argmax()]
    return (least, most) if largest[most] > _OTHER_SCALE * largest[least] else None


def told_scales(X: Features, names: Sequence[Name] | None = None) -> str:
    """Return advice about columns of very different scales, empty if there are none.

    Parameters
    ----------
    X : ndarray or sparse matrix of shape (n, d)
        Features.
    names : sequence of d names, default=None
        Names of the columns; None numbers them.

    Returns
    -------
    str
        A sentence, after a blank; empty unless the largest numbers of one column are more than a
        hundred times those of another.
    """
    largest = largest_of_columns(X)
    ends = ends_of_scale(largest)
    if ends is None:
        return ""
    scaler = "MaxAbsScaler" if is_sparse(X) else "StandardScaler"
    shown = [
        f"{largest[place]:.2g} (column {place if names is None else names[place]})"
        for place in ends
    ]
    return (
        f" The columns of X differ in scale, from {shown[0]} to {shown[1]}: "
        f"sklearn.preprocessing.{scaler} puts them on one."
    )


def ranges_of(X: Matrix) -> Ranges:
    """Return the ranges of the columns."""
    low, high = X.min(axis=0), X.max(axis=0)
    # Halves: the difference of the largest numbers would overflow, the inverse of the least too.
    half = 0.5 * high - 0.5 * low
    with np.errstate(divide="ignore", over="ignore"):
        inverse = np.where(half > 0, 1.0 / half, 0.0)
    inverse[~np.isfinite(inverse)] = 0.0
    return low, inverse


def of_unit_variance(X: Matrix, ranges: Ranges | None, largest: float) -> Ranges | None:
    """Return ranges with which the variance of all columns together is 1.

    They are those given, or None for columns as they are, if it is between 0.1 and 10 with these.
    `largest` is the largest magnitude in X.
    """
    low, inverse = (np.zeros(X.shape[1]), np.full(X.shape[1], 2.0)) if ranges is None else ranges
    # Squares of numbers beyond 1 might overflow.
    largest = 1.0 if ranges is not None else largest or 1.0
    mean = X.mean(axis=0)
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        unit = 0.5 * inverse / largest
        batches = gen_batches(len(X), max(_ENTRIES // X.shape[1], 1))
        squares = sum(float(np.sum(((X[rows] - mean) * unit) ** 2)) for rows in batches)
        deviation = largest * np.sqrt(squares / len(X))
        inverse = inverse / deviation
    is_near = _LEAST_DEVIATION <= deviation <= 1.0 / _LEAST_DEVIATION
    return ranges if is_near or not np.isfinite(inverse).all() else (low, inverse)


def of_most_columns(X: sparse.csr_array) -> Ranges | None:
    """Return what brings columns of far larger entries than most to those of the median column.

    Beside one-hot columns, amounts would be all of the length of a row. None if there are none.
    """
    counts, sums = np.ravel(X.count_nonzero(axis=0)), np.ravel(abs(X).sum(axis=0))
    sizes = np.divide(sums, counts, out=np.zeros(counts.size), where=counts > 0)
    median = float(np.median(sizes[counts > 0])) if counts.any() else 0.0
    beyond = sizes > _FAR_LARGER * median
    if not beyond.any():
        return None
    factors = np.divide(median, sizes, out=np.ones_like(sizes), where=beyond)
    return np.zeros(sizes.size), 2.0 * factors


def within_ranges(X: Features, ranges: Ranges) -> Features:
    """Return columns scaled so that their ranges become [0, 1], and constant columns 0."""
    low, inverse = ranges
    if is_sparse(X):
        return times_columns(X, 0.5 * inverse)
    rows = 0.5 * X - 0.5 * low
    rows *= inverse
    return rows
