"""Tests for positive semidefinite kernel matrices, and the nearest matrix that is one."""

from dataclasses import dataclass

import numpy as np
from scipy import linalg
from sklearn.utils import gen_batches

from multimargin.blas import one_blas_thread, with_one_blas_thread
from multimargin.decompositions import aside, cholesky
from multimargin.kernels.kernel import Kernel
from multimargin.typing import Features, Matrix

# The largest asymmetry of a precomputed kernel, relative to its largest entry, that is rounding.
_SYMMETRY_TOLERANCE = 1e-10

# A smallest eigenvalue above minus this fraction of the largest diagonal entry counts as rounding.
_INDEFINITE_TOLERANCE = 1e-8

# Rows of a matrix that are copied at once.
_ROWS = 256

# Rows and columns of a kernel matrix that are tested if the whole is too large to store.
_LARGEST_SAMPLE = 2048
_SMALLEST_SAMPLE = 256

# Eigenvalues above minus this fraction of the largest are 0 up to rounding; the exact solver
# accepts no matrix with a smaller one.
_ROUNDING_OF_EIGENVALUES = 1e-10


def check_precomputed(K: Matrix) -> None:
    """Raise ValueError unless a precomputed kernel matrix is square and symmetric."""
    n, m = K.shape
    if n != m:
        raise ValueError(
            f"X has shape {K.shape}; expected a square kernel matrix of shape (n, n) for "
            "kernel='precomputed'. (Precomputed matrix must be a square matrix.)"
        )
    largest = float(np.abs(K).max())
    asymmetry = 0.0
    for rows in gen_batches(n, 256):
        asymmetry = max(asymmetry, float(np.abs(K[rows] - K[:, rows].T).max()))
    if asymmetry > _SYMMETRY_TOLERANCE * largest:
        raise ValueError(
            f"X is not symmetric: entries (i, j) and (j, i) differ by up to {asymmetry:.3g}; "
            "expected a symmetric kernel matrix for kernel='precomputed'."
        )


def is_indefinite(K: Matrix) -> bool:
    """Return True if a symmetric matrix has an eigenvalue that is negative beyond rounding."""
    scale = float(np.abs(np.diagonal(K)).max(initial=0.0))
    if scale == 0.0:
        return bool(K.any())
    with one_blas_thread():
        return not _has_cholesky_factor(K, _INDEFINITE_TOLERANCE * scale)


def is_indefinite_on_a_sample(
    kernel: Kernel, X: Features, *, most_bytes: int, threads: int
) -> bool:
    """Return True if a kernel is indefinite on some rows of `X`, and hence on all (Cauchy)."""
    n = X.shape[0]
    size = min(n, _LARGEST_SAMPLE, max(_SMALLEST_SAMPLE, int((most_bytes / 8) ** 0.5)))
    rows = np.linspace(0, n - 1, size).astype(np.intp)
    return is_indefinite(kernel.matrix(X[rows], threads=threads))


def _has_cholesky_factor(K: Matrix, shift: float) -> bool:
    """Try a Cholesky factor of K + shift I."""
    n = K.shape[0]
    rest = np.empty_like(K)
    for rows in gen_batches(n, _ROWS):
        rest[rows, : rows.stop] = K[rows, : rows.stop]
    rest.flat[:: n + 1] += shift
    try:
        cholesky(rest)
    except linalg.LinAlgError:
        return False
    return True


@dataclass(frozen=True)
class NearestKernel:
    """The positive semidefinite matrix K+ that is nearest to an indefinite kernel matrix K.

    Clipping the spectrum, with the same linear map for new rows as for the training rows: Chen,
    Garcia et al. 2009, section 4.
    """

    matrix: Matrix  # (n, n): K with its negative eigenvalues set to 0
    # (n, r): The eigenvectors U of the positive eigenvalues of K, so that K+ is K U U^T
    eigenvectors: Matrix

    def original_expansion(self, coefficients: Matrix) -> Matrix:
        """Return the coefficients over K of an expansion over K+."""
        return np.asarray(self.eigenvectors @ (self.eigenvectors.T @ coefficients))


@with_one_blas_thread
def nearest_positive_semidefinite(K: Matrix) -> NearestKernel | None:
    """Return the positive semidefinite matrix that is nearest to a symmetric one."""
    eigenvalues, U = aside(np.linalg.eigh, K)
    if eigenvalues[0] >= -_ROUNDING_OF_EIGENVALUES * np.abs(eigenvalues).max():
        return None
    positive = eigenvalues > 0.0
    U = np.ascontiguousarray(U[:, positive])
    matrix = (U * eigenvalues[positive]) @ U.T
    return NearestKernel((matrix + matrix.T) / 2.0, U)
