"""Lists written as text: of JSON, Python, NumPy or PostgreSQL."""

import json
import re
from ast import literal_eval

from multimargin.checks.names import quoted
from multimargin.targets.separators import BRACKETS

_WRAPPED = re.compile(
    r"\s*(?:(?:np\.|numpy\.|torch\.)?(?:array|set|frozenset|list|tuple|tensor|deque|Index|dict_keys"
    r"|WrappedArray|c)\((?P<inner>.*?)"
    r"(?:,\s*dtype=[^()]*)?\))\s*",
    re.DOTALL,
)
_QUOTED = r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*\""""
# A name in quotes, also as NumPy's scalars show themselves, or without quotes up to a comma.
_ITEM = re.compile(
    rf"(?:(?:np|numpy)\.\w+\(\s*(?P<scalar>{_QUOTED}|[^()'\"]*?)\s*\)|u?(?P<quoted>{_QUOTED})"
    r"""|(?P<bare>[^\s,'"\[\](){}:][^,'"\[\](){}]*))""",
    re.DOTALL,
)
_NUMBERS = re.compile(r"[-+.0-9eE]+(?:\s+[-+.0-9eE]+)+")
# Words of programming languages for a missing list or name.
NOTHING = {"null", "none", "nan", "<na>"}


def body_of_list(text: str) -> str | None:
    """Return the text between brackets, None for a text that is not in brackets."""
    text = text.strip()
    if not text.endswith(("]", ")", "}")):
        return None
    wrapped = _WRAPPED.fullmatch(text)
    if wrapped:
        text = wrapped["inner"].strip()
    if len(text) > 1 and BRACKETS.get(text[0]) == text[-1]:
        return text[1:-1].strip()
    # R and Scala have no others.
    return text if wrapped else None


def has_quotes(body: str) -> bool:
    """Return whether the first item between brackets is in quotes, as names in a list are."""
    return body.startswith(("'", '"', "u'", 'u"', "np.", "numpy."))


def is_quoted_list(text: str) -> bool:
    """Return whether a text is a list whose first item is in quotes."""
    return has_quotes(body_of_list(text) or "")


def items_of(body: str) -> list[str]:
    """Return the names between the brackets of a list; raise ValueError if these are not names."""
    found, place = [], 0
    while place < len(body):
        match = _ITEM.match(body, place)
        if match is None:
            raise ValueError(f"{quoted(body[place:])} is not a name")
        found += _names_of(match)
        rest = body[match.end() :]
        blank = len(rest) - len(rest.lstrip())
        place = match.end() + blank
        if body.startswith(",", place):
            place += 1
            place += len(body[place:]) - len(body[place:].lstrip())
        elif place < len(body) and not (blank and match["bare"] is None):
            # NumPy has blanks between names in quotes; without one the quotes do not match.
            raise ValueError(f"{quoted(body[place:])} follows a name without a comma")
    return found


def _names_of(match: re.Match[str]) -> list[str]:
    bare = match["bare"]
    token = (match["scalar"] or match["quoted"] or "") if bare is None else bare.strip()
    if token[:1] in ("'", '"'):
        return [_unquoted(token)]
    if token == "...":
        raise ValueError("some names are replaced by '...'")
    if token.lower() in NOTHING:
        raise ValueError(f"{token} is not a name")
    return token.split() if _NUMBERS.fullmatch(token) else [token]


def _unquoted(token: str) -> str:
    if "\\" not in token:
        return token[1:-1]
    try:
        # JSON knows surrogate pairs, Python single quotes.
        return str(json.loads(token) if token[0] == '"' else literal_eval(token))
    except (ValueError, SyntaxError):
        # PostgreSQL: a backslash protects the next character, whatever it is.
        return re.sub(r"\\(.)", r"\1", token[1:-1], flags=re.DOTALL)
