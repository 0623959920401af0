"""Model selection for multi-label data: stratified folds and searches."""

from multimargin.tuning.folds import MultilabelStratifiedKFold
from multimargin.tuning.holdout import stratified_train_test_split
from multimargin.tuning.lazy_search import LazySearchCV

__all__ = ["LazySearchCV", "MultilabelStratifiedKFold", "stratified_train_test_split"]
