"""Rank-CVM: the pairwise squared hinge whose margin is rewarded instead of fixed."""

from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.extmath import safe_sparse_dot

from multimargin import _rust
from multimargin.estimators.shared.certificate import Bounds
from multimargin.estimators.shared.docstrings import with_shared_paragraphs
from multimargin.estimators.shared.engine import fit_of
from multimargin.estimators.shared.options import FrankWolfeOptions, checked_options
from multimargin.estimators.shared.pairwise import PairwiseClassifier
from multimargin.estimators.shared.problem import Fit, Matrix, Model, Problem
from multimargin.estimators.shared.time_limit import seconds_until
from multimargin.kernels import KernelFunction
from multimargin.thresholds import Threshold

_Support = tuple[NDArray[np.uint32], Matrix]

_FRANK_WOLFE = ("frank-wolfe", "pairwise-frank-wolfe")


@with_shared_paragraphs
class RankCVM(PairwiseClassifier):
    """Rank-CVM: label ranking by a multi-label core vector machine.

    Ranks the relevant labels of an instance above its irrelevant ones by a margin rho that is
    itself maximised. The solution is that of `RankLSVM` divided by a number, which is how the
    default solver finds it.

    Parameters
    ----------
    <ranking_weight>
    kernel : {"linear", "rbf", "poly", "sigmoid", "precomputed"} or callable, default="rbf"
        The kernel, as in `sklearn.svm.SVC`.
    <kernel_parameters>
    solver : {"bcd", "dcd", "frank-wolfe", "pairwise-frank-wolfe", "exact"}, default="bcd"
        "bcd" solves the equivalent problem of `RankLSVM`, one instance exactly at a time, and "dcd"
        one pair at a time; "frank-wolfe" is the published loop on the problem itself, and
        "pairwise-frank-wolfe" a variant with linear convergence; "exact" an interior-point solver
        (needs the extra ``multimargin[exact]``), for small problems.
    <threshold>
    tol : float, default=1e-3
        Relative duality gap at which to stop, positive.
    max_iter : int, default=1000
        Largest number of epochs: passes over the instances, or as many Frank-Wolfe iterations as
        there are label pairs (the paper's M, 50 there).
    <run_parameters>
    <class_weight>
    <top_k>
    <max_time>
    options : FrankWolfeOptions or None, default=None
        The published stop rule of the two Frank-Wolfe solvers. None stops them by `tol`.

    Attributes
    ----------
    <target_attributes>
    <model_attributes>
    <class_weight_attribute>
        For the two Frank-Wolfe solvers, iterations, also in `history_`.
    rho_ : float
        The margin rho.
    objective_ : float
        Objective of Xu 2013, eq. (37), with nu = 1: half the squared norm of the weights and
        the bias, plus the sum over pairs of alpha^2 p_i r_i / (2 C).
    <certificate>

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

    _solvers: ClassVar[tuple[str, ...]] = ("bcd", "dcd", *_FRANK_WOLFE, "exact")

    options: FrankWolfeOptions | None
    _simplex_support: _Support | None = None

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
        class_weight: Any = None,
        top_k: int | float | None = None,
        max_time: float | None = None,
        options: FrankWolfeOptions | None = None,
    ) -> None:
        self._keep(locals())

    def _model(self) -> Model:
        return Model("squared_hinge", "penalized")

    def _check_parameters(self) -> None:
        super()._check_parameters()
        checked_options(self.options, FrankWolfeOptions)

    def _solve(self, problem: Problem) -> Fit:
        if self.solver in _FRANK_WOLFE:
            return self._solve_by_frank_wolfe(problem)
        tell = problem.callback
        if tell is not None:
            problem = replace(
                problem,
                callback=lambda epoch, seconds, primal, dual, active: tell(
                    epoch, seconds, *_simplex_bounds(primal, dual), active
                ),
            )
        self._simplex_support = None
        fit = self._solve_at_margin_1(problem)
        return self._of_engine(fit, _sum_of_dual_variables(fit, problem))

    def _of_engine(self, fit: Fit, pairs: float) -> Fit:
        self.rho_ = 1.0 / pairs if pairs > 0.0 else 0.0
        return _divided(fit, pairs)

    def _gap(self, fit: Fit, pairs: float) -> float:
        return _simplex_certificate(fit, pairs)[2]

    def _solve_at_margin_1(self, problem: Problem) -> Fit:
        """Solve the squared hinge; "stalled" where rounding leaves the gap of problem 37 too large.

        Without rounding that gap is never the larger one: with S the sum of the dual variables and
        Q their quadratic form, D = S - Q/2 <= S^2/(2 Q), and the objective of problem 37 is
        Q/(2 S^2).
        """
        fit = super()._solve(problem)
        gap = self._gap(fit, _sum_of_dual_variables(fit, problem))
        if fit.status == "converged" and not gap <= problem.tol:
            return replace(fit, status="stalled")
        return fit

    def _solve_by_frank_wolfe(self, problem: Problem) -> Fit:
        kernel = problem.kernel
        epsilon = checked_options(self.options, FrankWolfeOptions).epsilon
        solution = _rust.solve_simplex(
            problem.indicator,
            kernel.features(problem.X),
            c=problem.C,
            kernel_name=kernel.name,
            gamma=kernel.gamma,
            degree=kernel.degree,
            coef0=kernel.coef0,
            pairwise=self.solver == "pairwise-frank-wolfe",
            absolute=epsilon is not None,
            tolerance=problem.tol if epsilon is None else float(epsilon),
            max_epochs=problem.max_iter,
            recorded_steps=0,
            start=None if problem.start is None else self._support_among(problem.indicator),
            cache_bytes=problem.cache_bytes,
            callback=problem.callback,
            seconds=seconds_until(problem.deadline),
            pair_weights=problem.pair_weights,
            label_weights=problem.label_weights,
        )
        self._simplex_support = solution.support
        self.rho_ = solution.rho
        linear = kernel.name == "linear"
        return fit_of(
            solution, weights=safe_sparse_dot(problem.X.T, solution.dual) if linear else None
        )

    def _at_margin_1(self, values: Any, power: int = 1) -> Any:
        """Return values that grow with a power of the model as those of the model at a margin of 1.

        Where the loop fell back on B = 0, rho is 0, and that model is 0 as well.
        """
        return values / self.rho_**power if self.rho_ > 0.0 else 0.0 * values

    def _margin_loss(self, indicator: NDArray[np.uint8], weights: Matrix, scores: Matrix) -> float:
        return super()._margin_loss(indicator, weights, self._at_margin_1(scores))

    def _change_of_objective(self, change: float, fit: Fit) -> float:
        # The objective at a margin of 1 is 1/(4 objective) at the optimum.
        return 4.0 * fit.primal**2 * change

    def _own_bounds(
        self, indicator: NDArray[np.uint8], weights: Matrix, own: Matrix, fit: Fit
    ) -> Bounds:
        norm = self._squared_norm(own)
        loss = self._margin_loss(indicator, weights, own)
        at_margin_1 = self._at_margin_1(0.5 * norm, power=2) + loss
        assert fit.scores is not None
        said = fit.scores + fit.bias
        change = float(np.sum(self.dual_coef_ * (own - said)[self.support_]))
        _, bound = _simplex_bounds(at_margin_1, 0.0)
        # The norm alone is a part of the objective, whatever rounding has left of the rest.
        primal = max(fit.primal + 0.5 * change, 0.5 * norm)
        return primal, min(bound, fit.dual_objective)

    def _threshold_unit(self, fit: Fit, sample_weight: Matrix | None = None) -> float:
        # The margin, so that the threshold is that of `RankLSVM`, scaled.
        return self.rho_

    def _start(self, targets: Any, weights: Matrix) -> Matrix | None:
        start = super()._start(targets, weights)
        return None if start is None else self._at_margin_1(start)

    def _support_among(self, indicator: NDArray[np.uint8]) -> _Support | None:
        """Return the previous Frank-Wolfe support, as far as its pairs are pairs still."""
        if self._simplex_support is None:
            return None
        pairs, alpha = self._simplex_support
        i, m, n = pairs.T
        kept = (indicator[i, m] == 1) & (indicator[i, n] == 0)
        return (pairs[kept], alpha[kept]) if kept.any() else None


def _divided(fit: Fit, total: float) -> Fit:
    """Return the solution of problem 37 that belongs to one of the squared hinge at margin 1.

    With S the sum of all dual variables, B/S is feasible for problem 37, and its value is
    (S - D)/S^2 where D is the dual objective of `fit`.
    """
    scale = 1.0 / total if total > 0.0 else 0.0
    objective, bound, gap = _simplex_certificate(fit, total)
    upper, lower = np.vectorize(_simplex_bounds, otypes=[float, float])(
        fit.history["primal"], fit.history["dual"]
    )
    for array in (fit.dual, fit.bias, fit.scores, fit.weights):
        if array is not None:
            array *= scale
    return replace(
        fit,
        primal=objective,
        dual_objective=bound,
        gap=gap,
        history={**fit.history, "primal": upper, "dual": lower},
    )


def _sum_of_dual_variables(fit: Fit, problem: Problem) -> float:
    return float(fit.dual[problem.indicator == 1].sum())


def _simplex_certificate(fit: Fit, total: float) -> tuple[float, float, float]:
    """Return objective, bound and gap of problem 37 at a fit of the squared hinge at margin 1."""
    objective = (total - fit.dual_objective) / total / total if total > 0.0 else np.inf
    _, bound = _simplex_bounds(fit.primal, fit.dual_objective)
    gap = (objective - bound) / objective if np.isfinite(objective) else np.inf
    return objective, bound, gap


def _simplex_bounds(primal: float, dual: float) -> tuple[float, float]:
    """Bounds of the optimum W of problem 37 from those of the squared hinge at margin 1.

    The optimum of the latter is S/2, that of the former 1/(2 S).
    """
    return (
        1.0 / (4.0 * dual) if dual > 0.0 else np.inf,
        1.0 / (4.0 * primal) if primal > 0.0 else 0.0,
    )
