"""Kernels of more than 2,048 rows, whose matrix is in single precision: certified in double."""

import numpy as np
import pytest
from sklearn.metrics.pairwise import rbf_kernel

from multimargin import RankSVM
from tests.support import certificates
from tests.support.models import expansion_matrix

ROWS, C = 2060, 5.0


@pytest.fixture(scope="module")
def problem():
    random = np.random.default_rng(0)
    X = random.normal(size=(ROWS, 4))
    scores = X[:, :3] + random.normal(size=(ROWS, 3))
    Y = (scores > 0.6).astype(int)
    Y[Y.sum(axis=1) == 0, 0] = 1
    return X, Y


@pytest.mark.parametrize(("bias", "precomputed"), [("free", True), ("penalized", False)])
def test_the_certificate_is_that_of_the_kernel_in_double_precision(problem, bias, precomputed):
    X, Y = problem
    K = rbf_kernel(X, gamma=0.5)
    kernel = {"kernel": "precomputed"} if precomputed else {"kernel": "rbf", "gamma": 0.5}
    model = RankSVM(C=C, bias=bias, tol=1e-3, random_state=0, **kernel)
    given = K.copy() if precomputed else X
    model.fit(given, Y)
    assert model.status_ == "converged"
    assert not precomputed or np.array_equal(given, K)
    B, b = expansion_matrix(model, ROWS), model.intercept_
    assert certificates.dual_infeasibility(Y[::20], C, B[::20], "none") <= 1e-9
    assert bias != "free" or np.abs(B.sum(axis=0)).max() <= 1e-9
    bound = certificates.dual_objective(K, Y, B, bias)
    F = K @ B
    objective = 0.5 * np.sum(B * F) + (bias == "penalized") * b @ b / 2
    objective += certificates.pairwise_loss(F + b, Y, C)
    assert model.objective_ == pytest.approx(objective, rel=1e-11)
    assert model.dual_objective_ == pytest.approx(bound, rel=1e-9)
    assert bound <= objective <= bound * (1 + 1.001e-3)
    again = RankSVM(C=C, bias=bias, tol=1e-3, random_state=0, n_jobs=2, **kernel).fit(given, Y)
    assert np.array_equal(again.dual_coef_, model.dual_coef_)


def test_a_tight_tolerance_agrees(problem):
    X, Y = problem
    rough, fine = (
        RankSVM(C=C, gamma=0.5, bias="penalized", tol=tol, random_state=0).fit(X, Y)
        for tol in (1e-4, 1e-6)
    )
    assert fine.objective_ * (1 - 1e-6) <= rough.objective_ <= fine.objective_ * (1 + 1e-4)
