"""What the held-out scores of a setting are worth."""

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit
from sklearn.base import BaseEstimator, ClassifierMixin

from multimargin.checks.labels import check_indicator, complete_rows
from multimargin.thresholds import PooledCalibration, Threshold
from multimargin.thresholds.calibration import calibrate, thresholds_of
from multimargin.thresholds.held_out import HeldOut
from multimargin.thresholds.pooled import features_of

Matrix = NDArray[np.float64]

# Of calibrations that compare settings.
_N_BEST, _TOLERANCE = 30, 1e-4


class Judge:
    """Scores settings by a scorer of scikit-learn, on scores that were held out."""

    def __init__(
        self,
        held_out: HeldOut,
        *,
        scorer: Callable[..., float],
        make_threshold: Callable[[], Threshold] | None,
        at_least_one: bool,
        calibration: bool,
        n_labels: int,
    ) -> None:
        self.held_out = held_out
        self._scorer, self._make_threshold = scorer, make_threshold
        self._at_least_one, self._calibration = at_least_one, calibration
        self._labels = held_out.labels[:, :n_labels]
        self._indicator = check_indicator(held_out.labels, "y", unknown=True)
        weights = held_out.sample_weight
        counted = complete_rows(self._labels)
        if weights is not None:
            counted &= weights > 0.0
        if not counted.any():
            raise ValueError(
                "y has an unknown label in each row; expected rows in which all are known, to "
                "measure on."
            )
        self._measured = [
            np.flatnonzero(counted & (held_out.folds == fold)) for fold in np.unique(held_out.folds)
        ]
        # The rough calibration of the scores that were judged last
        self.last: PooledCalibration | None = None

    def __call__(self, scores: Matrix) -> Matrix:
        """Return the value of each fold, by one calibration of all held-out rows."""
        odds = scores
        if self._calibration:
            # A rough one tells settings apart.
            features = features_of(scores)
            self.last = PooledCalibration(n_best=_N_BEST)._fit(
                features, self._indicator, self.held_out.sample_weight, self.last, _TOLERANCE
            )
            odds = self.last._odds(features)
        return self._values(self._measured_labels(odds))

    def threshold(self, scores: Matrix, calibration: PooledCalibration | None) -> Threshold | None:
        """Return the threshold by a calibration that is there."""
        odds = scores if calibration is None else calibration._odds(features_of(scores))
        return self._threshold_of_labels(self._measured_labels(odds))

    def final(self, scores: Matrix) -> tuple[PooledCalibration | None, Threshold | None, Matrix]:
        """Return calibration, threshold and values of each fold, no row calibrated by itself."""
        odds, calibration = scores, None
        if self._calibration:
            calibrated = calibrate(replace(self.held_out, scores=scores))
            odds, calibration = calibrated.odds, calibrated.calibration
        odds = self._measured_labels(odds)
        return calibration, self._threshold_of_labels(odds), self._values(odds)

    def _measured_labels(self, odds: Matrix) -> Matrix:
        return odds[:, : self._labels.shape[1]]

    def _threshold_of_labels(self, odds: Matrix) -> Threshold | None:
        return None if self._make_threshold is None else self._threshold(odds)

    def _threshold(self, odds: Matrix) -> Threshold:
        assert self._make_threshold is not None
        weights = self.held_out.sample_weight
        return self._make_threshold().fit(odds, self._labels, None, weights)

    def _sets(self, odds: Matrix) -> NDArray[np.intp]:
        if self._make_threshold is None:
            winners = odds.argmax(axis=1)
            return np.asarray(winners[:, None] == np.arange(odds.shape[1]), dtype=np.intp)
        threshold = self._threshold(odds)
        thresholds = thresholds_of(threshold, odds, None, at_least_one=self._at_least_one)
        return np.asarray(odds > thresholds, dtype=np.intp)

    def _values(self, odds: Matrix) -> Matrix:
        # Most scorers take the ranking alone.
        sets = cache(lambda: self._sets(odds))
        labels, weights = self._labels, self.held_out.sample_weight
        values = np.full(len(self._measured), np.nan)
        for fold, rows in enumerate(self._measured):
            if rows.size == 0:
                continue
            named = {} if weights is None else {"sample_weight": weights[rows]}
            answers = _Answers(odds[rows], lambda rows=rows: sets()[rows])
            place_holder = np.zeros((rows.size, 1))
            values[fold] = self._scorer(answers, place_holder, labels[rows].astype(int), **named)
        return values


class _Answers(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Stands for a fitted classifier before a scorer, and answers by held-out scores."""

    def __init__(self, odds: Any, sets: Any) -> None:
        self.odds, self.sets = odds, sets
        self.classes_ = np.arange(odds.shape[1])

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def decision_function(self, X: Any) -> Any:
        """Return the scores of the rows."""
        return self.odds

    def predict_proba(self, X: Any) -> Any:
        """Return the probabilities of the rows."""
        return expit(self.odds)

    def predict(self, X: Any) -> Any:
        """Return the label sets of the rows."""
        return self.sets()
