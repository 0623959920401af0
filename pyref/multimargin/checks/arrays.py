"""Checks of arrays whose messages name the argument, what was found and what is expected."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from multimargin.checks.names import column_names, listed, quoted
from multimargin.checks.no_numbers import check_no_others
from multimargin.checks.storage import canonical, check_storage
from multimargin.notices import warn
from multimargin.scikit_learn import num_samples
from multimargin.typing import Features, LabelsLike, MatrixLike, is_sparse

# Squares of larger numbers, summed over some millions of features, overflow.
_LARGEST = 1e150

_FILL = " Fill in missing values first, with sklearn.impute.SimpleImputer for example."
MATRIX_OF_NUMBERS = "a matrix of finite real numbers, one row per instance"


@contextmanager
def naming(name: str, expected: str) -> Iterator[None]:
    """Make errors of scikit-learn's checks name the argument, and what is expected.

    Its messages about numbers of features do; those about text, missing values, empty arrays or
    other dimensions lack one or the other.
    """
    try:
        yield
    except (TypeError, ValueError) as error:
        if re.search(rf"(^|for ){name}\b|feature names", str(error)):
            raise
        kind = ValueError if isinstance(error, ValueError) else TypeError
        # Without the numbers that some list.
        numbers = ("array=", "[", " ")
        lines = [line for line in str(error).split("\n") if not line.startswith(numbers)]
        found = " ".join(lines).strip()
        if "contains NaN." in found and len(lines) > 1:
            # What follows advises another estimator.
            found = lines[0] + _FILL
        elif "NAType" in found:
            found = "it has missing values (pandas.NA)." + _FILL
        elif "convert string to float" in found:
            # What follows may be a whole text.
            found = found if len(found) < 90 else f"{found[:85]}...'"
            found += ". TfidfVectorizer makes numbers of texts, OneHotEncoder of names."
        raise kind(f"{name} is not {expected}: {found}") from error


def check_as_many_rows(y: LabelsLike, X: MatrixLike, name: str = "y") -> None:
    """Raise ValueError unless labels, or what is named, and features have as many rows."""
    with naming("X", MATRIX_OF_NUMBERS):
        expected = num_samples(X)
    if (found := num_samples(y)) != expected:
        raise ValueError(f"{name} has {found} rows; expected {expected}, as many as X.")


def warn_of_other_order(X: MatrixLike, **others: object) -> None:
    """Warn where the index of an argument puts the rows of X in another order."""
    index: Any = getattr(X, "index", None)
    for name, other in others.items():
        found: Any = getattr(other, "index", None)
        # Lists have a method of that name.
        if not (hasattr(index, "equals") and hasattr(found, "equals")):
            continue
        if len(index) != len(found) or index.equals(found) or not _same_rows(index, found):
            continue
        pairs = enumerate(zip(found, index, strict=True))
        if (row := next((row for row, (one, own) in pairs if one != own), None)) is not None:
            there, here = quoted(str(found[row])), quoted(str(index[row]))
            warn(
                f"{name} has another index than X, in row {row} {there} where X has {here}; rows "
                f"are matched by place. To match them by index pass {name}.loc[X.index]; if the "
                f"places are right, {name}.set_axis(X.index)."
            )


def check_same_order(Y: Any, **others: Any) -> None:
    """Raise ValueError where a frame has the columns of the labels in another order."""
    labels = column_names(Y)
    for name, other in others.items():
        found = column_names(other)
        if found != labels and len(found) == len(labels) and set(found) == set(labels):
            raise ValueError(
                f"{name} has the same labels in another order, {listed(found)}; expected "
                f"{listed(labels)}, as columns are matched by place."
            )


def _same_rows(index: Any, other: Any) -> bool:
    """Return whether two indices seem to be of the same rows: one from 0 on may be of any rows."""
    if not (index.is_unique and other.is_unique):
        return False
    anew = any(np.array_equal(one, np.arange(len(one))) for one in (index, other))
    return bool(other.isin(index).mean() >= (1.0 if anew else 0.5))


def check_readable(X: MatrixLike, name: str = "X") -> None:
    """Check for faults that scikit-learn's checks overlook.

    That is how X is stored (`check_storage`), and durations, which they treat as nanoseconds.
    """
    check_storage(X, name)
    if not is_sparse(X):
        check_no_others(X, name)


def is_sound(X: MatrixLike) -> bool:
    """Return whether all checks of features would find nothing, and convert nothing."""
    return (
        type(X) is np.ndarray
        and X.dtype == np.float64
        and X.ndim == 2
        and X.size > 0
        and X.flags.c_contiguous
        # Not where one of them is NaN.
        and bool(X.min() >= -_LARGEST and X.max() <= _LARGEST)
    )


def sound_features(X: Features) -> Features:
    """Return checked features, sparse ones in canonical form, if none is too large."""
    if is_sparse(X):
        X = canonical(X)
    check_magnitudes(X)
    return X


def check_magnitudes(X: Features, name: str = "X") -> None:
    """Raise ValueError where inner products of rows could overflow: entries beyond 1e150."""
    values = X.data if is_sparse(X) else X
    if values.size and (largest := max(float(np.max(values)), -float(np.min(values)))) > _LARGEST:
        raise ValueError(
            f"{name} has entries as large as {largest:.2g}; expected at most {_LARGEST:g} in "
            "magnitude: the squares of larger ones overflow. Scale the features."
        )
