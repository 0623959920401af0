"""Attributes as files declare them, and how nominal ones become features."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import numpy as np
from scipy import sparse

SPARSE_DENSITY = 0.1
"""Features with a smaller share of nonzero values are better stored as CSR."""
_RELEVANT = frozenset({"1", "+1", "1.0", "true", "t", "yes", "y", "on"})
_IRRELEVANT = frozenset({"0", "-1", "0.0", "-1.0", "false", "f", "no", "n", "off"})
# Missing values fill all columns of their attribute; more of them are refused.
_MAX_MISSING_ENTRIES = 10_000_000


@dataclass(frozen=True)
class Attribute:
    """Name and, for a nominal attribute, the declared values."""

    name: str
    values: tuple[str, ...] | None  # The declared values; None for a number
    # The declared type, of an attribute that is neither: text or a date
    other: str = ""

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
        """Labels, 0 or 1, that the codes of the declared values mean; None if they mean none."""
        words = [value.strip().lower() for value in self.values or ()]
        meant = [1.0 if word in _RELEVANT else 0.0 for word in words]
        known = all(word in _RELEVANT | _IRRELEVANT for word in words)
        return meant if known and len(set(meant)) == len(meant) > 0 else None

    @property
    def is_plain(self) -> bool:
        """True if the numbers, or the codes 0 and 1 of the declared values, are the feature."""
        return self.values is None or (len(self.values) <= 2 and not self.is_reversed)


def feature_matrix(values: Any, attributes: Sequence[Attribute]) -> tuple[Any, list[str]]:
    """Turn the values of attributes into numbers, nominal ones as `load_arff` describes."""
    names = [name for attribute in attributes for name in _feature_names(attribute)]
    blocks = [values[:, :0]]
    for plain, run in groupby(range(len(attributes)), lambda k: attributes[k].is_plain):
        places = list(run)
        if plain:
            blocks.append(values[:, places[0] : places[-1] + 1])
        else:
            blocks += [_columns(values[:, [k]], attributes[k]) for k in places]
    if not sparse.issparse(values) and len(attributes) >= SPARSE_DENSITY * len(names):
        return np.hstack([b.toarray() if sparse.issparse(b) else b for b in blocks]), names
    X = sparse.hstack(blocks, format="csr")
    X.eliminate_zeros()
    X.sort_indices()
    return X, names


def _feature_names(attribute: Attribute) -> list[str]:
    if attribute.is_plain or attribute.is_binary_number:
        return [attribute.name]
    return [f"{attribute.name}={value}" for value in attribute.values or ()]


def _columns(codes: Any, attribute: Attribute) -> Any:
    """Return the columns of a nominal attribute, NaN in all of them where its value is missing."""
    codes = np.ravel(codes.toarray() if sparse.issparse(codes) else codes)
    if attribute.is_binary_number:
        # 0 stands for the number 1, and 1 for 0.
        return sparse.csr_array(1.0 - codes[:, None])
    is_missing, width = np.isnan(codes), len(attribute.values or ())
    places = np.arange(codes.size, dtype=np.int32)
    known, missing = places[~is_missing], places[is_missing]
    if missing.size * width > _MAX_MISSING_ENTRIES:
        raise ValueError(
            f"the attribute {attribute.name!r} has {width:,} values and is missing in "
            f"{missing.size:,} rows; expected fewer of either: each would fill all of its columns"
        )
    rows = np.concatenate([known, np.repeat(missing, width)])
    every = np.arange(width, dtype=np.int32)
    columns = np.concatenate([codes[known].astype(np.int32), np.tile(every, missing.size)])
    entries = np.ones(rows.size)
    entries[known.size :] = np.nan
    return sparse.csr_array((entries, (rows, columns)), shape=(codes.size, width))
