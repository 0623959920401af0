"""A table of texts with some cells emphasised, written in Markdown."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

_MARKDOWN = str.maketrans(
    {**{character: f"\\{character}" for character in "\\|*_`[]<>"}, "\n": " ", "\r": " "}
)


@dataclass(frozen=True, eq=False)
class Table:
    """A table for human readers.

    Parameters
    ----------
    title : str
        Caption.
    cells : DataFrame of str
        The cells. The index is the first column, headed by the name of the index.
    best : DataFrame of bool, default=None
        Cells to emphasise, of the same shape; None emphasises none.
    notes : tuple of str, default=()
        Remarks, in sentences without a full stop.
    numeric : bool, default=True
        True for cells with numbers, which are aligned to the right.
    """

    title: str
    cells: pd.DataFrame
    best: pd.DataFrame | None = None
    notes: tuple[str, ...] = ()
    numeric: bool = True

    @classmethod
    def of_rows(
        cls, title: str, first: str, names: Iterable[str], rows: Any, **others: Any
    ) -> "Table":
        """Lay out rows, or columns, whose names are the first column, headed by `first`."""
        return cls(title, pd.DataFrame(rows, index=pd.Index(list(names), name=first)), **others)

    @property
    def header(self) -> list[str]:
        """The name of the index and those of the columns."""
        return [str(self.cells.index.name or ""), *map(str, self.cells.columns)]


def to_markdown(tables: Sequence[Table]) -> str:
    """Write tables in Markdown, the emphasised cells in bold.

    Parameters
    ----------
    tables : sequence of Table
        The tables.

    Returns
    -------
    str
        A heading, the table and its notes, for each.
    """
    parts = []
    for table in tables:
        cells = table.cells.astype(str).map(escaped)
        if table.best is not None:
            cells = cells.mask(table.best, "**" + cells + "**")
        frame = cells.rename(index=escaped, columns=escaped).reset_index()
        frame.columns = [escaped(name) for name in table.header]
        # Otherwise tabulate would parse the texts as numbers and reformat them.
        align = ["left", *["right" if table.numeric else "left"] * table.cells.shape[1]]
        text = frame.to_markdown(index=False, disable_numparse=True, colalign=align)
        parts += [f"### {escaped(table.title)}", text]
        parts += [f"{escaped(note)}." for note in table.notes]
    return "\n\n".join(parts) + "\n"


def escaped(text: object) -> str:
    """Return a text as Markdown shows it."""
    return str(text).translate(_MARKDOWN)
