"""The cells of a column of tags, and what is told of them."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from multimargin.datasets.table_cells import factorized
from multimargin.notices import warn
from multimargin.typing import Column


@dataclass(frozen=True, eq=False)
class TagCells:
    """A column of tags, by its distinct cells."""

    name: str
    codes: NDArray[np.intp]  # (n,): The place of the cell of each row, -1 where it is missing
    cells: list[Any]

    @classmethod
    def of(cls, column: Column) -> "TagCells":
        """Return the cells of a column."""
        return cls(str(column.name), *factorized(column))

    def row_of(self, place: int) -> int:
        """Return the first row of a cell."""
        return int(np.argmax(self.codes == place))

    def tell(self, told: str) -> None:
        """Warn of what the column has."""
        warn(f"tags_column: the column {self.name!r} {told}")

    def refusal(self, told: str) -> ValueError:
        """Return an error about what the column has."""
        return ValueError(f"tags_column: the column {self.name!r} {told}")
