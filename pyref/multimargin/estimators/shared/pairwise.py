"""What the pairwise estimators share: data in, one solver call, a threshold, attributes."""

import warnings
from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import validate_data

from multimargin.checks.arrays import check_as_many_rows
from multimargin.checks.labels import with_nan
from multimargin.checks.parameters import (
    check_cache_size,
    check_choice,
    check_flag,
    check_integer,
    check_real,
    check_verbosity,
    random_state_of,
    thread_count,
)
from multimargin.checks.targets import Targets, check_pairs, check_targets, warn_of_unknown
from multimargin.checks.weights import check_sample_weight
from multimargin.estimators.shared.certificate import (
    Bounds,
    Rows,
    pairwise_loss,
    with_own_certificate,
)
from multimargin.estimators.shared.engine import solve
from multimargin.estimators.shared.exact import solve_exactly
from multimargin.estimators.shared.kernel_expansion import KernelExpansionClassifier
from multimargin.estimators.shared.label_weights import check_class_weight, weights_of_labels
from multimargin.estimators.shared.pair_weights import (
    PAIR_WEIGHTS,
    check_top_k,
    number_at_the_top,
    weights_of_pairs,
)
from multimargin.estimators.shared.problem import Fit, Matrix, Model, Problem
from multimargin.estimators.shared.progress import Progress, with_callbacks
from multimargin.estimators.shared.time_limit import (
    check_max_time,
    deadline_of,
    time_limit_message,
)
from multimargin.estimators.shared.training_kernel import TrainingKernel
from multimargin.kernels import (
    KERNELS,
    Kernel,
    KernelFunction,
    make_kernel,
)
from multimargin.thresholds import (
    ConstantThreshold,
    FeaturesThreshold,
    Threshold,
    make_threshold,
)

_SOLVERS_OF_TOP_K = ("bcd", "exact")


class PairwiseClassifier(KernelExpansionClassifier):
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
    # Whether the method takes its dual matrix and weights as CSR where these are large.
    _compact: ClassVar[bool] = False
    # Of methods that weigh their pairs in one way.
    pair_weights: str = "balanced"
    class_weight: Any = None
    # Of methods whose loss falls in the margin.
    top_k: int | float | None = None
    max_time: float | None
    # Whether a fit warns of NaN in y.
    _warns_of_unknown: bool = True
    _fit_top: int | None
    # The shape of the dual matrix that a warm start may take up, if any.
    _fit_shape: tuple[int, ...] | None

    def __init__(
        self,
        C: float = 10.0,
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
        pair_weights: str = "balanced",
        class_weight: Any = None,
        top_k: int | float | None = None,
        max_time: float | None = None,
    ) -> None:
        self._keep(locals())

    def _model(self) -> Model:
        raise NotImplementedError

    def _solve(self, problem: Problem) -> Fit:
        if self.solver == "exact":
            return solve_exactly(problem, self._model())
        return solve(problem, self._model(), self.solver)

    def _of_engine(self, fit: Fit, pairs: float) -> Fit:
        """Return a method's own solution from the engine's; `pairs` sums the pairs' variables."""
        return fit

    def _gap(self, fit: Fit, pairs: float) -> float:
        """Return the relative duality gap of a method's own solution from the engine's."""
        return fit.gap

    def _check_parameters(self) -> None:
        check_real("C", self.C, above=0.0, at_least=1e-150, at_most=1e150)
        check_real("tol", self.tol, above=0.0)
        check_integer("max_iter", self.max_iter, at_least=1)
        check_max_time(self.max_time)
        check_cache_size(self.cache_size)
        check_verbosity(self.verbose)
        check_flag("warm_start", self.warm_start)
        random_state_of(self.random_state)
        if not callable(self.kernel):
            check_choice("kernel", self.kernel, KERNELS)
        check_choice("solver", self.solver, self._solvers)
        check_choice("pair_weights", self.pair_weights, PAIR_WEIGHTS)
        check_class_weight(self.class_weight)
        check_top_k(self.top_k)
        if self.top_k is not None and self.solver not in _SOLVERS_OF_TOP_K:
            raise ValueError(
                f"top_k is {self.top_k!r}; expected None with solver={self.solver!r}: only 'bcd' "
                "and 'exact' rank against the highest irrelevant labels alone."
            )
        self._check_threshold()

    def _check_threshold(self) -> None:
        threshold = make_threshold(self.threshold)
        if isinstance(threshold, FeaturesThreshold) and self.kernel == "precomputed":
            raise ValueError(
                "threshold is 'features', but kernel='precomputed' shows no features; expected "
                "'scores', 'labels', 'count' or a number."
            )

    def _check_pairs(self, indicator: NDArray[np.uint8]) -> None:
        check_pairs(indicator)

    @with_callbacks  # type: ignore[untyped-decorator]
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : array-like, CSR matrix or data frame of shape (n, d)
            Features; the kernel matrix of shape (n, n) for ``kernel="precomputed"``.
        y : array-like, sparse matrix or data frame of shape (n, q), lists of label names, or \
                array-like of shape (n,)
            Label indicator of 0 and 1; the names of the labels of each row; or one class a row,
            which is one-hot encoded and predicted by the largest score. Names, and columns of a
            data frame, become `label_names_in_`. NaN in an indicator stands for an unknown label:
            pairs with it are left out.
        sample_weight : array-like of shape (n,), default=None
            How often each row counts, not negative: a row of weight 2 is a row that is there twice.
            None counts each row once.

        Raises
        ------
        KeyboardInterrupt
            If interrupted. The state reached is stored in the fitted attributes first; with
            ``warm_start=True`` the next fit goes on from there.

        Warns
        -----
        ConvergenceWarning
            If the solver ends above `tol`, or if the kernel is not positive semidefinite.
        """
        self._check_parameters()
        deadline = deadline_of(self.max_time)
        if y is None:
            validate_data(self, X, y)
        X = self._checked_features(X, reset=True)
        targets = check_targets(y, unknown=True)
        if self._warns_of_unknown:
            warn_of_unknown(targets)
        check_as_many_rows(targets.indicator, X)
        weights = check_sample_weight(sample_weight, X.shape[0])
        self._check_pairs(targets.indicator if weights is None else targets.indicator[weights > 0])
        kernel = make_kernel(
            self.kernel,
            X,
            gamma=self.gamma,
            degree=self.degree,
            coef0=self.coef0,
            sample_weight=weights,
        )
        exact = self.solver == "exact"
        training = self._training_kernel(
            X, kernel, needed=exact and kernel.name not in ("linear", "rbf")
        )
        if exact or (training.indefinite and self._needs_definite_kernel()):
            training.make_definite()

        progress = Progress(self, self.max_iter, self.verbose)
        problem = self._problem(X, targets, weights, training, progress)
        problem = replace(problem, deadline=deadline)
        with progress.interrupts.held():
            if exact:
                with progress.interrupts.allowed():
                    fit = self._solve(problem)
            else:
                fit = progress.interrupts.reached_by(self._solve, problem)
            interrupted = fit.status == "interrupted" and not progress.stop_requested
            if interrupted and fit.n_iter == 0:
                # Nothing was reached yet: a model fitted before stays as it is.
                raise KeyboardInterrupt
            if training.solved_nearest:
                expansion = fit.dual if fit.expansion is None else fit.expansion
                fit = replace(fit, expansion=training.expansion(expansion))
            self._store(X, targets, kernel, fit)
            self.class_weight_ = _all_label_weights(problem)
            fit = replace(fit, status=_status(fit, training))
            fit = self._certified(problem, fit)
            self._store_report(fit)
            if training.solved_nearest:
                # The expansion is no dual matrix to start from.
                self._fit_shape = None
            try:
                with progress.interrupts.allowed():
                    self._fit_threshold(problem, targets, fit, interrupted)
            except KeyboardInterrupt:
                # The model has its certificate and is kept, as when the loop is interrupted.
                interrupted, self.status_ = True, "interrupted"
                self._fit_threshold(problem, targets, fit, interrupted)
            if hasattr(self, "coef_") and not self.warm_start:
                self._forget_rows()
        progress.finish()
        if interrupted:
            raise KeyboardInterrupt
        self._warn_of_the_end(fit, training)
        return self

    def _problem(
        self,
        X: Any,
        targets: Targets,
        sample_weight: Matrix | None,
        training: TrainingKernel,
        progress: Progress,
    ) -> Problem:
        pair_weights = self._pair_weights(targets.indicator, sample_weight)
        label_weights = weights_of_labels(self.class_weight, targets, sample_weight)
        top = number_at_the_top(self.top_k, targets.indicator.shape[1])
        start = self._start(targets, pair_weights) if self.warm_start else None
        if start is not None:
            start *= _shrunk(targets.indicator, self.class_weight_, label_weights)
            start *= _shrunk_at_the_top(targets.indicator, self._fit_top, top)
        # The engine computes balanced ones itself.
        balanced = self.pair_weights == "balanced" and sample_weight is None and top is None
        return Problem(
            X=training.features,
            features=X,
            indicator=targets.indicator,
            kernel=training.of_features,
            C=float(self.C),
            tol=float(self.tol),
            max_iter=int(self.max_iter),
            cache_bytes=int(1e6 * self.cache_size),
            start=start,
            start_bias=None if start is None else self.intercept_,
            seed=int(random_state_of(self.random_state).randint(2**31 - 1)),
            threads=thread_count(self.n_jobs),
            callback=progress.epoch_callback(),
            pair_weights=None if balanced else pair_weights,
            sample_weight=sample_weight,
            label_weights=label_weights,
            top=top,
            compact=self._compact and not self.warm_start,
        )

    def _pair_weights(
        self, indicator: NDArray[np.uint8], sample_weight: Matrix | None = None
    ) -> Matrix:
        """Return the weight of each pair of a row, by row."""
        top = number_at_the_top(self.top_k, indicator.shape[1])
        return weights_of_pairs(indicator, self.C, self.pair_weights, sample_weight, top)

    def _warn_of_the_end(self, fit: Fit, training: TrainingKernel) -> None:
        if training.indefinite or fit.status == "indefinite_kernel":
            self.status_ = "indefinite_kernel"
            self._warn_of_indefinite_kernel(solved_nearest=training.solved_nearest, stacklevel=4)
        elif fit.status == "inexact":
            self._warn_of_inexact_scores(stacklevel=4)
        elif fit.status == "time_limit":
            message = time_limit_message(
                self, f"{fit.n_iter} of max_iter={self.max_iter} epochs", fit.gap
            )
            warnings.warn(message, ConvergenceWarning, stacklevel=4)
        elif fit.status not in ("converged", "interrupted"):
            warnings.warn(
                f"{type(self).__name__} ended ({fit.status}) after {fit.n_iter} of max_iter="
                f"{self.max_iter} epochs with a relative duality gap of {fit.gap:.3g}, above tol="
                f"{self.tol:g}. Increase max_iter or tol, decrease C, or scale the features.",
                ConvergenceWarning,
                stacklevel=4,
            )

    def _needs_definite_kernel(self) -> bool:
        # Only the dual variables of a hinge are bounded: the other losses have no dual solution.
        return self._model().loss not in ("hinge", "zero_label_hinge")

    def _certified(self, problem: Problem, fit: Fit) -> Fit:
        """Return the fit with the certificate of the model that is stored."""
        X, indicator, said = problem.features, problem.indicator, fit.scores
        if said is None:
            return fit
        weights = self._pair_weights(indicator, problem.sample_weight)

        def bounds(rows: Rows) -> Bounds:
            own = self._label_scores(X[rows])
            if rows.size == X.shape[0]:
                return self._own_bounds(indicator, weights, own, fit)
            of_rows = indicator[rows], weights[rows]
            change = self._margin_loss(*of_rows, own)
            change -= self._margin_loss(*of_rows, said[rows] + fit.bias)
            change *= X.shape[0] / rows.size
            return fit.primal + self._change_of_objective(change, fit), fit.dual_objective

        return with_own_certificate(fit, X.shape[0], self.tol, bounds)

    def _margin_loss(self, indicator: NDArray[np.uint8], weights: Matrix, scores: Matrix) -> float:
        """Return the weighted loss of scores with the bias, brought to a margin of 1."""
        label_weights = None if self.class_weight is None else self.class_weight_
        top = number_at_the_top(self.top_k, indicator.shape[1])
        return pairwise_loss(self._model(), weights, indicator, scores, label_weights, top)

    def _change_of_objective(self, change: float, fit: Fit) -> float:
        """Return by how much the objective changes with the loss."""
        return change

    def _own_bounds(
        self, indicator: NDArray[np.uint8], weights: Matrix, own: Matrix, fit: Fit
    ) -> Bounds:
        """Return primal and dual objective by the own scores of all training rows."""
        loss = self._margin_loss(indicator, weights, own)
        return 0.5 * self._squared_norm(own) + loss, fit.dual_objective

    def _squared_norm(self, own: Matrix) -> float:
        """Return the squared norm of the stored weights, and of the bias where it is penalized."""
        if hasattr(self, "coef_"):
            square = float(np.sum(self.coef_**2))
        else:
            square = float(np.sum(self.dual_coef_ * (own[self.support_] - self.intercept_)))
        if self._model().bias == "penalized":
            square += float(np.sum(self.intercept_**2))
        return square

    def _start(self, targets: Targets, weights: Matrix) -> Matrix | None:
        """Return the previous dual matrix, feasible for the current C, when it fits the data.

        `weights` are those of the pairs, by row.
        """
        dual = getattr(self, "dual_coef_", None)
        shape = targets.indicator.shape
        if dual is None or getattr(self, "_fit_shape", None) != shape:
            return None
        if getattr(self, "_fit_pair_weights", "balanced") != self.pair_weights:
            return None
        start = np.zeros(shape)
        start[self.support_] = dual * self._start_scale()
        return start

    def _forget_rows(self) -> None:
        super()._forget_rows()
        self._fit_shape = None

    def _start_scale(self) -> float:
        # A larger C only loosens the constraints: the rows that keep their margin keep their duals.
        return min(1.0, self.C / self._fit_C)

    def _store(self, X: Any, targets: Targets, kernel: Kernel, fit: Fit) -> None:
        self._store_targets(targets)
        self._store_report(fit)
        self.intercept_ = fit.bias
        expansion = fit.dual if fit.expansion is None else fit.expansion
        self._store_expansion(X, kernel, expansion, fit.weights)
        self._fit_shape = fit.dual.shape
        self._fit_C = self.C
        self._fit_pair_weights = self.pair_weights
        self._fit_top = number_at_the_top(self.top_k, fit.bias.size)

    def _fit_threshold(
        self, problem: Problem, targets: Targets, fit: Fit, interrupted: bool
    ) -> None:
        if not targets.multilabel or interrupted:
            # After an interruption the model is returned at once, without learning a threshold.
            threshold = ConstantThreshold(0.0)
        else:
            threshold = make_threshold(self.threshold, random_state=self.random_state)
        if isinstance(threshold, ConstantThreshold):
            # No scores are needed.
            row = with_nan(targets.indicator[:1])
            self.threshold_ = threshold.fit(np.zeros(row.shape), row)
            return
        if fit.scores is None:
            scores = self._label_scores(problem.features)
        else:
            scores = fit.scores
            scores += fit.bias
        unit = self._threshold_unit(fit, problem.sample_weight)
        if unit <= 0.0:
            unit = 1.0
        scores /= unit
        Y = with_nan(targets.indicator)
        self.threshold_ = threshold.fit(scores, Y, problem.features, problem.sample_weight).rescale(
            unit
        )

    def _threshold_unit(self, fit: Fit, sample_weight: Matrix | None = None) -> float:
        """Return the scale of the scores: a threshold is learned where their margins are near 1."""
        return 1.0


def _all_label_weights(problem: Problem) -> Matrix:
    weights = problem.label_weights
    return np.ones(problem.indicator.shape[1]) if weights is None else weights


def _shrunk(indicator: NDArray[np.uint8], old: Matrix, new: Matrix | None) -> Matrix:
    """Return what a row's dual variables shrink by so that none exceeds its new bound, (n, 1)."""
    ratios = 1.0 / old if new is None else new / old
    of_rows = np.where(indicator == 1, ratios, 1.0).min(axis=1, keepdims=True)
    return np.asarray(np.minimum(of_rows, 1.0))


def _shrunk_at_the_top(
    indicator: NDArray[np.uint8], old: int | None, new: int | None
) -> Matrix | float:
    """Return what a row's dual variables shrink by for more irrelevant labels, (n, 1)."""
    if old is None or old == new:
        return 1.0
    irrelevant = np.maximum(np.count_nonzero(indicator == 0, axis=1, keepdims=True), 1)
    number = irrelevant if new is None else np.minimum(irrelevant, new)
    return np.asarray(np.minimum(np.minimum(irrelevant, old) / number, 1.0))


def _status(fit: Fit, training: TrainingKernel) -> str:
    """Return how the solver ended, with what is known of the kernel."""
    if training.indefinite and fit.status != "interrupted":
        return "indefinite_kernel"
    if fit.status == "indefinite_kernel" and training.certain:
        # The kernel is known to be definite: what the loop saw was rounding.
        return "stalled"
    return fit.status
