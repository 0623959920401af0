"""Counts of wins, ties and losses, against scipy; tests/published has the counts of a paper."""

from math import inf, isnan, sqrt

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from multimargin.compare.statistics.win_tie_loss import paired_t_test, win_tie_loss


def by_split(**columns: list[float]) -> pd.DataFrame:
    """One data set "d" with a row a split."""
    n = len(next(iter(columns.values())))
    index = pd.MultiIndex.from_product([["d"], [f"fold {i}" for i in range(n)]])
    return pd.DataFrame(columns, index=index.set_names(["data", "split"]))


class TestPairedTTest:
    def test_against_scipy(self) -> None:
        random = np.random.default_rng(0)
        first, second = random.random((2, 10))
        expected = stats.ttest_rel(first, second)
        statistic, p_value = paired_t_test(first - second)
        assert statistic == pytest.approx(expected.statistic)
        assert p_value == pytest.approx(expected.pvalue)

    def test_correction_by_hand(self) -> None:
        # d = 1, 2, 3: mean 2, variance 1; the factor is 1/3 + 1/2 = 5/6, so t = 2 / sqrt(5/6).
        statistic, p_value = paired_t_test(np.array([1.0, 2.0, 3.0]), test_train_ratio=0.5)
        assert statistic == pytest.approx(2.0 / sqrt(5.0 / 6.0))
        assert p_value == pytest.approx(2.0 * stats.t.sf(2.0 / sqrt(5.0 / 6.0), 2))

    def test_no_variance(self) -> None:
        assert paired_t_test(np.zeros(5)) == (0.0, 1.0)
        assert paired_t_test(np.full(5, -0.1)) == (-inf, 0.0)
        assert paired_t_test(np.array([0.3 - 0.2, 0.2 - 0.1, 0.1])) == (inf, 0.0)

    @pytest.mark.parametrize("values", [[1.0], [], [1.0, np.nan], [[1.0, 2.0]]])
    def test_malformed(self, values: list[float]) -> None:
        with pytest.raises(ValueError, match=r"differences has shape .*at least two finite"):
            paired_t_test(np.array(values))


class TestWinTieLoss:
    def test_default_correction_is_that_of_the_folds(self) -> None:
        random = np.random.default_rng(1)
        table = by_split(a=list(random.random(10) + 0.3), b=list(random.random(10)))
        details = win_tie_loss(table, "a", larger_is_better=True).details
        difference = (table["a"] - table["b"]).to_numpy()
        expected = paired_t_test(difference, test_train_ratio=1 / 9)[1]
        assert details.loc[0, "p_value"] == pytest.approx(expected)
        given = win_tie_loss(table, "a", larger_is_better=True, test_train_ratios={"d": 0.25})
        expected = paired_t_test(difference, test_train_ratio=0.25)[1]
        assert given.details.loc[0, "p_value"] == pytest.approx(expected)

    def test_plain_test_finds_what_the_corrected_one_does_not(self) -> None:
        table = by_split(a=[0.30, 0.10, 0.20, 0.28, 0.12], b=[0.2, 0.09, 0.15, 0.2, 0.1])
        plain = win_tie_loss(table, "a", larger_is_better=True, test="paired")
        corrected = win_tie_loss(table, "a", larger_is_better=True)
        assert plain.counts.loc["b", "win"] == 1
        assert corrected.counts.loc["b", "tie"] == 1

    def test_direction(self) -> None:
        table = by_split(a=[0.1, 0.11, 0.12], b=[0.8, 0.82, 0.81])
        smaller = win_tie_loss(table, "a", larger_is_better=False)
        larger = win_tie_loss(table, "a", larger_is_better=True)
        assert smaller.counts.loc["b", "win"] == 1
        assert larger.counts.loc["b", "loss"] == 1
        assert smaller.details.loc[0, "advantage"] == pytest.approx(0.7)

    def test_degenerate_values(self) -> None:
        equal = win_tie_loss(by_split(a=[0.5, 0.6], b=[0.5, 0.6]), "a", larger_is_better=True)
        assert equal.details.loc[0, ["outcome", "note"]].tolist() == ["tie", "equal on every split"]
        shifted = win_tie_loss(by_split(a=[0.5, 0.6], b=[0.4, 0.5]), "a", larger_is_better=True)
        assert shifted.details.loc[0, "outcome"] == "win"
        assert "same difference" in shifted.details.loc[0, "note"]
        one = win_tie_loss(by_split(a=[0.5], b=[0.4]), "a", larger_is_better=True)
        assert one.counts.loc["b", "untested"] == 1
        assert isnan(one.details.loc[0, "p_value"])
        alone = win_tie_loss(by_split(a=[0.5]), "a", larger_is_better=True)
        assert alone.counts.empty

    def test_missing_splits_are_named(self) -> None:
        table = by_split(a=[0.5, 0.6, 0.7], b=[0.4, np.nan, 0.5], c=[np.nan] * 3)
        details = win_tie_loss(table, "a", larger_is_better=True).details.set_index("method")
        assert details.loc["b", "n_splits"] == 2
        assert "without fold 1 (no value of both)" in details.loc["b", "note"]
        assert details.loc["c", "outcome"] == "untested"

    def test_malformed_arguments(self) -> None:
        table = by_split(a=[0.5, 0.6], b=[0.4, 0.5])
        with pytest.raises(ValueError, match=r"reference is 'c'; expected one of 'a', 'b'"):
            win_tie_loss(table, "c", larger_is_better=True)
        with pytest.raises(ValueError, match=r"test is 'sign'; expected one of 'corrected'"):
            win_tie_loss(table, "a", larger_is_better=True, test="sign")
