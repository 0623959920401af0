"""`top_k`: what it means, and what it refuses."""

import numpy as np
import pytest

from multimargin import RankSVM
from multimargin.estimators.shared.pair_weights import number_at_the_top
from tests.support.models import PAIRWISE
from tests.support.problems import noisy_linear_problem

METHODS = [method for method in PAIRWISE if "top_k" in method().get_params()]
SETTINGS = {"C": 2.0, "tol": 1e-8, "max_iter": 100_000, "random_state": 0}


def problem(seed=0, n=40, q=6):
    return noisy_linear_problem(seed, n, 4, q, cut=0.7)


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_the_objective_is_that_of_its_definition(kernel):
    X, Y = problem()
    rows = np.random.default_rng(1).integers(1, 4, len(X)).astype(float)
    weights = 2.0 ** np.linspace(-1.0, 1.0, 6)
    model = RankSVM(**SETTINGS, kernel=kernel, bias="none", top_k=2, class_weight=weights)
    model.set_params(warm_start=True).fit(X, Y, sample_weight=rows)
    scores, loss = model.label_scores(X), 0.0
    for f, y, row in zip(scores, Y, rows, strict=True):
        highest = np.sort(f[y == 0])[::-1][:2]
        slacks = np.maximum(0.0, 1.0 - f[y == 1][:, None] + highest)
        if slacks.size:
            loss += 2.0 * row / (y == 1).sum() * (weights[y == 1] @ slacks.mean(axis=1))
    expansion = np.zeros_like(scores)
    expansion[model.support_] = model.dual_coef_
    assert model.objective_ == pytest.approx(0.5 * np.sum(expansion * scores) + loss, rel=1e-8)


def test_a_share_is_rounded_down_to_one_label_at_least():
    assert [number_at_the_top(share, 10) for share in (0.01, 0.25, 0.5, 1.0)] == [1, 2, 5, None]
    assert [number_at_the_top(number, 10) for number in (None, 1, 9, 10, 11)] == [
        None,
        1,
        9,
        None,
        None,
    ]


@pytest.mark.parametrize("method", METHODS)
def test_a_warm_start_reaches_the_optimum(method):
    X, Y = problem(n=60)
    Y = Y.astype(float)
    Y[::7, 1] = np.nan
    model = method(**SETTINGS, warm_start=True, top_k=1).fit(X, Y)
    for top_k in (3, 2, None, 1):
        model.set_params(top_k=top_k).fit(X, Y)
        cold = method(**SETTINGS, top_k=top_k).fit(X, Y)
        assert model.objective_ == pytest.approx(cold.objective_, rel=1e-6)
