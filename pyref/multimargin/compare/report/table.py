"""A table of texts with some cells emphasised, written for terminals and in Markdown."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import starmap
from typing import Any

import pandas as pd

_MARKDOWN = str.maketrans(
    {**{character: f"\\{character}" for character in "\\|*_`[]<>"}, "\n": " ", "\r": " "}
)


@dataclass(frozen=True, eq=False)
class Table:
    """A table to be read by people.

    Parameters
    ----------
    title : str
        What it shows.
    cells : DataFrame of str
        The cells. The index is the first column, headed by the name of the index.
    best : DataFrame of bool, default=None
        Which cells are emphasised, of the same shape; none when None.
    notes : tuple of str, default=()
        What to know about it, in sentences without a full stop.
    numeric : bool, default=True
        Whether the cells are numbers, which stand to the right, or texts.
    """

    title: str
    cells: pd.DataFrame
    best: pd.DataFrame | None = None
    notes: tuple[str, ...] = ()
    numeric: bool = True

    @property
    def header(self) -> list[str]:
        """The name of the index and those of the columns."""
        return [str(self.cells.index.name or ""), *map(str, self.cells.columns)]

    def transposed(self) -> "Table":
        """Return the table with rows and columns exchanged.

        Returns
        -------
        Table
            The table; its index has the name that the columns had.
        """
        best = None if self.best is None else self.best.T
        return replace(self, cells=self.cells.T, best=best)

    def _rows(self) -> Iterable[tuple[str, list[tuple[str, bool]]]]:
        """Yield the index of each row, and the text of each cell and whether it is emphasised."""
        for row, name in enumerate(self.cells.index):
            cells = [
                (str(text), self.best is not None and bool(self.best.iloc[row, column]))
                for column, text in enumerate(self.cells.iloc[row])
            ]
            yield str(name), cells


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
        rows = [[escaped(name), *starmap(_cell, row)] for name, row in table._rows()]
        frame = pd.DataFrame(rows, columns=[escaped(name) for name in table.header])
        # Else tabulate would read the texts as numbers and write them its own way.
        align = ["left", *["right" if table.numeric else "left"] * table.cells.shape[1]]
        text = frame.to_markdown(index=False, disable_numparse=True, colalign=align)
        parts += [f"### {escaped(table.title)}", text]
        parts += [f"{escaped(note)}." for note in table.notes]
    return "\n\n".join(parts) + "\n"


def to_rich(table: Table) -> Any:
    """Lay out a table for a terminal, the emphasised cells in bold green.

    Parameters
    ----------
    table : Table
        The table.
    """
    from rich.table import Table as RichTable
    from rich.text import Text

    rich = RichTable(
        title=Text(table.title),
        title_justify="left",
        caption=Text("\n".join(f"{note}." for note in table.notes)) if table.notes else None,
        caption_justify="left",
    )
    first, *others = table.header
    # Names hold what they hold: as Text they are not searched for markup.
    rich.add_column(Text(first), overflow="fold")
    for name in others:
        rich.add_column(Text(name), justify="right" if table.numeric else "left", overflow="fold")
    for name, cells in table._rows():
        texts = (Text(text, style="bold green" if best else "") for text, best in cells)
        rich.add_row(Text(name), *texts)
    return rich


def _cell(text: str, best: bool) -> str:
    return f"**{escaped(text)}**" if best else escaped(text)


def escaped(text: str) -> str:
    """Return a text as Markdown shows it."""
    return text.translate(_MARKDOWN)
