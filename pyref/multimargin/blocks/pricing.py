"""The seconds that a classifier will take on folds, from fits to few rows."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone

from multimargin.blas import one_blas_thread
from multimargin.calibration.on_folds import Metadata, OnFolds
from multimargin.notices import silenced
from multimargin.tuning.folds import Rows

# Rows of the first probe, and how many times as many the next has; the fewest that each scores.
_FEWEST, _TIMES, _SCORED = 100, 4, 200
# A second probe takes at most a share of the time left; a third and further ones at most a smaller
# one, and a share of the price or these seconds.
_OF_LEFT_FIRST, _OF_LEFT, _OF_PRICE, _SECONDS = 0.1, 0.05, 0.03, 0.05
# The largest constant part of the seconds of a probe: others may have held up the one before.
_CONSTANT = 0.5
# Trees of an ensemble for each one of a probe.
_TREES = 40


@dataclass(frozen=True)
class Effort:
    """Time limit, jobs and verbosity of a fit."""

    end: float  # When it has to end, by `time.monotonic`; infinity without a limit
    n_jobs: int | None
    verbose: int

    @property
    def left(self) -> float:
        """Seconds that are left."""
        return self.end - time.monotonic()


@dataclass(frozen=True)
class _Probe:
    """Seconds of a fit to few rows."""

    rows: int
    fit: float
    scores: float  # Of each row


def foretold(on_folds: OnFolds, estimator: Any, metadata: Metadata, effort: Effort) -> float:
    """Predict the seconds of fits to all folds, their scores, and a fit to all rows.

    Probes are fits to ever more rows of the first fold, of an ensemble with few of its trees, while
    they are cheap beside what they foretell. Infinity where time is over before.
    """
    train, test = on_folds.folds[0]
    few, parts = _with_few_trees(estimator)
    probes: list[_Probe] = []
    size, price = min(_FEWEST, len(train)), 0.0
    while True:
        start = time.monotonic()
        try:
            probes.append(_probe(on_folds, clone(few), metadata, (_spread(train, size), test)))
            price = parts * _price(on_folds, probes)
        except ValueError:
            # Few rows may lack what a classifier needs, such as both values of each label.
            pass
        if effort.left <= 0.0:
            return np.inf
        spent = time.monotonic() - start
        further = _TIMES * size if 2 * _TIMES * size <= len(train) else len(train)
        most = _OF_LEFT_FIRST * effort.left
        if len(probes) > 1:
            most = min(max(_OF_PRICE * price, _SECONDS), _OF_LEFT * effort.left)
        if further == size or (probes and spent * further / size > most):
            return price
        size = further


def _with_few_trees(estimator: Any) -> tuple[Any, float]:
    """Return a classifier with few of its trees, and how many times as many it has."""
    count = estimator.get_params().get("n_estimators")
    if not isinstance(count, int) or count < 1:
        return estimator, 1.0
    few = -(-count // _TREES)
    return clone(estimator).set_params(n_estimators=few), count / few


def _spread(rows: Rows, count: int) -> Rows:
    """Return as many rows, evenly spread among those given, or all."""
    chosen: Rows = rows[np.linspace(0, len(rows) - 1, min(count, len(rows))).astype(int)]
    return chosen


def _probe(
    on_folds: OnFolds, estimator: Any, metadata: Metadata, fold: tuple[Rows, Rows]
) -> _Probe:
    """Fit a classifier to the first part of a fold, and score some rows of the other."""
    train, test = fold
    # The fits to all rows warn.
    with one_blas_thread(), silenced(Warning):
        of_fit = _seconds(lambda: on_folds.fit_to(estimator, metadata, train))
        scored = _spread(test, _SCORED)
        of_scores = _seconds(lambda: on_folds.scores_of(estimator, (train, scored)))
        if 2.0 * of_scores < of_fit:
            # As many rows as take no longer than the fit, beside which a call takes no time.
            scored = _spread(test, int(len(scored) * of_fit / max(of_scores, 1e-9)))
            of_scores = _seconds(lambda: on_folds.scores_of(estimator, (train, scored)))
    return _Probe(len(train), of_fit, of_scores / len(scored))


def _seconds(work: Callable[[], object]) -> float:
    """Return the seconds of a call."""
    start = time.monotonic()
    work()
    return time.monotonic() - start


def _price(on_folds: OnFolds, probes: list[_Probe]) -> float:
    """Return the seconds of fits to all folds, their scores, and a fit to all rows."""
    of_folds = sum(
        _of_fit(len(train), probes) + len(test) * _of_score(len(train), probes)
        for train, test in on_folds.folds
    )
    return of_folds / (on_folds.n_jobs or 1) + _of_fit(on_folds.y.shape[0], probes)


def _of_fit(rows: int, probes: list[_Probe]) -> float:
    """Return the seconds of a fit: a constant, and a part that grows with the rows.

    It grows in proportion, or if the last two probes say so, up to the square. Of one probe, as
    large a part is constant as may be.
    """
    last, further = probes[-1].fit, rows / probes[-1].rows
    if len(probes) == 1:
        return last * (1.0 + _CONSTANT * (further - 1.0))
    before, times = probes[-2].fit, probes[-1].rows / probes[-2].rows
    growing = np.clip((last - before) / (1.0 - 1.0 / times), (1.0 - _CONSTANT) * last, last)
    return float(last + growing * (further ** _power(before, last, times, 1.0) - 1.0))


def _of_score(rows: int, probes: list[_Probe]) -> float:
    """Return the seconds of the scores of a row: constant, or growing with those fitted to."""
    last, further = probes[-1], rows / probes[-1].rows
    if len(probes) == 1:
        return last.scores
    before = probes[-2]
    power = _power(before.scores, last.scores, last.rows / before.rows, 0.0)
    return float(last.scores * further**power)


def _power(before: float, last: float, times: float, least: float) -> float:
    """Return the power by which seconds have grown, at least the one given and at most one more."""
    grown = np.log(max(last, 1e-9) / max(before, 1e-9)) / np.log(times)
    return float(np.clip(grown, least, least + 1.0))
