"""Columns of a table whose cells list the labels of a row."""

import warnings
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from multimargin.checks.given import is_missing
from multimargin.checks.names import listed
from multimargin.datasets._reading import MIN_LABEL_CELLS
from multimargin.datasets.listed_text import NOTHING, body_of_list, has_quotes, items_of
from multimargin.datasets.table_cells import as_written, from_cell
from multimargin.notices import warn

# What may stand between two tags, and whether it hardly has another use.
_SEPARATORS = {
    ",": True, ";": True, "|": True, "\t": True, "\n": True, "::": False, " / ": False,
    " & ": False, " + ": False, " - ": False, "/": False, "&": False, "+": False, " ": False,
}  # fmt: skip
# The least share of the pieces of cells with a separator that occur in other cells, too.
_RECURRING, _OFTEN_RECURRING = 0.5, 0.75
_QUOTE = '"'
# Rows by which a column is taken for lists of tags.
_MANY_ROWS = 2000


@dataclass(frozen=True, eq=False)
class Tags:
    """The labels of n rows, as a column lists them."""

    names: list[str]  # The q tags, sorted, or those that were known
    Y: NDArray[Any]  # (n, q): Label indicator, as floats with NaN where it is unknown
    separator: str | None  # What stands between two tags; None for lists
    unknown: Counter[str]  # Number of rows of each tag that is none of the known ones
    n_rare: int = 0  # Number of tags that are left out, with fewer rows than asked for


def indicator_of_tags(
    column: Any,
    separator: str | None,
    known: Collection[str] | None = None,
    *,
    min_count: int = 1,
    rows: NDArray[np.intp] | None = None,
) -> Tags:
    """Read the tags of a column.

    The column has texts of tags with the separator between them, or lists of tags, also as text.
    Blank text and an empty list have none; of a row without a value (None, NaN) nothing is known.
    `known` are the only tags to take, in their order; else tags of fewer than `min_count` of the
    rows that decide, by default all, are left out.
    """
    if separator == "":
        raise ValueError("separator is empty; expected what stands between two tags")
    listing, separator = _tags_of_rows(column, separator)
    counts = Counter(tag for tags in listing for tag in tags)
    names = sorted(counts) if known is None else list(known)
    if len(names) < 2:
        between = "in its lists" if separator is None else f"with the separator {separator!r}"
        raise ValueError(
            f"tags_column: the column {column.name!r} has {len(names)} different tag(s) {between}; "
            "expected at least two"
        )
    n_found = len(names)
    if known is None:
        deciding = counts if rows is None else Counter(tag for row in rows for tag in listing[row])
        names = [names[k] for k in frequent([deciding[name] for name in names], min_count)]
    n_rare = n_found - len(names)
    cells = len(listing) * len(names)
    if known is None and cells > MIN_LABEL_CELLS and cells > 10_000 * counts.total():
        warn(
            f"tags_column: the column {column.name!r} has {len(names)} different tags in "
            f"{len(listing)} rows, such as {listed(names[:3])}; was another separator meant?"
        )
    place = {name: k for k, name in enumerate(names)}
    Y = np.zeros((len(listing), len(names)), dtype=np.uint8)
    for row, tags in enumerate(listing):
        Y[row, [place[tag] for tag in tags if tag in place]] = 1
    missing = np.array([is_missing(cell) for cell in column.tolist()], dtype=bool)
    unknown: Counter[str] = Counter()
    if known is not None:
        unknown.update({tag: count for tag, count in counts.items() if tag not in place})
    if not missing.any():
        return Tags(names, Y, separator, unknown, n_rare)
    if known is None:
        warn(
            f"tags_column: the column {column.name!r} has no value in {np.count_nonzero(missing)} "
            f"of {len(listing)} rows, first in row {int(missing.argmax())}: their labels are "
            "unknown; write empty text or an empty list where a row has no tag"
        )
    return Tags(names, np.where(missing[:, None], np.nan, Y), separator, unknown, n_rare)


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


def recurring_tags(column: Any) -> tuple[Counter[str], str | None] | None:
    """Return the rows of each tag of a column and its separator; None if it lists no tags.

    Tags are lists, or names that recur in other combinations with a separator between.
    """
    cells = column.tolist()
    texts = ["" if is_missing(cell) or _is_list(cell) else as_written(cell) for cell in cells]
    # Blanks stand between words, too.
    separators = (separator for separator in _SEPARATORS if separator != " ")
    some = {text.strip() for text in texts[:_MANY_ROWS] if text.strip()}
    looks_so = any(map(_is_list, cells[:_MANY_ROWS])) or any(
        has_quotes(body_of_list(text) or "") for text in some
    )
    if not looks_so:
        looks_so = any(
            of.share >= _OFTEN_RECURRING and of.cells > 1 and 2 * of.n_tags < len(texts)
            for of in (_evidence(some, separator) for separator in separators)
        )
    if not looks_so:
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            rows, separator = _tags_of_rows(column, None)
    except ValueError:
        return None
    counts = Counter(tag for tags in rows for tag in tags)
    return (counts, separator) if len(counts) > 1 else None


def joined(tags: Sequence[str], separator: str) -> str:
    """Write tags so that they can be read again with their separator.

    Those that have it in them, or begin with a quote, are put in quotes.
    """
    written = [
        f'"{tag.replace(_QUOTE, 2 * _QUOTE)}"'
        if separator in tag or tag.startswith(_QUOTE)
        else tag
        for tag in tags
    ]
    return (", " if separator == "," else separator).join(written)


def _tags_of_rows(column: Any, separator: str | None) -> tuple[list[set[str]], str | None]:
    """Return the tags of each row, and what separates them; None for lists."""
    cells = column.tolist()
    if any(_is_list(cell) for cell in cells):
        rows = [_of_list(cell, k, column.name) for k, cell in enumerate(cells)]
        return _checked_lists(rows, column.name), None
    texts = ["" if is_missing(cell) else from_cell(as_written(cell)).strip() for cell in cells]
    bodies = _bodies_of_lists(texts, separator, column.name)
    if bodies is not None:
        rows = [_of_body(body, k, texts[k], column.name) for k, body in enumerate(bodies)]
        return _checked_lists(rows, column.name), None
    separator = _separator_of(texts, separator, column.name)
    found = {text: _pieces(text, separator) for text in set(texts)}
    if len(found) > 1:
        _warn_of_second_separator(set().union(*found.values()), separator, column.name)
    return [found[text] for text in texts], separator


def _is_list(cell: Any) -> bool:
    return isinstance(cell, list | tuple | set | frozenset | np.ndarray)


def _of_list(cell: Any, row: int, name: str) -> list[str]:
    if is_missing(cell) or (isinstance(cell, str) and not cell.strip()):
        return []
    if not _is_list(cell):
        raise ValueError(
            f"tags_column: the column {name!r} has {cell!r:.40} in row {row}, and lists in others; "
            "expected a list, or nothing"
        )
    wrong = [tag for tag in cell if is_missing(tag) or _is_list(tag) or isinstance(tag, dict)]
    if wrong:
        raise ValueError(
            f"tags_column: the column {name!r} lists {wrong[0]!r:.40} in row {row}; expected names"
        )
    return [as_written(tag).strip() for tag in cell]


def _bodies_of_lists(
    texts: Sequence[str], separator: str | None, name: str
) -> list[str | None] | None:
    """Return what is between the brackets of each text; None if the column holds no lists."""
    bodies = [body_of_list(text) for text in texts]
    filled = [k for k, text in enumerate(texts) if text and text.lower() not in NOTHING]
    inside = [k for k in filled if bodies[k] is not None]
    quoted = [k for k in inside if has_quotes(bodies[k] or "")]
    if not inside or (not quoted and (len(inside) < len(filled) or separator is not None)):
        return None
    others = sorted(set(filled) - set(inside))
    if others:
        raise ValueError(
            f"tags_column: the column {name!r} has {texts[others[0]]!r:.60} in row {others[0]}, "
            f"and lists such as {texts[quoted[0]]!r:.60} in others; expected lists in all or none"
        )
    bare = [k for k in inside if bodies[k]]
    if not quoted and bare:
        warn(
            f"tags_column: the column {name!r} has texts in brackets, such as "
            f"{texts[bare[0]]!r:.60}, which are read as lists of names with commas between"
        )
    return [body if k in set(inside) else None for k, body in enumerate(bodies)]


def _of_body(body: str | None, row: int, text: str, name: str) -> list[str]:
    try:
        return [item.strip() for item in items_of(body or "")]
    except ValueError as error:
        raise ValueError(
            f"tags_column: the column {name!r} has {text!r:.60} in row {row}, which is no list of "
            f'names ({error}); expected a list such as ["red", "blue"]'
        ) from error


def _checked_lists(rows: Sequence[Sequence[str]], name: str) -> list[set[str]]:
    """Return the tags of lists, unless these are rows of an indicator."""
    lengths = {len(row) for row in rows if row}
    if len(lengths) == 1 and {tag for row in rows for tag in row} <= _INDICATOR:
        (length,) = lengths
        if length > 1:
            raise ValueError(
                f"tags_column: the column {name!r} lists {length} times 0 or 1 in each row, which "
                "is an indicator and no names; expected names of labels, or a column of 0 and 1 "
                f"for each label: frame[{name!r}].apply(pandas.Series), and labels= its columns"
            )
    return [{tag for tag in row if tag} for row in rows]


_INDICATOR = {"0", "1", "0.", "1.", "0.0", "1.0", "True", "False", "true", "false"}


def _pieces(text: str, separator: str) -> set[str]:
    return {piece for piece in (piece.strip() for piece in _split(text, separator)) if piece}


def _split(text: str, separator: str) -> list[str]:
    """Split a text at its separators, but for those within quotes around a whole piece."""
    pieces = text.split(separator)
    if _QUOTE not in text:
        return pieces
    whole: list[str] = []
    parts: list[str] = []
    for piece in pieces:
        parts.append(piece)
        joint = separator.join(parts).strip()
        is_quoted = joint.startswith(_QUOTE)
        if is_quoted and (joint.count(_QUOTE) % 2 == 1 or not joint.endswith(_QUOTE)):
            continue
        # A name in quotes alone is as it is written.
        needs_them = is_quoted and (separator in joint or 2 * _QUOTE in joint[1:-1])
        whole.append(joint[1:-1].replace(2 * _QUOTE, _QUOTE) if needs_them else piece)
        parts = []
    # Marks of inches, say, are no quotes.
    return pieces if parts else whole


@dataclass(frozen=True)
class _Evidence:
    """Evidence for a separator."""

    share: float  # Of the pieces of cells that have it, those that occur in another cell
    n_tags: int  # Different tags that it leaves
    cells: int  # Different cells that have it


def _evidence(cells: Collection[str], separator: str) -> _Evidence:
    """Weigh a separator: tags recur in ever new combinations, parts of a name do not."""
    having = [cell for cell in cells if separator in cell]
    if not having:
        return _Evidence(0.0, len(cells), 0)
    counts = Counter(piece for cell in cells for piece in _pieces(cell, separator))
    pieces = [piece for cell in having for piece in _pieces(cell, separator)]
    # "C++" and "a//b" have nothing between two of them.
    gaps = sum(not piece.strip() for cell in having for piece in cell.split(separator))
    recurring = sum(counts[piece] > 1 for piece in pieces)
    return _Evidence(recurring / max(len(pieces) + gaps, 1), len(counts), len(having))


def _separator_of(texts: Sequence[str], given: str | None, name: str) -> str:
    """Return what separates tags: what is given, else a comma, or what pieces recur between.

    A warning tells what is taken instead of a comma, and what may have been meant.
    """
    cells = sorted({text for text in texts if text})
    wanted = "," if given is None else given
    has_wanted = any(wanted in cell for cell in cells)
    if not cells or (given is not None and has_wanted):
        return wanted
    found = {other: _evidence(cells, other) for other in _SEPARATORS}
    likely = [other for other in _SEPARATORS if _is_likely(found[other], other, len(cells))]
    if (
        given is None
        and has_wanted
        and not any(
            found[other].n_tags < found[","].n_tags and found[other].share >= found[","].share
            for other in likely
        )
    ):
        return wanted
    best = max(likely, key=lambda other: (found[other].share, -found[other].n_tags), default=None)
    head = f"tags_column: no cell of {name!r} has the separator {wanted!r}"
    if best is not None and given is None:
        if has_wanted:
            head = f"tags_column: cells of {name!r} have commas, but not between tags"
        warn(f"{head}; {best!r} is taken to be it, between {found[best].n_tags} different tags")
        return best
    seen = [other for other in _SEPARATORS if 2 * found[other].cells > len(cells)]
    maybe = best or (seen[0] if seen else None)
    if maybe is not None:
        warn(f"{head}, so each is one tag, such as {cells[0][:60]!r}; was {maybe!r} meant?")
    return wanted


def _is_likely(found: _Evidence, separator: str, n_cells: int) -> bool:
    if _SEPARATORS[separator]:
        return found.share > _RECURRING or 2 * found.cells > n_cells
    # A name of several words is no list of tags: these come in ever new combinations.
    return found.share >= _OFTEN_RECURRING and 2 * found.n_tags < n_cells


def _warn_of_second_separator(names: Collection[str], separator: str, column: str) -> None:
    """Warn of tags that are made of other tags, with another separator between them."""
    for other in _SEPARATORS:
        if other in (separator, " "):
            continue
        mixed: Iterable[str] = (
            name for name in names if other in name and _pieces(name, other) <= set(names) - {name}
        )
        some = sorted(name for name in mixed if len(_pieces(name, other)) > 1)
        if some:
            warn(
                f"tags_column: the column {column!r} has {some[0]!r:.60}, which is taken for one "
                f"tag, though {listed(sorted(_pieces(some[0], other)))} are tags of their own: is "
                f"{other!r} a separator, too?"
            )
            return
