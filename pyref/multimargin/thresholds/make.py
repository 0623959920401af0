"""Thresholds by name."""

from collections.abc import Callable
from functools import partial

import numpy as np
from sklearn.base import clone

from multimargin.thresholds.base import Threshold
from multimargin.thresholds.constant import ConstantThreshold, check_value
from multimargin.thresholds.count import CountThreshold
from multimargin.thresholds.f1 import F1Threshold
from multimargin.thresholds.features import FeaturesThreshold
from multimargin.thresholds.labels import LabelsThreshold
from multimargin.thresholds.scores import ScoresThreshold

_BY_NAME: dict[str, Callable[[], Threshold]] = {
    "micro": partial(F1Threshold, "micro"),
    "samples": partial(F1Threshold, "samples"),
    "macro": LabelsThreshold,
    "count": CountThreshold,
    "scores": ScoresThreshold,
    "features": FeaturesThreshold,
}


# Maximum number of labels for which "auto" is the threshold of the papers.
MOST_OF_SCORES = 1000
# Share of rows without labels from which on it depends on the features.
FEWEST_EMPTY = 0.01


def make_threshold(
    threshold: str | float | Threshold,
    *,
    n_labels: int = 0,
    empty: float = 0.0,
    random_state: int | np.random.RandomState | None = None,
) -> Threshold:
    """Return an unfitted threshold; `empty` is the share of the rows without labels.

    It must be 0 if there are no features to learn from.
    """
    if isinstance(threshold, Threshold):
        copy: Threshold = clone(threshold)
        return copy
    if isinstance(threshold, str):
        if threshold == "auto":
            if n_labels > MOST_OF_SCORES:
                # Least squares take memory and time of n q and n q^2.
                return F1Threshold()
            if empty >= FEWEST_EMPTY:
                # The scores of a row order its labels, but do not tell whether any applies.
                return FeaturesThreshold(loss="squared", scale=True)
            return ScoresThreshold()
        if threshold == "features":
            return FeaturesThreshold(random_state=random_state)
        if threshold in _BY_NAME:
            return _BY_NAME[threshold]()
        names = ", ".join(repr(name) for name in ["auto", *_BY_NAME])
        raise ValueError(
            f"threshold is {threshold!r}; expected {names}, a number or a threshold object."
        )
    return ConstantThreshold(check_value(threshold, "threshold"))
