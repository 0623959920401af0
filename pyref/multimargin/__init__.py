"""Large-margin multi-label learning with certified solvers."""

from importlib.metadata import version

from multimargin.estimators import (
    LLSF,
    MLODM,
    MLRL,
    SSMLRL,
    LabelSpecificBinaryRelevance,
    LabelSpecificClassifierChain,
    RankCVM,
    RankHLapSVM,
    RankLSVM,
    RankSVM,
    ThresholdedClassifier,
    beta_max,
    llsf_path,
)

__version__ = version("multimargin")

__all__ = [
    "LLSF",
    "MLODM",
    "MLRL",
    "SSMLRL",
    "LabelSpecificBinaryRelevance",
    "LabelSpecificClassifierChain",
    "RankCVM",
    "RankHLapSVM",
    "RankLSVM",
    "RankSVM",
    "ThresholdedClassifier",
    "__version__",
    "beta_max",
    "llsf_path",
]
