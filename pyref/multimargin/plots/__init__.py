"""Plots, in the style of scikit-learn's displays. They need ``pip install 'multimargin[plots]'``.

Each display has constructors (`from_estimator`, `from_predictions`) that compute what is shown and
draw it, and a method `plot` that draws it again, on other axes if asked. None calls
``pyplot.show``, and none changes matplotlib's settings. Colours and line styles can be told apart
by colour-blind readers.
"""

from multimargin.plots.convergence import ConvergenceDisplay
from multimargin.plots.margin_distribution import MarginDistributionDisplay
from multimargin.plots.reasons import ReasonsDisplay

__all__ = ["ConvergenceDisplay", "MarginDistributionDisplay", "ReasonsDisplay"]
