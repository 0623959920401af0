"""Kernel functions with scikit-learn's names and parameters, computed by the Rust core.

``rbf`` is exp(-gamma ||x - y||^2), ``laplacian`` exp(-gamma sum_k |x_k - y_k|), ``poly``
(gamma x.y + coef0)^degree, ``sigmoid`` tanh(gamma x.y + coef0), ``linear`` x.y.

- `kernel`: kernels, their matrices, and features in the form that the Rust core takes;
- `definiteness`: whether a matrix is positive semidefinite, and the nearest one that is.
"""

from multimargin.kernels.definiteness import (
    check_precomputed,
    is_indefinite,
    is_indefinite_on_a_sample,
    nearest_positive_semidefinite,
)
from multimargin.kernels.kernel import (
    KERNELS,
    Kernel,
    KernelFunction,
    less_offset,
    make_kernel,
    mean_distance,
    offset_of,
    rust_matrix,
    same_kind,
)

__all__ = [
    "KERNELS",
    "Kernel",
    "KernelFunction",
    "check_precomputed",
    "is_indefinite",
    "is_indefinite_on_a_sample",
    "less_offset",
    "make_kernel",
    "mean_distance",
    "nearest_positive_semidefinite",
    "offset_of",
    "rust_matrix",
    "same_kind",
]
