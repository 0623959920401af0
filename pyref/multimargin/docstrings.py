"""Paragraphs that several docstrings have in common, written once and filled in by name."""

import re
from collections.abc import Callable, Mapping
from inspect import cleandoc
from textwrap import indent
from typing import TypeVar

T = TypeVar("T")


def filled_from(paragraphs: Mapping[str, str]) -> Callable[[T], T]:
    """Return a decorator that replaces lines such as ``<name>`` of a docstring by paragraphs."""

    # Since Python 3.13 docstrings come without the indentation of the source.
    def paragraph(line: re.Match[str]) -> str:
        return indent(cleandoc(paragraphs[line[2]]), line[1])

    def fill(documented: T) -> T:
        if documented.__doc__ is not None:  # python -OO strips docstrings
            documented.__doc__ = re.sub(r"(?m)^( *)<(.+)>$", paragraph, documented.__doc__)
        return documented

    return fill
