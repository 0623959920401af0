"""LIFT: each label is learned from the distances to cluster centres of its own.

Source: Zhang & Wu 2015; the classifier is that of Huang et al. 2015, section IV-B.

Problem: for each label, k-means with m = ceil(r min(|P|, |N|)) centres on its relevant rows P, and
with as many on its irrelevant rows N; the Euclidean distances to the 2 m centres are the features
of a binary classifier.

Defaults of the paper: r = 0.1, a linear support vector machine (C = 1).
"""

import warnings
from typing import Any

import numpy as np
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from threadpoolctl import threadpool_limits

from multimargin.baselines.base import BaselineClassifier
from multimargin.baselines.binary import check_classifier, fit_all
from multimargin.baselines.neighbours import squared_distances
from multimargin.checks.parameters import check_real
from multimargin.estimators.label_specific import decision
from multimargin.targets.reading import Targets
from multimargin.typing import Matrix


class LIFT(BaselineClassifier):
    """LIFT: distances to each label's own cluster centres as features.

    Parameters
    ----------
    ratio : float, default=0.1
        r: the number of clusters as a fraction of the rarer kind of rows, above 0, at most 1.
    estimator : classifier or None, default=None
        Any binary classifier of scikit-learn; None means libsvm with a linear kernel and C = 1.
    n_jobs : int, default=None
        Number of labels whose classifiers are fitted at once, by joblib.
    random_state : int, RandomState instance or None, default=None
        Draws the first centres of k-means.

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
    centres_ : list of ndarray, of shapes (2 m, d)
        Each label's centres, those of its relevant rows first.
    estimators_ : list of length q
        The fitted classifiers; a constant for a label that is relevant for all rows or for none.

    Notes
    -----
    Zhang & Wu 2015. k-means is run once, from a k-means++ start. The scores are the decision
    values of the classifiers; the authors' program takes libsvm's probabilities instead, which
    are increasing functions of them, another one for each label.

    Examples
    --------
    >>> from multimargin.baselines import LIFT
    >>> from multimargin.datasets import load_digit_attributes
    >>> X, X_test, Y, Y_test = load_digit_attributes().train_test()
    >>> LIFT(random_state=0).fit(X, Y).predict(X_test).shape == Y_test.shape
    True
    """

    def __init__(
        self,
        ratio: float = 0.1,
        estimator: Any = None,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.ratio = ratio
        self.estimator = estimator
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _check_parameters(self) -> None:
        check_real("ratio", self.ratio, above=0.0, at_most=1.0)
        check_classifier(self.estimator)

    def _fit(self, X: Any, targets: Targets) -> None:
        Y = targets.indicator
        random = check_random_state(self.random_state)
        self.centres_ = [self._centres(X, y.astype(bool), random) for y in Y.T]
        self.estimators_ = fit_all(
            self.estimator,
            ((_distances(X, c), y) for c, y in zip(self.centres_, Y.T, strict=True)),
            self.n_jobs,
        )

    def _centres(self, X: Any, relevant: Any, random: np.random.RandomState) -> Matrix:
        sides = [np.flatnonzero(relevant), np.flatnonzero(~relevant)]
        m = int(np.ceil(self.ratio * min(side.size for side in sides)))
        if m == 0:
            return np.empty((0, X.shape[1]))
        return np.vstack([_k_means(X[side], m, random) for side in sides])

    def _label_scores(self, X: Any) -> Matrix:
        return np.column_stack(
            [
                decision(classifier, _distances(X, centres))
                for classifier, centres in zip(self.estimators_, self.centres_, strict=True)
            ]
        )


def _k_means(X: Any, m: int, random: np.random.RandomState) -> Matrix:
    model = KMeans(m, n_init=1, random_state=random.randint(2**31 - 1))
    # Its sums over rows are split among threads: with one the result does not depend on them.
    with threadpool_limits(1), warnings.catch_warnings():
        # Fewer different rows than clusters: some centres coincide.
        warnings.simplefilter("ignore", ConvergenceWarning)
        centres: Matrix = model.fit(X).cluster_centers_
    return centres


def _distances(X: Any, centres: Matrix) -> Matrix:
    if centres.shape[0] == 0:
        return np.empty((X.shape[0], 0))
    return np.sqrt(squared_distances(X, centres))
