"""Kernels that are not positive semidefinite: a warning, a result, and a status that says so."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from multimargin import (
    MLODM,
    MLRL,
    SSMLRL,
    EmptyRowsWarning,
    RankCVM,
    RankHLapSVM,
    RankLSVM,
    RankSVM,
)
from multimargin.estimators import RelationshipOptions
from multimargin.kernels import Kernel, nearest_positive_semidefinite
from tests.support.models import PAIRWISE
from tests.support.problems import noisy_linear_problem

ESTIMATORS = [
    *(method() for method in PAIRWISE),
    *(RankSVM(bias=bias) for bias in ("penalized", "none")),
    RankHLapSVM(lam=0.0),
    MLRL(),
    MLRL(options=RelationshipOptions(fixed_covariance=np.eye(4) / 4)),
    SSMLRL(),
]
CASES = [
    clone(estimator).set_params(kernel="precomputed", solver=solver)
    for estimator in ESTIMATORS
    for solver in getattr(estimator, "_solvers", ("splitting", "alternating"))
]


@pytest.fixture(scope="module")
def problem():
    X, Y = noisy_linear_problem(0, 30, 5, 4, noise=0.5)
    # Weights of both signs for the features: a similarity, but no inner product.
    return (X * [1.0, 1.0, 1.0, -0.5, -0.2]) @ X.T, Y


def fit(estimator, K, Y):
    model = clone(estimator)
    if "threshold" in model.get_params():
        model.set_params(threshold="scores")
    if "random_state" in model.get_params():
        model.set_params(random_state=0)
    with pytest.warns(ConvergenceWarning, match="kernel 'precomputed' is not positive semidef"):
        return model.fit(K, Y)


def test_the_nearest_matrix_and_an_expansion_over_it(problem):
    K, _ = problem
    found = nearest_positive_semidefinite(K)
    eigenvalues, vectors = np.linalg.eigh(K)
    clipped = (vectors * np.maximum(eigenvalues, 0.0)) @ vectors.T
    assert_allclose(found.matrix, clipped, atol=1e-12)
    assert_allclose(K @ found.original_expansion(np.eye(30)), found.matrix, atol=1e-12)
    assert nearest_positive_semidefinite(found.matrix) is None


def is_compared(estimator):
    """The published loops are too slow for it, and without a loss of squares so are the others."""
    smooth = isinstance(estimator, RankLSVM | RankCVM | MLODM)
    return smooth and estimator.solver in ("bcd", "dcd")


@pytest.mark.parametrize("estimator", CASES, ids=repr)
def test_the_nearest_kernel_takes_its_place(estimator, problem):
    K, Y = problem
    before = K.copy()
    if is_compared(estimator):
        estimator = clone(estimator).set_params(tol=1e-8)
    clipped = fit(estimator, K, Y)
    assert clipped.status_ == "indefinite_kernel"
    assert clipped.label_scores(K).shape == clipped.predict(K).shape == Y.shape
    np.testing.assert_array_equal(K, before)
    if not is_compared(estimator):
        return
    assert clipped.dual_gap_ <= clipped.tol
    nearest = nearest_positive_semidefinite(K).matrix
    model = clone(clipped).fit(nearest, Y)
    assert model.status_ == "converged"
    if not isinstance(estimator, RankHLapSVM):  # its hypergraph is that of the kernel as given
        scale = np.abs(model.label_scores(nearest)).max()
        assert_allclose(clipped.objective_, model.objective_, rtol=1e-6)
        assert_allclose(clipped.dual_objective_, model.dual_objective_, rtol=1e-6)
        assert_allclose(clipped.label_scores(K), model.label_scores(nearest), atol=1e-4 * scale)
    with pytest.warns(ConvergenceWarning, match="solved with the nearest matrix that is"):
        clone(clipped).fit(K, Y)


def test_a_kernel_that_is_indefinite_by_rounding_only_is_none(problem):
    _, Y = problem
    X = np.random.default_rng(1).normal(size=(30, 3))
    K = X @ X.T
    K -= 3e-9 * np.abs(np.diagonal(K)).max() * np.eye(30)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", EmptyRowsWarning)
        model = RankSVM(kernel="precomputed").fit(K, Y)
    assert model.status_ == "converged"


@pytest.mark.parametrize(
    "parameters",
    [
        {"kernel": "sigmoid", "gamma": 2.0, "coef0": -1.0},
        {"kernel": "sigmoid", "gamma": 2.0, "coef0": -1.0, "cache_size": 0.0},
        {"kernel": "poly", "gamma": 1.0, "degree": 2, "coef0": -3.0},
        {"kernel": lambda A, B: -A @ B.T + np.sum(A**2, axis=1)[:, None] * np.sum(B**2, axis=1)},
    ],
    ids=["sigmoid", "sigmoid-uncached", "poly", "callable"],
)
@pytest.mark.parametrize(
    "estimator",
    [
        RankSVM(),
        RankHLapSVM(),
        MLRL(),
        RankLSVM(),
        MLODM(solver="dcd"),
        RankCVM(solver="frank-wolfe"),
    ],
    ids=repr,
)
def test_kernels_that_are_computed(problem, estimator, parameters):
    _, Y = problem
    X = np.random.default_rng(2).normal(size=(30, 3))
    model = clone(estimator).set_params(**{"cache_size": 1.0, **parameters})
    with pytest.warns(ConvergenceWarning, match="is not positive semidefinite on the training"):
        model.fit(X, Y)
    assert model.status_ == "indefinite_kernel"
    assert model.predict(X).shape == Y.shape


def test_a_warm_start_after_a_clipped_kernel_starts_anew(problem):
    K, Y = problem
    model = fit(MLODM(kernel="precomputed", warm_start=True), K, Y)
    definite = Kernel("rbf", gamma=0.1).matrix(K)
    model.fit(definite, Y)
    fresh = MLODM(kernel="precomputed", threshold="scores", random_state=0).fit(definite, Y)
    np.testing.assert_array_equal(model.label_scores(definite), fresh.label_scores(definite))


@pytest.mark.parametrize("solver", ["splitting", "alternating"])
@pytest.mark.parametrize("lam2", [0.0, 0.01, 1.0])
def test_unlabelled_rows(problem, solver, lam2):
    K, Y = problem
    Y = Y.copy()
    Y[20:] = -1
    before = K.copy()
    model = SSMLRL(lam2=lam2, kernel="precomputed", solver=solver)
    with pytest.warns(ConvergenceWarning, match="not positive semidefinite"):
        model.fit(K, Y)
    np.testing.assert_array_equal(K, before)
    assert model.status_ == "indefinite_kernel"
    assert model.predict(K).shape == (30, 4)
    if lam2 > 0.0 and solver != "alternating":  # which stalls above the tolerance, as it may
        nearest = nearest_positive_semidefinite(K).matrix
        expected = clone(model).fit(nearest, Y)
        assert expected.status_ == "converged"
        assert_allclose(model.objective_, expected.objective_, rtol=1e-6)
        scores = expected.label_scores(nearest)
        assert_allclose(model.label_scores(K), scores, atol=1e-4 * np.abs(scores).max())
