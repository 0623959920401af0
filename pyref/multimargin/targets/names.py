"""Names of labels, the same for spellings that look the same in any source."""

import json
import re
from collections.abc import Iterable
from decimal import Decimal
from typing import TYPE_CHECKING, Any
from unicodedata import normalize

import numpy as np

from multimargin.notices import warn

if TYPE_CHECKING:
    from multimargin.typing import Name

# Zero width spaces, soft hyphens, byte order marks and direction marks. Joiners, which shape
# letters and emojis, are removed only at the ends.
_INVISIBLE = re.compile("[\u00ad\u200b\u200e\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff]")
_BLANK_ENDS = re.compile("^[\\s\u200c\u200d]+|[\\s\u200c\u200d]+$")
# "1. red", "#red", and "and red" of "blue, and red"; but neither "-1" nor "<5".
_IN_FRONT = re.compile(
    r"^(?:\[.?\]\s*|\(?[0-9]{1,3}[.):]\s+|(?:and|or|und|oder|et|ou|y|e)\s+"
    r"|(?![-<>=\u2264\u2265]+\s*[0-9])[^\w+]+)(?=\w)"
)
_SHOWN = 4


def as_written(value: object) -> str:
    """Return a cell as text, a whole number without a point whatever its type."""
    if isinstance(value, float | np.floating | Decimal):
        if isinstance(value, Decimal) and value != value.to_integral_value():
            return str(value)
        number = float(value)
        return str(int(value)) if number.is_integer() and abs(number) < 2**53 else repr(number)
    if isinstance(value, list | dict):
        return json.dumps(value, ensure_ascii=False, default=_plain)
    if isinstance(value, bytes):
        return value.decode("utf-8", "backslashreplace")
    return str(value)


def _plain(value: Any) -> Any:
    """Return the JSON value for a type that JSON does not have."""
    return float(value) if isinstance(value, Decimal | np.number) else as_written(value)


def label_name(value: object) -> str:
    """Return the name of a label: composed, without invisible characters and blanks at its ends."""
    text = value if isinstance(value, str) else as_written(value)
    if text.isascii():
        return text.strip()
    return _BLANK_ENDS.sub("", _INVISIBLE.sub("", normalize("NFC", text)))


def name_in_list(one: Any) -> "Name":
    """Return the name of a label in a list of Python: numbers stay numbers, whole ones integers."""
    if isinstance(one, str):
        return label_name(one)
    one = one.item() if isinstance(one, np.generic) else one
    return int(one) if isinstance(one, float) and one.is_integer() else one


def tell_of_y(told: str) -> None:
    """Warn of what `y` has."""
    warn(f"y {told}")


def warn_of_lookalikes(names: Iterable[str], what: str) -> None:
    """Warn of names that differ only by case, blanks, marks, zeros or a prefix."""
    alike: dict[str, list[str]] = {}
    for name in names:
        # Many leave out the accents of letters.
        plain = _IN_FRONT.sub("", normalize("NFKD", name).casefold())
        plain = re.sub(r"(?<=\w)[^\w+#-]+$|[\s_]+|[\u0300-\u036f]", "", plain)
        plain = re.sub(r"(?<=.)[-\u2010-\u2015'\u2019](?!$)", "", plain)
        # As in a column of whole numbers with missing values in one of several files.
        number = re.fullmatch(r"0*([0-9]+?)(?:\.0*)?", plain)
        alike.setdefault(number[1] if number else plain, []).append(name)
    found = [" and ".join(map(repr, some)) for some in alike.values() if len(some) > 1]
    if found:
        more = f", and {len(found) - _SHOWN} others" if len(found) > _SHOWN else ""
        warn(
            f"{what} names that differ only by capital letters, blanks, marks, zeros or a prefix, "
            f"each read as a name of its own: {'; '.join(found[:_SHOWN])}{more}"
        )
