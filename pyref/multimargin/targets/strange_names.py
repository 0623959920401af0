"""Warnings of names in lists that likely contain more, or less, than a name."""

import re
from collections.abc import Callable, Sequence
from itertools import chain, groupby

import numpy as np

from multimargin.checks.names import listed, quoted
from multimargin.targets.listing import Listing

INDICATOR = {"0", "1", "0.", "1.", "0.0", "1.0", "True", "False", "true", "false"}
"""The entries of an indicator, as texts."""
BITS = r"^(?:[01](?:\W*[01])+b?|[TF]{3,}|[YN]{3,}|[+-]{3,}|[xX_.]{3,})$"
"""Entries of an indicator that are not divided."""
# Patterns that names hardly contain.
_STRANGE = {
    "HTML character references": r"&(?:[a-z]{2,8}|#[0-9]+)(?:;|$)",
    "characters of another encoding": "\ufffd|[ÂÃ][\u0080-\u00bf]|â€",
    "letters of two alphabets": r"[a-zA-Z][\u0400-\u04ff]|[\u0400-\u04ff][a-zA-Z]",
    "quotation marks after backslashes, which are read literally": r'\\"',
    "HTML elements": r"<br ?/?>|</",
    "percent-encoded characters": r"%(?:2[0-9A-F]|3[A-F]|[C-E][0-9A-F]%)",
    "brackets that are not closed": (r"^[^[]*\]|\[[^]]*$|^[^(]*\)|\([^)]*$|^[^{]*\}|\{[^}]*$"),
    "unusual or repeated blanks inside": (
        r"\S(?:[\t\n\v\f\x1c-\x1f\x85\xa0\u2000-\u200a\u2028\u2029\u3000]|  )\s*\S"
    ),
    "numbers from 0 to 1, perhaps scores": r"^0?\.[0-9]+$",
    "a word for no label, which is read as a name": (
        r"(?i)^(?!\.{2,}$|[][(){}]$)[][(){}<>'\"#?.,;|-]*(?:n/?a|n[/.][adv]|k\.a|nan|nil|none|null|undefined|\\n"
        r"|(?<=[(<[])(?:no \w+(?: \w+)?|empty|missing|blank|leer|vide))?[][(){}<>'\"?.-]*$"
    ),
    "a word for further names, which is read as a name": (
        r"(?i)^(?:etc\.?|\.{2,}|…|(?:\+ ?|and )[0-9]+ (?:more|others?)|all of (?:the above|these))$"
    ),
}
# Patterns that are strange if all names have them.
_STRANGE_IF_ALL = {
    "a number after each, perhaps a score": (
        r"\S\s*[:=|^(]\s*(\d*\.\d+|\d{1,3})\)?$|\s[\d.]+\s?%\)?$"
    ),
    "yes or no after each": r"(?i)\S\s*[:=]\s*(?:true|false|yes|no|[+-])$|\w[+-]$",
    "quotes, which are read literally": r"^['\"`‘“„«]|['\"`’”»]$",
    "only 0 and 1, or T and F, like rows of an indicator": BITS,
    "binary or hexadecimal numbers, perhaps sums of labels": r"^0[bx][0-9a-fA-F]+$",
    "web addresses, which are read as part of the name": r"https?://",
    "a mark in front, which is read as part of the name": (
        r"^(?:[•‣◦▪·*–-]\s|[#@]|[+-](?=\w)|__label__)"
    ),
}
_IN_QUOTES, _LIST_IN_QUOTES = re.compile('"[^"]*"'), re.compile(r'"[^"]*[,;|\n][^"]*"')
# Words that say no, how names with them begin, and what says that before or after a name, or doubt.
_WORDS = "no|none?|not|without|keine?|nicht|aucune?|sans|sin|ningun[oa]?|nessun[oa]?|senza"
_NO = re.compile(rf"(?i)(?:{_WORDS})\s+\w|un(?:labell?ed|tagged|known|categori[sz]ed)$|tbd$")
_DOUBT = re.compile(rf"(?i)^(?:{_WORDS})[\s_-]+|\s*(?:[?*!]+|[=:+]\s*[0-9]+|\(.*\)|\[.*\]|-)$")
# "0.9 red", "2x red", "red x2", "red/2", "red (10%)" and "red [me]" without what is beside.
_BESIDE = re.compile(r"^\d+(?:[.,]\d+[\W_]+|x\s+)|\s*[(\[].+$|[\W_]+x?\d+(?:[.,]\d+)?\W*$")
# So few rows are less than most, and so rare is what is not by chance.
_FEW, _CHANCE = 0.5, 1e-3


def warn_of_strange_names(found: Listing, tell: Callable[[str], None]) -> None:
    """Warn of names that are likely more than names, as by HTML, scores or quotes, or say no."""
    names, told = found.names, False
    for what, pattern in {**_STRANGE, **_STRANGE_IF_ALL}.items():
        has_it = re.compile(pattern).search
        one = next(filter(has_it, names), None)
        if one is not None and (what in _STRANGE or all(map(has_it, names))):
            tell(f"has names with {what}, such as {one!r}")
            told = True
    if not told and _are_beside(names):
        tell(f"has names beside numbers or brackets, perhaps scores, such as {names[0]!r}")
    bare = {name: _DOUBT.sub("", name) for name in names}
    twins = [name for name, of in bare.items() if of != name and of in bare]
    if len(twins) > 1 and 3 * len(twins) >= len(names):
        tell(
            "has names that are other names with a mark, perhaps for no or for doubt, "
            f"{listed(twins)}"
        )
    _warn_of_no_label(found, tell)


def is_indicator(rows: Sequence[Sequence[str]]) -> bool:
    """Return whether lists are the rows of an indicator, or of numbers of labels.

    They are of one length; and their names are 0 and 1, or two of which one recurs in a list, or
    numbers of which one recurs after another: at the end it may say that there are no more.
    """
    lengths, names = {*map(len, rows)} - {0}, {*chain.from_iterable(rows)}
    are_two = len(names) == 2
    may_be = are_two or all(re.fullmatch("[-+.0-9]+", name) for name in names)
    runs = rows if are_two else ([one for one, _ in groupby(row)] for row in rows)
    recurs = may_be and any(len({*row}) < len(row) for row in runs)
    return len(lengths) == 1 and lengths != {1} and (recurs or INDICATOR.issuperset(names))


def _are_beside(names: Sequence[str]) -> bool:
    """Return whether names are fewer without what all have beside words."""
    stems = {_BESIDE.sub("", name, count=1) for name in names}
    are_words = all(re.fullmatch(r"[^\W\d_]\D*", stem) for stem in stems)
    return are_words and 1 < len(stems) < len(names) and stems.isdisjoint(names)


def _warn_of_no_label(found: Listing, tell: Callable[[str], None]) -> None:
    """Warn of a name beside no other, where others are: one that says no, or is alone in that."""
    rows, numbers = found.entries()
    is_alone = np.bincount(rows)[rows] == 1
    if is_alone.all():
        return
    q = len(found.names)
    n_rows, n_alone = (np.bincount(of, minlength=q) for of in (numbers, numbers[is_alone]))
    apart = np.flatnonzero((n_alone == n_rows) & (n_rows > 0)).tolist()
    # Of the others, few are alone; all rows of a single one would hardly be so by chance.
    n_others, n_others_alone = (of.sum() - of[apart].sum() for of in (n_rows, n_alone))
    share = (n_others_alone + 1) / (n_others + 2)
    is_one = len(apart) == 1 and share < _FEW
    is_one = is_one and share ** n_rows[apart].sum() < _CHANCE / q
    names = [found.names[k] for k in apart if is_one or _NO.match(found.names[k])]
    if names:
        tell(
            f"has {listed(names)}, never together with another name; if that means that no label "
            "applies, leave such cells empty"
        )


def warn_of_cells_in_quotes(texts: Sequence[str], tell: Callable[[str], None]) -> None:
    """Warn of cells that are one name each, as they are in quotes, with a separator in them."""
    in_quotes = [text.strip() for text in texts if '"' in text]
    found = next(filter(_LIST_IN_QUOTES.fullmatch, in_quotes), None)
    if found is not None and all(map(_IN_QUOTES.fullmatch, in_quotes)):
        tell(
            f"has cells that are quoted whole, such as {quoted(found)}, each read as one name; "
            "remove the quotes if it lists several"
        )
