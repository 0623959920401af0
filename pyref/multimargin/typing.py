"""Types of arrays, and of what stands for one."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

Matrix: TypeAlias = NDArray[np.float64]
Vector: TypeAlias = NDArray[np.float64]
# A data frame is an ArrayLike.
MatrixLike: TypeAlias = ArrayLike | sparse.sparray | sparse.spmatrix
LabelsLike: TypeAlias = MatrixLike | Sequence[Sequence[str]]
# Checked ones: rows of features, and marks of labels.
Features: TypeAlias = Matrix | sparse.csr_array
Indicator: TypeAlias = NDArray[np.uint8] | sparse.csr_array
Scoring: TypeAlias = str | Callable[..., float]
ClassWeight: TypeAlias = str | Mapping[Any, float] | ArrayLike | None


class Splitter(Protocol):
    """A cross-validator of scikit-learn."""

    def split(
        self, X: MatrixLike, y: LabelsLike | None = None, groups: ArrayLike | None = None
    ) -> Iterable[tuple[NDArray[np.intp], NDArray[np.intp]]]:
        """Return the rows of the training and the test part of each fold."""

    def get_n_splits(self, X: MatrixLike | None = None) -> int:
        """Return the number of folds."""


Folds: TypeAlias = int | Splitter | Iterable[tuple[ArrayLike, ArrayLike]] | None
