"""LLSF: a sparse linear model of each label, whose support is the label's own features."""

from dataclasses import dataclass
from functools import partial
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.validation import check_is_fitted

from multimargin.blas import with_one_blas_thread
from multimargin.checks.parameters import (
    check_choice,
    check_flag,
    check_integer,
    check_real,
    check_verbosity,
    thread_count,
)
from multimargin.estimators.bases.label_scoring import LabelScoringClassifier
from multimargin.estimators.fitting.products import product
from multimargin.estimators.fitting.progress import CallbackSupportMixin, Progress, with_callbacks
from multimargin.estimators.fitting.protocol import kept_fit
from multimargin.estimators.fitting.time_limit import (
    check_max_time,
    deadline_of,
    time_limit_message,
)
from multimargin.estimators.llsf_problem import (
    Coefficients,
    Convexity,
    Request,
    choose_solver,
    correlation_of,
    eigenbasis,
    examine,
    lipschitz,
    published_lipschitz,
    ridge_start,
    smallest_feature_eigenvalue,
    solve_llsf,
    weighted,
)
from multimargin.features.scales import told_scales
from multimargin.notices import warn
from multimargin.targets.empty_rows import share_of_empty_rows
from multimargin.targets.reading import Targets
from multimargin.thresholds import ConstantThreshold, FeaturesThreshold, Threshold, make_threshold
from multimargin.thresholds.base import learned_rows, spread
from multimargin.typing import Features, LabelsLike, Matrix, MatrixLike
from multimargin.whole_fits import whole_or_unchanged

SOLVERS = ("auto", "cd", "admm", "apg")

# Iterations of the authors' program.
_PUBLISHED_ITERATIONS = 100
_DEFAULT_ITERATIONS = 1000


@dataclass(repr=False, eq=False)
class LLSF(SelectorMixin, CallbackSupportMixin, LabelScoringClassifier):  # type: ignore[misc]
    """Label-specific features: sparse linear models that share features between similar labels.

    Minimises 1/2 ||X W - Y||_F^2 + alpha/2 tr((R + shift I) W^T W) + beta ||W||_1 with R one minus
    the cosine between label columns. A label's features are those with a nonzero coefficient. The
    estimator is a classifier (the scores X W against a threshold) and a transformer (the union of
    all labels' features) at once.

    Parameters
    ----------
    alpha : float, default=10.0
        Weight of the label correlations, at least 0. With 0 the labels are separate lassos. It is
        weighed against X^T X, a sum over the rows; with the shift it is a ridge as well, without
        which the scores overfit (`benchmarks/defaults.py`).
    beta : float, default=0.1
        Weight of the l1 norm, positive; from `beta_max` on, all coefficients are 0.
    gamma : float, default=0.01
        Ridge parameter of the start of the published loop, positive. Without influence on the
        solution of the convex problem.
    threshold : float, {"auto", "scores", "features", "micro", "macro", "samples", "count"} or \
            Threshold, default="auto"
        A name or an object stands for a threshold that is learned from the training rows, see
        `multimargin.thresholds`; "auto" is "scores", or "features" where a row in a hundred or
        more has no label, up to 1,000 labels, and "micro" above. Labels with
        a score above a number are predicted (tau, 0.5 in the paper, where few scores reach it at
        this alpha). Ignored for one-dimensional targets.
    convexify : bool, default=True
        If True, the smallest shift that makes the problem convex and bounded is added. False runs
        the published loop (Algorithm 1) on the problem as printed; where that is not convex, it has
        no minimum, and what comes out depends on `max_iter`.
    solver : {"auto", "cd", "admm", "apg"}, default="auto"
        "admm" is the alternating direction method of multipliers in the eigenbasis of the quadratic
        form; its eigenvalues take O(n d min(n, d)) operations, which cannot be interrupted, and
        memory for d min(n, d) numbers. "apg" is the accelerated proximal gradient of the paper with
        adaptive restart. "cd" is coordinate descent over working sets, for ``alpha=0`` only and
        sparse solutions. "auto" chooses by size, `alpha` and `beta`. Unused for
        ``convexify=False``.
    tol : float, default=1e-3
        Relative duality gap, and KKT residual relative to the largest entry of X^T Y, at which to
        stop; positive.
    max_iter : int or None, default=None
        Largest number of epochs or iterations; None means 1000, and 100 (as in the authors'
        program) for ``convexify=False``.
    n_jobs : int, default=None
        Number of threads; None means 1. The result does not depend on it.
    verbose : int, default=0
        1 prints a line after each epoch.
    warm_start : bool, default=False
        Start from the previous coefficients when they fit the data.
    max_time : float or None, default=None
        Seconds that the fit may take, positive; None is no limit. It then ends with the model
        reached, its certificate and the status "time_limit". The first epoch is always made.

    Attributes
    ----------
    classes_ : ndarray of shape (q,)
        Label numbers, or the classes of one-dimensional targets.
    multilabel_ : bool
        True for a label indicator or lists of names, False for one-dimensional targets.
    label_names_in_ : ndarray of shape (q,)
        Column names of `y`, when it was a data frame with string names.
    n_features_in_ : int
        Number of features d.
    coef_ : ndarray of shape (q, d)
        The transpose of W.
    label_specific_features_ : ndarray of shape (q, d), dtype bool
        Mask of the weights that are not 0.
    threshold_ : Threshold
        The fitted threshold.
    shift_ : float
        Shift added to the diagonal of R: 0 where the published problem is convex.
    n_iter_ : int
        Epochs or iterations made.
    objective_ : float
        The objective.
    dual_objective_ : float
        A lower bound of the optimum; minus infinity when the problem is not convex.
    dual_gap_ : float
        ``(objective_ - dual_objective_) / abs(objective_)``, recomputed at the returned point.
    kkt_residual_ : float
        Largest distance of the negative gradient from the subdifferential of beta ||W||_1.
    status_ : str
        "converged", "max_iterations", "stalled" (rounding allows no further step), "diverged"
        (published loop only), "time_limit" (`max_time` is over) or "interrupted".
    history_ : dict of ndarray
        One entry per epoch: "epoch", "seconds", "primal", "dual".

    Notes
    -----
    Huang et al. 2015, eqs. 3, 7, 8 and 12 to 15, Algorithms 1 and 2. There is no intercept. The
    paper calls its problem convex, but R has a zero diagonal and so a negative eigenvalue: where
    lambda_min(X^T X) + alpha lambda_min(R) < 0, always when d > n, the objective is unbounded
    below. Then the shift is -lambda_min(R); it is a ridge term that leaves R between labels alone.

    Examples
    --------
    >>> from multimargin import LLSF
    >>> from multimargin.datasets import load_digit_attributes
    >>> X, X_test, Y, Y_test = load_digit_attributes().train_test()
    >>> model = LLSF(alpha=0.1, beta=10.0).fit(X, Y)
    >>> model.status_
    'converged'
    >>> model.get_support(label=0).shape == (X.shape[1],)
    True
    """

    alpha: float = 10.0
    beta: float = 0.1
    gamma: float = 0.01
    threshold: float | str | Threshold = "auto"
    convexify: bool = True
    solver: str = "auto"
    tol: float = 1e-3
    max_iter: int | None = None
    n_jobs: int | None = None
    verbose: int = 0
    warm_start: bool = False
    max_time: float | None = None

    def _check_parameters(self) -> int:
        check_real("alpha", self.alpha, at_least=0.0, at_most=1e50)
        check_real("beta", self.beta, above=0.0)
        check_real("gamma", self.gamma, above=0.0)
        make_threshold(self.threshold).check(held_out=False)
        check_choice("solver", self.solver, SOLVERS)
        if self.solver == "cd" and self.alpha > 0.0 and self.convexify:
            raise ValueError(
                "solver is 'cd'; expected 'auto', 'admm' or 'apg' for"
                f" alpha={self.alpha!r}: coordinate descent needs alpha=0."
            )
        check_real("tol", self.tol, above=0.0)
        check_verbosity(self.verbose)
        check_max_time(self.max_time)
        check_flag("convexify", self.convexify)
        check_flag("warm_start", self.warm_start)
        if self.max_iter is None:
            return _DEFAULT_ITERATIONS if self.convexify else _PUBLISHED_ITERATIONS
        return check_integer("max_iter", self.max_iter, at_least=1)

    @whole_or_unchanged
    @with_one_blas_thread
    @with_callbacks  # type: ignore[untyped-decorator]
    def fit(self, X: MatrixLike, y: LabelsLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : array-like, CSR matrix or data frame of shape (n, d)
            Features. Sparse ones stay sparse.
        y : array-like, sparse matrix or data frame of shape (n, q), or array-like of shape (n,)
            Label indicator of 0 and 1, or one class per row, which is one-hot encoded and predicted
            by the largest score. Columns of a data frame become `label_names_in_`.
        sample_weight : array-like of shape (n,), default=None
            Weights of the rows, not negative: a row of weight 2 counts as two rows, in the squared
            error and in the label correlations. None counts each row once.

        Raises
        ------
        KeyboardInterrupt
            If interrupted. The state reached is stored in the fitted attributes first.

        Warns
        -----
        ConvergenceWarning
            If the solver ends above `tol`, or with ``convexify=False`` if the published problem is
            not convex.
        """
        max_iter = self._check_parameters()
        deadline = deadline_of(self.max_time)
        given, targets, weights = self._checked_data(X, y, sample_weight)
        X, Y, sums = weighted(given, targets.indicator, weights)

        progress = Progress(self, max_iter, self.verbose)
        convexity = examine(X, Y, float(self.alpha), convexify=self.convexify)
        solver = self.solver if self.convexify else "published"
        if solver == "auto":
            solver = choose_solver(X, sums[0], convexity.coupling, float(self.beta))
        constant = 0.0
        if solver == "apg":
            constant = lipschitz(X, convexity)
        elif solver == "published":
            constant = published_lipschitz(X, convexity.coupling)
        request = Request(
            sums=sums,
            beta=float(self.beta),
            solver=solver,
            lipschitz=constant,
            tol=float(self.tol),
            max_iter=max_iter,
            start=self._start(X, Y),
            threads=thread_count(self.n_jobs),
            callback=progress.epoch_callback(),
            basis=eigenbasis(X, convexity.coupling) if solver == "admm" else None,
            deadline=deadline,
        )
        kept_fit(
            self,
            progress,
            solve=partial(progress.interrupts.reached_by, solve_llsf, X, convexity, request),
            keep=partial(self._keep, targets, convexity),
            learn=partial(self._fit_threshold, given, targets, weights),
        )
        self._warn(X, convexity, solver, max_iter)
        return self

    def _keep(self, targets: Targets, convexity: Convexity, solution: Coefficients) -> Coefficients:
        self._store_targets(targets)
        self._store_report(solution)
        self.coef_ = solution.weights
        self.label_specific_features_ = solution.weights != 0.0
        self.shift_ = convexity.shift
        self.kkt_residual_ = solution.kkt_residual
        return solution

    def _start(self, X: Features, Y: Matrix) -> Matrix | None:
        coef: Matrix = getattr(self, "coef_", np.empty(0))
        if self.warm_start and coef.shape == (Y.shape[1], X.shape[1]):
            return coef
        return None if self.convexify else ridge_start(X, Y, float(self.gamma))

    def _fit_threshold(
        self,
        X: Features,
        targets: Targets,
        sample_weight: Matrix | None,
        solution: Coefficients,
        interrupted: bool,
    ) -> None:
        indicator = targets.indicator
        threshold = make_threshold(
            self.threshold,
            n_labels=indicator.shape[1],
            empty=share_of_empty_rows(indicator, sample_weight),
            random_state=0,
        )
        learned = not isinstance(threshold, ConstantThreshold)
        if learned and (interrupted or not targets.multilabel):
            # After an interruption the model is returned at once.
            threshold = ConstantThreshold(0.5)
        Y, weights, X = learned_rows(threshold, indicator, sample_weight, X)
        scores = self._label_scores(X) if learned else np.zeros(Y.shape)
        # The weight of the regression's loss is relative to the scale of the scores.
        unit = spread(scores, weights) if isinstance(threshold, FeaturesThreshold) else 1.0
        self.threshold_ = threshold.fit(scores / unit, Y, X, weights).rescale(unit)

    def _warn(self, X: Features, convexity: Convexity, solver: str, max_iter: int) -> None:
        if not convexity.convex:
            features = smallest_feature_eigenvalue(X)
            labels = convexity.smallest_label_eigenvalue
            warn(
                f"The published problem is not convex: lambda_min(X^T X) = {features:.6g} and alpha"
                f" * lambda_min(R) = {self.alpha:g} * {labels:.6g} add up to "
                f"{features + self.alpha * labels:.6g}, so the objective is unbounded below. The "
                f"published loop ended ({self.status_}) after {self.n_iter_} iterations at "
                f"{self.objective_:.6g}: its result depends on max_iter={max_iter}. Expected "
                "convexify=True or a smaller alpha.",
                ConvergenceWarning,
            )
        elif self.status_ == "time_limit":
            message = time_limit_message(
                self, f"{self.n_iter_} of max_iter={max_iter} epochs", self.dual_gap_
            )
            warn(message, ConvergenceWarning)
        elif self.status_ not in ("converged", "interrupted"):
            other = ", or use solver='auto'" if self.solver != "auto" and self.convexify else ""
            if solver == "apg" and self.solver == "auto":
                other = ", or use solver='admm', whose eigenvectors take minutes at this size"
            warn(
                f"LLSF ended ({self.status_}) after {self.n_iter_} of max_iter={max_iter} epochs "
                f"with a relative duality gap of {self.dual_gap_:.3g} and a KKT residual of "
                f"{self.kkt_residual_:.3g}, above tol={self.tol:g}. Increase max_iter, tol or "
                f"beta, or scale the features{other}."
                f"{told_scales(X, getattr(self, 'feature_names_in_', None))}",
                ConvergenceWarning,
            )

    def _label_scores(self, X: Features) -> Matrix:
        return product(X, self.coef_.T, thread_count(self.n_jobs))

    def get_support(
        self, indices: bool = False, *, label: int | str | None = None
    ) -> NDArray[np.bool_] | NDArray[np.intp]:
        """Return the features of a label, or of all labels together.

        Parameters
        ----------
        indices : bool, default=False
            If True, return indices instead of a mask.
        label : int, str or None, default=None
            The label's number (its place among the classes), or its name in `label_names_in_`.
            None means the union over all labels, which `transform` keeps.

        Returns
        -------
        ndarray of shape (d,) or (n_selected,)
            Mask of the features, or their indices.
        """
        if label is None:
            union: NDArray[Any] = super().get_support(indices=indices)
            return union
        check_is_fitted(self)
        mask: NDArray[Any] = self.label_specific_features_[self._label_number(label)]
        return np.flatnonzero(mask) if indices else mask.copy()

    def _label_number(self, label: int | str) -> int:
        q = self.coef_.shape[0]
        names = list(getattr(self, "label_names_in_", ()))
        if label in names:
            return names.index(label)
        if isinstance(label, str):
            raise ValueError(f"label is {label!r}; expected one of label_names_in_, {names}.")
        if not 0 <= label < q:
            raise ValueError(f"label is {label!r}; expected a number from 0 to {q - 1}.")
        return int(label)

    def _get_support_mask(self) -> NDArray[np.bool_]:
        check_is_fitted(self)
        mask: NDArray[np.bool_] = self.label_specific_features_.any(axis=0)
        return mask


@with_one_blas_thread
def beta_max(X: MatrixLike, y: LabelsLike) -> float:
    """Return the smallest beta for which all LLSF coefficients are 0.

    Parameters
    ----------
    X : array-like or CSR matrix of shape (n, d)
        Features.
    y : array-like or sparse matrix of shape (n, q), or array-like of shape (n,)
        Label indicator, or classes.

    Returns
    -------
    float
        The largest absolute entry of X^T Y: at W = 0 this is the gradient, whatever alpha is.
    """
    X, targets, _ = LLSF()._checked_data(X, y, None)
    return float(np.abs(correlation_of(X, targets.indicator)).max())
