"""Warnings of tag names that likely contain more, or less, than a name."""

import re
from collections.abc import Collection, Sequence

from multimargin.checks.names import quoted
from multimargin.datasets.tag_cells import TagCells

# Patterns that names hardly contain.
_STRANGE = {
    "character references of HTML": r"&(?:[a-z]{2,8}|#[0-9]+)(?:;|$)",
    "characters of another encoding": "\ufffd|[ÂÃ][\u0080-\u00bf]|â€",
    "quotation marks after backslashes, which are read literally": r'\\"',
    "elements of HTML": r"<br ?/?>|</",
    "characters that are encoded as in addresses": r"%(?:2[0-9A-F]|3[A-F]|[C-E][0-9A-F]%)",
    "brackets that are not closed": (r"^[^[]*\]|\[[^]]*$|^[^(]*\)|\([^)]*$|^[^{]*\}|\{[^}]*$"),
    "blanks of another kind, or several, within": (
        r"\S(?:[\t\n\v\f\x1c-\x1f\x85\xa0\u2000-\u200a\u2028\u2029\u3000]|  )\s*\S"
    ),
    "numbers from 0 to 1, scores say": r"^0?\.[0-9]+$",
    "a word for nothing, which is read as a name": (
        r"(?i)^(?:#?n/?a|nan|none|null|<na>|\\n|undefined|[-?]+|\(?(?:none|no \w+(?: \w+)?)\))$"
    ),
    "a word for more names, which is read as a name": (
        r"(?i)^(?:etc\.?|\.{2,}|…|(?:\+ ?|and )[0-9]+ (?:more|others?)|all of (?:the above|these))$"
    ),
}
# Patterns that are strange if all names have them.
_STRANGE_IF_ALL = {
    "a number after each, a score say": r"\S\s*[:=|^(]\s*(\d*\.\d+|\d{1,3})\)?$|\s[\d.]+\s?%\)?$",
    "yes or no after each": r"(?i)\S\s*[:=]\s*(?:true|false|yes|no)$",
    "quotes, which are read literally": r"^['\"`‘“„«]|['\"`’”»]$",
    "digits 0 and 1 alone, as the rows of an indicator have": r"^[01](?:\W*[01])+$",
    "addresses, a part of the name": r"https?://",
    "a mark in front, a part of the name": r"^(?:[•‣◦▪·*–-]\s|[#@]|[+-](?=\w)|__label__)",
}
_IN_QUOTES, _LIST_IN_QUOTES = re.compile('"[^"]*"'), re.compile(r'"[^"]*[,;|\n][^"]*"')


def warn_of_strange_names(names: Collection[str], column: TagCells) -> None:
    """Warn of names that are likely more than names: HTML, scores or quotes."""
    for what, pattern in {**_STRANGE, **_STRANGE_IF_ALL}.items():
        has_it = re.compile(pattern).search
        found = next(filter(has_it, names), None)
        if found is not None and (what in _STRANGE or all(map(has_it, names))):
            column.tell(f"has names with {what}, such as {found!r}")


def warn_of_cells_in_quotes(texts: Sequence[str], column: TagCells) -> None:
    """Warn of cells that are one name each, as they are in quotes, with a separator in them."""
    in_quotes = [text.strip() for text in texts if '"' in text]
    found = next(filter(_LIST_IN_QUOTES.fullmatch, in_quotes), None)
    if found is not None and all(map(_IN_QUOTES.fullmatch, in_quotes)):
        column.tell(
            f"has cells in quotes as a whole, such as {quoted(found)}, each read as one name; "
            "remove the quotes if it lists several"
        )
