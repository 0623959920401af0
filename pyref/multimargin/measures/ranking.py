"""Measures of multi-label prediction.

Ranking measures compare the scores f_1, ..., f_q of a row with its relevant labels P and
irrelevant labels N. Papers: Xu, "Fast multi-label core vector machine" (Rank-CVM), section 2,
equations 3-7, and Huang et al. (LLSF), equations 16-21. They are defined on rows with both kinds
of labels. On ties they take the worst rank, so constant scores earn no credit for the order; only
`one_error` is lenient, see there.

Bipartition measures compare predicted label sets with the true ones and come from scikit-learn.

Every measure is the mean over the rows, unless its name says otherwise.
"""

from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn import metrics

from multimargin.checks.labels import check_indicator, check_scores

DegenerateRows = Literal["ignore", "count"]
Vector = NDArray[np.float64]
Counts = NDArray[np.intp]

# A chunk of rows and its sorted copies then stay in the processor's cache.
_ENTRIES_PER_CHUNK = 2**17


def ranking_loss(Y_true: Any, scores: Any, *, degenerate_rows: DegenerateRows = "ignore") -> float:
    """Fraction of pairs of a relevant and an irrelevant label that are not in this order.

    Parameters
    ----------
    Y_true : array-like, sparse matrix or data frame of shape (n, q)
        Indicator of the relevant labels, 0 and 1.
    scores : array-like of shape (n, q)
        Finite scores f_k(x); a larger score ranks the label higher.
    degenerate_rows : {"ignore", "count"}, default="ignore"
        What to do with rows whose labels are all relevant or all irrelevant: leave them out, or
        count each with the loss 0.

    Returns
    -------
    float
        In [0, 1]; 0 is best.

    Raises
    ------
    ValueError
        If an argument is malformed, or if all rows are degenerate and ignored.

    Notes
    -----
    Rank-CVM paper, equation 6: the mean of ``|{(m, n) in P x N : f_m <= f_n}| / (|P| |N|)``. A tie
    is an error.
    """
    return _ranking_measure("ranking_loss", Y_true, scores, degenerate_rows)


def one_error(Y_true: Any, scores: Any, *, degenerate_rows: DegenerateRows = "ignore") -> float:
    """Fraction of rows without a relevant label on top of the ranking.

    Parameters
    ----------
    Y_true : array-like, sparse matrix or data frame of shape (n, q)
        Indicator of the relevant labels, 0 and 1.
    scores : array-like of shape (n, q)
        Finite scores f_k(x); a larger score ranks the label higher.
    degenerate_rows : {"ignore", "count"}, default="ignore"
        What to do with rows whose labels are all relevant or all irrelevant: leave them out, or
        count each with the error 0.

    Returns
    -------
    float
        In [0, 1]; 0 is best.

    Raises
    ------
    ValueError
        If an argument is malformed, or if all rows are degenerate and ignored.

    Notes
    -----
    Rank-CVM paper, equation 4. When several labels share the top score, the row is no error if one
    of them is relevant. The printed formula counts the irrelevant labels on top instead: it agrees
    without ties, but with them it can exceed its stated range [0, 1].
    """
    return _ranking_measure("one_error", Y_true, scores, degenerate_rows)


def coverage(Y_true: Any, scores: Any, *, degenerate_rows: DegenerateRows = "ignore") -> float:
    """Number of steps down the ranking that cover all relevant labels.

    Parameters
    ----------
    Y_true : array-like, sparse matrix or data frame of shape (n, q)
        Indicator of the relevant labels, 0 and 1.
    scores : array-like of shape (n, q)
        Finite scores f_k(x); a larger score ranks the label higher.
    degenerate_rows : {"ignore", "count"}, default="ignore"
        What to do with rows whose labels are all relevant or all irrelevant: leave them out, or
        count each with its only possible value, q - 1 or 0.

    Returns
    -------
    float
        In [0, q - 1]; smaller is better. A perfect ranking has the mean of ``|P| - 1``.

    Raises
    ------
    ValueError
        If an argument is malformed, or if all rows are degenerate and ignored.

    Notes
    -----
    Rank-CVM paper, equation 3: the mean of ``|{k : f_k >= min over P of f}| - 1``, that is the
    largest rank of a relevant label minus one, with the worst rank on ties. Not divided by q.
    """
    return _ranking_measure("coverage", Y_true, scores, degenerate_rows)


def average_precision(
    Y_true: Any, scores: Any, *, degenerate_rows: DegenerateRows = "ignore"
) -> float:
    """Fraction of relevant labels among those ranked at or above each relevant label.

    Parameters
    ----------
    Y_true : array-like, sparse matrix or data frame of shape (n, q)
        Indicator of the relevant labels, 0 and 1.
    scores : array-like of shape (n, q)
        Finite scores f_k(x); a larger score ranks the label higher.
    degenerate_rows : {"ignore", "count"}, default="ignore"
        What to do with rows whose labels are all relevant or all irrelevant: leave them out, or
        count each with the precision 1.

    Returns
    -------
    float
        In (0, 1]; 1 is best.

    Raises
    ------
    ValueError
        If an argument is malformed, or if all rows are degenerate and ignored.

    Notes
    -----
    Rank-CVM paper, equation 5: the mean over rows, then over k in P, of
    ``|{k' in P : f_k' >= f_k}| / |{k' : f_k' >= f_k}|``. This is the mean over instances, not
    `sklearn.metrics.average_precision_score`.
    """
    return _ranking_measure("average_precision", Y_true, scores, degenerate_rows)


def is_error(Y_true: Any, scores: Any, *, degenerate_rows: DegenerateRows = "ignore") -> float:
    """Fraction of rows whose ranking is not perfect.

    Parameters
    ----------
    Y_true : array-like, sparse matrix or data frame of shape (n, q)
        Indicator of the relevant labels, 0 and 1.
    scores : array-like of shape (n, q)
        Finite scores f_k(x); a larger score ranks the label higher.
    degenerate_rows : {"ignore", "count"}, default="ignore"
        What to do with rows whose labels are all relevant or all irrelevant: leave them out, or
        count each with the error 0.

    Returns
    -------
    float
        In [0, 1]; 0 is best.

    Raises
    ------
    ValueError
        If an argument is malformed, or if all rows are degenerate and ignored.

    Notes
    -----
    A ranking is perfect when f_m > f_n for all m in P and n in N, that is when the row's ranking
    loss is 0. A tie is an error.
    """
    return _ranking_measure("is_error", Y_true, scores, degenerate_rows)


def hamming_loss(Y_true: Any, Y_pred: Any) -> float:
    """Fraction of entries of the indicator matrix that are wrong.

    Parameters
    ----------
    Y_true, Y_pred : array-like, sparse matrix or data frame of shape (n, q)
        True and predicted indicator of the relevant labels, 0 and 1, q >= 2.

    Returns
    -------
    float
        In [0, 1]; 0 is best.

    Raises
    ------
    ValueError
        If an argument is malformed.

    Notes
    -----
    Rank-CVM paper, equation 7.
    """
    return float(metrics.hamming_loss(*_check_label_sets(Y_true, Y_pred)))


def exact_match(Y_true: Any, Y_pred: Any) -> float:
    """Fraction of rows whose label set is predicted without any error (subset accuracy).

    Parameters
    ----------
    Y_true, Y_pred : array-like, sparse matrix or data frame of shape (n, q)
        True and predicted indicator of the relevant labels, 0 and 1, q >= 2.

    Returns
    -------
    float
        In [0, 1]; 1 is best.

    Raises
    ------
    ValueError
        If an argument is malformed.

    Notes
    -----
    LLSF paper, equation 18.
    """
    return float(metrics.accuracy_score(*_check_label_sets(Y_true, Y_pred)))


def jaccard(Y_true: Any, Y_pred: Any, *, zero_division: float = 1.0) -> float:
    """Example-based Jaccard similarity, which the field also calls "accuracy".

    Parameters
    ----------
    Y_true, Y_pred : array-like, sparse matrix or data frame of shape (n, q)
        True and predicted indicator of the relevant labels, 0 and 1, q >= 2.
    zero_division : {0.0, 1.0}, default=1.0
        Value of a row without any true or predicted label: 1, because it is predicted perfectly.

    Returns
    -------
    float
        In [0, 1]; 1 is best.

    Raises
    ------
    ValueError
        If an argument is malformed.

    Notes
    -----
    LLSF paper, equation 17: the mean of ``|true and predicted| / |true or predicted|``.
    """
    Y_true, Y_pred = _check_label_sets(Y_true, Y_pred)
    _check_zero_division(zero_division)
    return float(
        metrics.jaccard_score(Y_true, Y_pred, average="samples", zero_division=zero_division)
    )


def example_f1(Y_true: Any, Y_pred: Any, *, zero_division: float = 1.0) -> float:
    """F1 of each row's label set, averaged over the rows.

    Parameters
    ----------
    Y_true, Y_pred : array-like, sparse matrix or data frame of shape (n, q)
        True and predicted indicator of the relevant labels, 0 and 1, q >= 2.
    zero_division : {0.0, 1.0}, default=1.0
        Value of a row without any true or predicted label: 1, because it is predicted perfectly.

    Returns
    -------
    float
        In [0, 1]; 1 is best.

    Raises
    ------
    ValueError
        If an argument is malformed.

    Notes
    -----
    LLSF paper, equation 19: the mean of
    ``2 |true and predicted| / (|true| + |predicted|)``.
    """
    return _f1("samples", Y_true, Y_pred, zero_division)


def macro_f1(Y_true: Any, Y_pred: Any, *, zero_division: float = 1.0) -> float:
    """F1 of each label, averaged over the labels.

    Parameters
    ----------
    Y_true, Y_pred : array-like, sparse matrix or data frame of shape (n, q)
        True and predicted indicator of the relevant labels, 0 and 1, q >= 2.
    zero_division : {0.0, 1.0}, default=1.0
        Value of a label that is neither true nor predicted in any row: 1, because it is predicted
        perfectly. Where many labels do not occur in the test rows, the choice changes the result
        much; scikit-learn's own default is 0.

    Returns
    -------
    float
        In [0, 1]; 1 is best.

    Raises
    ------
    ValueError
        If an argument is malformed.

    Notes
    -----
    LLSF paper, equation 20.
    """
    return _f1("macro", Y_true, Y_pred, zero_division)


def micro_f1(Y_true: Any, Y_pred: Any, *, zero_division: float = 1.0) -> float:
    """F1 of all entries of the indicator matrix taken together.

    Parameters
    ----------
    Y_true, Y_pred : array-like, sparse matrix or data frame of shape (n, q)
        True and predicted indicator of the relevant labels, 0 and 1, q >= 2.
    zero_division : {0.0, 1.0}, default=1.0
        Value when no entry is true or predicted: 1, because the prediction is perfect.

    Returns
    -------
    float
        In [0, 1]; 1 is best.

    Raises
    ------
    ValueError
        If an argument is malformed.

    Notes
    -----
    LLSF paper, equation 21.
    """
    return _f1("micro", Y_true, Y_pred, zero_division)


def ranking_hamming(
    Y_true: Any, Y_pred: Any, scores: Any, *, degenerate_rows: DegenerateRows = "ignore"
) -> float:
    """Mean of ranking loss and Hamming loss: a criterion for tuning.

    Parameters
    ----------
    Y_true, Y_pred : array-like, sparse matrix or data frame of shape (n, q)
        True and predicted indicator of the relevant labels, 0 and 1, q >= 2.
    scores : array-like of shape (n, q)
        Finite scores f_k(x); a larger score ranks the label higher.
    degenerate_rows : {"ignore", "count"}, default="ignore"
        As in `ranking_loss`.

    Returns
    -------
    float
        In [0, 1]; 0 is best.

    Raises
    ------
    ValueError
        If an argument is malformed, or if all rows are degenerate and ignored.

    Notes
    -----
    Rank-CVM paper, equation 77.
    """
    ranking = ranking_loss(Y_true, scores, degenerate_rows=degenerate_rows)
    return (ranking + hamming_loss(Y_true, Y_pred)) / 2.0


def all_measures(
    Y_true: Any,
    Y_pred: Any,
    scores: Any,
    *,
    degenerate_rows: DegenerateRows = "ignore",
    zero_division: float = 1.0,
) -> dict[str, float]:
    """Every measure of this module at once.

    Parameters
    ----------
    Y_true, Y_pred : array-like, sparse matrix or data frame of shape (n, q)
        True and predicted indicator of the relevant labels, 0 and 1, q >= 2.
    scores : array-like of shape (n, q)
        Finite scores f_k(x); a larger score ranks the label higher.
    degenerate_rows : {"ignore", "count"}, default="ignore"
        What the ranking measures do with rows whose labels are all relevant or all irrelevant:
        leave them out, or count them as perfectly ranked.
    zero_division : {0.0, 1.0}, default=1.0
        Value of a Jaccard similarity or F1 of two empty sets.

    Returns
    -------
    dict of str to float
        The measures under the names of their functions, ranking measures first. Losses are
        positive here; only the scorers change their sign.

    Raises
    ------
    ValueError
        If an argument is malformed, or if all rows are degenerate and ignored.
    """
    Y_true, Y_pred = _check_label_sets(Y_true, Y_pred)
    values = _ranking_measures(list(_ROW_VALUES), Y_true, scores, degenerate_rows)
    values["hamming_loss"] = hamming_loss(Y_true, Y_pred)
    values["exact_match"] = exact_match(Y_true, Y_pred)
    values["jaccard"] = jaccard(Y_true, Y_pred, zero_division=zero_division)
    values["example_f1"] = example_f1(Y_true, Y_pred, zero_division=zero_division)
    values["macro_f1"] = macro_f1(Y_true, Y_pred, zero_division=zero_division)
    values["micro_f1"] = micro_f1(Y_true, Y_pred, zero_division=zero_division)
    return values


@dataclass(frozen=True)
class _Rows:
    """Rows with both kinds of labels; (m, q) arrays."""

    relevant: NDArray[np.bool_]
    scores: NDArray[Any]

    @cached_property
    def n_relevant(self) -> Counts:
        return np.asarray(np.count_nonzero(self.relevant, axis=1))

    @cached_property
    def lowest_relevant(self) -> NDArray[Any]:
        return np.asarray(np.where(self.relevant, self.scores, np.inf).min(axis=1))

    @cached_property
    def highest_irrelevant(self) -> NDArray[Any]:
        return np.asarray(np.where(self.relevant, -np.inf, self.scores).max(axis=1))

    @cached_property
    def ranks(self) -> tuple[Counts, Counts, Counts]:
        """Of each relevant entry: its row, its worst rank, and that rank among P alone."""
        q = self.scores.shape[1]
        ascending = np.argsort(self.scores, axis=1)
        scores = np.take_along_axis(self.scores, ascending, axis=1)
        relevant = np.take_along_axis(self.relevant, ascending, axis=1)
        starts_tie = np.ones(scores.shape, dtype=bool)
        np.not_equal(scores[:, 1:], scores[:, :-1], out=starts_tie[:, 1:])
        tie_start = np.maximum.accumulate(np.where(starts_tie, np.arange(q), 0), axis=1)
        relevant_below: Counts = np.cumsum(relevant, axis=1) - relevant

        row, position = np.nonzero(relevant)
        start = tie_start[row, position]
        return row, q - start, self.n_relevant[row] - relevant_below[row, start]

    def sum_over_relevant(self, values: NDArray[Any]) -> Vector:
        sums = np.bincount(self.ranks[0], weights=values, minlength=self.scores.shape[0])
        return sums.astype(np.float64, copy=False)


def _ranking_loss_rows(rows: _Rows) -> Vector:
    _, rank, rank_among_relevant = rows.ranks
    n_irrelevant = rows.scores.shape[1] - rows.n_relevant
    n_misordered = rows.sum_over_relevant(rank - rank_among_relevant)
    return np.asarray(n_misordered / (rows.n_relevant * n_irrelevant))


def _one_error_rows(rows: _Rows) -> Vector:
    highest_relevant = np.where(rows.relevant, rows.scores, -np.inf).max(axis=1)
    return np.asarray(highest_relevant < rows.highest_irrelevant, dtype=np.float64)


def _coverage_rows(rows: _Rows) -> Vector:
    covered = rows.scores >= rows.lowest_relevant[:, np.newaxis]
    return np.asarray(np.count_nonzero(covered, axis=1) - 1.0)


def _average_precision_rows(rows: _Rows) -> Vector:
    _, rank, rank_among_relevant = rows.ranks
    return np.asarray(rows.sum_over_relevant(rank_among_relevant / rank) / rows.n_relevant)


def _is_error_rows(rows: _Rows) -> Vector:
    return np.asarray(rows.lowest_relevant <= rows.highest_irrelevant, dtype=np.float64)


_ROW_VALUES: dict[str, Callable[[_Rows], Vector]] = {
    "ranking_loss": _ranking_loss_rows,
    "one_error": _one_error_rows,
    "coverage": _coverage_rows,
    "average_precision": _average_precision_rows,
    "is_error": _is_error_rows,
}


def _perfect_value(name: str, n_relevant: Counts) -> Vector:
    if name == "coverage":
        return np.asarray(np.maximum(n_relevant - 1.0, 0.0))
    return np.full(n_relevant.shape, 1.0 if name == "average_precision" else 0.0)


def _ranking_measures(
    names: list[str], Y_true: Any, scores: Any, degenerate_rows: DegenerateRows
) -> dict[str, float]:
    if degenerate_rows not in ("ignore", "count"):
        raise ValueError(f"degenerate_rows is {degenerate_rows!r}; expected 'ignore' or 'count'.")
    relevant = check_indicator(Y_true, "Y_true").view(np.bool_)
    n, q = relevant.shape
    scores = check_scores(scores, n_rows=n, n_labels=q)

    n_relevant = np.count_nonzero(relevant, axis=1)
    has_pairs = (n_relevant > 0) & (n_relevant < q)
    if degenerate_rows == "ignore" and not has_pairs.any():
        raise ValueError(
            "Y_true has no row with both relevant and irrelevant labels; ranking measures are "
            "undefined on it (degenerate_rows='count' counts such rows as perfectly ranked)."
        )

    values = {name: _perfect_value(name, n_relevant) for name in names}
    with_pairs = np.flatnonzero(has_pairs)
    n_rows_per_chunk = max(1, _ENTRIES_PER_CHUNK // q)
    for start in range(0, with_pairs.size, n_rows_per_chunk):
        index = with_pairs[start : start + n_rows_per_chunk]
        rows = _Rows(relevant[index], scores[index])
        for name in names:
            values[name][index] = _ROW_VALUES[name](rows)

    counted = has_pairs if degenerate_rows == "ignore" else np.ones(n, dtype=bool)
    return {name: float(values[name][counted].mean()) for name in names}


def _ranking_measure(name: str, Y_true: Any, scores: Any, degenerate_rows: DegenerateRows) -> float:
    return _ranking_measures([name], Y_true, scores, degenerate_rows)[name]


def _check_label_sets(Y_true: Any, Y_pred: Any) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
    Y_true = check_indicator(Y_true, "Y_true")
    Y_pred = check_indicator(Y_pred, "Y_pred")
    if Y_true.shape != Y_pred.shape:
        raise ValueError(
            f"Y_pred has shape {Y_pred.shape}; expected the shape of Y_true, {Y_true.shape}."
        )
    # scikit-learn takes one column for a binary problem and averages over its two classes.
    if Y_true.shape[1] < 2:
        raise ValueError(f"Y_true has shape {Y_true.shape}; expected at least two labels.")
    return Y_true, Y_pred


def _check_zero_division(zero_division: float) -> None:
    if zero_division not in (0.0, 1.0):
        raise ValueError(f"zero_division is {zero_division!r}; expected 0.0 or 1.0.")


def _f1(average: str, Y_true: Any, Y_pred: Any, zero_division: float) -> float:
    Y_true, Y_pred = _check_label_sets(Y_true, Y_pred)
    _check_zero_division(zero_division)
    return float(metrics.f1_score(Y_true, Y_pred, average=average, zero_division=zero_division))


Scorer = Callable[..., float]


def _scores_scorer(measure: Callable[..., float], *, greater_is_better: bool) -> Scorer:
    scorer: Scorer = metrics.make_scorer(
        measure, response_method="decision_function", greater_is_better=greater_is_better
    )
    return scorer


def _label_sets_scorer(measure: Callable[..., float], *, greater_is_better: bool) -> Scorer:
    scorer: Scorer = metrics.make_scorer(
        measure, response_method="predict", greater_is_better=greater_is_better
    )
    return scorer


class _NegRankingHamming:
    """The scorer of a measure that takes both the label sets and the scores."""

    def __call__(self, estimator: Any, X: Any, Y: Any) -> float:
        return -ranking_hamming(Y, estimator.predict(X), estimator.decision_function(X))

    def __repr__(self) -> str:
        return "get_scorer('neg_ranking_hamming')"


SCORERS: dict[str, Scorer] = {
    "neg_ranking_loss": _scores_scorer(ranking_loss, greater_is_better=False),
    "neg_one_error": _scores_scorer(one_error, greater_is_better=False),
    "neg_coverage": _scores_scorer(coverage, greater_is_better=False),
    "average_precision": _scores_scorer(average_precision, greater_is_better=True),
    "neg_is_error": _scores_scorer(is_error, greater_is_better=False),
    "neg_hamming_loss": _label_sets_scorer(hamming_loss, greater_is_better=False),
    "exact_match": _label_sets_scorer(exact_match, greater_is_better=True),
    "jaccard": _label_sets_scorer(jaccard, greater_is_better=True),
    "example_f1": _label_sets_scorer(example_f1, greater_is_better=True),
    "macro_f1": _label_sets_scorer(macro_f1, greater_is_better=True),
    "micro_f1": _label_sets_scorer(micro_f1, greater_is_better=True),
    "neg_ranking_hamming": _NegRankingHamming(),
}
"""Scorers for `scoring=` of scikit-learn: larger is better, so losses carry the prefix "neg_"."""


def get_scorer(name: str) -> Scorer:
    """Return a scorer for `cross_val_score`, `GridSearchCV` and the like.

    Parameters
    ----------
    name : str
        A key of `SCORERS`: the name of a measure, with the prefix ``"neg_"`` if it is a loss.

    Returns
    -------
    callable
        A scorer with the signature ``scorer(estimator, X, Y)``; ranking measures use the
        estimator's `decision_function`, the others its `predict`, "neg_ranking_hamming" both.
        Larger is better. A threshold of its own for each label changes the ranking of
        `decision_function`.

    Raises
    ------
    ValueError
        If there is no such scorer.
    """
    if name not in SCORERS:
        raise ValueError(f"name is {name!r}; expected one of {', '.join(sorted(SCORERS))}.")
    # A scorer carries metadata requests that its owner may change.
    return deepcopy(SCORERS[name])
