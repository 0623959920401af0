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
    rows = sparse.csr_array(X)
    n, d = rows.shape
    share = rows.count_nonzero(axis=0) / n
    frequent = np.flatnonzero(share >= _MOSTLY)
    # The entries of a name are all alike.
    varied = frequent[[one.min() < one.max() for one in _entries_of_columns(rows[:, frequent])]]
    is_measured = share[varied] >= _ALWAYS
    measured = varied[is_measured]
    others = varied.size - measured.size
    if measured.size == 0 or 3 * measured.size < others or measured.size == d:
        return None
    is_sparse = np.ones(d, dtype=bool)
    is_sparse[measured] = False
    room = min(_MOST_COLUMNS, _MOST_ENTRIES // n) - measured.size
    often = np.flatnonzero(is_sparse & (share >= _OFTEN))
    often = often[np.argsort(-share[often], kind="stable")][: max(room, 0)]
    return np.flatnonzero(is_sparse), np.sort(np.concatenate([measured, often]))


def _entries_of_columns(X: sparse.csr_array) -> list[NDArray[np.float64]]:
    """Return the entries of each column other than 0."""
    columns = X.tocsc()
    columns.eliminate_zeros()
    return np.split(columns.data, columns.indptr[1:])[:-1]
