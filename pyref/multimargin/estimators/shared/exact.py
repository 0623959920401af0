"""``solver="exact"``: the problem in the terms of `multimargin.reference`, which solves it."""

import time
from typing import Any

import numpy as np
from sklearn.utils.extmath import safe_sparse_dot

from multimargin.estimators.shared import zero_label
from multimargin.estimators.shared.certificate import relative_gap
from multimargin.estimators.shared.pair_weights import pairs_of
from multimargin.estimators.shared.problem import Fit, Matrix, Problem, history_of
from multimargin.kernels import Kernel
from multimargin.reference import beyond, exact, rank_svmz
from multimargin.reference.interior_point import import_cvxpy
from multimargin.targets.indicator import with_nan


def solve_exactly(problem: Problem, *, rewarded_margin: bool = False) -> Fit:
    """Solve a small problem of the pairwise family with an interior-point solver.

    With a rewarded margin the squared hinge has the margin rho of Xu 2013, eq. (37).
    """
    import_cvxpy()
    began = time.perf_counter()
    model, top = problem.model, problem.top
    K, C = kernel_matrix(problem), _weights(problem)
    # What weighs nothing is as good as unknown.
    unknown = (problem.pair_weights == 0.0)[:, None]
    Y = np.where(unknown, np.nan, with_nan(problem.indicator))
    of_labels = model.loss == zero_label.LOSS
    loss_at_zero = float(rank_svmz.weights(Y, C).sum()) if of_labels else 0.0
    if of_labels:
        found = exact.zero_label(K, Y, C, model.bias)
    elif not ((Y == 1).any(axis=1) & (Y == 0).any(axis=1)).any():
        found = exact.Solution(0.0, 0.0, np.zeros(Y.shape), np.zeros(Y.shape[1]), 0.0)
    elif model.loss == "hinge":
        found = exact.hinge(K, Y, C, model.bias, top)
        loss_at_zero = float(beyond.upper_bounds(Y, C).sum())
    elif rewarded_margin:
        found = exact.margin_rho(K, Y, C, top)
    elif model.loss == "squared_hinge":
        found = exact.squared_hinge(K, Y, C, top)
        loss_at_zero = float(beyond.upper_bounds(Y, C).sum()) / 2.0
    else:
        found = exact.optimal_margin(K, Y, C, model.theta, model.mu)
        loss_at_zero = (1.0 - model.theta) ** 2 * float(beyond.upper_bounds(Y, C).sum()) / 2.0
    primal, dual, rounding = found.upper, found.lower, found.rounding
    # Within the rounding of the objective at 0 there is nothing left to solve.
    solved = relative_gap(primal, dual, rounding, loss_at_zero) <= problem.tol
    if solved:
        # A bound may be lower than it has to be, but not above the objective.
        dual = min(dual, primal)
        solved = relative_gap(primal, dual, rounding) <= problem.tol
    linear = problem.kernel.name == "linear"
    B, b, expansion = found.B, found.b, None
    if of_labels:
        # f_k - f_0, of which the labels above the zero label are those above 0.
        B, b, expansion = B[:, :-1], b[:-1] - b[-1], B[:, :-1] - B[:, -1:]
    of_scores = B if expansion is None else expansion
    return Fit(
        dual=np.ascontiguousarray(B),
        expansion=expansion,
        bias=b,
        scores=np.ascontiguousarray(K @ of_scores),
        weights=safe_sparse_dot(problem.X.T, of_scores) if linear else None,
        status="converged" if solved else "stalled",
        n_iter=1,
        primal=primal,
        dual_objective=dual,
        gap=relative_gap(primal, dual, rounding),
        rounding=rounding,
        history=history_of(np.array([[1.0], [time.perf_counter() - began], [primal], [dual]])),
    )


def _weights(problem: Problem) -> Any:
    """Return C, by row or by row and label, where they weigh something."""
    C: Any = problem.C
    if not problem.balanced:
        # The number of each row that, over the number of its pairs, is their weight.
        known = np.count_nonzero(problem.indicator <= 1, axis=1)
        of_labels = problem.model.loss == zero_label.LOSS
        C = problem.pair_weights * (
            known if of_labels else pairs_of(problem.indicator, problem.top)
        )
    if problem.label_weights is None:
        return C
    # Of those of a row, the weights of relevant labels count.
    relevant = problem.indicator == 1
    return np.reshape(C, (-1, 1)) * np.where(relevant, problem.label_weights, 1.0)


def kernel_matrix(problem: Problem) -> Matrix:
    """Return the kernel matrix of a problem's training rows, exactly symmetric."""
    kernel: Kernel = problem.kernel
    if kernel.name == "precomputed":
        K: Matrix = problem.X
    else:
        K = kernel.matrix(problem.X, threads=problem.threads)
    return (K + K.T) / 2.0
