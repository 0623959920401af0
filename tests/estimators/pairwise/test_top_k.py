"""`top_k`: shares, and warm starts; tests/optimum has its objective."""

import numpy as np
import pytest

from multimargin import RankSVM, RankSVMz
from multimargin.estimators.pairwise.pair_weights import number_at_the_top
from tests.support.models import PAIRWISE
from tests.support.problems import noisy_linear_problem

METHODS = [method for method in PAIRWISE if "top_k" in method().get_params()]
SETTINGS = {"C": 2.0, "tol": 1e-8, "max_iter": 100_000, "random_state": 0}


def test_a_share_is_rounded_down_to_one_label_at_least():
    assert [number_at_the_top(share, 10) for share in (0.01, 0.25, 0.5, 1.0)] == [1, 2, 5, None]
    expected = [None, 1, 9, None, None]
    assert [number_at_the_top(number, 10) for number in (None, 1, 9, 10, 11)] == expected


@pytest.mark.parametrize("method", METHODS)
def test_a_warm_start_reaches_the_optimum(method):
    X, Y = noisy_linear_problem(0, 60, 4, 6, cut=0.7)
    Y = Y.astype(float)
    Y[::7, 1] = np.nan
    model = method(**SETTINGS, warm_start=True, top_k=1).fit(X, Y)
    for top_k in (3, 2, None, 1):
        model.set_params(top_k=top_k).fit(X, Y)
        cold = method(**SETTINGS, top_k=top_k).fit(X, Y)
        assert model.objective_ == pytest.approx(cold.objective_, rel=1e-6)


def test_a_free_bias_is_certified_beside_labels_without_pairs():
    X, Y = noisy_linear_problem(1, 200, 40, 23, cut=1.2)
    Y[:, [3, 7]] = [0, 1]
    for top_k in (1, 2, 3, 5):
        model = RankSVM(1.0, kernel="linear", top_k=top_k, max_iter=400, random_state=0).fit(X, Y)
        assert model.status_ == "converged", (top_k, model.dual_gap_)
    X, Y = noisy_linear_problem(0, 40, 3, 8, cut=0.9)
    Y[:, [2, 3]] = [0, 1]
    assert RankSVMz(3.0, kernel="linear", random_state=0).fit(X, Y).status_ == "converged"
