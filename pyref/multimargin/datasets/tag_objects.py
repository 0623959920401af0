"""Names of tags in lists and objects in cells, also as text, by many conventions."""

import json
import re
from ast import literal_eval
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from itertools import chain
from numbers import Number
from typing import Any

import numpy as np
from numpy.typing import NDArray

from multimargin.checks.names import NamedTwice, listed, quoted, unique_names
from multimargin.datasets.listed_text import NOTHING, body_of_list, has_quotes, items_of
from multimargin.datasets.table_cells import factorized, is_number, score_of
from multimargin.datasets.table_kinds import LISTING
from multimargin.notices import warn
from multimargin.targets.given import is_blank, is_missing
from multimargin.targets.listing import Listing
from multimargin.targets.names import as_written
from multimargin.targets.strange_names import is_indicator
from multimargin.typing import Column

_LIST_IN_QUOTES = re.compile(r"\s*(['\"])(\[.*\]|\{.*\}|\(.*\))\1\s*", re.DOTALL)
_UNREAD_LIST = re.compile(r"\s*[\[{(]\s*[\[{'\"]")
# Keys of the names in other objects, the innermost last.
_KEYS_OF_NAMES = (
    *("annotations", "result", "value", "choices", "nodes", "edges", "node", "labels", "label"),
    *("name", "display_name", "displayName", "classname", "category", "title", "term", "tag", "id"),
)
_SCORES = ("score", "confidence", "probability", "count", "weight")
# Other keys, or parts of them, that may say whether a name applies.
_SAYS_SO = re.compile(
    "(?i)score|conf|prob|certain|likel|relev|appl|select|check|present|activ|assign|accept|vote|^p$"
)
# What annotation tools write of answers that count for nothing, and of each of several.
_WITHDRAWN = {"was_cancelled": (True,), "status": ("discarded", "draft")}
_ONE_OF_SEVERAL = ("result", "user_id")


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


def parsed(cell: Any) -> Any:
    """Return the object that stands in a text, or the objects; another cell as it is.

    Quotes around the whole text of a list are left out.
    """
    if type(cell) is str and (wrapped := _LIST_IN_QUOTES.fullmatch(cell)):
        cell = wrapped[2].replace('""', '"')
        with suppress(ValueError):
            # A text of JSON in another.
            cell = json.loads(wrapped[0])
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


def items_of_cell(cell: Any) -> Any:
    """Return the items of a list in a text without objects; another cell as it is."""
    body = body_of_list(cell) if type(cell) is str else None
    # What is not a list is told with others later.
    with suppress(ValueError):
        if body is not None and (not body or has_quotes(body)):
            return items_of(body)
    return cell


def lists_in(column: TagCells, separator: str | None) -> list[list[str]]:
    """Return the names in the brackets of each text; none if the column holds no lists."""
    texts, bodies = column.cells, [*map(body_of_list, column.cells)]
    filled = [k for k, text in enumerate(texts) if text.strip().lower() not in ("", *NOTHING)]
    others = [k for k in filled if bodies[k] is None]
    in_quotes = [k for k in filled if has_quotes(bodies[k] or "")]
    if not in_quotes and (others or not filled or separator is not None):
        return []
    if others:
        raise column.refusal(
            f"has {quoted(texts[others[0]])} in row {column.row_of(others[0])}, and lists such as "
            f"{quoted(texts[in_quotes[0]])} in others; expected lists in all rows or in none"
        )
    rows: list[list[str]] = []
    for k, text in enumerate(texts):
        try:
            rows.append(items_of(bodies[k] or ""))
        except ValueError as error:
            raise column.refusal(
                f"has {quoted(text)} in row {column.row_of(k)}, which is not a list of names: "
                f'{error}; expected a list such as ["red", "blue"]'
            ) from error
    bare = next((k for k in filled if bodies[k]), None)
    if not in_quotes and bare is not None:
        column.tell(
            f"has texts in brackets, such as {quoted(texts[bare])}, which are read as lists of "
            "names separated by commas"
        )
    return rows


def of_lists(column: TagCells, cells: Sequence[Any]) -> Listing:
    """Return the tags of lists, and of objects of names; what is not a list is one name."""
    rows: list[list[str]] = []
    others: set[str] = set()
    for place, cell in enumerate(cells):
        try:
            rows.append([as_written(tag) for tag in _names_in(cell, others)])
        except TypeError as error:
            raise column.refusal(
                f"lists {error} in row {column.row_of(place)}; expected a list of names, or an "
                "object with a number from 0 to 1 for each name"
            ) from error
    refuse_indicator(rows, column)
    objects = [list(_objects_in(cell)) for cell in cells]
    several = next((k for k, of in enumerate(objects) if _n_annotations(of) > 1), None)
    if several is not None:
        column.tell(
            f"has several annotations of a row, such as row {column.row_of(several)}; the names of "
            "all are taken"
        )
    questions = {str(one["from_name"]) for of in objects for one in of if "from_name" in one}
    if len(questions) > 1:
        column.tell(
            f"has answers to several questions, {listed(sorted(questions))}; the names of all are "
            "taken"
        )
    _warn_of_marks(chain.from_iterable(objects), column)
    # Of no row, and named nevertheless.
    return Listing.of([*rows, others], column.codes)


def _objects_in(cell: Any) -> Iterator[Mapping[str, Any]]:
    """Yield the objects in a cell, and those in the results of its annotations."""
    for item in cell if isinstance(cell, list | np.ndarray) else [cell]:
        if isinstance(item, Mapping):
            yield item
            yield from _objects_in(item.get("result"))


def _warn_of_marks(objects: Iterable[Mapping[str, Any]], column: TagCells) -> None:
    """Warn of a key that says no of some names, or has a low score.

    By its name it may say so, or as it is true of an object with a name, and false of another.
    """
    values: dict[str, dict[str, set[float | None]]] = {}
    for one in objects:
        if isinstance(name := _annotation(one), str):
            for key in one.keys() - {*_SCORES, *_WITHDRAWN}:
                of_names = values.setdefault(key, {})
                of_names.setdefault(name, set()).add(score_of(as_written(one[key])))
    for key, of_names in sorted(values.items()):
        marks = set[float | None]().union(*of_names.values())
        both = marks <= {0.0, 1.0} and any(len(of) > 1 for of in of_names.values())
        if both or (_SAYS_SO.search(key) and any(of is not None and of < 0.5 for of in marks)):
            column.tell(
                f"has objects whose {key!r} is no, or below 0.5, for some names; all names are "
                "taken: leave out those that do not apply"
            )


def _n_annotations(objects: Sequence[Mapping[str, Any]]) -> int:
    return sum(not {*_ONE_OF_SEVERAL}.isdisjoint(one) for one in objects)


def _names_in(cell: Any, others: set[str]) -> list[Any]:
    """Return the names in a cell; those that do not apply, by a number below 0.5, are others."""
    if isinstance(cell, Mapping):
        return _names_in_object(cell, others)
    if isinstance(cell, LISTING):
        return [name for item in list(cell) for name in _names_in_item(item, others)]
    if isinstance(cell, str) and _UNREAD_LIST.match(cell):
        raise TypeError(quoted(cell))
    return [] if is_blank(cell) else [cell]


def _names_in_object(one: Mapping[str, Any], others: set[str]) -> list[Any]:
    """Return the names under one of the usual keys, or keys that are names with a number each."""
    filled = {key: value for key, value in one.items() if not is_missing(value)}
    key, are_marks = _key_of_name(filled), _are_marks(filled.values())
    if key in ("id", "value") or (key is not None and not are_marks):
        return _names_in(filled[key], others)
    if not are_marks:
        raise TypeError(quoted(one))
    others |= set(filled)
    return [name for name, mark in filled.items() if float(mark) >= 0.5]


def _names_in_item(item: Any, others: set[str]) -> list[Any]:
    """Return the names of an item of a list, none if it is withdrawn or has a low score."""
    if is_missing(item) or (isinstance(item, LISTING) and not isinstance(item, Mapping)):
        raise TypeError(quoted(item))
    if not isinstance(item, Mapping):
        return [item]
    if any(item.get(key) in values for key, values in _WITHDRAWN.items()):
        return []
    names = _names_in(_annotation(item), others)
    written = [as_written(item[key]) for key in _SCORES if not is_blank(item.get(key))]
    scores = [float(score) if is_number(score) else np.inf for score in written]
    if not _are_marks(scores):
        raise TypeError(f"{quoted(item)}, whose score is not from 0 to 1,")
    if scores and scores[0] < 0.5:
        others |= set(map(as_written, names))
        return []
    return names


def _annotation(item: Mapping[str, Any]) -> Any:
    """Return what an object in a list says, which is one of several: a label, not marks of all."""
    key = _key_of_name(item)
    return item if key is None else item[key]


def _key_of_name(one: Mapping[str, Any]) -> str | None:
    """Return the key of the name in an object; a number beside a text is no name."""
    key = next((key for key in _KEYS_OF_NAMES if key in one), None)
    is_number_of_text = key == "id" and not isinstance(one["id"], str)
    return None if is_number_of_text and any(isinstance(v, str) for v in one.values()) else key


def _are_marks(values: Iterable[Any]) -> bool:
    return all(isinstance(value, Number) and 0 <= float(value) <= 1 for value in values)  # type: ignore[arg-type]


def refuse_indicator(rows: Sequence[Sequence[str]], column: TagCells) -> None:
    """Refuse lists that are the rows of an indicator."""
    if is_indicator(rows):
        raise column.refusal(
            f"lists {listed(sorted({*chain.from_iterable(rows)}))} for all labels in each row, "
            "which is an indicator, not names; expected names of labels, or a column of 0 and 1 "
            f"for each label: frame[{column.name!r}].apply(pandas.Series), and labels= its columns"
        )
