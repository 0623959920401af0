"""A guess at how the published programs turn scores into labels: fitted to printed values.

Xu 2013 learns t(x), linear in the scores, from a threshold of each training row that makes the
fewest errors. Where several intervals do, the highest is taken here: so the Hamming losses of
Rank-CVM on scene and genbase come out as printed, if in addition a row whose scores are all below
t(x) has the label of its largest score.

Neither is in the paper. The rule was picked with these two values at hand, and it gives the printed
Hamming loss on none of emotions, medical and yeast; `rank_cvm_tried` prints the rules beside it.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from multimargin.measures import all_measures
from published.comparison import Measure

# Beyond the lowest or highest score; the scores of the published loop are around 1e-3.
_BEYOND = 1e-9
# Of the intervals with the fewest errors.
CHOICES = ("lowest", "highest", "mean")


def best_thresholds(
    scores: Any, Y: Any, *, choice: str = "highest", beyond: float = _BEYOND
) -> NDArray[np.float64]:
    """Return the middle of an interval with the fewest errors, for each row.

    Parameters
    ----------
    scores : ndarray of shape (n, q)
        Scores, different in each row.
    Y : ndarray of shape (n, q)
        Label indicator.
    choice : {"lowest", "highest", "mean"}, default="highest"
        Which of several such intervals; "mean" is the mean of their middles.
    beyond : float, default=1e-9
        How far below the lowest or above the highest score an open interval has its middle.

    Returns
    -------
    ndarray of shape (n,)
        The thresholds.
    """
    ascending = np.argsort(scores, axis=1, kind="stable")
    s = np.take_along_axis(np.asarray(scores, dtype=np.float64), ascending, axis=1)
    relevant = np.take_along_axis(np.asarray(Y) == 1, ascending, axis=1)
    # Above interval j lie all but the j lowest scores.
    missed = np.cumsum(np.pad(relevant, ((0, 0), (1, 0))), axis=1)
    passed = np.cumsum(np.pad(~relevant, ((0, 0), (1, 0))), axis=1)
    errors = missed + passed[:, -1:] - passed
    middles = np.column_stack([s[:, 0] - beyond, (s[:, 1:] + s[:, :-1]) / 2, s[:, -1] + beyond])
    best = np.where(errors == errors.min(axis=1, keepdims=True), middles, np.nan)
    among = {"lowest": np.nanmin, "highest": np.nanmax, "mean": np.nanmean}[choice]
    return np.asarray(among(best, axis=1))


def predicted(
    scores: Any, Y: Any, test_scores: Any, *, never_empty: bool, **rule: Any
) -> NDArray[np.bool_]:
    """Return the labels of test rows.

    Parameters
    ----------
    scores, Y : ndarray of shape (n, q)
        Scores and labels of the training rows.
    test_scores : ndarray of shape (n_test, q)
        Scores of the test rows.
    never_empty : bool
        Whether a row without a label gets that of its largest score.
    **rule
        Options of `best_thresholds`.

    Returns
    -------
    ndarray of shape (n_test, q), dtype bool
        The labels.
    """
    design = np.column_stack([scores, np.ones(len(scores))])
    weights = np.linalg.lstsq(design, best_thresholds(scores, Y, **rule), rcond=1e-10)[0]
    labels = np.asarray(test_scores) > (test_scores @ weights[:-1] + weights[-1])[:, None]
    if never_empty:
        empty = np.flatnonzero(~labels.any(axis=1))
        labels[empty, np.argmax(test_scores[empty], axis=1)] = True
    return labels


def values_by_it(
    columns: tuple[Measure, ...],
    model: Any,
    X: Any,
    Y: Any,
    X_test: Any,
    Y_test: Any,
    *,
    never_empty: bool,
    **rule: Any,
) -> list[float]:
    """Return the measures of a fitted model with labels predicted as above."""
    test_scores = model.label_scores(X_test)
    labels = predicted(model.label_scores(X), Y, test_scores, never_empty=never_empty, **rule)
    found = all_measures(Y_test, labels.astype(int), test_scores)
    return [found[column.key] for column in columns]
