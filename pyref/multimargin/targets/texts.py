"""Texts that list labels, where classes or lists were expected."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from multimargin.checks.names import quoted
from multimargin.notices import warn

if TYPE_CHECKING:
    from multimargin.typing import Name

_SEPARATORS = (",", ";", "|", "\n", "\t", "::", "/", "&", "+", " ")
BRACKETS = {"[": "]", "(": ")", "{": "}"}


def warn_of_lists_in_texts(classes: "Sequence[Name]", n: int) -> None:
    """Warn of classes of `n` rows that are texts and look like lists of labels."""
    stripped = [text.strip() for text in classes if isinstance(text, str)]
    if len(stripped) < len(classes):
        return
    bracketed = [text for text in stripped if text and BRACKETS.get(text[0]) == text[-1]]
    if 2 * len(bracketed) > len(classes):
        _warn(classes, n, bracketed[0], "y.map(ast.literal_eval)")
        return
    for separator in _SEPARATORS:
        listing = [text for text in stripped if separator in text]
        if listing and _lists_labels(stripped, listing, separator, n):
            _warn(classes, n, listing[0], f"y.str.split({separator!r})")
            return


def _lists_labels(classes: Sequence[str], listing: Sequence[str], separator: str, n: int) -> bool:
    """Return whether a separator joins labels: its pieces recur in many different texts."""
    if 2 * len(listing) > len(classes) and 5 * len(classes) > n:
        return True
    pieces = {piece.strip() for text in classes for piece in text.split(separator)}
    # Class names with several words share some of these.
    return (2 if separator == " " else 1) * len(pieces) < len(classes)


def _warn(classes: Sequence[Any], n: int, example: str, split: str) -> None:
    warn(
        f"y is one text per row, {len(classes)} different ones in {n} rows, such as "
        f"{quoted(example)}, and each is read as a class; for lists of labels pass lists: "
        f"{split} of a column."
    )
