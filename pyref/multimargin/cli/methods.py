"""``multimargin methods``."""

import re
from collections.abc import Mapping
from math import frexp
from typing import TYPE_CHECKING, Annotated, Any

import typer

from multimargin.cli.options import Json, known_method
from multimargin.methods import find_method

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator


def command(
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="METHOD", callback=known_method, help="The method whose parameters to show."
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """List the methods and baselines, or the parameters of one.

    \b
    Examples:
      multimargin methods
      multimargin methods mlodm
      multimargin methods ml-knn
    """
    from multimargin.cli.output import console, pairs_table, print_json

    if name is None:
        _list(as_json)
        return
    method = find_method(name)
    if as_json:
        print_json(
            {
                name: getattr(method, name)
                for name in ("name", "title", "summary", "parameters", "grid")
            }
        )
        return
    grid = {_short(method, key): values for key, values in method.grid.items()}
    meanings = parameter_meanings(method.make(), method.aliases)
    rows = []
    for key, default in method.parameters.items():
        choices, meaning = meanings.get(key, ("", ""))
        tried = [_value(value) for value in grid.get(key, ())]
        shown = tried if len(tried) <= 6 else [*tried[:3], "...", tried[-1]]
        tuned = f" Tuned over {', '.join(shown)}." if key in grid else ""
        rows.append((key, str(default), f"{choices}. {meaning}{tuned}".removeprefix(". ")))
    console().print(f"{method.title}: {method.summary}\n")
    console().print(pairs_table([("parameter", "default", "what it takes and means"), *rows]))


def _list(as_json: bool) -> None:
    """List all names without importing the methods."""
    from multimargin.cli.output import console, pairs_table, print_json
    from multimargin.methods import BASELINES, METHODS

    every = [(method, False) for method in METHODS.values()]
    every += [(method, True) for method in BASELINES.values()]
    if as_json:
        keys = ("name", "title", "summary", "baseline")
        listed = [
            dict(zip(keys, (one.name, one.title, one.summary, is_baseline), strict=True))
            for one, is_baseline in every
        ]
        print_json({"methods": listed})
        return
    rows = [
        (one.name, one.title, f"baseline: {one.summary}" if is_baseline else one.summary)
        for one, is_baseline in every
    ]
    console().print(pairs_table(rows))


def parameter_meanings(
    estimator: "BaseEstimator", aliases: Mapping[str, str]
) -> dict[str, tuple[str, str]]:
    """Read the values and the first sentence of each parameter from an estimator's docstring.

    `aliases` are short names of parameters of inner estimators, whose docstrings are read too.
    """
    found = _documented(estimator)
    inner = estimator.get_params(deep=True)
    for alias, target in aliases.items():
        part, _, name = target.rpartition("__")
        if part in inner:
            found[alias] = _documented(inner[part]).get(name, ("", ""))
    return found


def _documented(estimator: Any) -> dict[str, tuple[str, str]]:
    from inspect import cleandoc

    # python -OO strips docstrings.
    text = cleandoc(type(estimator).__doc__ or "")
    _, _, section = text.partition("\nParameters\n----------\n")
    found = {}
    for entry in re.split(r"\n(?=\w)", re.split(r"\n\n\w[\w ]*\n---", section)[0]):
        head, _, body = entry.partition("\n")
        names, colon, kind = head.partition(" : ")
        if not colon:
            continue
        words = " ".join(body.split()).replace("``", "").replace("`", "")
        sentence = re.split(r"(?<=\.)\s", words, maxsplit=1)[0].rstrip(".") + "."
        for name in names.split(", "):
            found[name] = (re.sub(r",? default=.*", "", kind), sentence)
    return found


def _short(method: Any, parameter: str) -> str:
    by_target: dict[str, str] = {target: alias for alias, target in method.aliases.items()}
    return by_target.get(parameter, parameter)


def _value(value: Any) -> str:
    if not isinstance(value, float):
        return str(value)
    mantissa, exponent = frexp(value)
    # Powers are written as they can be typed.
    return f"2^{exponent - 1}" if mantissa == 0.5 and value != 1.0 else f"{value:g}"
