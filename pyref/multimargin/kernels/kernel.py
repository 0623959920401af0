"""Kernel functions with scikit-learn's names and parameters, computed by the Rust core.

``rbf`` is exp(-gamma ||x - y||^2), ``laplacian`` exp(-gamma sum_k |x_k - y_k|), ``poly``
(gamma x.y + coef0)^degree, ``sigmoid`` tanh(gamma x.y + coef0), ``linear`` x.y.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils import gen_batches

from multimargin import _rust
from multimargin.blas import with_one_blas_thread
from multimargin.checks.arrays import check_magnitudes, check_readable
from multimargin.checks.parameters import check_choice, check_integer, check_real
from multimargin.checks.storage import canonical, check_storage
from multimargin.checks.weights import of_rows_that_count
from multimargin.features.middle import middle_of
from multimargin.typing import Features, Matrix, is_sparse

KernelFunction: TypeAlias = Callable[[Any, Any], Any]
_Number = TypeVar("_Number", bound=np.generic)

KERNELS = ("linear", "rbf", "laplacian", "poly", "sigmoid", "precomputed")

GAMMAS = ("scale", "auto", "mean_distance")

_LARGEST_DEGREE = 2**31 - 1

# Rows whose distances from all others are held at a time.
_BLOCK = 256
# Numbers that are sorted at a time.
_ENTRIES = 2**20

# Features are centred for an rbf kernel if the squares of their means exceed the mean variance, and
# their own variance, by this factor: squared distances would lose that many digits to the means.
_OFFSETS_OF_SPREAD = 1e4
_OFFSETS_OF_OWN_SPREAD = 100.0


@dataclass(frozen=True)
class Kernel:
    """A kernel with all parameters determined."""

    name: str  # One of `KERNELS`
    gamma: float = 1.0  # Factor of the distance, squared for "rbf", or of the product, positive
    degree: int = 3
    coef0: float = 0.0
    # A kernel given as a function of two feature matrices; `name` is then "precomputed"
    function: KernelFunction | None = None
    # (d,): What is subtracted from every row of features before "rbf" compares them: their middle,
    # where they lie so much farther from zero than from each other that squared distances would
    # cancel
    offset: Matrix | None = field(default=None, compare=False)

    @property
    def of_distances(self) -> bool:
        """True for "rbf" and "laplacian", functions of a distance with values from 0 to 1."""
        return self.name in ("rbf", "laplacian")

    def features(self, X: Features) -> Features:
        """Return features in the form that the Rust core takes, see `rust_matrix`."""
        return rust_matrix(less_offset(X, self.offset))

    def matrix(self, X: Features, Y: Features = None, *, threads: int = 1) -> Matrix:
        """Return the kernel values between the rows of `X` and those of `Y` (default: `X`)."""
        if self.function is not None:
            return _values_of(self.function, X, X if Y is None else Y)
        right = None if Y is None else self.features(Y)
        return _rust.kernel_matrix(
            self.features(X), right, name=self.name, threads=threads, **self.parameters
        )

    @with_one_blas_thread
    def product(self, X: Features, Y: Features, factor: Matrix, *, threads: int = 1) -> Matrix:
        """Return k(X, Y) @ factor without storing the kernel matrix."""
        if self.function is not None:
            product: Matrix = _values_of(self.function, X, Y) @ factor
            return product
        return _rust.kernel_product(
            self.features(X),
            self.features(Y),
            np.ascontiguousarray(factor),
            name=self.name,
            threads=threads,
            **self.parameters,
        )

    @property
    def parameters(self) -> dict[str, Any]:
        """The parameters by name, for the Rust core."""
        return {"gamma": self.gamma, "degree": self.degree, "coef0": self.coef0}


def make_kernel(
    kernel: str | KernelFunction,
    X: Features,
    *,
    gamma: float | str = "scale",
    degree: int = 3,
    coef0: float = 0.0,
    sample_weight: Matrix | None = None,
) -> Kernel:
    """Determine a kernel's parameters from training features."""
    degree = check_integer("degree", degree, at_least=0)
    if degree > _LARGEST_DEGREE:
        raise ValueError(f"degree is {degree}; expected at most {_LARGEST_DEGREE}.")
    coef0 = check_real("coef0", coef0)
    if not isinstance(gamma, str):
        gamma = check_real("gamma", gamma, above=0.0)
    else:
        check_choice("gamma", gamma, GAMMAS)
    if callable(kernel):
        return Kernel("precomputed", function=kernel)
    name = check_choice("kernel", kernel, KERNELS)
    if isinstance(gamma, str) and name in ("linear", "precomputed"):
        gamma = 1.0
    sample_weight, X = of_rows_that_count(sample_weight, X)
    if isinstance(gamma, str):
        spread = _spread(name, X, gamma, sample_weight)
        gamma = 1.0 / spread if spread > 0.0 else 1.0
    offset = offset_of(X) if name == "rbf" else None
    return Kernel(name, gamma=gamma, degree=degree, coef0=coef0, offset=offset)


def rust_matrix(
    X: NDArray[_Number] | sparse.csr_array, name: str = "X"
) -> NDArray[_Number] | tuple[NDArray[_Number], NDArray[np.int32], NDArray[np.int32], int]:
    """Return a matrix in the form that the Rust core takes, without a copy if possible."""
    if not is_sparse(X):
        return X
    check_readable(X, name)
    if max(X.nnz, *X.shape) > np.iinfo(np.int32).max:  # pragma: no cover  # 16 GB of test data
        raise ValueError(
            f"{name} has shape {X.shape} and {X.nnz} nonzeros; expected at most 2^31 - 1 of each."
        )
    X = canonical(X)
    indices, indptr = (a.astype(np.int32, copy=False) for a in (X.indices, X.indptr))
    return (X.data, indices, indptr, X.shape[1])


def less_offset(X: Features, offset: Matrix | None) -> Features:
    """Return features minus an offset, so that distances do not suffer from cancellation."""
    if offset is None:
        return X
    if not is_sparse(X):
        return X - offset
    ones = sparse.csr_array(np.ones((X.shape[0], 1)))
    return sparse.csr_array(sparse.csr_array(X) - ones @ sparse.csr_array(offset[None, :]))


def same_kind(X: Features, like: Features) -> Features:
    """Return `X` dense or as CSR, whichever `like` is."""
    if is_sparse(like) and not is_sparse(X):
        return sparse.csr_array(X)
    if is_sparse(X) and not is_sparse(like):
        return np.ascontiguousarray(X.toarray())
    return X


def _values_of(function: KernelFunction, X: Any, Y: Any) -> Matrix:
    """Return the checked values of a kernel given as a function."""
    returned = function(X, Y)
    expected = f"expected an array of shape ({X.shape[0]}, {Y.shape[0]}) of finite real numbers"
    if is_sparse(returned):
        raise TypeError(f"kernel returned a sparse matrix; {expected}.")
    check_storage(returned, "What kernel returned")
    try:
        values = np.asarray(returned)
    except ValueError as error:
        raise ValueError(f"kernel returned rows of different lengths; {expected}.") from error
    if values.dtype.kind not in "biuf":
        raise TypeError(
            f"kernel returned a {type(returned).__name__} of {values.dtype}; {expected}."
        )
    if values.shape != (X.shape[0], Y.shape[0]):
        raise ValueError(f"kernel returned an array of shape {values.shape}; {expected}.")
    values = np.ascontiguousarray(values, dtype=np.float64)
    if not np.isfinite(values).all():
        raise ValueError(f"kernel returned infinite or missing values; {expected}.")
    check_magnitudes(values, "What kernel returned")
    return values


def mean_distance(X: Features, sample_weight: Matrix | None = None) -> float:
    """Return the mean Euclidean distance between two different rows."""
    n = X.shape[0]
    if n < 2:
        return 0.0
    # Sums of squares minus products cancel what the rows have in common.
    X = less_offset(X, offset_of(X)) if is_sparse(X) else X - X.mean(axis=0)
    products = Kernel("linear")
    squares = np.asarray((X.multiply(X) if is_sparse(X) else X * X).sum(axis=1)).ravel()
    total = 0.0
    for start in range(0, n, _BLOCK):
        rows = slice(start, min(start + _BLOCK, n))
        squared = squares[rows, None] + squares[start:]
        squared -= 2.0 * products.matrix(X[rows], X[start:])
        distances = np.triu(np.sqrt(np.maximum(squared, 0.0)), k=1)
        if sample_weight is not None:
            distances *= sample_weight[rows, None] * sample_weight[start:]
        total += float(distances.sum())
    count = n if sample_weight is None else float(sample_weight.sum())
    return float(total / (count * (count - 1) / 2)) if count > 1 else 0.0


def _manhattan_mean(X: Features, sample_weight: Matrix | None = None) -> float:
    """Return the mean Manhattan distance between two different rows."""
    weights = np.ones(X.shape[0]) if sample_weight is None else sample_weight
    count = float(weights.sum())
    if X.shape[0] < 2 or count <= 1.0:
        return 0.0
    total, step = 0.0, max(_ENTRIES // X.shape[0], 1)
    by_columns = X.tocsc() if is_sparse(X) else X
    for columns in gen_batches(X.shape[1], step):
        part = by_columns[:, columns]
        part = part.toarray() if is_sparse(part) else part
        order = np.argsort(part, axis=0)
        gaps = np.diff(np.take_along_axis(part, order, axis=0), axis=0)
        # Each gap between neighbours lies between the rows below and those above it.
        below = np.cumsum(weights[order], axis=0)[:-1]
        total += float((gaps * below * (count - below)).sum())
    return total / (count * (count - 1.0) / 2.0)


def _spread(name: str, X: Features, gamma: str, sample_weight: Matrix | None) -> float:
    """Return 1 / gamma of a kernel by its name."""
    if gamma == "auto":
        return float(X.shape[1])
    absolute = name == "laplacian"
    if gamma == "mean_distance" and absolute:
        return _manhattan_mean(X, sample_weight)
    if gamma == "mean_distance":
        return 2.0 * mean_distance(X, sample_weight) ** 2
    variance = _variance(X, sample_weight)
    return float(X.shape[1] * (np.sqrt(variance) if absolute else variance))


def _variance(X: Features, sample_weight: Matrix | None = None) -> float:
    if is_sparse(X):
        X = canonical(X)
    if X.min() == X.max():
        # Their mean is rounded, so that the variance around it would be rounding.
        return 0.0
    if sample_weight is not None:
        weights = sample_weight / sample_weight.sum()
        entries = X.shape[1]
        mean = float(np.sum(weights @ X) / entries)
        if not is_sparse(X):
            return float(weights @ ((X - mean) ** 2).sum(axis=1) / entries)
        stored = np.diff(X.indptr)
        squares = np.repeat(weights, stored) @ (X.data - mean) ** 2
        return float((squares + weights @ (entries - stored) * mean**2) / entries)
    if not is_sparse(X):
        return float(X.var())
    entries = X.shape[0] * X.shape[1]
    mean = X.data.sum() / entries
    # Computed around the mean: the difference of two large numbers would be rounding.
    squares = ((X.data - mean) ** 2).sum() + (entries - X.nnz) * mean**2
    return float(squares / entries)


def offset_of(X: Features) -> Matrix | None:
    """Return the middle of columns whose mean is far larger than any spread, 0 for the others.

    A column that is mostly zeros has no such mean, so that sparse features stay sparse.
    """
    n = X.shape[0]
    if is_sparse(X) and not _fills_a_column(X):
        return None
    mean = np.asarray(X.mean(axis=0), dtype=np.float64).ravel()
    if is_sparse(X):
        X = canonical(X)
        columns = X.indices
        squares = np.bincount(columns, (X.data - mean[columns]) ** 2, minlength=mean.size)
        zeros = n - np.bincount(columns, minlength=mean.size)
        variance = (squares + zeros * mean**2) / n
    else:
        # Checking the mean variance first saves most features a pass over copies of them.
        spread = float(np.vdot(X, X)) / X.size - float(np.mean(mean**2))
        if np.max(mean**2) < 0.9 * _OFFSETS_OF_SPREAD * spread < np.inf:
            return None
        variance = X.var(axis=0)
    far = mean**2 > _OFFSETS_OF_SPREAD * variance.mean()
    far &= mean**2 > _OFFSETS_OF_OWN_SPREAD * variance
    if not far.any():
        return None
    offset = np.zeros(mean.size)
    offset[far] = middle_of(X[:, far])
    return offset


def _fills_a_column(X: Any) -> bool:
    """Return whether some column of a CSR matrix may have a mean far larger than its spread."""
    stored = np.bincount(X.indices, minlength=1).max()
    # With a share p of equal values, the squared mean is p / (1 - p) variances.
    return bool(stored * (1.0 + 1.0 / _OFFSETS_OF_OWN_SPREAD) >= X.shape[0])
