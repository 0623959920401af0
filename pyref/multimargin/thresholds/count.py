"""A threshold below the same number of labels in each row (RCut)."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from multimargin.checks.parameters import check_choice, check_integer
from multimargin.checks.scores import check_scores
from multimargin.targets.indicator import UNKNOWN
from multimargin.thresholds.base import CheckedThreshold, Known, middle
from multimargin.thresholds.cuts import chunks_of
from multimargin.typing import MatrixLike, Scores, Vector


@dataclass(repr=False, eq=False)
class CountThreshold(CheckedThreshold):
    """Threshold that predicts the r labels of each row with the highest scores (RCut).

    Parameters
    ----------
    n_labels : int or "cardinality", default="cardinality"
        r: a number from 0 to q; "cardinality" is the mean number of relevant labels of the training
        rows (with unknown labels: the sum over labels of their shares of relevant rows among those
        known), rounded (halves up) and at least 1.

    Attributes
    ----------
    n_labels_ : int
        r.

    Notes
    -----
    RCut: Yang 2001. The threshold of a row is the middle between its r-th and its next score, or
    one unit beyond the last score for r = 0 and r = q. Labels with equal scores are treated alike:
    where the r-th and the next score are equal, all labels with this score pass or none, whichever
    comes nearer to r labels; none if both come equally near. The ranking does not change.

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

    def check(
        self,
        *,
        n_labels: int | None = None,
        sample_weight: ArrayLike | None = None,
        at_least_one: bool = False,
        held_out: bool = True,
    ) -> None:
        if isinstance(self.n_labels, str):
            check_choice("n_labels", self.n_labels, ("cardinality",))
        else:
            check_integer("n_labels", self.n_labels, at_least=0)
            if n_labels is not None and self.n_labels > n_labels:
                raise ValueError(f"n_labels is {self.n_labels}; expected at most q = {n_labels}.")

    def _learn(self, scores: Scores, Y: Known, weights: Vector | None, X: Any) -> None:
        if isinstance(self.n_labels, str):
            self.n_labels_ = max(1, int(np.floor(_cardinality(Y, weights) + 0.5)))
        else:
            self.n_labels_ = int(self.n_labels)
        self._q = Y.shape[1]

    def predict(self, scores: MatrixLike, X: MatrixLike | None = None) -> Vector:
        check_is_fitted(self)
        checked: NDArray[Any] = check_scores(scores, n_labels=self._q)
        thresholds = np.empty(checked.shape[0])
        for chunk in chunks_of(checked.shape[0], self._q):
            padded = _padded(-np.sort(-checked[chunk], axis=1))
            cut = _nearest_cuts(padded, self.n_labels_)
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


def _nearest_cuts(padded: NDArray[np.float64], r: int) -> NDArray[np.intp]:
    """Return, for each row, the number of labels nearest to r that ties allow."""
    separates = padded[:, :-1] > padded[:, 1:]
    fewer = r - np.argmax(separates[:, r::-1], axis=1)
    more = r + np.argmax(separates[:, r:], axis=1)
    return np.asarray(np.where(r - fewer <= more - r, fewer, more))


def _cardinality(Y: NDArray[np.uint8], weights: Vector | None) -> float:
    """Return the mean number of relevant labels, each from the rows where it is known."""
    counts = np.ones(Y.shape[0]) if weights is None else weights
    relevant, known = counts @ (Y == 1), counts @ (Y != UNKNOWN)
    total = float(counts.sum())
    if (known == total).all():
        return float(relevant.sum() / total)
    return float(np.sum(relevant / np.where(known > 0.0, known, 1.0)))
