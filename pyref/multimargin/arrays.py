"""Checks of arrays whose messages name the argument, what was found and what is expected."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils.validation import _num_samples

# Squares of larger numbers, summed over some millions of features, overflow.
_LARGEST = 1e150

MATRIX_OF_NUMBERS = "a matrix of finite real numbers, one row an instance"


@contextmanager
def naming(name: str, expected: str) -> Iterator[None]:
    """Let what scikit-learn's checks raise name the argument.

    Its messages about numbers of features do; those about text, missing values, empty arrays or
    other dimensions lack the name, or what is expected.

    Parameters
    ----------
    name : str
        Name of the argument that is checked.
    expected : str
        What it should be.

    Yields
    ------
    None

    Raises
    ------
    TypeError, ValueError
        What was raised inside, with the name and the expectation in front where they were lacking.
    """
    try:
        yield
    except (TypeError, ValueError) as error:
        if re.search(rf"(^|for ){name}\b|feature names", str(error)):
            raise
        kind = ValueError if isinstance(error, ValueError) else TypeError
        raise kind(f"{name} is not {expected}: {error}") from error


def check_as_many_rows(Y: Any, X: Any, name: str = "Y", of: str = "X") -> None:
    """Check that two arrays have the same number of rows.

    Parameters
    ----------
    Y, X : array-like
        The arrays.
    name, of : str, default="Y", "X"
        Their names in the message.

    Raises
    ------
    ValueError
        If they have not.
    """
    found, expected = _num_samples(Y), _num_samples(X)
    if found != expected:
        raise ValueError(f"{name} has {found} rows; expected {expected}, as many as {of}.")


def check_magnitudes(X: Any, name: str = "X") -> None:
    """Check that inner products of the rows of a matrix cannot overflow.

    Parameters
    ----------
    X : ndarray or sparse matrix of shape (n, d)
        Finite numbers.
    name : str, default="X"
        Its name in the message.

    Raises
    ------
    ValueError
        If it has an entry beyond 1e150 in magnitude.
    """
    values = X.data if sparse.issparse(X) else X
    if values.size and (largest := max(float(np.max(values)), -float(np.min(values)))) > _LARGEST:
        raise ValueError(
            f"{name} has entries as large as {largest:.2g}; expected at most {_LARGEST:g} in "
            "magnitude: the squares of larger ones overflow. Scale the features."
        )
