"""MLRL as an estimator."""

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import ConvergenceWarning

from multimargin import MLRL, SSMLRL
from multimargin.estimators import RelationshipOptions
from multimargin.reference import mlrl
from tests.support.models import expansion_matrix
from tests.support.problems import noisy_linear_problem
from tests.support.recorder import Recorder


@pytest.fixture(name="data")
def fixture_data():
    return noisy_linear_problem(1, 80, 5, 4, rank=2, noise=0.5, cut=0.2)


def test_the_certificate_can_be_recomputed_from_the_attributes(data):
    X, Y = data
    model = MLRL(0.01, kernel="linear", tol=1e-4, options=RelationshipOptions(keep_rows=True)).fit(
        X, Y
    )
    K = X @ X.T
    A = expansion_matrix(model, 80)
    objective = mlrl.objective_6(K @ A + model.intercept_, Y, 0.01, A.T @ K @ A)
    bound = mlrl.bound_6(K, model.dual_variables_, 0.01)
    np.testing.assert_allclose(model.objective_, objective, rtol=1e-9)
    np.testing.assert_allclose(model.dual_objective_, bound, rtol=1e-9)
    alpha = (2.0 * Y - 1.0) * model.dual_variables_
    assert -1e-15 <= alpha.min() <= alpha.max() <= 1 / 80 + 1e-15
    assert np.abs(model.dual_variables_.sum(axis=0)).max() <= 1e-15
    assert 0 <= model.dual_gap_ <= 1e-4
    np.testing.assert_allclose(model.label_covariance_, mlrl.omega_step(A.T @ K @ A), atol=1e-8)
    assert model.history_["primal"][-1] == model.objective_
    assert len(model.history_["dual"]) == model.n_iter_


def test_the_covariance_is_one_and_the_correlation_has_unit_diagonal(data):
    model = MLRL(0.01).fit(*data)
    assert abs(np.trace(model.label_covariance_) - 1.0) < 1e-12
    assert np.linalg.eigvalsh(model.label_covariance_).min() > -1e-12
    np.testing.assert_array_equal(np.diagonal(model.label_correlation_), 1.0)
    j, k = 1, 2
    expected = model.label_covariance_[j, k] / np.sqrt(
        model.label_covariance_[j, j] * model.label_covariance_[k, k]
    )
    np.testing.assert_allclose(model.label_correlation_[j, k], expected)


def test_labels_of_one_class_are_predicted_as_that_class(data):
    X, Y = data
    Y = pd.DataFrame(Y, columns=["a", "b", "c", "d"])
    Y["none"], Y["all"] = 0, 1
    with pytest.warns(UserWarning, match=r"none \(0\), all \(1\)"):
        model = MLRL(0.01).fit(X, Y)
    predicted = model.predict(X)
    assert (predicted[:, 4] == 0).all()
    assert (predicted[:, 5] == 1).all()
    assert not model.label_covariance_[4:].any()
    alone = MLRL(0.01).fit(X, Y[["a", "b", "c", "d"]])
    np.testing.assert_array_equal(predicted[:, :4], alone.predict(X))
    with pytest.warns(UserWarning, match="0 .0., 1 .1."):
        model = MLRL().fit(X, np.tile([0, 1], (80, 1)))
    np.testing.assert_array_equal(model.predict(X), np.tile([0, 1], (80, 1)))


@pytest.mark.parametrize("divisor", [10, 100, 1000])
def test_small_lambda_on_word_counts_converges_in_few_rounds(divisor):
    # Nearly separable labels: the objective is far below the number of labels, and so must be the
    # violations that the labels' own problems are left with.
    rng = np.random.default_rng(0)
    X = rng.poisson(0.15, size=(120, 200)).astype(float)
    W = rng.normal(size=(200, 3)) @ rng.normal(size=(3, 8))
    scores = X @ W + rng.normal(size=(120, 8))
    Y = (scores > np.quantile(scores, 0.7, axis=0)).astype(int)
    model = MLRL(1.0 / (divisor * 120), kernel="linear", max_iter=100).fit(X, Y)
    assert model.status_ == "converged"
    assert model.dual_gap_ <= 1e-3


@pytest.mark.parametrize("lam", [1e-9, 1e-3])
def test_rounds_that_bring_nothing_end_a_fit(lam):
    # Features near 1e5: after some 600 rounds the gap stays where it is.
    random = np.random.default_rng(0)
    X = 1e5 * random.normal(size=(6, 6))
    Y = np.array([[1, 0, 1], [0, 0, 0], [0, 1, 1], [0, 1, 0], [1, 1, 0], [1, 0, 1]])
    S = random.normal(size=(3, 3))
    model = MLRL(
        lam,
        kernel="linear",
        options=RelationshipOptions(fixed_covariance=S @ S.T / np.trace(S @ S.T)),
        tol=1e-6,
    )
    with pytest.warns(ConvergenceWarning):
        model.set_params(max_iter=20000).fit(X, Y)
    assert model.n_iter_ < 10000
    assert model.dual_gap_ > model.tol


def test_a_label_that_uses_up_its_steps_in_ten_rounds_ends_a_fit():
    # Features of very different size, and lam 10 orders below them: no label comes near its
    # optimum.
    random = np.random.default_rng(0)
    X = random.normal(size=(12, 6)) * 10.0 ** np.arange(6)
    Y = (random.normal(size=(12, 2)) > 0).astype(int)
    model = MLRL(1e-5, kernel="linear", tol=1e-6, max_iter=40)
    with pytest.warns(ConvergenceWarning, match="stalled"):
        model.fit(X, Y)
    assert (model.status_, model.n_iter_) == ("stalled", 10)


def test_a_sub_problem_out_of_reach_ends_the_alternation():
    # Rounds within a round creep on for millions, each a little better than the last.
    X = [
        [-1.00487083e6, -1.12201279e6, -2.11517140e3, -7.42584113],
        [1.25660358e6, -1.16486900e6, -7.78402663e3, -1.59893903],
        [1.64403706e6, 2.29490973e5, -1.41274708e3, -2.15262847],
        [-4.91433414e5, 2.43494334e6, -1.95340506e3, -2.39818536],
        [3.23831119e6, 1.00610838e6, 1.59876485e3, -7.66019083],
        [-3.40378134e5, -2.27562401e5, 1.32225647e4, 2.56855986],
    ]
    Y = np.array([[0, 1, 1], [1, 1, 1], [1, 1, 1], [1, 1, 1], [1, 1, 0], [1, 0, 0]])
    weights = [9.99150276, 10.4567744, 17.17967986, 1.67812115, 1.21647391, 5.08817245]
    model = MLRL(1.16e-12, kernel="linear", solver="alternating", tol=1.26e-5, max_iter=10)
    with pytest.warns(ConvergenceWarning):
        model.fit(X, Y, sample_weight=weights)
    # What rounding has left of the scores is another model's.
    assert model.status_ in ("stalled", "inexact")
    assert model.n_iter_ < 10
    assert model.dual_objective_ <= model.objective_


@pytest.mark.parametrize("method", [MLRL, SSMLRL])
def test_a_callback_that_ends_the_fit_is_no_ctrl_c(data, method):
    pytest.importorskip("sklearn.callback", reason="scikit-learn before 1.9")
    X, Y = data
    model = method(tol=1e-12).set_callbacks(Recorder(stop_after=1)).fit(X, Y)
    assert model.status_ == "interrupted"
    assert model.n_iter_ <= 2
    assert model.dual_gap_ > 1e-12
    assert model.predict(X).shape == Y.shape
