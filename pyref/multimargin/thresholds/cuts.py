"""The best threshold of each training row, from which row-dependent thresholds learn."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from multimargin.targets.indicator import UNKNOWN, count_unknown
from multimargin.thresholds.base import middle
from multimargin.typing import Scores, Vector

# A chunk of rows and its sorted copies stay in the processor's cache.
ENTRIES_PER_CHUNK = 2**17


def chunks_of(n: int, q: int) -> Iterator[slice]:
    """Cut `n` rows of `q` labels into chunks; a part of a data set may have no row."""
    rows = max(1, ENTRIES_PER_CHUNK // q)
    return (slice(first, min(first + rows, n)) for first in range(0, n, rows))


def best_thresholds(scores: Scores, Y: NDArray[np.uint8]) -> Vector:
    """Return the threshold of each row with the fewest errors among its known labels, or 0.

    Rank-CVM paper, after equation 27. All t between two neighbouring distinct scores predict the
    same labels. Of the intervals with the fewest errors the lowest is taken, and t is its middle,
    or one unit beyond the last score if the interval is unbounded: below the lowest score (all
    labels predicted) or above the highest (none).
    """
    n, q = Y.shape
    thresholds = np.empty(n)
    for chunk in chunks_of(n, q):
        thresholds[chunk] = _best_thresholds_of_chunk(scores[chunk], Y[chunk])
    return thresholds


def _best_thresholds_of_chunk(scores: NDArray[Any], Y: NDArray[np.uint8]) -> Vector:
    m, q = scores.shape
    if count_unknown(Y) > 0:
        # Beyond all known scores there is no interval between them.
        scores = np.where(Y == UNKNOWN, np.inf, scores)
    # Places in the flat array, which are found faster than those along an axis.
    ascending = np.argsort(scores, axis=1)
    ascending += q * np.arange(m)[:, None]
    # Interval j lies above the j lowest scores: between s[j] and s[j + 1] of this padded array.
    s = np.full((m, q + 2), np.inf)
    s[:, 0] = -np.inf
    s[:, 1:-1] = scores.take(ascending)
    sign = np.where(Y.take(ascending) == 1, 1, -1)
    # Each label that falls below t costs an error if it is relevant and saves one if it is not.
    errors = np.zeros((m, q + 1), dtype=np.intp)
    np.cumsum(sign, axis=1, out=errors[:, 1:])
    errors[s[:, 1:] == s[:, :-1]] = q + 1

    best = np.argmin(errors, axis=1)
    rows = np.arange(m)
    lower, upper = s[rows, best], s[rows, best + 1]
    unbounded = np.isneginf(lower) & np.isposinf(upper)
    return np.where(unbounded, 0.0, middle(lower, upper))
