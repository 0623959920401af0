"""Warnings of features that leak labels, and of repeated rows."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from multimargin.checks.names import listed, option
from multimargin.datasets.row_hashes import row_hashes
from multimargin.datasets.table_cells import factorized
from multimargin.datasets.table_kinds import Kind
from multimargin.notices import warn

# Rows with and without a label from which an equal feature is no coincidence.
_MANY_ROWS = 5
_HEAD = 100
# Rows per repetition from which repeated rows are reported.
_MANY_REPEATED = 10
_NUMBER_BEHIND = re.compile(r"(?<=\w)[_ .-][0-9]+$")
# Of the rows of another that labelled them, most have the same names.
_MOST = 0.8


def warn_of_leaks(X: Any, Y: NDArray[Any], names: Sequence[str], kinds: Mapping[str, Kind]) -> None:
    """Warn of features that are named like tags, have the values of labels, or name labels."""
    named = [name for name in names if name in kinds]
    stems = {_NUMBER_BEHIND.sub("", name) for name in names}
    if len(stems) == len(names):
        # "a_1" and "a_2", as of several people who labelled each row.
        named += [
            name for name in kinds if (s := _NUMBER_BEHIND.sub("", name)) in stems and s != name
        ]
    same = [
        column
        for column, kind in kinds.items()
        if (kind.name == "number" and _is_label(X[column].to_numpy(), Y))
        or (kind.name == "nominal" and _names_labels(X[column], Y, names))
    ]
    if len(named) > 1 and not set(named) <= {*same}:
        warn(
            f"the features have columns named like tags, {listed(named)}, which may say which of "
            f"them apply; leave them out ({option('--drop', named)})"
        )
    if same:
        warn(
            f"the features say which labels apply, or how many, in {listed(same)}; leave out what "
            f"new rows do not have ({option('--drop', same)})"
        )


def warn_of_repeated_rows(X: Any, Y: NDArray[Any]) -> None:
    """Warn of rows with one tag each whose features are those of rows with another tag."""
    n_tags = np.count_nonzero(Y == 1, axis=1)
    if n_tags.max(initial=0) > 1 or len(X) < 2 * _MANY_ROWS:
        return
    n_again = int(np.count_nonzero(X.duplicated()))
    # With the same tag, too, they are other rows that are alike.
    n_alike = int(np.count_nonzero(X.assign(**{"": row_hashes(Y)}).duplicated()))
    if _MANY_REPEATED * n_again >= len(X) and _MANY_REPEATED * n_alike <= n_again:
        warn(
            f"each row has one tag, and {n_again} of {len(X)} repeat features of earlier rows; if "
            "the table has a row for each tag, one_tag_a_row (--one-tag-a-row) names the column "
            "whose value such rows share"
        )


def _is_label(values: NDArray[Any], Y: NDArray[Any]) -> bool:
    """Return whether numbers say in all rows if a label applies, if any does, or how many do."""
    # Most columns differ in the first rows.
    head = Y[:_HEAD] == 1
    if np.array_equal(values[:_HEAD], head.sum(axis=1)):
        counts = np.count_nonzero(Y == 1, axis=1)
        if np.unique(counts).size > 2:
            return np.array_equal(values, counts)
    if np.unique(values[:_HEAD]).size > 2:
        return False
    marks = values == values.max()
    n_marked = np.count_nonzero(marks)
    is_marked = (marks | (values == values.min())).all()
    if not (is_marked and _MANY_ROWS <= n_marked <= len(values) - _MANY_ROWS):
        return False
    same = np.column_stack([head, head.any(axis=1)]) == marks[:_HEAD, None]
    *likely, any_label = same.all(axis=0) | ~same.any(axis=0)
    # Labels that are unknown are equal to nothing.
    of_labels = [Y[:, k] for k in np.flatnonzero(likely)]
    if any_label:
        of_labels.append((Y == 1).any(axis=1))
    return any(np.array_equal(of, wanted) for of in of_labels for wanted in (marks, ~marks))


def _names_labels(column: Any, Y: NDArray[Any], names: Sequence[str]) -> bool:
    """Return whether several of the names of a column are, or list, labels of most their rows."""
    place = {name: k for k, name in enumerate(names)}
    codes, texts = factorized(column)
    apply = list[NDArray[np.bool_]]()
    for code, text in enumerate(texts):
        pieces = {text, *(piece.strip() for piece in re.split(r"[][,;|/'\"<>]+", text))}
        if found := [place[piece] for piece in pieces if piece in place]:
            apply.append((Y[np.ix_(codes == code, found)] == 1).ravel())
    are_many = len(apply) > 1 and np.count_nonzero(codes >= 0) >= 2 * _MANY_ROWS
    return bool(are_many and np.concatenate(apply).mean() >= _MOST)
