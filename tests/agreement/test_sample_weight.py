"""A row of weight 2 is a row that is there twice, one of weight 0 is not there."""

import itertools
from functools import partial

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.utils.validation import has_fit_parameter

from multimargin import (
    LLSF,
    MLODM,
    MLRL,
    SSMLRL,
    LabelSpecificBinaryRelevance,
    LabelSpecificClassifierChain,
    RankHLapSVM,
    RankSVM,
)
from multimargin.baselines import BPMLL, MLkNN
from multimargin.estimators import RelationshipOptions
from multimargin.reference import llsf

# The other methods and options have their weights judged in tests/optimum.
CASES = [
    (RankSVM, {"gamma": "mean_distance", "class_weight": "balanced"}),
    (MLODM, {"class_weight": "sqrt"}),
    (RankHLapSVM, {"kernel": "rbf", "nu": 0.3, "threshold": "scores"}),
    (MLRL, {"lam": 0.05, "options": RelationshipOptions(fixed_covariance=np.eye(4) / 4)}),
    (SSMLRL, {"lam1": 0.05, "lam2": 0.05}),
]


def problem(unknown: bool):
    random = np.random.default_rng(5)
    X = random.normal(size=(36, 4))
    Y = (X @ random.normal(size=(4, 4)) + random.normal(size=(36, 4)) > 0).astype(float)
    if unknown:
        Y[random.random(Y.shape) < 0.2] = np.nan
    weights = random.integers(0, 4, size=36).astype(float)
    return X, Y, weights, np.repeat(np.arange(36), weights.astype(int))


def made(method, **parameters):
    settings = {"tol": 1e-7, "max_iter": 20_000}
    if method not in (MLRL, SSMLRL):
        settings = {"C": 2.0, "tol": 1e-9, "max_iter": 200_000, "random_state": 0}
    return method(**settings, **parameters)


@pytest.mark.parametrize(("method", "parameters"), CASES)
def test_weights_are_numbers_of_rows(method, parameters):
    X, Y, weights, rows = problem(unknown=True)
    if method is SSMLRL:
        Y[::3] = -1
    weighted = made(method, **parameters).fit(X, Y, sample_weight=weights)
    repeated = made(method, **parameters).fit(X[rows], Y[rows])
    assert weighted.objective_ == pytest.approx(repeated.objective_, rel=3 * weighted.tol)
    assert weighted.dual_gap_ <= weighted.tol
    assert repeated.dual_gap_ <= repeated.tol
    # A model whose gap is so small is near in the norm, so that its scores are.
    scores = weighted.label_scores(X), repeated.label_scores(X)
    if getattr(weighted, "bias", None) == "free" or method in (MLRL, SSMLRL):
        # The bias of hinge losses is an interval.
        scores = tuple(of - of.mean(axis=0) for of in scores)
    size = np.abs(scores[0]).max()
    allowed = 30 * np.sqrt(weighted.tol)
    np.testing.assert_allclose(*scores, atol=allowed * size)


@pytest.mark.parametrize("storage", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize(
    ("solver", "alpha"), [("cd", 0.0), *itertools.product(["admm", "apg"], [0.0, 0.5, 200.0])]
)
def test_weights_of_llsf_are_numbers_of_rows(solver, alpha, storage):
    X, Y, weights, rows = problem(unknown=False)
    settings = {"alpha": alpha, "beta": 0.4, "solver": solver, "tol": 1e-8, "max_iter": 100_000}
    weighted = LLSF(**settings).fit(storage(X), Y, sample_weight=weights)
    repeated = LLSF(**settings).fit(storage(X[rows]), Y[rows])
    exact, _ = llsf.problem_3(X[rows], Y[rows], alpha, 0.4)
    assert weighted.objective_ == pytest.approx(exact, rel=1e-6)
    assert weighted.dual_objective_ == pytest.approx(exact, rel=1e-6)
    assert weighted.dual_gap_ <= 1e-8
    assert weighted.shift_ == pytest.approx(repeated.shift_, abs=1e-10)
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, atol=1e-3)
    np.testing.assert_allclose(
        weighted.decision_function(X), repeated.decision_function(X), atol=1e-2
    )


def test_llsf_takes_weights_that_are_no_numbers_of_rows():
    X, Y, weights, _ = problem(unknown=False)
    # Everything times three: the squared errors are, and so is what they are weighed against.
    third = LLSF(alpha=0.5, beta=0.4, tol=1e-9).fit(X, Y, sample_weight=weights / 3.0)
    whole = LLSF(alpha=1.5, beta=1.2, tol=1e-9).fit(X, Y, sample_weight=weights)
    assert 3.0 * third.objective_ == pytest.approx(whole.objective_, rel=1e-8)
    # More features than rows, where the solver meets the rows themselves.
    wide = np.hstack([X, np.random.default_rng(0).normal(size=(36, 200))])
    model = LLSF(alpha=0.0, beta=0.4, solver="cd", tol=1e-8, max_iter=10_000)
    rows = np.repeat(np.arange(36), weights.astype(int))
    expected = model.fit(wide[rows], Y[rows]).objective_
    found = model.fit(wide, Y, sample_weight=weights)
    assert found.objective_ == pytest.approx(expected, rel=1e-6)
    one = LLSF(convexify=False, alpha=0.01).fit(X, Y, sample_weight=np.ones(36))
    same = LLSF(convexify=False, alpha=0.01).fit(X, Y)
    np.testing.assert_allclose(one.coef_, same.coef_, atol=1e-12)


def test_rows_of_positive_weight_need_a_pair():
    X, Y, _, _ = problem(unknown=False)
    weights = np.ones(36)
    weights[(Y.sum(axis=1) % 4) != 0] = 0.0
    with pytest.raises(ValueError, match="y has no label pair"):
        RankSVM().fit(X, Y, sample_weight=weights)


@pytest.mark.parametrize("model", [MLkNN(), BPMLL()], ids=lambda m: type(m).__name__)
def test_methods_without_weights_say_so_by_their_own_name(model):
    X, Y, weights, _ = problem(unknown=False)
    assert not has_fit_parameter(model, "sample_weight")
    message = rf"^{type(model).__name__}\.fit takes no sample_weight; expected X and y alone\.$"
    with pytest.raises(TypeError, match=message):
        model.fit(X, Y, sample_weight=weights)


@pytest.mark.parametrize(
    "strategy",
    [LabelSpecificBinaryRelevance, partial(LabelSpecificClassifierChain, order=range(4))],
)
def test_classifiers_on_label_specific_features_hand_their_weights_on(strategy):
    X, Y, weights, repeated = problem(unknown=False)
    # A label that is relevant in rows of weight 0 alone has one class.
    Y = np.where(weights[:, None] == 0, 1, Y)
    Y[weights > 0, 3] = 0
    model = strategy(LogisticRegression(tol=1e-10), LLSF(alpha=0.5, beta=0.5, tol=1e-9))
    with pytest.warns(UserWarning, match="majority class"):
        weighted = clone(model).fit(X, Y, sample_weight=weights)
    with pytest.warns(UserWarning, match="majority class"):
        expected = clone(model).fit(X[repeated], Y[repeated])
    np.testing.assert_array_equal(weighted.labels_with_one_class_, [3])
    np.testing.assert_array_equal(
        weighted.label_specific_features_, expected.label_specific_features_
    )
    np.testing.assert_allclose(weighted.label_scores(X), expected.label_scores(X), rtol=1e-4)
    model.set_params(estimator=KNeighborsClassifier())
    with pytest.raises(TypeError, match=r"KNeighborsClassifier\.fit takes no sample_weight"):
        model.fit(X, Y, sample_weight=weights)
