"""Public signatures have one name for one thing; CONTRIBUTING has the rules."""

import importlib
import inspect
import re
from collections.abc import Iterator
from operator import attrgetter
from pathlib import Path

from style.test_guide import listed

import multimargin

INDEX = Path(__file__).parents[1] / "docs" / "api" / "index.md"


def parameters() -> Iterator[tuple[str, bool, inspect.Parameter]]:
    """The parameters of public functions, classes and their methods, and whether it is a class."""
    for module, name in listed(INDEX):
        member = attrgetter(name)(importlib.import_module(module))
        if not callable(member) or (inspect.isclass(member) and issubclass(member, Warning)):
            continue
        found = {name: member}
        if inspect.isclass(member):
            methods = inspect.getmembers(member, inspect.isfunction)
            found |= {f"{name}.{key}": one for key, one in methods if not key.startswith("_")}
        for full, one in found.items():
            for parameter in inspect.signature(one).parameters.values():
                yield full, inspect.isclass(one), parameter


# How many of the best: `k` of a function or a method, `top_k` of a class.
OTHER_NAMES = {"K", "n_best", "n_first", "n_top", "top", "top_n", "topk"}


def test_how_many_of_the_best_has_one_name() -> None:
    found = [(name, is_class, one.name) for name, is_class, one in parameters()]
    assert {name for name, _, one in found if one == "k"} >= {"predict_top", "precision_at_k"}
    assert {name for name, _, one in found if one == "top_k"} >= {"RankSVM", "LabelRankerCV"}
    assert not [(name, one) for name, _, one in found if one in OTHER_NAMES]
    assert not [name for name, is_class, one in found if one == "top_k" and not is_class]


def test_the_program_has_it_as_top() -> None:
    options = {
        option
        for file in Path(multimargin.__file__).parent.joinpath("cli").rglob("*.py")
        for option in re.findall(r'"--([a-z][a-z-]*)[" ]', file.read_text(encoding="utf-8"))
    }
    assert "top" in options
    assert not options & {"k", "top-k", *(name.replace("_", "-") for name in OTHER_NAMES - {"top"})}


# Splits by which methods are compared are as many as in the papers.
COMPARES = {"run_experiment"}


def test_what_fits_on_folds_has_as_many_by_default() -> None:
    found = {name: one.default for name, _, one in parameters() if one.name == "cv"}
    assert len(found) > 4
    assert {name for name, default in found.items() if default != 3} == COMPARES
