"""Large-margin multi-label learning with certified solvers."""

from importlib.metadata import version

from multimargin.estimators import (
    MLODM,
    MLRL,
    SSMLRL,
    RankCVM,
    RankHLapSVM,
    RankLSVM,
    RankSVM,
)

__version__ = version("multimargin")

__all__ = [
    "MLODM",
    "MLRL",
    "SSMLRL",
    "RankCVM",
    "RankHLapSVM",
    "RankLSVM",
    "RankSVM",
    "__version__",
]
