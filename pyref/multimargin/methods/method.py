"""A method with its name, for the command line, tuning and comparisons."""

from ast import literal_eval
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING, Any

from multimargin.checks.names import did_you_mean

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

Grid = Mapping[str, tuple[Any, ...]]
Pattern = Callable[[], Any]
"""Function that returns a new unfitted estimator."""

_TRUE, _FALSE, _NONE = ("true", "yes", "on"), ("false", "no", "off"), ("none", "null", "")


ALL_KERNELS = ("linear", "rbf", "laplacian", "poly", "sigmoid", "precomputed", "callable")
"""Names of kernels; "callable" stands for a function of two matrices."""


@dataclass(frozen=True)
class Abilities:
    """Abilities of a method that do not follow from its signature.

    Parameters
    ----------
    loss : str
        Its loss, in a few words.
    biases : tuple of str
        Values of the parameter ``bias``, or the one bias of a method without that parameter.
    kernels : tuple of str
        Kernels by name, of `ALL_KERNELS`; or one phrase.
    unknown_labels : bool, default=True
        `y` may have NaN.
    dask : bool, default=False
        `multimargin.dask.fit` takes it.
    onnx : bool, default=True
        `multimargin.onnx.export` takes it.
    explain : bool, default=True
        `multimargin.explain` takes it, with a linear kernel.
    """

    loss: str
    biases: tuple[str, ...]
    kernels: tuple[str, ...]
    unknown_labels: bool = True
    dask: bool = False
    onnx: bool = True
    explain: bool = True


@dataclass(frozen=True)
class Method:
    """A method that can be selected by name.

    Parameters
    ----------
    name : str
        Its name in the table.
    title : str
        Its name in print.
    summary : str
        Summary in one line.
    pattern : callable
        Returns a new unfitted estimator, see `new`.
    search : mapping of str to tuple
        Values to tune over, as in the method's paper, by parameter or short name.
    short : mapping of str to str, default={}
        Short names of parameters of inner estimators.
    depth : int, default=0
        Parameters of the estimator that lies so many levels inside have short names, too.
    abilities : Abilities or None, default=None
        Abilities; None for the baselines.
    names : frozenset of str, default=frozenset()
        Names of all parameters that can be set, with which a wrong one is told before the estimator
        is imported; the empty set asks the estimator.
    """

    name: str
    title: str
    summary: str
    pattern: Pattern
    search: Grid
    short: Mapping[str, str] = field(default_factory=dict)
    depth: int = 0
    abilities: Abilities | None = None
    names: frozenset[str] = frozenset()

    @property
    def estimator(self) -> type:
        """The class."""
        return type(self.pattern())

    @cached_property
    def aliases(self) -> Mapping[str, str]:
        """Short names of parameters of inner estimators, and what `set_params` takes."""
        return {**self.short, **_parameters_inside(self.pattern(), self.depth)}

    @cached_property
    def grid(self) -> Grid:
        """Values to tune over; the keys are parameters of the estimator, as for `GridSearchCV`.

        It is a full grid: most searches start from a part of it.
        """
        return {self.aliases.get(name, name): values for name, values in self.search.items()}

    @property
    def parameters(self) -> dict[str, Any]:
        """Names of the parameters that can be set, aliases among them, and their defaults."""
        inner = self.pattern().get_params(deep=True)
        own = {
            name: value
            for name, value in inner.items()
            if "__" not in name and not hasattr(value, "get_params")
        }
        return {alias: inner[name] for alias, name in self.aliases.items()} | own

    def make(self, **parameters: Any) -> "BaseEstimator":
        """Return an unfitted estimator.

        Parameters
        ----------
        **parameters
            Parameters by name or alias. A text, as it comes from the command line, is read as the
            number, truth value, None or list that the parameter takes: "8", "1e-3", "2^-3", "true",
            "None", "[0.1, 1]". Values are checked by `fit`.

        Returns
        -------
        estimator
            The estimator.
        """
        model = self.pattern()
        known = model.get_params(deep=True)
        values = {}
        for name, value in parameters.items():
            target = self.parameter(name)
            if target in values:
                raise ValueError(
                    f"{self.name} is given {target} twice, by two of its names; expected once."
                )
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
            Name for `set_params`.
        """
        self.check_name(name)
        target = self.aliases.get(name, name)
        if target not in self.pattern().get_params(deep=True):
            raise self._unknown(name, self.parameters)
        return target

    def check_name(self, name: str) -> None:
        """Raise ValueError for a name that is not in `names`, if these are given.

        Parameters
        ----------
        name : str
            A parameter or an alias.
        """
        # With two underscores a name may be that of a parameter inside.
        if self.names and name not in self.names and "__" not in name:
            raise self._unknown(name, self.names)

    def _unknown(self, name: str, names: Collection[str]) -> ValueError:
        known = sorted(names, key=str.lower)
        return ValueError(
            f"{self.name} has no parameter {name!r}{did_you_mean(name, known)}; expected one "
            f"of {', '.join(known)}."
        )


def parse(text: str, default: object) -> object:
    """Read a parameter's value from text."""
    word = text.strip().lower()
    may_be_none = default is None or (isinstance(default, tuple) and None in default)
    # Some parameters have "none" among their names.
    if text.strip() == "None" or (may_be_none and word in _NONE):
        return None
    if word[:1] in ("[", "("):
        with suppress(ValueError, SyntaxError):
            return literal_eval(text.strip())
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


def new(path: str, *inner: Pattern, **parameters: Any) -> Pattern:
    """Return a factory of an estimator, which imports its module only when called."""

    def make() -> Any:
        module, _, name = path.partition(":")
        values = {key: value() if callable(value) else value for key, value in parameters.items()}
        return getattr(import_module(module), name)(*(one() for one in inner), **values)

    return make


def _parameters_inside(estimator: Any, depth: int) -> dict[str, str]:
    """Return the parameters of what lies `depth` levels inside, and their full names."""
    if depth == 0:
        return {}
    prefix = ""
    for _ in range(depth):
        parameters = estimator.get_params(deep=False)
        # ClassifierChain has "base_estimator" before scikit-learn 1.7.
        name = "estimator" if "estimator" in parameters else "base_estimator"
        prefix += f"{name}__"
        estimator = parameters[name]
    return {name: prefix + name for name in estimator.get_params(deep=False)}
