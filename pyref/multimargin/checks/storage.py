"""Storage of arrays: masks, and the indices of sparse matrices."""

from typing import Any

import numpy as np
from scipy import sparse

from multimargin.typing import MatrixLike, is_sparse


def check_storage(X: MatrixLike, name: str) -> None:
    """Refuse masked entries, and sparse matrices whose indices point anywhere.

    scikit-learn's checks drop the mask of a masked array, so that what it hides is used, and
    SciPy's compiled loops read and write wherever an index points. Unsorted and repeated indices
    are valid.
    """
    if np.ma.is_masked(X):
        raise ValueError(
            f"{name} has masked entries; expected a number everywhere: fill them "
            "(numpy.ma.filled) or impute them (sklearn.impute)."
        )
    if not is_sparse(X):
        return
    if X.format in ("csr", "csc", "bsr"):
        _check_compressed(X, name)
    elif X.format == "coo":
        for axis, indices in enumerate(X.coords):
            _check_within(indices, X.shape[axis], name)


def _check_compressed(X: Any, name: str) -> None:
    blocks = X.blocksize if X.format == "bsr" else (1, 1)
    heights = [size // block for size, block in zip(X.shape, blocks, strict=True)]
    major, minor = reversed(heights) if X.format == "csc" else heights
    pointers, indices = X.indptr, X.indices
    stored = X.data.shape[0]
    valid = (
        pointers.shape == (major + 1,)
        and pointers[0] == 0
        and bool((pointers[1:] >= pointers[:-1]).all())
        and pointers[-1] <= min(stored, indices.shape[0])
    )
    if not valid:
        raise ValueError(
            f"{name} has a damaged indptr; expected {major + 1} ascending numbers from 0 to at "
            f"most {min(stored, indices.shape[0])}, the number of stored entries."
        )
    _check_within(indices[: pointers[-1]], minor, name)


def _check_within(indices: Any, size: int, name: str) -> None:
    if not indices.size:
        return
    for index in (int(indices.min()), int(indices.max())):
        if not 0 <= index < size:
            raise ValueError(
                f"{name} has the sparse index {index}; expected indices from 0 to {size - 1}."
            )


def canonical(X: sparse.csr_array) -> sparse.csr_array:
    """Return a CSR matrix in canonical form; `X` itself is not changed.

    Each position is stored once, in the order of the columns, and no zero is; indices are of 32
    bits where they fit. The flags of `X` about its order are ignored, as its arrays may have
    changed since.
    """
    shared = type(X)((X.data, X.indices, X.indptr), shape=X.shape)
    is_canonical = shared.has_canonical_format and np.count_nonzero(shared.data) == X.indptr[-1]
    if max(shared.nnz, *shared.shape) <= np.iinfo(np.int32).max:
        shared.indices, shared.indptr = (
            indices.astype(np.int32, copy=False) for indices in (shared.indices, shared.indptr)
        )
    if is_canonical:
        return shared
    own = shared.copy()
    own.sum_duplicates()
    own.eliminate_zeros()
    return own
