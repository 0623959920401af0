"""Predictions in names and tables, and the reasons for them.

- `names`: names of labels of any classifier, and of rows; `outputs`: predictions as data frames and
  sparse matrices;
- `reasons`: the features that support a label; `steps`: what lies inside pipelines and searches.
"""

from multimargin.inspection.names import predict_names, predict_top
from multimargin.inspection.outputs import predict_frame, predict_sparse
from multimargin.inspection.reasons import Reasons, explain

__all__ = [
    "Reasons",
    "explain",
    "predict_frame",
    "predict_names",
    "predict_sparse",
    "predict_top",
]
