"""Columns of a table whose cells list the labels of a row."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from multimargin.checks.names import listed, quoted
from multimargin.datasets._reading import MIN_LABEL_CELLS
from multimargin.datasets.listed_text import is_quoted_list
from multimargin.datasets.table_cells import (
    Cells,
    factorized,
    from_cell,
    is_nothing,
    is_number,
    lists_of_rows,
    numbered_keys,
    score_of,
)
from multimargin.datasets.table_columns import TableColumns, chosen_columns
from multimargin.datasets.table_dates import kind_of_text
from multimargin.datasets.table_kinds import LISTING
from multimargin.datasets.tag_objects import (
    TagCells,
    items_of_cell,
    lists_in,
    of_lists,
    parsed,
    refuse_indicator,
)
from multimargin.notices import silenced, warn
from multimargin.targets.given import column_of, is_blank
from multimargin.targets.listing import Listing
from multimargin.targets.names import as_written, warn_of_lookalikes
from multimargin.targets.separators import (
    QUOTE,
    SEPARATORS,
    joined,
    list_of_tags,
    pieces_of,
    separator_of,
    split,
    warn_of_second_separator,
)
from multimargin.targets.strange_names import warn_of_cells_in_quotes, warn_of_strange_names
from multimargin.typing import Column, Frame

# Number of cells in which names may be adjacent by chance.
_A_FEW = 3
_MANY_CELLS = 2000
# Lists of more names are no rows of an indicator.
_FEW_NAMES = 10
# The share of the numbers up to the largest that those of classes have.
_FEW_GAPS = 0.75
# Numbers that may say that there is none.
_NONE = {"0", "-1", "99"}


@dataclass(frozen=True, eq=False)
class Labels:
    """The labels of n rows, listed by a column or by columns of their own."""

    names: Sequence[str]  # Of the q labels; of tags sorted, or those that were known
    Y: NDArray[Any]  # (n, q): Label indicator, as floats with NaN where it is unknown
    n_rare: int  # Number of labels that are left out, with fewer rows than asked for
    separator: str | None = None  # What stands between two tags; None for lists
    unknown: Mapping[str, int] = field(default_factory=dict)  # Rows of tags not among known ones
    blank: str | None = None  # What an empty cell of a label is, see `ColumnRoles`


def indicator_of_tags(
    columns: Frame,
    separator: str | None,
    known: Collection[str] | None = None,
    *,
    min_count: int = 1,
    rows: NDArray[np.intp] | None = None,
) -> Labels:
    """Read the tags of a column, or of a frame of several with one tag each.

    The column has texts of tags with the separator between them, or lists of tags, also as text.
    Blank text and an empty list have none; of a row without a value (None, NaN) nothing is known.
    `known` are the only tags to take, in their order; else tags of fewer than `min_count` of the
    rows that decide, by default all, are left out.
    """
    if separator == "":
        raise ValueError("separator is empty; expected what stands between two tags")
    column = _one_column(columns)
    listing, separator = _listing_of(column, separator)
    counts = listing.counts()
    names = sorted(counts) if known is None else list(known)
    if len(names) < 2:
        between = "in its lists" if separator is None else f"with the separator {separator!r}"
        raise ValueError(
            f"tags_column: the column {column.name!r} has {len(names)} different tag(s) {between}; "
            "expected at least two"
        )
    n_found = len(names)
    if known is None:
        warn_of_lookalikes(names, f"tags_column: the column {column.name!r} has")
        deciding = counts if rows is None else listing.counts(rows)
        names = [names[k] for k in frequent([deciding[name] for name in names], min_count)]
    n_rows = len(listing.codes)
    if known is None and n_rows * len(names) > max(MIN_LABEL_CELLS, 10_000 * counts.total()):
        warn(
            f"tags_column: the column {column.name!r} has {len(names)} different tags in "
            f"{n_rows} rows, such as {listed(names[:3])}; is another separator used?"
        )
    Y: NDArray[Any] = listing.indicator(names)[0]
    missing = listing.codes < 0
    if missing.any():
        Y = np.where(missing[:, None], np.nan, Y)
        if known is None:
            warn(
                f"tags_column: the column {column.name!r} has no value in "
                f"{np.count_nonzero(missing)} of {n_rows} rows, first in row "
                f"{int(missing.argmax())}: their labels are unknown; write empty text or an empty "
                "list where a row has no tag"
            )
    taken = set(names)
    unknown = {tag: count for tag, count in counts.items() if count and tag not in taken}
    return Labels(names, Y, n_found - len(names), separator, {} if known is None else unknown)


def _one_column(columns: Any) -> Any:
    """Return a column of tags; of several, with a tag each, their tags as lists."""
    if columns.ndim == 1 or columns.shape[1] == 1:
        return columns if columns.ndim == 1 else columns.iloc[:, 0]
    filled = {name: Cells(name, columns[name]).first for name in columns}
    of_numbers = [
        name
        for name, first in filled.items()
        if not all(map(is_nothing, first))
        and all(is_number(cell) or kind_of_text(cell) is not None for cell in first)
    ]
    if 0 < len(of_numbers) < len(filled):
        warn(
            f"tags_column: {listed(of_numbers)} of the columns {listed([*filled])} has numbers "
            "or dates, which are read as names of tags"
        )
    first, *others = ({*Cells(name, columns[name]).texts} for name in columns)
    if codes := sorted(_NONE.intersection(*others) - first):
        warn(
            f"tags_column: the columns {listed([*filled])} have {listed(codes)} in all but the "
            "first, which is read as a name; if it means that there is no other, leave it empty"
        )
    return type(columns.iloc[:, 0])(lists_of_rows(columns), name=",".join(columns.columns))


def tags_of_long_table(frame: Frame, columns: TableColumns) -> Frame:
    """Return a table with one row for each row that has a line for each tag."""
    if columns.one_tag_a_row is None:
        return frame
    if columns.tags_column is None:
        raise ValueError("one_tag_a_row is given without tags_column, the column of the tags")
    key = _one_named(frame, [columns.one_tag_a_row], "one_tag_a_row")
    tag = _one_named(frame, columns.tags_column, "tags_column")
    codes = numbered_keys(frame[key], "one_tag_a_row")
    tags: list[list[Any]] = [[] for _ in range(codes.max() + 1)]
    for code, cell in zip(codes.tolist(), frame[tag].tolist(), strict=True):
        if not is_blank(cell):
            tags[code].append(cell)
    _, first = np.unique(codes, return_index=True)
    rows = frame.iloc[first].reset_index(drop=True)
    others = [column for column in frame.columns if column not in (key, tag)]
    for column in others:
        values = factorized(frame[column])[0]
        if (values != values[first][codes]).any():
            _refuse_marks(Cells(column, frame[column]), chosen_columns(frame, columns.drop, "drop"))
            warn(
                f"one_tag_a_row: rows of one {key!r} differ in the column {column!r}; the first of "
                "them is taken"
            )
    rows[tag] = column_of(tags)
    return rows.drop(columns=key)


def _one_named(frame: Frame, wanted: str | Sequence[str], argument: str) -> str:
    """Return the column of a name, which must be one alone."""
    columns = chosen_columns(frame, wanted, argument)
    if len(columns) > 1:
        raise ValueError(
            f"{argument} is {wanted!r}, the columns {listed(columns)}; expected one for a table "
            "with a row for each tag (one_tag_a_row)"
        )
    return columns[0]


def _refuse_marks(cells: Cells, dropped: Sequence[str]) -> None:
    """Raise ValueError for a column that may say which of the tags of a row apply."""
    texts = cells.texts
    scores = [score_of(text) for text in texts]
    are_marks = all(of is not None and not abs(of) > 1.0 for of in scores)
    if cells.name not in dropped and texts and are_marks:
        raise ValueError(
            f"one_tag_a_row: the column {cells.name!r} has {listed(texts[:2])} for tags of one "
            "row, and may say which of them apply; expected a row for each tag that applies: leave "
            "the others out, and the column too (drop)"
        )


def frequent(counts: Sequence[int], min_count: int) -> list[int]:
    """Return the places of labels with at least so many rows; with 1, those of all labels."""
    if min_count == 1:
        return list(range(len(counts)))
    kept = [place for place, count in enumerate(counts) if count >= min_count]
    if len(kept) < 2:
        raise ValueError(
            f"min_count is {min_count}, and {len(kept)} label(s) have as many rows; expected a "
            "number that leaves two labels at least"
        )
    return kept


def recurring_tags(column: Column) -> tuple[Counter[str], str | None] | None:
    """Return the rows of each tag of a column and its separator; None if it lists no tags.

    Tags are lists, or names that recur in other combinations with a separator between.
    """
    cells = Cells(str(column.name), column)
    is_listing = any(issubclass(type_, LISTING) for type_ in cells.types)
    in_quotes = any(map(is_quoted_list, cells.texts[:_MANY_CELLS]))
    if not (is_listing or in_quotes or list_of_tags(cells.texts, len(column))):
        return None
    try:
        with silenced(UserWarning):
            listing, separator = _listing_of(column, None)
    except ValueError:
        return None
    counts = listing.counts()
    return (counts, separator) if len(counts) > 1 else None


def _listing_of(given: Any, separator: str | None) -> tuple[Listing, str | None]:
    """Return the tags of each row, and their separator; None for lists."""
    column = TagCells.of(given)
    is_plain = _are_plain(column.cells)
    cells = column.cells if is_plain else [parsed(cell) for cell in column.cells]
    texts, lists, whole = list[str](), list[Any](), list[str]()
    if not is_plain and any(isinstance(cell, LISTING) for cell in cells):
        lists = [items_of_cell(cell) for cell in cells]
    else:
        texts = cells if is_plain else [from_cell(as_written(cell)) for cell in cells]
        lists = [] if is_plain else lists_in(replace(column, cells=texts), separator)
    if lists:
        found = of_lists(column, lists)
        # Texts beside lists may list names, too.
        among = found.names if separator else [cell for cell in lists if isinstance(cell, str)]
        marks = (
            [separator] if separator else [mark for mark, is_sure in SEPARATORS.items() if is_sure]
        )
        whole = [one for one in among if any(mark in one.strip() for mark in marks)]
        separator = None
    else:
        separator = separator_of(texts, separator, column.name)
        found = _of_texts(texts, separator, column.codes, is_plain=is_plain)
        if len(found.names) <= _FEW_NAMES:
            refuse_indicator([pieces_of(text, separator) for text in texts], column)
        _warn_of_parts_of_names(found, texts, separator, column)
    is_used = separator is None or any(separator in text for text in texts)
    tell = column.tell
    if len(cells) > 1 and warn_of_second_separator(found.names, separator, tell, is_used=is_used):
        whole = []
    if whole:
        tell(f"has lists, and {quoted(whole[0])}, which is read as one name")
    warn_of_strange_names(found, tell)
    _warn_of_sums(found, column)
    if len(texts) > 1:
        warn_of_cells_in_quotes(texts, tell)
    return found, separator


def _of_texts(
    texts: Sequence[str], separator: str, codes: NDArray[np.intp], *, is_plain: bool
) -> Listing:
    """Return the tags of texts with a separator between; plain ones are without quotes."""
    if is_plain and len(separator) == 1:
        pieces = separator.join(texts).split(separator) if texts else []
        return Listing.of_flat(pieces, [text.count(separator) + 1 for text in texts], codes)
    rows = [split(text, separator) for text in texts]
    # Where some need the quotes, those around others are no part of a name, either.
    if any(separator in piece for row in rows for piece in row):
        rows = [split(text, separator, unquote=True) for text in texts]
    return Listing.of(rows, codes)


def _warn_of_parts_of_names(
    found: Listing, texts: Sequence[str], separator: str, column: TagCells
) -> None:
    """Warn of a name that only stands before others, which stand behind it alone: their first part.

    It has one such other, or stands in a cell twice.
    """
    rows = [pieces_of(text, separator) for text in texts[:_MANY_CELLS]]
    counts = Counter(chain.from_iterable(rows))
    pairs = Counter(chain.from_iterable(map(pairwise, rows)))
    bound = {pair: n for pair, n in pairs.items() if n == counts[pair[1]]}
    twice = {one for row in rows if len({*row}) < len(row) for one in row if row.count(one) > 1}
    n_bound = Counter(chain.from_iterable([first] * n for (first, _), n in bound.items()))
    cells = dict(zip(found.names, np.bincount(found.numbers).tolist(), strict=True))
    for (first, second), n in bound.items():
        if n_bound[first] != counts[first] or counts[first] < _A_FEW:
            continue
        is_one = n == counts[first] and cells[first] == cells[second] < len(texts) - 1
        if not (is_one or first in twice):
            continue
        together = joined([first, second], separator)
        # All texts are looked at: for few names alone.
        if sum(together in text for text in texts) == cells[second]:
            column.tell(
                f"has {first!r} and {second!r} only next to each other; if {together!r} is one "
                "name, another separator is needed"
            )
            return


def _warn_of_sums(found: Listing, column: TagCells) -> None:
    """Warn of numbers, one a row, each of which may stand for several labels: 5 for 1 and 4."""
    if np.diff(found.ends).max(initial=0) > 1 or not all(map(str.isdecimal, found.names)):
        return
    numbers = {int(name) for name in found.names} - {0}
    powers = {number for number in numbers if number.bit_count() == 1}
    are_sums = all(not number & ~sum(powers) for number in numbers)
    # Numbers of classes are without many gaps.
    if are_sums and _A_FEW < len(powers) < len(numbers) < _FEW_GAPS * max(numbers):
        column.tell(
            f"has numbers such as {min(numbers - powers)}, each read as a name; if they are sums "
            f"of {listed(sorted(powers))}, one for each label, write names"
        )


def _are_plain(cells: Sequence[Any]) -> bool:
    """Return whether cells are texts without brackets and quotes, as those of lists have."""
    try:
        written = "\n".join(cells)
    except TypeError:
        return False
    return not any(mark in written for mark in ("[", "(", "{", "'", QUOTE))
