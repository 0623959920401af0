"""The same threshold for all rows and labels."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from multimargin.checks.parameters import check_real
from multimargin.checks.scores import check_scores
from multimargin.thresholds.base import CheckedThreshold, Known
from multimargin.typing import MatrixLike, Scores, Vector


@dataclass(repr=False, eq=False)
class ConstantThreshold(CheckedThreshold):
    """The same threshold for all rows.

    Parameters
    ----------
    value : float, default=0.0
        The threshold, finite.
    """

    value: float = 0.0

    def _check_parameters(self) -> None:
        check_value(self.value, "value")

    def _learn(self, scores: Scores, Y: Known, weights: Vector | None, X: Any) -> None:
        """Nothing is learned."""

    def predict(self, scores: MatrixLike, X: MatrixLike | None = None) -> Vector:
        value = check_value(self.value, "value")
        return np.full(check_scores(scores).shape[0], value)

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def rescale(self, factor: float) -> Self:
        return self


def check_value(value: object, name: str) -> float:
    """Return a finite number."""
    try:
        return check_real(name, value)
    except TypeError as error:
        raise ValueError(str(error)) from error
