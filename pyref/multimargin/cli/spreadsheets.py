"""CSV files that a spreadsheet may open."""

import re
from typing import Any

_FORMULA = re.compile(r"'*[=+\-@]")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")


def as_cell(value: Any) -> Any:
    """Return a value of a CSV file that a spreadsheet shows and does not compute.

    Text that begins with ``=``, ``+``, ``-`` or ``@``, which spreadsheets take for a formula, gets
    an apostrophe in front, and so does text with apostrophes before these: one is taken away where
    tables are read. Control characters become ``\\t``, ``\\x1b`` and the like; other
    values are returned as they are.
    """
    if not isinstance(value, str):
        return value
    text = _CONTROL.sub(lambda match: repr(match[0])[1:-1], value)
    return f"'{text}" if _FORMULA.match(text) else text
