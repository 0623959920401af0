"""Predictions in names and tables, and the reasons for them.

- `names`: names of the labels of any classifier; `outputs`: predictions as data frames and
  sparse matrices;
- `reasons`: the features that support a label; `steps`: the steps inside pipelines and searches.
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
