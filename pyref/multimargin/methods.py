"""The methods by name: what the command line, tuning and comparisons are made of."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from types import MappingProxyType
from typing import Any

from sklearn.base import clone
from sklearn.svm import LinearSVC

from multimargin.estimators import (
    LLSF,
    MLODM,
    MLRL,
    SSMLRL,
    LabelRankerCV,
    LabelSpecificBinaryRelevance,
    LabelSpecificClassifierChain,
    RankCVM,
    RankHLapSVM,
    RankLSVM,
    RankSVM,
    RankSVMz,
)
from multimargin.titles import METHOD_TITLES

Grid = Mapping[str, tuple[Any, ...]]

_TRUE, _FALSE, _NONE = ("true", "yes", "on"), ("false", "no", "off"), ("none", "null", "")


@dataclass(frozen=True)
class Method:
    """A method that can be asked for by name.

    Parameters
    ----------
    name : str
        Its name in `METHODS`.
    title : str
        Its name in print.
    summary : str
        What it is, in one line.
    estimator : type
        The class.
    defaults : mapping of str to object
        Parameters that differ from the defaults of the class. Estimators among them are used as
        patterns and never fitted.
    grid : mapping of str to tuple
        Values to tune over, as in the method's paper; the keys are parameters of the estimator, so
        that `GridSearchCV` takes it. It is a full grid: most searches start from a part of it.
    aliases : mapping of str to str, default={}
        Short names of parameters of inner estimators.
    """

    name: str
    title: str
    summary: str
    estimator: Callable[..., Any]
    defaults: Mapping[str, Any]
    grid: Grid
    aliases: Mapping[str, str] = field(default_factory=dict)

    @property
    def parameters(self) -> dict[str, Any]:
        """Names of the parameters that can be set, aliases among them, and their defaults."""
        inner = self._unfitted().get_params(deep=True)
        own = {
            name: value
            for name, value in inner.items()
            if "__" not in name and not hasattr(value, "get_params")
        }
        return {alias: inner[name] for alias, name in self.aliases.items()} | own

    def make(self, **parameters: Any) -> Any:
        """Return an unfitted estimator.

        Parameters
        ----------
        **parameters
            Parameters by name or alias. A text, as it comes from the command line, is read as the
            number, truth value or None that the parameter takes: "8", "1e-3", "2^-3", "true",
            "none". Values are checked by `fit`.

        Returns
        -------
        estimator
            The estimator.

        Raises
        ------
        ValueError
            If there is no such parameter.
        """
        model = self._unfitted()
        known = model.get_params(deep=True)
        values = {}
        for name, value in parameters.items():
            target = self.parameter(name)
            values[target] = parse(value, known[target]) if isinstance(value, str) else value
        return model.set_params(**values)

    def parameter(self, name: str) -> str:
        """Return the estimator's name of a parameter.

        Parameters
        ----------
        name : str
            A parameter or an alias.

        Returns
        -------
        str
            What `set_params` takes.

        Raises
        ------
        ValueError
            If there is no such parameter.
        """
        target = self.aliases.get(name, name)
        if target not in self._unfitted().get_params(deep=True):
            raise ValueError(
                f"{self.name} has no parameter {name!r}{_nearest(name, self.parameters)}; expected "
                f"one of {', '.join(sorted(self.parameters, key=str.lower))}."
            )
        return target

    def _unfitted(self) -> Any:
        return clone(self.estimator(**self.defaults))


def make_method(name: str, /, **parameters: Any) -> Any:
    """Return an unfitted estimator by the name of its method.

    Parameters
    ----------
    name : str
        A key of `METHODS`, in any case, with ``-`` or ``_``.
    **parameters
        Its parameters, see `Method.make`.

    Returns
    -------
    estimator
        The estimator. Its `random_state`, where it has one, is 0 unless given, so that results can
        be repeated.

    Raises
    ------
    ValueError
        If there is no such method or parameter; the message names the nearest and lists all.

    Examples
    --------
    >>> from multimargin.methods import make_method
    >>> make_method("mlodm", C="2^3", mu=0.4)
    MLODM(C=8.0, mu=0.4, random_state=0)
    """
    return find_method(name).make(**parameters)


def find_method(name: str) -> Method:
    """Return a method by its name.

    Parameters
    ----------
    name : str
        A key of `METHODS`, in any case, with ``-`` or ``_``.

    Returns
    -------
    Method
        The method.

    Raises
    ------
    ValueError
        If there is no such method; the message names the nearest and lists all.
    """
    plain = str(name).strip().lower().replace("_", "-")
    # RankSVM, the name of the class, is what many will type first.
    by_squeezed_name = {key.replace("-", ""): key for key in METHODS}
    key = by_squeezed_name.get(plain.replace("-", ""))
    if key is None:
        raise ValueError(
            f"there is no method {name!r}{_nearest(plain, METHODS)}; expected one of "
            f"{', '.join(METHODS)}."
        )
    return METHODS[key]


def parse(text: str, default: Any) -> Any:
    """Read a parameter's value from text.

    Parameters
    ----------
    text : str
        The text. ``2^-3`` is the power.
    default : object
        The parameter's default, whose type tells what is meant: "none" is None only where None is
        the default, and "true" is True only where a truth value is.

    Returns
    -------
    bool, int, float, str or None
        The value; the text itself where it is none of the others.
    """
    word = text.strip().lower()
    if default is None and word in _NONE:
        return None
    if isinstance(default, bool) and word in _TRUE + _FALSE + ("0", "1"):
        return word in (*_TRUE, "1")
    number = _number(word)
    if number is None:
        return text.strip()
    is_whole = number.is_integer() and abs(number) < 2.0**53
    whole_wanted = not isinstance(default, float | str)
    return int(number) if is_whole and whole_wanted else number


def _number(word: str) -> float | None:
    base, power, exponent = word.replace("**", "^").partition("^")
    try:
        number = float(base) ** float(exponent) if power else float(base)
    except (ValueError, OverflowError, ZeroDivisionError):
        return None
    return number if isinstance(number, float) else None  # (-1)^0.5 is complex


def _nearest(name: str, known: Mapping[str, Any]) -> str:
    by_lower = {key.lower(): key for key in known}
    close = get_close_matches(name.lower(), by_lower, n=1, cutoff=0.5)
    return f" (did you mean {by_lower[close[0]]!r}?)" if close else ""


def _powers(lowest: int, highest: int) -> tuple[float, ...]:
    return tuple(2.0**exponent for exponent in range(lowest, highest + 1))


_TENTHS = tuple(tenths / 10 for tenths in range(1, 10))
_MLRL_WEIGHTS = (0.01, 0.1, 1.0, 10.0, 100.0)
_XU_2013 = {"C": _powers(-1, 8), "gamma": _powers(-10, 2)}
_MLODM_PAPER = {"C": _powers(-2, 10), "gamma": _powers(-10, 2)}
_LLSF_SEARCH = {"alpha": _powers(-10, 10), "beta": _powers(-10, 10)}
_SELECTOR_SEARCH = {f"selector__{name}": values for name, values in _LLSF_SEARCH.items()}
_LABEL_SPECIFIC = {"selector": LLSF(alpha=0.5, beta=0.1), "estimator": LinearSVC(random_state=0)}
_LABEL_SPECIFIC_ALIASES = {
    "alpha": "selector__alpha",
    "beta": "selector__beta",
    "C": "estimator__C",
    "tol": "selector__tol",
    "max_iter": "selector__max_iter",
    "max_time": "selector__max_time",
    "verbose": "selector__verbose",
}
_REPEATABLE = {"random_state": 0}

METHODS: Mapping[str, Method] = MappingProxyType(
    {
        method.name: method
        for method in (
            Method(
                "label-ranker",
                *METHOD_TITLES["label-ranker"],
                LabelRankerCV,
                _REPEATABLE,
                {"threshold": ("micro", "macro", "samples"), "at_least_one": (False, True)},
            ),
            Method(
                "rank-svm",
                *METHOD_TITLES["rank-svm"],
                RankSVM,
                _REPEATABLE,
                _XU_2013,
            ),
            Method(
                "rank-svmz",
                *METHOD_TITLES["rank-svmz"],
                RankSVMz,
                _REPEATABLE,
                _MLODM_PAPER,
            ),
            Method(
                "rank-cvm",
                *METHOD_TITLES["rank-cvm"],
                RankCVM,
                _REPEATABLE,
                _XU_2013,
            ),
            Method(
                "rank-lsvm",
                *METHOD_TITLES["rank-lsvm"],
                RankLSVM,
                _REPEATABLE,
                _MLODM_PAPER,
            ),
            Method(
                "mlodm",
                *METHOD_TITLES["mlodm"],
                MLODM,
                _REPEATABLE,
                {**_MLODM_PAPER, "theta": _TENTHS, "mu": _TENTHS},
            ),
            Method(
                "rank-hlapsvm",
                *METHOD_TITLES["rank-hlapsvm"],
                RankHLapSVM,
                _REPEATABLE,
                # The paper prints the range of C; lam = 4 and 32, nu = 2 and 8 are its choices.
                {
                    "C": _powers(-6, 13),
                    "lam": (0.0, *_powers(-2, 5)),
                    "nu": ("scale", *_powers(1, 3)),
                },
            ),
            Method(
                "mlrl",
                *METHOD_TITLES["mlrl"],
                MLRL,
                {},
                {"lam": _MLRL_WEIGHTS},
            ),
            Method(
                "ssmlrl",
                *METHOD_TITLES["ssmlrl"],
                SSMLRL,
                {},
                {"lam1": _MLRL_WEIGHTS, "lam2": _MLRL_WEIGHTS},
            ),
            Method(
                "llsf",
                *METHOD_TITLES["llsf"],
                LLSF,
                {},
                _LLSF_SEARCH,
            ),
            Method(
                "llsf-bsvm",
                *METHOD_TITLES["llsf-bsvm"],
                LabelSpecificBinaryRelevance,
                _LABEL_SPECIFIC,
                _SELECTOR_SEARCH,
                _LABEL_SPECIFIC_ALIASES,
            ),
            Method(
                "llsf-cc",
                *METHOD_TITLES["llsf-cc"],
                LabelSpecificClassifierChain,
                {**_LABEL_SPECIFIC, **_REPEATABLE},
                _SELECTOR_SEARCH,
                _LABEL_SPECIFIC_ALIASES,
            ),
        )
    }
)
"""The methods, by name."""
