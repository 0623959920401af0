"""Numbered names are the tuple of their names."""

import pytest

from multimargin.datasets._names import NumberedNames

numbered = NumberedNames("f", 3, 4)
WRITTEN = ("f3", "f4", "f5", "f6")


def test_they_are_a_tuple_of_text():
    assert tuple(numbered) == WRITTEN
    assert len(numbered) == 4
    assert numbered[0] == "f3"
    assert numbered[-1] == "f6"
    assert numbered[1:3] == ("f4", "f5")
    assert hash(numbered) == hash(WRITTEN)


@pytest.mark.parametrize(
    "other", [("f3", "f4", "f5"), ("f3", "f4", "f5", "g6"), NumberedNames("g", 3, 4), 4, "f3"]
)
def test_others_are_unequal(other):
    assert numbered != other
    assert other != numbered


def test_equal_names_are_equal():
    assert numbered == WRITTEN
    assert numbered == WRITTEN
    assert numbered == NumberedNames("f", 3, 4)
    # Of no names the prefix does not matter; of one it does.
    assert NumberedNames("f", 0, 0) == NumberedNames("g", 5, 0) == ()
    assert NumberedNames("f", 0, 0) != NumberedNames("f", 0, 1)
    assert NumberedNames("f", 0, 1) != NumberedNames("g", 0, 1)
