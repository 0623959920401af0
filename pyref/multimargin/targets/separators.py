"""Separators of tags in cells, found by recurring pieces, for splitting and joining."""

import re
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from unicodedata import category

from multimargin.checks.names import listed, quoted
from multimargin.notices import warn
from multimargin.targets.names import label_name, tell_of_y
from multimargin.targets.strange_names import BITS

# Possible separators of tags, and whether they hardly have another use.
SEPARATORS = {
    ",": True, ";": True, "|": True, "\t": True, "\n": True, "\N{IDEOGRAPHIC COMMA}": True,
    "\N{FULLWIDTH COMMA}": True, "\N{FULLWIDTH SEMICOLON}": True, ";#": True, "\\n": True,
    "\N{HALFWIDTH IDEOGRAPHIC COMMA}": True, "\N{ARABIC COMMA}": True, "\N{ARABIC SEMICOLON}": True,
    "::": False, "//": False, " / ": False, " & ": False, " + ": False, " - ": False, " > ": False,
    "><": True, "/": False, "&": False, "+": False, " and ": False, " ": False,
}  # fmt: skip
# Punctuation of names; any other is a separator where it stands in most cells.
_OF_NAMES = frozenset("-_.'\"’()[]{}<>!?:%")
# Kinds of characters that are not a name by themselves, unlike emojis.
_OF_MARKS = {"Pc", "Pd", "Po", "Sm", "Sk"}
# The least share of the pieces of cells with a separator that occur in other cells, too.
_RECURRING, _OFTEN_RECURRING = 0.5, 0.75
QUOTE = '"'
# All kinds of punctuation and signs but quotes.
_OF_SEPARATORS = {"Pc", "Pd", "Ps", "Pe", "Po", "Sc", "Sm", "Sk", "So"}
# Distinct cells from which a separator is found; of a few, one that has it says so.
_MANY_CELLS, _A_FEW = 2000, 5
_BETWEEN = re.compile(r"(?<=[^\W_])[\W_]+(?=[^\W_])")
# A letter, or an emoji, which a selector may follow.
_SIGN = re.compile(r".\ufe0f?")
_WORD_BETWEEN = re.compile(r"(?<=\s)[^\W\d_]{1,3}(?=\s)")
_TAGGED = re.compile(r"\s*(?:<[^<>]+>)+\s*")
# These stand in names of several words, too.
_OF_WORDS = (" ", "-", "_", ":", " > ")
BRACKETS = {"[": "]", "(": ")", "{": "}"}


def joined(tags: Sequence[str], separator: str) -> str:
    """Write tags so that they can be read back with their separator.

    Those that have it in them, or begin with a quote, are put in quotes.
    """
    if separator == "><":
        return "".join(f"<{tag}>" for tag in tags)
    written = [
        f'"{tag.replace(QUOTE, 2 * QUOTE)}"' if separator in tag or tag.startswith(QUOTE) else tag
        for tag in tags
    ]
    return (", " if separator == "," else separator).join(written)


def pieces_of(text: str, separator: str) -> list[str]:
    return [name for piece in split(text, separator) if (name := label_name(piece))]


def split(text: str, separator: str, *, unquote: bool = False) -> list[str]:
    """Split a text at its separators, but for those within quotes around a whole piece.

    Quotes around other pieces are left out if `unquote` says so.
    """
    if separator == "><" and _TAGGED.fullmatch(text):
        text = text.strip()[1:-1]
    pieces = text.split(separator)
    if QUOTE not in text:
        return pieces
    whole: list[str] = []
    parts: list[str] = []
    for piece in pieces:
        parts.append(piece)
        joint = separator.join(parts).strip()
        is_quoted = joint.startswith(QUOTE)
        if is_quoted and (joint.count(QUOTE) % 2 == 1 or not joint.endswith(QUOTE)):
            continue
        # A name in quotes alone is as it is written.
        needs_them = is_quoted and (unquote or separator in joint or 2 * QUOTE in joint[1:-1])
        whole.append(joint[1:-1].replace(2 * QUOTE, QUOTE) if needs_them else piece)
        parts = []
    # Marks of inches, say, are no quotes.
    return pieces if parts else whole


@dataclass(frozen=True)
class _Evidence:
    """Evidence for a separator."""

    share: float  # Of the pieces of cells that have it, those that occur in another cell
    n_tags: int  # Different tags that it leaves
    cells: int  # Different cells that have it


def _evidence(cells: Collection[str], separator: str) -> _Evidence:
    """Weigh a separator: tags recur in ever new combinations, parts of a name do not."""
    having = [cell for cell in cells if separator in cell.strip(separator)]
    if not having:
        return _Evidence(0.0, len(cells), 0)
    counts = Counter(piece for cell in cells for piece in {*pieces_of(cell, separator)})
    pieces = [piece for cell in having for piece in {*pieces_of(cell, separator)}]
    # "C++" and "a//b" have nothing between two of them, "a ~ b" has no name between blanks.
    gaps = sum(
        not piece.strip() or _is_mark(piece)
        for cell in having
        for piece in cell.strip(separator).split(separator)
    )
    recurring = sum(counts[piece] > 1 and not _is_mark(piece) for piece in pieces)
    return _Evidence(recurring / max(len(pieces) + gaps, 1), len(counts), len(having))


def _is_mark(piece: str) -> bool:
    return len(piece) == 1 and category(piece) in _OF_MARKS


def _candidates(cells: Collection[str]) -> dict[str, bool]:
    """Return possible separators of tags: the usual ones, and punctuation of most cells."""
    counts = Counter(
        mark for cell in cells for mark in set(cell) if not mark.isalnum() and not mark.isspace()
    )
    often = [m for m, count in counts.items() if 2 * count > len(cells) or len(cells) <= _A_FEW]
    others = {
        mark: all(cell.startswith(mark) for cell in cells)
        for mark in sorted(often)
        if category(mark) in _OF_SEPARATORS and mark not in _OF_NAMES and mark not in SEPARATORS
    }
    words = [cell.split() for cell in cells]
    at_ends = {word for of in words for word in (*of[:1], *of[-1:])}
    inside = Counter(word for of in words for word in {*of[1:-1]} - at_ends if word.isalpha())
    # "a und b"; and "#a #b", where each has the mark in front.
    between = {f" {word} ": False for word, n in inside.items() if n > max(len(cells) / 4, 1)}
    return SEPARATORS | between | others


def list_of_tags(texts: Sequence[str], n_rows: int) -> tuple[str, str] | None:
    """Return a text that lists names which recur in other combinations, and the separator."""
    cells = {text.strip() for text in texts[:: len(texts) // _MANY_CELLS + 1]}
    for separator in dict.fromkeys([*_candidates(cells), *_OF_WORDS]):
        of, is_of_words = _evidence(cells, separator), separator in _OF_WORDS
        # Of parts of names there are as many as of names, or half as many.
        are_fewer = (1 + is_of_words) * of.n_tags < len(cells)
        are_fewer = are_fewer or (of.cells == len(cells) and not is_of_words)
        if of.cells > 1 and are_fewer and _is_likely(of, False, n_rows):
            text = next(text for text in texts if separator in text.strip(separator))
            # As of dates and times.
            if not (is_of_words and any(map(str.isdecimal, pieces_of(text, separator)))):
                return text, separator
    return None


def separator_of(texts: Sequence[str], given: str | None, name: str) -> str:
    """Return the separator of tags: the given one, a comma, or one with recurring pieces.

    A warning tells what is taken instead of a comma, and what may have been meant.
    """
    cells = sorted({text.strip() for text in texts[: 10 * _MANY_CELLS]} - {""})
    wanted = "," if given is None else given
    has_wanted = any(wanted in text for text in texts)
    if not cells or (given is not None and has_wanted):
        return wanted
    cells = cells[:: max(len(cells) // _MANY_CELLS, 1)]
    strong = _candidates(cells)
    found = {other: _evidence(cells, other) for other in strong}
    likely = [o for o, is_strong in strong.items() if _is_likely(found[o], is_strong, len(cells))]
    head = f"tags_column: no cell of {name!r} has the separator {wanted!r}"
    if has_wanted:
        head = f"tags_column: cells of {name!r} have commas, but not between tags"
        n_tags, share = found[","].n_tags, found[","].share
        if not any(found[o].n_tags < n_tags and found[o].share >= share for o in likely):
            return wanted
    # Blanks stand in names, too.
    best = max(
        likely,
        key=lambda other: (other != " ", found[other].share, -found[other].n_tags),
        default=None,
    )
    if best is not None and given is None:
        told = f"{best!r} is used as the separator, which gives {found[best].n_tags} different tags"
        warn(f"{head}; {told}")
        return best
    maybe = best or _seen_between(found, strong, cells) or _recurring_between(cells)
    if maybe is not None:
        example = next((cell for cell in cells if maybe in cell), cells[0])
        warn(f"{head}, so each is one tag, such as {quoted(example)}; is {maybe!r} the separator?")
    return wanted


def _seen_between(
    found: Mapping[str, _Evidence], strong: Mapping[str, bool], cells: Collection[str]
) -> str | None:
    """Return the best of the separators that hardly have another use, or are in most cells.

    Of a few cells one is enough, unless names have such, too: blanks, and usual ones.
    """
    few = {o for o, of in found.items() if o != " " and (o not in SEPARATORS or of.share > 0.0)}
    seen = [
        other
        for other, of in found.items()
        if 2 * of.cells > len(cells)
        or (of.cells and (strong[other] or (len(cells) <= _A_FEW and other in few)))
    ]
    return min(seen, key=lambda o: (-found[o].share, found[o].n_tags), default=None)


def _recurring_between(cells: Collection[str]) -> str | None:
    """Return the punctuation, or the blank, between pieces of cells that nearly all recur."""
    marks = Counter(mark for cell in cells for mark in set(_BETWEEN.findall(cell)))
    found = {
        mark: _evidence(cells, mark)
        for mark in sorted({mark.strip() or " " for mark, count in marks.items() if count > 1})
    }
    likely = {m: of.share for m, of in found.items() if of.n_tags < len(cells)}
    best = max(likely, key=lambda mark: likely[mark], default=None)
    return best if best is not None and likely[best] >= _OFTEN_RECURRING else None


def _is_likely(found: _Evidence, is_strong: bool, n_cells: int) -> bool:
    if is_strong:
        return found.share > _RECURRING or 2 * found.cells > n_cells
    # A name of several words is not a list of tags: these come in ever new combinations.
    return found.share >= _OFTEN_RECURRING and 2 * found.n_tags <= n_cells


def warn_of_second_separator(
    names: Collection[str], separator: str | None, tell: Callable[[str], None], *, is_used: bool
) -> bool:
    """Warn of tags that are made of other tags, with another separator; return whether it did."""
    known = set(names)
    # Of very many names each mark would take long.
    few = names if len(names) <= _MANY_CELLS else ()
    marks = {mark.strip() or " " for name in few for mark in _BETWEEN.findall(name)}
    words = {f" {word} " for name in few for word in _WORD_BETWEEN.findall(name)}
    # Numbers have points in them.
    others = dict.fromkeys(sorted((marks | words) - {"."}), False)
    for other, is_strong in {**others, **SEPARATORS, "": False}.items():
        found = {
            n: {*(pieces_of(n, other) if other else _SIGN.findall(n))} for n in names if other in n
        }
        # Names may have several words.
        if other == separator or (other in " " and not all(of <= known for of in found.values())):
            continue
        # Commas stand in names, of which one before a comma may be another name.
        enough = is_strong and is_used and other != ","
        some = sorted(
            name
            for name, of in found.items()
            if len(of) > 1 and (of & known if enough else name not in of and of <= known)
        )
        # The letters of one name may be names, unlike emojis, and the digits of numbers are.
        is_one = (len(some) == 1 and some[0].isalnum()) or {*"".join(some)} <= {*"IVX"}
        by_chance = not other and (is_one or any(map(str.isdecimal, known)))
        if some and not by_chance:
            tags = sorted(found[some[0]] & known)
            asked = f"is {other!r} a separator as well?" if other else "is a separator missing?"
            tell(
                f"has {quoted(some[0])}, which is read as one tag, though {listed(tags)} "
                f"{'are tags' if tags[1:] else 'is a tag'} too: {asked}"
            )
            return True
    return False


def warn_of_lists_in_texts(classes: Sequence[Any], n: int) -> None:
    """Warn of classes of `n` rows that are texts and look like lists of labels."""
    stripped = [text.strip() for text in classes if isinstance(text, str)]
    if len(stripped) < len(classes):
        return
    bracketed = [text for text in stripped if text and BRACKETS.get(text[0]) == text[-1]]
    if 2 * len(bracketed) > len(classes):
        example, advice = bracketed[0], "y.map(ast.literal_eval)"
    elif all(map(re.compile(BITS).search, stripped)):
        example, advice = stripped[0], "y.map(list)"
    elif listing := list_of_tags(stripped, n) or _sure_separator(stripped, n):
        example, advice = listing[0], f"y.str.split({listing[1]!r})"
    else:
        # Of a few classes, one may be made of others.
        few = stripped if len(stripped) <= 2 * _A_FEW else []
        warn_of_second_separator(few, None, tell_of_y, is_used=True)
        return
    warn(
        f"y has one text per row, {len(classes)} different ones in {n} rows, such as "
        f"{quoted(example)}, and each is read as a class; if they list labels, pass lists: "
        f"{advice} of a column."
    )


def _sure_separator(texts: Sequence[str], n_rows: int) -> tuple[str, str] | None:
    """Return a text with a separator that is in most of many texts, even if no name recurs."""
    for separator in (other for other, is_sure in SEPARATORS.items() if is_sure):
        having = [text for text in texts if separator in text]
        if len(having) > max(len(texts) / 2, n_rows / 5):
            return having[0], separator
    return None
