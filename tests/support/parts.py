"""Problems dealt to parts in one process, and their solutions."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone

from multimargin import MLODM, RankLSVM, RankSVM
from multimargin.dask import parts, solving
from multimargin.dask.parts import Pairs
from multimargin.dask.rounds import PartsFit, Settings
from multimargin.estimators.pairwise.problem import Model
from tests.support.certificates import hinge, pairwise_objective
from tests.support.exact import exact_objective
from tests.support.local_parts import LocalParts
from tests.support.problems import noisy_linear_problem

TOL = 1e-4
THETA, MU = 0.1, 0.5

MODELS = {
    "hinge": (Model("hinge", "none"), RankSVM(bias="none")),
    "hinge, penalized bias": (Model("hinge", "penalized"), RankSVM(bias="penalized")),
    "hinge, free bias": (Model("hinge", "free"), RankSVM(bias="free")),
    "squared hinge": (Model("squared_hinge", "penalized"), RankLSVM()),
    "optimal margin": (Model("optimal_margin", "none", THETA, MU), MLODM(theta=THETA, mu=MU)),
}


def problem(seed: int = 0, n: int = 60, d: int = 8, q: int = 5) -> tuple[Any, Any]:
    X, Y = noisy_linear_problem(seed, n, d, q, noise=0.5, cut=0.5)
    return X, Y.astype(np.uint8)


def dealt(
    X: Any, Y: Any, count: int, C: float = 1.0, weight: Any = None, kind: str = "balanced"
) -> LocalParts:
    rows = np.array_split(np.arange(Y.shape[0]), count)
    weights: Sequence[Any] = [None] * count if weight is None else [weight[r] for r in rows]
    return LocalParts(
        parts.make_part(k, X[r], Y[r], w, Pairs(C, kind))
        for k, (r, w) in enumerate(zip(rows, weights, strict=True))
    )


def solved(cluster: LocalParts, model: Model, **changes: Any) -> PartsFit:
    settings = {"tol": TOL, "max_rounds": 3000, "seed": 0, "threads": 1, "callback": None}
    part = cluster.data[0]
    labels = part.indicator.shape[1] + (model.loss == "zero_label_hinge")
    shape = part.X.shape[1], labels
    return solving.solve_over_parts(cluster, shape, model, Settings(**{**settings, **changes}))


def exact_optimum(estimator: Any, X: Any, Y: Any, *weight: Any, **parameters: Any) -> float:
    model = clone(estimator).set_params(kernel="linear", **{"C": 1.0, **parameters})
    return exact_objective(model, X, Y, *weight)


def objective(
    model: Model, X: Any, Y: Any, solution: PartsFit, C: float = 1.0, weight: Any = None
) -> float:
    def loss(margin: Any) -> Any:
        if model.loss == "hinge":
            return hinge(margin)
        if model.loss == "squared_hinge":
            return 0.5 * hinge(margin) ** 2
        low, high = hinge(margin + THETA), np.maximum(0, margin - 1 - THETA)
        return 0.5 * (low**2 + MU * high**2)

    W, b = solution.weights, solution.bias
    return pairwise_objective(W, b, X, Y, C, model.bias, loss, weight)


def check(solution: PartsFit, exact: float, value: float, tol: float = TOL) -> None:
    """It converged, and its certificate is true: the objective of the model, and a bound."""
    assert solution.status == "converged"
    assert 0.0 <= solution.gap <= tol
    assert solution.primal == pytest.approx(exact, rel=2 * tol)
    assert solution.primal == pytest.approx(value, rel=1e-9)
    assert solution.primal >= exact * (1.0 - 1e-6)
    assert solution.dual <= exact * (1.0 + 1e-6)


def with_gaps(Y: Any, share: float, seed: int = 0) -> Any:
    """Return an indicator in which a share of the labels is unknown."""
    unknown = np.random.default_rng(seed).random(Y.shape) < share
    return np.where(unknown, np.nan, Y)
