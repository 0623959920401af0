"""The certificate of a model of the pairwise family as it is stored."""

from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from multimargin import _rust
from multimargin.estimators.fitting.certificate import Bounds, Rows, with_own_certificate
from multimargin.estimators.pairwise import zero_label
from multimargin.estimators.pairwise.problem import Fit, Model, Problem
from multimargin.kernels import rust_matrix
from multimargin.typing import Features, Matrix, RowIndex

_Value = TypeVar("_Value", float, Matrix)


class Stored(Protocol):
    """A model of the pairwise family as an estimator stores it."""

    support_: NDArray[np.intp]
    dual_coef_: Any
    intercept_: Matrix
    _weights: Any

    def _label_scores(self, X: Features) -> Matrix: ...


def certified(problem: Problem, fit: Fit, stored: Stored) -> Fit:
    """Return a fit of the pairwise family with the certificate of the model that is stored."""
    if fit.scores is None:
        return fit
    said, n = fit.scores, fit.scores.shape[0]

    def bounds(rows: Rows) -> Bounds:
        own = stored._label_scores(problem.features[rows])
        loss = pairwise_loss(problem, own, rows, fit.margin)
        if rows.size == n:
            return _own_bounds(problem, fit, stored, own, loss)
        known = pairwise_loss(problem, said[rows] + fit.bias, rows, fit.margin)
        change = loss - known
        if fit.margin is not None:
            # At a margin of 1 the objective is 1/(4 objective) at the optimum, else larger.
            largest = known * n / rows.size
            change *= min(4.0 * fit.primal**2, fit.primal / largest if largest > 0.0 else np.inf)
        return fit.primal + change * n / rows.size, fit.dual_objective

    return with_own_certificate(fit, n, problem.tol, bounds, problem.kernel.of_distances)


def _own_bounds(problem: Problem, fit: Fit, stored: Stored, own: Matrix, loss: float) -> Bounds:
    """Return primal and dual objective by the own scores and the loss of all training rows."""
    norm = squared_norm(problem.model, stored, own)
    if fit.penalty is not None:
        norm += fit.penalty(own)
    if fit.margin is None:
        return 0.5 * norm + loss, fit.dual_objective
    assert fit.scores is not None
    said = fit.scores + fit.bias
    change = float(np.sum(stored.dual_coef_ * (own - said)[stored.support_]))
    _, bound = bounds_at_the_margin(at_margin_1(0.5 * norm, fit.margin, power=2) + loss, 0.0)
    # The norm alone is a part of the objective, however much rounding affects the rest.
    primal = max(fit.primal + 0.5 * change, 0.5 * norm)
    return primal, min(bound, fit.dual_objective)


def squared_norm(model: Model, stored: Stored, own: Matrix) -> float:
    """Return the squared norm of the stored weights, and of the bias if it is penalized."""
    zero = model.loss == zero_label.LOSS
    weights = stored._weights
    if weights is not None:
        square = zero_label.squared_norm(weights.T) if zero else np.sum(weights**2)
    else:
        dual = zero_label.dual_of(stored.dual_coef_) if zero else stored.dual_coef_
        square = np.sum(dual * (own[stored.support_] - stored.intercept_))
    if model.bias == "penalized":
        bias = stored.intercept_
        square += zero_label.squared_norm(bias[:, None]) if zero else np.sum(bias**2)
    return float(square)


def pairwise_loss(
    problem: Problem, scores: Matrix, rows: RowIndex = slice(None), margin: float | None = None
) -> float:
    """Return the weighted loss of the scores of some rows, brought to a margin of 1."""
    if margin is not None:
        scores = at_margin_1(scores, margin)
    model = problem.model
    if model.loss == zero_label.LOSS:
        scores = np.column_stack([scores, np.zeros(scores.shape[0])])
    return _rust.total_loss(
        rust_matrix(problem.indicator[rows], "y"),
        np.ascontiguousarray(scores, dtype=np.float64),
        problem.pair_weights[rows],
        loss=model.loss,
        theta=model.theta,
        mu=model.mu,
        label_weights=problem.label_weights,
        top=problem.top,
    )


def at_margin_1(values: _Value, margin: float, power: int = 1) -> _Value:
    """Return values that scale with a power of the model, converted to a margin of 1."""
    # If a loop fell back on B = 0, the margin is 0, and that model is 0 as well.
    if margin == 0.0:
        return 0.0 * values
    for _ in range(power):  # the square of a margin may overflow
        values = values / margin
    return values


def bounds_at_the_margin(primal: float, dual: float) -> Bounds:
    """Bounds of the optimum of problem 37, which rewards the margin, from those at a margin of 1.

    The optimum of the latter is S/2, that of the former 1/(2 S).
    """
    return (
        1.0 / (4.0 * dual) if dual > 0.0 else np.inf,
        1.0 / (4.0 * primal) if primal > 0.0 else 0.0,
    )
