"""SSMLRL as an estimator."""

from fractions import Fraction
from operator import mul

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from multimargin import MLRL, SSMLRL
from multimargin.estimators import RelationshipOptions
from multimargin.estimators.ssmlrl import _reduced_by_factor, reduced_kernel


@pytest.fixture(name="data")
def fixture_data():
    random = np.random.default_rng(2)
    X = random.normal(size=(90, 5))
    W = random.normal(size=(5, 2)) @ random.normal(size=(2, 3))
    Y = (X @ W > 0.2).astype(int)
    partly = Y.copy()
    partly[random.permutation(90)[:60]] = -1
    return X, Y, partly


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_without_unlabelled_rows_it_is_mlrl(data, kernel):
    X, Y, partly = data
    expected = MLRL(0.01, kernel=kernel, gamma=0.2).fit(X, Y)
    model = SSMLRL(0.01, 0.5, kernel=kernel, gamma=0.2).fit(X, Y)
    np.testing.assert_array_equal(model.label_scores(X), expected.label_scores(X))
    labelled = partly[:, 0] >= 0
    expected = MLRL(0.01, kernel=kernel, gamma=0.2).fit(X[labelled], Y[labelled])
    model = SSMLRL(
        0.01, 0.0, kernel=kernel, gamma=0.2, options=RelationshipOptions(keep_rows=True)
    ).fit(X, partly)
    np.testing.assert_array_equal(model.label_scores(X), expected.label_scores(X))
    np.testing.assert_array_equal(model.labelled_, np.flatnonzero(labelled))


def test_every_form_of_targets_is_read(data):
    X, _, partly = data
    expected = SSMLRL(0.01, 0.05).fit(X, partly)
    frame = SSMLRL(0.01, 0.05).fit(X, pd.DataFrame(partly, columns=list("abc")))
    np.testing.assert_array_equal(frame.label_names_in_, list("abc"))
    for other in (
        frame,
        SSMLRL(0.01, 0.05).fit(X, sparse.csr_array(partly)),
        SSMLRL(0.01, 0.05).fit(X, partly.tolist()),
    ):
        np.testing.assert_array_equal(other.label_scores(X), expected.label_scores(X))
    thin = SSMLRL(0.01, 0.05, tol=1e-7).fit(sparse.csr_array(X), partly)
    dense = SSMLRL(0.01, 0.05, tol=1e-7).fit(X, partly)
    np.testing.assert_allclose(thin.objective_, dense.objective_, rtol=2e-7)


def test_one_dimensional_targets_mark_unlabelled_rows_by_minus_one(data):
    X, Y, _ = data
    y = Y[:, 0] + Y[:, 1]
    y[30:] = -1
    model = SSMLRL(0.01, 0.01).fit(X, y)
    np.testing.assert_array_equal(model.classes_, np.unique(y[:30]))
    assert set(model.predict(X)) <= set(model.classes_)
    np.testing.assert_array_equal(model.labelled_, np.arange(30))


def test_half_labelled_rows_are_refused(data):
    X, _, partly = data
    partly[7] = [-1, 0, 1]
    with pytest.raises(ValueError, match=r"mixes -1 with other values, first in row 7"):
        SSMLRL().fit(X, partly)
    with pytest.raises(ValueError, match="no labelled row"):
        SSMLRL().fit(X, np.full((90, 3), -1))


def test_a_kernel_is_definite_up_to_rounding_where_the_ridge_is_lost_beside_it():
    rng = np.random.default_rng(0)
    X = 1e6 * rng.normal(size=(12, 1))
    Y = (rng.random((12, 3)) < 0.5).astype(int)
    Y[:2] = [[1, 0, 1], [0, 1, 0]]
    Y[[3, 6, 8, 9, 10]] = -1
    K = (0.5 * X @ X.T) ** 3
    lam = 1e-3 * np.diag(K).max()
    model = SSMLRL(lam1=lam, lam2=lam, kernel="precomputed", tol=1e-5, max_iter=5000).fit(K, Y)
    assert model.status_ == "converged"
    # One feature, which lam2 forbids as the unlabelled rows have it: only the biases are left.
    share = Y[Y[:, 0] >= 0].mean(axis=0)
    expected = 2.0 * np.minimum(share, 1.0 - share).sum()
    np.testing.assert_allclose(model.objective_, expected, rtol=2e-5)


@pytest.mark.parametrize("c", [1e-3, 1.0])
def test_the_factored_form_of_the_reduced_kernel_is_its_definition(c):
    G = np.random.default_rng(1).normal(size=(12, 12))
    K = G @ G.T
    labelled, unlabelled = np.arange(7), np.arange(7, 12)
    inverse = np.linalg.inv(c * np.eye(5) + K[7:, 7:])
    reduced, influence = _reduced_by_factor(K, labelled, unlabelled, c)
    np.testing.assert_allclose(reduced, K[:7, :7] - K[:7, 7:] @ inverse @ K[7:, :7], atol=1e-10)
    np.testing.assert_allclose(influence, -inverse @ K[7:, :7], atol=1e-10)


def test_the_reduced_kernel_keeps_its_digits_at_any_scale():
    # One unlabelled row, so that (22) is k_ij - k_iu k_uj / (c + k_uu), here in fractions.
    random = np.random.default_rng(0)
    X = np.round(1e7 * random.normal(size=(6, 4)))
    rows = [[Fraction(int(value)) for value in row] for row in X]
    exact = [[sum(map(mul, a, b)) for b in rows] for a in rows]
    K = np.array(exact, dtype=float)
    c = 0.0625
    expected = np.zeros((5, 5))
    for i, j in np.ndindex(5, 5):
        expected[i, j] = exact[i][j] - exact[i][5] * exact[5][j] / (Fraction(c) + exact[5][5])
    for reduce in (reduced_kernel, _reduced_by_factor):
        reduced, influence = reduce(K, np.arange(5), np.array([5]), c)
        np.testing.assert_allclose(reduced, expected, atol=1e-13 * K.max())
        np.testing.assert_allclose(influence, -K[5:, :5] / (c + K[5, 5]), rtol=1e-12)
