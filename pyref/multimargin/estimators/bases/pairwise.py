"""Base of the pairwise estimators: a problem is stated, solved, certified and stored."""

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass, field, replace
from functools import partial
from numbers import Real
from typing import ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from multimargin.blas import with_one_blas_thread
from multimargin.checks.parameters import (
    check_choice,
    check_flag,
    check_real,
    check_seed,
    seed_of,
    thread_count,
)
from multimargin.estimators.bases.kernel_expansion import KernelExpansionClassifier, TrainingData
from multimargin.estimators.bases.training_kernel import TrainingKernel
from multimargin.estimators.fitting.progress import Progress, with_callbacks
from multimargin.estimators.fitting.protocol import kept_fit
from multimargin.estimators.pairwise import zero_label
from multimargin.estimators.pairwise.certificate import certified
from multimargin.estimators.pairwise.engine import solve_problem
from multimargin.estimators.pairwise.label_weights import check_class_weight, weights_of_labels
from multimargin.estimators.pairwise.pair_weights import (
    PAIR_WEIGHTS,
    check_top_k,
    number_at_the_top,
    weights_of_pairs,
)
from multimargin.estimators.pairwise.problem import Fit, Model, Problem
from multimargin.features.occurring import occurring_columns, of_columns
from multimargin.kernels import Kernel
from multimargin.targets.empty_rows import share_of_empty_rows, warn_of_empty_rows
from multimargin.targets.indicator import check_pairs, with_nan
from multimargin.targets.reading import Targets
from multimargin.thresholds import ConstantThreshold, FeaturesThreshold, Threshold, make_threshold
from multimargin.thresholds.base import learned_rows, spread
from multimargin.typing import ClassWeight, Features, LabelsLike, Matrix, MatrixLike
from multimargin.whole_fits import whole_or_unchanged


@dataclass(repr=False, eq=False)
class PairwiseClassifier(KernelExpansionClassifier):
    """Base of the pairwise family: a method names its `Model`, or overrides `_solve`."""

    _solvers: ClassVar[tuple[str, ...]] = ("bcd", "dcd")
    # Whether the method accepts a large dual matrix as CSR, and many weights in single precision.
    _compact: ClassVar[bool] = False

    C: float = 10.0
    _: KW_ONLY
    solver: str = "bcd"
    random_state: int | np.random.RandomState | None = None
    warm_start: bool = False
    class_weight: ClassWeight = None
    # Defaults for methods without these parameters.
    pair_weights: str = field(default="balanced", init=False)
    threshold: str | float | Threshold = field(default=0.0, init=False)
    top_k: int | float | None = field(default=None, init=False)
    # The shape of a dual matrix that a warm start can use, if any.
    _fit_shape: tuple[int, ...] | None = field(default=None, init=False)

    def _model(self) -> Model:
        raise NotImplementedError

    def _solve(self, problem: Problem) -> Fit:
        return solve_problem(problem, self.solver)

    def _prepared(self, problem: Problem) -> Callable[[], Fit]:
        """Prepare the loop, which Ctrl-C may interrupt; return the function that solves."""
        return partial(self._solve, problem)

    def _of_engine(self, fit: Fit, pairs: float) -> Fit:
        """Return a method's own solution from the engine's; `pairs` sums the pairs' variables."""
        return fit

    def _gap(self, fit: Fit, pairs: float) -> float:
        """Return the relative duality gap of a method's own solution from the engine's."""
        return fit.gap

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_real("C", self.C, above=0.0, at_least=1e-150, at_most=1e150)
        check_flag("warm_start", self.warm_start)
        check_seed(self.random_state)
        check_choice("pair_weights", self.pair_weights, PAIR_WEIGHTS)
        check_class_weight(self.class_weight)
        check_top_k(self.top_k)
        if self.top_k is not None and self.solver != "bcd":
            raise ValueError(
                f"top_k is {self.top_k!r}; expected None with solver={self.solver!r}: only 'bcd' "
                "ranks against the highest irrelevant labels."
            )
        threshold = make_threshold(self.threshold)
        threshold.check(held_out=False)
        if isinstance(threshold, FeaturesThreshold) and self.kernel == "precomputed":
            raise ValueError(
                "threshold is 'features', but kernel='precomputed' has no features; expected "
                "'auto', 'scores', 'micro', 'macro', 'samples', 'count' or a number."
            )

    def _keeps_sparse_labels(self) -> bool:
        fixed = isinstance(self.threshold, Real)
        return self._compact and not self.warm_start and self.solver == "bcd" and fixed

    def _check_labels(self, indicator: NDArray[np.uint8]) -> None:
        check_pairs(indicator)

    @whole_or_unchanged
    @with_one_blas_thread
    @with_callbacks  # type: ignore[untyped-decorator]
    def fit(self, X: MatrixLike, y: LabelsLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : array-like, CSR matrix or data frame of shape (n, d)
            Features; the kernel matrix of shape (n, n) for ``kernel="precomputed"``.
        y : array-like, sparse matrix or data frame of shape (n, q), lists of label names, or \
                array-like of shape (n,)
            Label indicator of 0 and 1; the names of the labels of each row; or one class per row,
            which is one-hot encoded and predicted by the largest score. Names, and columns of a
            data frame, become `label_names_in_`. NaN in an indicator stands for an unknown label:
            pairs with it are left out.
        sample_weight : array-like of shape (n,), default=None
            Weights of the rows, not negative: a row of weight 2 counts as two rows.
            None counts each row once.

        Raises
        ------
        KeyboardInterrupt
            If interrupted. The state reached is stored in the fitted attributes first; with
            ``warm_start=True`` the next fit continues from there.

        Warns
        -----
        ConvergenceWarning
            If the solver ends above `tol`, or if the kernel is not positive semidefinite.
        EmptyRowsWarning
            If a tenth of the rows or more has no label, of a method that ranks pairs of labels.
        """
        data = self._training_data(X, y, sample_weight)
        if not isinstance(y, Targets) and self._model().loss != zero_label.LOSS:
            warn_of_empty_rows(share_of_empty_rows(data.targets.indicator, data.weights))
        training = self._training_kernel(data.X, data.kernel)
        if training.indefinite and self._needs_definite_kernel():
            training.make_definite()
        progress = Progress(self, self.max_iter, self.verbose)
        problem = self._problem(data, training, progress)
        with self._numbered(data):
            fit = kept_fit(
                self,
                progress,
                solve=partial(progress.interrupts.reached_by, self._prepared(problem)),
                keep=partial(self._keep, data, training, problem),
                learn=partial(self._fit_threshold, problem, data.targets),
            )
        if training.indefinite or fit.status == "indefinite_kernel":
            self.status_ = "indefinite_kernel"
            fit = replace(fit, status=self.status_)
        advice = "Increase max_iter or tol, decrease C, or scale the features."
        self._warn_of_the_end(fit, "epochs", advice, X=data.X, nearest=training.solved_nearest)
        return self

    def _keep(
        self, data: TrainingData, training: TrainingKernel, problem: Problem, fit: Fit
    ) -> Fit:
        """Store a fit with the certificate of the stored model."""
        if training.solved_nearest:
            expansion = fit.dual if fit.expansion is None else fit.expansion
            fit = replace(fit, expansion=training.original_expansion(expansion))
        fit = replace(fit, status=_status(fit, training))
        self._store(data.X, data.targets, data.kernel, fit, problem.label_weights, problem.columns)
        fit = certified(problem, fit, self)
        self._store_report(fit)
        if training.solved_nearest:
            # The expansion is not a dual matrix for a warm start.
            self._fit_shape = None
        if self._weights is not None and not self.warm_start:
            self._forget_rows()
        return fit

    def _problem(self, data: TrainingData, training: TrainingKernel, progress: Progress) -> Problem:
        """Return the problem that the parameters and the data state."""
        indicator, model = data.targets.indicator, self._model()
        label_weights = weights_of_labels(self.class_weight, data.targets, data.weights)
        top = number_at_the_top(self.top_k, indicator.shape[1])
        kind = "zero label" if model.loss == zero_label.LOSS else self.pair_weights
        pair_weights = weights_of_pairs(indicator, self.C, kind, data.weights, top)
        start = self._start(data, pair_weights) if self.warm_start else None
        if start is not None:
            start *= _shrunk(indicator, self.class_weight_, _each_label(label_weights, start))
            start *= _shrunk_at_the_top(indicator, self._fit_top, top)
        is_linear = training.of_features.name == "linear"
        columns = occurring_columns(training.features) if is_linear else None
        return Problem(
            model=model,
            X=of_columns(training.features, columns),
            columns=columns,
            features=data.X,
            indicator=indicator,
            kernel=training.of_features,
            C=float(self.C),
            tol=float(self.tol),
            max_iter=int(self.max_iter),
            cache_bytes=int(1e6 * self.cache_size),
            start=start,
            start_bias=None if start is None else self.intercept_,
            seed=seed_of(self.random_state),
            threads=thread_count(self.n_jobs),
            callback=progress.epoch_callback(),
            pair_weights=pair_weights,
            # The engine computes balanced ones itself.
            balanced=self.pair_weights == "balanced" and data.weights is None and top is None,
            sample_weight=data.weights,
            label_weights=label_weights,
            top=top,
            deadline=data.deadline,
            compact=self._compact and not self.warm_start,
        )

    def _needs_definite_kernel(self) -> bool:
        # Only hinges have bounded dual variables: the problem of the other losses has no optimum.
        return self._model().loss not in ("hinge", zero_label.LOSS)

    def _start(self, data: TrainingData, weights: Matrix) -> Matrix | None:
        """Return the previous dual matrix, feasible for the current C, with zeros for new rows."""
        n, q = data.given.size, data.targets.indicator.shape[1]
        if self._fit_shape is None or getattr(self, "dual_coef_", None) is None:
            return None
        n_before, q_before = self._fit_shape
        if n_before > n or q_before != q or self._fit_pair_weights != self.pair_weights:
            return None
        scale = self._start_scale()
        if self.pair_weights == "uniform":
            # The weight of a pair is C/n.
            scale = min(1.0, scale * n_before / n)
        start = np.zeros((n, q))
        start[:n_before] = self._dual_before(self._fit_shape) * scale
        return start if data.rows is None else start[data.rows]

    def _dual_before(self, shape: tuple[int, ...]) -> Matrix:
        """Return the dual matrix of the previous fit."""
        dual = np.zeros(shape)
        dual[self.support_] = self.dual_coef_
        return dual

    def _number_rows(self, data: TrainingData) -> None:
        super()._number_rows(data)
        if self._fit_shape is not None:
            self._fit_shape = data.given.size, *self._fit_shape[1:]

    def _forget_rows(self) -> None:
        super()._forget_rows()
        self._fit_shape = None

    def _start_scale(self) -> float:
        # A larger C only loosens the constraints: rows that keep their margin keep their dual
        # variables.
        return min(1.0, self.C / self._fit_C)

    def _store(
        self,
        X: Features,
        targets: Targets,
        kernel: Kernel,
        fit: Fit,
        label_weights: Matrix | None,
        columns: NDArray[np.intp] | None = None,
    ) -> None:
        self._store_targets(targets)
        self._store_report(fit)
        self.intercept_ = fit.bias
        expansion = fit.dual if fit.expansion is None else fit.expansion
        with_rows = self.warm_start or fit.weights is None
        self._store_expansion(X, kernel, expansion, fit.weights, columns, with_rows=with_rows)
        self.class_weight_ = _each_label(label_weights, fit.bias)
        for name, value in fit.attributes.items():
            setattr(self, name, value)
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
            q = fit.bias.size
            # A precomputed kernel has no features to learn from.
            empty = 0.0
            if self.kernel != "precomputed":
                empty = share_of_empty_rows(targets.indicator, problem.sample_weight)
            threshold = make_threshold(
                self.threshold, n_labels=q, empty=empty, random_state=self.random_state
            )
        if isinstance(threshold, ConstantThreshold):
            # No scores are needed, and no labels.
            row = np.zeros((1, fit.bias.size))
            self.threshold_ = threshold.fit(row, row.astype(int))
            return
        unit = threshold_unit(fit, problem.sample_weight)
        Y, weights, X, scores = learned_rows(
            threshold, targets.indicator, problem.sample_weight, problem.features, fit.scores
        )
        if scores is None:
            scores = self._label_scores(X)
        else:
            scores += fit.bias
        scores /= unit
        self.threshold_ = threshold.fit(scores, with_nan(Y), X, weights).rescale(unit)


def threshold_unit(fit: Fit, sample_weight: Matrix | None = None) -> float:
    """Return the scale of the scores: a threshold is learned where their margins are near 1."""
    unit = 1.0 if fit.margin is None else fit.margin
    if fit.penalty is not None:
        # A strong regulariser makes the margins small; their spread then replaces the 1.
        assert fit.scores is not None
        unit = spread(fit.scores, sample_weight)
    return unit if unit > 0.0 else 1.0


def _each_label(label_weights: Matrix | None, columns: Matrix) -> Matrix:
    """Return the weight of each label, 1 by default."""
    return np.ones(columns.shape[-1]) if label_weights is None else label_weights


def _shrunk(indicator: NDArray[np.uint8], old: Matrix, new: Matrix) -> Matrix:
    """Return the factor that brings a row's dual variables within their new bounds, (n, 1)."""
    of_rows = np.where(indicator == 1, new / old, 1.0).min(axis=1, keepdims=True)
    return np.asarray(np.minimum(of_rows, 1.0))


def _shrunk_at_the_top(
    indicator: NDArray[np.uint8], old: int | None, new: int | None
) -> Matrix | float:
    """Return the factor of a row's dual variables for more irrelevant labels, (n, 1)."""
    if old is None or old == new:
        return 1.0
    irrelevant = np.maximum(np.count_nonzero(indicator == 0, axis=1, keepdims=True), 1)
    number = irrelevant if new is None else np.minimum(irrelevant, new)
    return np.asarray(np.minimum(np.minimum(irrelevant, old) / number, 1.0))


def _status(fit: Fit, training: TrainingKernel) -> str:
    """Return the status of the solver, given what is known of the kernel."""
    if training.indefinite and fit.status != "interrupted":
        return "indefinite_kernel"
    if fit.status == "indefinite_kernel" and training.certain:
        # The kernel is known to be definite, so that the loop was misled by rounding.
        return "stalled"
    return fit.status
