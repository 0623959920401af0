"""The values of settings and stacks on held-out rows."""

import time
from collections.abc import Sequence
from dataclasses import replace
from functools import cache, cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from multimargin.calibration import PooledCalibration
from multimargin.calibration.bend import Calibration
from multimargin.calibration.calibrated import calibrate, make_odds_threshold, odds_within_folds
from multimargin.calibration.head import Head
from multimargin.calibration.held_out import HeldOut
from multimargin.estimators.label_ranker.task import Fold, Task
from multimargin.measures.scorers import Answers, as_measured, rows_to_measure, scorer_of
from multimargin.targets.reading import Targets
from multimargin.thresholds import Threshold, make_threshold
from multimargin.tuning.folds import Rows
from multimargin.typing import Features, Matrix, Scoring

# Accuracy of calibrations that compare settings.
_TOP_K, _TOLERANCE = 30, 1e-4
# Time of a fit of a stack to full precision, relative to the slowest of these, the first.
_FITS = 1.0


def threshold_of(model: BaseEstimator, *, mostly_empty: bool = False) -> Threshold:
    """Return the threshold of the parameters of a `LabelRankerCV`."""
    if not model.calibration and not isinstance(model.threshold, str | Threshold):
        return make_threshold(model.threshold)
    return make_odds_threshold(model.threshold, mostly_empty=mostly_empty)


def check_threshold(model: BaseEstimator, targets: Targets, sample_weight: Matrix | None) -> None:
    """Refuse a threshold that cannot be learned from these labels and weights."""
    threshold, q = threshold_of(model), targets.indicator.shape[1]
    threshold.check(n_labels=q, sample_weight=sample_weight, at_least_one=model.at_least_one)
    if threshold.exchangeable and not targets.multilabel:
        raise ValueError(
            f"threshold is {threshold!r}, and y has one class in each row, the best of which is "
            "predicted without a threshold; expected labels, or no guarantee."
        )


class Judge:
    """Compares settings by a scorer of scikit-learn, on roughly calibrated held-out scores."""

    # Rankers start from those of the previous C
    warm_start = True
    # Models of few rows may score what a fit to more rows is calibrated by
    takes_fewer_rows = True

    def __init__(
        self, model: BaseEstimator, task: Task, folds: list[Fold], scoring: Scoring
    ) -> None:
        self._model, self._task, self._scoring = model, task, scoring
        self._rows, self._n_folds = task.held_out(folds), len(folds)
        self._n_labels = task.targets.indicator.shape[1]
        # The rough calibration of the scores judged last
        self.last: PooledCalibration | None = None
        # Seconds of the slowest judgement
        self.seconds = 0.0

    def scores_of(self, ranker: BaseEstimator, X: Features) -> Any:
        """Return the scores of rows by a ranker."""
        return ranker.label_scores(X)

    def joined(self, parts: Sequence[Any]) -> Any:
        """Return the scores of all folds."""
        return np.vstack(parts)

    def with_blocks(self, blocks: list[Any]) -> HeldOut:
        """Return held-out scores of all classifiers of a stack, the ranker's first."""
        return replace(self._rows, blocks=blocks)

    def __call__(self, scores: Any) -> Matrix:
        """Return the value of each fold, by one calibration of all held-out rows."""
        start, held_out = time.monotonic(), self.with_blocks([scores])
        self.last, odds = self._roughly_calibrated(held_out, self.last)
        values = self.values(odds, held_out)
        self.seconds = max(self.seconds, time.monotonic() - start)
        return values

    def _roughly_calibrated(
        self, held_out: HeldOut, start: PooledCalibration | None = None
    ) -> tuple[PooledCalibration | None, Matrix]:
        """Return a calibration that is accurate enough to compare settings, and its odds."""
        blocks, listed = held_out.blocks, held_out.listed
        if not self._model.calibration:
            return None, blocks[0]
        calibration = PooledCalibration(top_k=_TOP_K)
        pairs = calibration.pairs_of(blocks, held_out.indicator(), listed)
        calibration.fit_pairs(pairs, held_out.sample_weight, start, _TOLERANCE)
        return calibration, calibration.odds(blocks, listed=listed)

    def rough_head(
        self, scores: Any, calibration: PooledCalibration | None
    ) -> tuple[Head, HeldOut]:
        """Return the head of a rough calibration, and the held-out scores it learned from."""
        held_out = self.with_blocks([scores])
        found: Calibration | None = calibration
        if self._model.calibration and threshold_of(self._model).exchangeable:
            # A guarantee needs odds of rows that their calibration has not seen.
            one = calibrate(held_out, top_k=_TOP_K)
            found, odds = one.calibration, one.odds
        elif calibration is None:
            found, odds = self._roughly_calibrated(held_out)
        else:
            odds = calibration.odds(held_out.blocks, listed=held_out.listed)
        threshold = self._learned_threshold(odds, held_out)
        return Head(found, threshold, self._n_labels, self._model.at_least_one), held_out

    def score(self, held_out: HeldOut, *, lift: bool) -> float:
        """Return the mean value of the folds, with odds and thresholds from other rows."""
        odds = held_out.blocks[0]
        if self._model.calibration:
            odds = odds_within_folds(held_out, lift=lift)
        return self.mean(odds, held_out)

    def mean(self, odds: Matrix, held_out: HeldOut) -> float:
        """Return the mean value of the folds, by thresholds of other folds."""
        return float(np.nanmean(self.values(odds, held_out, apart=True)))

    def price_of_calibration(self, other: "Judge") -> float:
        """Estimate the seconds that calibrating a stack takes on the rows of another judge."""
        # To full precision, and again without each part of the rows.
        larger = other._size(None) / self._size(_TOP_K)
        return float(self.seconds * larger * _FITS * (1 + other._n_folds))

    def _size(self, top_k: int | None) -> int:
        """Return the number of pairs of a calibration with `top_k` labels of each row."""
        n, q = self._rows.labels.shape
        return int(n * min(q, PooledCalibration(top_k=top_k).best_of(n)))

    def _learned_threshold(self, odds: Matrix, held_out: HeldOut) -> Threshold | None:
        if not self._task.targets.multilabel:
            return None
        threshold = threshold_of(self._model, mostly_empty=held_out.is_mostly_empty)
        return held_out.learn(threshold, odds, self._task.rows, self._n_labels)

    @cached_property
    def _measured(self) -> list[Rows]:
        """The rows of each fold that the scorer can evaluate."""
        held_out, scorer = self._rows, scorer_of(self._scoring)
        labels = held_out.labels[:, : self._n_labels]
        rows = rows_to_measure(labels, scorer, held_out.sample_weight)
        return [rows[held_out.folds[rows] == fold] for fold in range(self._n_folds)]

    def values(self, odds: Matrix, held_out: HeldOut, *, apart: bool = False) -> Matrix:
        """Return the value of each fold; NaN for a fold without rows to evaluate.

        Label sets are those of a threshold of all rows, or, `apart`, of one of the other folds.
        """
        odds, weights = odds[:, : self._n_labels], held_out.sample_weight
        labels, scorer = held_out.labels[:, : self._n_labels], scorer_of(self._scoring)

        @cache
        def predicted() -> NDArray[np.intp]:
            """Most scorers need only the ranking."""
            return self._label_sets(odds, held_out, apart=apart)

        values = np.full(self._n_folds, np.nan)
        refused: ValueError | None = None
        for fold, rows in enumerate(self._measured):
            if rows.size == 0:
                continue
            named = {} if weights is None else {"sample_weight": weights[rows]}
            answers = Answers(odds[rows], lambda rows=rows: predicted()[rows])  # type: ignore[misc]
            try:
                values[fold] = scorer(answers, odds[rows], as_measured(labels[rows]), **named)
            except ValueError as error:
                # As for rankings of rows without a pair of labels.
                refused = error
        if refused is not None and np.isnan(values).all():
            raise ValueError(
                f"scoring has nothing to measure in the held-out rows of the folds: {refused}"
            ) from refused
        return values

    def _label_sets(self, odds: Matrix, held_out: HeldOut, *, apart: bool) -> NDArray[np.intp]:
        """Return the label sets (m, q) of held-out rows from their odds."""
        X, everywhere = self._task.rows, np.arange(len(odds))
        # Of the others nothing is measured, and no threshold can be learned.
        measured = [fold for fold, rows in enumerate(self._measured) if rows.size]
        places = [np.flatnonzero(held_out.folds == fold) for fold in measured if apart]
        found = np.empty(odds.shape, dtype=np.intp)
        for own in places if len(places) > 1 else [everywhere]:
            others = np.setdiff1d(everywhere, own) if own.size < everywhere.size else own
            threshold = self._learned_threshold(odds[others], held_out.at(others))
            head = Head(None, threshold, self._n_labels, self._model.at_least_one)
            found[own] = head.label_sets(odds[own], X[held_out.rows[own]])
        return found
