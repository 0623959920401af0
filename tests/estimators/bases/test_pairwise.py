"""What all estimators of the family have in common; the rest of Rank-SVM has a file of its own."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.metrics.pairwise import rbf_kernel

from multimargin import MLODM, RankCVM, RankHLapSVM, RankLSVM, RankSVM, RankSVMz
from tests.support.cases import case
from tests.support.problems import noisy_linear_problem
from tests.support.recorder import Recorder
from tests.support.subsets import first_fast

ESTIMATORS = [
    *(RankSVM(), RankSVM(solver="dcd")),
    RankSVM(bias="penalized", solver="frank-wolfe", tol=0.1),
    *(RankLSVM(), MLODM(), RankCVM(), RankHLapSVM(), RankSVMz()),
    RankCVM(solver="frank-wolfe", tol=0.05),
    RankHLapSVM(kernel="rbf"),
]


def name(estimator):
    return f"{type(estimator).__name__}-{estimator.solver}-{estimator.kernel}"


every_estimator = pytest.mark.parametrize("estimator", ESTIMATORS, ids=name)


@pytest.fixture
def problem():
    X, Y = noisy_linear_problem(0, 40, 5, 4, noise=0.5)
    Y[3], Y[7] = 0, 1
    return X, Y


def with_threshold(estimator, threshold):
    """A clone with that threshold, where it learns one."""
    model = clone(estimator)
    return model.set_params(threshold=threshold) if "threshold" in model.get_params() else model


def scores(estimator, X, Y, X_test=None, **parameters):
    model = clone(estimator).set_params(tol=1e-6, max_iter=10**5, random_state=0, **parameters)
    if model.solver == "frank-wolfe":
        model.set_params(tol=1e-2)
    return model.fit(X, Y).label_scores(X if X_test is None else X_test)


@every_estimator
def test_callable_and_precomputed_kernels_give_the_same_model(estimator, problem):
    X, Y = problem
    gamma = 0.2
    estimator, parameters = with_threshold(estimator, "scores"), {}
    if isinstance(estimator, RankHLapSVM):
        parameters["nu"] = 0.0  # the hyperedges' distances would be those of the kernel
    named = scores(estimator, X, Y, kernel="rbf", gamma=gamma, **parameters)
    called = scores(
        estimator, X, Y, kernel=lambda a, b: rbf_kernel(a, b, gamma=gamma), **parameters
    )
    computed = scores(estimator, rbf_kernel(X, gamma=gamma), Y, kernel="precomputed", **parameters)
    assert_allclose(called, named, atol=2e-3 * np.abs(named).max())
    assert_allclose(computed, named, atol=2e-3 * np.abs(named).max())


# Rank-CVM's published loop begins where it is published to.
@pytest.mark.parametrize(
    "estimator",
    [e for e in ESTIMATORS if not (isinstance(e, RankCVM) and e.solver == "frank-wolfe")],
    ids=name,
)
def test_warm_start_ends_at_once_at_the_solution(estimator, problem):
    X, Y = problem
    model = clone(estimator).set_params(warm_start=True, random_state=0)
    # At a gap of barely the tolerance, where chance ends a fit, an epoch may lead above it again.
    model.set_params(tol=estimator.tol / 2).fit(X, Y)
    first, objective = model.n_iter_, model.objective_
    model.set_params(tol=estimator.tol).fit(X, Y)
    # Where leaps ended the fit, the weights are theirs, and the dual matrix is an epoch behind.
    assert model.n_iter_ <= 2 < first
    assert model.objective_ == pytest.approx(objective, rel=2 * model.tol)
    model.set_params(C=1.5).fit(X, 1 - Y)  # other labels, other C: merely a start
    assert model.status_ == "converged"


@pytest.mark.parametrize(
    ("estimator", "kernel"),
    first_fast(
        [
            *((RankLSVM(), "linear"), (RankSVM(bias="penalized"), "linear"), (MLODM(), "linear")),
            *((RankSVM(), "linear"), (RankLSVM(), "rbf"), (RankHLapSVM(), "linear")),
        ],
        1,
    ),
)
def test_warm_start_ends_at_once_where_several_chains_run(estimator, kernel):
    X, Y = noisy_linear_problem(0, 1000, 20, 110, noise=1.0, cut=6.0)
    model = clone(estimator).set_params(kernel=kernel, warm_start=True, random_state=0, tol=1e-2)
    first = model.fit(X, Y).n_iter_
    assert model.fit(X, Y).n_iter_ <= 1 < first
    # A larger C is near: no farther than nothing is, but for a leap of 20 iterations.
    after = model.set_params(C=30.0).fit(X, Y).n_iter_
    assert after <= clone(model).set_params(warm_start=False).fit(X, Y).n_iter_ + 20


@every_estimator
def test_nothing_passed_in_is_changed(estimator, problem):
    X, Y = problem
    for kernel in ("linear", "rbf", "precomputed"):
        for given in [X @ X.T] if kernel == "precomputed" else [X.copy(), sparse.csr_array(X)]:
            with case(kernel, type(given)):
                check_nothing_is_changed(estimator, kernel, given, Y.copy())


def check_nothing_is_changed(estimator, kernel, X, Y):
    held = (X.data, X.indices, X.indptr, Y) if sparse.issparse(X) else (X, Y)
    before = [array.copy() for array in held]
    for array in held:
        array.flags.writeable = False
    model = with_threshold(estimator, "macro").set_params(kernel=kernel, tol=0.05)
    model.fit(X, Y)
    model.predict(X)
    model.label_scores(X)
    model.margins(X, Y)
    for array, copy in zip(held, before, strict=True):
        assert_array_equal(array, copy)


@every_estimator
@pytest.mark.parametrize("form", first_fast([sparse.csr_array, np.asarray], 1))
@pytest.mark.parametrize("kernel", first_fast(["linear", "rbf"], 1))
def test_number_of_threads_does_not_change_a_bit(estimator, kernel, form):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(600, 80))
    X[np.abs(X) < 0.7] = 0.0
    Y = (X @ rng.normal(size=(80, 4)) + rng.normal(size=(600, 4)) > 0.3).astype(int)
    model = clone(estimator).set_params(kernel=kernel, C=0.1, tol=0.1, random_state=0)
    # With its dual variables, also where the kernel is linear.
    model = with_threshold(model, "scores").set_params(warm_start=True)
    one = clone(model).fit(form(X), Y)
    for n_jobs in (2, 4):
        other = clone(model).set_params(n_jobs=n_jobs).fit(form(X), Y)
        assert_array_equal(other.dual_coef_, one.dual_coef_)
        assert_array_equal(other.label_scores(form(X)), one.label_scores(form(X)))
        assert other.objective_ == one.objective_
        assert other.dual_objective_ == one.dual_objective_


@every_estimator
def test_callbacks_are_told_of_each_epoch_and_may_end_the_fit(estimator, problem):
    pytest.importorskip("sklearn.callback", reason="scikit-learn before 1.9")
    X, Y = problem
    recorder = Recorder()
    model = clone(estimator).set_params(random_state=0).set_callbacks(recorder).fit(X, Y)
    for name in ("epoch", "seconds", "primal", "dual"):
        assert_array_equal([told[name] for told in recorder.epochs], model.history_[name])
    alone = clone(estimator).set_params(random_state=0).fit(X, Y)
    assert_array_equal(model.label_scores(X), alone.label_scores(X))
    recorder = Recorder(stop_after=1)
    model.set_params(tol=1e-9).set_callbacks(recorder).fit(X, Y)
    assert model.status_ == "interrupted"
    # Frank-Wolfe, whose iterations are short, asks every 16.
    assert model.n_iter_ <= (16 if "frank-wolfe" in model.solver else 1)
    # The records of Rank-CVM are those of a loop at a margin of 1.
    last = model.history_["primal"][-1], model.history_["dual"][-1]
    assert isinstance(model, RankCVM) or last == (model.objective_, model.dual_objective_)
    assert model.predict(X).shape == Y.shape
