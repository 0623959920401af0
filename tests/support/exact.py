"""The optimum of an estimator's problem, by the reference."""

from typing import Any

import numpy as np

from multimargin.reference.estimators import Optimum, optimum


def optimum_of(model: Any, X: Any, Y: Any, weights: Any = None) -> Optimum:
    if weights is not None:
        # What weighs nothing is not there.
        rows = np.flatnonzero(weights)
        X, Y, weights = X[rows], Y[rows], weights[rows]
    return optimum(type(model).__name__, model.get_params(), X, Y, weights)


def exact_objective(model: Any, X: Any, Y: Any, weights: Any = None) -> float:
    return optimum_of(model, X, Y, weights).upper
