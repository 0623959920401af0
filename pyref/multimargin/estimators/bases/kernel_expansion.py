"""Base of the estimators with a kernel: the expansion of the scores over training rows."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import validate_data

from multimargin.checks.arrays import check_as_many_rows, warn_of_other_order
from multimargin.checks.parameters import (
    check_cache_size,
    check_choice,
    check_integer,
    check_real,
    check_verbosity,
    thread_count,
)
from multimargin.checks.weights import check_sample_weight, rows_that_count
from multimargin.estimators.bases.label_scoring import LabelScoringClassifier
from multimargin.estimators.bases.training_kernel import TrainingKernel
from multimargin.estimators.fitting.products import product
from multimargin.estimators.fitting.progress import CallbackSupportMixin
from multimargin.estimators.fitting.report import Report
from multimargin.estimators.fitting.time_limit import (
    check_max_time,
    deadline_of,
    time_limit_message,
)
from multimargin.features.occurring import LinearWeights, occurring_columns, of_columns
from multimargin.features.scales import told_scales
from multimargin.kernels import KERNELS, Kernel, KernelFunction, make_kernel, same_kind
from multimargin.notices import warn
from multimargin.targets.reading import Targets, read_targets
from multimargin.typing import Features, LabelsLike, Matrix, MatrixLike


@dataclass(frozen=True)
class TrainingData:
    """Checked input of a fit, without the rows of weight 0."""

    X: Any  # (n, d): Features, or the kernel matrix
    targets: Targets  # Labels of the labelled rows
    labelled: NDArray[np.bool_]  # (n,): Which rows these are
    weights: Matrix | None  # (n,): Weight of each row; None is 1
    kernel: Kernel
    deadline: float | None  # When the fit has to end, by `time.monotonic`
    given: NDArray[np.bool_]  # (n_given,): Which of the rows that were given are labelled
    rows: NDArray[np.intp] | None  # (n,): Numbers of the rows among those, if some have weight 0

    def of_given(self, values: Matrix) -> Matrix:
        """Return values (n, q) as those of all given rows, 0 for those of weight 0."""
        if self.rows is None:
            return values
        found = np.zeros((self.given.size, *values.shape[1:]))
        found[self.rows] = values
        return found


@dataclass(repr=False, eq=False)
class KernelExpansionClassifier(CallbackSupportMixin, LinearWeights, LabelScoringClassifier):  # type: ignore[misc]
    """Base of the estimators whose scores are f(x) = k(x, support_vectors_) dual_coef_ + b."""

    _solvers: ClassVar[tuple[str, ...]]

    _: KW_ONLY
    kernel: str | KernelFunction = "rbf"
    gamma: float | str = "scale"
    degree: int = 3
    coef0: float = 0.0
    solver: str
    tol: float = 1e-3
    max_iter: int = 1000
    cache_size: float = 1000
    n_jobs: int | None = None
    verbose: int = 0
    max_time: float | None = None

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

    def _check_parameters(self) -> None:
        check_real("tol", self.tol, above=0.0)
        check_integer("max_iter", self.max_iter, at_least=1)
        check_max_time(self.max_time)
        check_cache_size(self.cache_size)
        check_verbosity(self.verbose)
        if not callable(self.kernel):
            check_choice("kernel", self.kernel, KERNELS)
        check_choice("solver", self.solver, self._solvers)

    def _read_targets(self, y: LabelsLike) -> tuple[Targets, NDArray[np.bool_]]:
        """Return the targets of the labelled rows, and which rows those are."""
        targets = read_targets(y, unknown="warn", keep_sparse=self._keeps_sparse_labels())
        return targets, np.ones(targets.indicator.shape[0], dtype=bool)

    def _keeps_sparse_labels(self) -> bool:
        """Return whether the fit takes a sparse label indicator as it is."""
        return False

    def _check_labels(self, indicator: NDArray[np.uint8]) -> None:
        """Raise ValueError unless the labels of the rows with positive weight can be learned."""

    def _training_data(
        self, X: MatrixLike, y: Any, sample_weight: ArrayLike | None
    ) -> TrainingData:
        """Check parameters and data of a fit, and start its clock."""
        self._check_parameters()
        deadline = deadline_of(self.max_time)
        if y is None:
            validate_data(self, X, y)
        warn_of_other_order(X, y=y, sample_weight=sample_weight)
        X = self._checked_features(X, reset=True)
        targets, labelled = self._read_targets(y)
        check_as_many_rows(labelled, X)
        weights, given = check_sample_weight(sample_weight, X.shape[0]), labelled
        rows = rows_that_count(weights)
        if rows is not None:
            assert weights is not None
            targets = targets.rows(np.flatnonzero(weights[labelled]))
            X, labelled, weights = X[rows], labelled[rows], weights[rows]
            if self.kernel == "precomputed":
                X = np.ascontiguousarray(X[:, rows])
        self._check_labels(targets.indicator)
        kernel = make_kernel(
            self.kernel,
            X,
            gamma=self.gamma,
            degree=self.degree,
            coef0=self.coef0,
            sample_weight=weights,
        )
        return TrainingData(X, targets, labelled, weights, kernel, deadline, given, rows)

    @contextmanager
    def _numbered(self, data: TrainingData) -> Iterator[None]:
        """Give the rows of a fit their numbers among those that were given, when it has ended."""
        before = vars(self).get("support_")
        try:
            yield
        finally:
            stored = vars(self).get("support_", before) is not before
            if stored and data.rows is not None:
                self._number_rows(data)

    def _number_rows(self, data: TrainingData) -> None:
        assert data.rows is not None
        self.support_ = data.rows[vars(self)["support_"]]

    def _training_kernel(
        self, X: Features, kernel: Kernel, *, needed: bool = False, matrix: Matrix | None = None
    ) -> TrainingKernel:
        return TrainingKernel(
            X,
            kernel,
            cache_size=self.cache_size,
            threads=thread_count(self.n_jobs),
            needed=needed,
            matrix=matrix,
        )

    def _store_expansion(
        self,
        X: Features,
        kernel: Kernel,
        expansion: Any,
        weights: Any = None,
        columns: NDArray[np.intp] | None = None,
        *,
        with_rows: bool = True,
    ) -> None:
        """Store an expansion over all training rows, which may be overwritten, and its weights.

        These are of the given columns, all if None. Without the rows only weights can predict.
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
        elif with_rows:
            # Copied even if every row is a support vector: X may belong to the caller.
            self.support_vectors_ = X[self.support_]
        if weights is None and kernel.function is None and kernel.name == "linear":
            columns = occurring_columns(X)
            weights = product(of_columns(self.support_vectors_, columns).T, self.dual_coef_)
        self._weights, self._columns = weights, columns

    def _forget_rows(self) -> None:
        """Keep only the weights of a linear model, which predicts without training rows."""
        del self.support_, self.dual_coef_
        if hasattr(self, "support_vectors_"):
            del self.support_vectors_

    def _label_scores(self, X: Features) -> Matrix:
        if self._weights is not None:
            own = of_columns(X, self._columns)
            scores = product(own, self._weights, thread_count(self.n_jobs))
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
        found: Matrix = scores
        overflows = np.flatnonzero(~np.isfinite(found).all(axis=1))
        if overflows.size:
            raise ValueError(
                f"X has numbers in row {overflows[0]} that are so large that scores overflow; "
                "expected numbers like those of the fit."
            )
        return found

    def _warn_of_the_end(
        self, fit: Report, rounds: str, advice: str, *, X: Features = None, nearest: bool = False
    ) -> None:
        """Warn of the end of a solver, with the scales of the features `X`.

        `nearest` is whether it solved the nearest kernel.
        """
        name, told = type(self).__name__, f"{fit.n_iter} of max_iter={self.max_iter} {rounds}"
        if fit.status in ("converged", "interrupted"):
            return
        if fit.status == "indefinite_kernel":
            consequence = (
                "the problem was solved with the nearest matrix that is (negative eigenvalues set "
                "to 0), and objective_ and dual_gap_ refer to that."
                if nearest
                else "the problem is not convex, the point found is stationary at best, and "
                "dual_gap_ bounds nothing."
            )
            message = (
                f"The kernel {self.kernel!r} is not positive semidefinite on the training rows: "
                f"{consequence} Expected a positive semidefinite kernel."
            )
        elif fit.status == "inexact":
            message = (
                f"{name} returns a model whose own scores differ by rounding from those that the "
                f"solver certified: objective_ is {self.objective_:.6g}, recomputed from its own "
                f"scores, with a relative duality gap of {self.dual_gap_:.3g}, above tol="
                f"{self.tol:g}. The kernel is ill-conditioned: scale the features."
                f"{self._told_scales(X)}"
            )
        elif fit.status == "time_limit":
            message = time_limit_message(self, told, fit.gap)
        else:
            message = (
                f"{name} ended ({fit.status}) after {told} with a relative duality gap of "
                f"{fit.gap:.3g}, above tol={self.tol:g}. {advice}{self._told_scales(X)}"
            )
        warn(message, ConvergenceWarning)

    def _told_scales(self, X: Features) -> str:
        if X is None or self.kernel == "precomputed":
            return ""
        return told_scales(X, getattr(self, "feature_names_in_", None))


def _compressed(matrix: Matrix, rows: NDArray[np.intp]) -> Matrix:
    """Move the given rows (ascending) to the front of the matrix, without a second copy of it."""
    for start in range(0, rows.size, 256):
        chunk = rows[start : start + 256]
        matrix[start : start + chunk.size] = matrix[chunk]
    return matrix[: rows.size]
