"""Label indicators Y: 1 for relevant labels, 0 for irrelevant ones, or `UNKNOWN`."""

from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from multimargin.targets.given import is_missing, recognise
from multimargin.typing import Indicator, LabelsLike, Marks, is_sparse

# Mark of an unknown label in a checked indicator, as read by the compiled core.
UNKNOWN = 2
# Enough to recognise the coding that was used, short enough for one line.
_MAX_VALUES_SHOWN = 5


def check_indicator(
    y: LabelsLike, name: str = "y", *, unknown: bool = False, keep_sparse: bool = False
) -> NDArray[np.uint8]:
    """Return a label indicator matrix as an array of 0 and 1; a sparse one as CSR if kept so."""
    given = recognise(y, name)
    if given.kind == "lists":
        raise ValueError(
            f"{name} lists names of labels; expected a matrix of shape (n, q) of 0 and 1 (use "
            "sklearn.preprocessing.MultiLabelBinarizer)."
        )
    return indicator_of(given.values, name, unknown=unknown, keep_sparse=keep_sparse)


def indicator_of(
    values: Indicator | Marks, name: str = "y", *, unknown: bool = False, keep_sparse: bool = False
) -> NDArray[np.uint8]:
    """Return the indicator of a matrix that `recognise` found, see `check_indicator`."""
    _check_kind_and_shape(values.dtype, values.shape, name)
    if is_sparse(values):
        missing = _check_zero_one(values.data, name, unknown)
        data = values.data if missing is None else np.where(missing, UNKNOWN, values.data)
        parts = (data.astype(np.uint8), values.indices, values.indptr)
        marks = sparse.csr_array(parts, shape=values.shape)
        return marks if keep_sparse else np.ascontiguousarray(marks.toarray())
    if values.dtype.kind == "O":
        values = numbers_of(values, name)
    missing = _check_zero_one(values, name, unknown)
    if missing is not None:
        values = np.where(missing, UNKNOWN, values)
    return np.ascontiguousarray(values, dtype=np.uint8)


def numbers_of(values: NDArray[np.generic], name: str = "y") -> NDArray[np.float64]:
    """Return objects as numbers, NaN where they are missing."""
    kinds = set(map(type, values.flat))
    # NumPy would read the text "1" as the number 1.
    if any(issubclass(kind, str | bytes) for kind in kinds):
        raise TypeError(f"{name} holds text; expected numbers, 0 and 1.")
    if any(not issubclass(kind, Real | np.bool_) for kind in kinds):
        values = np.array([np.nan if is_missing(one) else one for one in values.flat]).reshape(
            values.shape
        )
    try:
        return values.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise TypeError(f"{name} holds objects; expected numbers, 0 and 1.") from error


def count_unknown(indicator: Indicator) -> int:
    """Return the number of unknown labels of an indicator from `check_indicator`."""
    marks = indicator.data if is_sparse(indicator) else indicator
    return int(np.count_nonzero(marks == UNKNOWN))


def count_labels(indicator: Indicator, axis: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the numbers of relevant and of irrelevant labels of rows (axis 1) or of columns."""
    if not is_sparse(indicator):
        return tuple(np.count_nonzero(indicator == mark, axis=axis) for mark in (1, 0))
    size = indicator.shape[1 - axis]
    lines = indicator.indices if axis == 0 else indicator.nonzero()[0]
    relevant, unknown = (
        np.bincount(lines[indicator.data == mark], minlength=size) for mark in (1, UNKNOWN)
    )
    return relevant, indicator.shape[axis] - relevant - unknown


def known_labels(y: LabelsLike, name: str) -> tuple[NDArray[np.uint8], NDArray[np.bool_]]:
    """Return an indicator with 0 for unknown labels, and which labels are known."""
    indicator = check_indicator(y, name, unknown=True)
    known = indicator != UNKNOWN
    if known.all():
        return indicator, known
    if not known.any():
        raise ValueError(f"{name} has no known label; expected some.")
    return np.where(known, indicator, np.uint8(0)), known


def complete_rows(Y: Marks) -> NDArray[np.bool_]:
    """Return which rows of an indicator with NaN have no unknown label."""
    if Y.dtype.kind != "f":
        return np.ones(Y.shape[0], dtype=bool)
    return np.asarray(~np.isnan(Y).any(axis=1))


def known_rows(Y: Marks) -> NDArray[np.bool_]:
    """Return which rows of an indicator with NaN have a known label."""
    if Y.dtype.kind != "f":
        return np.ones(Y.shape[0], dtype=bool)
    return np.asarray(~np.isnan(Y).all(axis=1))


def with_nan(indicator: Indicator) -> Indicator | Marks:
    """Return an indicator from `check_indicator`, as floats with NaN if labels are unknown."""
    if count_unknown(indicator) == 0:
        return indicator
    if is_sparse(indicator):
        data = np.where(indicator.data == UNKNOWN, np.nan, indicator.data)
        return sparse.csr_array((data, indicator.indices, indicator.indptr), indicator.shape)
    return np.where(indicator == UNKNOWN, np.nan, indicator)


def with_unknown_rows(indicator: Indicator, rows: NDArray[np.bool_]) -> Indicator:
    """Return an indicator with all labels of the given empty rows unknown."""
    if not rows.any():
        return indicator
    if not is_sparse(indicator):
        indicator[rows] = UNKNOWN
        return indicator
    q = indicator.shape[1]
    places = np.repeat(np.flatnonzero(rows), q), np.tile(np.arange(q), np.count_nonzero(rows))
    marks = np.full(places[0].size, UNKNOWN, dtype=np.uint8)
    return indicator + sparse.csr_array((marks, places), shape=indicator.shape)


def known_both(indicator: Marks, axis: int) -> NDArray[np.bool_]:
    """Return where both 0 and 1 occur: along the labels (axis 1), where a row has a label pair."""
    relevant, irrelevant = count_labels(indicator, axis)
    return np.asarray((relevant > 0) & (irrelevant > 0))


def check_pairs(indicator: NDArray[np.uint8]) -> None:
    """Raise ValueError unless some row of the indicator has a relevant and an irrelevant label."""
    if not known_both(indicator, axis=1).any():
        raise ValueError(
            f"y has no label pair: each of its {indicator.shape[0]} rows has all labels or none; "
            "expected a row with both a relevant and an irrelevant label."
        )


def _check_kind_and_shape(dtype: np.dtype[Any], shape: tuple[int, ...], name: str) -> None:
    if len(shape) != 2:
        raise ValueError(
            f"{name} has shape {shape}; expected a matrix of shape (n, q) of 0 and 1 (for class "
            "labels, use sklearn.preprocessing.LabelBinarizer, for label sets, "
            "MultiLabelBinarizer)."
        )
    if 0 in shape:
        raise ValueError(f"{name} has shape {shape}; expected at least one row and one label.")
    if dtype.kind not in "biufO":
        raise TypeError(f"{name} has dtype {dtype}; expected numbers, 0 and 1.")


def _check_zero_one(values: NDArray[Any], name: str, unknown: bool) -> NDArray[np.bool_] | None:
    """Return where values are NaN, if they may be and some are."""
    allowed = (values == 0) | (values == 1)
    if allowed.all():
        return None
    missing = np.isnan(values)
    if unknown and (allowed | missing).all():
        return np.asarray(missing)
    other = np.unique(values[~allowed])
    if missing.any():
        if unknown:
            other = other[~np.isnan(other)]
        else:
            raise ValueError(
                f"{name} has NaN, which stands for an unknown label; expected 0 or 1 everywhere "
                "(leave rows with unknown labels out, or write 0): only the pairwise methods, "
                "MLRL, SSMLRL and thresholds support unknown labels."
            )
    shown = ", ".join(f"{value:g}" for value in other[:_MAX_VALUES_SHOWN])
    more = ", ..." if other.size > _MAX_VALUES_SHOWN else ""
    remedy = ""
    if other.size == 1 and other[0] == -1:
        remedy = f" Labels coded as -1 and +1 are converted by ({name} > 0).astype(int)."
    raise ValueError(f"{name} has values other than 0 and 1: {shown}{more}.{remedy}")
