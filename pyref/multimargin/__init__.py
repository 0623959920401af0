"""Large-margin multi-label learning with certified solvers."""

from importlib.metadata import version

from multimargin.estimators import MLRL, SSMLRL, RankSVM

__version__ = version("multimargin")

__all__ = ["MLRL", "SSMLRL", "RankSVM", "__version__"]
