"""Columns of a table: which of them are labels, and the contents of the others."""

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from itertools import combinations
from typing import TYPE_CHECKING, Any, TypedDict

import numpy as np
from numpy.typing import NDArray

from multimargin.checks.names import did_you_mean, listed, option, quoted
from multimargin.checks.parameters import check_choice
from multimargin.datasets.odd_columns import (
    is_sum_of_others,
    warn_of_keys,
    warn_of_missing_numbers,
    warn_of_names,
)
from multimargin.datasets.table_cells import Cells, amounts_of, label_value
from multimargin.datasets.table_dates import date_parts
from multimargin.datasets.table_kinds import WORD, Kind, decimal_mark, kind_of, vector_of
from multimargin.notices import warn
from multimargin.targets.given import is_blank, is_missing
from multimargin.targets.names import as_written, label_name

if TYPE_CHECKING:
    from multimargin.typing import Column, Frame, Marks

# Number of rows from which words are judged, and its minimum.
_MANY_ROWS, _ROWS_TO_JUDGE = 1000, 20

Columns = str | Sequence[str]


class ColumnRoles(TypedDict, total=False):
    """Roles of the columns of a table that are no columns of labels, and how they are read."""

    # A column that lists the labels of each row, as text or as a list, or several columns with a
    # label each; named as labels are
    tags_column: Columns | None
    # What stands between the tags of that column; None takes what most cells have
    separator: str | None
    # Columns that are neither features nor labels; names and patterns, as for labels
    drop: Columns
    text: Columns  # Columns of text, whose words become features
    nominal: Columns  # Columns of names, even if these look like numbers
    number: Columns  # Columns of numbers, even if these look like codes
    analyzer: str  # What counts of text: "word", or "char" for runs of characters
    # What an empty cell of a label is, "0" or "unknown"; None takes 0 where no label is 0 otherwise
    blank: str | None
    decimal: str | None  # The decimal mark of numbers; None finds it
    min_count: int  # Labels that are relevant in fewer rows are left out
    # A column: rows with the same value in it are one, and each of them has one of its tags
    one_tag_a_row: str | None


@dataclass(frozen=True)
class TableColumns:
    """Columns of labels, `ColumnRoles`, and what the others were read as in a fit."""

    # Columns of 0 and 1, one a label: names, patterns such as ``"tag:*"``, ``"first:6"`` or
    # ``"last:6"``; a text holds several with commas between them
    labels: Columns | int | None = None
    tags_column: Columns | None = None
    separator: str | None = None
    drop: Columns = ()
    text: Columns = ()
    # A column that is not a feature; rows with the same value in it belong together
    group: str | None = None
    nominal: Columns = ()
    number: Columns = ()
    analyzer: str = "word"
    blank: str | None = None
    decimal: str | None = None
    min_count: int = 1
    one_tag_a_row: str | None = None
    # What each column of features is; none where it is still to be found out
    kinds: Mapping[str, Kind] = field(default_factory=dict)

    @property
    def features(self) -> dict[str, str]:
        """Return the kind of each feature, one of `KINDS`."""
        return {
            feature: kind.of_features
            for column, kind in self.kinds.items()
            for feature in kind.features(column)
        }


def columns_of(labels: Columns | int | None, roles: ColumnRoles) -> TableColumns:
    """Return the arguments of a function about columns; raise TypeError for others."""
    known = ColumnRoles.__annotations__
    for name in roles:
        if name not in known:
            raise TypeError(
                f"{name} is not an argument{did_you_mean(name, known)}; expected some of "
                f"{', '.join(known)}"
            )
    return TableColumns(labels=labels, **roles)


class UndecidedColumns(ValueError):
    """Columns whose kind must be specified."""


def uses_of_columns(frame: "Frame", columns: TableColumns) -> dict[str, list[str]]:
    """Return the columns of a table for each field of its `TableColumns`.

    Labels and texts that are dropped are left out. No other column can be two things.
    """
    if columns.labels is not None and columns.tags_column is not None:
        raise ValueError("labels and tags_column are both given; expected one of them")
    dropped = chosen_columns(frame, columns.drop, "drop")
    several = ("text", "nominal", "number")
    uses = {use: chosen_columns(frame, getattr(columns, use), use) for use in several}
    if columns.tags_column is None:
        uses["labels"] = chosen_columns(frame, columns.labels, "labels")
    uses = {use: [column for column in of if column not in dropped] for use, of in uses.items()}
    uses["tags_column"] = chosen_columns(frame, columns.tags_column, "tags_column")
    uses["group"] = chosen_columns(frame, columns.group, "group")
    if columns.group is not None and uses["group"] != [columns.group.strip()]:
        raise ValueError(f"group is {columns.group!r}; expected the name of one column")
    tags = ("tags_column", uses["tags_column"])
    for (use, of), (other, of_other) in [*combinations(uses.items(), 2), (tags, ("drop", dropped))]:
        both = [column for column in of if column in of_other]
        if both:
            raise ValueError(
                f"{use} has the column {both[0]!r}, which is given as {other} too; expected "
                "one of them"
            )
    return {**uses, "drop": dropped}


def chosen_columns(
    frame: "Frame", wanted: str | int | Sequence[str] | None, argument: str
) -> list[str]:
    """Return the columns of names, patterns and places."""
    columns = list(frame.columns)
    if wanted is None:
        if argument != "labels":
            return []
        count = len(labels_at_the_end(frame))
        guess = f"; the last {count} hold 0 and 1 (labels last:{count}?)" if count > 1 else ""
        raise ValueError(
            "labels is not given, expected names of columns (NAME,NAME,...), a pattern such as "
            "'tag:*', or last:N; or tags_column, the column that lists the tags of each row. The "
            f"columns are {listed(columns)}{guess}"
        )
    return named_columns(columns, wanted, argument)


def named_columns(columns: list[str], wanted: object, argument: str) -> list[str]:
    """Return those of some columns that have a name, a pattern or a place."""
    if isinstance(wanted, bool) or not isinstance(wanted, str | int | np.integer | Iterable):
        raise TypeError(f"{argument} is a {type(wanted).__name__}; expected names of columns")
    if isinstance(wanted, int | np.integer):
        wanted = f"first:{wanted}" if wanted >= 0 else f"last:{-wanted}"
    if isinstance(wanted, str):
        items = [wanted] if wanted.strip() in columns else wanted.split(",")
    else:
        items = [str(item) for item in wanted]
    found: set[str] = set()
    for item in items:
        found |= set(_columns_of(label_name(item), columns, argument))
    return [column for column in columns if column in found]


def _columns_of(item: str, columns: list[str], argument: str) -> list[str]:
    if item in columns:
        return [item]
    place, colon, count = item.partition(":")
    if colon and place in ("first", "last") and count.isdigit():
        if not 0 < int(count) <= len(columns):
            raise ValueError(f"{argument} is {item!r}, but there are {len(columns)} columns")
        return columns[: int(count)] if place == "first" else columns[-int(count) :]
    matching = [column for column in columns if fnmatchcase(column, item)]
    # In names brackets are likely brackets.
    literal = item.replace("[", "[[]")
    matching = matching or [column for column in columns if fnmatchcase(column, literal)]
    if not matching:
        known = f"the columns are {listed(columns)}"
        if len(columns) == 1:
            known = (
                f"the only column is {quoted(columns[0])} (commas, semicolons, tabs or bars "
                "separate columns of text)"
            )
        raise ValueError(
            f"{argument}: there is no column {item!r}{did_you_mean(item, columns)}; {known}"
        )
    return matching


def indicator_of_columns(
    frame: "Frame", names: Sequence[str], blank: str | None = None
) -> "tuple[Marks, str]":
    """Return the label indicator (n, q) of columns of 0 and 1, or words for them.

    The second value is what a blank is: 0 or, as NaN, unknown. By None it is unknown where
    some label is 0. So is -1, which is 0 where nothing else is.
    """
    if len(names) < 2:
        raise ValueError(
            f"labels has {f'one column, {names[0]!r}' if names else 'no column'}; expected at "
            "least two, or tags_column for a column that lists the tags of each row"
        )
    check_choice("blank", "unknown" if blank is None else blank, ("unknown", "0"))
    Y = np.zeros((len(frame), len(names)), dtype=np.float32)
    blanks = np.zeros(Y.shape, dtype=bool)
    for k, name in enumerate(names):
        cells = Cells(name, frame[name])
        value = {text: _mark(text, name) for text in cells.texts}
        wrong = [text for text in cells.texts if value[text] is None]
        if wrong:
            raise ValueError(
                f"labels: the column {name!r} has {wrong[0]!r} in row {cells.row_of(wrong[0])}; "
                "expected 0 or 1, or words for them, -1 or nothing where that is unknown (a column "
                "that lists tags is the tags_column)"
            )
        # Infinite: blank.
        found = cells.mapped(lambda text, value=value: np.inf if text is None else value[text])
        blanks[:, k] = np.isinf(found)
        Y[:, k] = np.where(blanks[:, k], np.nan, found)
    _settle_minus_one(Y, blanks)
    if blank is None:
        blank = "unknown"
        if blanks.any() and not (Y == 0).any() and (Y == 1).any():
            blank = "0"
            warn(
                f"labels: no label is 0 in any row, so that a blank, of which there are "
                f"{np.count_nonzero(blanks)}, is read as 0; blank='unknown' (--blank unknown) "
                "leaves such labels unknown"
            )
        else:
            _warn_of_columns_without_0(Y, blanks, names)
    if blank == "0":
        Y[blanks] = 0
    empty = np.flatnonzero(np.isnan(Y).all(axis=0))
    if empty.size:
        raise ValueError(
            f"labels: the column {names[empty[0]]!r} is empty; expected 0 or 1 in some row, and "
            "nothing where it is not known whether the label applies"
        )
    return (Y if np.isnan(Y).any() else Y.astype(np.uint8)), blank


def _mark(text: str, column: str) -> float | None:
    """Return the mark of a label in a cell; a survey repeats the name of a ticked box."""
    return 1.0 if label_name(text) == column else label_value(text)


def _warn_of_columns_without_0(
    Y: NDArray[Any], blanks: NDArray[np.bool_], names: Sequence[str]
) -> None:
    """Warn of labels with blanks and no 0 beside others with 0, which may be written otherwise."""
    odd = blanks.any(axis=0) & ~(Y == 0).any(axis=0) & (Y == 1).any(axis=0)
    if odd.any():
        columns = [names[k] for k in np.flatnonzero(odd).tolist()]
        warn(
            f"labels: no 0 is in {listed(columns)}, unlike other labels, and blanks there are read "
            "as unknown; blank='0' (--blank 0) reads them as 0"
        )


def _settle_minus_one(Y: NDArray[Any], blanks: NDArray[np.bool_]) -> None:
    """Make 0 or NaN of -1, in place, and say so."""
    minus = Y == -1
    if not minus.any():
        return
    count = np.count_nonzero(minus)
    if (Y == 0).any() or blanks.any():
        Y[minus] = np.nan
        warn(f"labels: {count} labels are -1, beside 0 or blanks, and are read as unknown")
    else:
        Y[minus] = 0
        warn(f"labels: {count} labels are -1 and none is 0; -1 is read as 0")


def feature_kinds(
    features: Mapping[str, Cells], uses: Mapping[str, Sequence[str]], columns: TableColumns
) -> tuple[dict[str, Kind], str]:
    """Find the kind of each column of features, and the decimal mark of its numbers."""
    check_choice("analyzer", columns.analyzer, ("word", "char"))
    of_text = "text" if columns.analyzer == "word" else "characters"
    said = {
        column: Kind(of_text if use == "text" else use, "as asked for")
        for use in ("text", "nominal", "number")
        for column in uses[use]
    }
    of_numbers = [c for name, c in features.items() if name not in said or name in uses["number"]]
    mark = decimal_mark(of_numbers, columns.decimal)
    features = {name: cells.with_mark(mark) for name, cells in features.items()}
    kinds = {name: said.get(name) or kind_of(cells) for name, cells in features.items()}
    for name in uses["number"]:
        kinds[name] = replace(kinds[name], unit=amounts_of(features[name])[1])
    # All in one message, not one per attempt.
    if asked := {column: kind for column, kind in kinds.items() if kind.ask}:
        raise UndecidedColumns(ask(asked, uses["text"]))
    _warn_of_contents(features, kinds, said)
    return kinds, mark


def _warn_of_contents(
    features: Mapping[str, Cells], kinds: Mapping[str, Kind], said: Collection[str]
) -> None:
    """Warn of columns without content or of likely another kind, unless specified."""
    empty, sums = list[str](), list[str]()
    for column, cells in features.items():
        kind = kinds[column].name
        if not cells.first:
            empty.append(column)
        elif kind == "text":
            _warn_of_rare_words(cells.values)
        elif column in said:
            continue
        elif kind == "nominal":
            warn_of_names(cells)
        elif kind == "date":
            warn_of_missing_numbers(column, date_parts(cells)[:, 0], n_others=1)
        elif kind == "number":
            numbers, _ = amounts_of(cells)
            warn_of_keys(cells, numbers)
            warn_of_missing_numbers(column, numbers)
            if np.isnan(numbers).all():
                empty.append(column)
            if is_sum_of_others(numbers):
                sums.append(column)
    if empty:
        warn(
            f"nothing is learned from empty columns, {listed(empty)}; leave them out "
            f"({option('--drop', empty)})"
        )
    if sums:
        warn(
            f"the last row has the sum of all others in {listed(sums)}; if it is a row of sums "
            "below the table, remove it"
        )


def ask(kinds: Mapping[str, Kind], text: Sequence[str] = ()) -> str:
    """Report the columns whose kind must be specified, and the options that do so."""
    told = "; ".join(f"{column!r} holds {kind.reason}" for column, kind in kinds.items())
    return (
        f"say what some columns are: {told}. Choose text (--text), numbers (--number), names "
        f"(--nominal) or nothing to learn from (--drop), for example {options_for(kinds, text)}"
    )


def options_for(kinds: Mapping[str, Kind], text: Sequence[str] = ()) -> str:
    """Write the options that specify the proposed kinds of columns."""
    chosen = {"--text": list(text), "--number": list[str](), "--nominal": [], "--drop": []}
    for column, kind in kinds.items():
        if kind.ask:
            chosen[kind.ask].append(column)
    return " ".join(option(name, of) for name, of in chosen.items() if of)


def _warn_of_rare_words(values: Any) -> None:
    """Warn of text whose words do not recur."""
    texts = as_text_column(values[:_MANY_ROWS])
    rows = [set(re.findall(WORD, text.lower())) for text in texts]
    counts = Counter(word for row in rows for word in row)
    recurring = sum(count for count in counts.values() if count > 1)
    if len(rows) >= _ROWS_TO_JUDGE and 10 * recurring < counts.total():
        warn(
            f"hardly any word of the column {values.name!r} occurs in two rows, so that little is "
            "learned from it; analyzer='char' (--analyzer char) takes runs of characters, for "
            f"text without blanks, say, and {option('--drop', [values.name])} leaves it out"
        )


def features_of_columns(
    columns: TableColumns, cells_of: Callable[[str], Cells]
) -> dict[str, NDArray[np.generic]]:
    """Return the features of a table by name, given the kinds of its columns."""
    found: dict[str, Any] = {}
    for column, kind in columns.kinds.items():
        cells = cells_of(column).with_mark(columns.decimal or ".")
        parts: Any
        if kind.name == "vector":
            parts = _vectors(cells.values, kind.n_parts).T
        elif kind.name == "date":
            # Hours may not be among the parts.
            parts = date_parts(cells).T[: kind.n_parts]
        else:
            parts = [_typed(cells, kind)]
        found |= zip(kind.features(column), parts, strict=True)
    return found


def _vectors(values: Any, length: int) -> NDArray[np.float64]:
    """Return the numbers of lists; NaN in rows without."""
    parts = np.full((len(values), length), np.nan)
    for row, cell in enumerate(values.tolist()):
        if is_blank(cell):
            continue
        try:
            # Of one number, NumPy would fill the row.
            parts[row] = vector_of(cell).reshape(length)
        except (TypeError, ValueError) as error:
            raise ValueError(
                f"the column {values.name!r} has {quoted(cell)} in row {row}; expected a list of "
                f"{length} numbers"
            ) from error
    return parts


def _typed(cells: Cells, kind: Kind) -> Any:
    """Return a column of numbers as float64, others as objects.

    What is missing is NaN, and empty in text.
    """
    values = cells.values
    if kind.name in ("text", "characters"):
        # Arrow's texts stay there: an object for each takes as long as to read them.
        is_text = values.dtype == "str" and not values.hasnans
        objects = () if is_text else (c for c in values.tolist() if isinstance(c, Mapping))
        if (one := next(iter(objects), None)) is not None:
            raise ValueError(
                f"text: the column {values.name!r} holds objects, such as {quoted(str(one))}; "
                "expected text: write what is to be read into a column of its own"
            )
        return values.array if is_text else np.array(as_text_column(values), dtype=object)
    if kind.name == "nominal":
        names = np.array([*map(label_name, cells.texts), np.nan], dtype=object)
        place = dict(zip(cells.texts, range(len(cells.texts)), strict=True))
        return names[cells.mapped(lambda text: place.get(text, -1)).astype(np.intp)]
    numbers, _ = amounts_of(cells, kind.unit)
    infinite = np.isinf(numbers)
    if infinite.any():
        raise ValueError(
            f"the column {values.name!r} is infinite in row {int(np.flatnonzero(infinite)[0])}; "
            "expected finite numbers, or nothing where a value is missing"
        )
    return numbers


def as_text_column(values: "Column") -> list[str]:
    """Return a column of text; what is missing is empty."""
    return [
        value if type(value) is str else "" if is_missing(value) else as_written(value)
        for value in values.tolist()
    ]


def labels_at_the_end(frame: "Frame") -> list[str]:
    """Return the columns at the end that hold 0 and 1, or words for them."""
    found: list[str] = []
    for column in reversed(frame.columns):
        texts = Cells(column, frame[column]).texts
        if not texts or any(_mark(text, column) is None for text in texts):
            break
        found.insert(0, column)
    return found
