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


def make_threshold(
    threshold: str | float | Threshold,
    *,
    random_state: int | np.random.RandomState | None = None,
) -> Threshold:
    """Return an unfitted threshold.

    Parameters
    ----------
    threshold : {"scores", "features", "labels", "count", "f1"}, float or Threshold
        "scores" is `ScoresThreshold`, "features" is `FeaturesThreshold`, "labels" is
        `LabelsThreshold`, "count" is `CountThreshold`, "f1" is `F1Threshold`, a number is a
        `ConstantThreshold`, and a threshold object is cloned.
    random_state : int, RandomState instance or None, default=None
        Passed to the `FeaturesThreshold` that "features" makes.

    Returns
    -------
    Threshold
        A new object.
    """
    if isinstance(threshold, Threshold):
        copy: Threshold = clone(threshold)
        return copy
    if isinstance(threshold, str):
        if threshold == "features":
            return FeaturesThreshold(random_state=random_state)
        if threshold in _BY_NAME:
            return _BY_NAME[threshold]()
        names = ", ".join(repr(name) for name in _BY_NAME)
        raise ValueError(
            f"threshold is {threshold!r}; expected {names}, a number or a threshold object."
        )
    return ConstantThreshold(check_value(threshold, "threshold"))
