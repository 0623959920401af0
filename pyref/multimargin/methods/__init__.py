"""The methods and baselines by name, for the command line, tuning and comparisons."""

from typing import TYPE_CHECKING, Any

from multimargin.checks.names import did_you_mean
from multimargin.methods.baselines import BASELINES
from multimargin.methods.method import Grid, Method, parse
from multimargin.methods.table import METHODS

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

__all__ = ["BASELINES", "METHODS", "Grid", "Method", "find_method", "make_method", "parse"]


def find_method(name: str) -> Method:
    """Return a method or a baseline by its name."""
    known = {**METHODS, **BASELINES}
    plain = str(name).strip().lower().replace("_", "-")
    # Many users will first type the name of the class, such as RankSVM.
    by_squeezed_name = {key.replace("-", ""): key for key in known}
    key = by_squeezed_name.get(plain.replace("-", ""))
    begun = [key for key in known if key.startswith(f"{plain}-")]
    if key is None and len(begun) == 1:
        key = begun[0]
    if key is None:
        raise ValueError(
            f"there is no method {name!r}{did_you_mean(plain, known)}; expected one of "
            f"{', '.join(known)}."
        )
    return known[key]


def make_method(name: str, /, **parameters: Any) -> "BaseEstimator":
    """Return an unfitted estimator by the name of its method.

    Parameters
    ----------
    name : str
        A key of `METHODS` or `BASELINES`, read as by `find_method`.
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
    >>> make_method("ovr-svc", C=10)
    WithOneClassLabels(estimator=OneVsRestClassifier(estimator=SVC(C=10)))
    """
    return find_method(name).make(**parameters)
