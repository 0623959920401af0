"""Plain Rank-HLapSVM: the hypergraph, primal against dual, the published loop."""

import numpy as np
import pytest

from multimargin.reference import rank_hlapsvm
from tests.support.problems import unrelated_problem


def small_problem(seed, n=12, d=3, q=4, nu=0.2):
    X, H = unrelated_problem(seed, n, d, q, share=0.45)
    L = rank_hlapsvm.laplacian(H, rank_hlapsvm.hyperedge_weights(X, H, nu))
    return rank_hlapsvm.append_1(X), H, L


def test_hyperedge_weights_of_a_case_done_by_hand():
    X = np.array([[0.0], [1.0], [3.0]])
    H = np.array([[1, 1, 0, 0], [1, 0, 0, 1], [1, 0, 0, 1]])
    # Label 0: distances 1, 4, 9 between unordered pairs, each counted twice over 3 * 2.
    expected = np.exp(-0.1 * np.array([28 / 6, 0.0, np.inf, 4.0]))
    weights = rank_hlapsvm.hyperedge_weights(X, H, 0.1)
    np.testing.assert_allclose(weights, expected, rtol=1e-13)


def test_laplacian_is_the_weighted_sum_over_edges():
    _, H, _ = small_problem(0)
    w = np.array([0.5, 1.0, 0.25, 2.0])
    L = rank_hlapsvm.laplacian(H, w)
    F = np.random.default_rng(1).normal(size=(len(H), 3))
    total = 0.0
    for e in range(4):
        rows = np.flatnonzero(H[:, e])
        for u in rows:
            for v in rows:
                total += 0.5 * w[e] * ((F[u] - F[v]) ** 2).sum()
    assert np.trace(F.T @ L @ F) == pytest.approx(total, rel=1e-12)
    np.testing.assert_allclose(L.sum(axis=1), 0.0, atol=1e-12)


def test_the_normalised_laplacian_is_that_of_7():
    _, H, _ = small_problem(0)
    H[3] = 0  # no hyperedge
    w = np.array([0.5, 1.0, 0.25, 2.0])
    L, normalised = rank_hlapsvm.laplacian(H, w), rank_hlapsvm.normalized_laplacian(H, w)
    degrees = ((H * w) @ H.T).sum(axis=1)
    roots = np.sqrt(degrees)
    inside = np.flatnonzero(degrees > 0)
    expected = np.diag(1 / roots[inside]) @ L[np.ix_(inside, inside)] @ np.diag(1 / roots[inside])
    np.testing.assert_allclose(normalised[np.ix_(inside, inside)], expected, atol=1e-12)  # (7)
    assert not normalised[3].any()
    np.testing.assert_allclose(normalised @ roots, 0.0, atol=1e-12)
    eigenvalues = np.linalg.eigvalsh(normalised)
    assert eigenvalues[0] >= -1e-12
    assert eigenvalues[-1] <= 1 + 1e-12  # W_c is positive semidefinite


def test_both_forms_of_equation_27_agree():
    X, _, L = small_problem(2)
    A = rank_hlapsvm.kernel_27(X @ X.T, 0.7, L)
    inner = np.eye(X.shape[1]) + 0.7 * X.T @ L @ X
    np.testing.assert_allclose(A, X @ np.linalg.inv(inner) @ X.T, atol=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_primal_and_dual_agree(seed):
    X, H, L = small_problem(seed)
    K, C, lam = X @ X.T, 2.0, 0.5
    value, W = rank_hlapsvm.problem_10(X, H, C, lam, L)
    A = rank_hlapsvm.kernel_27(K, lam, L)
    minus, alpha = rank_hlapsvm.problem_17(A, H, C)
    assert value == pytest.approx(-minus, rel=1e-7)
    assert rank_hlapsvm.objective_17(A, H, alpha) == pytest.approx(minus, rel=1e-7)
    beta = rank_hlapsvm.proxy(alpha, H)
    np.testing.assert_allclose(rank_hlapsvm.weights(X, beta, lam, L), W, atol=1e-4)
    by_kernel = K @ rank_hlapsvm.expansion(K, beta, lam, L)
    np.testing.assert_allclose(by_kernel, X @ W, atol=1e-4)


@pytest.mark.parametrize("lam", [0.0, 0.5])
def test_published_loop_reaches_the_optimum_one_exact_step_after_another(lam):
    X, H, L = small_problem(5)
    A = rank_hlapsvm.kernel_27(X @ X.T, lam, L)
    value, W = rank_hlapsvm.problem_10(X, H, 2.0, lam, L)
    found, iterates = rank_hlapsvm.algorithm_1(X, H, 2.0, lam, L, epsilon=1e-9, passes=5000)
    values = [rank_hlapsvm.objective_17(A, H, alpha) for alpha in iterates]
    assert (np.diff(values) <= 1e-12).all()
    assert values[-1] == pytest.approx(-value, rel=1e-7)
    np.testing.assert_allclose(found, W, atol=1e-4)
    assert np.linalg.norm(iterates[-1] - iterates[-2]) < 1e-9
    # Each step minimises over its variable.
    i, p, q = rank_hlapsvm.pairs(H)
    t = np.zeros((H.shape[1], len(i)))
    t[p, np.arange(len(i))], t[q, np.arange(len(i))] = 1, -1
    Q, alpha = (t.T @ t) * A[np.ix_(i, i)], np.zeros(len(i))
    for iterate in iterates[:3]:
        for s in range(len(i)):
            best = alpha[s] - (Q[s] @ alpha - 1) / Q[s, s]
            alpha[s] = np.clip(best, 0, rank_hlapsvm.upper_bounds(H, 2.0)[s])
        np.testing.assert_allclose(iterate, alpha, atol=1e-12)


def test_sizes_of_label_sets_are_learned():
    F = np.array([[3.0, 1.0, 2.0], [0.0, 1.0, 4.0]])
    H = np.array([[1, 0, 0], [1, 0, 1]])
    np.testing.assert_allclose(rank_hlapsvm.thresholds(F, H), [(3 + 2) / 2, (0 + 1) / 2])
    np.testing.assert_array_equal(rank_hlapsvm.predict(F, np.array([2.5, 1.0])), F > [[2.5], [1.0]])
    with pytest.raises(ValueError, match="H has no 1 or no 0 in row 1; expected both"):
        rank_hlapsvm.thresholds(F, np.array([[1, 0, 0], [0, 0, 0]]))
    X, H, _ = small_problem(7, n=40)
    F = np.column_stack([X[:, 0], X[:, 1], X[:, 2], X[:, 0] + X[:, 1]])
    H[0], H[1] = 0, 1  # rows of one kind have no such middle
    h = rank_hlapsvm.regression(X, F, H).predict(X)
    both = H.any(axis=1) & (1 - H).any(axis=1)
    target = rank_hlapsvm.thresholds(F[both], H[both])
    assert np.abs(h[both] - target).sum() < np.abs(np.median(target) - target).sum()
