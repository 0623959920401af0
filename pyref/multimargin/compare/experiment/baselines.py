"""Baselines by name: the methods that the papers compare with, and scikit-learn's classifiers."""

from collections.abc import Mapping
from difflib import get_close_matches
from types import MappingProxyType
from typing import Any

from sklearn.dummy import DummyClassifier
from sklearn.ensemble import RandomForestClassifier
from sklearn.multiclass import OneVsRestClassifier
from sklearn.multioutput import ClassifierChain
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC, LinearSVC

from multimargin.baselines import (
    BPMLL,
    BRkNN,
    CalibratedLabelRanking,
    LabelPowerset,
    MLkNN,
    RAkEL,
)
from multimargin.compare.experiment.one_class_labels import WithOneClassLabels
from multimargin.methods import METHODS, Grid, Method
from multimargin.titles import BASELINE_TITLES


def _baseline(
    name: str, title: str, summary: str, estimator: Any, depth: int, grid: Grid
) -> Method:
    """Wrap an estimator; the parameters of what lies `depth` levels inside get short names."""
    wrapped = WithOneClassLabels(estimator)
    prefix = _prefix(wrapped, depth)
    own = [key for key in wrapped.get_params(deep=True) if key.startswith(prefix)]
    short = {key.removeprefix(prefix): key for key in own}
    aliases = {alias: key for alias, key in short.items() if "__" not in alias}
    targets = {aliases[key]: values for key, values in grid.items()}
    defaults = {"estimator": estimator}
    return Method(name, title, summary, WithOneClassLabels, defaults, targets, aliases)


def _prefix(estimator: Any, depth: int) -> str:
    prefix = ""
    for _ in range(depth):
        parameters = estimator.get_params(deep=False)
        # ClassifierChain has "base_estimator" before scikit-learn 1.7.
        name = "estimator" if "estimator" in parameters else "base_estimator"
        prefix += f"{name}__"
        estimator = parameters[name]
    return prefix


_C = tuple(2.0**exponent for exponent in range(-2, 11))
_GAMMA = tuple(2.0**exponent for exponent in range(-10, 3))
_NEIGHBOURS = (5, 10, 15, 20)
_LINEAR = SVC(kernel="linear", C=1.0, max_iter=1_000_000)
_INNER = {"C": "estimator__C"}
_REPEATABLE = {"random_state": 0}

_RIVALS = (
    Method(
        "ml-knn",
        *BASELINE_TITLES["ml-knn"],
        MLkNN,
        {},
        {"n_neighbors": _NEIGHBOURS, "smoothing": (0.1, 0.5, 1.0)},
    ),
    Method(
        "br-knn",
        *BASELINE_TITLES["br-knn"],
        BRkNN,
        {},
        {"n_neighbors": (1, 3, 5, 10, 20), "balanced": (True, False)},
    ),
    Method(
        "bp-mll",
        *BASELINE_TITLES["bp-mll"],
        BPMLL,
        _REPEATABLE,
        {"hidden": (0.1, 0.2, 0.4), "decay": (0.01, 0.1, 1.0)},
    ),
    Method(
        "clr",
        *BASELINE_TITLES["clr"],
        CalibratedLabelRanking,
        {"estimator": _LINEAR},
        {"estimator__C": _C},
        _INNER,
    ),
    Method(
        "rakel",
        *BASELINE_TITLES["rakel"],
        RAkEL,
        {"estimator": _LINEAR, **_REPEATABLE},
        {"k": (2, 3, 4), "estimator__C": _C},
        _INNER,
    ),
    Method(
        "label-powerset",
        *BASELINE_TITLES["label-powerset"],
        LabelPowerset,
        {"estimator": _LINEAR},
        {"estimator__C": _C},
        _INNER,
    ),
)

BASELINES: Mapping[str, Method] = MappingProxyType(
    {
        method.name: method
        for method in (
            *_RIVALS,
            _baseline(
                "bsvm",
                *BASELINE_TITLES["bsvm"],
                OneVsRestClassifier(_LINEAR),
                2,
                {"C": _C},
            ),
            _baseline(
                "cc",
                *BASELINE_TITLES["cc"],
                ClassifierChain(_LINEAR, order="random", random_state=0),
                2,
                {"C": _C},
            ),
            _baseline(
                "ovr-svc",
                *BASELINE_TITLES["ovr-svc"],
                OneVsRestClassifier(SVC()),
                2,
                {"C": _C, "gamma": _GAMMA},
            ),
            _baseline(
                "ovr-linear-svc",
                *BASELINE_TITLES["ovr-linear-svc"],
                OneVsRestClassifier(LinearSVC(random_state=0)),
                2,
                {"C": _C},
            ),
            _baseline(
                "classifier-chain",
                *BASELINE_TITLES["classifier-chain"],
                ClassifierChain(SVC(), random_state=0),
                2,
                {"C": _C, "gamma": _GAMMA},
            ),
            _baseline(
                "knn",
                *BASELINE_TITLES["knn"],
                KNeighborsClassifier(n_neighbors=10),
                1,
                {"n_neighbors": (5, 10, 20)},
            ),
            _baseline(
                "random-forest",
                *BASELINE_TITLES["random-forest"],
                RandomForestClassifier(random_state=0),
                1,
                {"max_features": ("sqrt", 0.3, 1.0)},
            ),
            _baseline(
                "dummy",
                *BASELINE_TITLES["dummy"],
                DummyClassifier(strategy="prior"),
                1,
                {},
            ),
        )
    }
)
"""The baselines, by name. Parameters of an inner SVC, forest, ... go by their short names."""


def find_estimator(name: str) -> Method:
    """Return a method or a baseline by its name."""
    known = {**METHODS, **BASELINES}
    plain = str(name).strip().lower().replace("_", "-")
    by_squeezed_name = {key.replace("-", ""): method for key, method in known.items()}
    method = by_squeezed_name.get(plain.replace("-", ""))
    begun = [key for key in known if key.startswith(f"{plain}-")]
    if method is None and len(begun) == 1:
        method = known[begun[0]]
    if method is None:
        close = get_close_matches(plain, known, n=1, cutoff=0.5)
        hint = f" (did you mean {close[0]!r}?)" if close else ""
        raise ValueError(f"there is no method {name!r}{hint}; expected one of {', '.join(known)}.")
    return method


def make_estimator(name: str, /, **parameters: Any) -> Any:
    """Return an unfitted estimator by the name of a method or a baseline.

    Parameters
    ----------
    name : str
        A key of `multimargin.methods.METHODS` or of `BASELINES`.
    **parameters
        Its parameters, as in `multimargin.methods.make_method`.

    Returns
    -------
    estimator
        The estimator.

    Raises
    ------
    ValueError
        If there is no such method or parameter.

    Examples
    --------
    >>> from multimargin.compare import make_estimator
    >>> make_estimator("ovr-svc", C=10)
    WithOneClassLabels(estimator=OneVsRestClassifier(estimator=SVC(C=10)))
    """
    return find_estimator(name).make(**parameters)
