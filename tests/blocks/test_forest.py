"""LabelForest: the trees are scikit-learn's, kept as arrays."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.ensemble import ExtraTreesRegressor

from multimargin.blocks import LabelForest
from multimargin.checks.parameters import seed_of
from tests.support.problems import noisy_linear_problem

X, Y = noisy_linear_problem(0, 160, 6, 5, cut=0.5)
X_test = noisy_linear_problem(1, 300, 6, 5)[0]


@pytest.mark.parametrize("stored", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("leaf", [1, 4])
def test_it_answers_as_the_trees_of_scikit_learn(stored, leaf):
    weights = np.random.default_rng(0).integers(0, 4, size=len(X)).astype(float)
    for given in (None, weights):
        forest = LabelForest(20, min_samples_leaf=leaf, random_state=3).fit(stored(X), Y, given)
        peer = ExtraTreesRegressor(
            20, min_samples_leaf=leaf, max_features="sqrt", random_state=seed_of(3)
        ).fit(stored(X), Y, given)
        assert_allclose(forest.predict_proba(stored(X_test)), peer.predict(X_test), atol=5e-4)
    assert_array_equal(forest.predict(X_test), forest.predict_proba(X_test) > 0.5)


def test_trees_on_projections_keep_the_shares_of_the_labels():
    forest = LabelForest(10, min_samples_leaf=3, n_projections=2, random_state=0).fit(X, Y)
    rng = np.random.RandomState(seed_of(0))
    targets = Y @ rng.normal(size=(Y.shape[1], 2))
    peer = ExtraTreesRegressor(10, min_samples_leaf=3, max_features="sqrt", random_state=seed_of(0))
    leaves = peer.fit(X, targets).apply(np.vstack([X, X_test]))
    expected = np.zeros((len(X_test), Y.shape[1]))
    for column in leaves.T:
        train, test = column[: len(X)], column[len(X) :]
        expected += [Y[train == leaf].mean(axis=0) for leaf in test]
    assert_allclose(forest.predict_proba(X_test), expected / 10, atol=5e-4)


def test_copies_and_labels_of_one_value():
    y = np.column_stack([Y, np.zeros(len(Y), int), np.ones(len(Y), int)])
    forest = LabelForest(5, random_state=0).fit(X, y)
    p = forest.predict_proba(X_test)
    assert_array_equal(p[:, 5], 0.0)
    assert_allclose(p[:, 6], 1.0)
    assert_array_equal(pickle.loads(pickle.dumps(forest)).predict_proba(X_test), p)


def test_trees_that_are_one_leaf_stand_beside_others():
    """Few random thresholds leave five of twelve rows on either side."""
    rng = np.random.default_rng(0)
    rows, y = rng.normal(size=(12, 1)), rng.integers(0, 2, size=(12, 4))
    forest = LabelForest(60, min_samples_leaf=5, random_state=0).fit(rows, y)
    assert 0 < np.sum(forest.roots_ < 0) < 60
    peer = ExtraTreesRegressor(60, min_samples_leaf=5, random_state=seed_of(0)).fit(rows, y)
    assert_allclose(forest.predict_proba(rows), peer.predict(rows), atol=5e-4)
    constant = LabelForest(3, random_state=0).fit(np.ones((12, 2)), y)
    assert constant.feature_.size == 0
    assert_allclose(constant.predict_proba(np.zeros((2, 2))), [y.mean(axis=0)] * 2, atol=5e-4)
    assert_array_equal(constant.leaf_shares(), np.tile(constant.leaf_shares()[:1], (3, 1)))


@pytest.mark.parametrize("stored", [np.asarray, sparse.csr_array])
def test_the_unit_of_a_column_does_not_matter(stored):
    # Trees of scikit-learn take numbers that differ by less than 1e-7 for equal.
    units = 2.0 ** np.array([-900, -130, -30, 0, 130, 900])
    expected = LabelForest(10, random_state=0).fit(X, Y).predict_proba(X_test)
    forest = LabelForest(10, random_state=0).fit(stored(X * units), Y)
    assert_array_equal(forest.predict_proba(stored(X_test * units)), expected)
    # A new row beyond single precision is on the side of large numbers.
    far, farther = (np.where(X_test > 0, factor * X_test, X_test) for factor in (1e30, 1e60))
    forest = LabelForest(10, random_state=0).fit(stored(X), Y)
    assert_array_equal(forest.predict_proba(stored(farther)), forest.predict_proba(stored(far)))
