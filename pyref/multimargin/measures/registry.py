"""All measures by name: their titles, the better direction, and the input they need.

Scorers, tables and the program are made from this table.
"""

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from multimargin.checks.arrays import check_same_order
from multimargin.checks.scores import check_scores
from multimargin.measures import across_rows, label_sets, ranking, retrieval
from multimargin.measures.label_sets import hamming_loss
from multimargin.measures.ranking import DegenerateRows, ranking_loss, ranking_measures
from multimargin.targets.indicator import check_indicator, known_both, with_nan
from multimargin.typing import LabelsLike, MatrixLike


@dataclass(frozen=True)
class Measure:
    """A measure of multi-label prediction.

    Parameters
    ----------
    name : str
        Its name, that of its function.
    title : str
        Its name in print.
    larger_is_better : bool
        Its direction.
    needs : {"scores", "label sets"}
        Input that it compares with the true labels.
    function : callable
        The measure, called with the true labels and what it needs.
    """

    name: str
    title: str
    larger_is_better: bool
    needs: Literal["scores", "label sets"]
    function: Callable[..., float]

    @property
    def better(self) -> str:
        """The direction in words: "higher" or "lower"."""
        return "higher" if self.larger_is_better else "lower"


_ALL = (
    Measure("ranking_loss", "ranking loss", False, "scores", ranking.ranking_loss),
    Measure("one_error", "one-error", False, "scores", ranking.one_error),
    Measure("coverage", "coverage", False, "scores", ranking.coverage),
    Measure(
        "ranking_average_precision",
        "average precision",
        True,
        "scores",
        ranking.ranking_average_precision,
    ),
    Measure("is_error", "is-error", False, "scores", ranking.is_error),
    Measure("hamming_loss", "Hamming loss", False, "label sets", label_sets.hamming_loss),
    Measure("exact_match", "exact match", True, "label sets", label_sets.exact_match),
    Measure("jaccard", "accuracy (Jaccard)", True, "label sets", label_sets.jaccard),
    Measure("example_f1", "F1, example-based", True, "label sets", label_sets.example_f1),
    Measure("macro_f1", "F1, macro", True, "label sets", label_sets.macro_f1),
    Measure("micro_f1", "F1, micro", True, "label sets", label_sets.micro_f1),
)

MEASURES: Mapping[str, Measure] = MappingProxyType({measure.name: measure for measure in _ALL})
"""All measures by name, those of scores first."""

_OF_HEADS_AND_LABELS = (
    Measure("precision_at_5", "precision@5", True, "scores", retrieval.precision_at_k),
    Measure("ndcg_at_5", "nDCG@5", True, "scores", retrieval.ndcg_at_k),
    Measure("auc_macro", "AUC, macro", True, "scores", retrieval.auc_macro),
    Measure("auc_micro", "AUC, micro", True, "scores", retrieval.auc_micro),
    Measure(
        "macro_average_precision",
        "AP of labels, macro",
        True,
        "scores",
        across_rows.macro_average_precision,
    ),
    Measure(
        "micro_average_precision",
        "AP of pairs, micro",
        True,
        "scores",
        across_rows.micro_average_precision,
    ),
)

MORE_MEASURES: Mapping[str, Measure] = MappingProxyType({m.name: m for m in _OF_HEADS_AND_LABELS})
"""Measures of the five highest labels and of single labels, which reports show where asked for."""

_WITH_ZERO_DIVISION = ("jaccard", "example_f1", "macro_f1", "micro_f1")


def ranking_hamming(
    Y_true: LabelsLike,
    Y_pred: LabelsLike,
    scores: MatrixLike,
    *,
    degenerate_rows: DegenerateRows = "ignore",
    sample_weight: ArrayLike | None = None,
) -> float:
    """Mean of ranking loss and Hamming loss: a criterion for tuning.

    Parameters
    ----------
    Y_true : array-like, sparse matrix or data frame of shape (n, q)
        Indicator of the relevant labels, 0 and 1; NaN where a label is unknown, which is left out.
    Y_pred : array-like, sparse matrix or data frame of shape (n, q)
        Indicator of the predicted labels, 0 and 1; q >= 2.
    scores : array-like of shape (n, q)
        Finite scores f_k(x); a larger score ranks the label higher.
    degenerate_rows : {"ignore", "count"}, default="ignore"
        Rows whose labels are all relevant or all irrelevant: leave them out, or count each as
        perfectly ranked. A ValueError if no row is left.
    sample_weight : array-like of shape (n,), default=None
        Weights of the rows; None gives each row the weight 1.

    Returns
    -------
    float
        In [0, 1]; 0 is best.

    Notes
    -----
    Rank-CVM paper, equation 77.
    """
    ranking = ranking_loss(
        Y_true, scores, degenerate_rows=degenerate_rows, sample_weight=sample_weight
    )
    return (ranking + hamming_loss(Y_true, Y_pred, sample_weight=sample_weight)) / 2.0


def all_measures(
    Y_true: LabelsLike,
    Y_pred: LabelsLike,
    scores: MatrixLike,
    *,
    degenerate_rows: DegenerateRows = "ignore",
    zero_division: float = 1.0,
    sample_weight: ArrayLike | None = None,
) -> dict[str, float]:
    """Every measure at once.

    Parameters
    ----------
    Y_true : array-like, sparse matrix or data frame of shape (n, q)
        Indicator of the relevant labels, 0 and 1; NaN where a label is unknown, which is left out.
    Y_pred : array-like, sparse matrix or data frame of shape (n, q)
        Indicator of the predicted labels, 0 and 1; q >= 2.
    scores : array-like of shape (n, q)
        Finite scores f_k(x); a larger score ranks the label higher.
    degenerate_rows : {"ignore", "count"}, default="ignore"
        Rows whose labels are all relevant or all irrelevant: leave them out, or count each as
        perfectly ranked. A ValueError if no row is left.
    zero_division : {0.0, 1.0}, default=1.0
        Value of a Jaccard similarity or F1 where no label is relevant or predicted: 1, because
        the prediction is perfect.
    sample_weight : array-like of shape (n,), default=None
        Weights of the rows; None gives each row the weight 1.

    Returns
    -------
    dict of str to float
        The measures under the names of their functions, ranking measures first. Losses are
        positive here; only the scorers change their sign.
    """
    check_same_order(Y_true, Y_pred=Y_pred, scores=scores)
    Y_true = with_nan(check_indicator(Y_true, "Y_true", unknown=True))
    of_scores = [name for name, measure in MEASURES.items() if measure.needs == "scores"]
    values = ranking_measures(of_scores, Y_true, scores, degenerate_rows, sample_weight)
    for name, measure in MEASURES.items():
        if measure.needs == "label sets":
            options = {"zero_division": zero_division} if name in _WITH_ZERO_DIVISION else {}
            values[name] = measure.function(Y_true, Y_pred, **options, sample_weight=sample_weight)
    return {name: values[name] for name in MEASURES}


def more_measures(Y_true: LabelsLike, scores: MatrixLike) -> dict[str, float]:
    """Measures of the five highest labels and of single labels, where defined.

    Parameters
    ----------
    Y_true : array-like, sparse matrix or data frame of shape (n, q)
        Indicator of the relevant labels, 0 and 1; NaN where a label is unknown, which is left out.
    scores : array-like of shape (n, q)
        Finite scores f_k(x); a larger score ranks the label higher.

    Returns
    -------
    dict of str to float
        Those of `MORE_MEASURES` that have a value, under the names of their functions. Labels that
        are relevant in all rows or in none have no curve: ``auc_macro`` is the mean of the others,
        without a warning.
    """
    check_same_order(Y_true, scores=scores)
    marks = check_indicator(Y_true, "Y_true", unknown=True)
    f = check_scores(scores, n_rows=marks.shape[0], n_labels=marks.shape[1])
    has_curve, Y = known_both(marks, axis=0), with_nan(marks)
    found = {}
    for name, measure in MORE_MEASURES.items():
        used = has_curve if name == "auc_macro" else np.ones_like(has_curve)
        # No label at all, or none with both values: there is nothing to measure.
        with suppress(ValueError):
            found[name] = measure.function(Y[:, used], f[:, used])
    return found
