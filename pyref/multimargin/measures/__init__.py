"""Measures of multi-label prediction, and the scores and margins that they are computed from.

- `ranking`: measures of label rankings; `label_sets`: measures of predicted label sets;
- `retrieval`: measures of the head of a ranking, and areas under the curves of labels;
- `across_rows`: average precision of all pairs, and of the rows of each label;
- `per_label`: measures of each label, and of each row, by itself;
- `registry`: all of them by name; `scorers`: their scorers for scikit-learn;
- `margins`: margins of label pairs;
- `label_scores`: scores of labels of any fitted classifier.
"""

from multimargin.measures.across_rows import macro_average_precision, micro_average_precision
from multimargin.measures.label_sets import (
    exact_match,
    example_f1,
    hamming_loss,
    jaccard,
    macro_f1,
    micro_f1,
)
from multimargin.measures.margins import pair_margins
from multimargin.measures.per_label import label_measures, row_measures
from multimargin.measures.ranking import (
    coverage,
    is_error,
    one_error,
    ranking_average_precision,
    ranking_loss,
)
from multimargin.measures.registry import (
    MEASURES,
    MORE_MEASURES,
    Measure,
    all_measures,
    more_measures,
    ranking_hamming,
)
from multimargin.measures.retrieval import (
    auc_macro,
    auc_micro,
    label_propensities,
    ndcg_at_k,
    precision_at_k,
    propensity_scored_precision_at_k,
    recall_at_k,
)
from multimargin.measures.scorers import SCORERS, get_scorer

__all__ = [
    "MEASURES",
    "MORE_MEASURES",
    "SCORERS",
    "Measure",
    "all_measures",
    "auc_macro",
    "auc_micro",
    "coverage",
    "exact_match",
    "example_f1",
    "get_scorer",
    "hamming_loss",
    "is_error",
    "jaccard",
    "label_measures",
    "label_propensities",
    "macro_average_precision",
    "macro_f1",
    "micro_average_precision",
    "micro_f1",
    "more_measures",
    "ndcg_at_k",
    "one_error",
    "pair_margins",
    "precision_at_k",
    "propensity_scored_precision_at_k",
    "ranking_average_precision",
    "ranking_hamming",
    "ranking_loss",
    "recall_at_k",
    "row_measures",
]
