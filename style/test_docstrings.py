"""Parameters are documented where they belong, and equal ones in equal words."""

import ast
import inspect
import re
from collections import defaultdict
from pathlib import Path
from types import ModuleType

import pytest
from sklearn.base import BaseEstimator

import multimargin
from multimargin import baselines, measures, thresholds, tuning


def documented_parameters(documented: type) -> list[str]:
    text = inspect.getdoc(documented) or ""
    section = re.search(r"(?ms)^Parameters\n-+\n(.*?)(?:\n\n\w[\w ]*\n-+\n|\Z)", text)
    heads = re.findall(r"(?m)^(\S.*?) : ", section[1]) if section else []
    return [name for head in heads for name in head.split(", ")]


@pytest.mark.parametrize("room", [multimargin, baselines, thresholds, tuning])
def test_parameters_are_those_that_are_documented(room: ModuleType) -> None:
    """A fitted attribute whose type a class declares would be a parameter of its constructor."""
    classes = [getattr(room, name) for name in room.__all__]
    estimators = [c for c in classes if isinstance(c, type) and issubclass(c, BaseEstimator)]
    assert estimators
    for estimator in (c for c in estimators if not inspect.isabstract(c)):
        parameters = inspect.signature(estimator).parameters
        assert list(parameters) == documented_parameters(estimator), estimator


def entries(documented: object) -> list[tuple[str, str]]:
    """The entries of parameters and attributes of a docstring: head and text."""
    text = f"{inspect.getdoc(documented)}\n"
    sections = re.findall(
        r"(?ms)^(?:Parameters|Attributes)\n-+\n(.*?)(?:\n\n\w[\w ]*\n-+\n|\Z)", text
    )
    found = re.findall(r"(?m)^(\S.*? : .*)\n((?:(?: +.*|)\n?)*)", "\n".join(sections) + "\n")
    return [(head, " ".join(body.split())) for head, body in found]


# What differs for a reason: the parameter, and the classes or functions with words of their own.
AROUND = {
    "CalibratedClassifier",
    "LabelRankerCV",
    "LabelSpecificBinaryRelevance",
    "LabelSpecificClassifierChain",
    "ThresholdedClassifier",
}
OWN_WORDS = {
    "Y_true": {"pair_margins"},
    "bias": {"RankSVMz"},
    "cache_size": {"MLRL", "RankHLapSVM", "SSMLRL"},
    "lam": {"MLRL", "RankHLapSVM"},
    "max_iter": {"RankCVM", "RankSVM"},
    "max_time": {"LLSF"},
    "n_jobs": AROUND,
    "random_state": AROUND,
    "response_method": AROUND,
    "scores": {"pair_margins"},
    "solver": {"RankCVM"},
    "threshold": AROUND,
    "tol": {"LLSF", "MLRL", "SSMLRL", *AROUND},
    "verbose": {"MLRL", "SSMLRL", *AROUND},
    "warm_start": {"LLSF"},
}
# The certificate's attributes: each method has its own objective and ends in its own ways.
OWN_ATTRIBUTES = {
    "dual_coef_",
    "intercept_",
    "objective_",
    "n_iter_",
    "status_",
    "history_",
    "coef_",
}


@pytest.mark.parametrize("room", [multimargin, measures])
def test_equal_parameters_have_equal_words(room: ModuleType) -> None:
    found: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for name in room.__all__:
        documented = getattr(room, name)
        if inspect.isclass(documented) == (room is measures):
            continue
        for head, text in entries(documented):
            parameter = head.split(" : ")[0]
            if parameter not in OWN_ATTRIBUTES and name not in OWN_WORDS.get(parameter, ()):
                found[head][text].add(name)
    assert max(len(names) for texts in found.values() for names in texts.values()) > 5
    different = [f"{head}: {dict(texts)}" for head, texts in found.items() if len(texts) > 1]
    assert not different, "\n".join(different)


QUESTION = re.compile(
    # At the beginning, or of an entry of a numpydoc section.
    r"(?m)(?:\A\s*|^( *)\S.* : .*\n\1 {4})(?:What|Whether|How|Which|Where)\b.*"
)


def test_docstrings_begin_with_a_noun_or_a_verb() -> None:
    found = []
    for file in Path(multimargin.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
                asked = QUESTION.search(ast.get_docstring(node) or "")
                found += [f"{file.name}: {asked[0]}"] if asked else []
    assert not found, "\n".join(found)
