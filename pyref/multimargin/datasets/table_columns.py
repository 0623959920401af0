"""Columns of a table: which of them are labels, and what the others hold."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from multimargin.checks.given import is_missing
from multimargin.checks.names import did_you_mean, listed, option
from multimargin.checks.parameters import check_choice
from multimargin.datasets.table_cells import (
    as_written,
    has_decimal_commas,
    has_zeros_in_front,
    holds_no_numbers,
    holds_numbers,
    is_number,
    number_of,
    numbers_of,
    plain_numbers,
    stands_for_nothing,
    written,
)
from multimargin.notices import warn

_TRUE = {"true", "yes", "y", "t", "on", "x", "\N{CHECK MARK}", "\N{HEAVY CHECK MARK}"}
_FALSE = {"false", "no", "n", "f", "off"}
# A column of names with more different ones than this is more likely text, or one name per row.
_MANY_NAMES = 50
# Names have no more words than this, text has more.
_FEW_WORDS = 3
# Rows by which words are judged, and fewer than which say nothing.
_MANY_ROWS, _ROWS_TO_JUDGE = 1000, 20
# What `TfidfVectorizer` takes for one.
_WORD = r"\b\w\w+\b"


class UndecidedColumns(ValueError):
    """Columns of which it must be said what they are."""


def uses_of_columns(frame: Any, columns: Any) -> dict[str, list[str]]:
    """Return which columns of a table are what, by the fields of its `TableColumns`.

    Labels and texts that are dropped are left out. No other column can be two things.
    """
    if columns.labels is not None and columns.tags_column is not None:
        raise ValueError("labels and tags_column are both given; expected one of them")
    dropped = chosen_columns(frame, columns.drop, "drop")
    uses = {use: chosen_columns(frame, getattr(columns, use), use) for use in ("text", "nominal")}
    if columns.tags_column is None:
        uses["labels"] = chosen_columns(frame, columns.labels, "labels")
    uses = {use: [column for column in of if column not in dropped] for use, of in uses.items()}
    for use, wanted in (("tags_column", columns.tags_column), ("group", columns.group)):
        uses[use] = [] if wanted is None else chosen_columns(frame, [wanted], use)
        if wanted is not None and uses[use] != [wanted]:
            raise ValueError(f"{use} is {wanted!r}; expected the name of one column")
    if uses["tags_column"] and uses["tags_column"][0] in dropped:
        raise ValueError(f"drop has {uses['tags_column'][0]!r}, which is given as tags_column")
    for (use, of), (other, of_other) in combinations(uses.items(), 2):
        both = [column for column in of if column in of_other]
        if both:
            raise ValueError(
                f"{use} has the column {both[0]!r}, which is given as {other} too; expected "
                "one of them"
            )
    return {**uses, "drop": dropped}


def chosen_columns(
    frame: Any, wanted: str | int | Sequence[str] | None, argument: str
) -> list[str]:
    """Return the columns that names, patterns and places stand for."""
    columns = list(frame.columns)
    if wanted is None:
        if argument != "labels":
            return []
        raise ValueError(
            "labels: not given, expected names of columns (NAME,NAME,...), a pattern such as "
            "'tag:*', or last:N; or tags_column, the column that lists the tags of each row. The "
            f"columns are {listed(columns)}{_guess(frame)}"
        )
    if isinstance(wanted, int):
        wanted = f"first:{wanted}" if wanted >= 0 else f"last:{-wanted}"
    if isinstance(wanted, str):
        items = [wanted] if wanted in columns else [part.strip() for part in wanted.split(",")]
    else:
        items = [str(item) for item in wanted]
    found: set[str] = set()
    for item in items:
        found |= set(_columns_of(item, columns, argument))
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
    if not matching:
        raise ValueError(
            f"{argument}: there is no column {item!r}{did_you_mean(item, columns)}; the columns "
            f"are {listed(columns)}"
        )
    return matching


def indicator_of_columns(
    frame: Any, names: Sequence[str], blank: str | None = None
) -> tuple[NDArray[Any], str]:
    """Return the label indicator (n, q) of columns of 0 and 1, or words for them.

    The second value is what a blank is: 0 or, as NaN, unknown. By None it is unknown where
    some label is 0.
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
        cells = written(frame[name])
        blanks[:, k] = [cell is None for cell in cells]
        value = {cell: _label_value(cell) for cell in set(cells)}
        wrong = [row for row, cell in enumerate(cells) if value[cell] is None]
        if wrong:
            raise ValueError(
                f"labels: the column {name!r} has {cells[wrong[0]]!r} in row {wrong[0]}; expected "
                "0 or 1, or words for them (a column that lists tags is the tags_column)"
            )
        Y[:, k] = [value[cell] for cell in cells]
    if blank is None:
        blank = "unknown"
        if blanks.any() and not (Y == 0).any() and (Y == 1).any():
            blank = "0"
            warn(
                f"labels: no label is 0 in any row, so that a blank, of which there are "
                f"{np.count_nonzero(blanks)}, is read as 0; blank='unknown' (--blank unknown) "
                "leaves such labels unknown"
            )
    if blank == "0":
        Y[blanks] = 0
    empty = np.flatnonzero(np.isnan(Y).all(axis=0))
    if empty.size:
        raise ValueError(
            f"labels: the column {names[empty[0]]!r} is empty; expected 0 or 1 in some row, and "
            "nothing where it is not known whether the label applies"
        )
    return (Y if np.isnan(Y).any() else Y.astype(np.uint8)), blank


def _label_value(cell: str | None) -> float | None:
    """Return 0, 1, NaN for an unknown label, or None for what is no label."""
    if cell is None or stands_for_nothing(cell):
        return float("nan")
    word = cell.strip().lower()
    if word in _TRUE | _FALSE:
        return float(word in _TRUE)
    found = number_of(word) if is_number(word) else None
    return found if found in (0.0, 1.0) else None


def feature_kinds(
    features: Any, text: Sequence[str], nominal: Sequence[str], columns: Any, *, as_text: bool
) -> tuple[dict[str, str], str]:
    """Find out what each column holds, and the decimal mark of its numbers.

    That is "number", "nominal" or, for columns of `text`, "text" or "characters". `as_text` says
    that the table comes from a file without types.
    """
    check_choice("analyzer", columns.analyzer, ("word", "char"))
    kinds: dict[str, str] = {}
    undecided: dict[str, int] = {}
    others_than_numbers: dict[str, str] = {}
    open_ = [column for column in features.columns if column not in {*text, *nominal}]
    plain = {
        column
        for column in open_
        if as_text and plain_numbers(features[column], columns.decimal or ".") is not None
    }
    others = [column for column in open_ if column not in plain]
    points = any(
        values.str.contains(".", regex=False).any() for _, values in features[list(plain)].items()
    )
    mark = _decimal_mark(features[others], columns.decimal, points, as_text=as_text)
    for column in features.columns:
        values = features[column]
        if column in text:
            _check_words(values, columns.analyzer)
            kinds[column] = "text" if columns.analyzer == "word" else "characters"
        elif column in nominal:
            kinds[column] = "nominal"
        elif column in plain:
            kinds[column] = "number"
        elif (found := holds_no_numbers(values)) is not None:
            others_than_numbers[column] = found
            kinds[column] = "nominal"
        elif holds_numbers(values, mark, as_text=as_text):
            kinds[column] = "number"
        else:
            cells = written(values)
            _warn_of_numbers_as_names(column, cells, mark, as_text=as_text)
            n_names = len({cell for cell in cells if cell is not None})
            if has_many_names(n_names, len(values)):
                undecided[column] = n_names
            kinds[column] = "nominal"
    # All at once: none of them waits for the next try.
    if undecided:
        asked = _ask(features[list(undecided)], undecided, text, list(others_than_numbers))
        told = [f"the column {name!r} holds {what}; " for name, what in others_than_numbers.items()]
        raise UndecidedColumns("".join([*told, asked]))
    if others_than_numbers:
        raise UndecidedColumns(_no_numbers(others_than_numbers))
    return kinds, mark


def _no_numbers(found: Mapping[str, str]) -> str:
    """Say which columns hold neither numbers nor names, and what to do with them."""
    names = list(found)
    held = ", ".join(f"the column {name!r} holds {what}" for name, what in found.items())
    it = "it" if len(names) == 1 else "them"
    return (
        f"{held}; expected numbers, names or text: convert {it}, drop {it} "
        f"({option('--drop', names)}), or take each cell for a name ({option('--nominal', names)})"
    )


def _decimal_mark(features: Any, given: str | None, points: bool, *, as_text: bool) -> str:
    """Return the decimal mark of a file, a comma where that alone makes numbers of columns.

    `points` says that further columns are numbers with points.
    """
    if given is not None:
        return check_choice("decimal", given, (".", ","))
    found = {}
    for column in features.columns if as_text else ():
        cells = written(features[column])
        found[column] = has_decimal_commas(cells)
        points |= any(cell and "." in cell for cell in cells) and all(map(is_number, cells))
    commas = [column for column, has in found.items() if has]
    doubtful = [column for column, has in found.items() if has is None]
    if commas and not points:
        example = next(cell for cell in written(features[commas[0]]) if cell and "," in cell)
        warn(
            f"a comma is taken for the decimal mark, as in {example!r} of column {commas[0]!r}; "
            "decimal='.' (--decimal .) takes such cells for names"
        )
        return ","
    if doubtful:
        example = next(cell for cell in written(features[doubtful[0]]) if cell and "," in cell)
        raise ValueError(
            f"decimal: the column {doubtful[0]!r} has numbers such as {example!r}, whose comma may "
            "be the decimal mark or stand between thousands; expected decimal=',' (--decimal ,), "
            "numbers without commas, or decimal='.' (--decimal .) to take them for names"
        )
    return "."


def mark_of_numbers(columns: Mapping[str, Any], mark: str) -> str:
    """Return the decimal mark of numbers: the one given, unless only the other one fits."""
    cells = [cell for values in columns.values() for cell in written(values)]
    if all(is_number(cell, mark) for cell in cells):
        return mark
    other = "," if mark == "." else "."
    doubtful = other == "," and has_decimal_commas(cells) is None
    return other if not doubtful and all(is_number(cell, other) for cell in cells) else mark


def _check_words(values: Any, analyzer: str) -> None:
    """Refuse text without words, and tell of text whose words do not recur."""
    column, texts = values.name, [text.lower() for text in as_text_column(values)]
    if analyzer == "char":
        if not any(text.strip() for text in texts):
            raise ValueError(f"the column {column!r} is empty; expected text")
        return
    rows = [set(re.findall(_WORD, text)) for text in texts[:_MANY_ROWS]]
    if not any(re.search(_WORD, text) for text in texts):
        raise ValueError(
            f"the column {column!r} has no word of two letters or more; expected text, or "
            f"drop it ({option('--drop', [column])}), or take its characters (--analyzer char)"
        )
    counts = Counter(word for row in rows for word in row)
    recurring = sum(count for count in counts.values() if count > 1)
    if len(rows) >= _ROWS_TO_JUDGE and 10 * recurring < counts.total():
        warn(
            f"hardly any word of the column {column!r} occurs in two rows, so that little is "
            "learned from it; analyzer='char' (--analyzer char) takes runs of characters, for "
            f"text without blanks, say, and {option('--drop', [column])} leaves it out"
        )


def _warn_of_numbers_as_names(
    column: str, cells: Sequence[str | None], mark: str, *, as_text: bool
) -> None:
    """Warn of a column of names most of which are numbers, or were with another decimal mark."""
    if as_text and has_zeros_in_front(cells) and all(is_number(cell, mark) for cell in cells):
        example = next(cell for cell in cells if has_zeros_in_front([cell]))
        warn(
            f"the column {column!r} has zeros in front, as in {example!r}, and is taken for names, "
            "each a feature of its own; numbers have none"
        )
        return
    words = [row for row, cell in enumerate(cells) if not is_number(cell, mark)]
    n_other = sum(not is_number(cells[row], ",") for row in words)
    if words and 2 * n_other < sum(cell is not None for cell in cells):
        warn(
            f"the column {column!r} has something else than a number in {len(words)} of "
            f"{len(cells)} rows, first {cells[words[0]]!r:.40} in row {words[0]}, and is "
            "taken for names, each a feature of its own; if numbers are meant, correct such cells "
            f"or leave them empty, or drop the column ({option('--drop', [column])})"
        )


def _ask(features: Any, n_names: Mapping[str, int], text: Sequence[str], drop: list[str]) -> str:
    """Say which columns have too many different names, and which options would settle all.

    `drop` are those that are no names anyway.
    """
    found: list[str] = []
    words = list(text)
    for column, number in n_names.items():
        cells = [cell for cell in written(features[column]) if cell is not None]
        found.append(f"{column!r} ({number}, such as {cells[0][:40]!r})")
        (words if is_wordy(cells) else drop).append(column)
    options = [option(name, of) for name, of in (("--text", words), ("--drop", drop)) if of]
    return (
        f"many different values in the {len(features)} rows of {', '.join(found)}; say which are "
        "text, and which are nothing to learn from (or, by --nominal, names), such as "
        f"{' '.join(options)}"
    )


def has_many_names(n_names: int, n_rows: int) -> bool:
    """Return whether a column has too many different values to take them for names unasked."""
    return n_names > _MANY_NAMES and 2 * n_names > n_rows


def is_wordy(cells: Sequence[str]) -> bool:
    """Return whether cells are rather text than names."""
    return bool(np.median([len(re.findall(_WORD, cell)) for cell in cells]) > _FEW_WORDS)


def typed(values: Any, kind: str, mark: str = ".") -> Any:
    """Return a column of numbers as float64, others as objects.

    What is missing is NaN, and empty in text.
    """
    if kind in ("text", "characters"):
        return np.array(as_text_column(values), dtype=object)
    if kind == "nominal":
        names = [np.nan if cell is None else cell.strip() for cell in written(values)]
        return np.array(names, dtype=object)
    try:
        numbers = numbers_of(values, mark)
    except ValueError as error:
        cells = written(values)
        row = next(row for row, cell in enumerate(cells) if not is_number(cell, mark))
        marked = "" if mark == "." else f", with {mark!r} for the decimal mark"
        raise ValueError(
            f"the column {values.name!r} has something else than numbers{marked}: "
            f"{cells[row]!r:.40} in row {row}"
        ) from error
    infinite = np.isinf(numbers)
    if infinite.any():
        raise ValueError(
            f"the column {values.name!r} is infinite in row {int(np.flatnonzero(infinite)[0])}; "
            "expected finite numbers, or nothing where a value is missing"
        )
    return numbers


def as_text_column(values: Any) -> list[str]:
    """Return a column of text; what is missing is empty."""
    return ["" if is_missing(value) else as_written(value) for value in values.tolist()]


def _guess(frame: Any) -> str:
    """Say which columns at the end look like labels."""
    count = len(labels_at_the_end(frame))
    return f"; the last {count} hold 0 and 1 (labels last:{count}?)" if count > 1 else ""


def labels_at_the_end(frame: Any) -> list[str]:
    """Return the columns at the end that hold 0 and 1, or words for them."""
    found: list[str] = []
    for column in reversed(frame.columns):
        cells = set(written(frame[column])) - {None}
        if not cells or any(_label_value(cell) is None for cell in cells):
            break
        found.insert(0, column)
    return found
