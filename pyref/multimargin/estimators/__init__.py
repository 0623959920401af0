"""The scikit-learn estimators."""

from multimargin.estimators.label_specific import (
    LabelSpecificBinaryRelevance,
    LabelSpecificClassifierChain,
)
from multimargin.estimators.llsf import LLSF, beta_max, llsf_path
from multimargin.estimators.rank_svm import RankSVM

__all__ = [
    "LLSF",
    "LabelSpecificBinaryRelevance",
    "LabelSpecificClassifierChain",
    "RankSVM",
    "beta_max",
    "llsf_path",
]
