"""Names in messages, places of names, and hints at similar names.

Without NumPy, which help on the command line lacks.
"""

from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from shlex import quote

_SHOWN = 8


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


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return a hint at the nearest known name; case tells where it can. Empty if all are far."""
    by_lower = {key.lower(): key for key in known}
    near = get_close_matches(name, by_lower.values(), n=1, cutoff=0.5)
    near = near or get_close_matches(name.lower(), by_lower, n=1, cutoff=0.5)
    return f" (did you mean {by_lower[near[0].lower()]!r}?)" if near else ""
