"""CSV files that a spreadsheet may open."""

import re

_FORMULA = re.compile(r"'*[=+\-@]")
_NUMBER = re.compile(r"[+-](?:[0-9]+[.,]?[0-9]*|[.,][0-9]+)(?:[eE][+-]?[0-9]+)?%?")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")


def as_cell(value: object) -> object:
    """Return a value of a CSV file that a spreadsheet shows and does not compute.

    Text that begins with ``=``, ``+``, ``-`` or ``@``, which spreadsheets treat as a formula, gets
    an apostrophe in front unless it is a number, and so does text with apostrophes before these:
    one is taken away where tags are read. Control characters become ``\\t``, ``\\x1b`` and the
    like; other values are returned as they are.
    """
    if not isinstance(value, str):
        return value
    text = _CONTROL.sub(lambda match: repr(match[0])[1:-1], value)
    return f"'{text}" if is_formula(text) else text


def is_formula(text: str) -> bool:
    """Return whether a spreadsheet would compute a text."""
    return _FORMULA.match(text) is not None and _NUMBER.fullmatch(text) is None
