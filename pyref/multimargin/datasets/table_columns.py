"""Columns of a table: which of them are labels, and what the others hold."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from multimargin.checks.names import did_you_mean, listed
from multimargin.notices import warn

_TRUE, _FALSE = {"1", "1.0", "true", "yes"}, {"0", "0.0", "false", "no"}
# A column of names with more different ones than this is more likely text, or one name a row.
_MANY_NAMES = 50
# Names have no more words than this, text has more.
_FEW_WORDS = 3
# What may stand between two tags.
_SEPARATORS = (";", "|", "\t", ",", " ")
# What `TfidfVectorizer` takes for one.
_WORD = r"\b\w\w+\b"


def uses_of_columns(frame: Any, columns: Any) -> dict[str, list[str]]:
    """Return which columns of a table are what, by the fields of its `TableColumns`.

    Labels and texts that are dropped are left out. No other column can be two things.
    """
    if columns.labels is not None and columns.tags_column is not None:
        raise ValueError("labels and tags_column are both given; expected one of them")
    dropped = chosen_columns(frame, columns.drop, "drop")
    uses = {"text": chosen_columns(frame, columns.text, "text")}
    if columns.tags_column is None:
        uses["labels"] = chosen_columns(frame, columns.labels, "labels")
    uses = {use: [column for column in of if column not in dropped] for use, of in uses.items()}
    for use, wanted in (("tags_column", columns.tags_column), ("group", columns.group)):
        uses[use] = [] if wanted is None else chosen_columns(frame, [wanted], use)
        if wanted is not None and uses[use] != [wanted]:
            raise ValueError(f"{use}: found {wanted!r}, expected the name of one column")
    if uses["tags_column"] and uses["tags_column"][0] in dropped:
        raise ValueError(f"drop: found {uses['tags_column'][0]!r}, which is given as tags_column")
    for (use, of), (other, of_other) in combinations(uses.items(), 2):
        both = [column for column in of if column in of_other]
        if both:
            raise ValueError(
                f"{use}: found the column {both[0]!r}, which is given as {other} too; expected "
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
            raise ValueError(f"{argument}: found {item!r}, but there are {len(columns)} columns")
        return columns[: int(count)] if place == "first" else columns[-int(count) :]
    matching = [column for column in columns if fnmatchcase(column, item)]
    if not matching:
        raise ValueError(
            f"{argument}: there is no column {item!r}{did_you_mean(item, columns)}; the columns "
            f"are {listed(columns)}"
        )
    return matching


def indicator_of_columns(frame: Any, names: Sequence[str]) -> NDArray[Any]:
    """Return the label indicator (n, q) of columns of 0 and 1, truth values or words for them.

    An empty cell is an unknown label, NaN.
    """
    if len(names) < 2:
        raise ValueError(
            f"labels: found {f'one column, {names[0]!r}' if names else 'no column'}; expected at "
            "least two, or tags_column for a column that lists the tags of each row"
        )
    Y = np.zeros((len(frame), len(names)), dtype=np.int64)
    unknown = np.zeros(Y.shape, dtype=bool)
    for k, name in enumerate(names):
        values = frame[name]
        absent, words = values.isna().to_numpy(), values.astype(str).str.strip().str.lower()
        wrong = ~(absent | words.isin(_TRUE | _FALSE).to_numpy())
        if absent.all():
            raise ValueError(
                f"labels: the column {name!r} is empty; expected 0 or 1 in some row, and nothing "
                "where it is not known whether the label applies"
            )
        if wrong.any():
            first = int(np.flatnonzero(wrong)[0])
            value = values.iloc[first]
            found = repr(value) if isinstance(value, str) else str(value)
            raise ValueError(
                f"labels: the column {name!r} has {found} in row {first}; expected "
                "0 or 1 (a column that lists tags is the tags_column)"
            )
        Y[:, k] = words.isin(_TRUE)
        unknown[:, k] = absent
    return np.where(unknown, np.nan, Y) if unknown.any() else Y


def indicator_of_tags(
    column: Any, separator: str | None, known: Collection[str] | None = None
) -> tuple[list[str], NDArray[np.int64], str]:
    """Return a column's sorted tags, the label indicator (n, q), and what separates the tags.

    The column has texts of tags with the separator between them, or lists of tags; a missing value
    has none. `known` are the only tags to take, in their order.
    """
    separator = _separator_of(column, separator)
    sets = [_tags(cell, separator) for cell in column]
    names = sorted(set().union(*sets)) if known is None else list(known)
    if len(names) < 2:
        raise ValueError(
            f"tags_column: the column {column.name!r} has {len(names)} different tag(s) with the "
            f"separator {separator!r}; expected at least two"
        )
    place = {name: k for k, name in enumerate(names)}
    Y = np.zeros((len(sets), len(names)), dtype=np.int64)
    for row, tags in enumerate(sets):
        Y[row, [place[tag] for tag in tags if tag in place]] = 1
    return names, Y, separator


def _separator_of(column: Any, given: str | None) -> str:
    """Return what separates tags: what is given, else a comma, or what most cells have instead.

    Where no cell has what is given, a warning tells what most have.
    """
    if given == "":
        raise ValueError("separator: found an empty text, expected what stands between two tags")
    wanted = "," if given is None else given
    cells = [cell.strip() for cell in column if isinstance(cell, str) and cell.strip()]
    if not cells or any(wanted in cell for cell in cells):
        return wanted
    for other in _SEPARATORS:
        if 2 * sum(other in cell for cell in cells) > len(cells):
            break
    else:
        return wanted
    head = f"tags_column: no cell of {column.name!r} has the separator {wanted!r}"
    tags = {tag for cell in cells for tag in _tags(cell, other)}
    # A name of several words is no list of tags: these come in ever new combinations.
    if given is None and (other != " " or 2 * len(tags) < len(set(cells))):
        warn(f"{head}; {other!r} is taken to be it, between {len(tags)} different tags")
        return other
    warn(f"{head}, so each is one tag, such as {cells[0][:60]!r}; was {other!r} meant?")
    return wanted


def _tags(cell: Any, separator: str) -> set[str]:
    if isinstance(cell, list | tuple | set | np.ndarray):
        items: Iterable[Any] = cell
    elif cell is None or cell != cell:
        items = ()
    else:
        items = str(cell).split(separator)
    return {tag for tag in (str(item).strip() for item in items) if tag}


def feature_kinds(features: Any, text: Sequence[str]) -> dict[str, str]:
    """Find out what each column holds: "number", "nominal" or, for those of `text`, "text"."""
    kinds, undecided = {}, {}
    for column in features.columns:
        values = features[column]
        kind = values.dtype.kind
        if column in text:
            if not as_text(values).str.contains(_WORD).any():
                raise ValueError(
                    f"the column {column!r} has no word of two letters or more; expected text, or "
                    f"drop it (--drop {column})"
                )
            kinds[column] = "text"
        elif kind in "buif":
            kinds[column] = "number"
        elif kind in "mM":
            raise ValueError(
                f"the column {column!r} holds dates; expected numbers, names or text: convert it, "
                f"or drop it (--drop {column})"
            )
        else:
            _warn_of_words_among_numbers(values)
            n_names = values.dropna().astype(str).nunique()
            if n_names > _MANY_NAMES and 2 * n_names > len(values):
                undecided[column] = n_names
            kinds[column] = "nominal"
    if undecided:
        raise ValueError(_ask(features[list(undecided)], undecided, text))
    return kinds


def _warn_of_words_among_numbers(values: Any) -> None:
    """Warn of a column of names most of which are numbers, or were with a point for a comma."""
    words = _no_numbers(values)
    with_points = values.iloc[words].astype(str).str.replace(",", ".", n=1)
    if words.size and 2 * _no_numbers(with_points).size < values.count():
        warn(
            f"the column {values.name!r} has something else than a number in {words.size} of "
            f"{len(values)} rows, first {values.iloc[words[0]]!r:.40} in row {words[0]}, and is "
            "taken for names, each a feature of its own; if numbers are meant, correct such cells "
            f"or leave them empty, or drop the column (--drop {values.name})"
        )


def _no_numbers(values: Any) -> NDArray[np.intp]:
    """Return the rows in which a column has something else than a number or nothing."""
    import pandas

    numbers = pandas.to_numeric(values, errors="coerce")
    return np.flatnonzero(numbers.isna() & values.notna())


def _ask(features: Any, n_names: Mapping[str, int], text: Sequence[str]) -> str:
    """Say which columns have too many different names, and which options would settle them."""
    found: list[str] = []
    drop: list[str] = []
    words = list(text)
    for column, number in n_names.items():
        values = features[column].dropna().astype(str)
        found.append(f"{column!r} ({number}, such as {values.iloc[0][:40]!r})")
        (words if values.str.count(_WORD).median() > _FEW_WORDS else drop).append(column)
    options = [f"--{name} {','.join(of)}" for name, of in (("text", words), ("drop", drop)) if of]
    return (
        f"many different values in the {len(features)} rows of {', '.join(found)}; say which are "
        f"text, and which are nothing to learn from, such as {' '.join(options)}"
    )


def typed(values: Any, kind: str) -> Any:
    """Return a column of numbers as float64, one of names as objects; missing values are NaN."""
    if kind == "nominal":
        return values.astype(object).where(values.notna(), np.nan).map(str, na_action="ignore")
    try:
        numbers = values.to_numpy(dtype=np.float64, na_value=np.nan)
    except (TypeError, ValueError) as error:
        wrong = _no_numbers(values)
        found = f"{values.iloc[wrong[0]]!r:.40} in row {wrong[0]}" if wrong.size else error
        raise ValueError(
            f"the column {values.name!r} has something else than numbers: {found}"
        ) from error
    infinite = np.isinf(numbers)
    if infinite.any():
        raise ValueError(
            f"the column {values.name!r} is infinite in row {int(np.flatnonzero(infinite)[0])}; "
            "expected finite numbers, or nothing where a value is missing"
        )
    return numbers


def as_text(values: Any) -> Any:
    """Return a column of text; what is missing is empty."""
    return values.astype(object).where(values.notna(), "").map(str).astype(object)


def _guess(frame: Any) -> str:
    """Say which columns at the end look like labels."""
    count = 0
    for column in reversed(frame.columns):
        values = frame[column].dropna()
        if not len(values) or not set(values.astype(str).str.lower()) <= _TRUE | _FALSE:
            break
        count += 1
    return f"; the last {count} hold 0 and 1 (labels last:{count}?)" if count > 1 else ""
