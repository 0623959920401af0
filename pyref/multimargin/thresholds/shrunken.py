"""A cut for each label, shrunken towards a common one."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from multimargin.checks.parameters import check_real
from multimargin.targets.indicator import UNKNOWN, with_nan
from multimargin.thresholds.base import Known, LabelwiseThreshold
from multimargin.thresholds.f1 import F1Threshold
from multimargin.thresholds.labels import best_cut, deal_folds, f1_of
from multimargin.typing import Scores, Vector

_N_FOLDS = 5


@dataclass(repr=False, eq=False)
class ShrunkenThreshold(LabelwiseThreshold):
    """One threshold per label, shrunken towards the common one, for macro-F1.

    The best threshold of a label with few relevant rows is a matter of chance; a single threshold
    for all labels ignores the evidence of frequent labels. The threshold of label k is t + n_k /
    (n_k + m) (t_k - t): between its own best, t_k, and that of all labels, t, by the number n_k of
    its relevant rows; m is chosen by cross-validation.

    Parameters
    ----------
    strengths : sequence of float, default=(10, 30, 100, 300, inf)
        Values of m to choose from, above 0; infinity is the common threshold.
    reach : float, default=3.0
        Largest distance of a label's own threshold from the common one, above 0: meant for
        logarithms of odds.

    Attributes
    ----------
    common_ : float
        t, the common threshold with the largest macro-F1.
    strength_ : float
        The m that was chosen.
    thresholds_ : ndarray of shape (q,)
        The threshold of each label.

    Notes
    -----
    A label's own threshold is the mean of those with the largest F1 without one of five folds each,
    as in `LabelsThreshold`; m is chosen by the macro-F1 of the rows of these folds. Rows count by
    their weights. A label without relevant rows has the common one.

    Examples
    --------
    >>> import numpy as np
    >>> from multimargin.thresholds import ShrunkenThreshold
    >>> rng = np.random.default_rng(0)
    >>> odds = rng.normal(size=(400, 3))
    >>> y = odds + rng.normal(size=(400, 3)) > [0.0, 1.0, 2.0]
    >>> bool(np.all(np.diff(ShrunkenThreshold().fit(odds, y).thresholds_) > 0))
    True
    """

    strengths: Sequence[float] = (10.0, 30.0, 100.0, 300.0, np.inf)
    reach: float = 3.0

    def _check_parameters(self) -> None:
        _strengths(self.strengths)
        check_real("reach", self.reach, above=0.0)

    def _learn(self, scores: Scores, Y: Known, weights: Vector | None, X: Any) -> None:
        strengths, reach = _strengths(self.strengths), float(self.reach)
        self.common_ = F1Threshold("macro").fit(scores, with_nan(Y), None, weights).value_
        q = Y.shape[1]
        counts = np.ones(len(Y)) if weights is None else weights
        shares, own, f1 = np.zeros((strengths.size, q)), np.full(q, self.common_), []
        for k in range(q):
            rows = np.flatnonzero((counts > 0.0) & (Y[:, k] != UNKNOWN))
            relevant = Y[rows, k] == 1
            if not relevant.any():
                continue
            shares[:, k] = 1.0 / (1.0 + strengths / counts[rows][relevant].sum())
            label = _Label(scores[rows, k].astype(np.float64), relevant, counts[rows])
            cuts = np.clip(label.cuts, self.common_ - reach, self.common_ + reach)
            own[k] = cuts.mean()
            f1.append([label.f1(self.common_ + s * (cuts - self.common_)) for s in shares[:, k]])
        # The strongest one on ties.
        best = strengths.size - 1 - int(np.argmax(np.mean(f1, axis=0)[::-1])) if f1 else -1
        self.strength_ = float(strengths[best])
        self.thresholds_ = self.common_ + shares[best] * (own - self.common_)

    def rescale(self, factor: float) -> Self:
        super().rescale(factor)
        self.common_ *= factor
        return self


class _Label:
    """Scores of a label, with the best cut without each fold."""

    def __init__(self, scores: Vector, relevant: Any, counts: Vector) -> None:
        # Equal scores in the order of the rows: the result must not depend on the sort.
        order = np.argsort(-scores, kind="stable")
        self._folds = deal_folds(relevant, _N_FOLDS)[order]
        self._scores, self._relevant, self._counts = scores[order], relevant[order], counts[order]
        self.cuts = np.array([self._cut_without(fold) for fold in range(self._folds.max() + 1)])

    def _cut_without(self, fold: int) -> float:
        kept = self._folds != fold if self._folds.max() > 0 else np.ones(self._folds.size, bool)
        return best_cut(self._scores[kept], self._relevant[kept], self._counts[kept], "f1")

    def f1(self, cuts: Vector) -> float:
        """Return F1 with a cut for the rows of each fold."""
        return f1_of(self._scores > cuts[self._folds], self._relevant, self._counts)


def _strengths(values: Any) -> Vector:
    """Return the strengths, increasing."""
    try:
        strengths = np.unique(np.asarray(values, dtype=np.float64))
    except (TypeError, ValueError):
        strengths = np.empty(0)
    if strengths.size == 0 or not (strengths > 0.0).all():
        raise ValueError(f"strengths is {values!r}; expected numbers above 0, or infinity.")
    return strengths
