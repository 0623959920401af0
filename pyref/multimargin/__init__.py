"""Large-margin multi-label learning with certified solvers."""

from importlib.metadata import version

from multimargin.estimators import (
    LLSF,
    LabelSpecificBinaryRelevance,
    LabelSpecificClassifierChain,
    RankSVM,
    beta_max,
    llsf_path,
)

__version__ = version("multimargin")

__all__ = [
    "LLSF",
    "LabelSpecificBinaryRelevance",
    "LabelSpecificClassifierChain",
    "RankSVM",
    "__version__",
    "beta_max",
    "llsf_path",
]
