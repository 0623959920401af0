"""``solver="exact"``: the same problem, taken to an interior-point solver."""

import time
from typing import Any, cast

import numpy as np
from sklearn.utils.extmath import safe_sparse_dot

from multimargin.checks.labels import with_nan
from multimargin.estimators.shared import exact_models
from multimargin.estimators.shared.exact_pairs import Bias, pair_weights, pairs
from multimargin.estimators.shared.exact_solver import relative_gap
from multimargin.estimators.shared.pair_weights import pairs_of
from multimargin.estimators.shared.problem import Fit, Matrix, Problem, history_of
from multimargin.kernels import Kernel


def solve_exactly(problem: Problem) -> Fit:
    """Solve a small problem of the pairwise family with an interior-point solver."""
    began = time.perf_counter()
    model = problem.model
    K, Y = kernel_matrix(problem), with_nan(problem.indicator)
    C: Any = problem.C
    if not problem.balanced:
        # The number of each row that, over the number of its pairs, is their weight.
        zero_label = model.loss == "zero_label_hinge"
        known = np.count_nonzero(problem.indicator <= 1, axis=1)
        count = known if zero_label else pairs_of(problem.indicator, problem.top)
        C = np.maximum(problem.pair_weights * count, np.finfo(np.float64).tiny)
    if problem.label_weights is not None:
        # By row and label, of which those of relevant labels count.
        C = np.asarray(C).reshape(-1, 1) * np.where(Y == 1, problem.label_weights, 1.0)
    # Each solution has the value of a feasible dual point, which bounds the optimum from below.
    bias, top = cast(Bias, model.bias), problem.top
    linear = problem.kernel.name == "linear"
    # Sums by weights: beside K at 1e11 those by kernel values leave nothing of scores of 1.
    X = problem.X if linear else None
    weight = float(pair_weights(pairs(Y), C).sum())
    if model.loss == "hinge":
        solution, loss_at_zero = exact_models.hinge(K, Y, C, bias, top, X), weight
    elif model.loss == "zero_label_hinge":
        solution = exact_models.zero_label(K, Y, C, bias, X)
        loss_at_zero = float(np.sum(exact_models.label_weights(Y, C)))
    elif model.loss == "squared_hinge":
        solution = exact_models.squared_hinge(K, Y, C, bias, top, X)
        loss_at_zero = 0.5 * weight
    else:
        solution = exact_models.optimal_margin(K, Y, C, model.theta, model.mu, X)
        loss_at_zero = 0.5 * (1.0 - model.theta) ** 2 * weight
    primal, dual, rounding = solution.primal, solution.objective, solution.rounding
    # Within the rounding of the objective at 0 there is nothing left to solve.
    solved = relative_gap(primal, dual, rounding, loss_at_zero) <= problem.tol
    if solved:
        # A bound may be lower than it has to be, but not above the objective.
        dual = min(dual, primal)
    return Fit(
        dual=solution.B,
        bias=solution.b,
        scores=np.ascontiguousarray(solution.F - solution.b),
        weights=safe_sparse_dot(problem.X.T, solution.B) if linear else None,
        status="converged" if solved else "stalled",
        n_iter=1,
        primal=primal,
        dual_objective=dual,
        gap=relative_gap(primal, dual, rounding),
        rounding=rounding,
        history=history_of(np.array([[1.0], [time.perf_counter() - began], [primal], [dual]])),
    )


def kernel_matrix(problem: Problem) -> Matrix:
    """Return the kernel matrix of a problem's training rows, exactly symmetric."""
    kernel: Kernel = problem.kernel
    if kernel.name == "precomputed":
        K: Matrix = problem.X
    else:
        K = kernel.matrix(problem.X, threads=problem.threads)
    return (K + K.T) / 2.0
