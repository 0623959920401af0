"""The search for parameters nested inside a split, on its training rows only."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any

from sklearn.base import clone
from sklearn.pipeline import Pipeline

from multimargin.checks.parameters import check_integer
from multimargin.measures import get_scorer
from multimargin.measures.scorers import Scorer, scorer_key
from multimargin.tuning.last_step import search_last_step
from multimargin.typing import Features, Marks

Grids = Mapping[str, Mapping[str, Sequence[Any]]]


@dataclass(frozen=True)
class Search:
    """Selection of a method's parameters on the training rows of a split."""

    # Values to try, one parameter after the other in this order, the others at their best so far
    grid: Mapping[str, Sequence[Any]]
    folds: int  # Number of folds of the training rows
    score: str  # A measure: what is tuned by


def searches(
    tune: bool | Grids, methods: Sequence[str], grids: Grids, folds: int, score: str
) -> dict[str, Search]:
    """Return the search of each method that is tuned."""
    check_integer("tune_folds", folds, at_least=2)
    scorer_of(score)
    if tune is False:
        return {}
    chosen = grids if tune is True else tune
    for name in chosen:
        if name not in methods:
            raise ValueError(f"tune names {name!r}; expected some of {', '.join(methods)}.")
    return {
        name: Search({key: list(values) for key, values in grid.items()}, folds, score)
        for name, grid in chosen.items()
        if grid
    }


def scorer_of(name: str) -> tuple[Scorer, int]:
    """Return the scorer of a measure, and the sign that turns its scores into the measure."""
    try:
        key = scorer_key(name)
    except ValueError as error:
        raise ValueError(f"tune_score{str(error).removeprefix('name')}") from error
    return get_scorer(key), -1 if key.startswith("neg_") else 1


def tuned(
    pipeline: Pipeline, search: Search, X: Features, y: Marks
) -> tuple[Pipeline, dict[str, object]]:
    """Choose the parameters of the last step of a pipeline."""
    scorer, sign = scorer_of(search.score)
    began = perf_counter()
    best, score, combinations = search_last_step(
        pipeline, search.grid, X, y, scoring=scorer, n_folds=search.folds
    )
    chosen = clone(pipeline)
    chosen[-1].set_params(**best)
    return chosen, {
        "parameters": best,
        "score": sign * score,
        "score_name": search.score,
        "combinations": combinations,
        "seconds": perf_counter() - began,
    }
