"""The data of a fit, its folds and its time."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from multimargin.calibration.calibrated import with_empty_label
from multimargin.calibration.held_out import HeldOut
from multimargin.features.views import Views
from multimargin.notices import warn
from multimargin.targets.empty_rows import is_mostly_empty, share_of_empty_rows
from multimargin.targets.indicator import count_labels, with_nan
from multimargin.targets.reading import Targets
from multimargin.tuning.folds import Rows, folds_of
from multimargin.typing import Features, Folds, Marks, Matrix, MatrixLike

Fold = tuple[Rows, Rows]

# Pairs of a row and a label beyond which one fold and one loss are enough, and settings are
# compared on a sample of the rows; rows beyond which they are, for dense features, with which
# kernels are tried, and for others; and the size of the sample.
_MANY_PAIRS = 2**20
_MOST_DENSE, _MOST_OTHERS = 4_000, 20_000
_FEWEST_DRAWN, _MOST_DRAWN = 3_000, 12_000
# Rows that are held out with shortlists.
_MOST_HELD_OUT = 2**15
# Share of rows without labels from which these are learned.
_FEWEST_EMPTY = 0.01
# And from which rows are compared.
_MANY_EMPTY = 0.05


def views_of(model: Any, *, dense: bool | str) -> Views:
    """Return what prepares the features of a fit.

    Units matter where C, gamma or other parameters of a kernel are given.
    """
    chosen = isinstance(model.Cs, Integral) and isinstance(model.gamma, str | None)
    # A stack that is listed, and a ranker alone, are of all features.
    several = model.calibration and isinstance(model.stack, str)
    return Views(
        None if isinstance(model.views, str) and not several else model.views,
        unit_length=model.unit_length,
        scaling=model.scaling,
        unit_variance=chosen and model.kernel in ("auto", "linear", "rbf", "laplacian"),
        dense=dense,
    )


@dataclass(frozen=True, eq=False)
class Task:
    """Rows, their labels and the folds."""

    views: Views
    parts: list[Any]  # Features of each view, (n, d) each
    targets: Targets  # As they are given
    learned: Targets  # With an additional label for rows without labels, if `empty_label`
    sample_weight: Matrix | None
    groups: Any
    folds: list[Fold]
    searched: list[Fold]  # On which settings are compared
    seed: int

    @property
    def empty_label(self) -> bool:
        """True if rows without labels have their own label."""
        return bool(self.learned.indicator.shape[1] > self.targets.indicator.shape[1])

    @property
    def has_many_empty(self) -> bool:
        """True if so many rows have no label that rows are compared."""
        return share_of_empty_rows(self.targets.indicator) >= _MANY_EMPTY

    @cached_property
    def is_mostly_empty(self) -> bool:
        """True if most rows have only the label of empty rows: other pairs teach little."""
        return self.empty_label and is_mostly_empty(self.targets.indicator)

    @cached_property
    def rows(self) -> Features:
        """The features of all views side by side."""
        return self.views.side_by_side(self.parts)

    @cached_property
    def labels(self) -> Marks:
        """Indicator of the learned labels, with NaN for unknown ones."""
        return with_nan(self.learned.indicator)

    def held_out(self, folds: list[Fold]) -> HeldOut:
        """Return labels, weights and folds for the scores of held-out rows."""
        n_learned = self.targets.indicator.shape[1] if self.is_mostly_empty else None
        of_rows = self.labels, self.sample_weight, folds, self.groups
        return HeldOut.of([], *of_rows, n_learned)

    @property
    def sampled(self) -> bool:
        """True if settings are compared on a sample."""
        return self.searched is not self.folds


def with_empty(targets: Targets, *, calibration: bool) -> Targets:
    """Return targets with a label for empty rows, if there are any and they are calibrated."""
    indicator = targets.indicator
    if calibration and share_of_empty_rows(indicator) >= _FEWEST_EMPTY:
        indicator = with_empty_label(indicator)
    return Targets(indicator, np.arange(indicator.shape[1]), True, None)


def has_many_pairs(targets: Targets) -> bool:
    """Return whether there are so many pairs of a row and a label that a part is enough."""
    return math.prod(targets.indicator.shape) > _MANY_PAIRS


def chosen_folds(
    cv: Folds,
    X: MatrixLike,
    targets: Targets,
    groups: ArrayLike | None,
    parts: Sequence[Features],
    seed: int,
) -> tuple[list[Fold], list[Fold]]:
    """Return the folds of a fit, and those on which settings are compared."""
    folds = folds_of(cv, X, targets.strata, groups)
    if has_many_pairs(targets) and isinstance(cv, Integral):
        # One part has as many rows as a calibration needs, or more.
        (train, test), *_ = folds
        if sparse.issparse(targets.indicator) and test.size > _MOST_HELD_OUT:
            drawn = np.random.RandomState(seed).permutation(test.size)[:_MOST_HELD_OUT]
            test = test[np.sort(drawn)]
        folds = [(train, test)]
    return folds, _searched_folds(folds, parts, targets, seed)


def _searched_folds(
    folds: list[Fold], parts: Sequence[Any], targets: Targets, seed: int
) -> list[Fold]:
    """Return the folds for comparing settings: the same, or those of a sample of the rows."""
    n, q = targets.indicator.shape
    dense = not all(map(sparse.issparse, parts))
    if not has_many_pairs(targets) and n <= (_MOST_DENSE if dense else _MOST_OTHERS):
        return folds
    size = _FEWEST_DRAWN
    if not dense:
        size = int(np.clip(_MANY_PAIRS // q, _FEWEST_DRAWN, _MOST_DRAWN))
    if size >= n:
        return folds
    sampled = np.zeros(n, dtype=bool)
    sampled[np.random.RandomState(seed).permutation(n)[:size]] = True
    return [(train[sampled[train]], test[sampled[test]]) for train, test in folds]


def warn_of_rare_labels(targets: Targets, n_folds: int) -> None:
    """Warn, once, of labels with fewer relevant rows than folds."""
    counts, _ = count_labels(targets.indicator, axis=0)
    rare = np.flatnonzero(counts < n_folds)
    if rare.size:
        names = targets.classes if targets.label_names is None else targets.label_names
        shown = ", ".join(str(names[k]) for k in rare[:5]) + (", ..." if rare.size > 5 else "")
        labels = "1 label" if rare.size == 1 else f"{rare.size} labels"
        warn(
            f"y has {labels} with fewer relevant rows than the {n_folds} folds, {shown}: their "
            "probabilities borrow from those of other labels."
        )
