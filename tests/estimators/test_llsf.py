"""LLSF and the strategies built on it, as scikit-learn estimators."""

import pickle

import numpy as np
import pandas as pd
import pytest
from joblib import parallel_config
from scipy import sparse
from sklearn.base import BaseEstimator, clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_selection import SelectKBest
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import LinearSVC

from multimargin import LLSF, LabelSpecificBinaryRelevance, LabelSpecificClassifierChain
from multimargin.estimators import beta_max
from tests.support.problems import unrelated_problem
from tests.support.subsets import first_fast


def random_problem(seed, n=40, d=12, q=4):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    W = rng.normal(size=(d, q)) * (rng.random((d, q)) < 0.3)
    return X, (X @ W + 0.3 * rng.normal(size=(n, q)) > 0.2).astype(int)


def test_supports_transform_and_names():
    X, Y = random_problem(0)
    frame = pd.DataFrame(Y, columns=list("abcd"))
    model = LLSF(beta=6.0).fit(X, frame)
    np.testing.assert_array_equal(model.label_specific_features_, model.coef_ != 0)
    assert 0 < model.label_specific_features_.sum() < model.coef_.size
    np.testing.assert_array_equal(model.get_support(label="c"), model.coef_[2] != 0)
    np.testing.assert_array_equal(
        model.get_support(indices=True, label=2), np.flatnonzero(model.coef_[2])
    )
    union = (model.coef_ != 0).any(axis=0)
    np.testing.assert_array_equal(model.get_support(), union)
    np.testing.assert_array_equal(model.transform(X), X[:, union])
    with pytest.raises(ValueError, match="label is 'e'; expected one of"):
        model.get_support(label="e")
    with pytest.raises(ValueError, match="label is 4; expected a number from 0 to 3"):
        model.get_support(label=4)


@pytest.mark.parametrize(
    ("solver", "alpha"), [("cd", 0.0), ("admm", 0.0), ("admm", 0.5), ("apg", 0.0), ("apg", 0.5)]
)
def test_sparse_features_threads_and_seeds_change_nothing(solver, alpha):
    X, Y = random_problem(1, n=60, d=40, q=5)
    X[np.abs(X) < 1.0] = 0.0
    model = LLSF(alpha=alpha, beta=1.0, solver=solver, tol=1e-9, max_iter=50_000)
    dense = clone(model).fit(X, Y)
    stored = clone(model).fit(sparse.csr_array(X), sparse.csc_array(Y))
    threads = clone(model).set_params(n_jobs=2).fit(X, Y)
    assert dense.objective_ == pytest.approx(stored.objective_, rel=1e-9)
    np.testing.assert_allclose(dense.coef_, stored.coef_, atol=1e-5)
    np.testing.assert_array_equal(dense.coef_, threads.coef_)
    again = pickle.loads(pickle.dumps(stored))
    np.testing.assert_array_equal(again.predict(sparse.csr_array(X)), dense.predict(X))


def test_shift_is_zero_exactly_where_the_published_problem_is_convex():
    X, Y = random_problem(2)
    smallest = np.linalg.eigvalsh(X.T @ X)[0]
    norms = np.linalg.norm(Y, axis=0)
    label_eigenvalue = np.linalg.eigvalsh(1 - Y.T @ Y / np.outer(norms, norms))[0]
    critical = smallest / -label_eigenvalue
    assert LLSF(alpha=0.999 * critical).fit(X, Y).shift_ == 0.0
    shifted = LLSF(alpha=1.001 * critical).fit(X, Y)
    assert shifted.shift_ == pytest.approx(-label_eigenvalue)


def test_published_loop_warns_and_stops_before_overflow():
    X, Y = unrelated_problem(0, 20, 40, 5)
    model = LLSF(alpha=1.0, convexify=False, max_iter=100_000)
    with pytest.warns(ConvergenceWarning, match=r"lambda_min\(X\^T X\) = 0 .* lambda_min\(R\)"):
        model.fit(X, Y)
    assert model.status_ == "diverged"
    assert model.objective_ < -1e50
    assert np.isfinite(model.coef_).all()
    assert model.dual_objective_ == -np.inf
    assert LLSF(alpha=1.0, tol=1e-4, beta=0.5).fit(X, Y).dual_gap_ <= 1e-4


def test_a_loop_that_does_not_finish_names_one_that_does(monkeypatch):
    X, Y = random_problem(4)
    X = X * np.geomspace(1.0, 1e-3, X.shape[1])
    monkeypatch.setattr("multimargin.estimators.llsf_problem.MOST_EIGENVALUES", 1)
    with pytest.warns(ConvergenceWarning, match="or use solver='admm'"):
        LLSF(beta=1e-5, tol=1e-9, max_iter=500).fit(X, Y)
    with pytest.warns(ConvergenceWarning, match="or use solver='auto'"):
        LLSF(beta=1e-5, solver="apg", tol=1e-9, max_iter=500).fit(X, Y)
    model = LLSF(beta=1e-5, solver="admm", tol=1e-9, max_iter=5000).fit(X, Y)
    assert model.status_ == "converged"


@pytest.mark.parametrize(("share", "loop"), [(1e-6, "admm"), (0.1, "cd")])
def test_the_loop_follows_the_share_of_the_largest_beta(share, loop):
    X, Y = random_problem(4)
    X = X[:, :1] + 1e-3 * X  # Nearly dependent: each loop has to converge, too
    beta = share * beta_max(X, Y)
    by_name = {
        solver: LLSF(alpha=0.0, beta=beta, solver=solver).fit(X, Y).coef_
        for solver in ("auto", "admm", "cd")
    }
    assert np.any(by_name["admm"] != by_name["cd"])
    np.testing.assert_array_equal(by_name["auto"], by_name[loop])


def test_warm_start_continues():
    X, Y = random_problem(5)
    model = LLSF(beta=1.0, warm_start=True).fit(X, Y)
    assert model.fit(X, Y).n_iter_ == 0


@pytest.mark.parametrize("alpha", [0.0, 0.5])
def test_beta_max_is_the_smallest_beta_without_features(alpha):
    X, Y = random_problem(7)
    limit = beta_max(X, Y)
    assert limit == pytest.approx(np.abs(X.T @ Y).max())
    assert not LLSF(alpha=alpha, beta=limit).fit(X, Y).coef_.any()
    assert LLSF(alpha=alpha, beta=0.999 * limit, tol=1e-8).fit(X, Y).coef_.any()


class FixedSupports(BaseEstimator):
    """A selector that names features label by label."""

    def __init__(self, supports=None):
        self.supports = supports

    def fit(self, X, y):
        return self

    def get_support(self, *, label):
        return np.asarray(self.supports[label])


@pytest.mark.parametrize("backend", first_fast(["threading", "loky"], 1))
def test_binary_relevance_fits_each_label_on_its_features(backend):
    X, Y = random_problem(9)
    supports = np.random.default_rng(0).random((4, 12)) < 0.5
    with parallel_config(backend=backend):
        model = LabelSpecificBinaryRelevance(selector=FixedSupports(supports), n_jobs=2).fit(X, Y)
    for k in range(4):
        alone = LinearSVC().fit(X[:, supports[k]], Y[:, k])
        np.testing.assert_allclose(
            model.decision_function(X)[:, k], alone.decision_function(X[:, supports[k]])
        )


def test_random_chain_is_reproducible():
    X, Y = random_problem(11)
    first = LabelSpecificClassifierChain(random_state=3).fit(X, Y)
    np.testing.assert_array_equal(
        first.order_, LabelSpecificClassifierChain(random_state=3).fit(X, Y).order_
    )
    with pytest.raises(ValueError, match=r"order is \[0, 0, 1, 2\]; expected"):
        LabelSpecificClassifierChain(order=[0, 0, 1, 2]).fit(X, Y)


def test_degenerate_labels_are_handled_and_named():
    X, Y = random_problem(12)
    Y[:, 0], Y[:, 1] = 1, 0
    supports = np.ones((4, 12), dtype=bool)
    supports[3] = False
    frame = pd.DataFrame(Y, columns=["all", "none", "fine", "blind"])
    model = LabelSpecificBinaryRelevance(selector=FixedSupports(supports))
    message = r"all \(one class\), none \(one class\), blind \(no feature selected\)"
    with pytest.warns(UserWarning, match=message):
        model.fit(X, frame)
    predicted = model.predict(X)
    assert predicted[:, 0].all()
    assert not predicted[:, 1].any()
    assert (predicted[:, 3] == int(Y[:, 3].mean() > 0.5)).all()
    np.testing.assert_array_equal(model.labels_with_one_class_, [0, 1])
    np.testing.assert_array_equal(model.labels_without_features_, [3])

    chain = LabelSpecificClassifierChain(selector=FixedSupports(supports), order=[2, 0, 1, 3])
    with pytest.warns(UserWarning, match="2 of 4 labels fall back"):
        chain.fit(X, frame)
    assert isinstance(chain.estimators_[3], LinearSVC)


def test_any_classifier_will_do():
    X, Y = random_problem(13)
    model = LabelSpecificBinaryRelevance(GaussianNB(), LLSF(beta=1.0)).fit(X, Y)
    direct = np.column_stack(
        [
            GaussianNB().fit(X[:, s], y).predict(X[:, s])
            for s, y in zip(model.label_specific_features_, Y.T, strict=True)
        ]
    )
    np.testing.assert_array_equal(model.predict(X), direct)


class PlainVotes(BaseEstimator):
    """A classifier that has nothing but predictions."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        self.mean_ = X.mean(axis=0)
        return self

    def predict(self, X):
        return (X.sum(axis=1) > self.mean_.sum()).astype(int)


def test_predictions_stand_for_scores_where_there_are_none():
    X, Y = unrelated_problem(0, 30, 8, 3)
    model = LabelSpecificBinaryRelevance(PlainVotes()).fit(X, Y)
    assert set(np.unique(model.label_scores(X))) <= {-0.5, 0.5}


class UnionOnly(SelectKBest):
    def fit(self, X, y):
        return super().fit(X, y[:, 0])


class WrongShape(UnionOnly):
    label_specific_features_ = np.ones((1, 2))


def test_selectors_without_features_of_each_label_are_refused():
    X, Y = unrelated_problem(0, 30, 8, 3)
    for selector, message in (
        (UnionOnly(k=3), "names no features for each label"),
        (
            WrongShape(k=3),
            r"shape \(1, 2\) and dtype float64; expected booleans of shape \(3, 8\)",
        ),
    ):
        with pytest.raises(TypeError, match=message):
            LabelSpecificBinaryRelevance(PlainVotes(), selector).fit(X, Y)


def test_the_default_classifier_ends_on_features_whose_squares_overflow():
    X, Y = random_problem(9)
    supports = np.ones((4, X.shape[1]), dtype=bool)
    model = LabelSpecificBinaryRelevance(selector=FixedSupports(supports))
    with pytest.warns(ConvergenceWarning, match="Liblinear failed to converge"):
        model.fit(1e100 * X, Y)
    assert np.isfinite(model.decision_function(1e100 * X)).all()
