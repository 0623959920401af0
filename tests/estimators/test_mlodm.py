"""MLODM by itself: its limits, and its margins."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from multimargin import MLODM
from multimargin.estimators.shared import exact_models
from multimargin.estimators.shared import exact_pairs as ep
from tests.support.problems import unrelated_problem


@pytest.fixture
def problem():
    X, Y = unrelated_problem(2, 25, 4, 4)
    Y[0] = 0
    return X, Y


def fitted(X, Y, **parameters):
    return MLODM(kernel="linear", tol=1e-10, max_iter=10**5, **parameters).fit(X, Y)


def test_scores_are_those_of_the_exact_solution(problem):
    X, Y = problem
    exactly = exact_models.optimal_margin(X @ X.T, Y, 2.0, 0.3, 0.6)
    model = fitted(X, Y, C=2.0, theta=0.3, mu=0.6)
    assert_allclose(model.label_scores(X), exactly.F, atol=1e-4)
    assert not model.intercept_.any()


@pytest.mark.parametrize("class_weight", [None, {0: 3.0}])
def test_the_published_step_reaches_the_optimum_of_the_exact_programme(problem, class_weight):
    X, Y = problem
    settings = {"kernel": "rbf", "C": 4.0, "class_weight": class_weight, "max_iter": 10**5}
    published = MLODM(solver="multiplicative", tol=1e-7, **settings).fit(X, Y)
    exactly = MLODM(solver="exact", tol=1e-7, **settings).fit(X, Y)
    assert published.status_ == "converged"
    assert published.objective_ == pytest.approx(exactly.objective_, rel=1e-6)
    assert published.dual_objective_ <= exactly.objective_ * (1 + 1e-7)
    assert_allclose(published.label_scores(X), exactly.label_scores(X), atol=1e-3)


def test_theta_zero_and_mu_one_is_least_squares(problem):
    X, Y = problem
    pairs = ep.pairs(Y)
    c = ep.pair_weights(pairs, 3.0)
    H = ep.block_pair_matrix(pairs, *Y.shape).toarray()
    Z = H.T @ np.kron(X, np.eye(4))  # margins = Z vec(W)
    w = np.linalg.solve(np.eye(Z.shape[1]) + Z.T @ (c[:, None] * Z), Z.T @ c)
    model = fitted(X, Y, C=3.0, theta=0.0, mu=1.0)
    assert_allclose(model.coef_.T, w.reshape(4, 4), atol=1e-5)


def test_as_theta_goes_to_one_the_model_shrinks_in_proportion(problem):
    X, Y = problem
    # Where no margin exceeds 1 + theta, the loss is the squared hinge at the margin
    # 1 - theta: the model is proportional to 1 - theta.
    reference = exact_models.optimal_margin(X @ X.T, Y, 0.5, 0.9)
    for theta in (0.9, 0.99, 1 - 1e-6):
        model = fitted(X, Y, C=0.5, theta=theta)
        assert model.margins(X, Y).max() <= 1 + theta
        scale = (1 - theta) / (1 - 0.9)
        assert model.objective_ == pytest.approx(scale**2 * reference.objective, rel=1e-6)
        assert_allclose(model.label_scores(X), scale * reference.F, atol=1e-4 * scale)


def test_as_mu_goes_to_zero_it_is_the_squared_hinge(problem):
    X, Y = problem
    # Of Rank-LSVM with its penalised bias, that is the kernel K + 1, at the margin 1 - theta.
    reference = exact_models.squared_hinge(X @ X.T, Y, 3.0)
    errors = []
    for mu in (1e-3, 1e-5, 1e-7):
        model = MLODM(C=3.0, theta=0.2, mu=mu, kernel="precomputed", tol=1e-10, max_iter=10**5)
        F = model.fit(X @ X.T + 1.0, Y).label_scores(X @ X.T + 1.0)
        # Some margin is too large, or the limit would be no limit.
        assert model.margins(X @ X.T + 1.0, Y).max() > 1.2
        errors.append(np.abs(F - 0.8 * reference.F).max())
    assert errors[0] > errors[1]
    assert errors[-1] < 1e-4


def test_margins_are_those_of_all_pairs_in_order(problem):
    X, Y = problem
    model = MLODM().fit(X, Y)
    F, pairs = model.label_scores(X), ep.pairs(Y)
    expected = F[pairs.i, pairs.m] - F[pairs.i, pairs.n]
    assert_allclose(model.margins(X, Y), expected, rtol=1e-14)


def test_margins_vary_less_than_those_of_a_loose_fit(problem):
    X, Y = problem
    tight, loose = (MLODM(C=10.0, theta=0.1, mu=mu).fit(X, Y).margins(X, Y) for mu in (1.0, 0.01))
    assert tight.std() < loose.std()
