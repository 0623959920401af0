"""Large-margin multi-label learning with certified solvers."""

from importlib.metadata import version

from multimargin.estimators import RankSVM

__version__ = version("multimargin")

__all__ = ["RankSVM", "__version__"]
