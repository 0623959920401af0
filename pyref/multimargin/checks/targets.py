"""What an estimator is asked to predict: several labels a row, or one class a row."""

import math
from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.exceptions import DataConversionWarning
from sklearn.preprocessing import MultiLabelBinarizer
from sklearn.utils import assert_all_finite, column_or_1d
from sklearn.utils.multiclass import check_classification_targets

from multimargin.checks.arrays import check_readable, naming
from multimargin.checks.labels import check_indicator, count_unknown, known_both
from multimargin.notices import warn

_EXPECTED = "a label indicator of shape (n, q) or classes of shape (n,)"


class UnknownLabelsWarning(UserWarning):
    """A method reads NaN in `y` as labels that are not known; ignore it where that is meant.

    Examples
    --------
    >>> import warnings
    >>> from multimargin import UnknownLabelsWarning
    >>> warnings.simplefilter("ignore", UnknownLabelsWarning)
    """


@dataclass(frozen=True)
class Targets:
    """Training targets as an indicator matrix."""

    # (n, q): 1 where the label is relevant, 0 where it is not, `checks.labels.UNKNOWN` where that
    # is not known
    indicator: NDArray[np.uint8]
    # (q,): The classes of one-dimensional targets, else the label numbers 0..q-1
    classes: NDArray[Any]
    multilabel: bool  # Whether several labels may be relevant
    # (q,): Column names, when the targets came as a data frame with names
    label_names: NDArray[Any] | None

    def name_outputs(self, estimator: Any) -> None:
        """Set `classes_` of an estimator, and `label_names_in_` where the targets had names."""
        estimator.classes_ = self.classes
        if self.label_names is not None:
            estimator.label_names_in_ = self.label_names
        elif hasattr(estimator, "label_names_in_"):
            del estimator.label_names_in_


def check_targets(y: Any, *, unknown: bool = False, keep_sparse: bool = False) -> Targets:
    """Read the targets of a fit."""
    if lists_labels(y):
        return _listed(y)
    shape = shape_of(y)
    if len(shape) != 2:
        check_readable(y, "y")
    if len(shape) == 2 and shape[1] != 1:
        indicator = check_indicator(y, unknown=unknown, keep_sparse=keep_sparse)
        return Targets(indicator, np.arange(indicator.shape[1]), True, _column_names(y))
    if len(shape) == 2:
        check_readable(y, "y")
        y = _single_column(y)
    elif len(shape) != 1:
        found = f"has shape {shape}" if shape else f"is {repr(y)[:60]}"
        raise ValueError(f"y {found}; expected {_EXPECTED}.")
    if getattr(getattr(y, "dtype", None), "kind", None) == "T":
        # scikit-learn does not know NumPy's StringDType.
        y = y.astype(object)
    given, y = y, column_or_1d(y)
    if y.dtype.kind == "f":
        with naming("y", _EXPECTED):
            assert_all_finite(y, input_name="y")
    elif y.dtype.kind not in "biu":
        # NumPy makes a text of each row of a list of which one is a text.
        _check_rows(list(given) if isinstance(given, list | tuple) else list(y))
    with naming("y", _EXPECTED):
        check_classification_targets(y)
    classes, codes = np.unique(y, return_inverse=True)
    if classes.size == 0:
        raise ValueError("y is empty; expected one row of labels, or one class, for each row of X.")
    if classes.size < 2:
        raise ValueError(
            f"y has one class only, {classes.tolist()[0]!r}; expected at least two classes."
        )
    _warn_of_lists_in_texts(classes, codes.size)
    indicator = (codes[:, None] == np.arange(classes.size)).astype(np.uint8)
    return Targets(indicator, classes, False, None)


def _check_rows(rows: list[Any]) -> None:
    """Refuse classes that are missing, or of types that cannot be sorted among each other."""
    missing = [k for k, row in enumerate(rows) if is_missing(row)]
    if missing:
        raise ValueError(
            f"y has no class in {len(missing)} of {len(rows)} rows, first {rows[missing[0]]} in "
            f"row {missing[0]}; expected one in each: leave such rows out, or give them a class."
        )
    first: dict[str, int] = {}
    for k, row in enumerate(rows):
        first.setdefault(_kind(row), k)
    if len(first) > 1:
        found = ", ".join(f"{repr(rows[k])[:60]} in row {k}" for k in first.values())
        raise TypeError(
            f"y has classes of several types, {found}; expected texts, numbers, or in each row a "
            "list of labels."
        )


def _kind(row: Any) -> str:
    """Return a name that is the same for values that can be sorted among each other."""
    for name, types in (("text", str), ("number", int | float | np.number | np.bool_)):
        if isinstance(row, types):
            return name
    return type(row).__name__


def warn_of_unknown(targets: Targets) -> None:
    """Warn of NaN in the targets of a fit: a missing cell is easily one by accident."""
    unknown = count_unknown(targets.indicator)
    if unknown > 0:
        warn(
            f"y has NaN in {unknown} of {math.prod(targets.indicator.shape)} places, read as "
            "unknown labels, whose loss is left out; write 0 where a label is not relevant. If NaN "
            "is meant, ignore UnknownLabelsWarning.",
            UnknownLabelsWarning,
        )


def _warn_of_lists_in_texts(classes: NDArray[Any], n: int) -> None:
    """Warn of texts, fewer than five alike, that list labels with a separator between them."""
    if 5 * classes.size <= n or not all(isinstance(text, str) for text in classes):
        return
    for separator in (",", ";", "|", " "):
        if 2 * sum(separator in text for text in classes) > classes.size:
            warn(
                f"y is one text a row, {classes.size} different ones in {n} rows, such as "
                f"{classes[0][:60]!r}, and each is taken for a class; for lists of labels hand "
                f"over lists: y.str.split({separator!r}) of a column."
            )
            return


def check_pairs(indicator: NDArray[np.uint8]) -> None:
    """Raise ValueError unless some row of the indicator has a relevant and an irrelevant label."""
    if not known_both(indicator, axis=1).any():
        raise ValueError(
            f"y has no label pair: each of its {indicator.shape[0]} rows has all labels or none; "
            "expected a row with both a relevant and an irrelevant label."
        )


def lists_labels(y: Any) -> bool:
    """Return whether `y` lists the labels of each row by name; a missing value lists none."""
    if isinstance(y, np.ndarray) and y.dtype.kind != "O":
        return False
    if not isinstance(y, list | tuple | np.ndarray) and type(y).__name__ != "Series":
        return False
    rows = [row for row in y if not is_missing(row)]
    if not all(isinstance(row, list | tuple | set | frozenset) for row in rows):
        return False
    # Rows of one text each are a column of classes, unless they are cells of a column.
    return (
        (bool(rows) and not isinstance(y, list | tuple | np.ndarray))
        or any(isinstance(row, set | frozenset) for row in rows)
        or any(len(row) != 1 and any(isinstance(label, str) for label in row) for row in rows)
    )


def _listed(y: Any) -> Targets:
    """Return the targets that lists of label names stand for, the names in sorted order."""
    binarizer = MultiLabelBinarizer()
    for k, row in enumerate(y):
        if not is_missing(row) and any(map(is_missing, row)):
            raise ValueError(
                f"y lists a missing label in row {k}, {row!r}; expected names only, and an empty "
                "list where a row has no label."
            )
    try:
        indicator = binarizer.fit_transform([() if is_missing(row) else row for row in y])
    except TypeError as error:
        raise TypeError(
            f"y lists labels of several types, which cannot be sorted ({error}); expected texts."
        ) from error
    names = np.asarray(binarizer.classes_, dtype=object)
    if names.size < 2:
        raise ValueError(
            f"y lists {names.size} different label(s), {names.tolist()}; expected at least two."
        )
    return Targets(indicator.astype(np.uint8), np.arange(names.size), True, names)


def is_missing(value: Any) -> bool:
    """Return whether a value is None, NaN or what pandas has for them; such a row lists none."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, float | np.floating | np.datetime64) and bool(value != value)


def shape_of(y: Any) -> tuple[int, ...]:
    """Return the shape of what an estimator is fitted to."""
    if sparse.issparse(y) or hasattr(y, "shape"):
        return tuple(y.shape)
    try:
        return np.asarray(y).shape
    except ValueError as error:
        raise ValueError(
            "y has rows of different lengths; expected a label indicator of shape (n, q) of 0 and "
            "1, or lists of names of labels."
        ) from error


def _single_column(y: Any) -> NDArray[Any]:
    column = np.asarray(y.toarray() if sparse.issparse(y) else y)[:, 0]
    if column.dtype.kind in "biuf" and np.isin(column, (0, 1)).all():
        raise ValueError(
            f"y has shape {tuple(np.shape(y))}, a single label; expected at least two "
            "labels (for two classes, pass y of shape (n,))."
        )
    warn(
        "A column-vector y was passed when a 1d array was expected. Please change the shape of y "
        "to (n_samples,), for example using ravel().",
        DataConversionWarning,
    )
    return column


def label_names_of(y: Any, q: int) -> NDArray[Any]:
    """Return what the q labels are called: the columns of a data frame, or their numbers."""
    names = _column_names(y)
    return np.arange(q) if names is None else names


def _column_names(y: Any) -> NDArray[Any] | None:
    columns = getattr(y, "columns", None)
    if columns is None or not all(isinstance(name, str) for name in columns):
        return None
    repeated = [name for name, count in Counter(columns).items() if count > 1]
    if repeated:
        raise ValueError(f"y has several columns named {repeated[0]!r}; expected different names.")
    return np.asarray(list(columns), dtype=object)
