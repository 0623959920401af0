"""The solver of all problems of the pairwise family."""

from dataclasses import replace

import numpy as np
from scipy import sparse

from multimargin import _rust
from multimargin.estimators.fitting.time_limit import seconds_until
from multimargin.estimators.pairwise import zero_label
from multimargin.estimators.pairwise.problem import Fit, Problem
from multimargin.kernels import rust_matrix
from multimargin.typing import Matrix


def solve_problem(problem: Problem, solver: str) -> Fit:
    """Solve a problem of the pairwise family."""
    if problem.model.loss == zero_label.LOSS:
        of_labels = zero_label.with_zero_label(problem)
        return zero_label.relative_fit(_solve_compiled(of_labels, solver))
    return _solve_compiled(problem, solver)


def _solve_compiled(problem: Problem, solver: str) -> Fit:
    mean = _offset(problem) if problem.model.bias == "free" else None
    if mean is not None:
        centred = problem.X - mean
        start_bias = problem.start_bias
        if start_bias is not None and problem.start is not None:
            start_bias = start_bias + mean @ (centred.T @ problem.start)
        fit = _solve_compiled(replace(problem, X=centred, start_bias=start_bias), solver)
        assert fit.weights is not None
        # If the columns of B sum to zero, shifting the features changes only the bias.
        moved = mean @ fit.weights
        scores = None if fit.scores is None else fit.scores + moved
        return replace(fit, bias=fit.bias - moved, scores=scores)
    kernel, model = problem.kernel, problem.model
    solution = _rust.solve_pairwise(
        rust_matrix(problem.indicator, "y"),
        kernel.features(problem.X),
        c=problem.C,
        loss=model.loss,
        theta=model.theta,
        mu=model.mu,
        kernel_name=kernel.name,
        **kernel.parameters,
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
        pair_weights=None if problem.balanced else problem.pair_weights,
        label_weights=problem.label_weights,
        top=problem.top,
        seconds=seconds_until(problem.deadline),
        storage=None if problem.compact else "dense",
    )
    if isinstance(solution["dual"], tuple):
        indptr, indices, data = solution["dual"]
        shape = problem.indicator.shape
        solution["dual"] = sparse.csr_array((data, indices, indptr), shape=shape)
    return Fit(**solution)


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
