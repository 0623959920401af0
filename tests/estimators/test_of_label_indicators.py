"""scikit-learn's checks of classifiers that take label indicators alone, inside one of classes."""

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils.estimator_checks import parametrize_with_checks
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from multimargin import CalibratedClassifier, RankLSVM, RankSVM, ThresholdedClassifier
from multimargin.blocks import (
    LabelBoosting,
    LabelForest,
    LabelKernelRidge,
    LabelLogistic,
    LabelNeighbours,
)


class OfClasses(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Predicts the class of a row as the highest of its labels, one for each class."""

    def __init__(self, estimator: Any) -> None:
        self.estimator = estimator

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=np.float64)
        check_classification_targets(y)
        self.classes_, number = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            raise ValueError(f"y has the one class {self.classes_[0]!r}; expected two.")
        indicator = (number[:, None] == np.arange(len(self.classes_))).astype(int)
        self.estimator_ = clone(self.estimator).fit(X, indicator, sample_weight=sample_weight)
        return self

    def decision_function(self, X: Any) -> Any:
        check_is_fitted(self)
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float64, reset=False)
        method = "decision_function"
        if not hasattr(self.estimator_, method):
            method = "predict_proba"
        scores = getattr(self.estimator_, method)(X)
        return scores[:, 1] - scores[:, 0] if len(self.classes_) == 2 else scores

    def predict(self, X: Any) -> Any:
        scores = self.decision_function(X)
        highest = (scores > 0).astype(int) if scores.ndim == 1 else scores.argmax(axis=1)
        return self.classes_[highest]


OF_WEIGHTS = {
    "check_sample_weight_equivalence_on_dense_data",
    "check_sample_weight_equivalence_on_sparse_data",
}


def fails_by_design(estimator: OfClasses) -> dict[str, str]:
    """Name the checks that an estimator fails, and why."""
    # As for `LabelRankerCV`.
    of_folds = "a repeated row lies in several folds, a weighted one in one"
    reasons = {
        ThresholdedClassifier: of_folds,
        CalibratedClassifier: of_folds,
        LabelBoosting: "a leaf has 20 rows, of which a repeated one is several",
        LabelKernelRidge: "a repeated row is left out once, a weighted one as a whole",
        LabelNeighbours: "a repeated row is several of the nearest, a weighted one is one of them",
    }
    reason = reasons.get(type(estimator.estimator))
    return {} if reason is None else dict.fromkeys(OF_WEIGHTS, reason)


ESTIMATORS = [
    OfClasses(one)
    for one in (
        ThresholdedClassifier(RankSVM(random_state=0), cv=2),
        CalibratedClassifier(RankLSVM(random_state=0), cv=2),
        LabelLogistic(),
        LabelNeighbours(3),
        LabelKernelRidge(),
        LabelForest(4, random_state=0),
        LabelBoosting(4, random_state=0),
    )
]


@parametrize_with_checks(ESTIMATORS, expected_failed_checks=fails_by_design)
def test_scikit_learn_accepts_it(estimator: OfClasses, check: Any) -> None:
    check(estimator)
