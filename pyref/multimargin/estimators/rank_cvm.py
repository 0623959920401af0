"""Rank-CVM: the pairwise squared hinge whose margin is rewarded instead of fixed."""

from dataclasses import KW_ONLY, dataclass, replace
from typing import ClassVar

import numpy as np
from sklearn.utils.extmath import safe_sparse_dot

from multimargin import _rust
from multimargin.checks.targets import Targets
from multimargin.estimators.shared.certificate import at_margin_1, bounds_at_the_margin
from multimargin.estimators.shared.docstrings import with_shared_paragraphs
from multimargin.estimators.shared.engine import solve
from multimargin.estimators.shared.options import FrankWolfeOptions, checked_options
from multimargin.estimators.shared.pairwise import PairwiseClassifier
from multimargin.estimators.shared.problem import Fit, Matrix, Model, Problem
from multimargin.estimators.shared.time_limit import seconds_until
from multimargin.thresholds import Threshold


@with_shared_paragraphs
@dataclass(repr=False, eq=False)
class RankCVM(PairwiseClassifier):
    """Rank-CVM: label ranking by a multi-label core vector machine.

    Ranks the relevant labels of an instance above its irrelevant ones by a margin rho that is
    itself maximised. The solution is that of `RankLSVM` divided by a number, which is how the
    default solver finds it.

    Parameters
    ----------
    <C : float, default=10.0, the weight of the ranking loss>
    <kernel, gamma, degree, coef0 : as in `sklearn.svm.SVC`>
    solver : {"bcd", "dcd", "frank-wolfe", "exact"}, default="bcd"
        "bcd" solves the equivalent problem of `RankLSVM`, one instance exactly at a time, and "dcd"
        one pair at a time; "frank-wolfe" is the published loop on the problem itself, always from
        its own start; "exact" an interior-point solver (needs the extra ``multimargin[exact]``),
        for small problems.
    <threshold : name, float or Threshold, default="scores">
    tol : float, default=1e-3
        Relative duality gap at which to stop, positive.
    max_iter : int, default=1000
        Largest number of epochs: passes over the instances, or as many Frank-Wolfe iterations as
        there are label pairs (the paper's M, 50 there).
    <cache_size, n_jobs, random_state, verbose, warm_start : how the loop runs>
    <class_weight : what a pair counts by its relevant label>
    <top_k : int, float or None, how many irrelevant labels count>
    <max_time : float or None, seconds that the fit may take>
    options : FrankWolfeOptions or None, default=None
        The published stop rule of ``solver="frank-wolfe"``. None stops it by `tol`.

    Attributes
    ----------
    <classes_, multilabel_, label_names_in_, n_features_in_>
    <dual_coef_, support_, support_vectors_, coef_, intercept_, threshold_, n_iter_>
    <class_weight_ : ndarray of shape (q,)>
    rho_ : float
        The margin rho.
    objective_ : float
        Objective of Xu 2013, eq. (37), with nu = 1: half the squared norm of the weights and
        the bias, plus the sum over pairs of alpha^2 p_i r_i / (2 C).
    <dual_objective_, dual_gap_, status_, history_ : the certificate>

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

    _solvers: ClassVar[tuple[str, ...]] = ("bcd", "dcd", "frank-wolfe", "exact")

    _: KW_ONLY
    threshold: str | float | Threshold = "scores"
    top_k: int | float | None = None
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

    def _start(self, targets: Targets, weights: Matrix) -> Matrix | None:
        start = super()._start(targets, weights)
        return None if start is None else at_margin_1(start, self.rho_)


def _solve_by_scaling(problem: Problem, solver: str) -> Fit:
    """Solve problem 37 by the squared hinge at a margin of 1, of which its solution is a multiple.

    "stalled" where rounding leaves the gap of problem 37 too large. Without rounding that gap is
    never the larger one: with S the sum of the dual variables and Q their quadratic form,
    D = S - Q/2 <= S^2/(2 Q), and the objective of problem 37 is Q/(2 S^2).
    """
    tell = problem.callback
    if tell is not None:
        problem = replace(
            problem,
            callback=lambda epoch, seconds, primal, dual, active: tell(
                epoch, seconds, *bounds_at_the_margin(primal, dual), active
            ),
        )
    fit = solve(problem, solver)
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
        history={**fit.history, "primal": upper, "dual": lower},
    )


def _simplex_certificate(fit: Fit, total: float) -> tuple[float, float, float]:
    """Return objective, bound and gap of problem 37 at a fit of the squared hinge at margin 1."""
    objective = (total - fit.dual_objective) / total / total if total > 0.0 else np.inf
    _, bound = bounds_at_the_margin(fit.primal, fit.dual_objective)
    gap = (objective - bound) / objective if np.isfinite(objective) else np.inf
    return objective, bound, gap
