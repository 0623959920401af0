"""Rank-CVM: the pairwise squared hinge with a margin that is rewarded instead of fixed."""

from dataclasses import KW_ONLY, dataclass, replace
from typing import ClassVar

import numpy as np
from sklearn.utils.extmath import safe_sparse_dot

from multimargin import _rust
from multimargin.estimators.bases.kernel_expansion import TrainingData
from multimargin.estimators.bases.pairwise import PairwiseClassifier
from multimargin.estimators.bases.signatures import own_first
from multimargin.estimators.fitting.options import FrankWolfeOptions, checked_options
from multimargin.estimators.fitting.time_limit import seconds_until
from multimargin.estimators.pairwise.certificate import at_margin_1, bounds_at_the_margin
from multimargin.estimators.pairwise.engine import solve_problem
from multimargin.estimators.pairwise.problem import Fit, Model, Problem
from multimargin.thresholds import Threshold
from multimargin.typing import Matrix


@own_first
@dataclass(repr=False, eq=False)
class RankCVM(PairwiseClassifier):
    """Rank-CVM: label ranking by a multi-label core vector machine.

    Ranks the relevant labels of an instance above its irrelevant ones by a margin rho that is
    itself maximised. The solution is a multiple of that of `RankLSVM`, which is how the default
    solver finds it.

    Parameters
    ----------
    C : float, default=10.0
        Weight of the ranking loss against the regularisation, positive. It multiplies the mean over
        the pairs of a row, not a sum over its labels, so that a useful C is larger than that of
        one-vs-rest. At 10 the mean ranks over seven data sets are no worse than those of
        one-vs-rest `SVC` and `LinearSVC` at their defaults, at 1 they are
        (`benchmarks/defaults.py`).
    top_k : int, float or None, default=None
        Number of irrelevant labels that each relevant label is compared with: those with the
        largest scores in its row, instead of all, which emphasises the top of the ranking. An int
        of at least 1, or a float in (0, 1], a share of all labels; None means all. C multiplies the
        mean over these pairs, of which few are zero: a C tuned for all of q labels is about
        q / `top_k` times too large here. Not supported by the solvers "dcd" and "frank-wolfe".
    threshold : {"auto", "scores", "features", "micro", "macro", "samples", "count"}, float or \
            Threshold, default="auto"
        Threshold above which labels are predicted: learned from the scores (linear least squares)
        or the features (linear support vector regression), the one of all with the best micro-F1 or
        F1 of the rows, one for each label (SCut), for a number of labels (RCut), or a constant; see
        `multimargin.thresholds`. "auto" is "scores", as in the papers, up to 1,000 labels, but
        "features" where one row in a hundred or more has no label, and "micro" above. It is learned
        from the scores of the training rows; `ThresholdedClassifier` learns it from those of
        held-out rows.
    options : FrankWolfeOptions or None, default=None
        The published stopping rule of ``solver="frank-wolfe"``. None stops by `tol`.
    kernel : str or callable, default="rbf"
        "linear", "rbf", "poly", "sigmoid" and "precomputed" are as in `sklearn.svm.SVC`, and
        "laplacian" is exp(-gamma sum_k abs(x_k - y_k)).
    gamma : {"scale", "auto", "mean_distance"} or float, default="scale"
        Coefficient of all but "linear" and "precomputed": "scale" is 1 / (d Var(X)), "auto" is
        1 / d, "mean_distance" is 1 / (2 m^2) with the mean Euclidean distance m of two training
        rows, the width of Zhang & Yeung 2013. For "laplacian" they are 1 / (d Std(X)), 1 / d and
        1 / m with the mean of sum_k abs(x_k - y_k).
    degree : int, default=3
        Degree of "poly", at least 0.
    coef0 : float, default=0.0
        Constant term of "poly" and "sigmoid".
    solver : {"bcd", "dcd", "frank-wolfe"}, default="bcd"
        "bcd" solves the equivalent problem of `RankLSVM`, one instance exactly at a time, and "dcd"
        one pair at a time; "frank-wolfe" is the published loop on the problem itself, always from
        its own start.
    tol : float, default=1e-3
        Relative duality gap at which to stop, positive.
    max_iter : int, default=1000
        Largest number of epochs: passes over the instances, or as many Frank-Wolfe iterations as
        there are label pairs (the paper's M, 50 there).
    cache_size : float, default=1000
        Megabytes for the kernel matrix, four or eight bytes per value. If it does not fit, its rows
        are computed when needed, and as many as fit are kept.
    n_jobs : int, default=None
        Number of threads; None means 1. The result does not depend on it.
    verbose : int, default=0
        1 prints a line after each epoch.
    max_time : float or None, default=None
        Time limit of the fit in seconds, positive; None means no limit. A fit that reaches it
        returns the model so far, with its certificate and the status "time_limit". The first epoch
        is always completed and the threshold always learned.
    random_state : int, RandomState instance or None, default=None
        Order in which the instances are visited; an int makes the result reproducible.
    warm_start : bool, default=False
        Start from the previous solution (scaled down to a smaller C) where the rows are those of
        the fit before, or begin with them, and have as many labels. Fits of increasing C, or with
        new rows at the end, then need fewer epochs. A linear model keeps its training rows and dual
        variables only with True.
    class_weight : {"balanced", "sqrt"}, dict, array-like of shape (q,) or None, default=None
        Weights of the labels: factors of a label's pairs in the rows in which it is relevant.
        "balanced" is proportional to 1/n_m for a label that is relevant in n_m rows, "sqrt" to the
        square root of that, both scaled to a mean of 1 over the rows and their relevant labels, so
        that C keeps its meaning. A dict by label name or column (1 for those left out) and an array
        are used as given. None means 1 for all labels, so that frequent labels dominate.

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
    dual_coef_ : ndarray of shape (n_support, q)
        The nonzero rows of the coefficients of the kernel expansion. A model with a linear kernel
        is `coef_` and `intercept_`, and has this and the next two only with ``warm_start=True``:
        they are where the next fit starts, and within the gap of an expansion of `coef_`.
    support_ : ndarray of shape (n_support,)
        Their training rows.
    support_vectors_ : ndarray or CSR matrix of shape (n_support, d)
        Their features (no columns for a precomputed kernel).
    coef_ : ndarray of shape (q, d)
        Weights, for a linear kernel; float32 where they are more than 2**26 numbers, `X` is sparse,
        and C and `tol` leave room for the rounding.
    intercept_ : ndarray of shape (q,)
        Bias b.
    threshold_ : object
        The fitted threshold.
    n_iter_ : int
        Number of epochs.
    class_weight_ : ndarray of shape (q,)
        Weight of the pairs of each label where it is relevant.
    rho_ : float
        The margin rho.
    objective_ : float
        Objective of Xu 2013, eq. (37), with nu = 1: half the squared norm of the weights and
        the bias, plus the sum over pairs of alpha^2 p_i r_i / (2 C).
    dual_objective_ : float
        Dual objective, a lower bound of the optimum.
    dual_gap_ : float
        ``(objective_ - dual_objective_) / objective_``, recomputed at the returned point.
    status_ : str
        "converged", "max_iterations", "stalled" (rounding allows no further step), "inexact" (the
        model's own scores differ by rounding from those that were certified, and their gap is above
        `tol`), "indefinite_kernel", "time_limit" (`max_time` is over) or "interrupted" (by
        Ctrl-C; ``objective_`` of a large problem is then infinite, to return at once).
    history_ : dict of ndarray
        One entry per certificate: "epoch", "seconds", "primal", "dual". There is one after each
        epoch; iterations on all rows at once, up to 20 in a row where a problem is slow, count
        as epochs without a certificate.

    Notes
    -----
    The problem is Xu 2013, eq. (30), its dual eq. (37). The primal optimum is minus
    the dual one; both objectives are given in the sign of eq. (37).

    Examples
    --------
    >>> from multimargin import RankCVM
    >>> from multimargin.datasets import load_digit_attributes
    >>> X, X_test, Y, Y_test = load_digit_attributes().train_test()
    >>> model = RankCVM(C=10.0, random_state=0).fit(X, Y)
    >>> model.status_
    'converged'
    """

    _solvers: ClassVar[tuple[str, ...]] = ("bcd", "dcd", "frank-wolfe")

    _: KW_ONLY
    top_k: int | float | None = None
    threshold: str | float | Threshold = "auto"
    options: FrankWolfeOptions | None = None

    def _model(self) -> Model:
        return Model("squared_hinge", "penalized")

    def _check_parameters(self) -> None:
        super()._check_parameters()
        checked_options(self.options, FrankWolfeOptions)

    def _solve(self, problem: Problem) -> Fit:
        if self.solver != "frank-wolfe":
            return _solve_by_scaling(problem, self.solver)
        epsilon = checked_options(self.options, FrankWolfeOptions).epsilon
        return _solve_by_frank_wolfe(problem, epsilon)

    def _of_engine(self, fit: Fit, pairs: float) -> Fit:
        return _divided(fit, pairs)

    def _gap(self, fit: Fit, pairs: float) -> float:
        return _simplex_certificate(fit, pairs)[2]

    def _start(self, data: TrainingData, weights: Matrix) -> Matrix | None:
        start = super()._start(data, weights)
        return None if start is None else at_margin_1(start, self.rho_)


def _solve_by_scaling(problem: Problem, solver: str) -> Fit:
    """Solve problem 37 by the squared hinge at a margin of 1, of which its solution is a multiple.

    The status is "stalled" if rounding leaves the gap of problem 37 too large. Without rounding
    that gap is never the larger one: with S the sum of the dual variables and Q their quadratic
    form, D = S - Q/2 <= S^2/(2 Q), and the objective of problem 37 is Q/(2 S^2).
    """
    tell = problem.callback
    if tell is not None:
        problem = replace(
            problem,
            callback=lambda epoch, seconds, primal, dual, active: tell(
                epoch, seconds, *bounds_at_the_margin(primal, dual), active
            ),
        )
    fit = solve_problem(problem, solver)
    total = float(fit.dual[problem.indicator == 1].sum())
    if fit.status == "converged" and not _simplex_certificate(fit, total)[2] <= problem.tol:
        fit = replace(fit, status="stalled")
    return _divided(fit, total)


def _solve_by_frank_wolfe(problem: Problem, epsilon: float | None) -> Fit:
    """Solve problem 37 by the published loop."""
    kernel = problem.kernel
    solution = _rust.solve_simplex(
        problem.indicator,
        kernel.features(problem.X),
        c=problem.C,
        kernel_name=kernel.name,
        **kernel.parameters,
        absolute=epsilon is not None,
        tolerance=problem.tol if epsilon is None else float(epsilon),
        max_epochs=problem.max_iter,
        cache_bytes=problem.cache_bytes,
        callback=problem.callback,
        seconds=seconds_until(problem.deadline),
        pair_weights=None if problem.balanced else problem.pair_weights,
        label_weights=problem.label_weights,
    )
    linear = kernel.name == "linear"
    weights = safe_sparse_dot(problem.X.T, solution["dual"]) if linear else None
    return Fit(**solution, weights=weights, attributes={"rho_": solution["margin"]})


def _divided(fit: Fit, total: float) -> Fit:
    """Return the solution of problem 37 that belongs to one of the squared hinge at margin 1.

    With S the sum of all dual variables, B/S is feasible for problem 37, and its value is
    (S - D)/S^2 where D is the dual objective of `fit`.
    """
    scale = 1.0 / total if total > 0.0 else 0.0
    objective, bound, gap = _simplex_certificate(fit, total)
    upper, lower = np.vectorize(bounds_at_the_margin, otypes=[float, float])(
        fit.history["primal"], fit.history["dual"]
    )
    for array in (fit.dual, fit.bias, fit.scores, fit.weights):
        if array is not None:
            array *= scale
    return replace(
        fit,
        margin=scale,
        attributes={"rho_": scale},
        primal=objective,
        dual_objective=bound,
        gap=gap,
        # Both values are those at a margin of 1 over squares of the same size.
        rounding=2.0 * scale * (scale * fit.rounding),
        history={**fit.history, "primal": upper, "dual": lower},
    )


def _simplex_certificate(fit: Fit, total: float) -> tuple[float, float, float]:
    """Return objective, bound and gap of problem 37 at a fit of the squared hinge at margin 1."""
    objective = (total - fit.dual_objective) / total / total if total > 0.0 else np.inf
    _, bound = bounds_at_the_margin(fit.primal, fit.dual_objective)
    gap = (objective - bound) / objective if np.isfinite(objective) else np.inf
    return objective, bound, gap
