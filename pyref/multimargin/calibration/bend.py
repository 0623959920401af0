"""Probabilities of labels in which low and high scores count differently."""

from collections.abc import Sequence

import numpy as np
from sklearn.base import BaseEstimator

from multimargin.calibration.lift import LiftedCalibration
from multimargin.calibration.pooled import PooledCalibration, mean_and_deviation
from multimargin.typing import Matrix, Scores, Vector


class BentCalibration(BaseEstimator):  # type: ignore[misc]
    """A calibration that also weighs the first model's scores with a bend at their mean.

    The bent score is -log(1 + exp(-z)) of the standardised score z. If most rows have no label,
    nearly all scores are low, and the model that separates them best need not be the one that finds
    the labels best.

    Parameters
    ----------
    calibration : PooledCalibration or LiftedCalibration
        Fitted map of the models' scores and the bent ones, a further block, to logarithms of odds.
    mean, deviation : float
        Of the first model's scores.

    Attributes
    ----------
    gap_ : float
        The gap of the calibration.

    See Also
    --------
    CalibratedClassifier : Learns it, with `empty_label=True`, where most rows have no label.
    """

    def __init__(
        self, calibration: PooledCalibration | LiftedCalibration, mean: float, deviation: float
    ) -> None:
        self.calibration = calibration
        self.mean = mean
        self.deviation = deviation

    def __sklearn_is_fitted__(self) -> bool:
        return True

    @property
    def gap_(self) -> float:
        """The gap of the calibration."""
        return self.calibration.gap_

    def odds(self, blocks: Sequence[Scores]) -> Matrix:
        """Return the logarithms of the odds by checked scores."""
        return self.calibration.odds([*blocks, bent(blocks[0], self.mean, self.deviation)])

    def shares(self, blocks: Sequence[Scores]) -> list[Matrix]:
        """Return what each model, and last a lift, adds to the logarithms of the odds.

        Parameters
        ----------
        blocks : sequence of n_blocks ndarrays of shape (n, q)
            Scores of the models.

        Returns
        -------
        list of ndarray of shape (n, q)
            The shares; with the intercepts they sum to the odds.
        """
        of_bend = len(blocks)
        shares = self.calibration.shares([*blocks, bent(blocks[0], self.mean, self.deviation)])
        first, bend = shares[0], shares.pop(of_bend)
        return [first + bend, *shares[1:]]


def bent(scores: Scores, mean: float, deviation: float) -> Matrix:
    """Return -log(1 + exp(-z)) of standardised scores z, which rises with them."""
    found: Matrix = -np.logaddexp(0.0, (mean - scores) / deviation)
    return found


def place_of_bend(scores: Matrix, sample_weight: Vector | None) -> tuple[float, float]:
    """Return the mean of scores (n, q) over rows and labels, and their standard deviation."""
    of_rows = np.ones(len(scores)) if sample_weight is None else sample_weight
    weights = np.broadcast_to(of_rows[:, None], scores.shape).ravel()
    return mean_and_deviation(scores.ravel(), weights)


Calibration = PooledCalibration | LiftedCalibration | BentCalibration
