"""RankCVM by itself: problem 37, its scale, and the published stop rule."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from multimargin import FrankWolfeOptions, RankCVM, RankLSVM
from multimargin.estimators.shared import exact_models
from tests.support.problems import unrelated_problem

SOLVERS = ["bcd", "dcd", "exact"]


@pytest.fixture
def problem():
    return unrelated_problem(1, 25, 4, 4)


@pytest.mark.parametrize("solver", SOLVERS)
def test_everything_is_that_of_problem_37(problem, solver):
    X, Y = problem
    # The squared hinge with a margin of 1, over the sum S of its dual variables: rho is 1 / S.
    exactly = exact_models.squared_hinge(X @ X.T, Y, 2.0)
    S = exactly.alpha.sum()
    optimum, F = 1.0 / (2.0 * S), exactly.F / S
    size = np.abs(F).max()
    model = RankCVM(C=2.0, kernel="linear", solver=solver, tol=1e-9).fit(X, Y)
    assert model.objective_ == pytest.approx(optimum, rel=1e-8)
    assert model.dual_objective_ == pytest.approx(optimum, rel=1e-8)
    assert model.rho_ == pytest.approx(1.0 / S, rel=1e-4)
    assert_allclose(model.label_scores(X), F, atol=1e-4 * size)
    assert_allclose(model.intercept_, exactly.b / S, atol=1e-4 * size)
    assert_allclose(model.coef_.T, X.T @ exactly.B / S, atol=1e-4 * size)


def test_it_is_rank_lsvm_divided_by_the_sum_of_its_dual_variables(problem):
    X, Y = problem
    lsvm = RankLSVM(C=2.0, tol=1e-8, random_state=0).fit(X, Y)
    cvm = RankCVM(C=2.0, tol=1e-8, random_state=0).fit(X, Y)
    assert_allclose(cvm.label_scores(X), cvm.rho_ * lsvm.label_scores(X), rtol=1e-9)
    assert cvm.objective_ == pytest.approx(1.0 / (4.0 * lsvm.objective_), rel=1e-7)
    assert cvm.dual_gap_ <= lsvm.dual_gap_ * (1 + 1e-6)
    assert_array_equal(cvm.predict(X), lsvm.predict(X))
    for threshold in ("scores", "features"):
        models = [
            estimator(C=2.0, tol=1e-8, threshold=threshold, random_state=0).fit(X, Y)
            for estimator in (RankCVM, RankLSVM)
        ]
        decisions = [model.decision_function(X) for model in models]
        assert_allclose(decisions[0], models[0].rho_ * decisions[1], rtol=1e-6, atol=1e-12)


def test_published_stop_rule_is_an_absolute_bound(problem):
    X, Y = problem
    model = RankCVM(C=2.0, solver="frank-wolfe", options=FrankWolfeOptions(epsilon=1e-2)).fit(X, Y)
    assert model.status_ == "converged"
    assert model.objective_ - model.dual_objective_ < 1e-2
    # ... and says little about the relative gap, which is reported all the same.
    assert model.dual_gap_ == pytest.approx(
        (model.objective_ - model.dual_objective_) / model.objective_
    )


@pytest.mark.parametrize("solver", [*SOLVERS[:2], "frank-wolfe"])
def test_history_brackets_the_optimum(problem, solver):
    X, Y = problem
    optimum = 0.25 / exact_models.squared_hinge(X @ X.T, Y, 2.0).objective
    tol = 1e-2 if solver == "frank-wolfe" else 1e-6
    model = RankCVM(C=2.0, kernel="linear", solver=solver, tol=tol).fit(X, Y)
    assert (model.history_["primal"] >= optimum * (1 - 1e-8)).all()
    assert (model.history_["dual"] <= optimum * (1 + 1e-8)).all()


def test_at_b_0_the_model_at_a_margin_of_1_is_0():
    X, Y = np.eye(6), np.tile(np.eye(2, dtype=int), (3, 1))
    model = RankCVM(kernel="linear", threshold=0.0, warm_start=True).fit(X, Y)
    # Where a kernel makes the loop fall back on B = 0, this is what it leaves.
    model.rho_ = 0.0
    assert model.fit(X, Y).status_ == "converged"
