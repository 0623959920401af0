"""Plots, in the style of scikit-learn's displays. They need ``pip install multimargin[plots]``.

Each display has constructors (`from_estimator`, `from_predictions`) that compute what is shown and
draw it, and a method `plot` that draws it again, on other axes if asked. None calls
``pyplot.show``.
"""

from multimargin.plots.label_affinity import LabelAffinityDisplay, affinity
from multimargin.plots.label_correlation import LabelCorrelationDisplay
from multimargin.plots.label_feature_count import LabelFeatureCountDisplay

__all__ = [
    "LabelAffinityDisplay",
    "LabelCorrelationDisplay",
    "LabelFeatureCountDisplay",
    "affinity",
]
