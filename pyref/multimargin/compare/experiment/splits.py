"""The splits of a data set into training and test rows, the same for every method."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from multimargin.checks.parameters import check_integer
from multimargin.datasets import MultilabelData
from multimargin.datasets.tables import Table
from multimargin.targets.indicator import known_rows
from multimargin.tuning import MultilabelStratifiedKFold

OFFICIAL = "official"


@dataclass(frozen=True, eq=False)
class Split:
    """One division of the rows of a data set."""

    name: str  # "official", or "fold 3 of 10, seed 0"
    # Row indices, disjoint. Measures need all labels: rows with unknown ones are in no `test`.
    train: NDArray[np.intp]
    test: NDArray[np.intp]


def make_splits(data: MultilabelData | Table, cv: int | str, seed: int) -> list[Split]:
    """Split a data set.

    The folds keep the frequency of each label (Sechidis et al. 2011).
    """
    seed = check_integer("seed", seed, at_least=0, at_most=2**32 - 1)
    if cv == OFFICIAL:
        return [_measurable(data, _official(data))]
    if isinstance(cv, str):
        raise ValueError(f"cv is {cv!r}; expected a number of folds of at least 2 or {OFFICIAL!r}.")
    folds = check_integer("cv", cv, at_least=2)
    if data.n_samples < folds:
        raise ValueError(
            f"cv is {folds}, but data {data.name!r} has {data.n_samples} rows; expected at least "
            "one row per fold."
        )
    stratified = MultilabelStratifiedKFold(n_splits=folds, shuffle=True, random_state=seed)
    splits = []
    for fold, (train, test) in enumerate(stratified.split(np.zeros(len(data.Y)), data.Y), start=1):
        name = f"fold {fold} of {folds}, seed {seed}"
        # Iterative stratification balances the labels first; a fold can stay empty on tiny data.
        if not len(test):
            raise ValueError(
                f"cv is {folds}: {name} of data {data.name!r} has no row; expected fewer folds."
            )
        splits.append(_measurable(data, Split(name, train, test)))
    return splits


def _measurable(data: MultilabelData | Table, split: Split) -> Split:
    """Return a split whose test rows are those with a known label."""
    test = split.test[known_rows(data.Y[split.test])]
    if not test.size:
        raise ValueError(
            f"data {data.name!r}, {split.name}: none of the {split.test.size} test rows has a "
            "known label; expected some to measure on."
        )
    return split if test.size == split.test.size else Split(split.name, split.train, test)


def _official(data: MultilabelData | Table) -> Split:
    missing = [name for name in ("train", "test") if name not in data.splits]
    if missing:
        found = f", only {sorted(data.splits)}" if data.splits else ""
        raise ValueError(
            f"cv is {OFFICIAL!r}, but data {data.name!r} has no split "
            f"{missing[0]!r}{found}; expected a number of folds, or data with both."
        )
    train, test = data.splits["train"], data.splits["test"]
    for name, rows in (("train", train), ("test", test)):
        if not len(rows):
            raise ValueError(f"data {data.name!r}: split {name!r} has no row; expected some.")
    common = np.intersect1d(train, test)
    if common.size:
        raise ValueError(
            f"data {data.name!r}: {common.size} rows are in both 'train' and 'test', the first is "
            f"{common[0]}; expected disjoint splits."
        )
    return Split(OFFICIAL, train, test)
