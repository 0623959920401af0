"""Measures of the held-out scores of a setting."""

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from multimargin.calibration import PooledCalibration
from multimargin.calibration.calibrated import odds_within_folds
from multimargin.calibration.head import Head
from multimargin.calibration.held_out import HeldOut
from multimargin.estimators.label_ranker.task import Fold, Task
from multimargin.measures.scorers import Answers, as_measured, rows_to_measure
from multimargin.targets.indicator import check_indicator
from multimargin.thresholds import Threshold
from multimargin.typing import Matrix

# Of calibrations that compare settings.
_N_BEST, _TOLERANCE = 30, 1e-4
FITS = 2.5
"""How many times as long a fit to full precision takes, from zero."""


def roughly_calibrated(
    held_out: HeldOut, indicator: NDArray[np.uint8], before: PooledCalibration | None
) -> PooledCalibration:
    """Return a calibration that tells settings apart, fitted from one before."""
    calibration = PooledCalibration(n_best=_N_BEST)
    pairs = calibration.pairs_of(held_out.blocks, indicator, held_out.listed)
    return calibration.fit_pairs(pairs, held_out.sample_weight, before, _TOLERANCE)


class Judge:
    """Scores settings by a scorer of scikit-learn, on scores that were held out."""

    # Rankers start from those of the C before
    warm_start = True

    def __init__(
        self,
        task: Task,
        folds: list[Fold],
        *,
        scorer: Callable[..., float],
        make_threshold: Callable[[], Threshold] | None,
        at_least_one: bool,
        calibration: bool,
    ) -> None:
        self._X, self.held_out = task.rows, task.held_out(folds)
        self._scorer, self._make_threshold = scorer, make_threshold
        self._at_least_one, self._calibration = at_least_one, calibration
        held_out = self.held_out
        self._labels = held_out.labels[:, : task.targets.indicator.shape[1]]
        self._indicator = check_indicator(held_out.labels, "y", unknown=True)
        rows = rows_to_measure(self._labels, scorer, held_out.sample_weight)
        self._measured = [rows[held_out.folds[rows] == fold] for fold in range(len(folds))]
        # The rough calibration of the scores that were judged last
        self.last: PooledCalibration | None = None
        # What the slowest judgement took
        self.seconds = 0.0

    def scores_of(self, ranker: Any, X: Any) -> Matrix:
        """Return the scores of rows by a ranker."""
        scores: Matrix = ranker.label_scores(X)
        return scores

    def joined(self, parts: Sequence[Matrix]) -> Matrix:
        """Return the scores of all folds."""
        return np.vstack(parts)

    def __call__(self, scores: Matrix) -> Matrix:
        """Return the value of each fold, by one calibration of all held-out rows."""
        odds, start = scores, time.monotonic()
        if self._calibration:
            self.last = self._roughly_calibrated(scores)
            odds = self.last.odds([scores])
        values = self.values(odds)
        self.seconds = max(self.seconds, time.monotonic() - start)
        return values

    def _roughly_calibrated(self, scores: Matrix) -> PooledCalibration:
        return roughly_calibrated(self.with_blocks([scores]), self._indicator, self.last)

    def price_of_calibration(self, other: "Judge") -> float:
        """Return the seconds of the calibration of a stack on another's rows, by own rough ones."""
        # As many pairs more are learned from, to full precision, by each part of the rows anew.
        n, q = other._indicator.shape
        pairs = n * min(q, PooledCalibration().best_of(n))
        rough = len(self._indicator) * min(q, _N_BEST)
        return float(self.seconds * pairs / rough * FITS * (1 + len(other._measured)))

    def with_blocks(self, blocks: list[Matrix]) -> HeldOut:
        """Return held-out scores of all classifiers of a stack."""
        return replace(self.held_out, blocks=blocks)

    def score(self, held_out: HeldOut, *, lift: bool) -> float:
        """Return the mean value of the folds, of odds and thresholds that have not seen the row."""
        odds = held_out.blocks[0]
        if self._calibration:
            odds = odds_within_folds(held_out, lift=lift)
        return self.mean(odds)

    def mean(self, odds: Matrix) -> float:
        """Return the mean value of the folds, by thresholds of other folds."""
        return float(np.nanmean(self.values(odds, apart=True)))

    def rough_head(self, scores: Matrix, calibration: PooledCalibration | None) -> tuple[Head]:
        """Return the head of a rough calibration, with the best threshold for its odds."""
        q = self._labels.shape[1]
        if calibration is None and self._calibration:
            calibration = self._roughly_calibrated(scores)
        odds = scores if calibration is None else calibration.odds([scores])
        threshold = None
        if self._make_threshold is not None:
            threshold = self.held_out.learn(self._make_threshold(), odds[:, :q], self._X)
        return (Head(calibration, threshold, q, self._at_least_one),)

    def values(self, odds: Matrix, *, apart: bool = False) -> Matrix:
        """Return the value of each fold; NaN where a fold has no row to measure on.

        Label sets are those of a threshold of all rows, or, `apart`, of one of the other folds.
        """
        odds = odds[:, : self._labels.shape[1]]
        weights = self.held_out.sample_weight

        @cache
        def predicted() -> NDArray[np.intp]:
            """Most scorers take the ranking alone."""
            return self._label_sets(odds, apart=apart)

        values = np.full(len(self._measured), np.nan)
        refused: ValueError | None = None
        for fold, rows in enumerate(self._measured):
            if rows.size == 0:
                continue
            named = {} if weights is None else {"sample_weight": weights[rows]}
            answers = Answers(odds[rows], lambda rows=rows: predicted()[rows])  # type: ignore[misc]
            try:
                values[fold] = self._scorer(
                    answers, odds[rows], as_measured(self._labels[rows]), **named
                )
            except ValueError as error:
                # Such as a ranking of rows of which none has a pair of labels.
                refused = error
        if refused is not None and np.isnan(values).all():
            raise ValueError(
                f"scoring has nothing to measure in the held-out rows of the folds: {refused}"
            ) from refused
        return values

    def _label_sets(self, odds: Matrix, *, apart: bool) -> NDArray[np.intp]:
        """Return the label sets (m, q) of held-out rows by their odds."""
        held_out, found = self.held_out, np.empty(odds.shape, dtype=np.intp)
        if self._make_threshold is None:
            return Head(None, None, odds.shape[1]).label_sets(odds)
        folds = np.unique(held_out.folds) if apart else np.empty(0, dtype=np.intp)
        places = [np.flatnonzero(held_out.folds == fold) for fold in folds]
        if len(places) < 2:
            places = [np.arange(len(odds))]
        for own in places:
            others = np.setdiff1d(np.arange(len(odds)), own) if len(places) > 1 else own
            threshold = held_out.at(others).learn(self._make_threshold(), odds[others], self._X)
            head = Head(None, threshold, odds.shape[1], self._at_least_one)
            found[own] = head.label_sets(odds[own], self._X[held_out.rows[own]])
        return found
