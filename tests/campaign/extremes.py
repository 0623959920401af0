"""Linear problems with extreme columns and weights, judged by sums in extended precision.

No reference solves them, but whatever model there is has a value, and no bound exceeds it.
"""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from multimargin import LLSF, MLODM, MLRL, EmptyRowsWarning, RankCVM, RankLSVM, RankSVM
from multimargin.reference import llsf
from multimargin.reference.rank_svm import Array
from tests.campaign.tasks import SOLVERS, SOLVERS_OF_TOP_K

METHODS = (RankSVM, RankLSVM, RankCVM, MLODM)
OTHERS = (MLRL, LLSF)
# Decades of the columns' scales, and of the weights of rows and of labels.
DECADES = 8
ORDERS = 12
# No gap is negative by more than this share of the objective, nor by more than the rounding of so
# many additions of terms of its size, and of what moves the model's value.
ROUNDING = 1e-9
ADDITIONS = 1000


class Extreme(NamedTuple):
    """A problem, and what the model is made with."""

    estimator: type
    parameters: dict[str, Any]
    X: Array
    Y: Any
    weights: Array | None
    sparse: bool


def draw_extreme(seed: int, index: int) -> Extreme:
    """Draw a problem whose columns, weights and C differ by many orders of magnitude."""
    random = np.random.default_rng([seed, index, 4])
    n, d, q = random.integers(3, 16), random.integers(1, 5), random.integers(2, 8)
    X = random.normal(size=(n, d)) * 10.0 ** random.uniform(-DECADES, DECADES, size=d)
    if random.random() < 0.5:
        X[:, random.integers(d)] = 10.0 ** random.uniform(-DECADES, DECADES)
    if random.random() < 0.3:
        X[random.integers(n)] = 0.0
    Y = (random.random((n, q)) < random.uniform(0.2, 0.9)).astype(int)
    Y[0, :2] = 0, 1
    estimator = METHODS[random.integers(len(METHODS))]
    others = np.random.default_rng([seed, index, 5])
    if others.random() < 0.2:
        return _draw_other(others, X, Y)
    parameters: dict[str, Any] = {
        "kernel": "linear",
        "C": 10.0 ** random.uniform(-3, 4),
        "tol": 10.0 ** random.uniform(-8, -3),
        "random_state": 0,
        "threshold": 0.0,
    }
    if random.random() < 0.5:
        orders = random.uniform(0, ORDERS)
        parameters["class_weight"] = 10.0 ** (orders * random.uniform(-0.5, 0.5, size=q))
    if estimator is RankSVM:
        parameters["bias"] = str(random.choice(["free", "penalized", "none"]))
    if estimator is MLODM:
        parameters |= {"theta": random.uniform(0.0, 0.9), "mu": 10.0 ** random.uniform(-2, 0)}
    elif random.random() < 0.2:
        parameters["top_k"] = int(random.integers(1, q))
    weights = None
    if random.random() < 0.5:
        weights = 10.0 ** (random.uniform(0, ORDERS) * random.uniform(-0.5, 0.5, size=n))
    if others.random() < 0.4:
        solvers = SOLVERS_OF_TOP_K if "top_k" in parameters else SOLVERS[estimator]
        parameters["solver"] = str(others.choice(solvers))
    if others.random() < 0.2:
        parameters["C"] *= 10.0 ** others.uniform(0, 8)
    return Extreme(estimator, parameters, X, Y, weights, bool(random.random() < 0.5))


def _draw_other(random: np.random.Generator, X: Array, Y: Any) -> Extreme:
    """Draw a problem of MLRL or LLSF, whose regularisers are in units of columns of any scale."""
    estimator = OTHERS[random.integers(len(OTHERS))]
    n, scale = len(X), 10.0 ** random.uniform(-DECADES, DECADES)
    parameters: dict[str, Any] = {"tol": 10.0 ** random.uniform(-6, -3)}
    weights = None
    if estimator is LLSF:
        parameters["solver"] = str(random.choice(SOLVERS[LLSF]))
        parameters["alpha"] = scale**2 * float(random.choice([0.0, 10.0 ** random.uniform(-3, 1)]))
        parameters["beta"] = scale * 10.0 ** random.uniform(-3, 1)
        parameters["threshold"] = 0.5
    else:
        # Whose labels have both classes.
        Y[-1] = 1 - Y[0]
        parameters |= {"kernel": "linear", "lam": scale**2 * 10.0 ** random.uniform(-6, 1)}
        parameters["solver"] = str(random.choice(SOLVERS[MLRL]))
        if random.random() < 0.5:
            weights = 10.0 ** (random.uniform(0, ORDERS) * random.uniform(-0.5, 0.5, size=n))
    return Extreme(estimator, parameters, X, Y, weights, bool(random.random() < 0.5))


def misses_of(problem: Extreme, epochs: tuple[int, ...] = (20, 300)) -> list[str]:
    """Fit a problem with several numbers of epochs, and return what is wrong with the fits."""
    found, fits = [], []
    for count in epochs:
        model = problem.estimator(**problem.parameters, max_iter=count)
        X = sparse.csr_array(problem.X) if problem.sparse else problem.X
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            warnings.simplefilter("ignore", EmptyRowsWarning)
            warnings.simplefilter("ignore", ConvergenceWarning)
            weights = {} if problem.weights is None else {"sample_weight": problem.weights}
            model.fit(X, problem.Y, **weights)
        value, rounding = _value(problem, model)
        bound = model.dual_objective_
        objective = model.objective_
        if problem.estimator is RankCVM:
            # (37) is minimised in the dual, and bounded by a model's value at a margin of 1.
            # Rounding may have made the value larger than it is.
            least = value - rounding
            own = 1.0 / (4.0 * least) if least > 0.0 else np.inf if value > 0.0 else 0.0
            if bound > own * (1.0 + 1e-6):
                found.append(f"the bound {bound:.12g} is above the model's {own:.12g}")
        else:
            fits.append((value + rounding, bound))
            if abs(objective - value) > 1e-6 * value + rounding:
                found.append(f"the objective is {objective:.12g}, the model's value {value:.12g}")
        terms = ADDITIONS * np.finfo(float).eps * abs(objective) + rounding
        if bound - objective > min(ROUNDING * abs(objective), terms):
            found.append(f"the bound {bound:.12g} is above the objective {objective:.12g}")
        gap = model.dual_gap_
        if model.status_ == "converged" and not -ROUNDING <= gap <= model.tol:
            found.append(f"converged with a gap of {gap:.3g}")
    if fits:
        least, highest = min(fit[0] for fit in fits), max(fit[1] for fit in fits)
        if highest > least * (1.0 + 1e-6):
            found.append(f"the bound {highest:.12g} is above a model's value {least:.12g}")
    return found


def _value(problem: Extreme, model: Any) -> tuple[float, float]:
    """Return the objective of the weights at a margin of 1, and what rounding makes of it."""
    if problem.estimator is LLSF:
        return _value_of_features(problem, model)
    if problem.estimator is MLRL:
        return _value_of_relationships(problem, model)
    # At a margin of 0 all weights are 0, and their value at a margin of 1 is theirs, too.
    rho = (problem.estimator is RankCVM and model.rho_) or 1.0
    W, b = model.coef_.T.astype(np.longdouble) / rho, model.intercept_.astype(np.longdouble) / rho
    X = problem.X.astype(np.longdouble)
    F = X @ W + b
    sizes = np.abs(X) @ np.abs(W) + np.abs(b)
    penalized = problem.estimator in (RankCVM, RankLSVM) or problem.parameters.get("bias") == (
        "penalized"
    )
    total = ((W**2).sum() + penalized * (b**2).sum()) / 2
    rounding = np.longdouble(0.0)
    weights = np.ones(len(X)) if problem.weights is None else problem.weights
    of_labels = problem.parameters.get("class_weight", np.ones(problem.Y.shape[1]))
    for i, row in enumerate(problem.Y):
        P, N = np.flatnonzero(row == 1), np.flatnonzero(row == 0)
        if not (P.size and N.size):
            continue
        top = min(problem.parameters.get("top_k") or N.size, N.size)
        N = N[np.argsort(-F[i, N], kind="stable")[:top]]
        c = weights[i] * problem.parameters["C"] / (P.size * top) * of_labels[P][:, None]
        z = F[i, P][:, None] - F[i, N]
        # Scores are rounded by a few units of what they sum up.
        moved = 64 * np.finfo(float).eps * sizes[i].max()
        here = _loss(problem, z)
        total += (c * here).sum()
        rounding += (c * np.abs(_loss(problem, z - moved) - here)).sum()
        rounding += (c * np.abs(_loss(problem, z + moved) - here)).sum()
    return float(total), float(rounding)


def _loss(problem: Extreme, z: Any) -> Any:
    if problem.estimator is RankSVM:
        return np.maximum(0, 1 - z)
    theta = problem.parameters.get("theta", 0.0)
    mu = problem.parameters.get("mu", 0.0)
    return (np.maximum(0, 1 - theta - z) ** 2 + mu * np.maximum(0, z - 1 - theta) ** 2) / 2


def _value_of_features(problem: Extreme, model: Any) -> tuple[float, float]:
    X, W = problem.X.astype(np.longdouble), model.coef_.T.astype(np.longdouble)
    R = llsf.label_dissimilarity(problem.Y) + model.shift_ * np.eye(len(W.T))
    alpha, beta = problem.parameters["alpha"], problem.parameters["beta"]
    sizes = np.abs(X) @ np.abs(W) + problem.Y
    value = ((X @ W - problem.Y) ** 2).sum() / 2 + beta * np.abs(W).sum()
    value += alpha * (R * (W.T @ W)).sum() / 2
    size = (sizes**2).sum() + alpha * (np.abs(R) * (np.abs(W).T @ np.abs(W))).sum()
    return float(value), float(64 * np.finfo(float).eps * size)


def _value_of_relationships(problem: Extreme, model: Any) -> tuple[float, float]:
    """Return the value of (6) with the best covariance, whose trace norm SciPy computes."""
    X, W = problem.X.astype(np.longdouble), model.coef_.T.astype(np.longdouble)
    weights = np.ones(len(X)) if problem.weights is None else problem.weights
    h = (weights / weights.sum())[:, None]
    signs = np.where(problem.Y == 1, 1.0, -1.0)
    # Labels of one class are not learned: their scores are constant.
    counted = problem.Y[weights > 0.0]
    learned = (counted.min(axis=0) == 0) & (counted.max(axis=0) == 1)
    slacks = np.maximum(0, 1 - signs * (X @ W + model.intercept_))[:, learned]
    norm = np.linalg.svd(model.coef_, compute_uv=False).sum()
    value = (h * slacks).sum() + problem.parameters["lam"] / 2 * norm**2
    sizes = np.abs(X) @ np.abs(W) + np.abs(model.intercept_)
    moved = 64 * np.finfo(float).eps * (h * sizes).sum()
    # The regulariser of the expansion, of which rounding leaves the root of a unit.
    return float(value), float(moved + 1e-7 * problem.parameters["lam"] * norm**2)
