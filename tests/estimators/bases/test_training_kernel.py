"""When the matrix of a kernel is stored, and what is said of its definiteness."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.metrics.pairwise import linear_kernel, sigmoid_kernel

from multimargin.estimators.bases.training_kernel import TrainingKernel
from multimargin.kernels import make_kernel

X = np.random.default_rng(0).normal(size=(30, 4))
# 30 x 30 numbers.
FITS, TOO_SMALL = 0.0072, 0.0071


def of(kernel, features=X, cache_size=FITS, **options):
    parameters = {"gamma": 1.0, "degree": 3, "coef0": options.pop("coef0", 0.0)}
    made = make_kernel(kernel, features, **parameters)
    return TrainingKernel(features, made, cache_size=cache_size, threads=1, **options)


def similarity(A, B):
    return (A * [1.0, 1.0, 1.0, -0.5]) @ B.T


@pytest.mark.parametrize(
    ("kernel", "coef0", "cache_size", "stored", "indefinite", "certain"),
    [
        ("linear", 0.0, FITS, False, False, True),
        ("rbf", 0.0, FITS, False, False, True),
        ("laplacian", 0.0, FITS, False, False, True),
        ("poly", 1.0, FITS, False, False, True),
        ("poly", -1.0, FITS, True, True, True),
        ("sigmoid", 0.0, FITS, True, True, True),
        ("sigmoid", 0.0, TOO_SMALL, False, True, False),
        (linear_kernel, 0.0, TOO_SMALL, True, False, True),
        (similarity, 0.0, TOO_SMALL, True, True, True),
    ],
)
def test_policy(kernel, coef0, cache_size, stored, indefinite, certain):
    found = of(kernel, coef0=coef0, cache_size=cache_size)
    assert (found.matrix is not None) == stored
    assert found.indefinite == indefinite
    assert found.certain == certain
    assert found.features is (found.matrix if stored else X)
    assert (found.of_features.name == "precomputed") == stored


def test_a_solver_that_needs_it_gets_the_matrix():
    assert of("linear").matrix is None
    found = of("linear", needed=True, cache_size=0.0)
    assert_allclose(found.matrix, X @ X.T)
    assert not found.indefinite


def test_a_given_matrix_is_that_of_the_solver():
    K = X @ X.T
    assert of("precomputed", K).matrix is K
    assert of("rbf", matrix=K).matrix is K
    with pytest.raises(ValueError, match="X is not symmetric"):
        of("precomputed", K + np.triu(np.ones((30, 30))))


def test_the_expansion_is_over_the_kernel_itself():
    found = of("sigmoid")
    K = sigmoid_kernel(X, gamma=1.0, coef0=0.0)
    assert_allclose(found.matrix, K, rtol=1e-12)
    A = np.random.default_rng(1).normal(size=(30, 2))
    assert found.original_expansion(A) is A
    found.make_definite()
    assert found.solved_nearest
    assert np.linalg.eigvalsh(found.matrix)[0] >= -1e-12
    assert_allclose(K @ found.original_expansion(A), found.matrix @ A, atol=1e-10)
    definite = of("poly", coef0=1.0, needed=True)
    definite.make_definite()
    assert not definite.solved_nearest
