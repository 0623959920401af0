"""The zero label: the last column of the engine's matrices, the origin of the scores."""

from dataclasses import replace

import numpy as np

from multimargin.estimators.pairwise.problem import Fit, Problem
from multimargin.typing import Matrix

LOSS = "zero_label_hinge"


def with_zero_label(problem: Problem) -> Problem:
    """Return a problem whose starting point has the column of the zero label."""
    start, bias = problem.start, problem.start_bias
    if start is not None:
        start = np.column_stack([start, -start.sum(axis=1)])
    if bias is not None:
        bias = np.append(bias, 0.0)
        bias -= bias.mean()
    return replace(problem, start=start, start_bias=bias)


def relative_fit(fit: Fit) -> Fit:
    """Return a fit whose scores, weights and biases are relative to those of the zero label."""
    return replace(
        fit,
        dual=np.ascontiguousarray(fit.dual[:, :-1]),
        expansion=_relative(fit.dual),
        bias=_relative(fit.bias),
        scores=None if fit.scores is None else _relative(fit.scores),
        weights=None if fit.weights is None else _relative(fit.weights),
    )


def absolute(relative: Matrix) -> Matrix:
    """Return the columns with these differences from that of the zero label that sum to 0."""
    zero = -relative.sum(axis=1, keepdims=True) / (relative.shape[1] + 1)
    return np.hstack([relative + zero, zero])


def dual_of(expansion: Matrix) -> Matrix:
    """Return the labels' dual columns Z from those of the differences, Z + Z 1 1^T."""
    return np.asarray(expansion - expansion.sum(axis=1, keepdims=True) / (expansion.shape[1] + 1))


def squared_norm(weights: Matrix) -> float:
    """Return sum_(k=0..q) ||w_k||^2 from the rows w_k - w_0, where all w_k sum to 0."""
    total = weights.sum(axis=0)
    return float(np.sum(weights**2) - np.sum(total**2) / (len(weights) + 1))


def _relative(columns: Matrix) -> Matrix:
    return np.ascontiguousarray(columns[..., :-1] - columns[..., -1:])
