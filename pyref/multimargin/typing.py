"""Types of arrays, and of what stands for one."""

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

Matrix: TypeAlias = NDArray[np.float64]
Vector: TypeAlias = NDArray[np.float64]
# A data frame is an ArrayLike.
MatrixLike: TypeAlias = ArrayLike | sparse.sparray | sparse.spmatrix
LabelsLike: TypeAlias = MatrixLike | Sequence[Sequence[str]]
