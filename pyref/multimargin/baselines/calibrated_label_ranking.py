"""CLR: pairs of labels vote, and a virtual label tells where the relevant ones end.

Source: Fürnkranz et al. 2008.

Problem: for each two labels a binary classifier, learned from the rows that have one of them, votes
for one; for each label a classifier learned from all rows votes for it or for a virtual label. The
labels are ranked by votes, those with more votes than the virtual label are predicted.

Defaults: a linear support vector machine, C = 1. The paper uses perceptrons and leaves the
classifier open.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from multimargin.baselines.base import BaselineClassifier
from multimargin.baselines.binary import check_classifier, fit_all
from multimargin.estimators.label_specific import decision
from multimargin.targets.reading import Targets
from multimargin.typing import Features, Matrix


@dataclass(repr=False, eq=False)
class CalibratedLabelRanking(BaselineClassifier):
    """Calibrated label ranking: pairs of labels vote, against each other and a virtual label.

    Parameters
    ----------
    estimator : classifier or None, default=None
        Any binary classifier of scikit-learn; None means libsvm with a linear kernel and C = 1.
    n_jobs : int, default=None
        Number of classifiers that are fitted at once, by joblib.

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
    pairs_ : ndarray of shape (n_pairs, 2)
        The pairs that some training row tells apart.
    pair_estimators_ : list of length n_pairs
        Their classifiers: positive for the first label of the pair.
    estimators_ : list of length q
        The classifiers of each label against the virtual one.

    Notes
    -----
    Fürnkranz et al. 2008. The score of a label is its number of
    votes minus that of the virtual label. Votes are whole and often tie. A pair that no training
    row tells apart gives half a vote to each of its labels. There are q (q + 1) / 2 classifiers.

    Examples
    --------
    >>> from multimargin.baselines import CalibratedLabelRanking
    >>> from multimargin.datasets import load_digit_attributes
    >>> X, X_test, Y, Y_test = load_digit_attributes().train_test()
    >>> CalibratedLabelRanking().fit(X, Y).predict(X_test).shape == Y_test.shape
    True
    """

    estimator: Any = None
    n_jobs: int | None = None

    def _check_parameters(self) -> None:
        check_classifier(self.estimator)

    def _fit(self, X: Features, targets: Targets) -> None:
        Y = targets.indicator
        pairs = combinations(range(Y.shape[1]), 2)
        told_apart = [(k, m) for k, m in pairs if (Y[:, k] != Y[:, m]).any()]
        self.pairs_ = np.array(told_apart, dtype=np.intp).reshape(-1, 2)
        self.pair_estimators_ = fit_all(
            self.estimator, _pair_problems(X, Y, told_apart), self.n_jobs
        )
        self.estimators_ = fit_all(self.estimator, ((X, y) for y in Y.T), self.n_jobs)

    def _label_scores(self, X: Features) -> Matrix:
        n, q = X.shape[0], self.classes_.size
        votes = np.full((n, q), (q - 1) / 2.0)
        for (k, m), classifier in zip(self.pairs_, self.pair_estimators_, strict=True):
            for_first = np.where(decision(classifier, X) > 0.0, 0.5, -0.5)
            votes[:, k] += for_first
            votes[:, m] -= for_first
        relevant = np.column_stack([decision(c, X) > 0.0 for c in self.estimators_])
        virtual = q - np.count_nonzero(relevant, axis=1)
        return np.asarray(votes + relevant - virtual[:, None])


def _pair_problems(
    X: Features, Y: NDArray[np.uint8], pairs: list[tuple[int, int]]
) -> Iterator[tuple[Any, NDArray[np.uint8]]]:
    for k, m in pairs:
        rows = np.flatnonzero(Y[:, k] != Y[:, m])
        yield X[rows], Y[rows, k]
