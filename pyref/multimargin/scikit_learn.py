"""Private names of scikit-learn, which may change with its version."""

from sklearn.metrics._scorer import _Scorer as ScikitLearnScorer
from sklearn.utils import _safe_indexing as safe_indexing
from sklearn.utils.metaestimators import _BaseComposition as BaseComposition
from sklearn.utils.metaestimators import _safe_split as safe_split
from sklearn.utils.validation import _check_method_params as check_method_params
from sklearn.utils.validation import _num_samples as num_samples

__all__ = [
    "BaseComposition",
    "ScikitLearnScorer",
    "check_method_params",
    "num_samples",
    "safe_indexing",
    "safe_split",
]
