"""Statistics over data sets, against the worked examples of Demšar (2006) and against scipy."""

from itertools import permutations, product
from math import isnan

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from multimargin.compare.statistics.ranks import (
    average_ranks,
    friedman_test,
    nemenyi_test,
    wilcoxon_tests,
)

METHODS = ["C4.5", "C4.5+m", "C4.5+cf", "C4.5+m+cf"]

# Table 6 of Demšar (2006): AUC of four variants of C4.5 on fourteen data sets. It prints 0.975
# twice in the row "voting", but ranks these two 2 and 3: they differ in a digit not printed.
DEMSAR = pd.DataFrame.from_dict(
    {
        "adult": (0.763, 0.768, 0.771, 0.798),
        "breast cancer": (0.599, 0.591, 0.590, 0.569),
        "breast cancer wisconsin": (0.954, 0.971, 0.968, 0.967),
        "cmc": (0.628, 0.661, 0.654, 0.657),
        "ionosphere": (0.882, 0.888, 0.886, 0.898),
        "iris": (0.936, 0.931, 0.916, 0.931),
        "liver disorders": (0.661, 0.668, 0.609, 0.685),
        "lung cancer": (0.583, 0.583, 0.563, 0.625),
        "lymphography": (0.775, 0.838, 0.866, 0.875),
        "mushroom": (1.000, 1.000, 1.000, 1.000),
        "primary tumor": (0.940, 0.962, 0.965, 0.962),
        "rheum": (0.619, 0.666, 0.614, 0.669),
        "voting": (0.972, 0.981, 0.9751, 0.975),
        "wine": (0.957, 0.978, 0.946, 0.970),
    },
    orient="index",
    columns=METHODS,
)


def with_gap():
    table = DEMSAR.copy()
    table.loc["iris", "C4.5+m"] = np.nan
    return table


def test_arguments():
    twice = pd.DataFrame([[1.0, 2.0]], columns=["a", "a"])
    for test, message in (
        (lambda: average_ranks(twice, larger_is_better=True), r"two columns named 'a'"),
        (lambda: average_ranks(DEMSAR[[]], larger_is_better=True), r"no column"),
        (
            lambda: wilcoxon_tests(DEMSAR, "C5", larger_is_better=True),
            "reference is 'C5'; expected",
        ),
        *(
            (
                lambda alpha=alpha: friedman_test(DEMSAR, larger_is_better=True, alpha=alpha),
                "alpha is .*expected a finite number above 0 and",
            )
            for alpha in (0.0, 1.0, float("nan"))
        ),
    ):
        with pytest.raises(ValueError, match=message):
            test()


class TestAverageRanks:
    def test_published_average_ranks(self):
        ranks = average_ranks(DEMSAR, larger_is_better=True)
        published = [3.143, 2.000, 2.893, 1.964]
        np.testing.assert_allclose(ranks.average[METHODS], published, atol=5e-4)
        assert list(ranks.ranks.loc["mushroom"]) == [2.5] * 4
        assert ranks.left_out == {}

    def test_direction_is_turned_and_rounding_ties(self):
        losses = average_ranks(1.0 - DEMSAR, larger_is_better=False)
        gains = average_ranks(DEMSAR, larger_is_better=True)
        pd.testing.assert_series_equal(losses.average, gains.average)
        table = pd.DataFrame({"a": [0.1 + 0.2], "b": [0.3]}, index=["d"])
        assert list(average_ranks(table, larger_is_better=True).average) == [1.5, 1.5]

    def test_incomplete_data_set_is_left_out_and_named(self):
        ranks = friedman_test(with_gap(), larger_is_better=True).ranks
        assert ranks.left_out == {"iris": ("C4.5+m",)}
        complete = average_ranks(DEMSAR.drop("iris"), larger_is_better=True)
        pd.testing.assert_frame_equal(ranks.ranks, complete.ranks)

    def test_nothing_complete(self):
        table = pd.DataFrame({"a": [np.nan], "b": [1.0]}, index=["d"])
        ranks = average_ranks(table, larger_is_better=True)
        assert list(ranks.average.index) == ["b"]
        assert ranks.without_values == ("a",)
        nothing = average_ranks(table * np.nan, larger_is_better=True)
        assert nothing.average.empty
        assert nothing.without_values == ("a", "b")
        crossed = pd.DataFrame({"a": [np.nan, 1.0], "b": [1.0, np.nan]}, index=["d", "e"])
        ranks = average_ranks(crossed, larger_is_better=True)
        assert ranks.average.empty
        assert ranks.left_out == {"d": ("a",), "e": ("b",)}


class TestFriedman:
    def test_against_scipy_and_the_analysis_of_variance_of_the_ranks(self):
        test = friedman_test(DEMSAR, larger_is_better=True)
        expected = stats.friedmanchisquare(*DEMSAR.to_numpy().T)
        assert test.chi_square == pytest.approx(expected.statistic)
        assert test.chi_square_p_value == pytest.approx(expected.pvalue)
        assert test.significant
        # Iman and Davenport's F is that of the two-way analysis of variance of the ranks.
        ranks = test.ranks.ranks.to_numpy()
        n, k = ranks.shape
        between = n * ((ranks.mean(axis=0) - ranks.mean()) ** 2).sum() / (k - 1)
        residual = ranks - ranks.mean(axis=0)
        residual -= residual.mean(axis=1, keepdims=True)
        f = between / ((residual**2).sum() / ((n - 1) * (k - 1)))
        assert test.f == pytest.approx(f)
        assert test.f_p_value == pytest.approx(stats.f.sf(f, k - 1, (n - 1) * (k - 1)))

    def test_too_little_to_test(self):
        two = friedman_test(DEMSAR[METHODS[:2]], larger_is_better=True)
        assert "2 methods with values, expected at least 3" in two.note
        assert "Wilcoxon" in two.note
        one = friedman_test(DEMSAR.iloc[:1], larger_is_better=True)
        assert "1 data set with" in one.note
        assert "not independent" in one.note
        assert isnan(one.f_p_value)
        assert not one.significant
        equal = friedman_test(DEMSAR * 0.0, larger_is_better=True)
        assert (equal.chi_square, equal.f_p_value) == (0.0, 1.0)
        assert equal.note == "all methods tie on every data set"
        agree = pd.DataFrame([[1.0, 2.0, 3.0]] * 2, index=list("ab"), columns=list("xyz"))
        assert not friedman_test(agree, larger_is_better=False).significant

    @pytest.mark.parametrize("order", [(1.0, 2.0, 3.0), (1.0, 2.0, 2.0)])
    def test_same_order_everywhere(self, order):
        table = pd.DataFrame([order] * 3, index=list("abc"), columns=list("xyz"))
        test = friedman_test(table, larger_is_better=False)
        assert test.chi_square == pytest.approx(6.0)
        orders = list(permutations(order))
        agree = [first == second == third for first, second, third in product(orders, repeat=3)]
        assert test.f_p_value == pytest.approx(np.mean(agree))
        assert "same order" in test.note


class TestNemenyi:
    def test_published_critical_difference_and_its_p_values(self):
        for alpha, published in ((0.05, 1.25), (0.10, 1.12)):
            test = nemenyi_test(DEMSAR, larger_is_better=True, alpha=alpha)
            assert test.critical_difference == pytest.approx(published, abs=5e-3)
            average = test.ranks.average
            for first, second in product(METHODS, METHODS):
                apart = abs(average[first] - average[second]) > test.critical_difference
                assert (test.p_values.loc[first, second] < alpha) == apart

    def test_degenerate_tables(self):
        one_method = nemenyi_test(DEMSAR[METHODS[:1]], larger_is_better=True)
        assert "1 method with values, expected at least 2" in one_method.note
        assert one_method.p_values.empty
        one_data_set = nemenyi_test(DEMSAR.iloc[:1], larger_is_better=True)
        assert isnan(one_data_set.critical_difference)
        equal = nemenyi_test(DEMSAR * 0.0, larger_is_better=True)
        np.testing.assert_allclose(equal.p_values, 1.0)


class TestWilcoxon:
    def test_published_example(self):
        # Demšar, section 3.1.3: C4.5+m against C4.5, rank sums 93 and 12.
        tests = wilcoxon_tests(DEMSAR[METHODS[:2]], "C4.5+m", larger_is_better=True)
        row = tests.loc["C4.5"]
        assert row["rank_sum"] == 12.0
        assert row["outcome"] == "win"
        other = wilcoxon_tests(DEMSAR[METHODS[:2]], "C4.5", larger_is_better=True)
        assert other.loc["C4.5+m", "outcome"] == "loss"

    def test_exact_p_value_by_enumeration(self):
        gains = np.array([1.0, 2.0, 3.0, 4.0, 5.0, 6.0, -7.0])
        table = pd.DataFrame({"a": gains, "b": 0.0}, index=list("abcdefg"))
        row = wilcoxon_tests(table, "a", larger_is_better=True).loc["b"]
        signs = np.array(np.meshgrid(*[[0, 1]] * 7)).reshape(7, -1)
        sums = signs.T @ np.arange(1, 8)
        assert row["rank_sum"] == 7.0
        assert row["p_value"] == pytest.approx(2 * (sums <= 7).mean())
        assert row["outcome"] == "tie"

    def test_degenerate_tables(self):
        equal = wilcoxon_tests(DEMSAR * 0.0 + 1.0, "C4.5", larger_is_better=True)
        assert set(equal["outcome"]) == {"tie"}
        assert set(equal["p_value"]) == {1.0}
        one = wilcoxon_tests(DEMSAR.iloc[:1], "C4.5", larger_is_better=True)
        assert set(one["outcome"]) == {"untested"}
        few = wilcoxon_tests(DEMSAR.iloc[:4], "C4.5", larger_is_better=True)
        assert few["note"].str.contains("too few for p < 0.05").all()

    def test_missing_values_are_named(self):
        tests = wilcoxon_tests(with_gap(), "C4.5", larger_is_better=True)
        assert tests.loc["C4.5+m", "note"] == "without iris (no value of both)"
        assert tests.loc["C4.5+cf", "note"] == ""
        assert list(tests["n_data"]) == [13, 14, 14]
