"""ML-kNN: the number of neighbours with each label, weighed by Bayes' rule.

Source: Zhang & Zhou 2007.

Problem: with C the number of the k nearest training rows that have label l, predict l where
P(l) P(C | l) > P(not l) P(C | not l). The probabilities are relative frequencies over the training
rows, smoothed by s.

Defaults of the paper: k = 10, s = 1, Euclidean distance.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from multimargin.baselines.base import BaselineClassifier
from multimargin.baselines.neighbours import blocks_of_distances, nearest
from multimargin.checks.parameters import check_integer, check_real
from multimargin.targets.reading import Targets
from multimargin.thresholds import ConstantThreshold
from multimargin.typing import Features, Matrix


@dataclass(repr=False, eq=False)
class MLkNN(BaselineClassifier):
    """ML-kNN: nearest neighbours with a posterior probability for each label.

    Parameters
    ----------
    n_neighbors : int, default=10
        k. With k training rows or fewer all others are neighbours.
    smoothing : float, default=1.0
        s, positive: what is added to every count; 1 is Laplace's rule.

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
    prior_ : ndarray of shape (q,)
        P(l).
    likelihood_ : ndarray of shape (2, q, k + 1)
        P(C = c | not l) and P(C = c | l).
    n_neighbors_ : int
        The k that was used.
    threshold_ : Threshold
        1/2.

    Notes
    -----
    Zhang & Zhou 2007. The scores are the posterior probabilities. When the counts of the
    training rows are taken, a row is not its own neighbour. Of rows at the same distance the
    earlier one is the neighbour.

    Examples
    --------
    >>> from multimargin.baselines import MLkNN
    >>> from multimargin.datasets import load_digit_attributes
    >>> X, X_test, Y, Y_test = load_digit_attributes().train_test()
    >>> MLkNN().fit(X, Y).predict(X_test).shape == Y_test.shape
    True
    """

    n_neighbors: int = 10
    smoothing: float = 1.0

    def _check_parameters(self) -> None:
        check_integer("n_neighbors", self.n_neighbors, at_least=1)
        check_real("smoothing", self.smoothing, above=0.0)

    def _fit(self, X: Features, targets: Targets) -> None:
        Y, s = targets.indicator, float(self.smoothing)
        n, q = Y.shape
        k = min(int(self.n_neighbors), n - 1)
        counts = _label_counts(X, X, Y, k, itself=True)
        occurrences = np.zeros((2, q, k + 1))
        np.add.at(occurrences, (Y, np.arange(q), counts), 1.0)
        self.prior_ = (s + Y.sum(axis=0, dtype=np.float64)) / (2.0 * s + n)
        total = occurrences.sum(axis=2, keepdims=True)
        self.likelihood_ = (s + occurrences) / (s * (k + 1) + total)
        self.n_neighbors_ = k
        self.threshold_ = ConstantThreshold(0.5).fit(np.zeros((n, q)), Y)
        self._X, self._Y = X, Y

    def _label_scores(self, X: Features) -> Matrix:
        counts = _label_counts(X, self._X, self._Y, self.n_neighbors_)
        labels = np.arange(self._Y.shape[1])
        relevant = self.prior_ * self.likelihood_[1, labels, counts]
        irrelevant = (1.0 - self.prior_) * self.likelihood_[0, labels, counts]
        return np.asarray(relevant / (relevant + irrelevant))


def _label_counts(
    X: Features, X_train: Any, Y: NDArray[np.uint8], k: int, *, itself: bool = False
) -> NDArray[np.intp]:
    """Return the number of the k nearest training rows of each row with each label."""
    counts = np.zeros((X.shape[0], Y.shape[1]), dtype=np.intp)
    for rows, distances in blocks_of_distances(X, X_train, itself=itself):
        for neighbour in nearest(distances, k).T if k else ():
            counts[rows] += Y[neighbour]
    return counts
