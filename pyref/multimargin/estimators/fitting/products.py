"""Products of matrices with the same bits for any number of BLAS threads."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
from scipy import sparse
from sklearn.utils import gen_batches
from sklearn.utils.extmath import safe_sparse_dot

from multimargin import _rust
from multimargin.blas import one_blas_thread
from multimargin.kernels.kernel import rust_matrix
from multimargin.typing import Features, Matrix

# Rows of a dense left factor that one thread multiplies at once.
_BLOCK = 1024


def product(left: Features, right: Matrix, threads: int = 1) -> Matrix:
    """Return the product of two matrices, of which the right one is dense."""
    if right.dtype == np.float32:
        # SciPy and NumPy would copy the whole matrix in double precision.
        left = rust_matrix(sparse.csr_array(left))
        return _rust.sparse_product(left, np.ascontiguousarray(right), threads)
    with one_blas_thread():
        if sparse.issparse(left) or left.shape[0] <= _BLOCK:
            return np.asarray(safe_sparse_dot(left, right, dense_output=True))
        return _by_blocks(left, right, threads)


def _by_blocks(left: Matrix, right: Matrix, threads: int) -> Matrix:
    result = np.empty((left.shape[0], right.shape[1]))

    def multiply(rows: slice) -> None:
        np.matmul(left[rows], right, out=result[rows])

    blocks = list(gen_batches(left.shape[0], _BLOCK))
    if threads == 1:
        for rows in blocks:
            multiply(rows)
    else:
        with ThreadPoolExecutor(min(threads, len(blocks))) as pool:
            # Raises the exception of a thread.
            list(pool.map(multiply, blocks))
    return result
