"""Roles of the columns of a table, and the columns that names, patterns and places choose."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from itertools import combinations
from typing import TYPE_CHECKING, TypedDict

import numpy as np

from multimargin.checks.names import did_you_mean, listed, quoted
from multimargin.datasets.label_columns import labels_at_the_end
from multimargin.datasets.table_kinds import Kind
from multimargin.targets.names import label_name

if TYPE_CHECKING:
    from multimargin.typing import Frame

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
