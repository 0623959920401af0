"""Columns of a table whose cells list the labels of a row."""

import json
import re
import warnings
from ast import literal_eval
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from itertools import permutations
from numbers import Number
from typing import Any
from unicodedata import category

import numpy as np
from numpy.typing import NDArray

from multimargin.checks.names import listed, quoted
from multimargin.datasets._names import NamedTwice, unique_names
from multimargin.datasets._reading import MIN_LABEL_CELLS
from multimargin.datasets.listed_text import NOTHING, body_of_list, has_quotes, items_of
from multimargin.datasets.strange_tags import warn_of_strange_cells, warn_of_strange_names
from multimargin.datasets.table_cells import (
    Cells,
    factorized,
    from_cell,
    is_number,
    lists_of_rows,
    numbered_keys,
)
from multimargin.datasets.table_columns import TableColumns, chosen_columns
from multimargin.datasets.table_kinds import LISTING
from multimargin.notices import warn
from multimargin.targets.given import column_of, is_blank, is_missing
from multimargin.targets.listing import Listing
from multimargin.targets.names import as_written, label_name, warn_of_lookalikes
from multimargin.typing import Column, Frame

# What may stand between two tags, and whether it hardly has another use.
_SEPARATORS = {
    ",": True, ";": True, "|": True, "\t": True, "\n": True, "\N{IDEOGRAPHIC COMMA}": True,
    "\N{FULLWIDTH COMMA}": True, "\N{FULLWIDTH SEMICOLON}": True, ";#": True, "\\n": True,
    "::": False, " / ": False,
    " & ": False, " + ": False, " - ": False, " > ": False, "><": True, "/": False, "&": False,
    "+": False, " and ": False, " ": False,
}  # fmt: skip
# Punctuation of names; any other is a separator where it stands in most cells.
_OF_NAMES = frozenset("-_.'\"’()[]{}<>!?:%")
# Kinds of characters that are no name alone, unlike emojis.
_OF_MARKS = {"Pc", "Pd", "Po", "Sm", "Sk"}
# The least share of the pieces of cells with a separator that occur in other cells, too.
_RECURRING, _OFTEN_RECURRING = 0.5, 0.75
_QUOTE = '"'
# Different cells by which a separator is found, and a column is read as lists of tags.
_MANY_CELLS = 2000
# Cells in which names are side by side by chance.
_A_FEW = 3
_BETWEEN = re.compile(r"(?<=[^\W_])[\W_]+(?=[^\W_])")
_LIST_IN_QUOTES = re.compile(r"\s*(['\"])(\[.*\]|\{.*\}|\(.*\))\1\s*", re.DOTALL)
_LISTED_IN_QUOTES = re.compile(r'\s*"[^"]*[,;|\n][^"]*"\s*')
_UNREAD_LIST = re.compile(r"\s*[\[{(]\s*[\[{'\"]")
_TAGGED = re.compile(r"\s*(?:<[^<>]+>)+\s*")
# Where objects that are not names keep them, the innermost last.
_KEYS_OF_NAMES = (
    *("annotations", "result", "value", "choices", "nodes", "edges", "node", "labels", "label"),
    *("name", "display_name", "title", "term", "tag", "id"),
)
_SCORES = ("score", "confidence", "probability", "count", "weight")
# What annotation tools write of answers that count for nothing, and of each of several.
_WITHDRAWN = {"was_cancelled": (True,), "status": ("discarded", "draft")}
_ONE_OF_SEVERAL = ("result", "user_id")
_INDICATOR = {"0", "1", "0.", "1.", "0.0", "1.0", "True", "False", "true", "false"}


@dataclass(frozen=True, eq=False)
class Tags:
    """The labels of n rows, as a column lists them."""

    names: list[str]  # The q tags, sorted, or those that were known
    Y: NDArray[Any]  # (n, q): Label indicator, as floats with NaN where it is unknown
    separator: str | None  # What stands between two tags; None for lists
    unknown: Mapping[str, int]  # Number of rows of each tag that is none of the known ones
    n_rare: int = 0  # Number of tags that are left out, with fewer rows than asked for


def indicator_of_tags(
    columns: Frame,
    separator: str | None,
    known: Collection[str] | None = None,
    *,
    min_count: int = 1,
    rows: NDArray[np.intp] | None = None,
) -> Tags:
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
    return Tags(names, Y, separator, {} if known is None else unknown, n_found - len(names))


def _one_column(columns: Any) -> Any:
    """Return a column of tags; of several, with a tag each, their tags as lists."""
    if columns.ndim == 1 or columns.shape[1] == 1:
        return columns if columns.ndim == 1 else columns.iloc[:, 0]
    return type(columns.iloc[:, 0])(lists_of_rows(columns), name=",".join(columns.columns))


def tags_of_long_table(frame: Frame, columns: TableColumns) -> Frame:
    """Return a table with one row for each of its rows, where each has a row for each tag."""
    if columns.one_tag_a_row is None:
        return frame
    (key,) = chosen_columns(frame, [columns.one_tag_a_row], "one_tag_a_row")
    if columns.tags_column is None:
        raise ValueError("one_tag_a_row is given without tags_column, the column of the tags")
    (tag,) = chosen_columns(frame, columns.tags_column, "tags_column")
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
            warn(
                f"one_tag_a_row: rows of one {key!r} differ in the column {column!r}; the first of "
                "them is taken"
            )
    rows[tag] = column_of(tags)
    return rows.drop(columns=key)


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
    some = {text.strip() for text in cells.texts[:_MANY_CELLS]}
    is_listing = any(issubclass(type_, LISTING) for type_ in cells.types)
    if not (
        is_listing
        or any(has_quotes(body_of_list(text) or "") for text in some)
        # Blanks stand between words, too.
        or any(
            of.share >= _OFTEN_RECURRING and of.cells > 1 and 2 * of.n_tags < len(column)
            for of in (_evidence(some, s) for s in _candidates(some) if s != " ")
        )
    ):
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            listing, separator = _listing_of(column, None)
    except ValueError:
        return None
    counts = listing.counts()
    return (counts, separator) if len(counts) > 1 else None


def joined(tags: Sequence[str], separator: str) -> str:
    """Write tags so that they can be read again with their separator.

    Those that have it in them, or begin with a quote, are put in quotes.
    """
    if separator == "><":
        return "".join(f"<{tag}>" for tag in tags)
    written = [
        f'"{tag.replace(_QUOTE, 2 * _QUOTE)}"'
        if separator in tag or tag.startswith(_QUOTE)
        else tag
        for tag in tags
    ]
    return (", " if separator == "," else separator).join(written)


def _listing_of(column: Any, separator: str | None) -> tuple[Listing, str | None]:
    """Return the tags of each row, and what separates them; None for lists."""
    codes, cells = factorized(column)
    name = str(column.name)
    is_plain = _are_plain(cells)
    cells = cells if is_plain else [_parsed(cell) for cell in cells]
    texts: list[str] = []
    if any(isinstance(cell, LISTING) for cell in cells):
        lists = [_items_of(cell) for cell in cells]
    else:
        texts = cells if is_plain else [from_cell(as_written(cell)) for cell in cells]
        lists = [] if is_plain else _lists_in(texts, separator, codes, name)
    if lists:
        found, separator = _of_lists(codes, lists, name), None
    else:
        separator = _separator_of(texts, separator, name)
        found = _of_texts(texts, separator, codes, is_plain=is_plain)
        if _INDICATOR.issuperset(found.names):
            pieces = [_pieces_of(text, separator) for text in texts]
            _refuse_indicator(pieces, name)
        _warn_of_quoted_cells(texts, name)
        if separator == ",":
            _warn_of_parts_of_names(found, texts, name)
    is_used = separator is None or any(separator in text for text in texts)
    if len(cells) > 1 and not _warn_of_second_separator(
        found.names, separator, name, is_used=is_used
    ):
        _warn_of_texts_beside_lists(lists, name)
    warn_of_strange_names(found.names, name)
    warn_of_strange_cells(texts, found.names, name)
    return found, separator


def _of_texts(
    texts: Sequence[str], separator: str, codes: NDArray[np.intp], *, is_plain: bool
) -> Listing:
    """Return the tags of texts with a separator between; plain ones are without quotes."""
    if is_plain and len(separator) == 1:
        pieces = separator.join(texts).split(separator) if texts else []
        return Listing.of_flat(pieces, [text.count(separator) + 1 for text in texts], codes)
    rows = [_split(text, separator) for text in texts]
    # Where some need the quotes, those around others are no part of a name, either.
    if any(separator in piece for row in rows for piece in row):
        rows = [_split(text, separator, unquote=True) for text in texts]
    return Listing.of(rows, codes)


def _warn_of_parts_of_names(found: Listing, texts: Sequence[str], column: str) -> None:
    """Warn of names that stand beside each other alone: a name with a comma falls into them."""
    cells = np.repeat(np.arange(len(found.ends) - 1), np.diff(found.ends))
    counts = np.bincount(found.numbers, minlength=len(found.names))
    in_order = cells[np.argsort(found.numbers, kind="stable")]
    alike: dict[bytes, list[int]] = {}
    for number, of in enumerate(np.split(in_order, np.cumsum(counts)[:-1])):
        if _A_FEW <= len(of) < len(texts) - 1:
            alike.setdefault(of.tobytes(), []).append(number)
    for key, numbers in alike.items():
        for pair in permutations([found.names[k] for k in numbers[:_A_FEW]], 2):
            together = ", ".join(pair)
            if all(together in texts[cell] for cell in np.frombuffer(key, dtype=cells.dtype)):
                warn(
                    f"tags_column: the column {column!r} has {pair[0]!r} and {pair[1]!r} side by "
                    f"side alone; if {together!r} is one name, another separator is needed"
                )
                return


def _warn_of_quoted_cells(texts: Sequence[str], column: str) -> None:
    """Warn of cells in quotes as a whole that may list names, where no part of a cell is so."""
    in_quotes = [text for text in texts if _QUOTE in text]
    found = next(filter(_LISTED_IN_QUOTES.fullmatch, in_quotes), None)
    is_whole = re.compile(r'\s*"[^"]*"\s*').fullmatch
    if found is not None and all(map(is_whole, in_quotes)):
        warn(
            f"tags_column: the column {column!r} has cells in quotes as a whole, such as "
            f"{quoted(found)}, each read as one name; remove the quotes if it lists several"
        )


def _warn_of_texts_beside_lists(cells: Sequence[Any], column: str) -> None:
    """Warn of a text with a separator where other cells are lists."""
    strong = [separator for separator, is_strong in _SEPARATORS.items() if is_strong]
    texts = (cell for cell in cells if isinstance(cell, str))
    if (text := next((t for t in texts if any(s in t.strip() for s in strong)), None)) is not None:
        warn(
            f"tags_column: the column {column!r} has lists, and texts such as {quoted(text)} in "
            "other rows, each of which is read as one name"
        )


def _are_plain(cells: Sequence[Any]) -> bool:
    """Return whether cells are texts without brackets and quotes, as those of lists have."""
    try:
        written = "\n".join(cells)
    except TypeError:
        return False
    return not any(mark in written for mark in ("[", "(", "{", "'", _QUOTE))


def _parsed(cell: Any) -> Any:
    """Return the object that stands in a text, or the objects; another cell as it is.

    Quotes around the whole text of a list are left out.
    """
    twice = r'\s*"\s*(?:[\[{].*\\".*[\]}]|\[\s*\])\s*"\s*'
    if type(cell) is str and re.fullmatch(twice, cell, re.DOTALL):
        # Written twice: a text of JSON in another.
        with suppress(ValueError):
            cell = json.loads(cell)
    if type(cell) is str and (wrapped := _LIST_IN_QUOTES.fullmatch(cell)):
        cell = wrapped[2].replace(2 * _QUOTE, _QUOTE)
    if type(cell) is str and ":" in cell and re.match(r"\s*[{\[]\s*[{'\"]", cell):
        for read in (partial(json.loads, object_pairs_hook=unique_names), literal_eval):
            try:
                found = read(cell)
            except NamedTwice:
                raise
            except (ValueError, SyntaxError):
                continue
            if isinstance(found, dict) or any(isinstance(item, dict) for item in found):
                return found
    return cell


def _items_of(cell: Any) -> Any:
    """Return the items of a list in a text without objects; another cell as it is."""
    body = body_of_list(cell) if type(cell) is str else None
    if body is None or (body and not has_quotes(body)):
        return cell
    try:
        return items_of(body)
    except ValueError:
        # Where it stands is told with others that are not lists.
        return cell


def _of_lists(codes: NDArray[np.intp], cells: Sequence[Any], name: str) -> Listing:
    """Return the tags of lists, and of objects of names; what is not a list is one name."""
    rows: list[list[str]] = []
    others: set[str] = set()
    for code, cell in enumerate(cells):
        try:
            rows.append([as_written(tag) for tag in _names_in(cell, others)])
        except TypeError as error:
            row = int(np.argmax(codes == code))
            raise ValueError(
                f"tags_column: the column {name!r} lists {error} in row {row}; expected a "
                "list of names, or an object with a number from 0 to 1 for each name"
            ) from error
    _refuse_indicator(rows, name)
    several = next((code for code, cell in enumerate(cells) if _n_annotations(cell) > 1), None)
    if several is not None:
        warn(
            f"tags_column: the column {name!r} has several annotations of a row, such as row "
            f"{int(np.argmax(codes == several))}; the names of all are taken"
        )
    questions = sorted(set[str]().union(*map(_questions_of, cells)))
    if len(questions) > 1:
        warn(
            f"tags_column: the column {name!r} has answers to several questions, "
            f"{listed(questions)}; the names of all are taken"
        )
    # Of no row, and named nevertheless.
    return Listing.of([*rows, others], codes)


def _questions_of(cell: Any) -> set[str]:
    """Return which questions the annotations of a cell answer, as Label Studio names them."""
    items = cell if isinstance(cell, list | np.ndarray) else [cell]
    of = [item for item in items if isinstance(item, Mapping)]
    named = {str(item["from_name"]) for item in of if "from_name" in item}
    return named.union(*(_questions_of(item["result"]) for item in of if "result" in item))


def _n_annotations(cell: Any) -> int:
    items = cell if isinstance(cell, list | np.ndarray) else ()
    return sum(isinstance(item, Mapping) and bool({*_ONE_OF_SEVERAL} & {*item}) for item in items)


def _names_in(cell: Any, others: set[str]) -> list[Any]:
    """Return the names in a cell; names of an object whose number is below 0.5 are others."""
    if isinstance(cell, Mapping):
        marks = {key: value for key, value in cell.items() if not is_missing(value)}
        key = next((key for key in _KEYS_OF_NAMES if key in marks), None)
        if key in ("id", "value") or (key is not None and not _are_marks(marks.values())):
            return _names_in(marks[key], others)
        if not _are_marks(marks.values()):
            raise TypeError(quoted(cell))
        others |= set(marks)
        return [key for key, value in marks.items() if float(value) >= 0.5]
    if isinstance(cell, LISTING):
        items = list(cell)
        wrong = [item for item in items if is_missing(item) or isinstance(item, list | np.ndarray)]
        if wrong:
            raise TypeError(quoted(wrong[0]))
        found: list[Any] = []
        for item in items:
            if not isinstance(item, Mapping):
                found.append(item)
                continue
            if any(item.get(key) in values for key, values in _WITHDRAWN.items()):
                continue
            names = _names_in(_annotation(item), others)
            written = [as_written(item[key]) for key in _SCORES if not is_blank(item.get(key))]
            scores = [float(score) if is_number(score) else np.inf for score in written]
            if not _are_marks(scores):
                raise TypeError(f"{quoted(item)}, whose score is not from 0 to 1,")
            if scores and float(scores[0]) < 0.5:
                others |= set(map(as_written, names))
            else:
                found += names
        return found
    if isinstance(cell, str) and _UNREAD_LIST.match(cell):
        raise TypeError(quoted(cell))
    return [] if is_blank(cell) else [cell]


def _annotation(item: Mapping[str, Any]) -> Any:
    """Return what an object in a list says, which is one of several: a label, not marks of all."""
    return next((item[key] for key in _KEYS_OF_NAMES if key in item), item)


def _are_marks(values: Iterable[Any]) -> bool:
    return all(isinstance(value, Number) and 0 <= float(value) <= 1 for value in values)  # type: ignore[arg-type]


def _lists_in(
    texts: Sequence[str], separator: str | None, codes: NDArray[np.intp], name: str
) -> list[list[str]]:
    """Return the names in the brackets of each text; none if the column holds no lists."""
    bodies = [
        body_of_list(text) if text.rstrip()[-1:] in ("]", ")", "}") else None for text in texts
    ]
    filled = [k for k, text in enumerate(texts) if text.strip().lower() not in ("", *NOTHING)]
    inside = {k for k in filled if bodies[k] is not None}
    in_quotes = [k for k in filled if has_quotes(bodies[k] or "")]
    if not inside or (not in_quotes and (len(inside) < len(filled) or separator is not None)):
        return []
    others = [k for k in filled if k not in inside]
    if others:
        raise ValueError(
            f"tags_column: the column {name!r} has {quoted(texts[others[0]])} in row "
            f"{int(np.argmax(codes == others[0]))}, and lists such as "
            f"{quoted(texts[in_quotes[0]])} in others; expected lists in all rows or in none"
        )
    rows: list[list[str]] = []
    for k, text in enumerate(texts):
        try:
            rows.append(items_of((bodies[k] if k in inside else None) or ""))
        except ValueError as error:
            raise ValueError(
                f"tags_column: the column {name!r} has {quoted(text)} in row "
                f"{int(np.argmax(codes == k))}, which is not a list of names: {error}; expected a "
                'list such as ["red", "blue"]'
            ) from error
    bare = [k for k in filled if bodies[k]]
    if not in_quotes and bare:
        warn(
            f"tags_column: the column {name!r} has texts in brackets, such as "
            f"{quoted(texts[bare[0]])}, which are read as lists of names separated by commas"
        )
    return rows


def _refuse_indicator(rows: Sequence[Sequence[str]], name: str) -> None:
    """Refuse lists that are the rows of an indicator."""
    lengths = {len(row) for row in rows if row}
    if len(lengths) == 1 and {tag for row in rows for tag in row} <= _INDICATOR:
        (length,) = lengths
        if length > 1:
            raise ValueError(
                f"tags_column: the column {name!r} lists {length} times 0 or 1 in each row, which "
                "is an indicator, not names; expected names of labels, or a column of 0 and 1 "
                f"for each label: frame[{name!r}].apply(pandas.Series), and labels= its columns"
            )


def _pieces(text: str, separator: str) -> set[str]:
    return {*_pieces_of(text, separator)}


def _pieces_of(text: str, separator: str) -> list[str]:
    return [name for piece in _split(text, separator) if (name := label_name(piece))]


def _split(text: str, separator: str, *, unquote: bool = False) -> list[str]:
    """Split a text at its separators, but for those within quotes around a whole piece.

    Quotes around other pieces are left out if `unquote` says so.
    """
    if separator == "><" and _TAGGED.fullmatch(text):
        text = text.strip()[1:-1]
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
        needs_them = is_quoted and (unquote or separator in joint or 2 * _QUOTE in joint[1:-1])
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
    having = [cell for cell in cells if separator in cell.strip(separator)]
    if not having:
        return _Evidence(0.0, len(cells), 0)
    counts = Counter(piece for cell in cells for piece in _pieces(cell, separator))
    pieces = [piece for cell in having for piece in _pieces(cell, separator)]
    # "C++" and "a//b" have nothing between two of them, "a ~ b" has no name between blanks.
    gaps = sum(
        not piece.strip() or _is_mark(piece)
        for cell in having
        for piece in cell.strip(separator).split(separator)
    )
    recurring = sum(counts[piece] > 1 and not _is_mark(piece) for piece in pieces)
    return _Evidence(recurring / max(len(pieces) + gaps, 1), len(counts), len(having))


def _is_mark(piece: str) -> bool:
    return len(piece) == 1 and category(piece) in _OF_MARKS


def _candidates(cells: Collection[str]) -> dict[str, bool]:
    """Return what may separate tags: what often does, and other punctuation of most cells."""
    counts = Counter(
        mark for cell in cells for mark in set(cell) if not mark.isalnum() and not mark.isspace()
    )
    often = [mark for mark, count in counts.items() if 2 * count > len(cells)]
    others = [m for m in often if category(m)[0] in "PS" and m not in _OF_NAMES]
    # "#a #b", where each has the mark in front.
    return _SEPARATORS | {
        mark: all(cell.startswith(mark) for cell in cells)
        for mark in sorted(others)
        if mark not in _SEPARATORS
    }


def _separator_of(texts: Sequence[str], given: str | None, name: str) -> str:
    """Return what separates tags: what is given, else a comma, or what pieces recur between.

    A warning tells what is taken instead of a comma, and what may have been meant.
    """
    cells = sorted({text.strip() for text in texts[: 10 * _MANY_CELLS]} - {""})
    wanted = "," if given is None else given
    has_wanted = any(wanted in text for text in texts)
    if not cells or (given is not None and has_wanted):
        return wanted
    cells = cells[:: max(len(cells) // _MANY_CELLS, 1)]
    candidates = _candidates(cells)
    found = {other: _evidence(cells, other) for other in candidates}
    likely = [
        o for o, is_strong in candidates.items() if _is_likely(found[o], is_strong, len(cells))
    ]
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
        told = f"{best!r} is used as the separator, which gives {found[best].n_tags} different tags"
        warn(f"{head}; {told}")
        return best
    seen = [
        other
        for other, is_strong in candidates.items()
        if 2 * found[other].cells > len(cells) or (is_strong and found[other].share >= _RECURRING)
    ]
    seen.sort(key=lambda other: (-found[other].share, found[other].n_tags))
    maybe = best or (seen[0] if seen else _recurring_between(cells))
    if maybe is not None:
        warn(f"{head}, so each is one tag, such as {quoted(cells[0])}; is {maybe!r} the separator?")
    return wanted


def _recurring_between(cells: Collection[str]) -> str | None:
    """Return the punctuation, or the blank, between pieces of cells that nearly all recur."""
    marks = Counter(mark for cell in cells for mark in set(_BETWEEN.findall(cell)))
    found = {
        mark: _evidence(cells, mark)
        for mark in sorted({mark.strip() or " " for mark, count in marks.items() if count > 1})
    }
    likely = {m: of.share for m, of in found.items() if of.n_tags < len(cells)}
    best = max(likely, key=lambda mark: likely[mark], default=None)
    return best if best is not None and likely[best] >= _OFTEN_RECURRING else None


def _is_likely(found: _Evidence, is_strong: bool, n_cells: int) -> bool:
    if is_strong:
        return found.share > _RECURRING or 2 * found.cells > n_cells
    # A name of several words is not a list of tags: these come in ever new combinations.
    return found.share >= _OFTEN_RECURRING and 2 * found.n_tags < n_cells


def _warn_of_second_separator(
    names: Collection[str], separator: str | None, column: str, *, is_used: bool
) -> bool:
    """Warn of tags that are made of other tags, with another separator; return whether it did."""
    known = set(names)
    for other, is_strong in _SEPARATORS.items():
        found = {name: _pieces(name, other) for name in names if other in name}
        # Names may have several words.
        if other == separator or (other == " " and not all(of <= known for of in found.values())):
            continue
        # Commas stand in names, of which one before a comma may be another name.
        enough = is_strong and is_used and other != ","
        some = sorted(
            name
            for name, of in found.items()
            if len(of) > 1 and (of & known if enough else of <= known - {name})
        )
        if some:
            tags = sorted(found[some[0]] & known)
            are = "is a tag" if len(tags) == 1 else "are tags"
            warn(
                f"tags_column: the column {column!r} has {quoted(some[0])}, which is read as one "
                f"tag, though {listed(tags)} {are} too: is {other!r} a separator as well?"
            )
            return True
    return False
