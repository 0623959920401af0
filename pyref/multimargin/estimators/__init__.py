"""The scikit-learn estimators."""

from multimargin.calibration.calibrated import CalibratedClassifier
from multimargin.calibration.thresholded import ThresholdedClassifier
from multimargin.estimators.fitting.options import FrankWolfeOptions, RelationshipOptions
from multimargin.estimators.label_ranker import LabelRankerCV
from multimargin.estimators.label_specific import (
    LabelSpecificBinaryRelevance,
    LabelSpecificClassifierChain,
    MajorityClass,
)
from multimargin.estimators.llsf import LLSF, beta_max
from multimargin.estimators.mlodm import MLODM
from multimargin.estimators.mlrl import MLRL
from multimargin.estimators.rank_cvm import RankCVM
from multimargin.estimators.rank_hlapsvm import RankHLapSVM
from multimargin.estimators.rank_lsvm import RankLSVM
from multimargin.estimators.rank_svm import RankSVM
from multimargin.estimators.rank_svmz import RankSVMz
from multimargin.estimators.ssmlrl import SSMLRL
from multimargin.targets.empty_rows import EmptyRowsWarning
from multimargin.targets.reading import UnknownLabelsWarning

__all__ = [
    "LLSF",
    "MLODM",
    "MLRL",
    "SSMLRL",
    "CalibratedClassifier",
    "EmptyRowsWarning",
    "FrankWolfeOptions",
    "LabelRankerCV",
    "LabelSpecificBinaryRelevance",
    "LabelSpecificClassifierChain",
    "MajorityClass",
    "RankCVM",
    "RankHLapSVM",
    "RankLSVM",
    "RankSVM",
    "RankSVMz",
    "RelationshipOptions",
    "ThresholdedClassifier",
    "UnknownLabelsWarning",
    "beta_max",
]
