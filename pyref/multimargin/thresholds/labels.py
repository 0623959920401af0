"""A threshold for each label (SCut)."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from multimargin.checks.parameters import check_choice, check_integer, check_real
from multimargin.targets.indicator import UNKNOWN
from multimargin.thresholds.base import Known, LabelwiseThreshold, middle
from multimargin.typing import Scores, Vector

Counts = NDArray[Any]


def _f1(hits: Counts, predicted: Counts, relevant: float, n_rows: float) -> Vector:
    return np.asarray(2.0 * hits / (predicted + relevant))


def _accuracy(hits: Counts, predicted: Counts, relevant: float, n_rows: float) -> Vector:
    return np.asarray(n_rows - predicted - relevant + 2.0 * hits)


def _balanced_accuracy(hits: Counts, predicted: Counts, relevant: float, n_rows: float) -> Vector:
    # As an integer, so that ties are exact: 2 |P| |N| times it, minus |P| |N|.
    return np.asarray(hits * (n_rows - relevant) - (predicted - hits) * relevant, dtype=np.float64)


# Of a label with relevant and irrelevant rows; larger is better.
_MEASURES: dict[str, Callable[[Counts, Counts, float, float], Vector]] = {
    "f1": _f1,
    "hamming_loss": _accuracy,
    "balanced_accuracy": _balanced_accuracy,
}


@dataclass(repr=False, eq=False)
class LabelsThreshold(LabelwiseThreshold):
    """One threshold per label (SCut), learned from the scores of the label.

    Parameters
    ----------
    measure : {"f1", "hamming_loss", "balanced_accuracy"}, default="f1"
        Measure that is best for the rows of a label at its threshold. The labels are separate, so
        "f1" is also best for macro-F1 and "hamming_loss" for the Hamming loss of the label sets.
    n_splits : int or None, default=5
        Number of folds of the rows, at least 2: a label's threshold is the mean of those that are
        best without one of the folds each, which is steadier for rare labels. None learns one
        threshold from all rows.
    fbr : float, default=0.0
        Labels with an F1 below it on the held-out folds get the highest score of the training rows
        as threshold and are then hardly ever predicted; in [0, 1].

    Attributes
    ----------
    thresholds_ : ndarray of shape (q,)
        t_k.
    f1_ : ndarray of shape (q,)
        F1 of each label on the held-out folds (on all rows for ``n_splits=None``); 0 for a label
        without relevant rows.

    Notes
    -----
    SCut and `fbr`: Yang 2001; the mean over folds: Fan & Lin 2007. All t between two neighbouring
    distinct scores predict the same rows. Of the intervals with the best measure the lowest is
    taken, and t is its middle, or one unit beyond the last score if the interval is unbounded. A
    label without relevant rows gets a threshold above all its scores, one that is relevant
    everywhere a threshold below them. Fold i of a label holds each n_splits-th of its relevant
    rows, from the i-th on, and of its irrelevant rows; with fewer than n_splits of either kind,
    there are as many folds as rows of that kind. A row counts by its weight, and lies in one fold
    whatever its weight is.

    Scores of training rows are optimistic. `ThresholdedClassifier` learns the thresholds from
    scores of held-out rows.

    Examples
    --------
    >>> from multimargin.thresholds import LabelsThreshold
    >>> scores = [[3.0, 0.2], [2.0, 0.4], [1.0, 0.3], [0.0, 0.1]]
    >>> Y = [[1, 1], [1, 1], [0, 1], [0, 0]]
    >>> threshold = LabelsThreshold(n_splits=None).fit(scores, Y)
    >>> threshold.thresholds_
    array([1.5 , 0.15])
    >>> threshold.predict_labels([[1.7, 0.1]])
    array([[1, 0]])
    """

    measure: str = "f1"
    n_splits: int | None = 5
    fbr: float = 0.0

    def _check_parameters(self) -> None:
        check_choice("measure", self.measure, _MEASURES)
        if self.n_splits is not None:
            check_integer("n_splits", self.n_splits, at_least=2)
        check_real("fbr", self.fbr, at_least=0.0, at_most=1.0)

    def _learn(self, scores: Scores, Y: Known, weights: Vector | None, X: Any) -> None:
        n_folds, fbr = 1 if self.n_splits is None else int(self.n_splits), float(self.fbr)
        counts: Counts = np.ones(Y.shape[0], dtype=np.intp) if weights is None else weights
        counted = counts > 0
        self.thresholds_ = np.empty(Y.shape[1])
        self.f1_ = np.empty(Y.shape[1])
        for k in range(Y.shape[1]):
            rows = np.flatnonzero(counted & (Y[:, k] != UNKNOWN))
            if rows.size == 0:
                # A label that is unknown in all rows counts as irrelevant in all.
                rows = np.flatnonzero(counted)
            # Equal scores in the order of the rows: the result must not depend on the sort.
            order = np.argsort(-scores[rows, k], kind="stable")
            descending = rows[order]
            self.thresholds_[k], self.f1_[k] = self._fit_label(
                scores[descending, k].astype(np.float64),
                Y[descending, k] == 1,
                counts[descending],
                deal_folds(Y[rows, k] == 1, n_folds)[order],
            )
            if self.f1_[k] < fbr:
                self.thresholds_[k] = scores[counted, k].max()

    def _fit_label(
        self,
        scores: Vector,
        relevant: NDArray[np.bool_],
        counts: Counts,
        folds: NDArray[np.intp],
    ) -> tuple[float, float]:
        n_folds = folds.max() + 1
        if n_folds == 1:
            t = best_cut(scores, relevant, counts, self.measure)
            return t, f1_of(scores > t, relevant, counts)
        thresholds = []
        predicted = np.empty(scores.size, dtype=bool)
        for fold in range(n_folds):
            held_out = folds == fold
            t = best_cut(scores[~held_out], relevant[~held_out], counts[~held_out], self.measure)
            predicted[held_out] = scores[held_out] > t
            thresholds.append(t)
        # Divided first: the sum of large thresholds could overflow.
        return float(np.sum(np.asarray(thresholds) / n_folds)), f1_of(predicted, relevant, counts)


def deal_folds(relevant: NDArray[np.bool_], n_folds: int) -> NDArray[np.intp]:
    """Assign first the relevant rows to folds in turn, then the irrelevant ones."""
    n_relevant = int(np.count_nonzero(relevant))
    n_folds = max(1, min(n_folds, n_relevant, relevant.size - n_relevant))
    folds = np.empty(relevant.size, dtype=np.intp)
    folds[relevant] = np.arange(n_relevant) % n_folds
    folds[~relevant] = np.arange(relevant.size - n_relevant) % n_folds
    return folds


def best_cut(scores: Vector, relevant: NDArray[np.bool_], counts: Counts, measure: str) -> float:
    """Return the threshold with the best measure; the scores are sorted from the highest."""
    n = scores.size
    n_relevant = np.count_nonzero(relevant)
    # Cut j predicts the j highest scores: between s[j] and s[j + 1] of this padded array.
    s = np.concatenate([[np.inf], scores, [-np.inf]])
    if n_relevant == 0:
        best = 0
    elif n_relevant == n:
        best = n
    else:
        hits = np.concatenate([[0], np.cumsum(counts * relevant)])
        predicted = np.concatenate([[0], np.cumsum(counts)])
        values = _MEASURES[measure](hits, predicted, hits[-1], predicted[-1])
        values[s[1:] == s[:-1]] = -np.inf
        best = n - int(np.argmax(values[::-1]))
    return float(middle(s[best + 1], s[best]))


def f1_of(predicted: NDArray[np.bool_], relevant: NDArray[np.bool_], counts: Counts) -> float:
    """Return the F1 of predicted rows, each counted so often; 0 where there are none."""
    hits = counts[predicted & relevant].sum()
    both = counts[predicted].sum() + counts[relevant].sum()
    return float(2 * hits / both) if both > 0 else 0.0
