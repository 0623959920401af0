"""Probabilities of labels from scores and from the other labels of the row."""

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit
from sklearn.base import BaseEstimator

from multimargin.blas import with_one_blas_thread
from multimargin.calibration.pairs import by_features
from multimargin.calibration.pooled import PooledCalibration
from multimargin.checks.weights import in_units_of_a_row
from multimargin.targets.indicator import UNKNOWN
from multimargin.typing import Matrix, Scores, Vector

# Rows that each pair of labels is assumed to share by chance, in addition to the actual ones.
_PRIOR = 1.0


class LabelLift(BaseEstimator):  # type: ignore[misc]
    """Scores of labels from the probabilities of the other labels of the row.

    The lift of two labels is how many times as often they occur together as by chance. The score
    of label k is the sum over the other labels l of (p_l - share of l) log lift(k, l).

    Attributes
    ----------
    lift_ : ndarray of shape (q, q)
        Logarithms of the lifts, each with one row more that the two labels share by chance; 0 on
        the diagonal.
    shares_ : ndarray of shape (q,)
        Share of each label among the rows in which it is known.
    """

    @with_one_blas_thread
    def fit(self, indicator: NDArray[np.uint8], sample_weight: Vector | None = None) -> Self:
        """Count pairs of labels in an indicator (n, q) of 0, 1 and the mark of unknown labels."""
        weights = np.ones(len(indicator)) if sample_weight is None else sample_weight
        weights = in_units_of_a_row(weights)
        known, relevant = indicator != UNKNOWN, indicator == 1
        totals = weights @ known
        shares = np.divide(weights @ relevant, totals, out=np.zeros_like(totals), where=totals > 0)
        root = np.sqrt(weights)[:, None]
        weighted = root * relevant
        together = weighted.T @ weighted
        size = weights.sum()
        if not known.all():
            weighted = root * known
            size = weighted.T @ weighted
        expected = size * np.outer(shares, shares)
        self.lift_ = np.log((together + _PRIOR) / (expected + _PRIOR))
        np.fill_diagonal(self.lift_, 0.0)
        self.shares_ = shares
        return self

    @with_one_blas_thread
    def scores(self, odds: Matrix) -> Matrix:
        """Return the scores (n, q) by the logarithms of odds (n, q)."""
        found: Matrix = (expit(odds) - self.shares_) @ self.lift_
        return found


class LiftedCalibration(BaseEstimator):  # type: ignore[misc]
    """Two successive calibrations: the second also uses the other labels of the row.

    Parameters
    ----------
    first : PooledCalibration
        Fitted map of the scores of models to logarithms of odds.
    lift : LabelLift
        Fitted scores of labels by these odds.
    second : PooledCalibration
        Fitted map of the models' scores and the lift's, a further block, to logarithms of odds.

    Attributes
    ----------
    gap_ : float
        The larger gap of the two calibrations: an upper bound of how far the objective is above its
        minimum, relative to the objective.

    See Also
    --------
    CalibratedClassifier : Learns it, with `lift=True`.
    """

    def __init__(
        self, first: PooledCalibration, lift: LabelLift, second: PooledCalibration
    ) -> None:
        self.first = first
        self.lift = lift
        self.second = second

    def __sklearn_is_fitted__(self) -> bool:
        return True

    @property
    def gap_(self) -> float:
        """The larger gap of the two calibrations."""
        return max(self.first.gap_, self.second.gap_)

    def odds(self, blocks: Sequence[Scores]) -> Matrix:
        """Return the logarithms of the odds by checked scores."""
        return by_features(blocks, self._odds_of)

    def _odds_of(self, features: list[Matrix], labels: Any) -> Matrix:
        # The features of the models' scores serve both calibrations.
        return self.second.odds_of([*features, self.lift.scores(self.first.odds_of(features))])

    def shares(self, blocks: Sequence[Scores]) -> list[Matrix]:
        """Return the contributions of each model, and last of the lift, to the log odds.

        Parameters
        ----------
        blocks : sequence of n_blocks ndarrays of shape (n, q)
            Scores of the models.

        Returns
        -------
        list of ndarray of shape (n, q)
            The shares; with the intercepts they sum to the odds.
        """
        return self.second.shares([*blocks, self.lift.scores(self.first.odds(blocks))])
