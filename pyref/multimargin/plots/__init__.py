"""Plots, in the style of scikit-learn's displays. They need ``pip install 'multimargin[plots]'``.

Each display has constructors (`from_estimator`, `from_predictions`) that compute what is shown and
draw it, and a method `plot` that draws it again, on other axes if asked. None calls
``pyplot.show``, and none changes matplotlib's settings. Colours and line styles can be told apart
by colour-blind readers.
"""

from multimargin.plots.calibration import CalibrationDisplay
from multimargin.plots.convergence import ConvergenceDisplay
from multimargin.plots.critical_difference import CriticalDifferenceDisplay
from multimargin.plots.label_affinity import LabelAffinityDisplay, affinity
from multimargin.plots.label_correlation import LabelCorrelationDisplay
from multimargin.plots.label_feature_count import LabelFeatureCountDisplay
from multimargin.plots.label_measures import LabelMeasuresDisplay
from multimargin.plots.margin_distribution import MarginDistributionDisplay
from multimargin.plots.parameter_curve import ParameterCurveDisplay
from multimargin.plots.reasons import ReasonsDisplay

__all__ = [
    "CalibrationDisplay",
    "ConvergenceDisplay",
    "CriticalDifferenceDisplay",
    "LabelAffinityDisplay",
    "LabelCorrelationDisplay",
    "LabelFeatureCountDisplay",
    "LabelMeasuresDisplay",
    "MarginDistributionDisplay",
    "ParameterCurveDisplay",
    "ReasonsDisplay",
    "affinity",
]
