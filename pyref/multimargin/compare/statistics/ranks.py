"""Statistics over data sets: ranks, the tests of Friedman and Nemenyi, Wilcoxon's signed ranks.

They follow Demšar 2006.
Every function takes a table with one row per data set and one column per method, and leaves out
methods without any value, then data sets that lack a value, all of which its result names. One row
must be one data set: the folds of one data set are not independent, and these tests would find
differences that are not there.
"""

from dataclasses import dataclass
from math import factorial, prod, sqrt

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import stats

from multimargin.checks.parameters import check_choice, check_real
from multimargin.compare.statistics.differences import advantages, rounded
from multimargin.compare.statistics.tables import check_table


@dataclass(frozen=True, eq=False)
class Ranks:
    """Ranks of methods, 1 is best; ties share the mean of their ranks."""

    ranks: pd.DataFrame  # One row per data set, one column per method
    average: pd.Series  # Mean rank by method; empty without a complete data set
    # Data sets that are not ranked, and the methods that lack a value there
    left_out: dict[str, tuple[str, ...]]
    # Methods that are not ranked because they have no value on any data set
    without_values: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class FriedmanTest:
    """Result of Friedman's test: do any of several methods differ?

    Parameters
    ----------
    ranks : Ranks
        The ranks tested.
    chi_square, chi_square_p_value : float
        Friedman's statistic and its p-value, with k - 1 degrees of freedom; NaN if not tested.
    f, f_p_value : float
        The statistic of Iman and Davenport, which is less conservative, and its p-value, with k - 1
        and (k - 1)(N - 1) degrees of freedom.
    alpha : float
        Level of the test.
    note : str
        Remarks, such as why nothing was tested; or "".
    """

    ranks: Ranks
    chi_square: float
    chi_square_p_value: float
    f: float
    f_p_value: float
    alpha: float
    note: str

    @property
    def significant(self) -> bool:
        """True if the methods differ at level alpha, by Iman and Davenport."""
        return self.f_p_value < self.alpha


@dataclass(frozen=True, eq=False)
class NemenyiTest:
    """Result of Nemenyi's test: which methods differ from which?

    Parameters
    ----------
    ranks : Ranks
        The ranks tested.
    critical_difference : float
        Difference of average ranks from which on two methods differ at level alpha; NaN if not
        tested.
    p_values : DataFrame
        By pair of methods; empty if not tested.
    alpha : float
        Level of the test.
    note : str
        Why nothing was tested; or "".
    """

    ranks: Ranks
    critical_difference: float
    p_values: pd.DataFrame
    alpha: float
    note: str


def average_ranks(table: pd.DataFrame, *, larger_is_better: bool) -> Ranks:
    """Rank the methods on each data set."""
    _check_table(table, larger_is_better)
    never = table.isna().all()
    without_values = tuple(str(method) for method in table.columns[never])
    table = table.loc[:, ~never]
    lacking = table.isna()
    left_out = {
        str(data): tuple(str(method) for method in table.columns[row.to_numpy()])
        for data, row in lacking.iterrows()
        if row.any()
    }
    complete = table[~lacking.any(axis=1)]
    values = rounded(complete.to_numpy())
    if complete.size:
        values = stats.rankdata(-values if larger_is_better else values, axis=1)
    ranks = pd.DataFrame(values, index=complete.index, columns=table.columns)
    average = ranks.mean() if ranks.size else pd.Series(dtype=float)
    return Ranks(ranks, average, left_out, without_values)


def friedman_test(
    table: pd.DataFrame, *, larger_is_better: bool, alpha: float = 0.05
) -> FriedmanTest:
    """Test whether all methods are alike.

    Parameters
    ----------
    table : DataFrame
        One row per data set, one column per method; NaN where there is no value.
    larger_is_better : bool
        Direction of the measure.
    alpha : float, default=0.05
        Level, in (0, 1).

    Returns
    -------
    FriedmanTest
        The test; a note instead of p-values with fewer than three methods or two data sets.

    Notes
    -----
    Ties are corrected for, as in `scipy.stats.friedmanchisquare`. Iman & Davenport 1980:
    F = (N - 1) chi2 / (N (k - 1) - chi2). When all data sets agree on the order, F is infinite and
    its distribution a poor guide: the p-value is then the chance of that, one in k! for each data
    set but the first.
    """
    check_real("alpha", alpha, above=0.0, below=1.0)
    ranks = average_ranks(table, larger_is_better=larger_is_better)
    n, k = ranks.ranks.shape
    nan = float("nan")
    note = _why_untested(n, k, least=3)
    if note:
        return FriedmanTest(ranks, nan, nan, nan, nan, alpha, note)
    values = ranks.ranks.to_numpy()
    if (values == values[:, :1]).all():
        note = "all methods tie on every data set"
        return FriedmanTest(ranks, 0.0, 1.0, 0.0, 1.0, alpha, note)
    chi_square, chi_square_p = (float(x) for x in stats.friedmanchisquare(*values.T))
    rest = n * (k - 1) - chi_square
    if rest <= 1e-9 * n * (k - 1):
        note = "the methods have the same order on every data set, which has an exact p-value"
        p_value = _chance_of_one_order(values[0], n)
        return FriedmanTest(ranks, chi_square, chi_square_p, float("inf"), p_value, alpha, note)
    f = (n - 1) * chi_square / rest
    f_p = float(stats.f.sf(f, k - 1, (k - 1) * (n - 1)))
    return FriedmanTest(ranks, chi_square, chi_square_p, f, f_p, alpha, "")


def nemenyi_test(
    table: pd.DataFrame, *, larger_is_better: bool, alpha: float = 0.05
) -> NemenyiTest:
    """Compare all methods with each other by their average ranks.

    Parameters
    ----------
    table, larger_is_better
        As in `friedman_test`.
    alpha : float, default=0.05
        Level for the whole family of pairs, in (0, 1).

    Returns
    -------
    NemenyiTest
        The test; a note instead of p-values with fewer than two methods or data sets.

    Notes
    -----
    Meant for after a significant Friedman test. The critical difference is
    q sqrt(k (k + 1) / (6 N)), where q is the quantile of the studentized range divided by sqrt(2).
    """
    check_real("alpha", alpha, above=0.0, below=1.0)
    ranks = average_ranks(table, larger_is_better=larger_is_better)
    n, k = ranks.ranks.shape
    note = _why_untested(n, k, least=2)
    if note:
        return NemenyiTest(ranks, float("nan"), pd.DataFrame(), alpha, note)
    # Imported late: it brings statsmodels and seaborn, which take seconds.
    from scikit_posthocs import posthoc_nemenyi_friedman

    q = float(stats.studentized_range.ppf(1.0 - alpha, k, np.inf)) / sqrt(2.0)
    p_values = posthoc_nemenyi_friedman(ranks.ranks.to_numpy())
    p_values = pd.DataFrame(
        p_values.to_numpy(), index=ranks.ranks.columns, columns=ranks.ranks.columns
    )
    return NemenyiTest(ranks, q * sqrt(k * (k + 1) / (6.0 * n)), p_values, alpha, "")


def wilcoxon_tests(
    table: pd.DataFrame, reference: str, *, larger_is_better: bool, alpha: float = 0.05
) -> pd.DataFrame:
    """Compare one method with each of the others by Wilcoxon's signed ranks.

    Parameters
    ----------
    table
        As in `friedman_test`.
    reference : str
        The method, a column.
    larger_is_better : bool
        Direction of the measure.
    alpha : float, default=0.05
        Level of each two-sided test, in (0, 1). It is not corrected for their number.

    Returns
    -------
    DataFrame
        One row a compared method: "outcome" ("win", "tie", "loss" of the reference, or "untested"),
        "rank_sum" (the smaller of the two), "p_value", "n_data", "note".

    Notes
    -----
    The test of the Rank-CVM paper. The ranks of data sets without a difference are split evenly
    between both sides, as Demšar proposes.
    """
    check_real("alpha", alpha, above=0.0, below=1.0)
    _check_table(table, larger_is_better)
    check_choice("reference", reference, table.columns)
    rows = {}
    for method in table.columns.drop(reference):
        both = table[[reference, method]].dropna()
        gain = advantages(both[reference], both[method], larger_is_better=larger_is_better)
        # Differences that are equal up to rounding share a rank.
        gain = rounded(gain)
        outcome, rank_sum, p_value, note = "untested", float("nan"), float("nan"), ""
        if len(both) < 2:
            note = f"{_data_sets(len(both))} with values of both, expected at least 2"
        elif not gain.any():
            outcome, p_value, note = "tie", 1.0, "equal on every data set"
        else:
            test = stats.wilcoxon(gain, zero_method="zsplit")
            rank_sum, p_value = float(test.statistic), float(test.pvalue)
            ranks = stats.rankdata(np.abs(gain))
            wins = ranks[gain > 0].sum() > ranks[gain < 0].sum()
            outcome = "tie" if p_value >= alpha else "win" if wins else "loss"
            if 2.0 * 0.5 ** len(both) >= alpha:
                note = f"{len(both)} data sets are too few for p < {alpha:g}, whatever the values"
        left_out = [str(name) for name in table.index.difference(both.index, sort=False)]
        if left_out and len(both):
            without = f"without {', '.join(left_out)} (no value of both)"
            note = f"{note}; {without}" if note else without
        rows[method] = (outcome, rank_sum, p_value, len(both), note)
    columns = ["outcome", "rank_sum", "p_value", "n_data", "note"]
    return pd.DataFrame.from_dict(rows, orient="index", columns=columns)


def _chance_of_one_order(ranks: NDArray[np.float64], n: int) -> float:
    """Return the chance that n random orders with these ties are the same."""
    ties = np.unique(ranks, return_counts=True)[1]
    n_orders = factorial(ranks.size) / prod(factorial(int(count)) for count in ties)
    return float((1.0 / n_orders) ** (n - 1))


def _check_table(table: pd.DataFrame, larger_is_better: object) -> None:
    check_table(table, larger_is_better)
    if not table.shape[1]:
        raise ValueError("table has no column; expected one per method.")
    for axis, names in (("rows", table.index), ("columns", table.columns)):
        if not names.is_unique:
            twice = names[names.duplicated()][0]
            raise ValueError(f"table has two {axis} named {twice!r}; expected different names.")


def _why_untested(n: int, k: int, *, least: int) -> str:
    if k < least:
        hint = "; Wilcoxon's signed ranks compare two" if k == 2 else ""
        return (
            f"not tested: {k} method{'s' * (k != 1)} with values, expected at least {least}{hint}"
        )
    if n < 2:
        return (
            f"not tested: {_data_sets(n)} with values of all methods, expected at least 2 (folds "
            "of one data set are not independent and do not count)"
        )
    return ""


def _data_sets(n: int) -> str:
    return f"{n or 'no'} data set{'s' * (n > 1)}"
