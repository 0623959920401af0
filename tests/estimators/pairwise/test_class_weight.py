"""`class_weight`: the rules, and what a weight means."""

import numpy as np
import pandas as pd
import pytest

from multimargin import RankLSVM
from tests.support.models import PAIRWISE
from tests.support.problems import noisy_linear_problem

SETTINGS = {"C": 2.0, "tol": 1e-9, "max_iter": 100_000, "random_state": 0}


def problem(seed=0, n=40, q=5):
    X, Y = noisy_linear_problem(seed, n, 4, q, cut=0.5)
    return X, Y, 3.0 ** np.linspace(-1.0, 1.0, q)


@pytest.mark.parametrize(("rule", "exponent"), [("balanced", 1.0), ("sqrt", 0.5)])
@pytest.mark.parametrize("weighted_rows", [False, True])
def test_rules_weigh_labels_by_their_rows(rule, exponent, weighted_rows):
    X, Y, _ = problem(q=6)
    Y[:, 5] = 0
    rows = np.random.default_rng(0).integers(1, 4, len(X)).astype(float)
    weights = rows if weighted_rows else np.ones(len(X))
    model = RankLSVM(class_weight=rule).fit(X, Y, sample_weight=rows if weighted_rows else None)
    counts = weights @ Y
    expected = (counts[:5].sum() / counts[:5]) ** exponent
    expected *= counts[:5].sum() / (counts[:5] @ expected)
    np.testing.assert_allclose(model.class_weight_[:5], expected)
    # No row has the last label.
    assert model.class_weight_[5] == 1.0
    assert (weights @ Y @ model.class_weight_) / (weights @ Y).sum() == pytest.approx(1.0)


def test_names_columns_and_numbers_give_the_same_weights():
    X, Y, _ = problem()
    frame = pd.DataFrame(Y, columns=list("abcde"))
    of = lambda weight, y: RankLSVM(class_weight=weight).fit(X, y).class_weight_  # noqa: E731
    expected = [1.0, 3.0, 1.0, 0.5, 1.0]
    np.testing.assert_array_equal(of({"b": 3, "d": 0.5}, frame), expected)
    np.testing.assert_array_equal(of({1: 3, 3: 0.5}, frame), expected)
    np.testing.assert_array_equal(of({1: 3, 3: 0.5}, Y), expected)
    np.testing.assert_array_equal(of(expected, Y), expected)
    classes = np.array(["x", "y", "z"])[Y[:, :3].argmax(axis=1)]
    np.testing.assert_array_equal(of({"y": 2.0}, classes), [1.0, 2.0, 1.0])


@pytest.mark.parametrize("method", PAIRWISE)
@pytest.mark.parametrize("solver", ["bcd", "dcd"])
def test_a_warm_start_reaches_the_optimum_of_other_weights(method, solver):
    X, Y, label_weights = problem(n=60)
    settings = SETTINGS | {"solver": solver, "tol": 1e-7}
    cold = method(**settings, class_weight=label_weights).fit(X, Y)
    few = []
    for seed in range(3):
        warm = method(**settings | {"random_state": seed}, class_weight="sqrt", warm_start=True)
        warm.fit(X, Y).set_params(class_weight=label_weights).fit(X, Y)
        assert warm.objective_ == pytest.approx(cold.objective_, rel=1e-6)
        again = warm.n_iter_
        warm.fit(X, Y)
        few.append(warm.n_iter_ <= min(again, max(3, again // 10)))
    # A gap just within the tolerance may be above it after the first epoch: rounding decides. And
    # a slow linear fit ends with a model beside B, which the next fit does not start from.
    assert sorted(few)[1:] == [True, True]


@pytest.mark.parametrize(
    ("weight", "error", "message"),
    [
        ("balance", ValueError, "class_weight is 'balance'"),
        ([1.0, 2.0], ValueError, r"shape \(2,\); expected \(5,\)"),
        ([1.0, 2.0, 0.0, 1.0, 1.0], ValueError, "class_weight holds 0"),
        ([1.0, 2.0, -3.0, 1.0, 1.0], ValueError, "class_weight holds -3"),
        ([1.0, 2.0, np.nan, 1.0, 1.0], ValueError, "class_weight holds nan"),
        ({"a": 1.0}, ValueError, "weight for 'a', which is not a label"),
        ({7: 1.0}, ValueError, "weight for 7, which is not a label"),
        ({0: 0.0}, ValueError, "class_weight holds 0"),
        ({0: "heavy"}, TypeError, "class_weight is"),
        (object(), TypeError, "class_weight is"),
    ],
)
def test_malformed_weights_are_named(weight, error, message):
    X, Y, _ = problem()
    with pytest.raises(error, match=message):
        RankLSVM(class_weight=weight).fit(X, Y)
