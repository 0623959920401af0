"""Attributes as files declare them, and how nominal ones become features."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

SPARSE_DENSITY = 0.1
"""Features with a smaller share of nonzero values are better stored as CSR."""
# Missing values fill all columns of their attribute; more of them are refused.
_MAX_MISSING_ENTRIES = 10_000_000
# Codes of nominal attributes that are turned into columns at once: their places take memory.
_MOST_CODES = 1_000_000


@dataclass(frozen=True)
class Attribute:
    """Name and, for a nominal attribute, the declared values."""

    name: str
    values: tuple[str, ...] | None  # The declared values; None for a number

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
    """Turn the values of attributes into numbers, nominal ones as `load_arff` describes."""
    plain = np.array([attribute.is_plain for attribute in attributes], dtype=bool)
    names = [name for attribute in attributes for name in _feature_names(attribute)]
    keeps_dense = not sparse.issparse(values) and len(plain) >= SPARSE_DENSITY * len(names)
    if plain.all():
        blocks = [values]
    else:
        blocks = [
            _block(values[:, start:end], attributes[start:end])
            for start, end in _batches(plain, values.shape[0])
        ]
    if keeps_dense:
        return np.hstack([b.toarray() if sparse.issparse(b) else b for b in blocks]), names
    X = sparse.hstack(blocks, format="csr")
    X.eliminate_zeros()
    X.sort_indices()
    return X, names


def _feature_names(attribute: Attribute) -> list[str]:
    if attribute.is_plain or attribute.is_binary_number:
        return [attribute.name]
    return [f"{attribute.name}={value}" for value in attribute.values or ()]


def _batches(plain: NDArray[np.bool_], n: int) -> Iterator[tuple[int, int]]:
    """Yield ranges of attributes whose nominal ones have a limited number of codes."""
    number = np.cumsum(~plain) // max(1, _MOST_CODES // max(1, n))
    ends = np.append(np.flatnonzero(np.diff(number)) + 1, plain.size)
    return zip(np.append(0, ends[:-1]).tolist(), ends.tolist(), strict=True)


def _block(values: Any, attributes: Sequence[Attribute]) -> Any:
    """Return the columns of some attributes, as a CSR matrix."""
    plain = np.array([attribute.is_plain for attribute in attributes], dtype=bool)
    widths = np.array([len(_feature_names(attribute)) for attribute in attributes], dtype=np.int64)
    starts = np.cumsum(widths) - widths
    kept = sparse.coo_array(values[:, np.flatnonzero(plain)])
    parts = [(kept.data, kept.coords[0], starts[plain][kept.coords[1]])]

    codes = values[:, np.flatnonzero(~plain)]
    codes = codes.toarray() if sparse.issparse(codes) else codes
    nominal = [attribute for attribute in attributes if not attribute.is_plain]
    reverse = np.array([attribute.is_binary_number for attribute in nominal], dtype=bool)
    first, widths = starts[~plain], widths[~plain]

    # 0 stands for the number 1, and 1 for 0; a missing number is missing.
    numbers = 1.0 - codes[:, reverse]
    rows, places = np.nonzero(numbers)
    parts.append((numbers[rows, places], rows, first[reverse][places]))

    missing = np.isnan(codes) & ~reverse
    _check_missing(missing, widths, nominal)
    rows, places = np.nonzero(~np.isnan(codes) & ~reverse)
    columns = first[places] + codes[rows, places].astype(np.int64)
    parts.append((np.ones(rows.size), rows, columns))
    rows, places = np.nonzero(missing)
    repeated = widths[places]
    within = np.arange(repeated.sum()) - np.repeat(np.cumsum(repeated) - repeated, repeated)
    columns = np.repeat(first[places], repeated) + within
    parts.append((np.full(columns.size, np.nan), np.repeat(rows, repeated), columns))

    entries, rows, columns = (np.concatenate(part) for part in zip(*parts, strict=True))
    shape = (values.shape[0], int(starts[-1]) + len(_feature_names(attributes[-1])))
    return sparse.csr_array((entries, (rows.astype(np.int32), columns.astype(np.int32))), shape)


def _check_missing(
    missing: NDArray[np.bool_], widths: NDArray[np.int64], attributes: Sequence[Attribute]
) -> None:
    counts = missing.sum(axis=0)
    too_many = np.flatnonzero(counts * widths > _MAX_MISSING_ENTRIES)
    if too_many.size:
        place = int(too_many[0])
        raise ValueError(
            f"the attribute {attributes[place].name!r} has {widths[place]:,} values and is missing "
            f"in {counts[place]:,} rows, expected fewer of either: each would fill all of its "
            "columns"
        )
