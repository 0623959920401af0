"""Columns of measurements, which fill nearly all rows, beside columns of words and names."""

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from multimargin.typing import Features

# Shares of the rows that columns of measurements fill, other columns of a text do at most, and
# words and names that are held dense beside measurements at least.
_ALWAYS, _MOSTLY, _OFTEN = 0.95, 0.5, 0.05
# Numbers of columns held dense, and of entries with columns of words and names among them.
_MOST_COLUMNS, _MOST_ENTRIES = 500, 2**24

Columns = NDArray[np.intp]


def words_and_measurements(X: Features) -> tuple[Columns, Columns] | None:
    """Return the columns that are best held sparse, and those that are best held dense.

    The latter are measurements, and the most frequent of the former; a tree can split on these
    together. None if there are none of the one kind: the most frequent words of a text fill nearly
    all rows, too, but many more fill most.
    """
    entries = sparse.csc_array(X, copy=True)
    entries.eliminate_zeros()
    n, d = X.shape
    share = np.diff(entries.indptr) / n
    frequent = np.flatnonzero(share >= _MOSTLY)
    varied = frequent[[_varies(entries, column) for column in frequent]]
    is_measured = share[varied] >= _ALWAYS
    measured = varied[is_measured]
    others = varied.size - measured.size
    if measured.size < 2 or 2 * measured.size < others or measured.size == d:
        return None
    is_sparse = np.ones(d, dtype=bool)
    is_sparse[measured] = False
    room = min(_MOST_COLUMNS, _MOST_ENTRIES // n) - measured.size
    often = np.flatnonzero(is_sparse & (share >= _OFTEN))
    often = often[np.argsort(-share[often], kind="stable")][: max(room, 0)]
    return np.flatnonzero(is_sparse), np.sort(np.concatenate([measured, often]))


def _varies(entries: sparse.csc_array, column: np.intp) -> bool:
    """Return whether the entries of a column other than 0 differ, unlike those of a name."""
    own = entries.data[entries.indptr[column] : entries.indptr[column + 1]]
    return bool(own.min() < own.max())
