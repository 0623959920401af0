"""Checks of what the displays are given."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

Matrix = NDArray[np.float64]


def check_numbers(name: str, values: Any) -> Matrix:
    """Return an array of floats, NaN and infinite ones too."""
    try:
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        reason = str(error).rstrip(".")
        raise TypeError(f"{name} is not an array of numbers: {reason}.") from error


def method_inside(estimator: Any) -> Any:
    """Return the fitted estimator inside of a pipeline or a search, of its best pipeline."""
    while True:
        if hasattr(estimator, "best_estimator_"):
            estimator = estimator.best_estimator_
        elif hasattr(estimator, "steps"):
            estimator = estimator.steps[-1][1]
        else:
            return estimator


def check_has(estimator: Any, attribute: str, expected: str) -> None:
    """Raise TypeError unless a fitted estimator has the attribute that is to be shown.

    `expected` are the estimators that have it, for the message.
    """
    if not hasattr(estimator, attribute):
        raise TypeError(
            f"estimator is a {type(estimator).__name__}, which has no {attribute}; expected a "
            f"fitted {expected}."
        )


def by_name(name: str, given: Any) -> dict[str, Any]:
    """Return what is to be compared, one or several, by name."""
    if isinstance(given, Mapping):
        named = {str(key): value for key, value in given.items()}
    else:
        objects = list(given) if isinstance(given, list | tuple) else [given]
        named = {}
        kinds = [type(method_inside(value)).__name__ for value in objects]
        for place, (kind, value) in enumerate(zip(kinds, objects, strict=True)):
            number = 1 + kinds[:place].count(kind)
            named[f"{kind} {number}" if kinds.count(kind) > 1 else kind] = value
    if not named:
        raise ValueError(f"{name} is empty; expected at least one.")
    return named
