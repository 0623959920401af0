"""Wins, ties and losses of one method against the others, counted over data sets."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import inf, sqrt

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import stats

from multimargin.checks.parameters import check_choice, check_real
from multimargin.compare.statistics.differences import advantages
from multimargin.compare.statistics.tables import check_table

TESTS = ("corrected", "paired", "none")
OUTCOMES = ("win", "tie", "loss", "untested")


@dataclass(frozen=True, eq=False)
class WinTieLoss:
    """Numbers of data sets on which one method is better than each of the others.

    Parameters
    ----------
    reference : str
        The method.
    test : {"corrected", "paired", "none"}
        The test behind it.
    alpha : float
        Its level.
    counts : DataFrame
        One row a compared method; columns "win", "tie", "loss" and "untested", over data sets.
    details : DataFrame
        One row per data set and compared method: "data", "method", "outcome", "advantage" (mean,
        positive where the reference is better), "p_value", "n_splits", "note".
    """

    reference: str
    test: str
    alpha: float
    counts: pd.DataFrame
    details: pd.DataFrame


def win_tie_loss(
    table: pd.DataFrame,
    reference: str,
    *,
    larger_is_better: bool,
    test: str = "corrected",
    test_train_ratios: Mapping[str, float] | None = None,
    alpha: float = 0.05,
) -> WinTieLoss:
    """Compare one method with each of the others on each data set.

    Parameters
    ----------
    table : DataFrame
        Values by split, see `multimargin.compare.per_split`.
    reference : str
        The method, a column.
    larger_is_better : bool
        Direction of the measure.
    test : {"corrected", "paired", "none"}, default="corrected"
        Paired t-test over the splits of a data set, with the correction of Nadeau and Bengio for
        training parts that overlap, or without; or the sign of the mean difference alone.
    test_train_ratios : mapping of str to float, optional
        n_test / n_train by data set, for the correction; by default that of a cross-validation with
        as many folds as the data set has splits, 1 / (J - 1).
    alpha : float, default=0.05
        Level of the two-sided test, in (0, 1).

    Returns
    -------
    WinTieLoss
        The counts and what is behind them. A split without a value of both methods is left out of
        the pair, and the note names it; with fewer than two splits the outcome is "untested".

    Notes
    -----
    The corrected statistic is mean(d) / sqrt((1/J + n_test/n_train) var(d)) with J - 1 degrees of
    freedom (Nadeau & Bengio 2003). The plain test,
    which the MLRL paper uses at 5 %, treats the J folds as independent: their training parts
    overlap, its variance is too small, and it finds more wins and losses than there are. The mlODM
    and LLSF papers count without any test.
    """
    check_choice("test", test, TESTS)
    check_real("alpha", alpha, above=0.0, below=1.0)
    check_table(table, larger_is_better)
    check_choice("reference", reference, table.columns)
    rows = []
    for data, part in table.groupby(level="data", sort=False):
        for method in table.columns.drop(reference):
            both = part[[reference, method]].dropna()
            left_out = [split for _, split in part.index.difference(both.index, sort=False)]
            advantage = advantages(both[reference], both[method], larger_is_better=larger_is_better)
            ratio = 0.0
            if test == "corrected" and len(both) > 1:
                default = 1.0 / (len(part) - 1)
                ratio = (test_train_ratios or {}).get(str(data), default)
            outcome, p_value, note = _outcome(advantage, test, ratio, alpha)
            notes = [note] if note else []
            if left_out and len(both):
                notes.append(f"without {', '.join(left_out)} (no value of both)")
            rows.append(
                {
                    "data": data,
                    "method": method,
                    "outcome": outcome,
                    "advantage": advantage.mean() if len(both) else float("nan"),
                    "p_value": p_value,
                    "n_splits": len(both),
                    "note": "; ".join(notes),
                }
            )
    columns = ["data", "method", "outcome", "advantage", "p_value", "n_splits", "note"]
    details = pd.DataFrame(rows, columns=columns)
    counts = pd.DataFrame(
        0, index=table.columns.drop(reference), columns=pd.Index(OUTCOMES, name="outcome")
    )
    for row in rows:
        counts.loc[row["method"], row["outcome"]] += 1
    return WinTieLoss(reference, test, alpha, counts, details)


def paired_t_test(
    differences: NDArray[np.float64], *, test_train_ratio: float = 0.0
) -> tuple[float, float]:
    """Test whether the mean of paired differences is 0."""
    values = np.asarray(differences, dtype=np.float64)
    if values.ndim != 1 or values.size < 2 or not np.isfinite(values).all():
        raise ValueError(
            f"differences has shape {values.shape}; expected at least two finite numbers."
        )
    check_real("test_train_ratio", test_train_ratio, at_least=0.0)
    mean, deviation = float(values.mean()), float(values.std(ddof=1))
    # Equal up to rounding: their deviation is an accident of floating-point numbers.
    if deviation <= 1e-12 * float(np.abs(values).max()):
        return (0.0, 1.0) if mean == 0.0 else (float(np.copysign(inf, mean)), 0.0)
    statistic = mean / (sqrt(1.0 / values.size + test_train_ratio) * deviation)
    return statistic, float(2.0 * stats.t.sf(abs(statistic), values.size - 1))


def _outcome(
    advantage: NDArray[np.float64], test: str, ratio: float, alpha: float
) -> tuple[str, float, str]:
    """Return outcome, p-value and a note."""
    nan = float("nan")
    if not advantage.size:
        return "untested", nan, "no split with values of both"
    if test == "none":
        mean = advantage.mean()
        return ("tie" if mean == 0.0 else "win" if mean > 0.0 else "loss"), nan, ""
    if advantage.size < 2:
        return "untested", nan, "one split, a t-test needs two"
    statistic, p_value = paired_t_test(advantage, test_train_ratio=ratio)
    note = ""
    if not advantage.any():
        note = "equal on every split"
    elif abs(statistic) == inf:
        note = "the same difference on every split"
    if p_value >= alpha:
        return "tie", p_value, note
    return ("win" if statistic > 0.0 else "loss"), p_value, note
