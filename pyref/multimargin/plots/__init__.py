"""Plots, in the style of scikit-learn's displays. They need ``pip install 'multimargin[plots]'``.

Each display has a method `plot` that draws it, on given axes if requested. None of them calls
``pyplot.show`` or changes matplotlib's settings. Colours and line styles are distinguishable for
colour-blind readers. Margins of label pairs are drawn by matplotlib's
``ax.ecdf(model.margins(X, y))``.
"""

from multimargin.plots.convergence import ConvergenceDisplay
from multimargin.plots.reasons import ReasonsDisplay
from multimargin.plots.reliability import ReliabilityDisplay

__all__ = ["ConvergenceDisplay", "ReasonsDisplay", "ReliabilityDisplay"]
