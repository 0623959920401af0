"""Base of all thresholds: learned from scores, subtracted from scores."""

from abc import ABC, abstractmethod
from typing import Any, ClassVar, Self, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from multimargin.checks.scores import check_scores
from multimargin.checks.weights import check_sample_weight, of_rows
from multimargin.targets.indicator import UNKNOWN, check_indicator
from multimargin.typing import LabelsLike, Matrix, MatrixLike, Scores, Vector

# An indicator with marks of unknown labels
Known: TypeAlias = NDArray[np.uint8]
# Maximum number of pairs of a row and a label from which one number is learned.
MOST_PAIRS = 2**24


class Threshold(BaseEstimator, ABC):  # type: ignore[misc]
    """Base of the thresholds; derive from it to write another.

    A derived class gives `fit`, `predict` and `rescale`. The scores may come from any model.

    Notes
    -----
    A threshold per row does not change the ranking of the row. A threshold per label does:
    `decision_function` then ranks the labels in another order than the scores.

    Where `exchangeable` is True, the classifiers around others learn it from one held-out score of
    each row, and with `groups` from one row of each group, drawn at random.
    """

    exchangeable: ClassVar[bool] = False

    @abstractmethod
    def fit(
        self,
        scores: MatrixLike,
        y: LabelsLike,
        X: MatrixLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Learn the threshold.

        Parameters
        ----------
        scores : array-like of shape (n, q)
            Scores f_k(x_i), best of rows that the model has not seen.
        y : array-like, sparse matrix or data frame of shape (n, q)
            Indicator of their relevant labels, 0 and 1; NaN where a label is unknown, which
            nothing is learned from.
        X : array-like or sparse matrix of shape (n, d), default=None
            Features of the rows, for thresholds that use them.
        sample_weight : array-like of shape (n,), default=None
            Weights of the rows; None gives each row the weight 1.

        Raises
        ------
        TypeError, ValueError
            If no label is known.
        """

    def check(
        self,
        *,
        n_labels: int | None = None,
        sample_weight: ArrayLike | None = None,
        at_least_one: bool = False,
        held_out: bool = True,
    ) -> None:
        """Refuse parameters and uses for which nothing can be learned; called first by classifiers.

        Parameters
        ----------
        n_labels : int, default=None
            Number of labels; None where it is not known.
        sample_weight : array-like of shape (n,), default=None
            Weights of the rows that it will be learned from.
        at_least_one : bool, default=False
            True if the best label of a row is predicted whatever the threshold says.
        held_out : bool, default=True
            True if it will be learned from scores of rows that the model has not seen.

        Raises
        ------
        TypeError, ValueError
            If a parameter is malformed, or the threshold does not support the use.
        """
        self._check_parameters()

    def _check_parameters(self) -> None:
        """Refuse malformed parameters."""

    @abstractmethod
    def predict(self, scores: MatrixLike, X: MatrixLike | None = None) -> Vector | Matrix:
        """Return the thresholds.

        Parameters
        ----------
        scores : array-like of shape (n, q)
            Scores f_k(x_i).
        X : array-like or sparse matrix of shape (n, d), default=None
            Features, for thresholds that use them.

        Returns
        -------
        ndarray of shape (n,) or (n, q)
            t(x_i), one per row, or t_k(x_i), one per row and label.
        """

    @abstractmethod
    def rescale(self, factor: float) -> Self:
        """Multiply the fitted threshold, so that it fits scores multiplied by the same factor.

        Parameters
        ----------
        factor : float
            The factor, positive.
        """

    def decision_function(self, scores: MatrixLike, X: MatrixLike | None = None) -> Matrix:
        """Return the scores minus the threshold: positive for the labels that are predicted.

        Parameters
        ----------
        scores, X
            As in `predict`.

        Returns
        -------
        ndarray of shape (n, q)
            f_k(x_i) - t(x_i).
        """
        scores = check_scores(scores)
        return scores - over_labels(self.predict(scores, X))

    def predict_labels(self, scores: MatrixLike, X: MatrixLike | None = None) -> NDArray[np.intp]:
        """Return the label sets.

        Parameters
        ----------
        scores, X
            As in `predict`.

        Returns
        -------
        ndarray of shape (n, q)
            1 where the score is above the threshold, else 0.
        """
        scores = check_scores(scores)
        return np.asarray(scores > over_labels(self.predict(scores, X)), dtype=np.intp)


class CheckedThreshold(Threshold):
    """Base of the thresholds of this package, which learn from what is checked."""

    def fit(
        self,
        scores: MatrixLike,
        y: LabelsLike,
        X: MatrixLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        scores, Y, weights = check_rows(scores, y, sample_weight)
        self.check(n_labels=Y.shape[1], sample_weight=weights)
        self._learn(scores, Y, weights, X)
        return self

    @abstractmethod
    def _learn(self, scores: Scores, Y: Known, weights: Vector | None, X: Any) -> None:
        """Learn from scores, an indicator and weights of rows; X is as it was given."""


class CommonThreshold(CheckedThreshold):
    """Base of thresholds that are one number for all rows and labels."""

    value_: float

    def predict(self, scores: MatrixLike, X: MatrixLike | None = None) -> Vector:
        check_is_fitted(self)
        return np.full(check_scores(scores).shape[0], self.value_)

    def rescale(self, factor: float) -> Self:
        check_is_fitted(self)
        self.value_ *= factor
        return self


class LabelwiseThreshold(CheckedThreshold):
    """Base of thresholds that are one number for each label, whatever the row."""

    thresholds_: Vector

    def predict(self, scores: MatrixLike, X: MatrixLike | None = None) -> Matrix:
        check_is_fitted(self)
        scores = check_scores(scores, n_labels=self.thresholds_.size)
        return np.broadcast_to(self.thresholds_, scores.shape)

    def rescale(self, factor: float) -> Self:
        check_is_fitted(self)
        self.thresholds_ *= factor
        return self


def check_rows(
    scores: MatrixLike, y: LabelsLike, sample_weight: ArrayLike | None = None
) -> tuple[Scores, NDArray[np.uint8], Vector | None]:
    """Check the input of thresholds: scores, an indicator with unknown labels, weights."""
    Y = check_indicator(y, unknown=True)
    scores = check_scores(scores, n_rows=Y.shape[0], n_labels=Y.shape[1])
    return scores, Y, check_sample_weight(sample_weight, Y.shape[0])


def enough_rows(threshold: Threshold, n: int, q: int) -> int:
    """Return the number of rows, out of n, from which a threshold is learned."""
    return min(n, max(1, MOST_PAIRS // q)) if isinstance(threshold, CommonThreshold) else n


def learned_rows(
    threshold: Threshold, Y: NDArray[np.uint8], sample_weight: Vector | None, *others: Any
) -> tuple[Any, ...]:
    """Return labels, weights and the other arrays of the rows that a threshold is learned from.

    These are all rows, or evenly spaced ones if they suffice for a single number.
    """
    arrays = (Y, sample_weight, *others)
    step = -(-Y.shape[0] // enough_rows(threshold, *Y.shape))
    if step == 1:
        return arrays
    counted = (Y != UNKNOWN).any(axis=1)
    if sample_weight is not None:
        counted &= sample_weight > 0.0
    return of_rows(np.flatnonzero(counted)[::step], *arrays)


def over_labels(thresholds: Vector) -> Matrix:
    """Shape thresholds so that they can be subtracted from scores."""
    return thresholds[:, None] if thresholds.ndim == 1 else thresholds


def middle(lower: Vector, upper: Vector) -> Vector:
    """Return thresholds with one score at or below them and the next one above."""
    lower, upper = np.asarray(lower, dtype=np.float64), np.asarray(upper, dtype=np.float64)
    # Halves first: the sum of two large scores could overflow.
    with np.errstate(invalid="ignore"):
        found = lower / 2 + upper / 2
    found = np.where(np.isneginf(lower), upper - 1, found)
    found = np.where(np.isposinf(upper), lower + 1, found)
    # The scores may be adjacent floating point numbers, or too large for one unit to matter.
    return np.asarray(np.where(found < upper, found, np.nextafter(upper, -np.inf)))


def spread(scores: Matrix, sample_weight: Vector | None = None) -> float:
    """Return the unit to learn a threshold in when margins are not near 1."""
    mean = float(np.average(scores.std(axis=1), weights=sample_weight))
    return mean if 0.0 < mean < np.inf else 1.0
