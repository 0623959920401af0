"""Paragraphs that are filled in, and parameters: each is documented, and nothing else."""

import inspect
import re
from types import ModuleType

import pytest
from sklearn.base import BaseEstimator

import multimargin
from multimargin import baselines, thresholds, tuning
from multimargin.docstrings import filled_from


@pytest.mark.parametrize("indent", ["", "    "])
def test_paragraphs_have_the_indentation_of_their_place(indent: str) -> None:
    def function() -> None:
        pass

    function.__doc__ = f"Title.\n\n{indent}<a b>\n{indent}end"
    filled = filled_from({"a b": "\n    x : int\n        Number.\n"})(function)
    assert filled.__doc__ == f"Title.\n\n{indent}x : int\n{indent}    Number.\n{indent}end"


def documented_parameters(documented: type) -> set[str]:
    text = inspect.getdoc(documented) or ""
    section = re.search(r"(?ms)^Parameters\n-+\n(.*?)(?:\n\n\w[\w ]*\n-+\n|\Z)", text)
    heads = re.findall(r"(?m)^(\S.*?) : ", section[1]) if section else []
    return {name for head in heads for name in head.split(", ")}


@pytest.mark.parametrize("room", [multimargin, baselines, thresholds, tuning])
def test_parameters_are_those_that_are_documented(room: ModuleType) -> None:
    """A fitted attribute whose type a class declares would be a parameter of its constructor."""
    classes = [getattr(room, name) for name in room.__all__]
    estimators = [c for c in classes if isinstance(c, type) and issubclass(c, BaseEstimator)]
    assert estimators
    for estimator in (c for c in estimators if not inspect.isabstract(c)):
        parameters = inspect.signature(estimator).parameters
        assert set(parameters) == documented_parameters(estimator), estimator
