"""Decompositions are those of LAPACK, and Ctrl-C is answered during them."""

import signal
import threading
import warnings

import joblib
import numpy as np
import pytest
import sklearn
from joblib import Parallel
from scipy import linalg

from multimargin import LLSF, SSMLRL, RankHLapSVM, decompositions
from multimargin.decompositions import aside, cholesky, divide, pivoted_cholesky, triangle
from multimargin.thresholds import ScoresThreshold


def semidefinite(n, rank, seed=0):
    """A matrix of that rank whose rows are of unlike lengths."""
    factor = np.random.default_rng(seed).normal(size=(n, rank))
    factor *= np.geomspace(0.1, 10.0, n)[np.random.default_rng(seed + 1).permutation(n), None]
    return factor @ factor.T


@pytest.fixture
def small_panels(monkeypatch):
    """Panels of a few columns, so that small matrices have several."""
    monkeypatch.setattr(decompositions, "_PANEL", 7)
    monkeypatch.setattr(decompositions, "_AT_ONCE", 0)
    monkeypatch.setattr(decompositions, "_SMALL", 0)


@pytest.mark.parametrize("n", [1, 6, 7, 8, 40])
def test_a_factor_of_panels_is_that_of_lapack(n, small_panels):
    A = semidefinite(n, n + 3) + np.eye(n)
    L = A.copy()
    cholesky(L)
    np.testing.assert_allclose(np.tril(L), linalg.cholesky(A, lower=True), rtol=1e-9)
    X = np.random.default_rng(2).normal(size=(5, n))
    for transposed, factor in ((False, np.tril(L).T), (True, np.tril(L))):
        quotient = X.copy()
        divide(quotient, L, transposed=transposed)
        np.testing.assert_allclose(quotient @ factor, X, atol=1e-9)


def test_rows_are_divided_some_at_a_time(monkeypatch):
    monkeypatch.setattr(decompositions, "_OPERATIONS", 200.0)
    L = np.tril(semidefinite(9, 9)) + np.eye(9)
    X = np.random.default_rng(2).normal(size=(7, 9))
    quotient = X.copy()
    divide(quotient, L)
    np.testing.assert_allclose(quotient @ L.T, X, rtol=1e-6)


def test_a_matrix_with_a_negative_eigenvalue_has_no_factor(small_panels):
    A = np.eye(30)
    A[20, 20] = -1.0
    with pytest.raises(np.linalg.LinAlgError):
        cholesky(A)


@pytest.mark.parametrize(("n", "rank"), [(1, 1), (8, 8), (30, 30), (30, 7), (30, 14), (40, 11)])
def test_a_pivoted_factor_is_that_of_lapack(n, rank, small_panels):
    A = semidefinite(n, rank)
    L, order, rest = pivoted_cholesky(A.copy())
    assert (L.shape, rest) == ((n, rank), None)
    pivots = order[:rank]
    np.testing.assert_allclose(L @ L.T, A, atol=1e-13 * np.abs(A).max())
    assert not np.triu(L[pivots], 1).any()
    _, expected, found, _ = linalg.lapack.dpstrf(A)
    assert found == rank
    np.testing.assert_array_equal(pivots, expected[:rank] - 1)


def test_a_pivoted_factor_that_is_left_early_has_what_it_lacks(small_panels):
    A = semidefinite(30, 30)
    L, order, rest = pivoted_cholesky(A.copy(), lambda rank: rank < 14)
    assert L.shape == (30, 14)
    assert not np.triu(L[order[:14]], 1).any()
    lacking = np.zeros_like(A)
    others = order[14:]
    lacking[np.ix_(others, others)] = np.triu(rest) + np.triu(rest, 1).T
    np.testing.assert_allclose(L @ L.T + lacking, A, atol=1e-13 * np.abs(A).max())


def test_a_matrix_of_zeros_has_a_factor_without_columns(small_panels):
    L, _, rest = pivoted_cholesky(np.zeros((3, 3)))
    assert (L.shape, rest) == ((3, 0), None)


def test_the_least_squares_of_a_triangle_are_those_of_the_rows():
    random = np.random.default_rng(0)
    A, b = random.normal(size=(50, 6)), random.normal(size=50)
    R = triangle(A, b)
    assert R.shape == (7, 7)
    expected = np.linalg.lstsq(A, b)[0]
    np.testing.assert_allclose(np.linalg.lstsq(R[:, :-1], R[:, -1])[0], expected, rtol=1e-12)


def test_a_threshold_of_many_scores_is_that_of_few_at_a_time(monkeypatch):
    random = np.random.default_rng(0)
    scores, Y = random.normal(size=(300, 5)), random.random((300, 5)) < 0.4
    scores[:, 4] = scores[:, 3]
    whole = ScoresThreshold().fit(scores, Y.astype(int))
    monkeypatch.setattr(decompositions, "_OPERATIONS", 100.0)
    some = ScoresThreshold().fit(scores, Y.astype(int))
    np.testing.assert_allclose(some.coef_, whole.coef_, rtol=1e-9)
    assert abs(some.intercept_ - whole.intercept_) < 1e-9


def test_a_result_or_an_error_comes_from_aside(small_panels):
    A = semidefinite(9, 9)
    np.testing.assert_array_equal(aside(np.linalg.eigvalsh, A), np.linalg.eigvalsh(A))
    with pytest.raises(np.linalg.LinAlgError):
        aside(np.linalg.inv, np.zeros((3, 3)))


def test_what_runs_aside_has_the_caller_s_context_and_its_warnings_reach_it(small_panels):
    def work(matrix):
        warnings.warn("told", UserWarning, stacklevel=1)
        return matrix / 0.0

    with (
        np.errstate(divide="raise"),
        pytest.warns(UserWarning, match="told"),
        pytest.raises(FloatingPointError),
    ):
        aside(work, np.eye(3))


@pytest.mark.parametrize("chosen", [{}, {"n_jobs": 2}, {"backend": "threading", "n_jobs": 3}])
def test_what_runs_aside_has_the_settings_of_libraries_that_the_caller_has(small_panels, chosen):
    def settings(matrix):
        threads = Parallel(prefer="threads")
        return (
            sklearn.get_config(),
            threads.n_jobs,
            type(threads._backend),
            type(Parallel()._backend),
        )

    with joblib.parallel_config(**chosen), sklearn.config_context(assume_finite=True):
        assert aside(settings, np.eye(3)) == settings(None)


def test_where_no_thread_can_start_the_caller_works(small_panels, monkeypatch):
    def refuse(self):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refuse)
    A = semidefinite(9, 9)
    np.testing.assert_array_equal(aside(np.linalg.eigvalsh, A), np.linalg.eigvalsh(A))


def test_ctrl_c_does_not_wait_for_what_runs_aside(small_panels):
    ends, begun = threading.Event(), threading.Event()

    def work(matrix):
        begun.set()
        ends.wait(60)
        return matrix

    def press():
        begun.wait(60)
        signal.raise_signal(signal.SIGINT)

    threading.Thread(target=press).start()
    try:
        with pytest.raises(KeyboardInterrupt):
            aside(work, np.eye(3))
        assert not ends.is_set()
    finally:
        ends.set()


@pytest.mark.parametrize(
    "model",
    [
        RankHLapSVM(),
        RankHLapSVM(kernel="linear", lam=1.0),
        SSMLRL(),
        LLSF(solver="admm"),
    ],
    ids=repr,
)
def test_ctrl_c_during_a_decomposition_ends_a_fit_before_its_loop(model, small_panels, monkeypatch):
    random = np.random.default_rng(0)
    X = random.normal(size=(60, 20))
    Y = (random.random((60, 4)) < 0.4).astype(float)
    if isinstance(model, SSMLRL):
        Y[40:] = -1.0
    pressed = []

    def press(*arguments, **options):
        pressed.append(True)
        signal.raise_signal(signal.SIGINT)

    for name in ("cholesky", "eigh"):
        of = linalg if name == "cholesky" else np.linalg
        monkeypatch.setattr(of, name, press)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, Y)
    assert pressed == [True]
    assert not hasattr(model, "status_")
