"""Paragraphs are filled in with and without the indentation that Python 3.13 takes away."""

import pytest

from multimargin.docstrings import filled_from


@pytest.mark.parametrize("indent", ["", "    "])
def test_paragraphs_have_the_indentation_of_their_place(indent: str) -> None:
    def function() -> None:
        pass

    function.__doc__ = f"Title.\n\n{indent}<a b>\n{indent}end"
    filled = filled_from({"a b": "\n    x : int\n        Number.\n"})(function)
    assert filled.__doc__ == f"Title.\n\n{indent}x : int\n{indent}    Number.\n{indent}end"
