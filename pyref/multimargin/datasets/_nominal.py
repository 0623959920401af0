"""Attributes as files declare them, and how nominal ones become features."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import numpy as np
from scipy import sparse

SPARSE_DENSITY = 0.1
"""Features with a smaller share of nonzero values are better stored as CSR."""
# Missing values fill all columns of their attribute; more of them are refused.
_MAX_MISSING_ENTRIES = 10_000_000


@dataclass(frozen=True)
class Attribute:
    """Name and, for a nominal attribute, the declared values.

    Parameters
    ----------
    name : str
        Its name.
    values : tuple of str or None
        The declared values; None for a number.
    """

    name: str
    values: tuple[str, ...] | None

    @property
    def is_binary_number(self) -> bool:
        """Whether it is declared with the values 0 and 1, or one of them."""
        return self.values is not None and set(self.values) <= {"0", "1"}

    @property
    def is_reversed(self) -> bool:
        """Whether the code 0, which stands for the first declared value, means the number 1."""
        return self.values is not None and self.is_binary_number and self.values[0] == "1"

    @property
    def is_plain(self) -> bool:
        """Whether the numbers, or the codes 0 and 1 of the declared values, are the feature."""
        return self.values is None or (len(self.values) <= 2 and not self.is_reversed)


def feature_matrix(values: Any, attributes: Sequence[Attribute]) -> tuple[Any, list[str]]:
    """Turn the values of attributes into numbers, nominal ones as `load_arff` describes.

    Parameters
    ----------
    values : {ndarray, sparse matrix} of shape (n, n_attributes)
        Values; of a nominal attribute the place of the value in its declaration.
    attributes : sequence of Attribute of length n_attributes
        The attributes.

    Returns
    -------
    X : {ndarray, csr_array} of shape (n, d)
        Features; sparse if the values are, or if nominal attributes become so many columns that
        less than a tenth of X can differ from 0.
    names : list of str
        Their names.

    Raises
    ------
    ValueError
        If missing values would fill the many columns of an attribute.
    """
    blocks, names = [], []
    columns = range(len(attributes))
    for is_plain, run in groupby(columns, key=lambda column: attributes[column].is_plain):
        if is_plain:
            places = list(run)
            blocks.append(values[:, places])
            names += [attributes[column].name for column in places]
            continue
        for column in run:
            attribute = attributes[column]
            codes = values[:, [column]]
            blocks.append(_nominal_block(codes, attribute))
            names += _nominal_names(attribute)
    if not sparse.issparse(values) and values.shape[1] >= SPARSE_DENSITY * len(names):
        return np.hstack([b.toarray() if sparse.issparse(b) else b for b in blocks]), names
    X = sparse.hstack(blocks, format="csr")
    X.eliminate_zeros()
    X.sort_indices()
    return X, names


def _nominal_names(attribute: Attribute) -> list[str]:
    if attribute.is_binary_number:
        return [attribute.name]
    return [f"{attribute.name}={value}" for value in attribute.values or ()]


def _nominal_block(codes: Any, attribute: Attribute) -> Any:
    """Return the columns of a nominal attribute whose codes are not its feature already."""
    code = (codes.toarray() if sparse.issparse(codes) else codes).ravel()
    if attribute.is_binary_number:
        return sparse.csr_array(1.0 - code[:, np.newaxis])
    n_values = len(attribute.values or ())
    missing = np.flatnonzero(np.isnan(code))
    known = np.flatnonzero(~np.isnan(code))
    if len(missing) * n_values > _MAX_MISSING_ENTRIES:
        raise ValueError(
            f"the attribute {attribute.name!r} has {n_values:,} values and is missing in "
            f"{len(missing):,} rows, expected fewer of either: each would fill all of its columns"
        )
    rows = np.concatenate([known, np.repeat(missing, n_values)])
    columns = np.concatenate([code[known], np.tile(np.arange(n_values), len(missing))])
    entries = np.concatenate([np.ones(len(known)), np.full(len(missing) * n_values, np.nan)])
    return sparse.csr_array(
        (entries, (rows, columns.astype(np.int32))), shape=(len(code), n_values)
    )
