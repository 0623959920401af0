"""Names of labels that look alike, and are told."""

import warnings

import pytest

from multimargin.targets.names import warn_of_lookalikes


@pytest.mark.parametrize(
    "pair",
    [
        ("Red", "red"), ("sea salt", "seasalt"), ("sci-fi", "sci\u2011fi"), ("a-b", "a\u2013b"),
        ("rock'n'roll", "rock\u2019n\u2019roll"), ("Master's", "Masters"), ("g\u00e2t", "gat"),
        ("\u0451\u043b\u043a\u0430", "\u0435\u043b\u043a\u0430"), ("007", "7"), ("3.0", "3"),
    ],
)  # fmt: skip
def test_names_that_differ_only_in_how_they_are_written_are_told(pair: tuple[str, str]) -> None:
    with pytest.warns(UserWarning, match="has names that differ only by"):
        warn_of_lookalikes(pair, "y has")


def test_names_of_their_own_are_not_told() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warn_of_lookalikes(
            ["c", "c++", "c#", "-1", "1", "<5", "5", "1.5", "15", "x", "xx"], "y has"
        )
