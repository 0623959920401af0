"""Checks of the weights of rows."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator

from multimargin.checks.arrays import check_readable
from multimargin.checks.names import quoted


def check_sample_weight(
    sample_weight: ArrayLike | None, n: int, *, all_rows: bool = True
) -> NDArray[np.float64] | None:
    """Return the weights of rows; those of some of `all_rows` may be 0 together."""
    if sample_weight is None:
        return None
    check_readable(sample_weight, "sample_weight")
    try:
        weights = np.asarray(sample_weight, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise TypeError(
            f"sample_weight is {quoted(sample_weight)}; expected a number for each of {n} rows."
        ) from error
    if weights.ndim == 0:
        weights = np.full(n, weights)
    if weights.shape != (n,):
        raise ValueError(f"sample_weight has shape {weights.shape}; expected ({n},).")
    if not (np.isfinite(weights) & (weights >= 0.0)).all():
        raise ValueError("sample_weight has values that are negative or not finite; expected >= 0.")
    if all_rows and not weights.any():
        raise ValueError(
            "sample_weight is zero for all rows; expected a row with a positive weight."
        )
    return weights


def rows_that_count(sample_weight: NDArray[np.float64] | None) -> NDArray[np.intp] | None:
    """Return the numbers of the rows with a positive weight, None if that is all of them."""
    if sample_weight is None or sample_weight.all():
        return None
    return np.flatnonzero(sample_weight)


def measured_rows(
    known: NDArray[np.bool_], sample_weight: NDArray[np.float64] | None
) -> NDArray[np.bool_]:
    """Return which rows have a known label and a positive weight; raise ValueError if none has."""
    rows: NDArray[np.bool_] = np.asarray(known.any(axis=1))
    if sample_weight is not None:
        rows &= sample_weight > 0.0
    if not rows.any():
        raise ValueError("Y_true has no known label in a row of positive weight; expected some.")
    return rows


def of_rows_that_count(sample_weight: NDArray[np.float64] | None, *arrays: Any) -> tuple[Any, ...]:
    """Return the weights, and arrays of as many rows, of the rows with a positive weight."""
    return of_rows(rows_that_count(sample_weight), sample_weight, *arrays)


def of_rows(rows: NDArray[np.intp] | None, *arrays: Any) -> tuple[Any, ...]:
    """Return some rows of arrays, all if None; what is None, as weights may be, stays so."""
    if rows is None:
        return arrays
    return tuple(None if array is None else array[rows] for array in arrays)


def in_units_of_a_row(weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return weights divided by the mean of those above 0."""
    weights = weights / weights.max()
    weights /= weights[weights > 0.0].mean()
    return weights


def refuse_metadata(estimator: BaseEstimator, metadata: Mapping[str, object]) -> None:
    """Raise TypeError if the `fit` of a method was given more than features and labels."""
    for name in metadata:
        raise TypeError(f"{type(estimator).__name__}.fit takes no {name}; expected X and y alone.")
