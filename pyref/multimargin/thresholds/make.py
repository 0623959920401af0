"""Thresholds by name."""

import numpy as np
from sklearn.base import clone

from multimargin.thresholds.base import Threshold
from multimargin.thresholds.constant import ConstantThreshold, check_value
from multimargin.thresholds.count import CountThreshold
from multimargin.thresholds.f1 import F1Threshold
from multimargin.thresholds.features import FeaturesThreshold
from multimargin.thresholds.labels import LabelsThreshold
from multimargin.thresholds.scores import ScoresThreshold

_BY_NAME: dict[str, type[Threshold]] = {
    "scores": ScoresThreshold,
    "features": FeaturesThreshold,
    "labels": LabelsThreshold,
    "count": CountThreshold,
    "f1": F1Threshold,
}


# Most labels for which "auto" is the threshold of the papers.
MOST_OF_SCORES = 1000


def make_threshold(
    threshold: str | float | Threshold,
    *,
    n_labels: int = 0,
    random_state: int | np.random.RandomState | None = None,
) -> Threshold:
    """Return an unfitted threshold."""
    if isinstance(threshold, Threshold):
        copy: Threshold = clone(threshold)
        return copy
    if isinstance(threshold, str):
        if threshold == "auto":
            # Least squares take memory and time of n q and n q^2.
            return ScoresThreshold() if n_labels <= MOST_OF_SCORES else F1Threshold()
        if threshold == "features":
            return FeaturesThreshold(random_state=random_state)
        if threshold in _BY_NAME:
            return _BY_NAME[threshold]()
        names = ", ".join(repr(name) for name in ["auto", *_BY_NAME])
        raise ValueError(
            f"threshold is {threshold!r}; expected {names}, a number or a threshold object."
        )
    return ConstantThreshold(check_value(threshold, "threshold"))
