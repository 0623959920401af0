"""Methods that predict alike: they are one method under two names, and have one rank."""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from multimargin.compare.results import Result
from multimargin.compare.statistics.differences import rounded

# The solution of Rank-CVM is that of Rank-LSVM divided by a number.
_EQUIVALENT = ("RankCVM", "RankLSVM")
# What decides that solution.
_PROBLEM = ("C", "kernel", "gamma", "degree", "coef0", "pair_weights", "threshold")


def doubles(results: Sequence[Result], keep: str | None = None) -> dict[str, str]:
    """Return for each method that predicts as another does that other one, `keep` where it can be.

    They agree on every measure of every split, or are Rank-CVM and Rank-LSVM with the same
    parameters, whose predictions differ by less than their tolerances.
    """
    by_method: dict[str, dict[tuple[str, str], Result]] = {}
    for result in results:
        by_method.setdefault(result.method, {})[result.data, result.split] = result
    names = sorted(by_method, key=lambda name: name != keep)
    found: dict[str, str] = {}
    for position, name in enumerate(names):
        for other in names[:position]:
            if other not in found and _alike(by_method[other], by_method[name]):
                found[name] = other
                break
    return found


def _alike(first: Mapping[Any, Result], second: Mapping[Any, Result]) -> bool:
    if first.keys() != second.keys():
        return False
    pairs = [(first[key], second[key]) for key in first]
    if any(one.failed or other.failed for one, other in pairs):
        return False
    return all(_measure_alike(*pair) for pair in pairs) or all(_equal(*pair) for pair in pairs)


def _measure_alike(one: Result, other: Result) -> bool:
    if one.measures.keys() != other.measures.keys() or not one.measures:
        return False
    values = [[row.measures[name] for name in one.measures] for row in (one, other)]
    first, second = rounded(values)
    return bool((first == second).all())


def _equal(one: Result, other: Result) -> bool:
    """Return whether both solve the same problem by Rank-CVM and Rank-LSVM."""
    classes = {one.estimator.get("class"), other.estimator.get("class")}
    return classes == set(_EQUIVALENT) and _problem(one) == _problem(other)


def _problem(result: Result) -> dict[str, Any]:
    parameters = {**result.estimator["parameters"]}
    parameters |= {} if result.tuning is None else result.tuning["parameters"]
    # Rank-CVM has one way to weigh pairs.
    return {"pair_weights": "balanced"} | {k: parameters[k] for k in _PROBLEM if k in parameters}


def ranked_once(table: pd.DataFrame, alike: Mapping[str, str]) -> pd.DataFrame:
    """Leave the columns out of a table that belong to methods which predict as another does."""
    return table.drop(columns=[name for name in alike if name in table])


def alike_notes(alike: Mapping[str, str]) -> tuple[str, ...]:
    """Return a sentence, without a full stop, on each method that predicts as another does."""
    return tuple(
        f"{name} and {other} predict alike or agree on every measure: they are ranked as one"
        for name, other in alike.items()
    )
