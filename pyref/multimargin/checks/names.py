"""Names in messages, places of names, hints at similar names, and names that are given twice.

Without NumPy, which help on the command line lacks.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from shlex import quote
from typing import Any

_SHOWN = 8
_SURROGATE = re.compile("[\ud800-\udfff]")


def first_of(texts: Sequence[str]) -> str:
    """Write the first of some texts."""
    return ", ".join(texts[:_SHOWN]) + (", ..." if len(texts) > _SHOWN else "")


def listed(names: Sequence[object]) -> str:
    """Write the first of some names for a message."""
    return first_of([repr(name) for name in names[: _SHOWN + 1]])


def quoted(value: object, length: int = 60) -> str:
    """Write a value for a message; a long one is cut, with "…" inside its quotes."""
    text = repr(value)
    return text if len(text) <= length + 2 else f"{text[:length]}…{text[-1]}"


def option(name: str, columns: Sequence[str]) -> str:
    """Write an option of the command line that lists columns, as a shell reads it."""
    # Between columns a comma separates; the pattern for any character finds one in a name.
    items = columns if len(columns) == 1 else [column.replace(",", "?") for column in columns]
    return f"{name} {quote(','.join(items))}"


def places_of(
    wanted: Sequence[object], found: Iterable[object], source: str, kind: str
) -> list[int]:
    """Return the places of some names among others; an error names missing ones.

    That is, `source` lacks them, of a kind: "features", say.
    """
    place = {name: number for number, name in enumerate(found)}
    missing = [name for name in wanted if name not in place]
    if missing:
        raise ValueError(
            f"{source} lacks {len(missing)} of the {len(wanted)} {kind}: {listed(missing)}; it has "
            f"{listed(list(place))}"
        )
    return [place[name] for name in wanted]


def column_names(data: object) -> list[Any]:
    """Return the names of the columns of a frame or an Arrow table, whose `columns` are arrays."""
    return list(getattr(data, "column_names", getattr(data, "columns", ())))


def did_you_mean(name: str, known: Iterable[object]) -> str:
    """Return a hint at the nearest known name; case tells where it can. Empty if all are far."""
    by_lower = {key.lower(): key for key in known if isinstance(key, str)}
    near = get_close_matches(name, by_lower.values(), n=1, cutoff=0.5)
    near = near or get_close_matches(name.lower(), by_lower, n=1, cutoff=0.5)
    return f" (did you mean {by_lower[near[0].lower()]!r}?)" if near else ""


def printable(name: object) -> str:
    """Return a name, also of bytes, that can be written as UTF-8."""
    text = name.decode("utf-8", "surrogateescape") if isinstance(name, bytes) else str(name)
    return _SURROGATE.sub(_escaped, text)


def _escaped(match: re.Match[str]) -> str:
    code = ord(match[0])
    # Python keeps a byte that is no UTF-8 as 0xDC00 + the byte.
    return f"\\x{code - 0xDC00:02x}" if 0xDC80 <= code <= 0xDCFF else f"\\u{code:04x}"


def first_repeated(names: Sequence[str]) -> str | None:
    """Return the first name that occurs again; None if all are different."""
    return next((name for name, count in Counter(names).items() if count > 1), None)


class NamedTwice(ValueError):
    """An object of JSON with two equal names."""


def unique_names(pairs: Sequence[tuple[str, object]]) -> dict[str, object]:
    """Return an object of JSON, of which Python's parser would keep the last of equal names."""
    found = dict(pairs)
    if len(found) < len(pairs):
        raise NamedTwice(f"{first_repeated([name for name, _ in pairs])!r} is named twice")
    return found
