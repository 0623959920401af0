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


def check_square(name: str, matrix: Any) -> Matrix:
    """Return a square matrix of finite floats, not empty, or raise TypeError or ValueError."""
    checked = check_numbers(name, matrix)
    if checked.ndim != 2 or checked.shape[0] != checked.shape[1] or checked.size == 0:
        raise ValueError(
            f"{name} has shape {checked.shape}; expected a square matrix of shape (q, q)."
        )
    if not np.isfinite(checked).all():
        raise ValueError(f"{name} has missing or infinite entries; expected finite numbers.")
    return checked


def check_label_names(label_names: Any, q: int) -> list[str]:
    """Return the names of the q labels, which are their numbers when None is given."""
    if label_names is None:
        return [str(label) for label in range(q)]
    names = [label_names] if isinstance(label_names, str) else list(label_names)
    if len(names) != q:
        raise ValueError(f"label_names has {len(names)} names; expected {q}, one a label.")
    return [str(name) for name in names]


def label_names_of(estimator: Any) -> Any:
    """Return `label_names_in_` of a fitted estimator, or of the one inside; None without."""
    return getattr(method_inside(estimator), "label_names_in_", None)


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
