"""Tables of a page: between its marks stands what a part prints.

A part's marks are the comments ``<!-- rank-cvm/table-2 -->`` and ``<!-- end -->``; the third column
of the list of parts says how long its runs took.
"""

import re
from collections.abc import Mapping

MARKED = re.compile(r"(<!-- (?P<part>\S+/\S+) -->\n)(.*?)(<!-- end -->)", re.DOTALL)
LISTED = re.compile(r"^(\| `(?P<part>\S+/\S+)` \| [^|]+ \| )([^|]+)( \|)", re.MULTILINE)


def marked_parts(page: str) -> list[str]:
    """Return the parts that a page has marks for.

    Parameters
    ----------
    page : str
        Text of the page.

    Returns
    -------
    list of str
        Their names, in the order of the page.
    """
    return [match["part"] for match in MARKED.finditer(page)]


def filled(page: str, printed: Mapping[str, str]) -> str:
    """Return a page with what parts print between their marks.

    Parameters
    ----------
    page : str
        Text of the page.
    printed : mapping of str to str
        By part, in Markdown; other parts stay as they are.

    Returns
    -------
    str
        The new text.
    """
    return _with(MARKED, page, {part: f"\n{text.strip()}\n\n" for part, text in printed.items()})


def with_seconds(page: str, seconds: Mapping[str, float]) -> str:
    """Return a page whose list of parts says how long their runs took.

    Parameters
    ----------
    page : str
        Text of the page.
    seconds : mapping of str to float
        By part; other parts stay as they are.

    Returns
    -------
    str
        The new text.
    """
    return _with(LISTED, page, {part: f"{own:.0f} s" for part, own in seconds.items()})


def _with(pattern: re.Pattern[str], page: str, texts: Mapping[str, str]) -> str:
    """Return a page with other texts in the third groups of a pattern, by part."""

    def replaced(match: re.Match[str]) -> str:
        return f"{match[1]}{texts.get(match['part'], match[3])}{match[4]}"

    return pattern.sub(replaced, page)
