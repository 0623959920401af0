"""The one call of the compiled engine that all methods of the pairwise family share."""

from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse

from multimargin import _rust
from multimargin.estimators.shared.problem import Fit, Matrix, Model, Problem, history_of
from multimargin.estimators.shared.time_limit import seconds_until


def solve(problem: Problem, model: Model, solver: str) -> Fit:
    """Solve a problem of the pairwise family."""
    mean = _offset(problem) if model.bias == "free" else None
    if mean is not None:
        centred = problem.X - mean
        start_bias = problem.start_bias
        if start_bias is not None and problem.start is not None:
            start_bias = start_bias + mean @ (centred.T @ problem.start)
        fit = solve(replace(problem, X=centred, start_bias=start_bias), model, solver)
        assert fit.weights is not None
        # With columns of B that sum to zero, moving the features moves nothing but the bias.
        moved = mean @ fit.weights
        scores = None if fit.scores is None else fit.scores + moved
        return replace(fit, bias=fit.bias - moved, scores=scores)
    kernel = problem.kernel
    solution = _rust.solve_pairwise(
        problem.indicator,
        kernel.features(problem.X),
        c=problem.C,
        loss=model.loss,
        theta=model.theta,
        mu=model.mu,
        kernel_name=kernel.name,
        gamma=kernel.gamma,
        degree=kernel.degree,
        coef0=kernel.coef0,
        bias=model.bias,
        solver=solver,
        start=problem.start,
        tolerance=problem.tol,
        max_epochs=problem.max_iter,
        seed=problem.seed,
        cache_bytes=problem.cache_bytes,
        threads=problem.threads,
        callback=problem.callback,
        start_bias=problem.start_bias,
        metric=problem.metric,
        pair_weights=problem.pair_weights,
        label_weights=problem.label_weights,
        top=problem.top,
        seconds=seconds_until(problem.deadline),
        compact=None if problem.compact else False,
    )
    q = problem.indicator.shape[1]
    fit = fit_of(solution, _matrix(solution.weights, (problem.X.shape[1], q)))
    return replace(fit, dual=_matrix(fit.dual, problem.indicator.shape))


def _matrix(stored: Any, shape: tuple[int, int]) -> Any:
    """Return a matrix, as CSR where the engine returns its nonzeros."""
    if not isinstance(stored, tuple):
        return stored
    indptr, indices, data = stored
    return sparse.csr_array((data, indices, indptr), shape=shape)


def _offset(problem: Problem) -> Matrix | None:
    """Return the mean of dense linear features that lie farther from zero than from each other.

    A free bias makes their mean irrelevant to the optimum, but not to a loop whose steps are as
    long as the features are large.
    """
    if problem.kernel.name != "linear" or sparse.issparse(problem.X):
        return None
    mean: Matrix = problem.X.mean(axis=0)
    squared_norm = float(np.einsum("ij,ij->", problem.X, problem.X)) / problem.X.shape[0]
    offset = float(mean @ mean)
    return mean if offset > squared_norm - offset else None


def fit_of(solution: Any, weights: Any) -> Fit:
    """Return a compiled loop's answer, and the weights that belong to it, as a `Fit`."""
    return Fit(
        dual=solution.dual,
        bias=solution.bias,
        scores=solution.scores,
        weights=weights,
        status=solution.status,
        n_iter=solution.epochs,
        primal=solution.primal,
        dual_objective=solution.dual_objective,
        gap=solution.gap,
        history=history_of(solution.history),
    )
