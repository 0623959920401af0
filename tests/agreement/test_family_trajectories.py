"""The compiled loops of the family make the steps of the plain ones, from the same start."""

from itertools import product
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.metrics.pairwise import pairwise_kernels
from sklearn.preprocessing import normalize

from multimargin import _rust
from multimargin.reference import mlodm, rank_cvm, rank_hlapsvm, rank_lsvm, rank_svm
from tests.support.cases import case
from tests.support.problems import noisy_linear_problem, unrelated_problem

EPOCHS = 6


def problem(seed, n=15, d=5, q=5):
    X, Y = noisy_linear_problem(seed, n, d, q, cut=0.5)
    Y[3], Y[4] = 0, 1
    return X, Y


def run(K, Y, **options):
    """One solve on a stored kernel, instances in their order, without any heuristic."""
    found = _rust.solve_pairwise(
        np.ascontiguousarray(Y, dtype=np.uint8),
        np.ascontiguousarray(K),
        kernel_name="precomputed",
        tolerance=1e-15,
        shuffle=False,
        without=["shrinking", "passes", "deflation", "leaps"],
        **{"chains": 1} | options,
    )
    return SimpleNamespace(**found)


@pytest.mark.parametrize("block_size", [1, 4, 0])
@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_rank_lsvm_one_pair_at_a_time(kernel, block_size):
    X, Y = problem(0)
    K = pairwise_kernels(X, metric=kernel)
    plain = rank_lsvm.coordinate_descent(K, Y, 2.0, EPOCHS)
    model = {"c": 2.0, "loss": "squared_hinge", "bias": "penalized", "solver": "dcd"}
    for epoch, alpha in enumerate(plain, start=1):
        found = run(K, Y, **model, block_size=block_size, max_epochs=epoch)
        np.testing.assert_allclose(found.dual, rank_svm.proxy(alpha, Y), rtol=0, atol=1e-10)
        dual = found.history["dual"]
    assert len(plain) == len(dual) == EPOCHS


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_rank_cvm_one_pair_an_iteration(kernel):
    arguments = {"kernel_name": "precomputed", "gamma": 1.0, "degree": 3, "coef0": 0.0}
    arguments |= {"c": 2.0, "absolute": True, "cache_bytes": 0, "callback": None}
    for seed, epochs in product(range(3), (1, 2, 4)):
        X, Y = unrelated_problem(seed, 25, 4, 5)
        K = pairwise_kernels(X, metric=kernel)
        # Each epoch is as many iterations as there are pairs.
        beta, plain = rank_cvm.frank_wolfe(K, Y, 2.0, epsilon=0.0, M=epochs)
        end = {"tolerance": 1e-300, "max_epochs": epochs}
        found = SimpleNamespace(**_rust.solve_simplex(Y.astype(np.uint8), K, **arguments, **end))
        with case(seed, epochs):
            assert found.n_iter == len(plain)
            np.testing.assert_allclose(found.dual, beta, rtol=0, atol=1e-11)
            np.testing.assert_allclose(found.primal, plain[-1][2], rtol=1e-9)
    # Both stop at the same iteration.
    beta, plain = rank_cvm.frank_wolfe(K, Y, 2.0, epsilon=0.02)
    end = {"tolerance": 0.02, "max_epochs": 50}
    found = SimpleNamespace(**_rust.solve_simplex(Y.astype(np.uint8), K, **arguments, **end))
    assert (found.status, found.n_iter) == ("converged", len(plain))
    scores = rank_cvm.scores(K, beta)
    np.testing.assert_allclose(found.scores + found.bias, scores, atol=1e-12)


@pytest.mark.parametrize("lam", [0.0, 0.5])
def test_rank_hlapsvm_one_pair_at_a_time(lam):
    X, Y = problem(1)
    L = rank_hlapsvm.laplacian(Y, rank_hlapsvm.hyperedge_weights(X, Y, 0.1))
    X1 = rank_hlapsvm.append_1(X)
    _, plain = rank_hlapsvm.algorithm_1(X1, Y, 2.0, lam, L, epsilon=0.0, passes=EPOCHS)
    A = rank_hlapsvm.kernel_27(X1 @ X1.T, lam, L)
    model = {"c": 2.0, "loss": "hinge", "bias": "none", "solver": "dcd"}
    for epoch, alpha in enumerate(plain, start=1):
        found = run((A + A.T) / 2, Y, **model, max_epochs=epoch)
        F = X1 @ rank_hlapsvm.weights(X1, rank_hlapsvm.proxy(alpha, Y), lam, L)
        np.testing.assert_allclose(found.scores, F, rtol=0, atol=1e-9)
    assert len(plain) == EPOCHS


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_mlodm_one_instance_at_a_time(kernel):
    """Algorithm 1: an instance's sub-problem has one solution, whoever finds it."""
    X, Y = problem(2)
    K = pairwise_kernels(X, metric=kernel)
    theta, mu = 0.2, 0.4
    *_, plain = mlodm.algorithm_1(K, Y, 2.0, theta, mu, epochs=EPOCHS, tol=1e-12, updates=20_000)
    model = {"c": 2.0, "loss": "optimal_margin", "theta": theta, "mu": mu, "bias": "none"}
    found = run(K, Y, **model, solver="bcd", max_epochs=EPOCHS)
    assert len(plain) == EPOCHS
    np.testing.assert_allclose(found.history["dual"], np.negative(plain), rtol=1e-7)


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_mlodm_by_multiplicative_updates(kernel):
    """Algorithms 1 and 2, update by update: where they stop, too, far from a block's solution."""
    X, Y = problem(2)
    K = pairwise_kernels(X, metric=kernel)
    theta, mu = 0.2, 0.4
    model = {"c": 2.0, "loss": "optimal_margin", "theta": theta, "mu": mu, "bias": "none"}
    for epochs in range(1, EPOCHS + 1):
        alpha, beta, plain = mlodm.algorithm_1(K, Y, 2.0, theta, mu, epochs=epochs, tol=1e-8)
        found = run(K, Y, **model, solver="multiplicative", max_epochs=epochs)
        np.testing.assert_allclose(found.dual, mlodm.expansion(alpha, beta, Y), rtol=0, atol=1e-11)
    assert len(plain) == EPOCHS
    # Compiled, the smaller of the two variables of a pair, which shrinks without end, counts as 0.
    np.testing.assert_allclose(found.history["dual"], np.negative(plain), rtol=1e-8)
    exact = run(K, Y, **model, solver="bcd", max_epochs=EPOCHS)
    assert np.abs(found.dual - exact.dual).max() > 1e-9


def one_pair_at_a_time(K, pairs, step):
    """B after each epoch of steps that give a pair's variable from it, the margin, and K_ii."""
    B = np.zeros((len(K), 1 + max(max(m, n) for _, m, n in pairs)))
    variables, iterates = np.zeros(len(pairs)), []
    for _ in range(EPOCHS):
        for s, (i, m, n) in enumerate(pairs):
            f = K[i] @ B
            new = step(s, variables[s], f[m] - f[n], K[i, i])
            B[i, m] += new - variables[s]
            B[i, n] -= new - variables[s]
            variables[s] = new
        iterates.append(B.copy())
    return iterates


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_mlodm_one_pair_at_a_time(kernel):
    """A pair's alpha - beta at the minimum of (18) over it, whose parabolas meet at 0."""
    X, Y = problem(3)
    K, C_i = pairwise_kernels(X, metric=kernel), rank_svm.upper_bounds(Y, 2.0)
    theta, mu = 0.2, 0.4

    def step(s, t, margin, kappa):
        others = margin - 2 * kappa * t
        if others < 1 - theta:
            return (1 - theta - others) / (2 * kappa + 1 / C_i[s])
        return min(0.0, (1 + theta - others) / (2 * kappa + 1 / (mu * C_i[s])))

    plain = one_pair_at_a_time(K, np.transpose(rank_svm.pairs(Y)), step)
    model = {"c": 2.0, "loss": "optimal_margin", "theta": theta, "mu": mu, "bias": "none"}
    for epoch, B in enumerate(plain, start=1):
        found = run(K, Y, **model, solver="dcd", max_epochs=epoch)
        np.testing.assert_allclose(found.dual, B, rtol=0, atol=1e-10)
    assert any(row.min() < 0 < row.max() for row in B)


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_rank_svmz_one_label_at_a_time(kernel):
    X, Y = problem(4)
    K, q = pairwise_kernels(X, metric=kernel), Y.shape[1]
    # In each row the relevant labels above the zero label first, then that above the others.
    pairs = [
        (i, k, q) if Y[i, k] else (i, q, k)
        for i in range(len(Y))
        for k in np.argsort(-Y[i], kind="stable")
    ]

    def step(s, alpha, margin, kappa):
        return min(max(0.0, alpha - (margin - 1) / (2 * kappa)), 2.0 / q)

    model = {"c": 2.0, "loss": "zero_label_hinge", "bias": "none", "solver": "dcd"}
    for epoch, B in enumerate(one_pair_at_a_time(K, pairs, step), start=1):
        found = run(K, Y, **model, max_epochs=epoch)
        np.testing.assert_allclose(found.dual, B, rtol=0, atol=1e-10)


def test_dual_objective_never_falls():
    """Exact block steps, each with what those before it have done: with a hundred labels, too."""
    random = np.random.default_rng(7)
    X = normalize(random.normal(size=(150, 40)))
    Y = np.zeros((150, 120), dtype=np.uint8)
    # One label in most rows, some labels far more often than others.
    Y[np.arange(150), (120 * random.random(150) ** 3).astype(int)] = 1
    Y[:10, ::7] = 1
    Y[10:20] = 1 - Y[10:20]
    losses = ("hinge", "squared_hinge", "optimal_margin", "zero_label_hinge")
    for loss, c in product(losses, (1.0, 100.0)):
        model = {"loss": loss, "theta": 0.3, "mu": 0.4, "bias": "penalized"}
        dual = run(X @ X.T, Y, c=c, **model, solver="bcd", max_epochs=40).history["dual"]
        with case(loss, c):
            assert np.all(np.diff(dual) >= -1e-12 * dual[-1])
            assert dual[-1] > 0.0
