"""Nearest training rows, by Euclidean distance, ties in favour of the earlier row."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.spatial.distance import cdist
from sklearn.metrics.pairwise import euclidean_distances
from sklearn.utils import gen_batches

from multimargin.blas import with_one_blas_thread
from multimargin.typing import Features, Matrix

# Distances in memory at a time.
_BLOCK = 1_000_000


@with_one_blas_thread
def squared_distances(X: Features, Z: Features) -> Matrix:
    """Return the squared Euclidean distances between rows.

    Dense rows are subtracted from each other, so that equal rows have distance 0 and the result
    depends neither on an offset of the features nor on which rows are asked for together. Sparse
    ones go through inner products.
    """
    if sparse.issparse(X):
        return np.asarray(euclidean_distances(X, Z, squared=True))
    return np.asarray(cdist(X, Z, "sqeuclidean"))


def blocks_of_distances(
    X: Features, Z: Features, *, itself: bool = False
) -> Iterator[tuple[slice, Matrix]]:
    """Yield the squared distances of blocks of rows to all rows of another matrix."""
    n, m = X.shape[0], Z.shape[0]
    for rows in gen_batches(n, max(1, _BLOCK // max(1, m))):
        distances = squared_distances(X[rows], Z)
        if itself:
            own = np.arange(rows.start, rows.stop)
            distances[own - rows.start, own] = np.inf
        yield rows, distances


def nearest(distances: Matrix, k: int) -> NDArray[np.intp]:
    """Return the k columns with the smallest distances of each row, in the order of the columns."""
    farthest = np.partition(distances, k - 1, axis=1)[:, k - 1 : k]
    chosen = distances < farthest
    tied = distances == farthest
    wanted = k - np.count_nonzero(chosen, axis=1)
    chosen |= tied & (np.cumsum(tied, axis=1) <= wanted[:, None])
    columns: NDArray[np.intp] = np.nonzero(chosen)[1].reshape(-1, k)
    return columns
