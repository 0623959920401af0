"""Targets of an estimator: several labels per row, or one class per row."""

import math
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.exceptions import DataConversionWarning
from sklearn.preprocessing import MultiLabelBinarizer
from sklearn.utils import assert_all_finite
from sklearn.utils.multiclass import check_classification_targets

from multimargin.checks.arrays import naming
from multimargin.checks.given import Given, column_of, is_missing, recognise
from multimargin.checks.label_names import label_name, warn_of_lookalikes
from multimargin.checks.labels import UNKNOWN, count_unknown, indicator_of, known_both
from multimargin.checks.texts import warn_of_lists_in_texts
from multimargin.notices import warn

_EXPECTED = "a label indicator of shape (n, q) or classes of shape (n,)"
# An indicator that was written as text.
_CODES = {"0", "1", "0.0", "1.0", "true", "false"}


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
    of_lists: bool = False  # Whether they came as lists of names

    def rows(self, places: NDArray[np.intp]) -> "Targets":
        """Return the targets of some rows."""
        return replace(self, indicator=self.indicator[places])

    def name_outputs(self, estimator: Any) -> None:
        """Set `classes_` of an estimator, and `label_names_in_` where the targets had names."""
        estimator.classes_ = self.classes
        if self.label_names is not None:
            estimator.label_names_in_ = self.label_names
        elif hasattr(estimator, "label_names_in_"):
            del estimator.label_names_in_


def check_targets(y: Any, *, unknown: bool = False, keep_sparse: bool = False) -> Targets:
    """Read the targets of a fit, unless they were read before."""
    if isinstance(y, Targets):
        return y
    return targets_of(recognise(y), unknown=unknown, keep_sparse=keep_sparse)


def targets_of(given: Given, *, unknown: bool = False, keep_sparse: bool = False) -> Targets:
    """Return the targets that recognised labels stand for."""
    if given.kind == "lists":
        return _listed(given.values, unknown=unknown)
    if given.kind == "classes":
        return _classes(given.values)
    if given.is_column:
        return _classes(_single_column(given.values))
    if given.of_column:
        warn(
            f"y is a column of lists of {given.values.shape[1]} numbers each, read as the rows of "
            "a label indicator of 0 and 1; numpy.array(y.tolist()) is one, and lists of texts are "
            "names of labels."
        )
    indicator = indicator_of(given.values, unknown=unknown, keep_sparse=keep_sparse)
    return Targets(indicator, np.arange(indicator.shape[1]), True, given.names)


def _classes(y: NDArray[Any]) -> Targets:
    if y.dtype.kind == "f":
        with naming("y", _EXPECTED):
            assert_all_finite(y, input_name="y")
    elif y.dtype.kind not in "biu":
        _check_rows(y.tolist())
    with naming("y", _EXPECTED):
        check_classification_targets(y)
    classes, codes = np.unique(y, return_inverse=True)
    if classes.size == 0:
        raise ValueError("y is empty; expected one row of labels, or one class, for each row of X.")
    if classes.size < 2:
        raise ValueError(
            f"y has one class only, {classes.tolist()[0]!r}; expected at least two classes."
        )
    warn_of_lists_in_texts(classes.tolist(), codes.size)
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
        of_lists = f" (a row without a list is unknown in {targets.indicator.shape[1]})"
        warn(
            f"y has NaN in {unknown} of {math.prod(targets.indicator.shape)} places"
            f"{of_lists if targets.of_lists else ''}, read as unknown labels, whose loss is left "
            f"out; write {'an empty list' if targets.of_lists else '0'} where "
            f"{'a row has no label' if targets.of_lists else 'a label is not relevant'}. If NaN is "
            "meant, ignore UnknownLabelsWarning.",
            UnknownLabelsWarning,
        )


def check_pairs(indicator: NDArray[np.uint8]) -> None:
    """Raise ValueError unless some row of the indicator has a relevant and an irrelevant label."""
    if not known_both(indicator, axis=1).any():
        raise ValueError(
            f"y has no label pair: each of its {indicator.shape[0]} rows has all labels or none; "
            "expected a row with both a relevant and an irrelevant label."
        )


def _listed(rows: list[list[Any] | None], *, unknown: bool) -> Targets:
    """Return the targets that lists of label names stand for, the names in sorted order."""
    for k, row in enumerate(rows):
        if row is not None and any(map(is_missing, row)):
            raise ValueError(
                f"y lists a missing label in row {k}, {row!r}; expected names only, and an empty "
                "list where a row has no label."
            )
    without = np.array([row is None for row in rows])
    if without.any() and not unknown:
        raise ValueError(
            f"y has no list in {np.count_nonzero(without)} of {len(rows)} rows, first in row "
            f"{np.flatnonzero(without)[0]}, of which nothing is known then; this method learns "
            "from known labels only: expected a list in each row, an empty one where it has none."
        )
    lists = names_in(rows)
    _warn_of_changed(rows, lists)
    binarizer = MultiLabelBinarizer()
    try:
        indicator = binarizer.fit_transform(lists).astype(np.uint8)
    except TypeError as error:
        raise TypeError(
            f"y lists labels of several types, which cannot be sorted ({error}); expected texts."
        ) from error
    names = column_of(binarizer.classes_.tolist())
    warn_of_lookalikes([name for name in names if isinstance(name, str)], "y lists")
    if {str(one).lower() for one in names} <= _CODES and not any(map(_is_number, names)):
        raise ValueError(
            f"y lists the names {names.tolist()} alone, an indicator written as text; expected the "
            "numbers 0 and 1, or names of labels."
        )
    if names.size < 2:
        raise ValueError(
            f"y lists {names.size} different label(s), {names.tolist()}; expected at least two."
        )
    indicator[without] = UNKNOWN
    return Targets(indicator, np.arange(names.size), True, names, of_lists=True)


def names_in(rows: list[list[Any] | None]) -> list[list[Any]]:
    """Return the names in lists as `label_name` makes them, without empty ones; numbers stay so."""
    named = ([_name(one) for one in row or ()] for row in rows)
    return [[one for one in row if one != ""] for row in named]


def _name(one: Any) -> Any:
    if isinstance(one, str):
        return label_name(one)
    is_whole = isinstance(one, float | np.floating) and float(one).is_integer()
    return int(one) if is_whole else one


def _warn_of_changed(rows: list[list[Any] | None], lists: list[list[Any]]) -> None:
    """Warn of names with blanks around them, and of empty ones: a split of texts leaves them."""
    changed = [k for k, row in enumerate(rows) if row is not None and row != lists[k]]
    if changed:
        warn(
            "y lists names that are empty, or have blanks around them or what is invisible in "
            f"them, in {len(changed)} of {len(rows)} rows, such as {str(rows[changed[0]])[:60]} in "
            f"row {changed[0]}; these are taken off, and empty names are left out."
        )


def _is_number(name: Any) -> bool:
    return isinstance(name, Real)


def _single_column(column: Any) -> NDArray[Any]:
    values = np.asarray(column.toarray() if sparse.issparse(column) else column)[:, 0]
    if values.dtype.kind in "biuf" and np.isin(values, (0, 1)).all():
        raise ValueError(
            f"y has shape {column.shape}, a single label; expected at least two labels (for two "
            "classes, pass y of shape (n,))."
        )
    warn(
        "A column-vector y was passed when a 1d array was expected. Please change the shape of y "
        "to (n_samples,), for example using ravel().",
        DataConversionWarning,
    )
    return values
