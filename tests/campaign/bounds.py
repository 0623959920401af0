"""What is known of a task without the fast solvers: bounds of its optimum, and a model's value."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from multimargin import LLSF, MLODM, MLRL, SSMLRL, RankCVM, RankHLapSVM, RankSVM, RankSVMz
from multimargin.reference import estimators, llsf, mlrl
from multimargin.reference.beyond import by_label, upper_bounds
from multimargin.reference.rank_svm import Array, pairs
from tests.campaign.tasks import Task

EPS = float(np.finfo(np.float64).eps)
# Relative accuracy that the interior-point solver of LLSF is trusted with: it proves no bound.
TRUST = 1e-7


class Interval(NamedTuple):
    """Bounds of the optimum by the reference, and the objective of the model 0."""

    lower: float
    upper: float
    zero: float


class Value(NamedTuple):
    """An objective and how far rounding may have moved it."""

    objective: float
    rounding: float


def optimum(task: Task) -> Interval:
    """Bound the optimum of a task by the exact reference.

    Raises ExactSolverError if the interior-point solver fails.
    """
    parameters, X = task.parameters, task.K
    if task.estimator is LLSF:
        # In the units of the features; the objective is the same.
        scales = {"alpha": task.scale**2, "beta": task.scale}
        parameters = parameters | {name: parameters[name] / unit for name, unit in scales.items()}
        X = task.features
    elif parameters["kernel"] != "precomputed":
        X = task.scale * task.features
    found = estimators.optimum(task.estimator.__name__, parameters, X, task.Y, task.weights)
    lower = found.upper - TRUST * abs(found.upper) if found.lower is None else found.lower
    return Interval(lower, found.upper, found.zero)


def returned(task: Task, model: Any) -> Value:
    """Evaluate the model that a fit to the task returned, from its scores and its expansion.

    For `RankCVM` this is the lower bound of (37) that belongs to the model. Without an expansion a
    linear model has its weights alone.
    """
    F = model.label_scores(task.X)
    if task.estimator is LLSF:
        return _llsf_value(task, model)
    A = np.zeros_like(F)
    if hasattr(model, "support_"):
        A[model.support_] = model.dual_coef_
    b = model.intercept_
    if task.estimator in (MLRL, SSMLRL):
        return _relationship_value(task, A, F)
    if task.estimator is RankSVMz:
        A, F, b = (_with_zero_label(differences) for differences in (A, F, b))
    if task.estimator is RankCVM:
        A, F, b = A / model.rho_, F / model.rho_, b / model.rho_
    squares = float(np.sum(A * (task.K @ A)))
    if hasattr(model, "coef_") and task.estimator is not RankCVM:
        # The weights of a linear model need not be those of the dual variables that bound it.
        W = model.coef_.T
        squares = float(np.sum((_with_zero_label(W) if task.estimator is RankSVMz else W) ** 2))
    rounding = EPS * len(A) * float(np.sum(np.abs(A) * (np.abs(task.K) @ np.abs(A))))
    rounding += float(np.sum(A * (estimators.negative_part(task.K) @ A)))
    if _bias(task) == "penalized" or task.estimator is RankHLapSVM:
        squares += float(b @ b)
    if task.estimator is RankHLapSVM:
        squares += task.parameters["lam"] * _roughness(task, F)
    loss, loss_rounding = _loss(task, A, F)
    objective, rounding = 0.5 * squares + loss, 0.5 * rounding + loss_rounding
    if task.estimator is RankCVM:
        return Value(1.0 / (4.0 * objective), rounding / (4.0 * objective**2))
    return Value(objective, rounding)


def _loss(task: Task, A: Array, F: Array) -> tuple[float, float]:
    """Return the loss of scores, and how much it moves where they move by their rounding."""
    i, m, n, c = _pairs(task)
    z = F[i, m] - F[i, n]
    moved = 2.0 * EPS * (len(A) * (np.abs(task.K) + 1.0) @ np.abs(A) + np.abs(F)).max(axis=1)

    def values(z: Array) -> Array:
        if task.estimator in (RankSVM, RankSVMz, RankHLapSVM):
            return np.maximum(0.0, 1.0 - z)
        if task.estimator is MLODM:
            theta, mu = task.parameters["theta"], task.parameters["mu"]
            xi, eps = np.maximum(0.0, 1.0 - theta - z), np.maximum(0.0, z - 1.0 - theta)
            return np.asarray(0.5 * (xi**2 + mu * eps**2))
        return np.asarray(0.5 * np.maximum(0.0, 1.0 - z) ** 2)

    here, delta = values(z), 2.0 * moved[i]
    apart = np.maximum(np.abs(values(z - delta) - here), np.abs(values(z + delta) - here))
    if task.top is None:
        return float(c @ here), float(c @ apart)
    # Those of the highest irrelevant labels are the largest of a relevant one.
    total = rounding = 0.0
    for label in np.unique(np.stack([i, m]), axis=1).T:
        own = np.flatnonzero((i == label[0]) & (m == label[1]))
        number = min(task.top, own.size)
        weight = float(c[own[0]]) * own.size / number
        total += weight * float(np.sort(here[own])[own.size - number :].sum())
        rounding += weight * number * float(apart[own].max())
    return total, rounding


def _pairs(task: Task) -> tuple[Any, Any, Any, Array]:
    """Return i, m, n and the weight of each pair, of which a label and the zero label are one."""
    C = estimators.weight_of_the_loss(task.parameters, task.Y, task.weights)
    if task.estimator is not RankSVMz:
        return *pairs(task.Y), upper_bounds(task.Y, C)
    q = task.Y.shape[1]
    i, k = np.nonzero(np.isin(task.Y, (0, 1)))
    relevant = task.Y[i, k] == 1
    c = by_label(task.Y, C)[i, k] / np.bincount(i)[i]
    return i, np.where(relevant, k, q), np.where(relevant, q, k), c


def _with_zero_label(differences: Array) -> Array:
    """Add the zero label's column to columns less it; all together sum to 0."""
    zero = -differences.sum(axis=-1, keepdims=True) / (differences.shape[-1] + 1)
    return np.concatenate([differences + zero, zero], axis=-1)


def _bias(task: Task) -> str:
    if task.estimator in (RankSVM, RankSVMz):
        return str(task.parameters["bias"])
    return "none" if task.estimator in (MLODM, RankHLapSVM) else "penalized"


def _roughness(task: Task, F: Array) -> float:
    """Return trace(F^T Lap F) from differences of scores: F^T (D_c - W_c) F cancels."""
    relevant = (task.Y == 1).astype(float)
    given = task.parameters["kernel"] == "precomputed"
    X = task.K if given else task.scale * task.features
    w = estimators.hyperedge_weights(task.parameters, X, task.Y, task.weights)
    W_c = (relevant * w) @ relevant.T
    differences = ((F[:, None, :] - F[None, :, :]) ** 2).sum(axis=2)
    return 0.5 * float(np.sum(W_c * differences))


def _llsf_value(task: Task, model: Any) -> Value:
    alpha = task.parameters["alpha"] / task.scale**2
    beta = task.parameters["beta"] / task.scale
    R = llsf.label_dissimilarity(task.Y)
    R = R + llsf.shift(task.features, task.Y, alpha) * np.eye(len(R))
    W = task.scale * model.coef_.T
    value = llsf.objective(task.features, task.Y, W, R, alpha, beta)
    return Value(value, 1e-10 * (abs(value) + alpha * float(np.sum(W * W))))


def _relationship_value(task: Task, A: Array, F: Array) -> Value:
    Y, h, labelled, learned, lam1, lam2, Omega = estimators.relationship(task.parameters, task.Y)
    K, A, F = task.K, A[:, learned], F[:, learned]
    f = (K @ A)[~labelled]
    M = lam1 * A.T @ K @ A + lam2 * f.T @ f
    loss = mlrl.hinge(F[labelled], Y, h)
    # Rounding of the unlabelled rows' scores, of which lam2 makes something.
    rounding = float(np.linalg.norm(EPS * len(A) * (np.abs(K) @ np.abs(A))[~labelled]))
    if Omega is None:
        roots = np.sqrt(np.maximum(np.linalg.eigvalsh((M + M.T) / 2.0), 0.0))
        regulariser = 0.5 * float(roots.sum()) ** 2
        more = np.sqrt(lam2 * len(learned)) * rounding
        noise = more * (float(roots.sum()) + 0.5 * more)
    else:
        inverse = np.linalg.pinv(Omega, rcond=1e-10)
        regulariser = 0.5 * float(np.sum(inverse * M))
        more = lam2 * rounding * (float(np.linalg.norm(f)) + 0.5 * rounding)
        noise = float(np.linalg.norm(inverse, 2)) * more
    moved = EPS * len(A) * (np.abs(K) @ np.abs(A)).max(initial=0.0) * len(learned)
    if Omega is not None:
        # A singular covariance is so up to rounding, which scores of the size K / lam show.
        moved += EPS * float(np.abs(K).max() * np.abs(Omega).max(initial=0.0)) / lam1
    # The root of an eigenvalue of rounding is the root of EPS.
    return Value(loss + regulariser, 10.0 * moved + 1e-7 * regulariser + noise)
