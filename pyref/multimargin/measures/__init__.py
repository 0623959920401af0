"""Measures of multi-label prediction, and the scores and margins that they are computed from.

- `ranking`: measures of label rankings; `label_sets`: measures of predicted label sets;
- `registry`: all of them by name; `scorers`: their scorers for scikit-learn;
- `margins`: margins of label pairs;
- `label_scores`: scores of labels, asked of any fitted classifier.
"""

from multimargin.measures.label_sets import (
    exact_match,
    example_f1,
    hamming_loss,
    jaccard,
    macro_f1,
    micro_f1,
)
from multimargin.measures.margins import pair_margins
from multimargin.measures.ranking import (
    average_precision,
    coverage,
    is_error,
    one_error,
    ranking_loss,
)
from multimargin.measures.registry import MEASURES, Measure, all_measures, ranking_hamming
from multimargin.measures.scorers import SCORERS, get_scorer

__all__ = [
    "MEASURES",
    "SCORERS",
    "Measure",
    "all_measures",
    "average_precision",
    "coverage",
    "exact_match",
    "example_f1",
    "get_scorer",
    "hamming_loss",
    "is_error",
    "jaccard",
    "macro_f1",
    "micro_f1",
    "one_error",
    "pair_margins",
    "ranking_hamming",
    "ranking_loss",
]
