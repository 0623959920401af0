"""Calibration and label sets of the best labels of each row, for thousands of labels."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from scipy.special import expit
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils import gen_batches
from sklearn.utils.validation import check_is_fitted

from multimargin.calibration.calibrated import calibrate, make_odds_threshold, with_empty_label
from multimargin.calibration.head import Head
from multimargin.calibration.held_out import HeldOut, Named, check_label_names
from multimargin.calibration.on_folds import RESPONSES, OnFolds, block_of, weights_for
from multimargin.calibration.pairs import Listed
from multimargin.calibration.pooled import PooledCalibration
from multimargin.checks.arrays import check_as_many_rows
from multimargin.checks.weights import check_sample_weight
from multimargin.measures import precision_at_k
from multimargin.measures.label_scores import response_of
from multimargin.measures.scorers import as_measured
from multimargin.targets.indicator import UNKNOWN, count_labels, with_nan
from multimargin.targets.reading import Targets, read_targets
from multimargin.thresholds.base import Threshold
from multimargin.thresholds.f1 import F1Threshold
from multimargin.tuning.counted import counted
from multimargin.tuning.folds import Rows, folds_of
from multimargin.typing import (
    Features,
    Folds,
    Indicator,
    LabelsLike,
    Matrix,
    MatrixLike,
    RowIndex,
    Vector,
)
from multimargin.whole_fits import whole_or_unchanged

Numbers = NDArray[np.intp]

N_BEST = 50
"""Labels of each row that are listed."""
# Scores in memory at a time.
_SCORES = 2**22
# Log odds of labels that are in no label set.
_NEVER = -1e300


@dataclass(frozen=True, eq=False)
class Shortlists:
    """The best labels of each row by a ranker."""

    numbers: Numbers  # (m, k): The labels, the best first
    scores: Matrix  # (m, k)

    @classmethod
    def by(cls, ranker: BaseEstimator, X: Features, n_labels: int) -> Self:
        """Return those of rows by the scores of a ranker."""
        k = min(N_BEST, n_labels)
        numbers, scores = np.empty((X.shape[0], k), dtype=np.intp), np.empty((X.shape[0], k))
        for rows in _blocks(X.shape[0], n_labels):
            numbers[rows], scores[rows] = best_of_rows(ranker.label_scores(X[rows]), k)
        return cls(numbers, scores)

    @classmethod
    def stacked(cls, parts: list[Self]) -> Self:
        """Return those of the rows of several parts."""
        numbers, scores = zip(*((part.numbers, part.scores) for part in parts), strict=True)
        return cls(np.vstack(numbers), np.vstack(scores))


def fitted_to(
    estimator: BaseEstimator,
    X: Features,
    y: Indicator,
    sample_weight: Vector | None,
    rows: RowIndex = slice(None),
) -> BaseEstimator:
    """Return an estimator fitted to some rows."""
    weights = None if sample_weight is None else sample_weight[rows]
    return clone(estimator).fit(X[rows], y[rows], **weights_for(estimator, weights))


def _blocks(n: int, n_labels: int) -> Iterator[slice]:
    """Yield blocks of rows of which all scores are held at a time."""
    step = max(_SCORES // n_labels, 1)
    yield from gen_batches(n, step)


def labels_at(indicator: sparse.csr_array, numbers: Numbers) -> NDArray[np.uint8]:
    """Return the marks of a sparse indicator at listed labels; unknown for labels it lacks."""
    own = numbers < indicator.shape[1]
    rows = np.arange(len(numbers))[:, None]
    found = indicator[rows, np.where(own, numbers, 0)].toarray()
    return np.where(own, found, np.uint8(UNKNOWN))


def best_of_rows(values: Matrix, k: int) -> tuple[Numbers, Matrix]:
    """Return the places and values of the k largest numbers of each row, the first among equals."""
    q = values.shape[1]
    k = min(k, q)
    chosen = np.argpartition(-values, k - 1, axis=1)[:, :k]
    lowest = np.take_along_axis(values, chosen, axis=1).min(axis=1, keepdims=True)
    tied = np.flatnonzero(np.count_nonzero(values >= lowest, axis=1) > k)
    chosen[tied] = np.argsort(-values[tied], axis=1, kind="stable")[:, :k]
    chosen.sort(axis=1)
    found = np.take_along_axis(values, chosen, axis=1)
    order = np.argsort(-found, axis=1, kind="stable")
    return np.take_along_axis(chosen, order, axis=1), np.take_along_axis(found, order, axis=1)


@dataclass(frozen=True)
class HeldOutLists(HeldOut):
    """Held-out scores of the best labels of each row, (m, k), and base rates of the others."""

    n_relevant: Vector | None = None  # (m,): Relevant labels of each row, listed or not
    base_rates: Vector | None = None  # (q,): Share of the rows that have a label without listing it

    @classmethod
    def of_lists(
        cls, rows: HeldOut, lists: Shortlists, further: list[Matrix], n_labels: int
    ) -> Self:
        """Gather the labels of lists from the sparse indicator of held-out rows.

        Labels from `n_labels` on, which say that a row has none, serve the calibration alone.
        """
        numbers: Numbers = lists.numbers
        indicator: Any = rows.labels
        q = indicator.shape[1]
        found = labels_at(indicator, numbers)
        of_rows = count_labels(indicator[:, :n_labels], axis=1)[0].astype(float)
        rates = _base_rates(indicator, numbers, found, rows.sample_weight)[:n_labels]
        return cls(
            **vars(replace(rows, blocks=[lists.scores, *further], labels=with_nan(found)))
            | {"listed": Listed(numbers, q), "n_relevant": of_rows, "base_rates": rates}
            | {"n_learned": None},
        )

    @property
    def alone(self) -> Self:
        """Those of the ranker only, to be calibrated in its order."""
        return replace(self, blocks=self.blocks[:1], per_label=False)

    def precisions(self, odds: Matrix, n_labels: int, folds: Sequence[Rows]) -> Vector:
        """Return precision at 5 of the rows of each fold, NaN where none counts."""
        assert self.listed is not None
        # The label of empty rows is never predicted.
        own = self.listed.numbers < n_labels
        labels = self.labels if own.all() else np.where(own, self.labels, np.nan)
        weights = self.sample_weight
        values = np.full(len(folds), np.nan)
        for place, fold in enumerate(folds):
            rows = fold[~np.isnan(labels[fold]).all(axis=1)]
            if rows.size:
                values[place] = precision_at_k(
                    as_measured(labels[rows]),
                    odds[rows],
                    sample_weight=None if weights is None else weights[rows],
                )
        return values

    def learn(
        self, threshold: Threshold, scores: Matrix, X: MatrixLike, n_labels: int
    ) -> Threshold:
        """Learn a threshold from the odds of the listed labels."""
        if not isinstance(threshold, F1Threshold):
            return threshold
        assert self.listed is not None
        assert self.n_relevant is not None
        own = self.listed.numbers < n_labels
        indicator = np.where(own, self.indicator(), np.uint8(UNKNOWN))
        return threshold.fit_listed(scores, indicator, self.sample_weight, self.n_relevant)


def _base_rates(
    indicator: Indicator, numbers: Numbers, found: NDArray[np.uint8], sample_weight: Vector | None
) -> Vector:
    """Return how often each label applies where it is not listed, shrunk towards all labels."""
    m, q = indicator.shape
    weights = np.ones(m) if sample_weight is None else sample_weight
    rows, labels = indicator.nonzero()
    marks, of_lists = indicator.data[indicator.data != 0], np.repeat(weights, numbers.shape[1])

    def apart(mark: int) -> Vector:
        """Count a mark in rows whose lists do not have the label."""
        of_all, listed = marks == mark, found.ravel() == mark
        counted = np.bincount(labels[of_all], weights[rows[of_all]], minlength=q)
        counted -= np.bincount(numbers.ravel()[listed], of_lists[listed], minlength=q)
        return np.asarray(np.maximum(counted, 0.0))

    known = weights.sum() - np.bincount(numbers.ravel(), of_lists, minlength=q) - apart(UNKNOWN)
    known, missed = np.maximum(known, 0.0), apart(1)
    mean = missed.sum() / max(known.sum(), np.finfo(float).tiny)
    # As if there were one more row with the average number of missed labels.
    return np.asarray((missed + mean) / (known + 1.0))


class ShortlistClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A ranker and other classifiers, whose scores of the best labels of each row are calibrated.

    The ranker lists the 50 best labels of a row. Their probabilities come from its scores and those
    of the others, as in `CalibratedClassifier`; those of all other labels are base rates: how often
    each applies where it is not listed. No array of all rows and labels is made.

    Parameters
    ----------
    estimator : list of (str, estimator)
        The ranker first, with `label_scores`, then others with `decision_function`, all of which
        take a sparse indicator.
    threshold : {"micro", "samples"} or float, default="micro"
        Threshold above which listed labels are predicted, as in `CalibratedClassifier`.
    at_least_one : bool, default=False
        If True, the best label of a row is always predicted.
    empty_label : bool, default=False
        If True, the estimators learn a further, last label, that a row has none.
    cv : int, splitter or iterable of (train, test), default=3
        The folds; a number deals rows out at random.

    Attributes
    ----------
    estimators_ : list of (str, estimator)
        The ranker and the others, if they are weighed, fitted.
    stacked_ : bool
        True if the calibration weighs the others and corrects for labels, False if it keeps to
        the ranker, which is then as precise on the held-out rows.
    calibration_ : PooledCalibration
        The calibration.
    threshold_ : Threshold
        The threshold of the logarithms of the odds.
    base_rates_ : ndarray of shape (q,)
        Probabilities of labels that are not listed.
    classes_ : ndarray of shape (q,)
        Label numbers.
    """

    multilabel_ = True

    def __init__(
        self,
        estimator: Named,
        threshold: str | float = "micro",
        *,
        at_least_one: bool = False,
        empty_label: bool = False,
        cv: Folds = 3,
    ) -> None:
        self.estimator = estimator
        self.threshold = threshold
        self.at_least_one = at_least_one
        self.empty_label = empty_label
        self.cv = cv

    @whole_or_unchanged
    def fit(
        self,
        X: Features,
        y: LabelsLike,
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
    ) -> Self:
        """Learn from held-out scores, and fit the estimators on all rows.

        Parameters
        ----------
        X : CSR matrix of shape (n, d)
            Features.
        y : array-like, sparse matrix or data frame of shape (n, q), or n lists of names
            Label indicator of 0 and 1, NaN for unknown labels.
        sample_weight : array-like of shape (n,), default=None
            Weights of the rows.
        groups : array-like of shape (n,), default=None
            Rows of one group stay in one fold.
        """
        targets = read_targets(y, unknown="take", keep_sparse=True)
        check_label_names(self.estimator, targets)
        indicator: Any = sparse.csr_array(targets.indicator)
        weights = check_sample_weight(sample_weight, indicator.shape[0])
        left = counted(X, replace(targets, indicator=indicator), weights, groups, self.cv)
        X, targets, weights, groups = left.X, left.targets, left.sample_weight, left.groups
        indicator = targets.indicator
        folds = folds_of(left.cv, X, indicator, groups)
        labels = with_nan(with_empty_label(indicator) if self.empty_label else indicator)
        data = X, labels, weights
        (first, ranker), *others = self.estimator
        lists = Shortlists.stacked(
            [
                Shortlists.by(fitted_to(ranker, *data, train), X[test], labels.shape[1])
                for train, test in folds
            ]
        )
        on_folds = OnFolds(X, labels, folds, listed=lists.numbers)
        blocks, fitted = [], [(first, fitted_to(ranker, *data))]
        for name, one in others:
            scores, other = on_folds.fit(one, weights_for(one, weights))
            blocks.append(scores)
            fitted.append((name, other))
        rows = HeldOut.of([], labels, weights, folds, groups)
        held_out = HeldOutLists.of_lists(rows, lists, blocks, indicator.shape[1])
        self.fit_held_out(fitted, held_out, targets, X)
        return self

    def fit_held_out(
        self, estimators: Named, held_out: HeldOutLists, targets: Targets, X: Features
    ) -> Matrix:
        """Learn from held-out scores that are there, of fitted classifiers; return their odds."""
        q, everywhere = targets.indicator.shape[1], [np.arange(len(held_out.rows))]
        calibrated, self.stacked_ = calibrate(held_out), True
        alone = calibrate(held_out.alone)
        (value,), (of_ranker,) = (
            held_out.precisions(one.odds, q, everywhere) for one in (calibrated, alone)
        )
        if not value > of_ranker:
            calibrated, self.stacked_, estimators = alone, False, estimators[:1]
        threshold = make_odds_threshold(self.threshold)
        threshold = held_out.learn(threshold, calibrated.odds, X, q)
        head = Head(calibrated.calibration, threshold, q, self.at_least_one)
        self.take(estimators, head, held_out.base_rates, targets)
        return calibrated.odds

    def take(
        self, estimators: Named, head: Head, base_rates: Vector | None, targets: Targets
    ) -> None:
        """Store fitted classifiers, and what makes label sets of their scores."""
        self.estimators_, self.head_, self.base_rates_ = estimators, head, base_rates
        self.response_methods_ = [response_of(one, RESPONSES) for _, one in estimators]
        targets.name_outputs(self)

    @property
    def calibration_(self) -> PooledCalibration:
        """The calibration of the listed labels."""
        calibration: PooledCalibration = self.head_.calibration  # type: ignore[assignment]
        return calibration

    @property
    def threshold_(self) -> Threshold | None:
        """The fitted threshold."""
        return self.head_.threshold

    def shortlists(self, X: Features) -> Shortlists:
        """Return the listed labels of rows and the logarithms of their odds.

        Parameters
        ----------
        X : CSR matrix of shape (n, d)
            Features.

        Returns
        -------
        Shortlists
            A label from q on, which says that a row has none, is never predicted.
        """
        check_is_fitted(self, "estimators_")
        (_, ranker), *others = self.estimators_
        q = self.calibration_.label_intercept_.size
        lists, blocks = Shortlists.by(ranker, X, q), []
        for (_, one), response in zip(others, self.response_methods_[1:], strict=True):
            blocks.append(block_of(one, response, X, True, q, lists.numbers))
        odds = self.calibration_.odds([lists.scores, *blocks], listed=Listed(lists.numbers, q))
        odds[lists.numbers >= self.classes_.size] = _NEVER
        return replace(lists, scores=odds)

    def predict(self, X: MatrixLike) -> sparse.csr_array:
        """Predict the relevant labels.

        Parameters
        ----------
        X : CSR matrix of shape (n, d)
            Features.

        Returns
        -------
        csr_array of shape (n, q)
            1 where a label is predicted, of type uint8.
        """
        lists = self.shortlists(X)
        return self._sparse(lists, self.head_.label_sets(lists.scores).astype(np.uint8))

    def predict_proba(self, X: MatrixLike) -> sparse.csr_array:
        """Return the probabilities of the listed labels.

        Parameters
        ----------
        X : CSR matrix of shape (n, d)
            Features.

        Returns
        -------
        csr_array of shape (n, q)
            Without the labels that are not listed, of which `base_rates_` has the probabilities.
        """
        lists = self.shortlists(X)
        return self._sparse(lists, np.asarray(expit(lists.scores)))

    def precision(
        self, X: Features, indicator: Indicator, sample_weight: ArrayLike | None = None
    ) -> float:
        """Return precision at 5.

        Parameters
        ----------
        X : CSR matrix of shape (n, d)
            Features.
        indicator : array or sparse matrix of shape (n, q)
            Checked indicator of the relevant labels.
        sample_weight : array-like of shape (n,), default=None
            Weights of the rows; None gives each row the weight 1.

        Returns
        -------
        float
            Between 0 and 1.
        """
        lists = self.shortlists(X)
        marks: Any = sparse.csr_array(indicator)
        check_as_many_rows(marks, X)
        labels = as_measured(with_nan(labels_at(marks, lists.numbers)))
        return precision_at_k(labels, lists.scores, sample_weight=sample_weight)

    def _sparse(self, lists: Shortlists, values: NDArray[Any]) -> sparse.csr_array:
        rows, places = np.nonzero(values)
        at = rows, lists.numbers[rows, places]
        found = sparse.csr_array((values[rows, places], at), (len(values), self.classes_.size))
        found.sort_indices()
        return found
