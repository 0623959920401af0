"""Counts of wins, ties and losses, against scipy; tests/published has the counts of a paper."""

from math import inf, isnan, sqrt

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from multimargin.compare.statistics.win_tie_loss import paired_t_test, win_tie_loss


def by_split(**columns):
    """One data set "d" with a row per split."""
    n = len(next(iter(columns.values())))
    index = pd.MultiIndex.from_product([["d"], [f"fold {i}" for i in range(n)]])
    return pd.DataFrame(columns, index=index.set_names(["data", "split"]))


class TestPairedTTest:
    def test_against_scipy_and_by_hand(self):
        first, second = np.random.default_rng(0).random((2, 10))
        expected = stats.ttest_rel(first, second)
        found = paired_t_test(first - second)
        assert found == pytest.approx((expected.statistic, expected.pvalue))
        # d = 1, 2, 3: mean 2, variance 1; the factor is 1/3 + 1/2 = 5/6, so t = 2 / sqrt(5/6).
        t = 2.0 / sqrt(5.0 / 6.0)
        found = paired_t_test(np.array([1.0, 2.0, 3.0]), test_train_ratio=0.5)
        assert found == pytest.approx((t, 2.0 * stats.t.sf(t, 2)))

    def test_no_variance(self):
        assert paired_t_test(np.zeros(5)) == (0.0, 1.0)
        assert paired_t_test(np.full(5, -0.1)) == (-inf, 0.0)
        assert paired_t_test(np.array([0.3 - 0.2, 0.2 - 0.1, 0.1])) == (inf, 0.0)

    def test_malformed(self):
        for values in ([1.0], [], [1.0, np.nan], [[1.0, 2.0]]):
            with pytest.raises(ValueError, match=r"differences has shape .*at least two finite"):
                paired_t_test(np.array(values))


class TestWinTieLoss:
    def test_default_correction_is_that_of_the_folds(self):
        random = np.random.default_rng(1)
        table = by_split(a=list(random.random(10) + 0.3), b=list(random.random(10)))
        details = win_tie_loss(table, "a", larger_is_better=True).details
        difference = (table["a"] - table["b"]).to_numpy()
        expected = paired_t_test(difference, test_train_ratio=1 / 9)[1]
        assert details.loc[0, "p_value"] == pytest.approx(expected)
        given = win_tie_loss(table, "a", larger_is_better=True, test_train_ratios={"d": 0.25})
        expected = paired_t_test(difference, test_train_ratio=0.25)[1]
        assert given.details.loc[0, "p_value"] == pytest.approx(expected)

    def test_plain_test_finds_what_the_corrected_one_does_not(self):
        table = by_split(a=[0.30, 0.10, 0.20, 0.28, 0.12], b=[0.2, 0.09, 0.15, 0.2, 0.1])
        plain = win_tie_loss(table, "a", larger_is_better=True, test="paired")
        corrected = win_tie_loss(table, "a", larger_is_better=True)
        assert plain.counts.loc["b", "win"] == 1
        assert corrected.counts.loc["b", "tie"] == 1

    def test_direction(self):
        table = by_split(a=[0.1, 0.11, 0.12], b=[0.8, 0.82, 0.81])
        smaller = win_tie_loss(table, "a", larger_is_better=False)
        larger = win_tie_loss(table, "a", larger_is_better=True)
        assert smaller.counts.loc["b", "win"] == 1
        assert larger.counts.loc["b", "loss"] == 1
        assert smaller.details.loc[0, "advantage"] == pytest.approx(0.7)

    def test_degenerate_values(self):
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

    def test_missing_splits_are_named(self):
        table = by_split(a=[0.5, 0.6, 0.7], b=[0.4, np.nan, 0.5], c=[np.nan] * 3)
        details = win_tie_loss(table, "a", larger_is_better=True).details.set_index("method")
        assert details.loc["b", "n_splits"] == 2
        assert "without fold 1 (no value of both)" in details.loc["b", "note"]
        assert details.loc["c", "outcome"] == "untested"

    def test_malformed_arguments(self):
        table = by_split(a=[0.5, 0.6], b=[0.4, 0.5])
        with pytest.raises(ValueError, match=r"reference is 'c'; expected one of 'a', 'b'"):
            win_tie_loss(table, "c", larger_is_better=True)
        with pytest.raises(ValueError, match=r"test is 'sign'; expected one of 'corrected'"):
            win_tie_loss(table, "a", larger_is_better=True, test="sign")
