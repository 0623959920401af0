"""A fit goes on from the one before with new rows at the end."""

import numpy as np
import pytest
from sklearn.base import clone

from multimargin import MLODM, RankCVM, RankHLapSVM, RankLSVM, RankSVM, RankSVMz
from tests.support.problems import noisy_linear_problem

X, Y = noisy_linear_problem(5, 240, 6, 5, cut=0.8)
ESTIMATORS = [
    RankSVM(),
    RankSVM(pair_weights="uniform", C=300.0),
    RankSVM(class_weight="balanced", top_k=2),
    RankSVM(bias="none"),
    RankLSVM(),
    RankCVM(),
    MLODM(),
    RankSVMz(),
    RankHLapSVM(),
]


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda one: type(one).__name__)
def test_new_rows_reach_the_optimum_of_all_sooner(estimator, kernel):
    width = {"gamma": 0.2} if kernel == "rbf" else {}
    fresh = clone(estimator).set_params(
        kernel=kernel, random_state=0, warm_start=True, max_iter=10_000, **width
    )
    grown = clone(fresh).fit(X[:-4], Y[:-4]).fit(X, Y)
    fresh.fit(X, Y)
    assert grown.status_ == fresh.status_ == "converged"
    np.testing.assert_allclose(grown.objective_, fresh.objective_, rtol=2e-3)
    # A leap counts for 20 epochs, whichever of the first ones it follows.
    first = 3 if kernel == "linear" else 0
    assert grown.n_iter_ <= fresh.n_iter_ + first


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda one: type(one).__name__)
def test_other_rows_before_do_no_harm(estimator):
    fresh = clone(estimator).set_params(tol=1e-5, random_state=0, warm_start=True)
    order = np.random.default_rng(0).permutation(len(Y))
    found = clone(fresh).fit(X[order[:200]], Y[order[:200]]).fit(X, Y)
    np.testing.assert_allclose(found.objective_, fresh.fit(X, Y).objective_, rtol=2e-5)


def test_fewer_rows_and_other_labels_start_anew():
    model = RankSVM(kernel="linear", random_state=0, warm_start=True)
    few = clone(model).fit(X[:100], Y[:100])
    model.fit(X, Y).fit(X[:100], Y[:100])
    np.testing.assert_array_equal(model.coef_, few.coef_)
    more = np.column_stack([Y, 1 - Y[:, 0]])
    anew = clone(model).fit(X, more)
    np.testing.assert_array_equal(model.fit(X, Y).fit(X, more).coef_, anew.coef_)
