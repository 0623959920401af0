"""Checks of what is indexed by labels: indicator matrices Y and score matrices f(x)."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils import check_array

from multimargin.checks.arrays import check_readable, naming

# Enough to recognise the coding that was used, short enough for one line.
_MAX_VALUES_SHOWN = 5


def check_indicator(Y: Any, name: str = "Y") -> NDArray[np.uint8]:
    """Return a label indicator matrix as a dense array of 0 and 1.

    Parameters
    ----------
    Y : array-like, sparse matrix or data frame of shape (n, q)
        Indicator of the relevant labels, with values 0 and 1 (or False and True), n >= 1 and
        q >= 1. Every sparse format of SciPy is accepted, with or without explicit zeros.
    name : str, default="Y"
        Name of the argument in error messages.

    Returns
    -------
    ndarray of shape (n, q), dtype uint8, C-contiguous
        1 where the label is relevant. It shares memory with `Y` when `Y` already has this form.

    Raises
    ------
    TypeError
        If `Y` does not hold numbers, or has masked entries.
    ValueError
        If `Y` is not a non-empty matrix, or holds anything but 0 and 1: missing values, class
        numbers, or labels coded as {-1, +1}.
    """
    if sparse.issparse(Y):
        check_readable(Y, name)
        _check_kind_and_shape(Y.dtype, Y.shape, name)
        indicator = Y.tocsr(copy=True)
        indicator.sum_duplicates()
        _check_zero_one(indicator.data, name)
        return np.ascontiguousarray(indicator.astype(np.uint8).toarray())

    if np.ma.is_masked(Y):
        raise TypeError(f"{name} has masked entries; expected 0 or 1 everywhere.")
    try:
        values = np.asarray(Y)
    except ValueError as error:
        raise ValueError(
            f"{name} has rows of different lengths; expected a matrix of shape (n, q) of 0 and 1 "
            "(for label sets, use sklearn.preprocessing.MultiLabelBinarizer)."
        ) from error
    _check_kind_and_shape(values.dtype, values.shape, name)
    if values.dtype.kind == "O":
        values = _numbers_of_objects(values, name)
    _check_zero_one(values, name)
    return np.ascontiguousarray(values, dtype=np.uint8)


def check_scores(
    scores: Any, *, n_rows: int | None = None, n_labels: int | None = None, name: str = "scores"
) -> NDArray[np.float64] | NDArray[np.float32]:
    """Return label scores as a dense array of finite floats.

    Parameters
    ----------
    scores : array-like of shape (n, q)
        One score for each instance and label.
    n_rows : int, optional
        The n that is expected.
    n_labels : int, optional
        The q that is expected.
    name : str, default="scores"
        Name of the argument in error messages.

    Returns
    -------
    ndarray of shape (n, q), dtype float64 or float32
        float32 stays float32, everything else becomes float64. It shares memory with `scores`
        when `scores` already has this form.

    Raises
    ------
    TypeError
        If `scores` is sparse.
    ValueError
        If `scores` has another shape, or is not finite.
    """
    check_readable(scores, name)
    checked: NDArray[np.float64] | NDArray[np.float32]
    with naming(name, "an array of finite real numbers, one for each row and label"):
        checked = check_array(
            scores,
            dtype=[np.float64, np.float32],
            ensure_2d=False,
            allow_nd=True,
            input_name=name,
        )
    fits = (
        checked.ndim == 2
        and n_rows in (None, checked.shape[0])
        and n_labels in (None, checked.shape[1])
    )
    if not fits:
        rows = "n" if n_rows is None else n_rows
        labels = "q" if n_labels is None else n_labels
        raise ValueError(
            f"{name} has shape {checked.shape}; expected ({rows}, {labels}), one score for each "
            "row and label."
        )
    return checked


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


def _numbers_of_objects(values: NDArray[Any], name: str) -> NDArray[np.float64]:
    # NumPy would read the text "1" as the number 1.
    if any(isinstance(value, str | bytes) for value in values.flat):
        raise TypeError(f"{name} holds text; expected numbers, 0 and 1.")
    try:
        return values.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise TypeError(
            f"{name} holds missing values or objects; expected numbers, 0 and 1."
        ) from error


def _check_zero_one(values: NDArray[Any], name: str) -> None:
    allowed = (values == 0) | (values == 1)
    if allowed.all():
        return
    other = np.unique(values[~allowed])
    shown = ", ".join(f"{value:g}" for value in other[:_MAX_VALUES_SHOWN])
    more = ", ..." if other.size > _MAX_VALUES_SHOWN else ""
    remedy = ""
    if other.size == 1 and other[0] == -1:
        remedy = f" Labels coded as -1 and +1 are converted by ({name} > 0).astype(int)."
    raise ValueError(f"{name} has values other than 0 and 1: {shown}{more}.{remedy}")
