"""The one call of the compiled engine that all methods of the pairwise family share."""

from typing import Any

from multimargin import _rust
from multimargin.estimators.problem import Fit, Matrix, Model, Problem, history_of
from multimargin.kernels import rust_features


def solve(problem: Problem, model: Model, solver: str) -> Fit:
    """Solve a problem of the pairwise family.

    Parameters
    ----------
    problem : Problem
        The training problem.
    model : Model
        Loss and bias.
    solver : {"bcd", "dcd", "frank-wolfe"}
        The loop; "frank-wolfe" for the hinge only.

    Returns
    -------
    Fit
        The model and its certificate.

    Raises
    ------
    ValueError
        If the compiled loop rejects an argument.
    """
    kernel = problem.kernel
    solution = _rust.solve_pairwise(
        problem.indicator,
        rust_features(problem.X),
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
        shuffle=True,
        shrinking=True,
        acceleration=True,
        block_size=0,
        cache_bytes=problem.cache_bytes,
        threads=problem.threads,
        callback=problem.callback,
        start_bias=problem.start_bias,
    )
    return fit_of(solution, solution.weights)


def fit_of(solution: Any, weights: Matrix | None) -> Fit:
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
