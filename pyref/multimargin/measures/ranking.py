"""Ranking measures: the scores of labels against the relevant ones.

They compare the scores f_1, ..., f_q of a row with its relevant labels P and
irrelevant labels N. Papers: Xu, "Fast multi-label core vector machine" (Rank-CVM), section 2,
equations 3-7, and Huang et al. (LLSF), equations 16-21. They are defined on rows with both kinds
of labels. On ties they take the worst rank, so constant scores earn no credit for the order; only
`one_error` is lenient, see there.

Every measure is the mean over the rows. Unknown labels (NaN) are left out: a row is the ranking of
its known labels, and a row without a known one does not count.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from multimargin.checks.arrays import check_same_order
from multimargin.checks.parameters import check_choice
from multimargin.checks.scores import check_scores
from multimargin.checks.weights import check_sample_weight
from multimargin.targets.indicator import known_labels
from multimargin.typing import LabelsLike, MatrixLike, Vector

DegenerateRows = Literal["ignore", "count"]
Counts = NDArray[np.intp]

# A chunk of rows and its sorted copies then stay in the processor's cache.
_ENTRIES_PER_CHUNK = 2**17


def ranking_loss(
    Y_true: LabelsLike,
    scores: MatrixLike,
    *,
    degenerate_rows: DegenerateRows = "ignore",
    sample_weight: ArrayLike | None = None,
) -> float:
    """Ranking loss: fraction of the pairs of a relevant and an irrelevant label ranked wrongly.

    Parameters
    ----------
    Y_true : array-like, sparse matrix or data frame of shape (n, q)
        Indicator of the relevant labels, 0 and 1; NaN where a label is unknown, which is left out.
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
    Rank-CVM paper, equation 6: the mean of ``|{(m, n) in P x N : f_m <= f_n}| / (|P| |N|)``. A tie
    is an error.
    """
    return _ranking_measure("ranking_loss", Y_true, scores, degenerate_rows, sample_weight)


def one_error(
    Y_true: LabelsLike,
    scores: MatrixLike,
    *,
    degenerate_rows: DegenerateRows = "ignore",
    sample_weight: ArrayLike | None = None,
) -> float:
    """Fraction of rows without a relevant label on top of the ranking.

    Parameters
    ----------
    Y_true : array-like, sparse matrix or data frame of shape (n, q)
        Indicator of the relevant labels, 0 and 1; NaN where a label is unknown, which is left out.
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
    Rank-CVM paper, equation 4. When several labels share the top score, the row is no error if one
    of them is relevant. The printed formula counts the irrelevant labels on top instead: it agrees
    without ties, but with them it can exceed its stated range [0, 1].
    """
    return _ranking_measure("one_error", Y_true, scores, degenerate_rows, sample_weight)


def coverage(
    Y_true: LabelsLike,
    scores: MatrixLike,
    *,
    degenerate_rows: DegenerateRows = "ignore",
    sample_weight: ArrayLike | None = None,
) -> float:
    """Number of steps down the ranking that cover all relevant labels.

    Parameters
    ----------
    Y_true : array-like, sparse matrix or data frame of shape (n, q)
        Indicator of the relevant labels, 0 and 1; NaN where a label is unknown, which is left out.
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
        In [0, q - 1]; smaller is better. A perfect ranking has the mean of ``|P| - 1``.

    Notes
    -----
    Rank-CVM paper, equation 3: the mean of ``|{k : f_k >= min over P of f}| - 1``, that is the
    largest rank of a relevant label minus one, with the worst rank on ties. Not divided by q. A
    degenerate row that counts has its only possible value, q - 1 or 0.
    """
    return _ranking_measure("coverage", Y_true, scores, degenerate_rows, sample_weight)


def ranking_average_precision(
    Y_true: LabelsLike,
    scores: MatrixLike,
    *,
    degenerate_rows: DegenerateRows = "ignore",
    sample_weight: ArrayLike | None = None,
) -> float:
    """Fraction of relevant labels among those ranked at or above each relevant label.

    Parameters
    ----------
    Y_true : array-like, sparse matrix or data frame of shape (n, q)
        Indicator of the relevant labels, 0 and 1; NaN where a label is unknown, which is left out.
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
        In (0, 1]; 1 is best.

    Notes
    -----
    Rank-CVM paper, equation 5: the mean over rows, then over k in P, of
    ``|{k' in P : f_k' >= f_k}| / |{k' : f_k' >= f_k}|``. It ranks the labels of each row and is
    averaged over the rows. `sklearn.metrics.average_precision_score`, which is scikit-learn's
    ``scoring="average_precision"``, ranks the rows of each label and averages over the labels;
    scikit-learn's `label_ranking_average_precision_score` is this measure where no row is
    degenerate.
    """
    return _ranking_measure(
        "ranking_average_precision", Y_true, scores, degenerate_rows, sample_weight
    )


def is_error(
    Y_true: LabelsLike,
    scores: MatrixLike,
    *,
    degenerate_rows: DegenerateRows = "ignore",
    sample_weight: ArrayLike | None = None,
) -> float:
    """Fraction of rows whose ranking is not perfect.

    Parameters
    ----------
    Y_true : array-like, sparse matrix or data frame of shape (n, q)
        Indicator of the relevant labels, 0 and 1; NaN where a label is unknown, which is left out.
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
    A ranking is perfect when f_m > f_n for all m in P and n in N, that is when the row's ranking
    loss is 0. A tie is an error.
    """
    return _ranking_measure("is_error", Y_true, scores, degenerate_rows, sample_weight)


@dataclass(frozen=True)
class _Rows:
    """Rows with both kinds of labels; (m, q) arrays, and the number of irrelevant labels (m,)."""

    relevant: NDArray[np.bool_]
    scores: NDArray[Any]  # -inf where a label is unknown
    n_irrelevant: Counts

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
    n_misordered = rows.sum_over_relevant(rank - rank_among_relevant)
    return np.asarray(n_misordered / (rows.n_relevant * rows.n_irrelevant))


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


@dataclass(frozen=True)
class _Definition:
    """A ranking measure of rows with both kinds of labels, and of a perfectly ranked row."""

    rows: Callable[[_Rows], Vector]
    perfect: Callable[[Counts], Vector]


def _zero(n_relevant: Counts) -> Vector:
    return np.zeros(n_relevant.shape)


_DEFINITIONS = {
    "ranking_loss": _Definition(_ranking_loss_rows, _zero),
    "one_error": _Definition(_one_error_rows, _zero),
    "coverage": _Definition(_coverage_rows, lambda n: np.maximum(n - 1.0, 0.0)),
    "ranking_average_precision": _Definition(_average_precision_rows, lambda n: np.ones(n.shape)),
    "is_error": _Definition(_is_error_rows, _zero),
}


def ranking_measures(
    names: Sequence[str],
    Y_true: LabelsLike,
    scores: MatrixLike,
    degenerate_rows: DegenerateRows,
    sample_weight: ArrayLike | None = None,
) -> dict[str, float]:
    """Compute some ranking measures by name: what they share is computed once."""
    check_choice("degenerate_rows", degenerate_rows, ("ignore", "count"))
    check_same_order(Y_true, scores=scores)
    indicator, known = known_labels(Y_true, "Y_true")
    relevant = indicator.view(np.bool_)
    n, q = relevant.shape
    scores = check_scores(scores, n_rows=n, n_labels=q)
    n_known = np.count_nonzero(known, axis=1)
    if not known.all():
        # Below every score: such a label is above no other.
        scores = np.where(known, scores, -np.inf)

    weights = check_sample_weight(sample_weight, n)
    n_relevant = np.count_nonzero(relevant, axis=1)
    has_pairs = (n_relevant > 0) & (n_relevant < n_known)
    if degenerate_rows == "ignore" and not has_pairs.any():
        raise ValueError(
            "Y_true has no row with both relevant and irrelevant labels; ranking measures are "
            "undefined on it (degenerate_rows='count' counts such rows as perfectly ranked)."
        )

    values = {name: _DEFINITIONS[name].perfect(n_relevant) for name in names}
    with_pairs = np.flatnonzero(has_pairs)
    n_rows_per_chunk = max(1, _ENTRIES_PER_CHUNK // q)
    for start in range(0, with_pairs.size, n_rows_per_chunk):
        index = with_pairs[start : start + n_rows_per_chunk]
        rows = _Rows(relevant[index], scores[index], (n_known - n_relevant)[index])
        for name in names:
            values[name][index] = _DEFINITIONS[name].rows(rows)

    counted = has_pairs if degenerate_rows == "ignore" else n_known > 0
    of_counted = None if weights is None else weights[counted]
    if of_counted is not None and not of_counted.any():
        raise ValueError(
            "sample_weight is zero for all rows with both relevant and irrelevant labels; expected "
            "such a row with a positive weight."
        )
    return {name: float(np.average(values[name][counted], weights=of_counted)) for name in names}


def _ranking_measure(
    name: str,
    Y_true: Any,
    scores: Any,
    degenerate_rows: DegenerateRows,
    sample_weight: ArrayLike | None,
) -> float:
    return ranking_measures([name], Y_true, scores, degenerate_rows, sample_weight)[name]
