"""Statistics over data sets, against the worked examples of Demšar (2006) and against scipy."""

from itertools import permutations, product
from math import isnan, sqrt

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
DEMSAR = pd.DataFrame(
    [
        (0.763, 0.768, 0.771, 0.798),
        (0.599, 0.591, 0.590, 0.569),
        (0.954, 0.971, 0.968, 0.967),
        (0.628, 0.661, 0.654, 0.657),
        (0.882, 0.888, 0.886, 0.898),
        (0.936, 0.931, 0.916, 0.931),
        (0.661, 0.668, 0.609, 0.685),
        (0.583, 0.583, 0.563, 0.625),
        (0.775, 0.838, 0.866, 0.875),
        (1.000, 1.000, 1.000, 1.000),
        (0.940, 0.962, 0.965, 0.962),
        (0.619, 0.666, 0.614, 0.669),
        (0.972, 0.981, 0.9751, 0.975),
        (0.957, 0.978, 0.946, 0.970),
    ],
    index=[
        "adult",
        "breast cancer",
        "breast cancer wisconsin",
        "cmc",
        "ionosphere",
        "iris",
        "liver disorders",
        "lung cancer",
        "lymphography",
        "mushroom",
        "primary tumor",
        "rheum",
        "voting",
        "wine",
    ],
    columns=METHODS,
)


def with_gap() -> pd.DataFrame:
    table = DEMSAR.copy()
    table.loc["iris", "C4.5+m"] = np.nan
    return table


class TestAverageRanks:
    def test_published_average_ranks(self) -> None:
        ranks = average_ranks(DEMSAR, larger_is_better=True)
        published = [3.143, 2.000, 2.893, 1.964]
        np.testing.assert_allclose(ranks.average[METHODS], published, atol=5e-4)
        assert list(ranks.ranks.loc["mushroom"]) == [2.5] * 4
        assert ranks.left_out == {}

    def test_direction_is_turned(self) -> None:
        losses = average_ranks(1.0 - DEMSAR, larger_is_better=False)
        gains = average_ranks(DEMSAR, larger_is_better=True)
        pd.testing.assert_series_equal(losses.average, gains.average)

    def test_values_that_differ_by_rounding_tie(self) -> None:
        table = pd.DataFrame({"a": [0.1 + 0.2], "b": [0.3]}, index=["d"])
        assert list(average_ranks(table, larger_is_better=True).average) == [1.5, 1.5]

    def test_incomplete_data_set_is_left_out_and_named(self) -> None:
        ranks = average_ranks(with_gap(), larger_is_better=True)
        assert ranks.left_out == {"iris": ("C4.5+m",)}
        complete = average_ranks(DEMSAR.drop("iris"), larger_is_better=True)
        pd.testing.assert_frame_equal(ranks.ranks, complete.ranks)

    def test_nothing_complete(self) -> None:
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

    def test_malformed_tables(self) -> None:
        twice = pd.DataFrame([[1.0, 2.0]], columns=["a", "a"])
        with pytest.raises(ValueError, match=r"two columns named 'a'"):
            average_ranks(twice, larger_is_better=True)
        with pytest.raises(ValueError, match=r"no column"):
            average_ranks(pd.DataFrame(index=["d"]), larger_is_better=True)


class TestFriedman:
    def test_published_statistics_without_the_correction_for_ties(self) -> None:
        # Demšar's formula 12 N / (k (k + 1)) (sum R_j^2 - k (k + 1)^2 / 4) has no correction for
        # ties; the corrected statistic is larger by a factor that the ties alone decide.
        test = friedman_test(DEMSAR, larger_is_better=True)
        values = test.ranks.ranks.to_numpy()
        ties = sum(float(c**3 - c) for row in values for c in np.unique(row, return_counts=True)[1])
        n, k = values.shape
        uncorrected = test.chi_square * (1.0 - ties / (n * k * (k * k - 1)))
        assert uncorrected == pytest.approx(9.28, abs=5e-3)
        assert (n - 1) * uncorrected / (n * (k - 1) - uncorrected) == pytest.approx(3.69, abs=5e-3)

    def test_against_scipy(self) -> None:
        test = friedman_test(DEMSAR, larger_is_better=True)
        expected = stats.friedmanchisquare(*DEMSAR.to_numpy().T)
        assert test.chi_square == pytest.approx(expected.statistic)
        assert test.chi_square_p_value == pytest.approx(expected.pvalue)
        assert test.significant

    def test_iman_davenport_is_the_f_test_of_the_ranks(self) -> None:
        # It is the two-way analysis of variance of the ranks, which is computed here directly.
        test = friedman_test(DEMSAR, larger_is_better=True)
        ranks = test.ranks.ranks.to_numpy()
        n, k = ranks.shape
        between = n * ((ranks.mean(axis=0) - ranks.mean()) ** 2).sum() / (k - 1)
        residual = ranks - ranks.mean(axis=0)
        residual -= residual.mean(axis=1, keepdims=True)
        f = between / ((residual**2).sum() / ((n - 1) * (k - 1)))
        assert test.f == pytest.approx(f)
        assert test.f_p_value == pytest.approx(stats.f.sf(f, k - 1, (n - 1) * (k - 1)))

    def test_two_methods_or_one_data_set_are_not_tested(self) -> None:
        two = friedman_test(DEMSAR[METHODS[:2]], larger_is_better=True)
        assert "2 methods with values, expected at least 3" in two.note
        assert "Wilcoxon" in two.note
        one = friedman_test(DEMSAR.iloc[:1], larger_is_better=True)
        assert "1 data set with" in one.note
        assert "not independent" in one.note
        assert isnan(one.f_p_value)
        assert not one.significant

    def test_all_equal(self) -> None:
        table = pd.DataFrame(0.5, index=["a", "b", "c"], columns=METHODS)
        test = friedman_test(table, larger_is_better=True)
        assert (test.chi_square, test.f_p_value) == (0.0, 1.0)
        assert test.note == "all methods tie on every data set"

    @pytest.mark.parametrize("order", [(1.0, 2.0, 3.0), (1.0, 2.0, 2.0)])
    def test_same_order_everywhere(self, order: tuple[float, ...]) -> None:
        table = pd.DataFrame([order] * 3, index=list("abc"), columns=list("xyz"))
        test = friedman_test(table, larger_is_better=False)
        assert test.chi_square == pytest.approx(6.0)
        orders = list(permutations(order))
        agree = [first == second == third for first, second, third in product(orders, repeat=3)]
        assert test.f_p_value == pytest.approx(np.mean(agree))
        assert "same order" in test.note

    def test_two_data_sets_that_agree_prove_little(self) -> None:
        table = pd.DataFrame([[1.0, 2.0, 3.0]] * 2, index=list("ab"), columns=list("xyz"))
        assert not friedman_test(table, larger_is_better=False).significant

    def test_missing_values_are_named(self) -> None:
        test = friedman_test(with_gap(), larger_is_better=True)
        assert test.ranks.left_out == {"iris": ("C4.5+m",)}

    @pytest.mark.parametrize("alpha", [0.0, 1.0, float("nan")])
    def test_alpha(self, alpha: float) -> None:
        with pytest.raises(ValueError, match=r"alpha is .*expected a finite number above 0 and"):
            friedman_test(DEMSAR, larger_is_better=True, alpha=alpha)


class TestNemenyi:
    # Demšar, table 5(a): critical values for 2..10 methods, at 5 % and at 10 %.
    @pytest.mark.parametrize(
        ("alpha", "published"),
        [
            (0.05, [1.960, 2.343, 2.569, 2.728, 2.850, 2.949, 3.031, 3.102, 3.164]),
            (0.10, [1.645, 2.052, 2.291, 2.459, 2.589, 2.693, 2.780, 2.855, 2.920]),
        ],
    )
    def test_published_critical_values(self, alpha: float, published: list[float]) -> None:
        random = np.random.default_rng(0)
        for k, value in enumerate(published, start=2):
            table = pd.DataFrame(random.random((5, k)))
            test = nemenyi_test(table, larger_is_better=True, alpha=alpha)
            q = test.critical_difference / sqrt(k * (k + 1) / 30)
            assert q == pytest.approx(value, abs=1.1e-3)

    def test_published_critical_difference(self) -> None:
        assert nemenyi_test(DEMSAR, larger_is_better=True).critical_difference == pytest.approx(
            1.25, abs=5e-3
        )
        assert nemenyi_test(
            DEMSAR, larger_is_better=True, alpha=0.10
        ).critical_difference == pytest.approx(1.12, abs=5e-3)

    def test_p_values_agree_with_the_critical_difference(self) -> None:
        for alpha in (0.05, 0.10):
            test = nemenyi_test(DEMSAR, larger_is_better=True, alpha=alpha)
            average = test.ranks.average
            for first in METHODS:
                for second in METHODS:
                    apart = abs(average[first] - average[second]) > test.critical_difference
                    assert (test.p_values.loc[first, second] < alpha) == apart

    def test_degenerate_tables(self) -> None:
        one_method = nemenyi_test(DEMSAR[METHODS[:1]], larger_is_better=True)
        assert "1 method with values, expected at least 2" in one_method.note
        assert one_method.p_values.empty
        one_data_set = nemenyi_test(DEMSAR.iloc[:1], larger_is_better=True)
        assert isnan(one_data_set.critical_difference)
        equal = nemenyi_test(DEMSAR * 0.0, larger_is_better=True)
        np.testing.assert_allclose(equal.p_values, 1.0)


class TestWilcoxon:
    def test_published_example(self) -> None:
        # Demšar, section 3.1.3: C4.5+m against C4.5, rank sums 93 and 12.
        tests = wilcoxon_tests(DEMSAR[METHODS[:2]], "C4.5+m", larger_is_better=True)
        row = tests.loc["C4.5"]
        assert row["rank_sum"] == 12.0
        assert row["outcome"] == "win"
        other = wilcoxon_tests(DEMSAR[METHODS[:2]], "C4.5", larger_is_better=True)
        assert other.loc["C4.5+m", "outcome"] == "loss"

    def test_exact_p_value_by_enumeration(self) -> None:
        gains = np.array([1.0, 2.0, 3.0, 4.0, 5.0, 6.0, -7.0])
        table = pd.DataFrame({"a": gains, "b": 0.0}, index=list("abcdefg"))
        row = wilcoxon_tests(table, "a", larger_is_better=True).loc["b"]
        signs = np.array(np.meshgrid(*[[0, 1]] * 7)).reshape(7, -1)
        sums = signs.T @ np.arange(1, 8)
        assert row["rank_sum"] == 7.0
        assert row["p_value"] == pytest.approx(2 * (sums <= 7).mean())
        assert row["outcome"] == "tie"

    def test_degenerate_tables(self) -> None:
        equal = wilcoxon_tests(DEMSAR * 0.0 + 1.0, "C4.5", larger_is_better=True)
        assert set(equal["outcome"]) == {"tie"}
        assert set(equal["p_value"]) == {1.0}
        one = wilcoxon_tests(DEMSAR.iloc[:1], "C4.5", larger_is_better=True)
        assert set(one["outcome"]) == {"untested"}
        few = wilcoxon_tests(DEMSAR.iloc[:4], "C4.5", larger_is_better=True)
        assert few["note"].str.contains("too few for p < 0.05").all()

    def test_missing_values_are_named(self) -> None:
        tests = wilcoxon_tests(with_gap(), "C4.5", larger_is_better=True)
        assert tests.loc["C4.5+m", "note"] == "without iris (no value of both)"
        assert tests.loc["C4.5+cf", "note"] == ""
        assert list(tests["n_data"]) == [13, 14, 14]

    def test_unknown_reference(self) -> None:
        with pytest.raises(ValueError, match=r"reference is 'C5'; expected one of 'C4.5'"):
            wilcoxon_tests(DEMSAR, "C5", larger_is_better=True)
