"""Hashes of rows, a few of which tell whether other rows are among them."""

from collections.abc import Sequence
from hashlib import blake2b
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from multimargin.typing import Features

# This many estimate a share to about 0.03, and take 10 kB in a file.
_KEPT = 500


def row_hashes(X: Features) -> NDArray[np.uint64]:
    """Return a hash of each row of a table, an array or a sparse matrix."""
    if hasattr(X, "iloc"):
        from pandas.util import hash_pandas_object

        return np.asarray(hash_pandas_object(X, index=False), dtype=np.uint64)
    if sparse.issparse(X):
        X = sparse.csr_array(X, copy=True)
        X.sum_duplicates()
        X.eliminate_zeros()
        indices, ends = X.indices.astype(np.int64), X.indptr
        rows = (indices[a:b].tobytes() + X.data[a:b].tobytes() for a, b in pairwise(ends))
    else:
        # There is a zero with either sign.
        rows = (np.ascontiguousarray(row + 0.0).tobytes() for row in np.asarray(X))
    digests = b"".join(blake2b(row, digest_size=8).digest() for row in rows)
    return np.frombuffer(digests, dtype="<u8").astype(np.uint64)


def smallest_hashes(X: Features) -> tuple[int, ...]:
    """Return the smallest hashes of the rows, each once, in increasing order."""
    return tuple(np.unique(row_hashes(X))[:_KEPT].tolist())


def share_among(smallest: Sequence[int], X: Features) -> float | None:
    """Return which share of the rows of X is among those whose smallest hashes are given.

    Rows whose hash is larger than all kept ones are ignored. None without hashes.
    """
    if not smallest:
        return None
    hashes = row_hashes(X)
    if len(smallest) == _KEPT:
        hashes = hashes[hashes <= np.uint64(smallest[-1])]
    if not hashes.size:
        return 0.0
    return float(np.isin(hashes, np.array(smallest, dtype=np.uint64)).mean())
