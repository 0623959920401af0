"""What is known of a task without the fast solvers: bounds of its optimum, and a model's value."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from multimargin import LLSF, MLODM, MLRL, SSMLRL, RankCVM, RankHLapSVM, RankSVM, RankSVMz
from multimargin.reference import exact, llsf, mlrl, rank_hlapsvm, rank_svmz
from multimargin.reference.matrices import INDEFINITE, root
from multimargin.reference.rank_svm import Array, by_label, pairs, upper_bounds
from tests.campaign.tasks import Task

EPS = float(np.finfo(np.float64).eps)
# Relative accuracy that the interior-point solver of LLSF is trusted with: it proves no bound.
TRUST = 1e-7
# Negative eigenvalues above minus this share of the largest are those of no matrix that matters.
ROUNDING = 1e-12


class Interval(NamedTuple):
    """Bounds of the optimum that the reference proves, and the objective of the model 0."""

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
    if task.estimator is LLSF:
        # In the units of the features; the objective is the same.
        alpha = task.parameters["alpha"] / task.scale**2
        beta = task.parameters["beta"] / task.scale
        value, _ = llsf.problem_3(task.features, task.Y, alpha, beta)
        return Interval(value - TRUST * abs(value), value, 0.5 * float(np.sum(task.Y)))
    if task.estimator in (MLRL, SSMLRL):
        return _relationship_optimum(task)
    K, Y, C, top = _kernel_of(task), task.Y, _weight_of_the_loss(task), task.top
    if task.estimator is RankSVMz:
        found = exact.zero_label(K, Y, C, _bias(task))
        return Interval(found.lower, found.upper, float(np.sum(rank_svmz.weights(Y, C))))
    weight = float(upper_bounds(Y, C).sum())
    if task.estimator is MLODM:
        theta, mu = task.parameters["theta"], task.parameters["mu"]
        found = exact.optimal_margin(K, Y, C, theta, mu)
        return Interval(found.lower, found.upper, 0.5 * (1 - theta) ** 2 * weight)
    if task.estimator in (RankSVM, RankHLapSVM):
        found = exact.hinge(K, Y, C, _bias(task), top)
        return Interval(found.lower, found.upper, weight)
    if task.estimator is RankCVM:
        found = exact.margin_rho(K, Y, C, top)
        return Interval(found.lower, found.upper, found.upper)
    found = exact.squared_hinge(K, Y, C, top)
    return Interval(found.lower, found.upper, 0.5 * weight)


def returned(task: Task, model: Any) -> Value:
    """Evaluate the model that a fit to the task returned, from its scores and its expansion.

    For `RankCVM` this is the lower bound of (37) that belongs to the model.
    """
    F = model.label_scores(task.X)
    if task.estimator is LLSF:
        return _llsf_value(task, model)
    A = np.zeros_like(F)
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
    rounding += float(np.sum(A * (_negative_part(task.K) @ A)))
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
    C = _weight_of_the_loss(task)
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


def _weight_of_the_loss(task: Task) -> Any:
    """Return C, of each row where these have weights, and of each label where these have some."""
    weights = task.parameters.get("class_weight")
    of_rows = _weight_of_rows(task)
    if weights is None:
        return of_rows
    return np.reshape(of_rows, (-1, 1)) * np.where(task.Y == 1, weights, 1.0)


def _weight_of_rows(task: Task) -> Any:
    C = task.parameters["C"]
    if task.parameters.get("pair_weights") == "uniform":
        # Each pair weighs C / n, and not the pairs of a row C together.
        n_pairs = (task.Y == 1).sum(axis=1) * (task.Y == 0).sum(axis=1)
        n_rows = len(task.Y) if task.weights is None else task.weights.sum()
        C = C / n_rows * np.maximum(n_pairs, 1)
    return C if task.weights is None else C * task.weights


def _bias(task: Task) -> str:
    if task.estimator in (RankSVM, RankSVMz):
        return str(task.parameters["bias"])
    return "none" if task.estimator in (MLODM, RankHLapSVM) else "penalized"


def _hyperedge_weights(task: Task) -> Array:
    # Hyperedges are weighted by distances of features, or those of a kernel that is given.
    given = task.parameters["kernel"] == "precomputed"
    X = root(task.K) if given else task.scale * task.features
    return rank_hlapsvm.hyperedge_weights(X, task.Y, task.parameters["nu"])


def _roughness(task: Task, F: Array) -> float:
    """Return trace(F^T Lap F) from differences of scores: F^T (D_c - W_c) F cancels."""
    relevant = (task.Y == 1).astype(float)
    W_c = (relevant * _hyperedge_weights(task)) @ relevant.T
    differences = ((F[:, None, :] - F[None, :, :]) ** 2).sum(axis=2)
    return 0.5 * float(np.sum(W_c * differences))


def _negative_part(K: Array) -> Array:
    """Return what a kernel matrix that is indefinite by its rounding lacks to a definite one."""
    eigenvalues, U = np.linalg.eigh(K)
    largest = float(np.abs(eigenvalues).max())
    negative = np.maximum(-eigenvalues, 0.0)
    if negative.max() > INDEFINITE * largest or negative.max() < ROUNDING * largest:
        return np.zeros_like(K)
    return np.asarray((U * negative) @ U.T)


def _kernel_of(task: Task) -> Array:
    if task.estimator is not RankHLapSVM:
        # With a large C, a dual value is no bound for eigenvalues as small as -1e-9.
        return np.asarray(task.K + _negative_part(task.K))
    L = rank_hlapsvm.laplacian(task.Y, _hyperedge_weights(task))
    return rank_hlapsvm.kernel_27(task.K, task.parameters["lam"], L, one=1.0)


def _llsf_value(task: Task, model: Any) -> Value:
    alpha = task.parameters["alpha"] / task.scale**2
    beta = task.parameters["beta"] / task.scale
    R = llsf.label_dissimilarity(task.Y)
    R = R + llsf.shift(task.features, task.Y, alpha) * np.eye(len(R))
    W = task.scale * model.coef_.T
    value = llsf.objective(task.features, task.Y, W, R, alpha, beta)
    return Value(value, 1e-10 * (abs(value) + alpha * float(np.sum(W * W))))


class _Relationship(NamedTuple):
    K: Array
    Y: Array
    h: Array
    labelled: NDArray[np.bool_]
    learned: NDArray[np.intp]
    lam1: float
    lam2: float
    Omega: Array | None


def _relationship(task: Task) -> _Relationship:
    # Unlabelled rows are -1 or NaN everywhere; MLRL has none.
    labelled = (task.Y >= 0).any(axis=1) | (task.estimator is MLRL)
    Y = task.Y[labelled]
    learned = np.flatnonzero((Y == 1).any(axis=0) & (Y == 0).any(axis=0))
    options = task.parameters.get("options")
    Omega = None if options is None else options.fixed_covariance
    lam1 = task.parameters["lam" if task.estimator is MLRL else "lam1"]
    return _Relationship(
        task.K,
        Y[:, learned],
        mlrl.shares(Y)[:, learned],
        labelled,
        learned,
        lam1,
        task.parameters.get("lam2", 0.0),
        None if Omega is None else Omega[np.ix_(learned, learned)],
    )


def _relationship_optimum(task: Task) -> Interval:
    K, Y, h, labelled, learned, lam1, lam2, Omega = _relationship(task)
    if len(learned) == 0:
        return Interval(0.0, 0.0, 0.0)
    if not labelled.all():
        order = np.r_[np.flatnonzero(labelled), np.flatnonzero(~labelled)]
        reduced = mlrl.data_dependent_kernel(K[order][:, order], len(Y), lam1 / lam2)
        K = reduced[: len(Y), : len(Y)]
    found = exact.relationship(K, Y, lam1, Omega, h)
    return Interval(found.lower, found.upper, float(h.sum()))


def _relationship_value(task: Task, A: Array, F: Array) -> Value:
    K, Y, h, labelled, learned, lam1, lam2, Omega = _relationship(task)
    A, F = A[:, learned], F[:, learned]
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
