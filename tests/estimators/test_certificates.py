"""What a certificate says where rounding, kernels or an interruption make it hard."""

import warnings
from contextlib import redirect_stdout
from itertools import product

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from multimargin import MLODM, MLRL, SSMLRL, RankCVM, RankHLapSVM, RankLSVM, RankSVM, RankSVMz
from multimargin.estimators.fitting.certificate import gap_text
from tests.support.certificates import pairwise_loss
from tests.support.ctrl_c import PressesCtrlC
from tests.support.problems import noisy_linear_problem, unrelated_problem
from tests.support.subsets import first_fast


def problem(d, scale, seed=2):
    X, Y = unrelated_problem(seed, 14, d, 4)
    Y[0] = [1, 0, 0, 0]
    Y[1] = 0
    return scale * X, Y


def fitted(estimator, X, Y, **parameters):
    model = clone(estimator).set_params(**parameters)
    if isinstance(model, RankHLapSVM | RankSVM | RankLSVM | RankCVM | MLODM):
        model.set_params(threshold=0.0, random_state=0, max_iter=300)
    if isinstance(model, RankSVMz):
        model.set_params(random_state=0, max_iter=300)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(X, Y)


def interrupted(estimator, X, Y, **parameters):
    model = clone(estimator).set_params(C=100.0, tol=1e-9, verbose=1, **parameters)
    model.set_params(random_state=0, warm_start=True)
    with redirect_stdout(PressesCtrlC(2)), pytest.raises(KeyboardInterrupt):
        model.fit(X, Y)
    assert model.status_ == "interrupted"
    return model


@pytest.mark.parametrize("estimator", [RankLSVM(), RankHLapSVM(), RankHLapSVM(lam=0.0)], ids=repr)
def test_a_linear_model_is_its_expansion_after_an_interruption(estimator):
    # So many scores are not computed for one who waits.
    X, Y = noisy_linear_problem(3, 600, 5, 1000, noise=2.0, cut=0.5)
    Y[:, 4:] = 0
    model = interrupted(estimator, X, Y, kernel="linear")
    norm = np.sum(model.coef_**2) + np.sum(model.intercept_**2)
    assert 0.5 * norm <= model.objective_ < np.inf
    weights = model.dual_coef_.T @ X[model.support_]
    np.testing.assert_allclose(weights, model.coef_, atol=1e-9 * np.abs(weights).max())


def rounded(method, share, **parameters):
    """A model whose own scores are a share of those that its solver certified."""

    class Rounded(method):
        def _label_scores(self, X):
            return share * super()._label_scores(X)

    return Rounded(**parameters)


def fitted_and_told(model, X, Y):
    with pytest.warns(ConvergenceWarning, match="recomputed from its own scores") as told:
        model.fit(X, Y)
    assert told[-1].filename == __file__
    assert model.status_ == "inexact"
    return model


def test_scores_that_differ_from_the_certified_ones_are_told():
    X, Y = problem(3, 1.0)
    for rows in (1, 60):  # all rows are scored, or a sample
        many, labels = np.tile(X, (rows, 1)), np.tile(Y, (rows, 1))
        model = rounded(RankSVM, 0.9, threshold=0.0, random_state=0)
        fitted_and_told(model, many, labels)
        assert model.dual_gap_ > model.tol
        scores = model.label_scores(many)
        norm = np.sum(model.dual_coef_ * (scores - model.intercept_)[model.support_])
        objective = 0.5 * norm + pairwise_loss(scores, labels, model.C)
        assert model.objective_ == pytest.approx(objective, rel=1e-9)


def test_a_rewarded_margin_is_certified_by_the_scores_of_the_model_too():
    X, Y = problem(3, 1.0)
    settings = {"threshold": 0.0, "random_state": 0, "tol": 1e-6}
    plain = RankCVM(**settings).fit(X, Y)
    model = fitted_and_told(rounded(RankCVM, 1.1, **settings), X, Y)
    # The quadratic form of the expansion grows with the scores; the dual variables stay.
    grown = 0.1 * np.sum(plain.dual_coef_ * plain.label_scores(X)[plain.support_])
    assert grown > 1e-3 * plain.objective_
    assert model.objective_ == pytest.approx(plain.objective_ + 0.5 * grown, rel=1e-9)
    assert model.dual_objective_ <= plain.dual_objective_


def test_relationships_are_certified_by_the_scores_of_the_model_too():
    X, Y = problem(3, 1.0)
    Y = Y.astype(float)
    Y[::5, 0] = np.nan
    plain = MLRL(tol=1e-6).fit(X, Y)
    model = fitted_and_told(rounded(MLRL, 0.9, tol=1e-6), X, Y)
    scores, signs = plain.label_scores(X), np.nan_to_num(2.0 * Y - 1.0)
    losses = [np.where(signs, np.maximum(0.0, 1.0 - signs * c * scores), 0.0) for c in (0.9, 1.0)]
    change = (losses[0] - losses[1]).sum() / len(X)
    assert abs(change) > 1e-3 * plain.objective_
    assert model.objective_ == pytest.approx(plain.objective_ + change, rel=1e-9)


@pytest.mark.parametrize("value", [1e150, 1e100, 1e20])
@pytest.mark.parametrize("bias", ["free", "penalized", "none"])
def test_a_feature_of_no_scale_ends(value, bias):
    X, Y = noisy_linear_problem(1, 20, 3, 3, noise=0.0, cut=0.5)
    X[0, 0] = value
    model = fitted(RankSVM(kernel="linear", bias=bias), X, Y)
    assert model.status_ in ("converged", "max_iterations", "stalled", "inexact")


@pytest.mark.parametrize(
    "estimator",
    [RankSVM(), RankLSVM(), RankHLapSVM(), RankCVM(solver="frank-wolfe")],
    ids=repr,
)
def test_kernels_that_overflow_ask_for_scaled_features(estimator):
    X, Y = problem(3, 1e140)
    with pytest.raises(ValueError, match="cale the features"):
        fitted(estimator, X, Y, kernel="poly", gamma=1.0)


@pytest.mark.parametrize("scale", [1e90, 1e120, 1e149])
@pytest.mark.parametrize(
    "estimator", [RankSVM(), RankLSVM(), RankCVM(), MLODM(), RankSVMz()], ids=repr
)
def test_a_kernel_whose_square_overflows_leaves_a_model(estimator, scale):
    X, Y = problem(3, scale)
    model = clone(estimator).set_params(kernel="linear", random_state=0, max_iter=50)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(X, Y)
    assert np.isfinite(model.decision_function(X)).all()
    assert np.isin(model.predict(X), (0, 1)).all()


def indefinite_by_rounding(X, scale):
    return scale * (X * [1.0, 1.0, -1e-13]) @ X.T


@pytest.mark.parametrize("kernel", ["linear", "rbf", "precomputed"])
@pytest.mark.parametrize(
    "estimator", [RankSVM(), RankLSVM(), RankCVM(), MLODM(), RankSVMz()], ids=repr
)
def test_numbers_that_overflow_leave_a_model_with_a_value(estimator, kernel):
    X, Y = problem(3, 1.0)
    weights, refused = 1e100 * np.random.default_rng(0).random(len(X)), []
    for scale, C, rows in product([1.0, 1e75, 1e150], [1.0, 1e150, 1e300], [None, weights]):
        features = indefinite_by_rounding(X, scale) if kernel == "precomputed" else scale * X
        model = clone(estimator).set_params(kernel=kernel, C=C, random_state=0, max_iter=50)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            try:
                model.fit(features, Y, sample_weight=rows)
            except ValueError as error:
                refused.append(str(error))
                continue
        # (37) is minimised in the dual: there a model belongs to the lower bound.
        known = model.dual_objective_ if isinstance(model, RankCVM) else model.objective_
        assert np.isfinite(known), (scale, C, model.status_)
        assert np.isfinite(model.label_scores(features)).all(), (scale, C)
        assert not np.isnan([model.objective_, model.dual_objective_]).any(), (scale, C)
    assert not any("factor" in message for message in refused)


@pytest.mark.parametrize("scale", first_fast([1e4, 1e8, 1e12], 1))
def test_mlrl_by_alternation_ends_where_lam_is_decades_below_the_kernel(scale):
    X, Y = unrelated_problem(2, 12, 4, 4, share=0.5)
    model = MLRL(kernel="precomputed", solver="alternating", lam=0.016, tol=1e-6)
    model = fitted(model, scale * X @ X.T, Y)
    assert model.dual_objective_ <= model.objective_ * (1 + 1e-9)
    assert (model.status_ == "converged") == (model.dual_gap_ <= 1e-6)
    # At 1e4 the sub-problems are solved, but the alternation itself ends above the optimum.
    assert model.status_ in ("max_iterations", "stalled") or scale < 1e12


@pytest.mark.parametrize("scale", [1e4, 1e8])
@pytest.mark.parametrize("solver", ["splitting", "alternating"])
@pytest.mark.parametrize("estimator", [MLRL(lam=1e-3), SSMLRL(lam1=1e-3, lam2=1e-3)], ids=repr)
def test_mlrl_of_equal_rows_far_from_each_other_for_gamma(estimator, solver, scale):
    X, Y = problem(5, scale)
    X[3] = X[2]
    if isinstance(estimator, SSMLRL):
        Y[10:] = -1
    labelled = Y[:, 0] >= 0
    model = fitted(estimator, X, Y, gamma=1.0, solver=solver, tol=1e-5)
    # The alternation may end above the optimum, but what it says is that of the model's own scores.
    assert model.status_ != "inexact"
    # Without the norm of the weights the objective is at least the mean loss by the own scores.
    scores = model.label_scores(X[labelled])
    signs = 2.0 * Y[labelled] - 1.0
    loss = np.maximum(0.0, 1.0 - signs * scores).sum() / labelled.sum()
    assert loss <= model.objective_ * (1 + 1e-9)
    np.testing.assert_allclose(scores[3], scores[2], rtol=1e-12)


def test_a_gap_of_rounding_is_no_number():
    assert gap_text(-1.38e-16) == gap_text(3e-15) == "0 up to rounding"
    assert gap_text(0.0) == "0 up to rounding"
    assert (gap_text(-1e-9), gap_text(4.2e-4, 1)) == ("-1.00e-09", "4.2e-04")
