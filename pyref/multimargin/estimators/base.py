"""What the pairwise estimators share: data in, one solver call, a threshold, attributes."""

import warnings
from typing import Any, ClassVar, Self

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_consistent_length, check_random_state
from sklearn.utils.extmath import safe_sparse_dot
from sklearn.utils.validation import check_is_fitted, validate_data

from multimargin.estimators.engine import solve
from multimargin.estimators.exact import solve_exactly
from multimargin.estimators.problem import Fit, Matrix, Model, Problem
from multimargin.estimators.progress import CallbackSupportMixin, Progress, with_callbacks
from multimargin.estimators.targets import Targets, check_pairs, check_targets
from multimargin.kernels import (
    Kernel,
    KernelFunction,
    check_precomputed,
    is_indefinite,
    make_kernel,
    same_kind,
)
from multimargin.parameters import check_choice, check_integer, check_real
from multimargin.thresholds import (
    ConstantThreshold,
    FeaturesThreshold,
    Threshold,
    make_threshold,
    over_labels,
)

# Kernels that need not be positive semidefinite.
_POSSIBLY_INDEFINITE = ("sigmoid", "precomputed")


class PairwiseClassifier(CallbackSupportMixin, ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Base of the estimators of the pairwise family.

    A method derives from it and names its `Model`, which the engine solves. A method with further
    parameters, or with other defaults, repeats the signature of the constructor, as scikit-learn
    asks for, and hands it on; one whose problem takes more than the engine overrides `_solve`.
    """

    _solvers: ClassVar[tuple[str, ...]] = ("bcd", "dcd", "exact")

    C: float
    kernel: str | KernelFunction
    gamma: float | str
    degree: int
    coef0: float
    solver: str
    threshold: str | float | Threshold
    tol: float
    max_iter: int
    cache_size: float
    n_jobs: int | None
    random_state: int | np.random.RandomState | None
    verbose: int
    warm_start: bool

    def __init__(
        self,
        C: float = 1.0,
        kernel: str | KernelFunction = "rbf",
        gamma: float | str = "scale",
        degree: int = 3,
        coef0: float = 0.0,
        solver: str = "bcd",
        threshold: str | float | Threshold = "scores",
        tol: float = 1e-3,
        max_iter: int = 1000,
        cache_size: float = 1000,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: int = 0,
        warm_start: bool = False,
    ) -> None:
        self._keep(locals())

    def _keep(self, arguments: dict[str, Any]) -> None:
        """Keep the arguments of a constructor as attributes of the same names."""
        for name in arguments.keys() - {"self"}:
            setattr(self, name, arguments[name])

    def _model(self) -> Model:
        raise NotImplementedError

    def _solve(self, problem: Problem) -> Fit:
        if self.solver == "exact":
            return solve_exactly(problem, self._model())
        return solve(problem, self._model(), self.solver)

    def _check_parameters(self) -> None:
        check_real("C", self.C, above=0.0)
        check_real("tol", self.tol, above=0.0)
        check_integer("max_iter", self.max_iter, at_least=1)
        check_real("cache_size", self.cache_size, at_least=0.0)
        verbose = int(self.verbose) if isinstance(self.verbose, bool) else self.verbose
        check_integer("verbose", verbose, at_least=0)
        check_choice("solver", self.solver, self._solvers)
        threshold = make_threshold(self.threshold)
        if isinstance(threshold, FeaturesThreshold) and self.kernel == "precomputed":
            raise ValueError(
                "threshold is 'features', but kernel='precomputed' shows no features; expected "
                "'scores', 'labels', 'count' or a number."
            )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        tags.target_tags.multi_output = True
        tags.input_tags.sparse = self.kernel != "precomputed"
        tags.input_tags.pairwise = self.kernel == "precomputed"
        return tags

    @with_callbacks  # type: ignore[untyped-decorator]
    def fit(self, X: Any, Y: Any) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : array-like, CSR matrix or data frame of shape (n, d)
            Features; the kernel matrix of shape (n, n) for ``kernel="precomputed"``.
        Y : array-like, sparse matrix or data frame of shape (n, q), or array-like of shape (n,)
            Label indicator of 0 and 1, or one class a row, which is one-hot encoded and predicted
            by the largest score. Columns of a data frame become `label_names_in_`.

        Returns
        -------
        estimator
            The fitted estimator itself.

        Raises
        ------
        TypeError, ValueError
            If a parameter or an array is malformed; the message names it, what was found and what
            is expected.
        KeyboardInterrupt
            If interrupted. The state reached is stored in the fitted attributes first; with
            ``warm_start=True`` the next fit goes on from there.

        Warns
        -----
        ConvergenceWarning
            If the solver ends above `tol`, or if the kernel is not positive semidefinite.
        """
        self._check_parameters()
        if Y is None:
            validate_data(self, X, Y)
        X = validate_data(self, X, **self._input_checks())
        targets = check_targets(Y)
        check_consistent_length(X, targets.indicator)
        check_pairs(targets.indicator)
        kernel = make_kernel(self.kernel, X, gamma=self.gamma, degree=self.degree, coef0=self.coef0)
        threads = effective_n_jobs(self.n_jobs)
        gram = self._gram(X, kernel, threads)
        indefinite = gram is not None and is_indefinite(gram)

        start = self._start(X.shape[0], targets) if self.warm_start else None
        progress = Progress(self, self.max_iter, self.verbose)
        problem = Problem(
            X=X if gram is None else gram,
            features=X,
            indicator=targets.indicator,
            kernel=kernel if gram is None else Kernel("precomputed"),
            C=float(self.C),
            tol=float(self.tol),
            max_iter=int(self.max_iter),
            cache_bytes=int(1e6 * self.cache_size),
            start=start,
            start_bias=None if start is None else self.intercept_,
            seed=int(check_random_state(self.random_state).randint(2**31 - 1)),
            threads=threads,
            callback=progress.epoch_callback(),
        )
        fit = self._solve(problem)
        interrupted = fit.status == "interrupted" and not progress.stop_requested
        self._store(X, targets, kernel, fit)
        self._fit_threshold(X, targets, fit, interrupted)
        progress.finish()
        if interrupted:
            raise KeyboardInterrupt
        if indefinite or fit.status == "indefinite_kernel":
            self.status_ = "indefinite_kernel"
            warnings.warn(
                f"The kernel {self.kernel!r} is not positive semidefinite on the training rows: "
                "the problem is not convex, the point found is stationary at best, and dual_gap_ "
                "bounds nothing. Expected a positive semidefinite kernel.",
                ConvergenceWarning,
                stacklevel=3,
            )
        elif fit.status not in ("converged", "interrupted"):
            warnings.warn(
                f"{type(self).__name__} ended ({fit.status}) after {fit.n_iter} of max_iter="
                f"{self.max_iter} epochs with a relative duality gap of {fit.gap:.3g}, above tol="
                f"{self.tol:g}. Increase max_iter or tol, decrease C, or scale the features.",
                ConvergenceWarning,
                stacklevel=3,
            )
        return self

    def label_scores(self, X: Any) -> Matrix:
        """Return the scores f(x) of all labels, before the threshold.

        Parameters
        ----------
        X : array-like, CSR matrix or data frame of shape (n, d)
            Features; for ``kernel="precomputed"`` the kernel with the training rows, (n, n_train).

        Returns
        -------
        ndarray of shape (n, q)
            f_k(x_i), relevant labels ranked first.

        Raises
        ------
        NotFittedError
            If the estimator is not fitted.
        ValueError
            If `X` is malformed.
        """
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, **self._input_checks())
        return self._label_scores(X)

    def decision_function(self, X: Any) -> Matrix:
        """Return the scores minus the threshold: positive for the labels that are predicted.

        Parameters
        ----------
        X : array-like, CSR matrix or data frame of shape (n, d)
            Features, as in `label_scores`.

        Returns
        -------
        ndarray of shape (n, q), (n, n_classes) or (n,)
            f_k(x_i) - t(x_i) for labels; f_k(x_i) for three or more classes;
            f_1(x_i) - f_0(x_i) for two classes. A threshold of its own for each label changes the
            ranking of the labels here; `label_scores` keeps it.

        Raises
        ------
        NotFittedError
            If the estimator is not fitted.
        ValueError
            If `X` is malformed.
        """
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, **self._input_checks())
        scores = self._label_scores(X)
        if self.multilabel_:
            scores -= over_labels(self.threshold_.predict(scores, X))
        elif self.classes_.size == 2:
            return np.ascontiguousarray(scores[:, 1] - scores[:, 0])
        return scores

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict the relevant labels, or the class.

        Parameters
        ----------
        X : array-like, CSR matrix or data frame of shape (n, d)
            Features, as in `label_scores`.

        Returns
        -------
        ndarray of shape (n, q) or (n,)
            Label indicator (1 where the decision function is positive), or classes.

        Raises
        ------
        NotFittedError
            If the estimator is not fitted.
        ValueError
            If `X` is malformed.
        """
        decision = self.decision_function(X)
        if self.multilabel_:
            return (decision > 0).astype(int)
        winners = (decision > 0).astype(int) if decision.ndim == 1 else decision.argmax(axis=1)
        predicted: NDArray[Any] = self.classes_[winners]
        return predicted

    def _input_checks(self) -> dict[str, Any]:
        return {
            "accept_sparse": False if self.kernel == "precomputed" else "csr",
            "dtype": np.float64,
            "order": "C",
        }

    def _gram(self, X: Any, kernel: Kernel, threads: int) -> Matrix | None:
        """Return the kernel matrix where it must be seen whole: given, a function, or doubtful."""
        if kernel.function is None and kernel.name == "precomputed":
            check_precomputed(X)
            gram: Matrix = X
            return gram
        fits = 8.0 * X.shape[0] ** 2 <= 1e6 * self.cache_size
        if kernel.function is not None or (kernel.name in _POSSIBLY_INDEFINITE and fits):
            gram = kernel.matrix(X, threads=threads)
            if kernel.function is not None:
                check_precomputed(gram)
            return gram
        return None

    def _start(self, n: int, targets: Targets) -> Matrix | None:
        """Return the previous dual matrix, feasible for the present C, when it fits the data."""
        dual = getattr(self, "dual_coef_", None)
        shape = (n, targets.indicator.shape[1])
        if dual is None or getattr(self, "_fit_shape", None) != shape:
            return None
        start = np.zeros(shape)
        start[self.support_] = dual * self._start_scale()
        return start

    def _start_scale(self) -> float:
        # A larger C only loosens the constraints: the rows that keep their margin keep their duals.
        return min(1.0, self.C / self._fit_C)

    def _store(self, X: Any, targets: Targets, kernel: Kernel, fit: Fit) -> None:
        self.classes_ = targets.classes
        self.multilabel_ = targets.multilabel
        if targets.label_names is not None:
            self.label_names_in_ = targets.label_names
        elif hasattr(self, "label_names_in_"):
            del self.label_names_in_
        expansion = fit.dual if fit.expansion is None else fit.expansion
        self.support_ = np.flatnonzero(expansion.any(axis=1))
        whole = self.support_.size == expansion.shape[0]
        self.dual_coef_ = expansion if whole else _compressed(expansion, self.support_)
        if self.kernel == "precomputed":
            self.support_vectors_ = np.empty((self.support_.size, 0))
        else:
            self.support_vectors_ = X if whole else X[self.support_]
        if fit.weights is not None:
            self.coef_ = fit.weights.T
        elif hasattr(self, "coef_"):
            del self.coef_
        self.intercept_ = fit.bias
        self.n_iter_ = fit.n_iter
        self.objective_ = fit.primal
        self.dual_objective_ = fit.dual_objective
        self.dual_gap_ = fit.gap
        self.status_ = fit.status
        self.history_ = fit.history
        self._kernel = kernel
        self._fit_shape = fit.dual.shape
        self._fit_C = self.C

    def _fit_threshold(self, X: Any, targets: Targets, fit: Fit, interrupted: bool) -> None:
        if not targets.multilabel or interrupted:
            # Whoever interrupts wants an answer now, and learning a threshold takes its time.
            self.threshold_ = ConstantThreshold(0.0).fit(fit.scores, targets.indicator)
            return
        threshold = make_threshold(self.threshold, random_state=self.random_state)
        scores = fit.scores
        scores += fit.bias
        unit = self._threshold_unit(fit)
        if unit <= 0.0:
            unit = 1.0
        scores /= unit
        self.threshold_ = threshold.fit(scores, targets.indicator, X).rescale(unit)

    def _threshold_unit(self, fit: Fit) -> float:
        """Return the scale of the scores: a threshold is learned where their margins are near 1."""
        return 1.0

    def _label_scores(self, X: Any) -> Matrix:
        if hasattr(self, "coef_"):
            scores = safe_sparse_dot(X, self.coef_.T, dense_output=True)
        elif self.kernel == "precomputed":
            scores = X[:, self.support_] @ self.dual_coef_
        elif self.support_.size == 0:
            scores = np.zeros((X.shape[0], self.intercept_.size))
        else:
            scores = self._kernel.product(
                same_kind(X, self.support_vectors_),
                self.support_vectors_,
                self.dual_coef_,
                threads=effective_n_jobs(self.n_jobs),
            )
        scores += self.intercept_
        labels: Matrix = scores
        return labels


def _compressed(matrix: Matrix, rows: NDArray[np.intp]) -> Matrix:
    """Move the given rows (ascending) to the front of the matrix, which a copy would double."""
    for start in range(0, rows.size, 256):
        chunk = rows[start : start + 256]
        matrix[start : start + chunk.size] = matrix[chunk]
    return matrix[: rows.size]
