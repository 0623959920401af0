"""What MLRL and SSMLRL share: one joint solve, a model of the labels and of their covariance."""

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.extmath import safe_sparse_dot
from sklearn.utils.validation import check_is_fitted, validate_data

from multimargin import _rust
from multimargin.estimators.progress import CallbackSupportMixin, Progress
from multimargin.estimators.targets import Targets
from multimargin.kernels import (
    Kernel,
    KernelFunction,
    check_precomputed,
    is_indefinite,
    rust_features,
    same_kind,
)
from multimargin.parameters import check_choice, check_integer, check_real

Matrix = NDArray[np.float64]

SOLVERS = ("splitting", "alternating", "exact")
STOP_RULES = ("gap", "covariance")

# Kernels that need not be positive semidefinite.
_POSSIBLY_INDEFINITE = ("sigmoid", "precomputed")


@dataclass(frozen=True)
class RelationshipFit:
    """What a solver returns for the labels that have both classes.

    Parameters
    ----------
    expansion : ndarray of shape (n, q)
        A with W = phi(X)^T A.
    bias : ndarray of shape (q,)
        Bias b.
    dual : ndarray of shape (n, q)
        Signed dual matrix Z = alpha . Y of the lower bound.
    covariance : ndarray of shape (q, q)
        Label covariance.
    status : str
        Why the solver ended.
    n_iter : int
        Outer rounds made.
    primal, dual_objective, gap : float
        Objectives and relative duality gap.
    history : dict of ndarray
        Columns "epoch", "seconds", "primal" and "dual", one entry an outer round.
    """

    expansion: Matrix
    bias: Matrix
    dual: Matrix
    covariance: Matrix
    status: str
    n_iter: int
    primal: float
    dual_objective: float
    gap: float
    history: dict[str, NDArray[Any]]


class RelationshipClassifier(CallbackSupportMixin, ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Base of MLRL and SSMLRL, which declare their constructor parameters under these names."""

    kernel: str | KernelFunction
    gamma: float | str
    degree: int
    coef0: float
    fixed_covariance: Any
    solver: str
    covariance_ridge: float
    stop: str
    tol: float
    max_outer: int
    cache_size: float
    n_jobs: int | None
    verbose: int

    def _check_parameters(self) -> None:
        check_choice("solver", self.solver, SOLVERS)
        check_choice("stop", self.stop, STOP_RULES)
        ridge = check_real("covariance_ridge", self.covariance_ridge, at_least=0.0)
        if ridge > 1.0:
            raise ValueError(
                f"covariance_ridge is {self.covariance_ridge!r}; expected a number between 0 and 1."
            )
        check_real("tol", self.tol, above=0.0)
        check_integer("max_outer", self.max_outer, at_least=1)
        check_real("cache_size", self.cache_size, at_least=0.0)
        check_integer("verbose", int(self.verbose), at_least=0)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        tags.target_tags.multi_output = True
        tags.input_tags.sparse = self.kernel != "precomputed"
        tags.input_tags.pairwise = self.kernel == "precomputed"
        return tags

    def label_scores(self, X: Any) -> Matrix:
        """Return the scores f(x) of all labels; a label is predicted where its score is positive.

        Parameters
        ----------
        X : array-like, CSR matrix or data frame of shape (n, d)
            Features; for ``kernel="precomputed"`` the kernel with the training rows, (n, n_train).

        Returns
        -------
        ndarray of shape (n, q)
            f_j(x_i) = w_j^T phi(x_i) + b_j.

        Raises
        ------
        NotFittedError
            If the estimator is not fitted.
        ValueError
            If `X` is malformed.
        """
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, **self._input_checks())
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

    def decision_function(self, X: Any) -> Matrix:
        """Return the scores: positive for the labels that are predicted.

        Parameters
        ----------
        X : array-like, CSR matrix or data frame of shape (n, d)
            Features, as in `label_scores`.

        Returns
        -------
        ndarray of shape (n, q), (n, n_classes) or (n,)
            f_j(x_i) for labels and for three or more classes; f_1(x_i) - f_0(x_i) for two classes.

        Raises
        ------
        NotFittedError
            If the estimator is not fitted.
        ValueError
            If `X` is malformed.
        """
        scores = self.label_scores(X)
        if not self.multilabel_ and self.classes_.size == 2:
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
            Label indicator, sign(t) of the paper with 0 for -1, or classes.

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
        doubtful = kernel.name in _POSSIBLY_INDEFINITE and fits
        if kernel.function is not None or doubtful or self.solver == "exact":
            gram = kernel.matrix(X, threads=threads)
            if kernel.function is not None:
                check_precomputed(gram)
            return gram
        return None

    def _fit(
        self, X: Any, targets: Targets, kernel: Kernel, gram: Matrix | None, lam: float
    ) -> RelationshipFit:
        """Solve the problem of labelled rows and store everything but the expansion.

        `gram` is their kernel matrix where it is known, else the kernel of `X` is computed. The
        returned expansion is 0 for labels of one class.
        """
        indicator = targets.indicator
        n, q = indicator.shape
        doubtful = self.kernel not in ("linear", "rbf")
        indefinite = doubtful and gram is not None and is_indefinite(gram)
        relevant = indicator.sum(axis=0, dtype=np.int64)
        learned = np.flatnonzero((relevant > 0) & (relevant < n))
        self._warn_of_constant_labels(targets, relevant)
        covariance = self._checked_covariance(q)

        progress = Progress(self, self.max_outer, self.verbose)
        if learned.size == 0:
            part = _nothing_to_learn(n)
        else:
            part = self._solve(
                X if gram is None else gram,
                np.ascontiguousarray(indicator[:, learned]),
                kernel if gram is None else Kernel("precomputed"),
                None if covariance is None else covariance[np.ix_(learned, learned)],
                lam,
                progress,
            )
        interrupted = part.status == "interrupted" and not progress.stop_requested

        expansion, dual = np.zeros((n, q)), np.zeros((n, q))
        expansion[:, learned], dual[:, learned] = part.expansion, part.dual
        # A label of one class has no weights, and the bias at which its loss vanishes.
        bias = np.where(relevant == 0, -1.0, 1.0)
        bias[learned] = part.bias
        if covariance is None:
            covariance = np.zeros((q, q))
            covariance[np.ix_(learned, learned)] = part.covariance
        self.classes_ = targets.classes
        self.multilabel_ = targets.multilabel
        if targets.label_names is not None:
            self.label_names_in_ = targets.label_names
        elif hasattr(self, "label_names_in_"):
            del self.label_names_in_
        self.label_covariance_ = covariance
        self.label_correlation_ = _correlation(covariance)
        self.intercept_ = bias
        self.n_iter_ = part.n_iter
        self.objective_ = part.primal
        self.dual_objective_ = part.dual_objective
        self.dual_gap_ = part.gap
        self.status_ = "indefinite_kernel" if indefinite else part.status
        self.history_ = part.history
        self.dual_variables_ = dual
        self._kernel = kernel
        progress.finish()
        return RelationshipFit(
            expansion,
            bias,
            dual,
            covariance,
            "interrupted" if interrupted else self.status_,
            part.n_iter,
            part.primal,
            part.dual_objective,
            part.gap,
            part.history,
        )

    def _store_expansion(self, X: Any, expansion: Matrix, rows: NDArray[np.intp]) -> None:
        """Store the expansion, whose rows belong to the rows `rows` of the training features."""
        nonzero = np.flatnonzero(expansion.any(axis=1))
        order = nonzero[np.argsort(rows[nonzero], kind="stable")]
        self.support_ = rows[order]
        self.dual_coef_ = expansion[order]
        if self.kernel == "precomputed":
            self.support_vectors_ = np.empty((self.support_.size, 0))
        else:
            self.support_vectors_ = X[self.support_]
        if self._kernel.function is None and self._kernel.name == "linear":
            weights = safe_sparse_dot(self.support_vectors_.T, self.dual_coef_, dense_output=True)
            self.coef_ = np.ascontiguousarray(weights.T)
        elif hasattr(self, "coef_"):
            del self.coef_

    def _finish(self, fit: RelationshipFit) -> None:
        """Raise and warn as the solver ended."""
        if fit.status == "interrupted":
            raise KeyboardInterrupt
        if fit.status == "indefinite_kernel":
            warnings.warn(
                f"The kernel {self.kernel!r} is not positive semidefinite on the training rows: "
                "the problem is not convex, the point found is stationary at best, and dual_gap_ "
                "bounds nothing. Expected a positive semidefinite kernel.",
                ConvergenceWarning,
                stacklevel=4,
            )
        elif self.status_ not in ("converged", "interrupted"):
            warnings.warn(
                f"{type(self).__name__} ended ({fit.status}) after {fit.n_iter} of max_outer="
                f"{self.max_outer} rounds with a relative duality gap of {fit.gap:.3g}, above what "
                f"tol={self.tol:g} and stop={self.stop!r} ask for. Increase max_outer, tol or the "
                "regularisation, or use solver='splitting'.",
                ConvergenceWarning,
                stacklevel=4,
            )

    def _solve(
        self,
        X: Any,
        indicator: NDArray[np.uint8],
        kernel: Kernel,
        covariance: Matrix | None,
        lam: float,
        progress: Progress,
    ) -> RelationshipFit:
        if self.solver == "exact":
            return _solve_exactly(X, indicator, covariance, lam)
        solution = _rust.solve_mlrl(
            indicator,
            rust_features(X),
            lam=lam,
            kernel_name=kernel.name,
            gamma=kernel.gamma,
            degree=kernel.degree,
            coef0=kernel.coef0,
            solver=self.solver,
            covariance=None if covariance is None else np.ascontiguousarray(covariance),
            ridge=float(self.covariance_ridge),
            stop="gap" if covariance is not None else self.stop,
            tolerance=float(self.tol),
            max_rounds=int(self.max_outer),
            shrinking=True,
            cache_bytes=int(1e6 * self.cache_size),
            threads=effective_n_jobs(self.n_jobs),
            callback=progress.epoch_callback(),
        )
        epoch, seconds, primal, dual = solution.history
        return RelationshipFit(
            expansion=solution.expansion,
            bias=solution.bias,
            dual=solution.dual,
            covariance=solution.covariance,
            status=solution.status,
            n_iter=solution.rounds,
            primal=solution.primal,
            dual_objective=solution.dual_objective,
            gap=solution.gap,
            history={
                "epoch": epoch.astype(int),
                "seconds": seconds,
                "primal": primal,
                "dual": dual,
            },
        )

    def _checked_covariance(self, q: int) -> Matrix | None:
        if self.fixed_covariance is None:
            return None
        covariance = np.array(self.fixed_covariance, dtype=np.float64)
        if covariance.shape != (q, q):
            raise ValueError(
                f"fixed_covariance has shape {covariance.shape}; expected ({q}, {q}), one row and "
                "column a label."
            )
        scale = float(np.abs(covariance).max())
        symmetric = np.isfinite(scale) and np.allclose(
            covariance, covariance.T, rtol=0.0, atol=1e-10 * scale
        )
        if not symmetric or is_indefinite(covariance) or scale == 0.0:
            raise ValueError(
                "fixed_covariance is not a symmetric positive semidefinite matrix other than 0; "
                "expected one, such as the label_covariance_ of a fitted model."
            )
        return covariance

    def _warn_of_constant_labels(self, targets: Targets, relevant: NDArray[np.int64]) -> None:
        constant = np.flatnonzero((relevant == 0) | (relevant == targets.indicator.shape[0]))
        if constant.size == 0:
            return
        names = targets.classes if targets.label_names is None else targets.label_names
        shown = ", ".join(f"{names[label]} ({int(relevant[label] > 0)})" for label in constant)
        warnings.warn(
            f"Y has labels of one class only, which are predicted as that class: {shown}.",
            UserWarning,
            stacklevel=5,
        )


def _nothing_to_learn(n: int) -> RelationshipFit:
    empty = np.zeros(0)
    history = {"epoch": empty.astype(int), "seconds": empty, "primal": empty, "dual": empty}
    none = np.zeros((n, 0))
    return RelationshipFit(
        none, empty, none, np.zeros((0, 0)), "converged", 1, 0.0, 0.0, 0.0, history
    )


def _solve_exactly(
    K: Matrix, indicator: NDArray[np.uint8], covariance: Matrix | None, lam: float
) -> RelationshipFit:
    from multimargin.reference import mlrl

    if sparse.issparse(K):
        raise TypeError("X is a sparse precomputed kernel; expected a dense one.")
    if covariance is None:
        solution = mlrl.joint(K, indicator, lam)
        dual_objective = mlrl.joint_bound(K, solution.Z, lam)
    else:
        solution = mlrl.primal(K, indicator, lam, covariance)
        dual_objective = mlrl.dual_objective(K, solution.Z, lam, covariance)
    primal = solution.objective
    return RelationshipFit(
        expansion=solution.A,
        bias=solution.b,
        dual=solution.Z,
        covariance=solution.Omega,
        status="converged",
        n_iter=1,
        primal=primal,
        dual_objective=dual_objective,
        gap=(primal - dual_objective) / primal,
        history={
            "epoch": np.ones(1, dtype=int),
            "seconds": np.full(1, np.nan),
            "primal": np.array([primal]),
            "dual": np.array([dual_objective]),
        },
    )


def _correlation(covariance: Matrix) -> Matrix:
    """Return Omega_jk / sqrt(Omega_jj Omega_kk); a label without variance correlates with none."""
    deviation = np.sqrt(np.maximum(np.diagonal(covariance), 0.0))
    scale = np.where(deviation > 0.0, deviation, np.inf)
    correlation: Matrix = covariance / scale[:, None] / scale[None, :]
    np.fill_diagonal(correlation, 1.0)
    return np.clip(correlation, -1.0, 1.0)
