"""Iterative stratification (Sechidis et al. 2011, algorithm 1)."""

import numpy as np
from numpy.typing import NDArray

from multimargin.typing import Indicator, Vector


def parts_of_rows(
    relevant: Indicator, shares: Vector, draws: np.random.RandomState
) -> NDArray[np.intp]:
    """Return the part of each row, such that each part has its share of each label's rows.

    The label with the fewest rows left is dealt out next, each of its rows to the part that lacks
    most of it; of several, to that which lacks most rows; of several, to one drawn.
    """
    n, q = relevant.shape
    rows, labels = np.nonzero(relevant)
    labels_of = np.split(labels, np.cumsum(np.bincount(rows, minlength=n))[:-1])
    left = np.bincount(labels, minlength=q)  # (q,): Rows of each label that are not dealt out
    rows_of = np.split(rows[np.argsort(labels, kind="stable")], np.cumsum(left)[:-1])
    lacking = np.outer(left, shares)  # (q, k): Rows of each label that each part lacks
    room = shares * n  # (k,): Rows that each part lacks
    parts = np.full(n, -1, dtype=np.intp)

    def drawn(places: NDArray[np.intp]) -> int:
        return int(places[draws.choice(places.size)] if places.size > 1 else places[0])

    def deal(row: np.intp, wanted: NDArray[np.intp]) -> None:
        part = drawn(wanted[_largest(room[wanted])] if wanted.size > 1 else wanted)
        parts[row] = part
        room[part] -= 1.0
        lacking[labels_of[row], part] -= 1.0
        left[labels_of[row]] -= 1

    while left.any():
        label = drawn(np.flatnonzero(left == left[left > 0].min()))
        for row in rows_of[label]:
            if parts[row] < 0:
                deal(row, _largest(lacking[label]))
    any_part = np.arange(shares.size)
    for row in np.flatnonzero(parts < 0):
        deal(row, any_part)
    return parts


def _largest(values: Vector) -> NDArray[np.intp]:
    """Return the places of the largest value."""
    return np.flatnonzero(values == values.max())
