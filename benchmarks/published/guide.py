"""Tables into a page of the guide: between its marks stands what a part prints.

A part's marks are the comments ``<!-- rank-cvm/table-2 -->`` and ``<!-- end -->``; the third column
of the list of parts says how long its runs took.
"""

import re
from collections.abc import Mapping

MARKED = re.compile(r"<!-- (\S+/\S+) -->\n(.*?)<!-- end -->", re.DOTALL)
LISTED = re.compile(r"^(\| `(\S+/\S+)` \| [^|]+ \| )[^|]+( \|)", re.MULTILINE)


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
    return [part for part, _ in MARKED.findall(page)]


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

    def block(match: re.Match[str]) -> str:
        part = match[1]
        if part not in printed:
            return match[0]
        return f"<!-- {part} -->\n\n{printed[part].strip()}\n\n<!-- end -->"

    return MARKED.sub(block, page)


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

    def row(match: re.Match[str]) -> str:
        if match[2] not in seconds:
            return match[0]
        return f"{match[1]}{seconds[match[2]]:.0f} s{match[3]}"

    return LISTED.sub(row, page)
