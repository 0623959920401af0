"""Types of arrays and of array-likes."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, TypeGuard

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

if TYPE_CHECKING:
    from pandas import DataFrame, Series

Matrix: TypeAlias = NDArray[np.float64]
Vector: TypeAlias = NDArray[np.float64]
# A data frame is an ArrayLike.
MatrixLike: TypeAlias = ArrayLike | sparse.sparray | sparse.spmatrix
LabelsLike: TypeAlias = MatrixLike | Sequence[Sequence[str]]
# Checked ones: rows of features, and marks of labels.
Features: TypeAlias = Matrix | sparse.csr_array
Indicator: TypeAlias = NDArray[np.uint8] | sparse.csr_array
# Scores of labels (n, q), in double or single precision.
Scores: TypeAlias = NDArray[np.floating]
# Marks as they are kept: 0 and 1, or of floats with NaN where a label is unknown.
Marks: TypeAlias = NDArray[np.number]
# Names of labels, classes where they have none.
Name: TypeAlias = str | int
RowIndex: TypeAlias = NDArray[np.intp] | NDArray[np.bool_] | slice
# pandas is imported where a table is read.
Frame: TypeAlias = "DataFrame"
Column: TypeAlias = "Series"
Scoring: TypeAlias = str | Callable[..., float]
ClassWeight: TypeAlias = str | Mapping[Any, float] | ArrayLike | None


def is_sparse(X: object) -> TypeGuard[sparse.csr_array]:
    """Return whether a matrix is sparse, so that type checkers know it, too."""
    return bool(sparse.issparse(X))


class Splitter(Protocol):
    """A cross-validator of scikit-learn."""

    def split(
        self, X: MatrixLike, y: LabelsLike | None = None, groups: ArrayLike | None = None
    ) -> Iterable[tuple[NDArray[np.intp], NDArray[np.intp]]]:
        """Return the rows of the training and the test part of each fold."""

    def get_n_splits(self, X: MatrixLike | None = None) -> int:
        """Return the number of folds."""


Folds: TypeAlias = int | Splitter | Iterable[tuple[ArrayLike, ArrayLike]] | None
