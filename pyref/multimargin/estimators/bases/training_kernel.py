"""The kernel of the training rows: its matrix, if it must be whole, and its definiteness."""

from multimargin.kernels import (
    Kernel,
    check_precomputed,
    is_indefinite,
    is_indefinite_on_a_sample,
    nearest_positive_semidefinite,
)
from multimargin.kernels.definiteness import NearestKernel
from multimargin.typing import Features, Matrix


class TrainingKernel:
    """The kernel of the training rows in the form that a solver takes.

    The matrix is stored if it is given, if a function computes it, if the kernel may be indefinite
    and the matrix fits, and if a solver needs it. A kernel that may be indefinite but whose matrix
    does not fit is judged by a sample of the rows.
    """

    def __init__(
        self,
        X: Features,
        kernel: Kernel,
        *,
        cache_size: float,
        threads: int,
        needed: bool = False,
        matrix: Matrix | None = None,
    ) -> None:
        self._X = X
        self._kernel = kernel
        self._nearest: NearestKernel | None = None
        self.matrix = matrix
        if matrix is None and kernel.function is None and kernel.name == "precomputed":
            check_precomputed(X)
            self.matrix = X
        fits = 8.0 * X.shape[0] ** 2 <= 1e6 * cache_size
        if self.matrix is None and (
            kernel.function is not None or needed or (self._doubt and fits)
        ):
            self.matrix = kernel.matrix(X, threads=threads)
            if kernel.function is not None:
                check_precomputed(self.matrix)
        if self._definite:
            self.indefinite = False
        elif self.matrix is not None:
            self.indefinite = is_indefinite(self.matrix)
        else:
            self.indefinite = self._doubt and is_indefinite_on_a_sample(
                kernel, X, most_bytes=int(1e6 * cache_size), threads=threads
            )

    @property
    def _definite(self) -> bool:
        """True if every matrix of the kernel is positive semidefinite."""
        return self._kernel.name == "linear" or self._kernel.of_distances

    @property
    def _doubt(self) -> bool:
        """True if a kernel of that name and these parameters may be indefinite."""
        name = self._kernel.name
        return name == "sigmoid" or (name == "poly" and self._kernel.coef0 < 0.0)

    @property
    def certain(self) -> bool:
        """True if a kernel not found indefinite is known to be positive semidefinite."""
        return self.matrix is not None or not self._doubt

    @property
    def solved_nearest(self) -> bool:
        """True if the nearest positive semidefinite matrix replaces the matrix."""
        return self._nearest is not None

    @property
    def features(self) -> Features:
        """Source of the solver's kernel: the rows, or the stored matrix."""
        return self._X if self.matrix is None else self.matrix

    @property
    def of_features(self) -> Kernel:
        """The kernel of `features`."""
        return self._kernel if self.matrix is None else Kernel("precomputed")

    def make_definite(self) -> None:
        """Replace an indefinite matrix by the nearest positive semidefinite one."""
        if self.matrix is None or self._definite:
            return
        self._nearest = nearest_positive_semidefinite(self.matrix)
        if self._nearest is not None:
            self.matrix = self._nearest.matrix

    def original_expansion(self, coefficients: Matrix) -> Matrix:
        """Return the expansion over the original kernel from that of a solver."""
        if self._nearest is None:
            return coefficients
        return self._nearest.original_expansion(coefficients)
