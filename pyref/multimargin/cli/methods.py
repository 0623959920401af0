"""``multimargin methods``."""

from math import frexp
from typing import Annotated, Any

import typer

from multimargin.cli.options import Json, WrongUsage


def command(
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="METHOD", help="Show the parameters of this one.", show_default=False
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
    from multimargin.compare.experiment.baselines import BASELINES, find_estimator
    from multimargin.methods import METHODS

    if name is None:
        if as_json:
            print_json(
                {
                    "methods": [
                        {
                            "name": method.name,
                            "title": method.title,
                            "summary": method.summary,
                            "baseline": method.name in BASELINES,
                        }
                        for method in (*METHODS.values(), *BASELINES.values())
                    ]
                }
            )
            return
        rows = [(m.name, m.title, m.summary) for m in METHODS.values()]
        rows += [(m.name, m.title, f"baseline: {m.summary}") for m in BASELINES.values()]
        console().print(pairs_table(rows))
        return
    try:
        method = find_estimator(name)
    except ValueError as error:
        raise WrongUsage(str(error)) from error
    if as_json:
        print_json(
            {
                "name": method.name,
                "title": method.title,
                "summary": method.summary,
                "parameters": method.parameters,
                "grid": method.grid,
            }
        )
        return
    grid = {_short(method, key): values for key, values in method.grid.items()}
    rows = [
        (f"--{key}", str(default), f"tuned over {_span(grid[key])}" if key in grid else "")
        for key, default in method.parameters.items()
    ]
    console().print(f"{method.title}: {method.summary}\n", markup=False)
    console().print(pairs_table([("parameter", "default", ""), *rows]))


def _short(method: Any, parameter: str) -> str:
    by_target: dict[str, str] = {target: alias for alias, target in method.aliases.items()}
    return by_target.get(parameter, parameter)


def _span(values: tuple[Any, ...]) -> str:
    shown = [_value(value) for value in values]
    return ", ".join(shown if len(shown) <= 6 else [*shown[:3], "...", shown[-1]])


def _value(value: Any) -> str:
    if not isinstance(value, float):
        return str(value)
    mantissa, exponent = frexp(value)
    # Powers are written as they can be typed.
    return f"2^{exponent - 1}" if mantissa == 0.5 and value != 1.0 else f"{value:g}"
