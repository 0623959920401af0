"""A threshold below the same number of labels in each row (RCut)."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import gen_batches
from sklearn.utils.validation import check_is_fitted

from multimargin.checks.labels import UNKNOWN, check_scores
from multimargin.checks.parameters import check_choice, check_integer
from multimargin.thresholds.base import Threshold, Vector, check_rows, middle
from multimargin.thresholds.cuts import ENTRIES_PER_CHUNK

Counts = NDArray[Any]

_MEASURES = ("example_f1", "jaccard", "micro_f1", "hamming_loss")


@dataclass(repr=False, eq=False)
class CountThreshold(Threshold):
    """Threshold that lets the r highest-scored labels of each row pass (RCut).

    Parameters
    ----------
    n_labels : int or {"cardinality", "best"}, default="cardinality"
        r: a number from 0 to q; "cardinality" is the mean number of relevant labels of the training
        rows (with unknown labels: the sum over labels of their shares of relevant rows among those
        known), rounded (halves up) and at least 1; "best" is the number from 1 to q with the best
        `measure` on them, the smallest if several have it.
    measure : {"example_f1", "jaccard", "micro_f1", "hamming_loss"}, default="example_f1"
        For ``n_labels="best"``, see `multimargin.measures`.

    Attributes
    ----------
    n_labels_ : int
        r.

    Notes
    -----
    RCut: Yang 2001. The threshold
    of a row is the middle between its r-th and its next score, or one unit beyond the last score
    for r = 0 and r = q. Labels with equal scores are treated alike: where the r-th and the next
    score are equal, all labels with this score pass or none, whichever comes nearer to r labels;
    none if both come equally near. The ranking of the labels stays.

    The measure is the mean over rows, so a cross-validation of r on given scores would find what
    all rows find at once. What has to be held out are the scores: `ThresholdedClassifier` does.

    Examples
    --------
    >>> from multimargin.thresholds import CountThreshold
    >>> threshold = CountThreshold().fit([[2.0, 1.0, 0.0], [0.0, 1.0, 3.0]], [[1, 1, 0], [0, 1, 1]])
    >>> threshold.n_labels_
    2
    >>> threshold.predict_labels([[0.1, 0.7, 0.5]])
    array([[0, 1, 1]])
    """

    n_labels: int | str = "cardinality"
    measure: str = "example_f1"

    def fit(self, scores: Any, y: Any, X: Any = None, sample_weight: Any = None) -> Self:
        check_choice("measure", self.measure, _MEASURES)
        scores, Y, weights = check_rows(scores, y, sample_weight)
        q = Y.shape[1]
        if isinstance(self.n_labels, str):
            check_choice("n_labels", self.n_labels, ("cardinality", "best"))
            if self.n_labels == "best":
                self.n_labels_ = _best_count(scores, Y, weights, self.measure)
            else:
                self.n_labels_ = max(1, int(np.floor(_cardinality(Y, weights) + 0.5)))
        else:
            self.n_labels_ = check_integer("n_labels", self.n_labels, at_least=0)
            if self.n_labels_ > q:
                raise ValueError(f"n_labels is {self.n_labels}; expected at most q = {q}.")
        self._q = q
        return self

    def predict(self, scores: Any, X: Any = None) -> Vector:
        check_is_fitted(self)
        scores = check_scores(scores, n_labels=self._q)
        thresholds = np.empty(scores.shape[0])
        for chunk in gen_batches(scores.shape[0], max(1, ENTRIES_PER_CHUNK // self._q)):
            padded = _padded(-np.sort(-scores[chunk], axis=1))
            cut = _nearest_cuts(padded)[:, self.n_labels_]
            rows = np.arange(cut.size)
            thresholds[chunk] = middle(padded[rows, cut + 1], padded[rows, cut])
        return thresholds

    def rescale(self, factor: float) -> Self:
        return self


def _padded(descending: NDArray[Any]) -> NDArray[np.float64]:
    """Put infinity before and minus infinity after: cut j lies between entries j and j + 1."""
    m, q = descending.shape
    padded = np.full((m, q + 2), np.inf)
    padded[:, 1:-1] = descending
    padded[:, -1] = -np.inf
    return padded


def _nearest_cuts(padded: NDArray[np.float64]) -> Counts:
    """Return, for each row and each r, the number of labels nearest to r that ties allow."""
    q = padded.shape[1] - 2
    wanted = np.arange(q + 1)
    separates = padded[:, :-1] > padded[:, 1:]
    fewer = np.maximum.accumulate(np.where(separates, wanted, 0), axis=1)
    more = np.minimum.accumulate(np.where(separates, wanted, q)[:, ::-1], axis=1)[:, ::-1]
    return np.asarray(np.where(wanted - fewer <= more - wanted, fewer, more))


def _cardinality(Y: NDArray[np.uint8], weights: Vector | None) -> float:
    """Return the mean number of relevant labels, each from the rows where it is known."""
    counts = np.ones(Y.shape[0]) if weights is None else weights
    relevant, known = counts @ (Y == 1), counts @ (Y != UNKNOWN)
    total = float(counts.sum())
    if (known == total).all():
        return float(relevant.sum() / total)
    return float(np.sum(relevant / np.where(known > 0.0, known, 1.0)))


def _best_count(
    scores: NDArray[Any], Y: NDArray[np.uint8], weights: Vector | None, measure: str
) -> int:
    n, q = Y.shape
    counts = np.ones(n) if weights is None else weights
    totals = np.zeros(q + 1)
    all_hits, all_predicted = np.zeros(q + 1), np.zeros(q + 1)
    for chunk in gen_batches(n, max(1, ENTRIES_PER_CHUNK // q)):
        descending = np.argsort(-scores[chunk], axis=1, kind="stable")
        cuts = _nearest_cuts(_padded(np.take_along_axis(scores[chunk], descending, axis=1)))
        sorted_labels = np.take_along_axis(Y[chunk], descending, axis=1)
        hits, n_relevant = _passed(sorted_labels == 1, cuts)
        predicted, _ = _passed(sorted_labels != UNKNOWN, cuts)
        of_rows = counts[chunk]
        totals += of_rows @ _row_values(hits, predicted, n_relevant, measure)
        all_hits += of_rows @ hits
        all_predicted += of_rows @ predicted
    if measure == "micro_f1":
        both = all_predicted + counts @ np.count_nonzero(Y == 1, axis=1)
        totals = 2.0 * all_hits / np.where(both > 0.0, both, 1.0)
    return 1 + int(np.argmax(totals[1:]))


def _passed(sorted_labels: NDArray[np.bool_], cuts: Counts) -> tuple[Counts, Counts]:
    """Return how many of the marked labels lie above each cut, and how many there are."""
    sums = np.zeros((cuts.shape[0], cuts.shape[1]), dtype=np.intp)
    np.cumsum(sorted_labels, axis=1, out=sums[:, 1:])
    return np.take_along_axis(sums, cuts, axis=1), sums[:, -1:]


def _row_values(
    hits: Counts, predicted: Counts, relevant: Counts, measure: str
) -> NDArray[np.float64]:
    if measure == "hamming_loss":
        return np.asarray(2.0 * hits - predicted - relevant)
    if measure == "jaccard":
        union = predicted + relevant - hits
        return np.where(union > 0, hits / np.maximum(union, 1), 1.0)
    both = predicted + relevant
    return np.where(both > 0, 2.0 * hits / np.maximum(both, 1), 1.0)
