"""Any multi-label classifier with a calibrated ranking, probabilities and label sets."""

from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit
from sklearn.utils import _safe_indexing

from multimargin.checks.labels import UNKNOWN, check_indicator
from multimargin.checks.parameters import check_flag, check_real
from multimargin.thresholds.base import Threshold, over_labels
from multimargin.thresholds.constant import ConstantThreshold
from multimargin.thresholds.f1 import AVERAGES, F1Threshold
from multimargin.thresholds.held_out import HeldOut, HeldOutClassifier, sliceable
from multimargin.thresholds.make import make_threshold
from multimargin.thresholds.pooled import PooledCalibration, features_of

Matrix = NDArray[np.float64]


@dataclass(repr=False, eq=False)
class CalibratedClassifier(HeldOutClassifier):
    """A multi-label classifier with a better ranking, probabilities and sets of labels.

    The classifier is fitted without each fold in turn and scores the rows of the fold. From these
    scores one logistic regression for all labels learns what a score is worth
    (`multimargin.thresholds.PooledCalibration`), and one cut on the probabilities is chosen by F1.
    Then the classifier is fitted on all rows.

    Parameters
    ----------
    estimator : estimator
        A multi-label classifier with `label_scores`, `decision_function` or `predict_proba`: those
        of this package, scikit-learn's, pipelines and searches.
    threshold : {"micro", "macro", "samples"}, float or Threshold, default="micro"
        Which labels are predicted: those above the one cut whose micro-averaged, macro-averaged or
        example-based F1 is largest on the held-out rows; those more probable than a number between
        0 and 1; or those above a threshold of the logarithms of the odds.
    at_least_one : bool, default=False
        Whether the most probable label of a row is always predicted.
    C : float, default=1.0
        Weight of the calibration's loss against its regularisation.
    cv : int, splitter or iterable of (train, test), default=3
        The folds; a number means `multimargin.tuning.MultilabelStratifiedKFold`.
    response_method : {"auto", "label_scores", "decision_function", "predict_proba"}, default="auto"
        Which scores to take, as in `ThresholdedClassifier`.
    n_jobs : int, default=None
        Number of folds that are fitted at the same time; None means 1.

    Attributes
    ----------
    estimator_ : estimator
        The classifier, fitted on all rows.
    calibration_ : PooledCalibration
        The calibration, learned from the held-out scores of all rows.
    threshold_ : Threshold
        The threshold of the logarithms of the odds.
    response_method_ : str
        Where the scores come from.
    classes_ : ndarray of shape (q,)
        Label numbers.
    label_names_in_ : ndarray of shape (q,)
        Column names of `y`, when it was a data frame with string names.
    n_features_in_ : int
        Number of features, if the classifier tells.

    Notes
    -----
    The cut is chosen on probabilities that come from a calibration without the row itself: for the
    rows of each fold it is learned on the other folds. Rows count by their weights; of unknown
    labels nothing is learned. A label with one value only keeps a probability near what the other
    labels' scores are worth, moved by its shrunken correction.

    `decision_function` ranks by the probabilities and not by the scores of `estimator_`, which
    usually ranks better where labels are many: scores of rare labels are worth less.

    Examples
    --------
    >>> from multimargin import CalibratedClassifier, RankSVM
    >>> from multimargin.datasets import load_digit_attributes
    >>> X, X_test, y, y_test = load_digit_attributes().train_test()
    >>> model = CalibratedClassifier(RankSVM(random_state=0)).fit(X, y)
    >>> probabilities = model.predict_proba(X_test)
    >>> probabilities.shape == y_test.shape
    True
    """

    estimator: Any
    threshold: str | float | Threshold = "micro"
    _: KW_ONLY
    at_least_one: bool = False
    C: float = 1.0
    cv: Any = 3
    response_method: str = "auto"
    n_jobs: int | None = None

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        check_real("C", self.C, above=0.0, at_most=1e6)
        check_flag("at_least_one", self.at_least_one)
        threshold = make_odds_threshold(self.threshold)
        X = sliceable(X)
        held_out = self._hold_out(X, y, sample_weight)
        calibrated = calibrate(held_out, C=self.C)
        self.calibration_ = calibrated.calibration
        self.threshold_ = threshold.fit(
            calibrated.odds,
            held_out.labels,
            _safe_indexing(X, held_out.rows),
            held_out.sample_weight,
        )
        return self

    def label_scores(self, X: Any) -> Matrix:
        scores = self._scores(X)
        odds: Matrix = self.calibration_.decision_function(scores)
        return odds

    def predict_proba(self, X: Any) -> Matrix:
        """Return the probability of each label.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n, d)
            Features.

        Returns
        -------
        ndarray of shape (n, q)
            Probabilities that label k is relevant; they do not sum to 1.
        """
        probabilities: Matrix = expit(self.label_scores(X))
        return probabilities

    def decision_function(self, X: Any) -> Matrix:
        odds = self.label_scores(X)
        return odds - thresholds_of(self.threshold_, odds, X, at_least_one=self.at_least_one)


@dataclass(frozen=True)
class Calibrated:
    """A calibration, and what it makes of the rows that it was learned from."""

    calibration: PooledCalibration  # Learned from all held-out scores
    # (m, q): Logarithms of the odds of the held-out rows, each by a calibration without this row
    odds: Matrix


def calibrate(held_out: HeldOut, *, C: float = 1.0) -> Calibrated:
    """Learn a calibration from held-out scores, and calibrate these without themselves."""
    features, weights = features_of(held_out.scores), held_out.sample_weight
    indicator = check_indicator(held_out.labels, "y", unknown=True)
    calibration = PooledCalibration(C)._fit(features, indicator, weights)
    odds = calibration._odds(features)
    for fold in np.unique(held_out.folds):
        own = held_out.folds == fold
        # A row may be held out by several folds.
        others = (~np.isin(held_out.rows, held_out.rows[own])).astype(float)
        if weights is not None:
            others *= weights
        if (indicator[others > 0.0] == UNKNOWN).all():
            continue
        # Not from the calibration of all rows as a start: it has seen them.
        without = PooledCalibration(C)._fit(features, indicator, others)
        odds[own] = without._odds([feature[own] for feature in features])
    return Calibrated(calibration, odds)


def make_odds_threshold(threshold: str | float | Threshold) -> Threshold:
    """Return the threshold of logarithms of odds that a parameter means."""
    if isinstance(threshold, Threshold):
        return make_threshold(threshold)
    if isinstance(threshold, str):
        if threshold in AVERAGES:
            return F1Threshold(threshold)
        names = ", ".join(repr(name) for name in AVERAGES)
        raise ValueError(
            f"threshold is {threshold!r}; expected {names}, a probability or a threshold object."
        )
    return ConstantThreshold(float(logit(check_real("threshold", threshold, above=0.0, below=1.0))))


def thresholds_of(threshold: Threshold, scores: Matrix, X: Any, *, at_least_one: bool) -> Matrix:
    """Return thresholds that can be subtracted from scores."""
    thresholds = over_labels(threshold.predict(scores, X))
    if at_least_one:
        highest = scores.max(axis=1, keepdims=True)
        below = np.nextafter(highest, -np.inf)
        if thresholds.shape[1] > 1:
            # Some label passes already, or else the best one does.
            below = np.where((scores > thresholds).any(axis=1, keepdims=True), np.inf, below)
        thresholds = np.minimum(thresholds, below)
    return thresholds
