"""Names that rows list, and their indicator."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from multimargin.targets.names import label_name
from multimargin.typing import Indicator, Name


@dataclass(frozen=True, eq=False)
class Listing:
    """The names of n rows, stored for each distinct cell."""

    codes: NDArray[np.intp]  # (n,): The cell of each row; -1 where nothing is known
    names: list[Any]  # The different names, as they were met
    numbers: NDArray[np.intp]  # Their numbers, those of each cell after those of the cell before
    ends: NDArray[np.intp]  # Where those of each cell begin and end
    respelled: set[Any]  # What was written otherwise than the name, or is an empty one

    @classmethod
    def of(
        cls,
        cells: Iterable[Collection[object] | None],
        codes: NDArray[np.intp] | None = None,
        name_of: Callable[[Any], Name] = label_name,
    ) -> "Listing":
        """Collect the names in cells, by default one cell per row; an empty name is ignored."""
        cells = list(cells)
        if codes is None:
            missing = np.array([cell is None for cell in cells], dtype=bool)
            codes = np.where(missing, -1, np.arange(len(cells)))
        lengths = [len(cell or ()) for cell in cells]
        return cls.of_flat(
            chain.from_iterable(cell or () for cell in cells), lengths, codes, name_of
        )

    @classmethod
    def of_flat(
        cls,
        written: Iterable[object],
        lengths: Sequence[int],
        codes: NDArray[np.intp],
        name_of: Callable[[Any], Name] = label_name,
    ) -> "Listing":
        """Collect names that are given cell after cell, with their numbers."""
        numbers = _Numbers(name_of)
        found = np.fromiter(map(numbers.__getitem__, written), dtype=np.intp)
        cells = np.repeat(np.arange(len(lengths)), lengths)
        # Each once in a cell, and without the empty one, whose number is 0.
        found = np.sort((cells * len(numbers.names) + found)[found > 0])
        cells, found = np.divmod(found[np.diff(found, prepend=-1) > 0], len(numbers.names))
        ends = np.concatenate([[0], np.cumsum(np.bincount(cells, minlength=len(lengths)))])
        names = list(numbers.names)
        respelled = {text for text, of in numbers.items() if not of or text != names[of]}
        return cls(codes, names[1:], found - 1, ends, respelled)

    def counts(self, rows: NDArray[np.intp] | None = None) -> Counter[Any]:
        """Return the number of rows of each name."""
        found = self.entries(rows)[1]
        counts = np.bincount(found, minlength=len(self.names))
        return Counter(dict(zip(self.names, counts.tolist(), strict=True)))

    def indicator(
        self, names: Sequence[Name], *, keep_sparse: bool = False
    ) -> tuple[Indicator, NDArray[np.bool_]]:
        """Return the indicator (n, q) of some names, and which rows have other names."""
        column = {name: place for place, name in enumerate(names)}
        columns = np.array([column.get(name, -1) for name in self.names], dtype=np.intp)
        rows, numbers = self.entries()
        found = columns[numbers]
        places = rows[found >= 0], found[found >= 0]
        shape = len(self.codes), len(names)
        Y: Any
        if keep_sparse:
            Y = sparse.csr_array((np.ones(places[0].size, dtype=np.uint8), places), shape=shape)
        else:
            Y = np.zeros(shape, dtype=np.uint8)
            Y[places] = 1
        has_other = np.zeros(len(self.codes), dtype=bool)
        has_other[rows[found < 0]] = True
        return Y, has_other

    def entries(self, rows: NDArray[np.intp] | None = None) -> tuple[NDArray[np.intp], ...]:
        """Return rows, each as often as it has names, and the numbers of these."""
        codes = self.codes if rows is None else self.codes[rows]
        counts = np.where(codes < 0, 0, np.diff(self.ends, append=0)[codes])
        before = np.cumsum(counts) - counts
        places = np.arange(counts.sum()) + np.repeat(self.ends[codes] - before, counts)
        return np.repeat(np.arange(codes.size), counts), self.numbers[places]


class _Numbers(dict[Any, int]):
    """Numbers of names by how they are written, each name made once; that of the empty one is 0."""

    def __init__(self, name_of: Callable[[Any], Any]) -> None:
        self.names: dict[Any, int] = {"": 0}
        self._name_of = name_of

    def __missing__(self, text: Any) -> int:
        self[text] = number = self.names.setdefault(self._name_of(text), len(self.names))
        return number
