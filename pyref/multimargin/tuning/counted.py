"""The rows of a fit that count: those of weight 0 are left out before anything is learned."""

from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from multimargin.checks.weights import rows_that_count
from multimargin.scikit_learn import safe_indexing
from multimargin.targets.reading import Targets
from multimargin.tuning.folds import Rows, folds_of
from multimargin.tuning.groups import check_groups
from multimargin.typing import Folds, MatrixLike, Vector


@dataclass(frozen=True)
class Counted:
    """The arguments of a fit, of the rows with a positive weight."""

    X: Any
    targets: Targets
    sample_weight: Vector | None
    groups: Any
    cv: Folds  # Of these rows
    rows: Rows | None  # Their numbers, None for all


def counted(
    X: MatrixLike,
    targets: Targets,
    sample_weight: Vector | None,
    groups: ArrayLike | None,
    cv: Folds,
) -> Counted:
    """Return checked arguments of a fit without the rows of weight 0.

    A splitter and pairs of row numbers are of all rows, a number of folds is of those that count.
    """
    rows, groups = rows_that_count(sample_weight), check_groups(groups, targets.indicator.shape[0])
    if rows is None:
        return Counted(X, targets, sample_weight, groups, cv, None)
    assert sample_weight is not None
    if not (cv is None or isinstance(cv, Integral)):
        cv = _among(rows, folds_of(cv, X, targets.strata, groups), len(sample_weight))
    groups = None if groups is None else groups[rows]
    X, targets = safe_indexing(X, rows), targets.rows(rows)
    return Counted(X, targets, sample_weight[rows], groups, cv, rows)


def _among(rows: Rows, folds: list[tuple[Rows, Rows]], n: int) -> list[tuple[Rows, Rows]]:
    """Return folds of n rows in the numbers of some of these, where one of them is held out."""
    place = np.full(n, -1)
    place[rows] = np.arange(rows.size)
    found = [(place[train], place[test]) for train, test in folds]
    kept = [(train[train >= 0], test[test >= 0]) for train, test in found]
    kept = [(train, test) for train, test in kept if test.size]
    if not kept or not all(train.size for train, _ in kept):
        part = "to learn from" if kept else "held out"
        raise ValueError(f"cv has a fold with no row {part} but those of sample_weight 0.")
    return kept
