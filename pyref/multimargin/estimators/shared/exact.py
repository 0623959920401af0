"""``solver="exact"``: the same problem, taken to the reference's interior-point models."""

import time
from typing import Any, cast

import numpy as np
from sklearn.utils.extmath import safe_sparse_dot

from multimargin.checks.labels import with_nan
from multimargin.estimators.shared.pair_weights import pairs_of
from multimargin.estimators.shared.problem import Fit, Matrix, Model, Problem
from multimargin.kernels import Kernel
from multimargin.reference import mlodm, rank_lsvm, rank_svm, rank_svmz, top_k
from multimargin.reference.exact import Bias, pair_weights, pairs, relative_gap


def solve_exactly(problem: Problem, model: Model) -> Fit:
    """Solve a small problem of the pairwise family with an interior-point solver."""
    began = time.perf_counter()
    K, Y = kernel_matrix(problem), with_nan(problem.indicator)
    C: Any = problem.C
    if problem.pair_weights is not None:
        # The number of each row that, over the number of its pairs, is their weight.
        zero_label = model.loss == "zero_label_hinge"
        known = np.count_nonzero(problem.indicator <= 1, axis=1)
        count = known if zero_label else pairs_of(problem.indicator, problem.top)
        C = np.maximum(problem.pair_weights * count, np.finfo(np.float64).tiny)
    if problem.label_weights is not None:
        # By row and label, of which those of relevant labels count.
        C = np.asarray(C).reshape(-1, 1) * np.where(Y == 1, problem.label_weights, 1.0)
    # Each dual model returns its value at a feasible point, which bounds the optimum from below.
    solution: rank_svm.Solution | rank_svmz.Solution
    weight = float(pair_weights(pairs(Y), C).sum())
    if problem.top is not None:
        top, loss, bias = problem.top, cast(top_k.Loss, model.loss), cast(Bias, model.bias)
        solution = top_k.dual(K, Y, C, top, loss, bias)
        primal = top_k.primal_objective(K, Y, C, top, loss, bias, solution.B, solution.b)
        loss_at_zero = weight if model.loss == "hinge" else 0.5 * weight
    elif model.loss == "hinge":
        solution = rank_svm.dual(K, Y, C, model.bias)  # type: ignore[arg-type]
        primal = rank_svm.primal_objective(K, Y, C, solution.B, solution.b, model.bias)  # type: ignore[arg-type]
        loss_at_zero = weight
    elif model.loss == "zero_label_hinge":
        solution = rank_svmz.dual(K, Y, C, model.bias)  # type: ignore[arg-type]
        primal = rank_svmz.primal_objective(K, Y, C, solution.B, solution.b, model.bias)  # type: ignore[arg-type]
        loss_at_zero = float(np.sum(rank_svmz.label_weights(Y, C)))
    elif model.loss == "squared_hinge":
        solution = rank_lsvm.dual(K, Y, C)
        primal = rank_lsvm.primal_objective(K, Y, C, solution.B)
        loss_at_zero = 0.5 * weight
    else:
        solution = mlodm.dual(K, Y, C, model.theta, model.mu)
        primal = mlodm.primal_objective(K, Y, C, model.theta, model.mu, solution.B)
        loss_at_zero = 0.5 * (1.0 - model.theta) ** 2 * weight
    dual = solution.objective
    # Within the rounding of the objective at 0 there is nothing left to solve.
    solved = relative_gap(primal, dual, loss_at_zero) <= problem.tol
    if solved:
        # A bound may be lower than it has to be, but not above the objective.
        dual = min(dual, primal)
    linear = problem.kernel.name == "linear"
    return Fit(
        dual=solution.B,
        bias=solution.b,
        scores=np.ascontiguousarray(solution.F - solution.b),
        weights=safe_sparse_dot(problem.X.T, solution.B) if linear else None,
        status="converged" if solved else "stalled",
        n_iter=1,
        primal=primal,
        dual_objective=dual,
        gap=relative_gap(primal, dual),
        history={
            "epoch": np.array([1]),
            "seconds": np.array([time.perf_counter() - began]),
            "primal": np.array([primal]),
            "dual": np.array([dual]),
        },
    )


def kernel_matrix(problem: Problem) -> Matrix:
    """Return the kernel matrix of a problem's training rows, exactly symmetric."""
    kernel: Kernel = problem.kernel
    if kernel.name == "precomputed":
        K: Matrix = problem.X
    else:
        K = kernel.matrix(problem.X, threads=problem.threads)
    return (K + K.T) / 2.0
