"""Columns of labels, of 0 and 1 or words for them."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from multimargin.checks.names import listed
from multimargin.checks.parameters import check_choice
from multimargin.datasets.table_cells import Cells, label_value
from multimargin.notices import warn
from multimargin.targets.names import label_name

if TYPE_CHECKING:
    from multimargin.typing import Frame, Marks


def indicator_of_columns(
    frame: "Frame", names: Sequence[str], blank: str | None = None, rows: Any = None
) -> "tuple[Marks, str]":
    """Return the label indicator (n, q) of columns of 0 and 1, or words for them.

    The second value is what a blank is: 0 or, as NaN, unknown. By None it is unknown where
    some label is 0. So is -1, which is 0 where nothing else is. `rows` are those of a part that
    may be written otherwise than the others, by default all.
    """
    if len(names) < 2:
        raise ValueError(
            f"labels has {f'one column, {names[0]!r}' if names else 'no column'}; expected at "
            "least two, or tags_column for a column that lists the tags of each row"
        )
    check_choice("blank", "unknown" if blank is None else blank, ("unknown", "0"))
    Y: Any = np.zeros((len(frame), len(names)), dtype=np.float32)
    for k, name in enumerate(names):
        Y[:, k] = _marks_of(Cells(name, frame[name]))
    blanks = np.isinf(Y)
    Y[blanks] = np.nan
    _settle_minus(Y, blanks)
    if blank is None:
        blank = _meaning_of(blanks, Y, names, rows)
    if blank == "0":
        Y[blanks] = 0
    empty = np.flatnonzero(np.isnan(Y).all(axis=0))
    if empty.size:
        raise ValueError(
            f"labels: the column {names[empty[0]]!r} is empty; expected 0 or 1 in some row, and "
            "nothing where it is not known whether the label applies"
        )
    return (Y if np.isnan(Y).any() else Y.astype(np.uint8)), blank


def _settle_minus(Y: Any, blanks: Any) -> None:
    """Replace -1, which is unknown beside 0 or blanks, and otherwise 0."""
    if n_minus := np.count_nonzero(Y == -1):
        is_unknown = (Y == 0).any() or blanks.any()
        Y[Y == -1] = np.nan if is_unknown else 0
        told = (
            "beside 0 or blanks, and are read as unknown"
            if is_unknown
            else "and none is 0; -1 is read as 0"
        )
        warn(f"labels: {n_minus} labels are -1, {told}")


def _meaning_of(blanks: Any, Y: Any, names: Sequence[str], rows: Any) -> str:
    """Return what blanks are: 0 where no label is 0 otherwise, and tell where that is in doubt."""
    if blanks.any() and (Y == 1).any() and not (Y == 0).any():
        warn(
            f"labels: no label is 0 in any row, so that a blank, of which there are "
            f"{np.count_nonzero(blanks)}, is read as 0; blank='unknown' (--blank unknown) "
            "leaves such labels unknown"
        )
        return "0"
    for part in [Y] if rows is None else [Y[rows], np.delete(Y, rows, axis=0)]:
        has_0, has_1, has_nan = ((part == 0).any(0), (part == 1).any(0), np.isnan(part).any(0))
        for value, odd in (("0", has_1 & ~has_0), ("1", has_0 & ~has_1)):
            # They may be written otherwise than those of other labels, or rows.
            if places := np.flatnonzero(odd & has_nan).tolist():
                warn(
                    f"labels: no {value} is in {listed([names[k] for k in places])}, and what is "
                    "missing there is read as unknown; blank='0' (--blank 0) reads blanks as 0"
                )
    return "unknown"


def _marks_of(cells: Cells) -> Any:
    """Return the label of each row: 0, 1, -1, NaN where it is unknown, infinite where blank."""
    marks: Any = _marks(cells)
    wrong = next((text for text in cells.texts if marks[text] is None), None)
    if wrong is not None:
        raise ValueError(
            f"labels: the column {cells.name!r} has {wrong!r} in row {cells.row_of(wrong)}; "
            "expected 0 or 1, or words for them, -1 or nothing where that is unknown (a column "
            "that lists tags is the tags_column)"
        )
    return cells.mapped(lambda text: np.inf if text is None else marks[text])


def _marks(cells: Cells) -> dict[str, float | None]:
    """Return the marks of texts; a survey repeats the name of a ticked box, and has no other."""
    marks = {text: label_value(text) for text in cells.texts}
    own = [text for text in marks if label_name(text) == cells.name]
    are_ticks = len(own) == len(marks) and not cells.name.lstrip("+-")[:1].isdigit()
    return marks | {text: 1.0 for text in own if are_ticks or marks[text] is None}


def labels_at_the_end(frame: "Frame") -> list[str]:
    """Return the columns at the end that hold 0 and 1, or words for them."""
    found: list[str] = []
    for column in reversed(frame.columns):
        marks = _marks(Cells(column, frame[column]))
        if not marks or None in marks.values():
            break
        found.insert(0, column)
    return found
