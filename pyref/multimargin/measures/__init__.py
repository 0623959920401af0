"""Measures of multi-label prediction, and the scores and margins that they are computed from.

- `ranking`: measures of label rankings and of label sets, and their scorers;
- `margins`: margins of label pairs;
- `label_scores`: scores of labels, asked of any fitted classifier.
"""

from multimargin.measures.margins import pair_margins
from multimargin.measures.ranking import (
    SCORERS,
    all_measures,
    average_precision,
    coverage,
    exact_match,
    example_f1,
    get_scorer,
    hamming_loss,
    is_error,
    jaccard,
    macro_f1,
    micro_f1,
    one_error,
    ranking_hamming,
    ranking_loss,
)

__all__ = [
    "SCORERS",
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
