"""Declared attributes, and the conversion of nominal ones to features."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from multimargin.datasets.table_cells import label_value
from multimargin.typing import Features, is_sparse

SPARSE_DENSITY = 0.1
"""Features with a smaller share of nonzero values are better stored as CSR."""
# Missing values fill all columns of their attribute; more of them are refused.
_MAX_MISSING_ENTRIES = 10_000_000


@dataclass(frozen=True)
class Attribute:
    """Name and, for a nominal attribute, the declared values."""

    name: str
    values: tuple[str, ...] | None  # The declared values; None for a number
    # The declared type, of an attribute that is neither: text or a date
    other: str = ""

    def __str__(self) -> str:
        declared = self.other or "numeric" if self.values is None else self.values
        return f"{self.name!r} ({declared})"

    @property
    def is_binary_number(self) -> bool:
        """True if declared with the values 0 and 1, or one of them."""
        return self.values is not None and set(self.values) <= {"0", "1"}

    @property
    def is_reversed(self) -> bool:
        """True if the code 0, which stands for the first declared value, means the number 1."""
        return self.values is not None and self.is_binary_number and self.values[0] == "1"

    @property
    def relevant_codes(self) -> list[float] | None:
        """Labels, 0 or 1, of the codes of the declared values; None if they are not labels."""
        meant = [label_value(value) for value in self.values or ()]
        codes = [max(0.0, value) for value in meant if value in (-1.0, 0.0, 1.0)]
        return codes if len(set(codes)) == len(meant) > 0 else None

    @property
    def is_plain(self) -> bool:
        """True if the numbers, or the codes 0 and 1 of the declared values, are the feature."""
        return self.values is None or (len(self.values) <= 2 and not self.is_reversed)


def feature_matrix(values: Features, attributes: Sequence[Attribute]) -> tuple[Features, list[str]]:
    """Turn the values of attributes into numbers, nominal ones as `load_arff` describes."""
    names_of = [_feature_names(attribute) for attribute in attributes]
    names = [name for one in names_of for name in one]
    widths = np.array([len(one) for one in names_of], dtype=np.int32)
    firsts = np.cumsum(widths, dtype=np.int32) - widths
    plain = np.array([attribute.is_plain for attribute in attributes], dtype=bool)
    numbers, codes = values[:, plain], values[:, ~plain]
    codes = codes.toarray() if is_sparse(codes) else codes
    nominal = [attribute for attribute in attributes if not attribute.is_plain]
    found = [
        _entries(column, attribute, first)
        for column, attribute, first in zip(codes.T, nominal, firsts[~plain], strict=True)
    ]
    numbers = sparse.coo_array(numbers)
    found.append((numbers.row, firsts[plain][numbers.col], numbers.data))
    rows, columns, entries = (np.concatenate(part) for part in zip(*found, strict=True))
    X = sparse.csr_array((entries, (rows, columns)), shape=(values.shape[0], len(names)))
    X.eliminate_zeros()
    is_dense = not is_sparse(values) and len(attributes) >= SPARSE_DENSITY * len(names)
    return (X.toarray() if is_dense else X), names


def _feature_names(attribute: Attribute) -> list[str]:
    if attribute.is_plain or attribute.is_binary_number:
        return [attribute.name]
    return [f"{attribute.name}={value}" for value in attribute.values or ()]


def _entries(codes: Any, attribute: Attribute, first: int) -> tuple[Any, Any, Any]:
    """Return rows, columns from `first` on, and values of a nominal attribute that are not 0.

    They are NaN in all of its columns where its value is missing.
    """
    places = np.arange(codes.size, dtype=np.int32)
    if attribute.is_binary_number:
        # 0 stands for the number 1, and 1 for 0.
        return places, np.full(codes.size, first), 1.0 - codes
    is_missing, width = np.isnan(codes), len(attribute.values or ())
    known, missing = places[~is_missing], places[is_missing]
    if missing.size * width > _MAX_MISSING_ENTRIES:
        raise ValueError(
            f"the attribute {attribute.name!r} has {width:,} values and is missing in "
            f"{missing.size:,} rows; expected fewer of either: each would fill all of its columns"
        )
    rows = np.concatenate([known, np.repeat(missing, width)])
    every = np.arange(width, dtype=np.int32)
    columns = np.concatenate([codes[known].astype(np.int32), np.tile(every, missing.size)])
    return rows, first + columns, np.repeat([1.0, np.nan], [known.size, rows.size - known.size])
