"""What the estimators with a kernel share: the expansion of the scores over training rows."""

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from multimargin.checks.parameters import thread_count
from multimargin.estimators.shared.label_scoring import LabelScoringClassifier
from multimargin.estimators.shared.problem import Matrix
from multimargin.estimators.shared.products import product
from multimargin.estimators.shared.progress import CallbackSupportMixin
from multimargin.estimators.shared.training_kernel import TrainingKernel
from multimargin.kernels import Kernel, KernelFunction, same_kind


class KernelExpansionClassifier(CallbackSupportMixin, LabelScoringClassifier):  # type: ignore[misc]
    """Base of the estimators whose scores are f(x) = k(x, support_vectors_) dual_coef_ + b.

    An estimator stores its expansion by `_store_expansion` and its bias as `intercept_`.
    """

    kernel: str | KernelFunction
    tol: float
    cache_size: float
    n_jobs: int | None

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self.kernel != "precomputed"
        tags.input_tags.pairwise = self.kernel == "precomputed"
        return tags

    def _input_checks(self) -> dict[str, Any]:
        checks = super()._input_checks()
        if self.kernel == "precomputed":
            checks["accept_sparse"] = False
        return checks

    def _training_kernel(
        self, X: Any, kernel: Kernel, *, needed: bool = False, matrix: Matrix | None = None
    ) -> TrainingKernel:
        return TrainingKernel(
            X,
            kernel,
            cache_size=self.cache_size,
            threads=thread_count(self.n_jobs),
            needed=needed,
            matrix=matrix,
        )

    def _store_expansion(self, X: Any, kernel: Kernel, expansion: Any, weights: Any = None) -> None:
        """Store an expansion over all training rows, whose array is used up.

        For a linear kernel the weights follow from it where they are not given.
        """
        self._kernel = kernel
        if sparse.issparse(expansion):
            self.support_ = np.flatnonzero(np.diff(expansion.indptr))
            self.dual_coef_ = expansion[self.support_]
        else:
            self.support_ = np.flatnonzero(expansion.any(axis=1))
            self.dual_coef_ = _compressed(expansion, self.support_)
        if self.kernel == "precomputed":
            self.support_vectors_ = np.empty((self.support_.size, 0))
        else:
            # A copy, also where every row supports: X may be the caller's.
            self.support_vectors_ = X[self.support_]
        if weights is None and kernel.function is None and kernel.name == "linear":
            weights = product(self.support_vectors_.T, self.dual_coef_)
        if weights is not None:
            self.coef_ = weights.T
        elif hasattr(self, "coef_"):
            del self.coef_

    def _forget_rows(self) -> None:
        """Keep only the weights of a linear model: it needs no training rows to predict."""
        del self.support_, self.dual_coef_, self.support_vectors_

    def _label_scores(self, X: Any) -> Matrix:
        if hasattr(self, "coef_"):
            scores = product(X, self.coef_.T, thread_count(self.n_jobs))
        elif self.kernel == "precomputed":
            scores = product(X[:, self.support_], self.dual_coef_, thread_count(self.n_jobs))
        elif self.support_.size == 0:
            scores = np.zeros((X.shape[0], self.intercept_.size))
        else:
            scores = self._kernel.product(
                same_kind(X, self.support_vectors_),
                self.support_vectors_,
                self.dual_coef_,
                threads=thread_count(self.n_jobs),
            )
        scores += self.intercept_
        labels: Matrix = scores
        return labels

    def _warn_of_inexact_scores(self, *, stacklevel: int) -> None:
        warnings.warn(
            f"{type(self).__name__} returns a model whose own scores differ by rounding from those "
            f"that the solver certified: objective_ is {self.objective_:.6g}, recomputed from its "
            f"own scores, with a relative duality gap of {self.dual_gap_:.3g}, above tol="
            f"{self.tol:g}. The kernel is ill-conditioned: scale the features.",
            ConvergenceWarning,
            stacklevel=stacklevel + 1,
        )

    def _warn_of_indefinite_kernel(self, *, solved_nearest: bool, stacklevel: int) -> None:
        consequence = (
            "the problem was solved with the nearest matrix that is (negative eigenvalues set to "
            "0), and objective_ and dual_gap_ refer to that."
            if solved_nearest
            else "the problem is not convex, the point found is stationary at best, and dual_gap_ "
            "bounds nothing."
        )
        warnings.warn(
            f"The kernel {self.kernel!r} is not positive semidefinite on the training rows: "
            f"{consequence} Expected a positive semidefinite kernel.",
            ConvergenceWarning,
            stacklevel=stacklevel + 1,
        )


def takes_unknown_labels(estimator: Any) -> bool:
    """Return whether an estimator is fitted to labels of which some are NaN.

    The pairwise methods, MLRL and SSMLRL are, also inside of pipelines, searches and other wrappers
    with the parameter `estimator`.
    """
    while not isinstance(estimator, KernelExpansionClassifier):
        if hasattr(estimator, "steps"):
            estimator = estimator.steps[-1][1]
        elif hasattr(estimator, "estimator"):
            estimator = estimator.estimator
        else:
            return False
    return True


def _compressed(matrix: Matrix, rows: NDArray[np.intp]) -> Matrix:
    """Move the given rows (ascending) to the front of the matrix, which a copy would double."""
    for start in range(0, rows.size, 256):
        chunk = rows[start : start + 256]
        matrix[start : start + chunk.size] = matrix[chunk]
    return matrix[: rows.size]
