"""The scikit-learn estimators."""

from multimargin.estimators.mlrl import MLRL
from multimargin.estimators.rank_svm import RankSVM
from multimargin.estimators.ssmlrl import SSMLRL

__all__ = ["MLRL", "SSMLRL", "RankSVM"]
