"""Whatever a parameter of its signature is given, an estimator fits or says that it is wrong."""

import warnings
from decimal import Decimal
from fractions import Fraction
from inspect import isclass, signature
from typing import Any

import numpy as np
import pytest
from joblib import parallel_config
from sklearn.base import BaseEstimator
from sklearn.neighbors import KNeighborsClassifier

import multimargin
import multimargin.estimators

NONSENSE: dict[str, Any] = {
    "nan": float("nan"),
    "inf": float("inf"),
    "-inf": -float("inf"),
    "negative": -1.5,
    "-1": -1,
    "0": 0,
    "fraction of one": 2.5,
    "huge integer": 10**30,
    "huge negative integer": -(10**30),
    "tiny": 1e-300,
    "the least of all": 5e-324,
    "large": 1e200,
    "huge": 1e308,
    "huge negative": -1e308,
    "beyond floats": Fraction(10**400),
    "decimal": Decimal("NaN"),
    "text": "nonsense",
    "no text": "",
    "bytes": b"x",
    "None": None,
    "True": True,
    "list": [1, 2],
    "dict": {"a": 1},
    "array": np.ones((2, 2)),
    "array of nan": np.full(3, np.nan),
    "array of objects": np.array(["a"], dtype=object),
    "number in an array": np.array(1.0),
    "complex": 1j,
    "object": object(),
    "class": KNeighborsClassifier,
}
# What never can be meant, for any parameter.
IMPOSSIBLE = (
    *("nan", "-inf", "decimal", "text", "no text", "bytes", "dict", "complex", "object", "class"),
    *("array of nan", "array of objects", "beyond floats"),
)

REQUIRED = {
    name: {"estimator": KNeighborsClassifier(3)}
    for name in ("ThresholdedClassifier", "CalibratedClassifier")
}
QUICK = {"max_iter": 3, "cv": 2, "Cs": [1.0]}
# One setting to try in place of eight, with a kernel that has a gamma, and one block with seeds.
QUICK_RANKER = {"loss": "squared_hinge", "kernel": "rbf", "class_weight": None, "top_k": None}
QUICK_RANKER |= {"stack": ["forest"]}
# Options are checked by the method that they are of.
OF_METHOD = {
    multimargin.estimators.FrankWolfeOptions: multimargin.RankCVM,
    multimargin.estimators.RelationshipOptions: multimargin.MLRL,
}


def estimators() -> list[type[Any]]:
    public = (getattr(multimargin, name) for name in multimargin.__all__)
    return [one for one in public if isclass(one) and issubclass(one, BaseEstimator)]


RANDOM = np.random.default_rng(0)
X = RANDOM.random((20, 4))
Y = (X @ RANDOM.standard_normal((4, 3)) > 0.2).astype(int)


@pytest.mark.parametrize("estimator", estimators())
def test_the_parameter_is_named(estimator: type[Any]) -> None:
    for name in signature(estimator).parameters:
        for kind in NONSENSE:
            # A class may be called like a function.
            if not (kind == "class" and name in ("kernel", "scoring")):
                fit_or_name(estimator, name, kind)


def fit_or_name(estimator: type[Any], name: str, kind: str) -> None:
    changed = {name: NONSENSE[kind]}
    if estimator in OF_METHOD:
        changed = {"options": estimator(**changed)}
        estimator, name = OF_METHOD[estimator], f"options.{name}"
    model = estimator(**REQUIRED.get(estimator.__name__, {}))
    quick = {key: value for key, value in QUICK.items() if key in model.get_params(deep=False)}
    if estimator is multimargin.LabelRankerCV:
        quick |= QUICK_RANKER
    model.set_params(**(quick | changed))
    # Threads in place of processes, which take seconds to start.
    quick_start = parallel_config(backend="threading")
    with warnings.catch_warnings(), np.errstate(all="ignore"), quick_start:
        # A model that stops after three epochs, or on numbers of 1e308, may say so.
        warnings.simplefilter("ignore")
        try:
            model.fit(X, Y)
        except (TypeError, ValueError) as error:
            named = str(error).startswith((f"{name} ", f"{name}:"))
            assert named, f"{name}={NONSENSE[kind]!r}: {error}"  # noqa: PT017
        else:
            assert kind not in IMPOSSIBLE, f"{name}={NONSENSE[kind]!r} was taken"
