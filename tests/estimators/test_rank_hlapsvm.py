"""RankHLapSVM by itself: hypergraph, whitening against the kernel form, many features."""

import tracemalloc
from fractions import Fraction

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from multimargin import RankHLapSVM, RankSVM, decompositions
from multimargin.estimators import rank_hlapsvm as of_rank_hlapsvm
from multimargin.estimators.hypergraph import Laplacian
from multimargin.reference import rank_hlapsvm
from tests.support.exact import exact_objective
from tests.support.problems import unrelated_problem

EACH_KERNEL = pytest.mark.parametrize(
    ("kernel", "form"),
    [
        ("linear", np.asarray),
        ("linear", sparse.csr_array),
        ("rbf", np.asarray),
        ("rbf", sparse.csr_array),
        ("precomputed", lambda X: X @ X.T),
    ],
    ids=["linear", "linear, sparse", "rbf", "rbf, sparse", "precomputed"],
)


@pytest.fixture
def problem():
    X, Y = unrelated_problem(3, 30, 4, 5)
    Y[:, 4] = 0  # a label without instances
    Y[:, 3] = 0
    Y[5, 3] = 1  # and one with a single instance
    return X, Y


@pytest.mark.parametrize("solver", ["bcd", "dcd"])
@EACH_KERNEL
def test_without_laplacian_it_is_rank_svm_bit_by_bit(problem, kernel, form, solver):
    X, Y = form(problem[0]), problem[1]
    threshold = "scores" if kernel == "precomputed" else "features"
    common = {"kernel": kernel, "solver": solver, "threshold": threshold, "random_state": 0}
    common["warm_start"] = True  # keeps the dual variables of a linear model
    ours = RankHLapSVM(lam=0.0, **common).fit(X, Y)
    theirs = RankSVM(bias="penalized", **common).fit(X, Y)
    assert_array_equal(ours.label_scores(X), theirs.label_scores(X))
    assert_array_equal(ours.predict(X), theirs.predict(X))
    assert_array_equal(ours.dual_coef_, theirs.dual_coef_)
    assert_array_equal(ours.intercept_, theirs.intercept_)
    assert ours.objective_ == theirs.objective_
    assert ours.dual_objective_ == theirs.dual_objective_
    assert ours.n_iter_ == theirs.n_iter_


def test_hyperedge_weights(problem):
    X, Y = problem
    expected = rank_hlapsvm.hyperedge_weights(X, Y, 0.3)
    model = RankHLapSVM(nu=0.3, kernel="linear").fit(X, Y)
    assert_allclose(model.hyperedge_weights_, expected, rtol=1e-12)
    assert model.hyperedge_weights_[3] == 1.0
    assert model.hyperedge_weights_[4] == 0.0
    of_kernel = RankHLapSVM(nu=0.3, kernel="precomputed", threshold=0.0).fit(X @ X.T, Y)
    assert_allclose(of_kernel.hyperedge_weights_, expected, rtol=1e-10)
    of_sparse = RankHLapSVM(nu=0.3, kernel="linear").fit(sparse.csr_array(X), Y)
    assert_allclose(of_sparse.hyperedge_weights_, expected, rtol=1e-12)


def test_on_unscaled_features_weights_underflow_unless_nu_is_scaled(problem):
    X, Y = problem
    model = RankHLapSVM(C=1e-6, nu=1.0, kernel="linear", threshold=0.0)
    assert not model.fit(1e3 * X, Y).hyperedge_weights_[:3].any()
    scaled = model.set_params(nu="scale").fit(1e3 * X, Y).hyperedge_weights_
    assert (scaled[:3] > 0.05).all()
    assert_allclose(scaled, model.fit(X, Y).hyperedge_weights_, rtol=1e-9)


@pytest.mark.parametrize("spread", [1.0, 1e-12])
def test_roughness_is_the_quadratic_form_of_the_laplacian_in_exact_arithmetic(spread):
    rng = np.random.default_rng(3)
    Y = (rng.random((9, 4)) < 0.5).astype(np.uint8)
    Y[:, 2], Y[:, 3] = np.arange(9) == 4, 0
    weights = rng.random(4)
    F = 0.5 + spread * rng.normal(size=(9, 4))
    exact_F = [[Fraction(value) for value in row] for row in F.tolist()]
    exact_weights = [Fraction(weight) for weight in weights.tolist()]
    W_c = [[sum(exact_weights[k] for k in range(4) if u[k] and v[k]) for v in Y] for u in Y]
    # trace(F^T (D_c - W_c) F), the row sums of W_c on the diagonal of D_c: eq. (4) and (5).
    expected = sum(
        W_c[i][j] * (exact_F[i][k] ** 2 - exact_F[i][k] * exact_F[j][k])
        for i in range(9)
        for j in range(9)
        for k in range(4)
    )
    before = F.copy()
    assert_allclose(Laplacian(Y.astype(float), weights).roughness(F), float(expected), rtol=1e-12)
    assert_array_equal(F, before)


@pytest.mark.parametrize("kernel", ["linear", "precomputed"])
@pytest.mark.parametrize("lam", [1e3, 1e9, 1e12])
def test_rounding_of_the_laplacian_is_no_part_of_the_objective(kernel, lam):
    X = 1e-5 * np.random.default_rng(0).normal(size=(21, 2))
    Y = np.tile(np.array([1, 0], dtype=np.uint8), (21, 1))
    given = X if kernel == "linear" else X @ X.T
    model = RankHLapSVM(lam=lam, nu=0.0, tol=1e-7, kernel=kernel, C=1e8, threshold=0.0)
    model.fit(given, Y)
    assert model.status_ == "converged"
    # The bias alone separates the labels, at a norm of (0.5, -0.5).
    assert_allclose(model.objective_, 0.25, rtol=1e-6)


def test_many_sparse_features_need_no_square_matrix_of_them():
    rng = np.random.default_rng(4)
    X = sparse.csr_array(sparse.random(60, 20_000, density=2e-3, random_state=rng))
    Y = (rng.random((60, 4)) < 0.4).astype(int)
    tracemalloc.start()
    model = RankHLapSVM(C=1.0, lam=0.25, kernel="linear", threshold="features").fit(X, Y)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 30e6  # 20000 x 20000 would be 3.2 GB
    exact = RankHLapSVM(C=1.0, lam=0.25, kernel="precomputed")
    assert model.objective_ == pytest.approx(
        exact_objective(exact, (X @ X.T).toarray(), Y), rel=2e-3
    )
    assert model.coef_.shape == (4, 20_000)


def test_few_features_need_no_square_matrix_of_instances():
    X, Y = unrelated_problem(5, 3000, 5, 3)
    tracemalloc.start()
    RankHLapSVM(kernel="linear", tol=1e-2, threshold=0.0).fit(X, Y)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 10e6  # 3000 x 3000 would be 72 MB


def test_the_gram_of_the_laplacian_keeps_its_digits_beside_constants():
    random = np.random.default_rng(0)
    Y = (random.random((12, 3)) < 0.4).astype(float)
    weights = np.array([1.0, 2.0, 0.5])
    # Entries near 1e8 that vary by 1: the two terms of the Laplacian agree in 16 digits.
    X = np.c_[1e8 + np.round(random.normal(size=(12, 4)), 3), np.ones(12)]
    W_c = (Y * weights) @ Y.T
    expected = np.zeros((5, 5))
    for i in range(12):
        for j in range(i):
            expected += W_c[i, j] * np.outer(X[i] - X[j], X[i] - X[j])
    gram = np.tril(Laplacian(Y, weights).gram(X))
    np.testing.assert_allclose(gram, np.tril(expected), atol=1e-6)
    assert not gram[-1].any()


def test_a_regulariser_beside_which_features_vanish():
    # lam Lap at 1e11, features at 1e-5 beside the appended 1, which the Laplacian does not see.
    random = np.random.default_rng(0)
    X = 1e-5 * random.normal(size=(29, 3))
    Y = np.zeros((29, 2), dtype=int)
    Y[::2, 1] = 1
    model = RankHLapSVM(
        C=1e9, lam=3e10, nu=2e9, kernel="linear", threshold=0.0, random_state=0
    ).fit(X, Y)
    assert model.status_ == "converged"
    assert 0.0 <= model.dual_gap_ <= model.tol


@pytest.mark.parametrize(("lam", "weighted"), [(1e-4, False), (1.0, True)])
@EACH_KERNEL
def test_a_part_of_the_kernel_is_certified_for_all_of_it(
    problem, monkeypatch, kernel, form, weighted, lam
):
    # What the clock decides is set here: two of four features, 14 of 30 pivots.
    monkeypatch.setattr(of_rank_hlapsvm, "_columns_in_time", lambda *of: 2)
    monkeypatch.setattr(of_rank_hlapsvm, "_rank_in_time", lambda *of: lambda rank: rank < 14)
    monkeypatch.setattr(decompositions, "_AT_ONCE", 0)
    monkeypatch.setattr(decompositions, "_PANEL", 2 if kernel == "precomputed" else 7)
    if kernel == "precomputed":
        monkeypatch.setattr(of_rank_hlapsvm, "_rank_in_time", lambda *of: lambda rank: rank < 2)
    X, Y = form(problem[0]), problem[1]
    weights = np.linspace(0.1, 2.0, 30) if weighted else None
    model = RankHLapSVM(C=1.0, lam=lam, kernel=kernel, tol=1e-4, threshold=0.0, max_time=1e6)
    with pytest.warns(ConvergenceWarning, match=r"stopped after max_time=1e\+06 s"):
        model.fit(X, Y, weights)
    assert model.status_ == "time_limit"
    best = exact_objective(model, X.toarray() if sparse.issparse(X) else X, Y, weights)
    assert 0.0 < model.dual_objective_ <= best * (1.0 + 1e-9)
    assert model.objective_ > best * (1.0 + 1e-3)
    assert model.dual_gap_ == pytest.approx(1.0 - model.dual_objective_ / model.objective_)
    assert model.history_["dual"][-1] == model.dual_objective_
    # The model is that of a kernel between its own and all: it is no worse than none.
    assert model.objective_ < exact_objective_of_no_features(model, Y, weights)


@pytest.mark.parametrize(("left", "many"), [(0.0, 0.0), (0.0, 1e9), (1.0, 0.0)])
def test_a_bound_that_takes_long_is_left_out_when_time_is_over(problem, monkeypatch, left, many):
    monkeypatch.setattr(of_rank_hlapsvm, "_rank_in_time", lambda *of: lambda rank: rank < 14)
    monkeypatch.setattr(decompositions, "_AT_ONCE", 0)
    monkeypatch.setattr(decompositions, "_PANEL", 7)
    monkeypatch.setattr(of_rank_hlapsvm, "seconds_until", lambda deadline: left)
    monkeypatch.setattr(of_rank_hlapsvm, "_MANY_OPERATIONS", many)
    model = RankHLapSVM(C=1.0, kernel="rbf", tol=1e-4, threshold=0.0, max_time=1e6)
    with pytest.warns(ConvergenceWarning, match=r"stopped after max_time=1e\+06 s"):
        model.fit(*problem[:2])
    if left == many:
        assert (model.dual_objective_, model.dual_gap_) == (0.0, 1.0)
    else:
        assert 0.0 < model.dual_objective_ < model.objective_


def exact_objective_of_no_features(model, Y, weights):
    """The objective of the zero model."""
    counts = np.ones(len(Y)) if weights is None else weights
    return model.C * counts[(Y.sum(axis=1) > 0) & (Y.sum(axis=1) < Y.shape[1])].sum()


def test_time_decides_how_much_of_the_kernel_is_factored():
    X, Y = unrelated_problem(5, 2600, 8, 3)
    model = RankHLapSVM(kernel="rbf", tol=1e-2, threshold=0.0, max_time=1e-3)
    with pytest.warns(ConvergenceWarning, match=r"stopped after max_time=0.001 s"):
        model.fit(X, Y)
    assert len(model.support_) == 128  # the pivots of one panel


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_time_decides_how_many_features_are_whitened(form):
    X, Y = unrelated_problem(5, 900, 650, 3)
    X[:, 600:] *= 1e-3
    model = RankHLapSVM(kernel="linear", tol=1e-2, threshold=0.0, max_time=1e-3)
    with pytest.warns(ConvergenceWarning, match=r"stopped after max_time=0.001 s"):
        model.fit(form(X), Y)
    used = model.coef_.any(axis=0)
    assert np.count_nonzero(used) == 41
    assert not used[600:].any()
    whole = RankHLapSVM(kernel="linear", tol=1e-2, threshold=0.0, max_time=1e6).fit(form(X), Y)
    assert whole.coef_.any(axis=0).all()
    assert model.dual_objective_ <= whole.objective_
