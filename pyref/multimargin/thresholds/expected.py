"""Cuts of probabilities with the largest expected F1."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import expit, logit

from multimargin.checks.parameters import check_real
from multimargin.targets.indicator import UNKNOWN
from multimargin.thresholds.base import Known, LabelwiseThreshold
from multimargin.typing import Scores, Vector

_TINY = float(np.finfo(float).tiny)


@dataclass(repr=False, eq=False)
class ExpectedF1Threshold(LabelwiseThreshold):
    """The thresholds of calibrated probabilities with the largest F1 that they promise.

    Of pairs of a row and a label with the probabilities p_1, p_2, ..., the m highest have the
    expected F1 of 2 (p_1 + ... + p_m) / (m + p_1 + p_2 + ...). The best of these, F, has all
    that are above F / 2. For labels with few relevant rows, the cut with the best F1 is a matter of
    chance; the expected F1 is not. The threshold of label k is t + own (t_k - t): between its own
    best, t_k, and that of all labels, t.

    Parameters
    ----------
    own : float, default=0.25
        0 is one threshold for all labels, for micro-F1, and 1 one for each, for macro-F1. A quarter
        has most of both, and hardly changes which labels of a row come first.

    Attributes
    ----------
    thresholds_ : ndarray of shape (q,)
        The threshold of each label.

    Notes
    -----
    Scores are logarithms of odds, such as those of `CalibratedClassifier`. Of labels it is only
    used which are known; a label that is known nowhere has the threshold t.

    Examples
    --------
    >>> from multimargin.thresholds import ExpectedF1Threshold
    >>> odds = [[2.0, -1.0], [-1.0, -2.0], [-3.0, -3.0]]
    >>> cut = ExpectedF1Threshold(own=1.0).fit(odds, [[1, 0], [0, 0], [0, 0]])
    >>> cut.predict_labels(odds)
    array([[1, 1],
           [0, 1],
           [0, 0]])
    """

    own: float = 0.25

    def _check_parameters(self) -> None:
        check_real("own", self.own, at_least=0.0, at_most=1.0)

    def _learn(self, scores: Scores, Y: Known, weights: Vector | None, X: Any) -> None:
        of_rows = np.ones(len(Y)) if weights is None else weights / max(weights.max(), _TINY)
        known = np.where(Y == UNKNOWN, 0.0, of_rows[:, None])
        if not known.any():
            raise ValueError("y has no known label in a row of positive weight; expected some.")
        probabilities = expit(scores.astype(np.float64))
        common = _cut(probabilities.ravel(), known.ravel())
        self.thresholds_ = np.full(Y.shape[1], common)
        for k in np.flatnonzero(known.any(axis=0)):
            self.thresholds_[k] += self.own * (_cut(probabilities[:, k], known[:, k]) - common)


def _cut(probabilities: Vector, weights: Vector) -> float:
    """Return the logarithm of the odds F / 2, of the largest expected F1, F."""
    hits = weights * probabilities
    f1, better = 0.0, _TINY
    # Iterated: the cut at half of a cut's F1 has a larger F1, until that is the largest.
    while better > f1:
        f1, above = better, probabilities > better / 2.0
        both = float(weights[above].sum() + hits.sum())
        better = 2.0 * float(hits[above].sum()) / max(both, _TINY)
    return float(logit(f1 / 2.0))
