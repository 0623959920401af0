"""Measures of the held-out scores of a setting."""

import time
from collections.abc import Callable
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from multimargin.checks.labels import check_indicator
from multimargin.measures.scorers import as_measured, measurable_rows
from multimargin.thresholds import PooledCalibration, Threshold
from multimargin.thresholds.head import Head
from multimargin.thresholds.held_out import HeldOut
from multimargin.thresholds.lift import Calibration

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
        counted = measurable_rows(self._labels, scorer)
        if weights is not None:
            counted &= weights > 0.0
        if not counted.any():
            raise ValueError(
                "y has no row that the scorer can measure: measures of multimargin need a known "
                "label, other scorers rows in which all are known."
            )
        folds = range(held_out.folds.max() + 1)
        self._measured = [np.flatnonzero(counted & (held_out.folds == fold)) for fold in folds]
        # The rough calibration of the scores that were judged last
        self.last: PooledCalibration | None = None
        # What the slowest judgement took
        self.seconds = 0.0

    def __call__(self, scores: Matrix) -> Matrix:
        """Return the value of each fold, by one calibration of all held-out rows."""
        odds, start = scores, time.monotonic()
        if self._calibration:
            # A rough one tells settings apart.
            calibration = PooledCalibration(n_best=_N_BEST)
            pairs = calibration.pairs_of([scores], self._indicator)
            weights = self.held_out.sample_weight
            self.last = calibration.fit_pairs(pairs, weights, self.last, _TOLERANCE)
            odds = calibration.odds([scores])
        values = self.values(odds)
        self.seconds = max(self.seconds, time.monotonic() - start)
        return values

    def head(self, calibration: Calibration | None, odds: Matrix) -> Head:
        """Return what makes label sets, with the threshold that is best for held-out odds."""
        q = self._labels.shape[1]
        threshold = None
        if self._make_threshold is not None:
            weights = self.held_out.sample_weight
            threshold = self._make_threshold().fit(odds[:, :q], self._labels, None, weights)
        return Head(calibration, threshold, q, self._at_least_one)

    def rough(self, scores: Matrix, calibration: PooledCalibration | None) -> Head:
        """Return the head of a calibration that is there."""
        return self.head(calibration, scores if calibration is None else calibration.odds([scores]))

    def values(self, odds: Matrix) -> Matrix:
        """Return the value of each fold; NaN where a fold has no row to measure on."""
        q, weights = self._labels.shape[1], self.held_out.sample_weight
        odds = odds[:, :q]
        threshold = None
        if self._make_threshold is not None:
            threshold = _WhenAsked(self._make_threshold(), odds, self._labels, weights)
        head = _RankedByOdds(None, threshold, q, self._at_least_one)
        values = np.full(len(self._measured), np.nan)
        refused: ValueError | None = None
        for fold, rows in enumerate(self._measured):
            if rows.size == 0:
                continue
            named = {} if weights is None else {"sample_weight": weights[rows]}
            try:
                values[fold] = self._scorer(
                    head, odds[rows], as_measured(self._labels[rows]), **named
                )
            except ValueError as error:
                # Such as a ranking of rows of which none has a pair of labels.
                refused = error
        if refused is not None and np.isnan(values).all():
            raise refused
        return values


class _RankedByOdds(Head):
    """A head whose ranking is that of the odds, also where each label has a threshold."""

    def decision_function(self, scores: Any, X: Any = None) -> Matrix:
        return self.label_scores(scores)

    def predict(self, scores: Any, X: Any = None) -> NDArray[np.intp]:
        if self.threshold is None:
            return super().predict(scores, X)
        odds = self.label_scores(scores)
        return np.asarray(odds > self.thresholds(odds, X), dtype=np.intp)


class _WhenAsked(Threshold):
    """A threshold that is learned when it is asked for: most scorers take the ranking alone."""

    def __init__(self, inner: Threshold, scores: Matrix, labels: Any, weights: Any) -> None:
        self.inner, self._data = inner, (scores, labels, None, weights)
        self._learned = False

    def fit(self, scores: Any, y: Any, X: Any = None, sample_weight: Any = None) -> Self:
        self._data, self._learned = (scores, y, X, sample_weight), False
        return self

    def predict(self, scores: Any, X: Any = None) -> Any:
        if not self._learned:
            self.inner.fit(*self._data)
            self._learned = True
        return self.inner.predict(scores, X)

    def rescale(self, factor: float) -> Self:
        raise NotImplementedError
