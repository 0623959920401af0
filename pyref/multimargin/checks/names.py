"""Names that a caller may have meant; without NumPy, which help on the command line lacks."""

from collections.abc import Iterable
from difflib import get_close_matches


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return a hint at the nearest known name, or an empty text."""
    nearest = nearest_name(name, known)
    return "" if nearest is None else f" (did you mean {nearest!r}?)"


def nearest_name(name: str, known: Iterable[str]) -> str | None:
    """Return the nearest known name, None if all are far; case tells where it can."""
    by_lower = {key.lower(): key for key in known}
    near = get_close_matches(name, by_lower.values(), n=1, cutoff=0.5)
    near = near or get_close_matches(name.lower(), by_lower, n=1, cutoff=0.5)
    return by_lower[near[0].lower()] if near else None
