"""Baselines from scikit-learn, by name, beside the methods of this package."""

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

from multimargin.compare.one_class_labels import WithOneClassLabels
from multimargin.methods import METHODS, Grid, Method, make_method


def _baseline(
    name: str, title: str, summary: str, estimator: Any, depth: int, grid: Grid
) -> Method:
    """Wrap an estimator; the parameters of what lies `depth` levels inside get short names."""
    prefix = "estimator__" * depth
    wrapped = WithOneClassLabels(estimator)
    own = [key for key in wrapped.get_params(deep=True) if key.startswith(prefix)]
    short = {key.removeprefix(prefix): key for key in own}
    aliases = {alias: key for alias, key in short.items() if "__" not in alias}
    targets = {aliases[key]: values for key, values in grid.items()}
    defaults = {"estimator": estimator}
    return Method(name, title, summary, WithOneClassLabels, defaults, targets, aliases)


_C = tuple(2.0**exponent for exponent in range(-2, 11))
_GAMMA = tuple(2.0**exponent for exponent in range(-10, 3))

BASELINES: Mapping[str, Method] = MappingProxyType(
    {
        method.name: method
        for method in (
            _baseline(
                "ovr-svc",
                "one-vs-rest SVC",
                "one support vector machine a label, with a kernel",
                OneVsRestClassifier(SVC()),
                2,
                {"C": _C, "gamma": _GAMMA},
            ),
            _baseline(
                "ovr-linear-svc",
                "one-vs-rest LinearSVC",
                "one linear support vector machine a label",
                OneVsRestClassifier(LinearSVC(random_state=0)),
                2,
                {"C": _C},
            ),
            _baseline(
                "classifier-chain",
                "classifier chain of SVC",
                "one support vector machine a label that also sees the labels before it",
                ClassifierChain(SVC(), random_state=0),
                2,
                {"C": _C, "gamma": _GAMMA},
            ),
            _baseline(
                "knn",
                "k nearest neighbours",
                "fraction of the neighbours that have the label",
                KNeighborsClassifier(n_neighbors=10),
                1,
                {"n_neighbors": (5, 10, 20)},
            ),
            _baseline(
                "random-forest",
                "random forest",
                "decision trees on all labels at once",
                RandomForestClassifier(random_state=0),
                1,
                {"max_features": ("sqrt", 0.3, 1.0)},
            ),
            _baseline(
                "dummy",
                "label frequencies",
                "the same ranking for every row, by frequency in the training part",
                DummyClassifier(strategy="prior"),
                1,
                {},
            ),
        )
    }
)
"""The baselines, by name. Their parameters are those of the inner SVC, forest, ..."""


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
    plain = name.strip().lower().replace("_", "-")
    if plain in BASELINES:
        return BASELINES[plain].make(**parameters)
    squeezed = {key.replace("-", "") for key in METHODS}
    if plain.replace("-", "") not in squeezed:
        known = [*METHODS, *BASELINES]
        close = get_close_matches(plain, known, n=1, cutoff=0.5)
        hint = f" (did you mean {close[0]!r}?)" if close else ""
        raise ValueError(f"there is no method {name!r}{hint}; expected one of {', '.join(known)}.")
    return make_method(name, **parameters)
