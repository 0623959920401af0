"""From scores of labels to odds, probabilities and label sets."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit
from sklearn.base import BaseEstimator, ClassifierMixin

from multimargin.calibration.bend import Calibration
from multimargin.thresholds.base import Threshold, over_labels
from multimargin.typing import Matrix, MatrixLike


class Head(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Head of a classifier: a learned calibration and threshold, which do not change.

    A classifier of scores: its rows are scores of labels, one matrix, or a list of matrices if the
    calibration weighs several models.

    Parameters
    ----------
    calibration : PooledCalibration, LiftedCalibration, BentCalibration or None
        Map of scores to log odds; None leaves scores as they are.
    threshold : Threshold or None
        Threshold of the odds; None where each row has one class, the best.
    n_labels : int
        Number of labels q; scores of further labels serve the calibration alone.
    at_least_one : bool, default=False
        If True, the best label of a row is always predicted.
    """

    def __init__(
        self,
        calibration: Calibration | None,
        threshold: Threshold | None,
        n_labels: int,
        at_least_one: bool = False,
    ) -> None:
        self.calibration = calibration
        self.threshold = threshold
        self.n_labels = n_labels
        self.at_least_one = at_least_one

    def __sklearn_is_fitted__(self) -> bool:
        return True

    @property
    def classes_(self) -> NDArray[np.intp]:
        """The numbers of the labels."""
        return np.arange(self.n_labels)

    def label_scores(self, scores: Matrix | list[Matrix]) -> Matrix:
        """Return the logarithms of the odds (n, q), or the scores without a calibration."""
        blocks: Sequence[Matrix] = scores if isinstance(scores, list) else [scores]
        odds = blocks[0] if self.calibration is None else self.calibration.odds(blocks)
        return np.ascontiguousarray(odds[:, : self.n_labels])

    def decision_function(self, scores: Matrix | list[Matrix], X: MatrixLike = None) -> Matrix:
        """Return the label scores less the threshold, (n, q), by scores and features of rows."""
        odds = self.label_scores(scores)
        return odds if self.threshold is None else odds - self.thresholds(odds, X)

    def predict(self, scores: Matrix | list[Matrix], X: MatrixLike = None) -> NDArray[np.intp]:
        """Return the indicator of the predicted labels, (n, q)."""
        return self.label_sets(self.label_scores(scores), X)

    def label_sets(self, odds: Matrix, X: MatrixLike = None) -> NDArray[np.intp]:
        """Return the indicator of the predicted labels, (n, q), given `label_scores`."""
        if self.threshold is None:
            winners = odds.argmax(axis=1)
            return np.asarray(winners[:, None] == self.classes_, dtype=np.intp)
        return np.asarray(odds - self.thresholds(odds, X) > 0, dtype=np.intp)

    def predict_proba(self, scores: Matrix | list[Matrix]) -> Matrix:
        """Return the probability of each label, (n, q)."""
        probabilities: Matrix = expit(self.label_scores(scores))
        return probabilities

    def thresholds(self, odds: Matrix, X: MatrixLike = None) -> Matrix:
        """Return the thresholds of the odds of rows, (n, 1) or (n, q)."""
        assert self.threshold is not None
        thresholds = over_labels(self.threshold.predict(odds, X))
        if self.at_least_one:
            highest = odds.max(axis=1, keepdims=True)
            below = np.nextafter(highest, -np.inf)
            if thresholds.shape[1] > 1:
                # A label passes already, or the best one does.
                below = np.where((odds > thresholds).any(axis=1, keepdims=True), np.inf, below)
            thresholds = np.minimum(thresholds, below)
        return thresholds
