"""BKNN and BR-kNN: nearest neighbours vote for their labels, with a threshold for each label.

Source: Wang et al. 2010, as Huang et al. 2015 compare it in section IV-B (BKNN); Spyromitros et al.
2008 (BR-kNN).

Problem: in BKNN each label has neighbours of its own, its b nearest training rows, so that no label
is short of them; its score is the mean of their weights, divided by the largest of the labels. In
BR-kNN the score of a label is the share of the b nearest rows that have it. A label's threshold h
is the best of 0, 0.01, ..., 1 for the F-measure 1 / (alpha / precision + (1 - alpha) / recall) of
the training rows, LLSF's eq. (23).

Defaults of the paper: b = 5, alpha = 0.5.
"""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from multimargin.baselines.base import BaselineClassifier
from multimargin.baselines.neighbours import blocks_of_distances, nearest
from multimargin.checks.parameters import check_integer, check_real
from multimargin.checks.scores import check_scores
from multimargin.checks.weights import check_sample_weight
from multimargin.targets.indicator import check_indicator
from multimargin.targets.reading import Targets
from multimargin.thresholds import Threshold
from multimargin.typing import Matrix


@dataclass(repr=False, eq=False)
class BRkNN(BaselineClassifier):
    """BKNN and BR-kNN: neighbours vote for their labels.

    Parameters
    ----------
    n_neighbors : int, default=5
        b, how many nearest rows of each label, or of all rows, are neighbours; fewer where there
        are no more.
    balanced : bool, default=True
        Whether each label has neighbours of its own (BKNN) or all share the nearest rows (BR-kNN).
    alpha : float, default=0.5
        Weight of precision against recall in the thresholds, from 0 to 1.

    Attributes
    ----------
    classes_ : ndarray of shape (q,)
        Label numbers, or the classes of one-dimensional targets.
    multilabel_ : bool
        True for a label indicator or lists of names, False for one-dimensional targets.
    label_names_in_ : ndarray of shape (q,)
        Column names of `y`, when it was a data frame with string names.
    n_features_in_ : int
        Number of features d.
    threshold_ : FMeasureThreshold
        The thresholds of the labels.

    Notes
    -----
    Wang et al. 2010, Spyromitros et al. 2008. The thresholds are learned from scores of the
    training rows in which no row is its own neighbour. The weight of a neighbour in BKNN is the
    reciprocal of its distance; where there are rows at distance 0, those have weight 1 and all
    others 0. This weight, and the division by the row's largest score, are ours: the paper's are
    not in public text. The paper reduces the dimension first by a discriminant analysis of its own;
    here that is left to a transformer in a pipeline.

    Examples
    --------
    >>> from multimargin.baselines import BRkNN
    >>> from multimargin.datasets import load_digit_attributes
    >>> X, X_test, Y, Y_test = load_digit_attributes().train_test()
    >>> BRkNN().fit(X, Y).predict(X_test).shape == Y_test.shape
    True
    """

    n_neighbors: int = 5
    balanced: bool = True
    alpha: float = 0.5

    def _check_parameters(self) -> None:
        check_integer("n_neighbors", self.n_neighbors, at_least=1)
        check_real("alpha", self.alpha, at_least=0.0, at_most=1.0)

    def _fit(self, X: Any, targets: Targets) -> None:
        self._X, self._Y = X, targets.indicator
        scores = self._shares(X, itself=True)
        self.threshold_ = FMeasureThreshold(float(self.alpha)).fit(scores, self._Y)

    def _label_scores(self, X: Any) -> Matrix:
        return self._shares(X)

    def _shares(self, X: Any, *, itself: bool = False) -> Matrix:
        scores = np.empty((X.shape[0], self._Y.shape[1]))
        of_block = self._balanced_shares if self.balanced else self._plain_shares
        for rows, distances in blocks_of_distances(X, self._X, itself=itself):
            scores[rows] = of_block(distances)
        return scores

    def _plain_shares(self, distances: Matrix) -> Matrix:
        others = np.isfinite(distances).sum(axis=1).min()
        if others == 0:
            return np.zeros((len(distances), self._Y.shape[1]))
        found = nearest(distances, min(int(self.n_neighbors), int(others)))
        return np.asarray(self._Y[found].mean(axis=1, dtype=np.float64))

    def _balanced_shares(self, distances: Matrix) -> Matrix:
        weights = _reciprocals(distances)
        scores = np.zeros((len(distances), self._Y.shape[1]))
        for k, y in enumerate(self._Y.T):
            members = np.flatnonzero(y)
            if members.size == 0:
                continue
            b = min(int(self.n_neighbors), members.size)
            own = members[nearest(distances[:, members], b)]
            # In a group that is too small a row finds itself, at an infinite distance.
            others = np.isfinite(np.take_along_axis(distances, own, axis=1)).sum(axis=1)
            sums = np.take_along_axis(weights, own, axis=1).sum(axis=1)
            scores[:, k] = sums / np.maximum(others, 1)
        # Shares of a sum would be small where labels are many, and h goes in steps of 0.01.
        largest = scores.max(axis=1, keepdims=True)
        return np.asarray(scores / np.where(largest > 0.0, largest, 1.0))


def _reciprocals(squared: Matrix) -> Matrix:
    """Return 1 / distance; 1 and 0 in rows with distances of 0."""
    same = squared == 0.0
    inverse = 1.0 / np.sqrt(np.where(same, 1.0, squared))
    return np.where(same.any(axis=1, keepdims=True), same.astype(np.float64), inverse)


@dataclass(repr=False, eq=False)
class FMeasureThreshold(Threshold):
    """A threshold for each label, the best of 0, 0.01, ..., 1 for its F-measure.

    Huang et al. 2015, eq. (23), without its factor 2; 1 where no threshold predicts any rightly.
    """

    alpha: float = 0.5  # Weight of precision against recall, from 0 to 1

    def fit(self, scores: Any, y: Any, X: Any = None, sample_weight: Any = None) -> Self:
        relevant = check_indicator(y).astype(bool)
        scores = check_scores(scores, n_rows=len(relevant), n_labels=relevant.shape[1])
        weights = check_sample_weight(sample_weight, len(relevant))
        counts = np.ones(len(relevant)) if weights is None else weights
        grid = np.arange(101) / 100.0
        quality = np.zeros((grid.size, relevant.shape[1]))
        for place, h in enumerate(grid):
            predicted = scores > h
            hits = counts @ (predicted & relevant)
            # alpha / precision + (1 - alpha) / recall, times the hits.
            cost = self.alpha * (counts @ predicted) + (1.0 - self.alpha) * (counts @ relevant)
            quality[place] = hits / np.where(cost > 0.0, cost, 1.0)
        self.thresholds_ = np.where(quality.any(axis=0), grid[quality.argmax(axis=0)], 1.0)
        return self

    def predict(self, scores: Any, X: Any = None) -> Matrix:
        check_is_fitted(self)
        scores = check_scores(scores, n_labels=self.thresholds_.size)
        return np.tile(self.thresholds_, (len(scores), 1))

    def rescale(self, factor: float) -> Self:
        check_is_fitted(self)
        self.thresholds_ = self.thresholds_ * factor
        return self
