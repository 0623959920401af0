"""Names that a caller may have meant; without NumPy, which help on the command line lacks."""

from collections.abc import Iterable
from difflib import get_close_matches


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return a hint at the nearest known name, or an empty text."""
    by_lower = {key.lower(): key for key in known}
    close = get_close_matches(name.lower(), by_lower, n=1, cutoff=0.5)
    return f" (did you mean {by_lower[close[0]]!r}?)" if close else ""
