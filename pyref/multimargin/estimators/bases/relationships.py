"""Base of MLRL and SSMLRL, which learn labels and their covariance jointly."""

from dataclasses import KW_ONLY, dataclass, replace
from functools import partial
from typing import ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from multimargin import _rust
from multimargin.blas import with_one_blas_thread
from multimargin.checks.parameters import thread_count
from multimargin.estimators.bases.kernel_expansion import KernelExpansionClassifier, TrainingData
from multimargin.estimators.bases.training_kernel import TrainingKernel
from multimargin.estimators.fitting.certificate import Bounds, Rows, with_own_certificate
from multimargin.estimators.fitting.options import RelationshipOptions, checked_options
from multimargin.estimators.fitting.progress import Progress, with_callbacks
from multimargin.estimators.fitting.protocol import kept_fit
from multimargin.estimators.fitting.report import Report, history_of
from multimargin.estimators.fitting.time_limit import seconds_until
from multimargin.features.occurring import occurring_columns, of_columns
from multimargin.kernels import Kernel
from multimargin.notices import warn
from multimargin.targets.indicator import UNKNOWN, known_both
from multimargin.targets.reading import Targets
from multimargin.typing import Features, LabelsLike, Matrix, MatrixLike
from multimargin.whole_fits import whole_or_unchanged


@dataclass(frozen=True)
class Labelled:
    """A problem of the labelled rows, without their kernel."""

    targets: Targets
    shares: Matrix | None  # (l,): Share of each row in the loss; None is 1/l
    lam: float  # Weight of the regularisation of the weights
    progress: Progress
    deadline: float | None  # When the fit has to end, by `time.monotonic`


@dataclass(frozen=True, kw_only=True)
class RelationshipFit(Report):
    """Result of a solver for the labels with both classes: a report, and the model."""

    expansion: Matrix  # (n, q): A with W = phi(X)^T A
    bias: Matrix  # (q,): Bias b
    dual: Matrix  # (n, q): Signed dual matrix Z = alpha . Y of the lower bound.
    covariance: Matrix  # (q, q): Label covariance
    # (n, q): Scores of the rows without the bias that the solver certified
    scores: Matrix | None = None
    # Whether the nearest positive semidefinite kernel replaced an indefinite one
    solved_nearest: bool = False


@dataclass(repr=False, eq=False)
class RelationshipClassifier(KernelExpansionClassifier):
    """Base of MLRL and SSMLRL."""

    _solvers: ClassVar[tuple[str, ...]] = ("splitting", "alternating")

    _: KW_ONLY
    solver: str = "splitting"
    max_iter: int = 500
    options: RelationshipOptions | None = None

    def _check_parameters(self) -> None:
        super()._check_parameters()
        self._chosen()
        self._regularisation()

    def _chosen(self) -> RelationshipOptions:
        """Return the checked options."""
        return checked_options(self.options, RelationshipOptions)

    def _regularisation(self) -> float:
        """Return the checked weight of the regularisation of the weights."""
        raise NotImplementedError

    @whole_or_unchanged
    @with_one_blas_thread
    @with_callbacks  # type: ignore[untyped-decorator]
    def fit(self, X: MatrixLike, y: LabelsLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : array-like, CSR matrix or data frame of shape (n, d)
            Features of all rows; the kernel matrix of shape (n, n) for ``kernel="precomputed"``.
        y : array-like, sparse matrix or data frame of shape (n, q), or array-like of shape (n,)
            Label indicator of 0 and 1, or one class per row, which is one-hot encoded and predicted
            by the largest score. Columns of a data frame become `label_names_in_`. For `SSMLRL`,
            unlabelled rows are rows of -1, or the class -1; at least one row must be labelled. NaN
            in an indicator stands for an unknown label, whose loss is left out.
        sample_weight : array-like of shape (n,), default=None
            Weights of the rows, not negative: a row of weight 2 counts as two rows.
            None counts each row once.

        Raises
        ------
        KeyboardInterrupt
            If interrupted. The state reached is stored in the fitted attributes first.

        Warns
        -----
        ConvergenceWarning
            If the solver ends above `tol`, or if the kernel is not positive semidefinite.
        UserWarning
            If labels have one class only in the labelled rows.
        """
        data = self._training_data(X, y, sample_weight)
        weights = None if data.weights is None else data.weights[data.labelled]
        shares = row_shares(data.targets.indicator, weights)
        self._warn_of_constant_labels(data.targets, shares)
        progress = Progress(self, self.max_iter, self.verbose)
        task = Labelled(
            data.targets, shares, self._regularisation(), progress, deadline=data.deadline
        )
        with self._numbered(data):
            fit = kept_fit(
                self,
                progress,
                solve=partial(self._fit_expansion, data, task),
                keep=partial(self._keep, data, task),
            )
        advice = "Increase max_iter, tol or the regularisation, or scale the features or the kernel"
        advice += ", or use solver='splitting'." if self.solver == "alternating" else "."
        self._warn_of_the_end(fit, "rounds", advice, X=data.X, nearest=fit.solved_nearest)
        return self

    def _keep(self, data: TrainingData, task: Labelled, fit: RelationshipFit) -> RelationshipFit:
        """Store a fit with the certificate of the model that is stored."""
        self._store_targets(task.targets)
        self._store_report(fit)
        self.label_covariance_ = fit.covariance
        self.label_correlation_ = _correlation(fit.covariance)
        self.intercept_ = fit.bias
        self.dual_variables_ = fit.dual
        self._store_expansion(data.X, data.kernel, fit.expansion)
        fit = self._certified(data, task, fit)
        if self._weights is not None and not self._chosen().keep_rows:
            self._forget_rows()
        return fit

    def _forget_rows(self) -> None:
        super()._forget_rows()
        del self.dual_variables_

    def _number_rows(self, data: TrainingData) -> None:
        super()._number_rows(data)
        dual = np.zeros((data.labelled.size, *self.dual_variables_.shape[1:]))
        dual[data.labelled] = self.dual_variables_
        self.dual_variables_ = data.of_given(dual)[data.given]

    def _penalty_of_weights(self) -> float | None:
        """Return the penalty of the stored weights; None if it is that of the expansion."""
        return None

    def _certified(
        self, data: TrainingData, task: Labelled, fit: RelationshipFit
    ) -> RelationshipFit:
        """Return the fit with the loss of the stored model."""
        if fit.scores is None:
            return fit
        said = fit.scores + fit.bias
        indicator, labelled = task.targets.indicator, np.flatnonzero(data.labelled)
        shares = task.shares
        if shares is None:
            shares = np.full(labelled.size, 1.0 / labelled.size)

        def loss(rows: Rows, scores: Matrix) -> float:
            slacks = np.maximum(0.0, 1.0 - np.where(indicator[rows] == 1, 1.0, -1.0) * scores)
            slacks[indicator[rows] == UNKNOWN] = 0.0
            return float(shares[rows] @ slacks.sum(axis=1)) * (labelled.size / rows.size)

        lost = 0.0
        # After Ctrl-C no decomposition is computed.
        hasty = fit.status == "interrupted"
        of_weights = None if hasty else self._penalty_of_weights()
        if of_weights is not None:
            # Kernel values lose short columns beside long ones.
            lost = of_weights - (fit.primal - loss(np.arange(labelled.size), said))

        def bounds(rows: Rows) -> Bounds:
            own = self._label_scores(data.X[labelled[rows]])
            change = loss(rows, own) - loss(rows, said[rows])
            return fit.primal + change + lost, fit.dual_objective

        alike = data.kernel.of_distances
        checked = with_own_certificate(fit, labelled.size, self.tol, bounds, alike)
        if checked is not fit:
            self._store_report(checked)
        return checked

    def _fit_expansion(self, data: TrainingData, task: Labelled) -> RelationshipFit:
        """Solve the problem; return the fit, with the expansion over all rows."""
        with task.progress.interrupts.allowed():
            training = self._training_kernel(data.X, data.kernel)
        return self._fit_labelled(training, task)

    def _fit_labelled(self, training: TrainingKernel, task: Labelled) -> RelationshipFit:
        """Solve the problem of labelled rows."""
        indicator, shares, progress = task.targets.indicator, task.shares, task.progress
        n, q = indicator.shape
        counted = indicator if shares is None else indicator[shares > 0.0]
        learned = np.flatnonzero(known_both(counted, axis=0))
        covariance = self._chosen().covariance(q)
        if learned.size == 0:
            part = _nothing_to_learn(n)
        else:
            part = progress.interrupts.reached_by(
                self._solve,
                training.features,
                np.ascontiguousarray(indicator[:, learned]),
                training.of_features,
                None if covariance is None else covariance[np.ix_(learned, learned)],
                task,
            )
        expansion, dual, scores = np.zeros((n, q)), np.zeros((n, q)), np.zeros((n, q))
        if part.scores is not None:
            scores[:, learned] = part.scores
        expansion[:, learned], dual[:, learned] = part.expansion, part.dual
        expansion = training.original_expansion(expansion)
        # A label with one class has no weights, and a bias at which its loss vanishes.
        bias = np.where((counted == 1).any(axis=0), 1.0, -1.0)
        bias[learned] = part.bias
        if covariance is None:
            covariance = np.zeros((q, q))
            covariance[np.ix_(learned, learned)] = part.covariance
        indefinite = training.indefinite and part.status != "interrupted"
        return replace(
            part,
            expansion=expansion,
            bias=bias,
            dual=dual,
            covariance=covariance,
            status="indefinite_kernel" if indefinite else part.status,
            scores=None if part.scores is None else scores,
            solved_nearest=training.solved_nearest,
        )

    def _solve(
        self,
        X: Features,
        indicator: NDArray[np.uint8],
        kernel: Kernel,
        covariance: Matrix | None,
        task: Labelled,
    ) -> RelationshipFit:
        columns = occurring_columns(X) if kernel.name == "linear" else None
        solution = _rust.solve_mlrl(
            indicator,
            kernel.features(of_columns(X, columns)),
            lam=task.lam,
            kernel_name=kernel.name,
            **kernel.parameters,
            solver=self.solver,
            covariance=None if covariance is None else np.ascontiguousarray(covariance),
            ridge=float(self._chosen().ridge),
            tolerance=float(self.tol),
            max_rounds=int(self.max_iter),
            row_shares=task.shares,
            cache_bytes=int(1e6 * self.cache_size),
            threads=thread_count(self.n_jobs),
            callback=task.progress.epoch_callback(),
            seconds=seconds_until(task.deadline),
        )
        return RelationshipFit(**solution)

    def _warn_of_constant_labels(self, targets: Targets, shares: Matrix | None) -> None:
        indicator = targets.indicator if shares is None else targets.indicator[shares > 0.0]
        relevant = (indicator == 1).any(axis=0)
        constant = np.flatnonzero(~known_both(indicator, axis=0))
        if constant.size == 0:
            return
        names = targets.classes if targets.label_names is None else targets.label_names
        shown = ", ".join(f"{names[label]} ({int(relevant[label])})" for label in constant)
        warn(f"y has labels of one class only, which are predicted as that class: {shown}.")


def row_shares(indicator: NDArray[np.uint8], weights: Matrix | None) -> Matrix | None:
    """Return the share of each row in the loss."""
    blank = (indicator == UNKNOWN).all(axis=1)
    if weights is None and not blank.any():
        return None
    shares: Matrix = np.where(blank, 0.0, 1.0 if weights is None else weights)
    if not shares.any():
        raise ValueError(
            "y has no known label in a row of positive weight; expected a label that is 0 or 1."
        )
    shares /= shares.sum()
    return shares


def _nothing_to_learn(n: int) -> RelationshipFit:
    empty, none = np.zeros(0), np.zeros((n, 0))
    return RelationshipFit(
        status="converged",
        n_iter=1,
        primal=0.0,
        dual_objective=0.0,
        gap=0.0,
        rounding=0.0,
        history=history_of([empty] * 4),
        expansion=none,
        bias=empty,
        dual=none,
        covariance=np.zeros((0, 0)),
    )


def _correlation(covariance: Matrix) -> Matrix:
    """Return Omega_jk / sqrt(Omega_jj Omega_kk); a label without variance correlates with none."""
    deviation = np.sqrt(np.maximum(np.diagonal(covariance), 0.0))
    scale = np.where(deviation > 0.0, deviation, np.inf)
    correlation: Matrix = covariance / scale[:, None] / scale[None, :]
    np.fill_diagonal(correlation, 1.0)
    return np.clip(correlation, -1.0, 1.0)
