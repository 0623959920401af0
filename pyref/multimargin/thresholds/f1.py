"""One threshold for all rows and labels: the one that gives the best F1."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from multimargin.checks.parameters import check_choice
from multimargin.targets.indicator import UNKNOWN
from multimargin.thresholds.base import CommonThreshold, Known, middle
from multimargin.typing import Matrix, Scores, Vector

AVERAGES = ("micro", "macro", "samples")
# By which sums of F1 may differ for their rounding alone.
_ROUNDING = 1e-12


@dataclass(repr=False, eq=False)
class F1Threshold(CommonThreshold):
    """The same threshold for all rows and labels, chosen by F1.

    Parameters
    ----------
    average : {"micro", "macro", "samples"}, default="micro"
        F1 to maximise: over all pairs of a row and a label, the mean over the labels, or the mean
        over the rows.

    Attributes
    ----------
    value_ : float
        The threshold.
    score_ : float
        F1 at the threshold, of the rows that it was learned from.

    Notes
    -----
    All thresholds between two neighbouring scores predict the same labels; the F1 of each is found
    exactly, in one sorted pass. Of several that are equally good the highest is taken. A row or a
    label with nothing relevant and nothing predicted has F1 = 1, as in `multimargin.measures`.

    The estimators with ``threshold="micro"`` learn it from evenly spaced training rows where all
    have more than 2^24 scores.

    Meant for scores of rows that the model has not seen, on one scale for all labels, such as those
    of `CalibratedClassifier`.

    Examples
    --------
    >>> from multimargin.thresholds import F1Threshold
    >>> cut = F1Threshold().fit([[0.9, 0.8, 0.1], [0.7, 0.2, 0.3]], [[1, 1, 0], [1, 0, 0]])
    >>> cut.value_, cut.score_
    (0.5, 1.0)
    """

    average: str = "micro"

    def _check_parameters(self) -> None:
        check_choice("average", self.average, AVERAGES)

    def fit_listed(
        self,
        scores: Matrix,
        indicator: NDArray[np.uint8],
        sample_weight: Vector | None,
        n_relevant: Vector,
    ) -> Self:
        """Fit to some labels of each row, of "micro" or "samples".

        Parameters
        ----------
        scores : ndarray of shape (n, k)
            Scores of the labels.
        indicator : ndarray of shape (n, k)
            1 where they are relevant, 0 where not, `targets.indicator.UNKNOWN` where that is open.
        sample_weight : ndarray of shape (n,) or None
            Weights of the rows.
        n_relevant : ndarray of shape (n,)
            Numbers of relevant labels of the rows, those without a score included.
        """
        self.check()
        self._learn(scores, indicator, sample_weight, None, n_relevant)
        return self

    def _learn(
        self,
        scores: Scores,
        Y: Known,
        weights: Vector | None,
        X: Any,
        n_relevant: Vector | None = None,
    ) -> None:
        n, q = Y.shape
        counts = np.ones(n) if weights is None else weights
        counted = (Y != UNKNOWN) & (counts > 0.0)[:, None]
        if not counted.any():
            raise ValueError("y has no known label in a row of positive weight; expected some.")
        relevant_weight = None
        if self.average == "micro":
            relevant = counted & (Y == 1)
            relevant_weight = np.array([float(counts @ np.count_nonzero(relevant, axis=1))])
            if weights is None and n_relevant is None:
                counted &= scores >= _lowest_of_use(scores, counted, relevant)
        if n_relevant is not None:
            relevant_weight = counts * n_relevant
            if self.average == "micro":
                relevant_weight = relevant_weight.sum(keepdims=True)
        rows, labels = np.nonzero(counted)
        groups, shares = {
            "micro": (np.zeros_like(rows), np.ones(1)),
            "macro": (labels, np.ones(q)),
            "samples": (rows, counts),
        }[self.average]
        self.value_, self.score_ = _best_cut(
            scores[rows, labels],
            Y[rows, labels] == 1,
            counts[rows],
            groups,
            shares,
            relevant_weight,
        )


def _best_cut(
    scores: NDArray[Any],
    relevant: NDArray[np.bool_],
    weights: Vector,
    groups: NDArray[np.intp],
    shares: Vector,
    relevant_weight: Vector | None = None,
) -> tuple[float, float]:
    """Return the cut with the largest weighted mean F1 of groups of pairs, and its F1.

    `relevant_weight` of each group is that of its pairs, if no relevant ones were left out.
    """
    present = np.unique(groups)
    total = float(shares[present].sum())
    of_pairs = np.bincount(groups, weights * relevant, minlength=shares.size)
    in_groups = of_pairs if relevant_weight is None else relevant_weight
    # F1 changes by one group at a time as the cut falls past the pairs, the highest first.
    descending = np.argsort(-scores, kind="stable")
    order = descending[np.argsort(groups[descending], kind="stable")]
    group = groups[order]
    first = np.r_[True, group[1:] != group[:-1]]
    start = np.maximum.accumulate(np.where(first, np.arange(group.size), 0))
    hits = _running(weights[order] * relevant[order], start)
    predicted = _running(weights[order], start)
    after = 2.0 * hits / (predicted + in_groups[group])
    nothing = np.where(in_groups > 0.0, 0.0, 1.0)
    before = np.where(first, nothing[group], np.r_[0.0, after[:-1]])
    change = np.empty_like(after)
    change[order] = (after - before) * shares[group] / total

    s = scores[descending].astype(np.float64)
    base = float((nothing * shares)[present].sum()) / total
    # Entry j: the j highest pairs are predicted.
    f1 = base + np.r_[0.0, np.cumsum(change[descending])]
    upper, lower = np.r_[np.inf, s], np.r_[s, -np.inf]
    f1[upper == lower] = -np.inf
    # Of equal cuts the highest: how sums of as many pairs round depends on the order of the rows.
    best = int(np.argmax(f1 >= f1.max() - _ROUNDING))
    return float(middle(lower[best], upper[best])), float(f1[best])


def _lowest_of_use(
    scores: NDArray[Any], counted: NDArray[np.bool_], relevant: NDArray[np.bool_]
) -> float:
    """Return a score below which no cut has the best micro-F1.

    Where R pairs are relevant, P predictions have an F1 of 2 R / (P + R) at most: with the F1 of
    one cut known, no more predictions than 2 R / F1 - R can be better.
    """
    known = scores[counted]
    R = np.count_nonzero(relevant)
    if not 0 < R < known.size:
        return -np.inf
    tried = np.partition(known, known.size - R)[known.size - R]
    predicted = counted & (scores >= tried)
    hits = np.count_nonzero(predicted & relevant)
    if hits == 0:
        return -np.inf
    f1 = 2.0 * hits / (np.count_nonzero(predicted) + R)
    # One more, which the cut excludes.
    most = int(np.ceil(2.0 * R / f1 - R)) + 1
    if most >= known.size:
        return -np.inf
    return float(np.partition(known, known.size - most)[known.size - most])


def _running(values: Vector, start: NDArray[np.intp]) -> Vector:
    """Return sums from `start` up to each place, inclusive."""
    sums = np.cumsum(values)
    return sums - sums[start] + values[start]
