"""Fits of your own data verified by the exact solution of the same problem."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, clone
from sklearn.exceptions import ConvergenceWarning

from multimargin.checks.parameters import random_state_of
from multimargin.estimators import LLSF, SSMLRL
from multimargin.estimators.ssmlrl import split_targets
from multimargin.notices import silenced
from multimargin.reference.estimators import Optimum, optimum
from multimargin.reference.interior_point import import_cvxpy
from multimargin.scikit_learn import num_samples
from multimargin.targets.indicator import known_both, with_nan
from multimargin.targets.reading import read_targets
from multimargin.typing import Features, LabelsLike, Marks, MatrixLike

__all__ = ["Verification", "verify"]

_METHODS_ON_LLSF = "selector"
_FIT_TOLERANCE = 1e-7


@dataclass(frozen=True)
class Verification:
    """A fit beside the exact solution.

    Parameters
    ----------
    n_samples, n_features, n_labels : int
        Size of the problem.
    objective, bound : float
        Objective of the fitted model, and the lower bound of the optimum that its solver proved.
    exact_objective : float
        Objective of the model of the interior-point solver.
    exact_bound : float or None
        Its lower bound; None where it gives none.
    gap : float
        Relative duality gap of the fit.
    status : str
        Why the fit ended.
    objective_difference : float
        ``abs(objective - exact_objective) / abs(exact_objective)``.
    score_difference : float
        Largest difference of two scores f_k(x), relative to the largest score, after each label's
        mean difference is taken out: a bias need not be unique.
    tolerance : float
        The largest relative difference of the objectives, and of `bound`, that agrees.
    """

    n_samples: int
    n_features: int
    n_labels: int
    objective: float
    bound: float
    exact_objective: float
    exact_bound: float | None
    gap: float
    status: str
    objective_difference: float
    score_difference: float
    tolerance: float

    @property
    def agrees(self) -> bool:
        """True if the objectives agree, the bound is as close, and none contradicts the other."""
        slack = self.tolerance * abs(self.exact_objective)
        bounds_hold = abs(self.bound - self.exact_objective) <= slack and (
            self.exact_bound is None or self.exact_bound <= self.objective + slack
        )
        return self.objective_difference <= self.tolerance and bounds_hold


def verify(
    model: BaseEstimator, X: MatrixLike, y: LabelsLike, *, tolerance: float = 1e-6
) -> Verification:
    """Fit a model, solve its problem by `multimargin.reference`, and compare.

    The reference states the problem as the paper does, computes kernel, weights and hypergraph by
    their definitions, and solves it by an interior-point method.

    Parameters
    ----------
    model : estimator
        An unfitted estimator of this package. Its `tol` is lowered to 1e-7 where it is above, so
        that the fit can agree at all. It is cloned, not changed.
    X : {array-like, sparse matrix} of shape (n, d)
        Features of a small problem: the exact solver keeps a variable per pair of labels.
    y : array-like of shape (n, q)
        Label indicator.
    tolerance : float, default=1e-6
        The largest relative difference of objectives, and of the fit's bound, that agrees.

    Returns
    -------
    Verification
        Both results.

    Raises
    ------
    TypeError
        If the model is no method of multimargin.
    ValueError
        If the model is a classifier on label-specific features, which has no objective of its own:
        verify its selector.
        If the kernel is indefinite, so that the problem has no optimum.
    RuntimeError
        If the exact solver fails.
    """
    import_cvxpy()
    if hasattr(model, _METHODS_ON_LLSF):
        raise ValueError(
            f"{type(model).__name__} has no objective of its own; expected its selector, LLSF"
        )
    if not (hasattr(model, "label_scores") and "solver" in model.get_params()):
        raise TypeError(f"model is {model!r}; expected a method of multimargin")
    if isinstance(model, LLSF) and not model.convexify:
        raise ValueError(
            "convexify is False; expected True, as the published problem of LLSF has "
            "no minimum where it is not convex"
        )
    fast = clone(model).set_params(tol=min(model.tol, _FIT_TOLERANCE))
    if "max_iter" in fast.get_params() and not isinstance(fast, LLSF):
        fast.set_params(max_iter=max(fast.max_iter, 100_000))
    # A fit that misses its tolerance shows in the result.
    with silenced(ConvergenceWarning):
        fast.fit(X, y)
    scores = fast.label_scores(X)
    found = _by_reference(fast, X, y)
    exact_objective, exact_bound = found.upper, found.lower
    difference = abs(fast.objective_ - exact_objective)
    scale = abs(exact_objective) or 1.0
    return Verification(
        n_samples=num_samples(X),
        n_features=fast.n_features_in_,
        n_labels=fast.classes_.size,
        objective=float(fast.objective_),
        bound=float(fast.dual_objective_),
        exact_objective=float(exact_objective),
        exact_bound=None if exact_bound is None else float(exact_bound),
        gap=float(fast.dual_gap_),
        status=str(fast.status_),
        objective_difference=float(difference / scale),
        score_difference=_score_difference(scores, found.scores),
        tolerance=tolerance,
    )


def draw_rows(
    Y: Marks, count: int, *, random_state: int | np.random.RandomState | None = 0
) -> NDArray[np.intp]:
    """Draw rows of a small problem from those that have both relevant and irrelevant labels."""
    rows = np.flatnonzero(known_both(Y, axis=1))
    if rows.size == 0:
        raise ValueError("y has no row with both relevant and irrelevant labels; expected some")
    drawn = random_state_of(random_state).permutation(rows)[:count]
    return np.sort(drawn)


def _by_reference(model: Any, X: Features, y: LabelsLike) -> Optimum:
    """Solve the problem that a fitted model states."""
    features = model._checked_features(X, reset=False)
    if isinstance(model, SSMLRL):
        targets, labelled = split_targets(y, unknown="take")
    else:
        targets = read_targets(y, unknown="take")
        labelled = np.ones(features.shape[0], dtype=bool)
    Y = np.full((labelled.size, targets.indicator.shape[1]), -1.0)
    Y[labelled] = with_nan(targets.indicator)
    parameters = model.get_params(deep=False)
    if isinstance(parameters.get("class_weight"), Mapping):
        # Names of labels have been looked up.
        parameters["class_weight"] = model.class_weight_
    dense = features.toarray() if sparse.issparse(features) else features
    return optimum(type(model).__name__, parameters, np.asarray(dense, dtype=np.float64), Y)


def _score_difference(scores: NDArray[np.float64], exact: NDArray[np.float64]) -> float:
    difference = scores - exact
    difference -= difference.mean(axis=0)
    largest = float(np.abs(exact).max())
    return float(np.abs(difference).max() / largest) if largest > 0.0 else 0.0
