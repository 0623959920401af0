"""Names of parameters and measures in the `cv_results_` of a search."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from multimargin.measures import SCORERS
from multimargin.plots.checks import check_numbers


def column_of(cv_results: Any, key: str, candidates: Sequence[Any]) -> NDArray[np.float64]:
    """Return a column of numbers, one a candidate."""
    column = check_numbers(key, cv_results[key])
    if column.shape != (len(candidates),):
        raise ValueError(
            f"{key} has shape {column.shape}; expected ({len(candidates)},), one a candidate."
        )
    return column


def parameters_in(cv_results: Any, wanted: str | Sequence[str] | None) -> list[str]:
    if not isinstance(cv_results, Mapping) and not hasattr(cv_results, "columns"):
        raise TypeError(
            f"cv_results is a {type(cv_results).__name__}; expected the cv_results_ of a search."
        )
    searched = [key.removeprefix("param_") for key in cv_results if key.startswith("param_")]
    if wanted is None:
        varied = [
            name
            for name in searched
            if len({str(value) for value in cv_results[f"param_{name}"]}) > 1
        ] or searched
        if len(varied) not in (1, 2):
            raise ValueError(
                f"the search varied {len(varied)} parameters: {varied}; expected one or two of "
                "them as parameters."
            )
        return varied
    names = [wanted] if isinstance(wanted, str) else list(wanted)
    found = []
    for name in names:
        same = [known for known in searched if known == name] or [
            known for known in searched if known.endswith(f"__{name}")
        ]
        if len(same) != 1:
            raise ValueError(f"parameters has {name!r}; expected one of {searched}.")
        found.append(same[0])
    if len(set(found)) not in (1, 2) or len(set(found)) < len(found):
        raise ValueError(f"parameters is {names}; expected one name or two different ones.")
    return found


def measures_in(cv_results: Any, wanted: str | Sequence[str] | None) -> list[str]:
    known = [key.removeprefix("mean_test_") for key in cv_results if key.startswith("mean_test_")]
    if not known:
        raise ValueError("cv_results has no 'mean_test_...'; expected the cv_results_ of a search.")
    if wanted is None:
        return known
    names = [wanted] if isinstance(wanted, str) else list(wanted)
    for name in names:
        if name not in known:
            raise ValueError(f"measures has {name!r}; expected some of {known}.")
    return names


def name_of_scoring(scoring: Any) -> str | None:
    """Return what a search's only scorer is called, None where it is not known."""
    if isinstance(scoring, str):
        return scoring
    # Copies of a scorer are not equal, but they look alike.
    return next((name for name, scorer in SCORERS.items() if repr(scorer) == repr(scoring)), None)
