"""RankCVM by itself: problem 37, its scale, and the published stop rule."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from multimargin import RankCVM, RankLSVM
from multimargin.estimators import FrankWolfeOptions
from tests.support.problems import unrelated_problem

SOLVERS = ["bcd", "dcd"]


@pytest.fixture
def problem():
    return unrelated_problem(1, 25, 4, 4)


def test_it_is_rank_lsvm_divided_by_the_sum_of_its_dual_variables(problem):
    X, Y = problem
    # Beyond the last score of these rows a threshold is one unit away, of the model's own scale.
    Y[:3], Y[3:6] = 0, 1
    for threshold in ("scores", "features"):
        settings = {"C": 2.0, "tol": 1e-8, "threshold": threshold, "random_state": 0}
        cvm, lsvm = RankCVM(**settings).fit(X, Y), RankLSVM(**settings).fit(X, Y)
        assert_allclose(cvm.label_scores(X), cvm.rho_ * lsvm.label_scores(X), rtol=1e-9)
        decision = cvm.rho_ * lsvm.decision_function(X)
        assert_allclose(cvm.decision_function(X), decision, rtol=1e-6, atol=1e-12)


def test_published_stop_rule_is_an_absolute_bound(problem):
    X, Y = problem
    model = RankCVM(C=2.0, solver="frank-wolfe", options=FrankWolfeOptions(epsilon=1e-2)).fit(X, Y)
    assert model.status_ == "converged"
    assert model.objective_ - model.dual_objective_ < 1e-2
    # ... and says little about the relative gap, which is reported all the same.
    assert model.dual_gap_ == pytest.approx(
        (model.objective_ - model.dual_objective_) / model.objective_
    )


def test_at_b_0_the_model_at_a_margin_of_1_is_0():
    X, Y = np.eye(6), np.tile(np.eye(2, dtype=int), (3, 1))
    model = RankCVM(kernel="linear", threshold=0.0, warm_start=True).fit(X, Y)
    # Where a kernel makes the loop fall back on B = 0, this is what it leaves.
    model.rho_ = 0.0
    assert model.fit(X, Y).status_ == "converged"
