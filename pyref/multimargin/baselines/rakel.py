"""RAkEL: label powersets of random small sets of labels, which vote.

Source: Tsoumakas & Vlahavas 2007, Tsoumakas et al. 2011.

Problem: draw m sets of k labels, learn a label powerset of each, and predict the labels that more
than half of the models with the label predict.

Defaults of the papers: k = 3, m = 2 q overlapping sets, threshold 1/2. Their classifiers are C4.5
trees and support vector machines; ours is that of `LabelPowerset`.
"""

from dataclasses import dataclass
from math import comb
from typing import Any

import numpy as np
from joblib import Parallel
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from multimargin.baselines.base import BaselineClassifier
from multimargin.baselines.binary import check_classifier
from multimargin.baselines.label_powerset import LabelPowerset, predicted_sets
from multimargin.checks.parameters import check_integer, check_seed
from multimargin.targets.reading import Targets
from multimargin.thresholds import ConstantThreshold
from multimargin.typing import Features, Matrix
from multimargin.workers import delayed


@dataclass(repr=False, eq=False)
class RAkEL(BaselineClassifier):
    """RAkEL: label powersets of random k-labelsets, which vote.

    Parameters
    ----------
    k : int, default=3
        Labels in a set; all labels where there are no more.
    n_models : int or None, default=None
        m, the number of overlapping sets; None means twice the number of labels. No set is drawn
        twice, so there are no more than there are sets of k labels.
    overlapping : bool, default=True
        If True, the sets may share labels (RAkELo); else they are a partition of the labels
        (RAkELd), of which the last may be smaller; `n_models` has no meaning then.
    estimator : classifier or None, default=None
        The multi-class classifier of the label powersets, see `LabelPowerset`.
    n_jobs : int, default=None
        Number of models that are fitted at once, by joblib.
    random_state : int, RandomState instance or None, default=0
        Draws the sets; None draws them anew in each fit.

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
    labelsets_ : list of ndarray of int
        The sets.
    estimators_ : list of LabelPowerset
        Their fitted models.
    threshold_ : Threshold
        1/2.

    Notes
    -----
    Tsoumakas et al. 2011. The score of a label is the share of the models with the
    label that predict it. With few models scores often tie; a label in no set has score 0.

    Examples
    --------
    >>> from multimargin.baselines import RAkEL
    >>> from multimargin.datasets import load_digit_attributes
    >>> X, X_test, Y, Y_test = load_digit_attributes().train_test()
    >>> RAkEL(random_state=0).fit(X, Y).predict(X_test).shape == Y_test.shape
    True
    """

    k: int = 3
    n_models: int | None = None
    overlapping: bool = True
    estimator: Any = None
    n_jobs: int | None = None
    random_state: int | np.random.RandomState | None = 0

    def _check_parameters(self) -> None:
        check_integer("k", self.k, at_least=1)
        if self.n_models is not None:
            check_integer("n_models", self.n_models, at_least=1)
        check_classifier(self.estimator)
        check_seed(self.random_state)

    def _fit(self, X: Features, targets: Targets) -> None:
        Y = targets.indicator
        random = check_random_state(self.random_state)
        self.labelsets_ = self._draw(Y.shape[1], random)
        self.estimators_ = Parallel(n_jobs=self.n_jobs)(
            delayed(_fit_labelset)(self.estimator, X, Y[:, labels]) for labels in self.labelsets_
        )
        self.threshold_ = ConstantThreshold(0.5).fit(np.zeros(Y.shape), Y)

    def _draw(self, q: int, random: np.random.RandomState) -> list[NDArray[np.intp]]:
        k = min(int(self.k), q)
        if not self.overlapping:
            order = random.permutation(q)
            return [np.sort(order[start : start + k]) for start in range(0, q, k)]
        m = min(2 * q if self.n_models is None else int(self.n_models), comb(q, k))
        drawn: dict[tuple[int, ...], NDArray[np.intp]] = {}
        while len(drawn) < m:
            labels = np.sort(random.permutation(q)[:k])
            drawn.setdefault(tuple(labels.tolist()), labels)
        return list(drawn.values())

    def _label_scores(self, X: Features) -> Matrix:
        q = self.classes_.size
        votes, models = np.zeros((X.shape[0], q)), np.zeros(q)
        for labels, model in zip(self.labelsets_, self.estimators_, strict=True):
            votes[:, labels] += predicted_sets(model, X)
            models[labels] += 1.0
        return votes / np.maximum(models, 1.0)


def _fit_labelset(estimator: Any, X: Features, y: NDArray[np.uint8]) -> LabelPowerset:
    model = LabelPowerset(estimator)
    model._fit(X, Targets(y, np.arange(y.shape[1]), True, None))
    return model
