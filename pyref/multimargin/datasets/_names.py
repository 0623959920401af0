"""Names of features and labels."""

import re
from collections.abc import Sequence
from typing import Any, overload

_SURROGATE = re.compile("[\ud800-\udfff]")


class NumberedNames(Sequence[str]):
    """The names prefix + first, prefix + (first + 1), ..., made when they are asked for."""

    def __init__(self, prefix: str, first: int, count: int) -> None:
        self._prefix = prefix
        self._numbers = range(first, first + count)

    def __len__(self) -> int:
        return len(self._numbers)

    @overload
    def __getitem__(self, place: int) -> str: ...
    @overload
    def __getitem__(self, place: slice) -> tuple[str, ...]: ...
    def __getitem__(self, place: int | slice) -> str | tuple[str, ...]:
        if isinstance(place, slice):
            return tuple(f"{self._prefix}{number}" for number in self._numbers[place])
        return f"{self._prefix}{self._numbers[place]}"

    def __eq__(self, other: object) -> bool:
        if isinstance(other, NumberedNames):
            return (len(self) == 0 == len(other)) or (
                (self._prefix, self._numbers) == (other._prefix, other._numbers)
            )
        if isinstance(other, tuple):
            return len(self) == len(other) and tuple(self) == other
        return NotImplemented

    def __hash__(self) -> int:
        return hash(tuple(self))

    def __repr__(self) -> str:
        if len(self) > 4:
            return f"({self[0]!r}, {self[1]!r}, ..., {self[-1]!r})"
        return repr(tuple(self))


def printable(name: Any) -> str:
    """Return a name that can be written as UTF-8."""
    return _SURROGATE.sub(_escaped, str(name))


def _escaped(match: re.Match[str]) -> str:
    code = ord(match[0])
    # Python keeps a byte that is no UTF-8 as 0xDC00 + the byte.
    return f"\\x{code - 0xDC00:02x}" if 0xDC80 <= code <= 0xDCFF else f"\\u{code:04x}"


def first_repeated(names: Sequence[str]) -> str | None:
    """Return the first name that occurred before; None if all are different."""
    if isinstance(names, NumberedNames):
        return None
    seen = set()
    for name in names:
        if name in seen:
            return name
        seen.add(name)
    return None
