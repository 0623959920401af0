"""Names of features and labels."""

import re
from collections import Counter
from collections.abc import Sequence

_SURROGATE = re.compile("[\ud800-\udfff]")


def printable(name: object) -> str:
    """Return a name that can be written as UTF-8."""
    return _SURROGATE.sub(_escaped, str(name))


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
