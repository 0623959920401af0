"""Model selection for multi-label data: stratified folds and searches."""

from multimargin.tuning.folds import MultilabelStratifiedKFold
from multimargin.tuning.holdout import stratified_train_test_split
from multimargin.tuning.lazy_search import LazySearchCV
from multimargin.tuning.warm_start import WarmStartGridSearchCV

__all__ = [
    "LazySearchCV",
    "MultilabelStratifiedKFold",
    "WarmStartGridSearchCV",
    "stratified_train_test_split",
]
