"""The scikit-learn estimators."""

from multimargin.estimators.rank_svm import RankSVM

__all__ = ["RankSVM"]
