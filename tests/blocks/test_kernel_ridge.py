"""LabelKernelRidge: scikit-learn's kernel ridge regression of each label."""

import numpy as np
import pytest
from scipy.special import logit
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.kernel_ridge import KernelRidge
from sklearn.metrics.pairwise import laplacian_kernel

from multimargin import LabelRankerCV
from multimargin.blocks import LabelKernelRidge, kernel_ridge
from multimargin.decompositions import cholesky, diagonal_of_inverse
from tests.support.problems import noisy_linear_problem

X, Y = noisy_linear_problem(0, 60, 5, 3, cut=0.3)
GAMMA, RIDGES = 0.1, 10.0 ** np.arange(-3.0, 2.5, 0.5)
WEIGHTS = np.random.default_rng(0).uniform(0.2, 1.0, len(X))
WEIGHTS[3] = 1.0
UNKNOWN = np.where(np.random.default_rng(1).random(Y.shape) < 0.2, np.nan, Y)
CASES = {
    "plain": (Y.astype(float), None),
    "weights": (Y.astype(float), WEIGHTS),
    "unknown labels": (UNKNOWN, None),
    "weights and unknown labels": (UNKNOWN, WEIGHTS),
}


def left_out(targets, weights, ridge):
    """Values of each row by regressions fitted to the others."""
    values = np.empty_like(targets)
    for i in range(len(X)):
        rest = np.arange(len(X)) != i
        model = KernelRidge(alpha=ridge, kernel="laplacian", gamma=GAMMA)
        model.fit(X[rest], targets[rest], None if weights is None else weights[rest])
        values[i] = model.predict(X[[i]])
    return values


@pytest.mark.parametrize("name", CASES)
def test_ridge_and_odds_are_those_of_rows_left_out(name):
    y, weights = CASES[name]
    known, counted = ~np.isnan(y), np.ones(len(X)) if weights is None else weights
    mean = counted @ np.nan_to_num(y) / (counted @ known)
    targets = np.where(known, y - mean, 0.0)
    unit = np.abs(X).max()
    model = LabelKernelRidge(GAMMA * unit).fit(X, y, weights)

    values = {ridge: left_out(targets, weights, ridge) for ridge in RIDGES}
    errors = {
        ridge: (counted[:, None] * known * (found - targets) ** 2).sum()
        for ridge, found in values.items()
    }
    assert model.alpha_ == min(errors, key=errors.get)
    assert RIDGES[0] < model.alpha_ < RIDGES[-1]

    regression = KernelRidge(alpha=model.alpha_, kernel="laplacian", gamma=GAMMA)
    fitted = regression.fit(X, targets, weights).predict(X)
    odds = model.decision_function(X)
    found = values[model.alpha_]
    for k in range(y.shape[1]):
        w = counted * known[:, k]
        high, low = (np.average(found[:, k], weights=w * (y[:, k] == side)) for side in (1, 0))
        within = np.average((found[:, k] - np.where(y[:, k] == 1, high, low)) ** 2, weights=w)
        share = ((w * (y[:, k] == 1)).sum() + 0.5) / (w.sum() + 1.0)
        line = logit(share) + (high - low) / within * (fitted[:, k] - (high + low) / 2.0)
        np.testing.assert_allclose(odds[:, k], line, rtol=1e-9)


def test_odds_are_those_of_a_linear_discriminant_of_the_values():
    n, ridge = len(X), 1.0
    values = left_out(Y - Y.mean(axis=0), None, ridge)
    weights, known = np.ones(n), np.ones(Y.shape, dtype=bool)
    slope, even = kernel_ridge._to_odds(values, Y == 1, known, weights)
    for k in range(Y.shape[1]):
        peer = LinearDiscriminantAnalysis(solver="lsqr").fit(values[:, [k]], Y[:, k])
        np.testing.assert_allclose(slope[k], peer.coef_[0, 0])
        intercept = logit(Y[:, k].mean()) - slope[k] * even[k]
        np.testing.assert_allclose(intercept, peer.intercept_[0], rtol=1e-9)


def test_a_sample_decides_the_ridge_of_many_rows(monkeypatch):
    rows, labels = noisy_linear_problem(2, 200, 5, 3, cut=0.3)
    monkeypatch.setattr(kernel_ridge, "_SAMPLE", 50)
    sampled = np.linspace(0, 199, 50).astype(int)
    few, gamma = LabelKernelRidge(0.3), 0.3 * np.abs(rows[sampled]).max() / np.abs(rows).max()
    few.set_params(gamma=gamma).fit(rows[sampled], labels[sampled])
    model = LabelKernelRidge(0.3).fit(rows, labels)
    assert model.alpha_ == few.alpha_
    assert model.dual_coef_.shape == (200, 3)


@pytest.mark.parametrize("n", [1, 127, 128, 129, 300])
def test_the_diagonal_of_an_inverse(n):
    A = laplacian_kernel(np.random.default_rng(0).normal(size=(n, 4))) + 0.1 * np.eye(n)
    L = A.copy()
    cholesky(L)
    np.testing.assert_allclose(diagonal_of_inverse(L), np.diag(np.linalg.inv(A)), rtol=1e-10)


def test_labels_of_one_value_have_constant_odds():
    y = np.column_stack([Y[:, 0], np.zeros(len(Y)), np.ones(len(Y))])
    odds = LabelKernelRidge().fit(X, y).decision_function(X)
    for column, expected in ((1, np.log(0.5 / 60.5)), (2, np.log(60.5 / 0.5))):
        np.testing.assert_allclose(odds[:, column], expected)


@pytest.mark.parametrize("scale", [1e-90, 1e-3, 1e100, 1e300])
def test_the_unit_of_the_features_does_not_matter(scale):
    expected = LabelKernelRidge().fit(X, Y).decision_function(X)
    found = LabelKernelRidge().fit(scale * X, Y).decision_function(scale * X)
    np.testing.assert_allclose(found, expected, rtol=1e-9)


def test_a_stack_of_few_rows_has_it(monkeypatch):
    monkeypatch.setattr("multimargin.blocks.by_name._MOST_IN_KERNEL", 120)
    rows, labels = noisy_linear_problem(0, 121, 5, 3, cut=0.3)
    options = {"kernel": "linear", "loss": "hinge", "class_weight": None, "top_k": None}
    model = LabelRankerCV([1.0], **options, random_state=0)
    assert "kernel_ridge" in model.fit(rows[:120], labels[:120]).blocks_
    assert "kernel_ridge" not in model.fit(rows, labels).blocks_
    assert model.left_out_ == {}


def test_rows_that_are_all_alike_have_the_odds_of_the_shares():
    """Values of rows left out are lower where the row has the label, which teaches nothing."""
    odds = LabelKernelRidge().fit(np.ones((60, 2)), Y).decision_function(np.ones((3, 2)))
    hits = Y.sum(axis=0)
    np.testing.assert_allclose(odds, np.tile(np.log((hits + 0.5) / (60.5 - hits)), (3, 1)))


def test_no_label_is_explained_altogether():
    """Nor do its odds grow without bound with few rows that are far apart."""
    rows = np.repeat([[0.0], [1e3]], 20, axis=0)
    odds = LabelKernelRidge().fit(rows, rows > 1.0).decision_function(rows)
    # A discriminant of 99 % has 4 / 0.01 between classes of equal size.
    assert 90.0 < np.ptp(odds) * 0.25 < 110.0


def test_a_label_alone_is_what_it_is_beside_a_copy():
    twice = LabelKernelRidge().fit(X, Y[:, [0, 0]]).decision_function(X)
    alone = LabelKernelRidge().fit(X, Y[:, [0]]).decision_function(X)
    np.testing.assert_allclose(alone, twice[:, [1]], rtol=1e-9)
