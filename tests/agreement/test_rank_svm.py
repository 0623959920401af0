"""The compiled Rank-SVM against the reference: objectives, certificates, heuristics, iterates."""

from types import SimpleNamespace

import numpy as np
import pytest
from scipy import sparse
from sklearn.metrics.pairwise import pairwise_kernels

from multimargin import _rust
from multimargin.kernels import rust_matrix
from multimargin.reference import exact, rank_hlapsvm, rank_svm
from multimargin.reference.feasible import circulation
from multimargin.reference.matrices import root
from tests.support import certificates
from tests.support.problems import noisy_linear_problem
from tests.support.subsets import fast_only, first_fast

BIASES = ("free", "penalized", "none")
# The mechanisms that lead on where the plain loop is slow.
ACCELERATION = ["passes", "deflation", "leaps"]


def solve(X, Y, **options):
    settings = {
        "c": 1.0,
        "loss": "hinge",
        "kernel_name": "precomputed",
        "bias": "free",
        "solver": "bcd",
        "tolerance": 1e-7,
        "max_epochs": 100_000,
        "cache_bytes": 10**9,
    }
    indicator = np.ascontiguousarray(Y, dtype=np.uint8)
    found = _rust.solve_pairwise(indicator, rust_matrix(X), **(settings | options))
    return SimpleNamespace(**found)


def random_problem(seed, n=40, d=5, q=5):
    return noisy_linear_problem(seed, n, d, q, cut=0.5)


@pytest.mark.parametrize("C", first_fast([0.03, 1.0, 10.0], 2))
def test_bounds_of_many_rows_hold_for_a_free_bias(C):
    """From 1,000 rows on, the repair before a certificate moves a part of them."""
    X, Y = random_problem(3, n=1100, d=12, q=10)
    options = {"kernel_name": "linear", "c": C}
    best = solve(X, Y, tolerance=1e-6, **options).primal
    for tolerance in (3e-2, 3e-3, 1e-4):
        run = solve(X, Y, tolerance=tolerance, **options)
        assert run.status == "converged"
        assert run.gap <= tolerance
        assert np.abs(run.dual.sum(axis=0)).max() <= 1e-12 * np.abs(run.dual).sum()
        W = np.reshape(run.weights, (12, 10))
        expected = certificates.pairwise_objective(W, run.bias, X, Y, C, "free")
        assert run.primal == pytest.approx(expected, rel=1e-9)
        assert run.dual_objective <= best * (1 + 1e-9)
        assert best <= run.primal * (1 + 1e-6)
        assert run.gap == pytest.approx(1.0 - run.dual_objective / run.primal, abs=1e-9)


@pytest.mark.parametrize(
    "options",
    [
        {"without": ["shrinking"]},
        {"without": ACCELERATION},
        {"shuffle": False},
        {"without": ["shrinking", *ACCELERATION], "shuffle": False},
        {"block_size": 1},
        {"block_size": 3},
        {"block_size": 1000},
        {"seed": 7},
        {"chains": 2},
        {"chains": 3, "block_size": 5, "without": ACCELERATION},
        {"chains": 20, "block_size": 1, "without": ["shrinking"]},
        {"solver": "dcd"},
        {"solver": "dcd", "block_size": 1, "without": ["shrinking"]},
        {"cache_bytes": 0},
        {"cache_bytes": 8 * 40 * 7},
        {"cache_bytes": 0, "block_size": 3},
        {"cache_bytes": 8 * 40 * 40 - 1, "solver": "dcd"},
    ],
    ids=str,
)
def test_options_do_not_change_the_optimum(options):
    X, Y = random_problem(30)
    for bias in BIASES:
        kernel = {"kernel_name": "rbf", "gamma": 0.3, "c": 5.0, "bias": bias}
        plain, other = solve(X, Y, **kernel), solve(X, Y, **(kernel | options))
        assert plain.status == other.status == "converged"
        assert other.primal == pytest.approx(plain.primal, rel=2e-7)
        assert other.dual_objective == pytest.approx(plain.dual_objective, rel=2e-7)


FAMILY = {
    "hinge, free": {"loss": "hinge", "bias": "free"},
    "hinge": {"loss": "hinge", "bias": "none"},
    "squared hinge": {"loss": "squared_hinge", "bias": "penalized"},
    "optimal margin": {"loss": "optimal_margin", "bias": "none", "theta": 0.2, "mu": 0.4},
}


@pytest.mark.parametrize("model", fast_only(FAMILY, ["hinge, free", "squared hinge"]))
def test_heuristics_change_no_optimum_of_a_slow_problem(model):
    X, Y = random_problem(30)
    options = FAMILY[model] | {"kernel_name": "rbf", "gamma": 0.001, "c": 100_000.0}
    plain = solve(X, Y, **options)
    # Repeated visits set in after 2 epochs, iterations on all blocks after 400.
    assert plain.n_iter > 400
    for name in ("passes", "deflation", "leaps", "shrinking"):
        other = solve(X, Y, **options, without=[name])
        assert plain.status == other.status == "converged"
        assert (other.n_iter, other.primal) != (plain.n_iter, plain.primal)
        assert other.primal == pytest.approx(plain.primal, rel=2e-7)
        assert other.dual_objective == pytest.approx(plain.dual_objective, rel=2e-7)


@pytest.mark.parametrize("kept", [400, 399])
def test_blocks_of_neighbours_lead_to_the_same_optimum(kept):
    """By the rows of a stored kernel, or those that are kept of one that is computed in blocks."""
    X, Y = random_problem(32, n=400)
    options = {"kernel_name": "rbf", "gamma": 1.0, "c": 10.0, "cache_bytes": 8 * 400 * kept}
    plain, other = (solve(X, Y, **options, without=names) for names in ([], ["neighbours"]))
    assert plain.status == other.status == "converged"
    assert (other.n_iter, other.primal) != (plain.n_iter, plain.primal)
    assert other.primal == pytest.approx(plain.primal, rel=2e-7)
    assert other.dual_objective == pytest.approx(plain.dual_objective, rel=2e-7)


@pytest.mark.parametrize("bias", BIASES)
@pytest.mark.parametrize(
    ("kernel", "cache_rows"), [("rbf", 0), ("laplacian", 17), ("poly", 5), ("sigmoid", 39)]
)
def test_kernel_in_blocks_makes_the_steps_of_the_stored_one(cache_rows, kernel, bias):
    X, Y = random_problem(31)
    common = {"kernel_name": kernel, "gamma": 0.1, "coef0": 0.5, "bias": bias, "max_epochs": 4}
    # Only a stored matrix is stepped without its mean direction.
    common["without"] = ["deflation", "passes"]
    stored = solve(X, Y, **common)
    blocks = solve(X, Y, **common, cache_bytes=8 * 40 * cache_rows)
    np.testing.assert_allclose(blocks.dual, stored.dual, atol=1e-8)
    np.testing.assert_allclose(blocks.scores, stored.scores, atol=1e-8)
    np.testing.assert_allclose(blocks.bias, stored.bias, atol=1e-8)


# Estimators have theirs, with a stored matrix or by features, in tests/estimators.
THREADED = {
    "blocks": {"kernel_name": "rbf", "gamma": 0.01, "cache_bytes": 0},
    "part of the rows kept": {"kernel_name": "poly", "gamma": 0.01, "cache_bytes": 8 * 700 * 150},
    "linear, chains": {"kernel_name": "linear", "chains": 3},
    "blocks, sparse": {"kernel_name": "rbf", "gamma": 0.01, "cache_bytes": 0, "sparse": True},
    "blocks, distances": {"kernel_name": "laplacian", "gamma": 0.01, "cache_bytes": 0},
}


@pytest.mark.parametrize(
    ("solver", "bias"),
    first_fast(
        [
            *(("bcd", "free"), ("bcd", "penalized"), ("dcd", "free"), ("dcd", "penalized")),
            *(("frank-wolfe", "free"), ("frank-wolfe", "penalized")),
        ],
        1,
    ),
)
@pytest.mark.parametrize("geometry", THREADED)
def test_number_of_threads_does_not_change_a_bit(geometry, bias, solver):
    X, Y = random_problem(34, n=700, d=150, q=4)
    X[np.abs(X) < 0.5] = 0.0
    options = THREADED[geometry] | {"bias": bias, "solver": solver, "max_epochs": 4, "c": 0.1}
    if options.pop("sparse", False):
        X = sparse.csr_array(X)
    one, *others = (solve(X, Y, threads=threads, **options) for threads in (1, 2, 4))
    for run in others:
        for name in ("dual", "bias", "scores", "weights"):
            np.testing.assert_array_equal(getattr(run, name), getattr(one, name))
        for name in ("epoch", "primal", "dual"):
            np.testing.assert_array_equal(run.history[name], one.history[name])
        assert (run.status, run.primal, run.gap) == (one.status, one.primal, one.gap)


@pytest.mark.parametrize("solver", ["bcd", "dcd"])
def test_start_outside_the_constraints_does_not_spoil_the_certificate(solver):
    X, Y = random_problem(36)
    K = pairwise_kernels(X, metric="rbf")
    optimum = exact.hinge(K, Y, 1.0, "free").lower
    penalized = solve(K, Y, bias="penalized").dual
    assert np.abs(penalized.sum(axis=0)).max() > 0.1
    outside = np.random.default_rng(0).normal(size=Y.shape)
    for start in (penalized, 10.0 * penalized, outside):
        run = solve(K, Y, solver=solver, start=start, tolerance=1e-7)
        assert run.status == "converged"
        assert certificates.dual_infeasibility(Y, 1.0, run.dual, "free") <= 1e-9
        assert run.dual_objective <= optimum * (1 + 1e-9)
        assert optimum <= run.primal * (1 + 1e-9)
        assert run.gap <= 1e-7


@pytest.mark.parametrize("bias", BIASES)
def test_a_loop_that_only_rounding_moves_stalls(bias):
    """A gap of nearly 0 is reached or not, as rounding has it: it is no reason to go on."""
    stalled = []
    for seed in range(200):
        random = np.random.default_rng(seed)
        X, Y = random.integers(-1, 2, size=(6, 2)), random.integers(2, size=(6, 3))
        problem = pairwise_kernels(X, metric="rbf", gamma=0.5), Y
        options = {"c": 0.5, "bias": bias, "tolerance": 1e-300}
        run = solve(*problem, **options, max_epochs=1000)
        assert run.n_iter < 1000
        if run.status == "stalled":
            assert run.gap < 1e-14
            limited = solve(*problem, **options, max_epochs=run.n_iter)
            # A limit changes the way of a loop that looks ahead.
            if np.array_equal(limited.history["primal"], run.history["primal"]):
                stalled.append(limited.status)
    assert set(stalled) == {"stalled"}


@pytest.mark.parametrize(
    ("loss", "bias"), [*(("hinge", bias) for bias in BIASES), ("squared_hinge", "penalized")]
)
def test_chains_that_undo_each_other_are_held_back(loss, bias):
    """All rows are the same but for their labels: each of 20 chains makes the whole step of all."""
    X, Y = random_problem(91)
    problem = np.repeat(X[:1], len(X), axis=0), Y
    options = {"kernel_name": "linear", "loss": loss, "bias": bias, "c": 2.0, "tolerance": 1e-9}
    one, several = (
        solve(*problem, **options, block_size=3, chains=chains, max_epochs=20_000)
        for chains in (1, 20)
    )
    assert one.status == several.status == "converged"
    assert several.primal == pytest.approx(one.primal, rel=2e-9)
    assert several.history["dual"][0] > 0.0


def test_exception_of_the_callback_is_passed_on():
    X, Y = random_problem(38)

    def fail(*_):
        raise LookupError("from the callback")

    with pytest.raises(LookupError, match="from the callback"):
        solve(X, Y, kernel_name="linear", callback=fail)


def chained_labels(random, n, groups):
    """Each row mixes the labels of one group; all earlier ones are relevant, all later ones not."""
    sizes = np.array(groups)
    starts = np.concatenate([[0], sizes.cumsum()])
    Y = np.zeros((n, sizes.sum()), dtype=int)
    for row in Y:
        group = random.integers(len(groups))
        row[: starts[group]] = 1
        row[starts[group] : starts[group + 1]] = random.integers(2, size=sizes[group])
    return Y


# A tuple is one value here.
GROUPS = [
    (3, 2),
    (1, 3, 1),
    *(pytest.param(k, marks=pytest.mark.slow) for k in [(2, 2, 2), (1, 2, 1, 2)]),
]


@pytest.mark.parametrize("seed", first_fast(range(3), 1))
@pytest.mark.parametrize("solver", ["bcd", "dcd"])
@pytest.mark.parametrize("groups", GROUPS, ids=str)
def test_labels_in_several_components(groups, solver, seed):
    random = np.random.default_rng([len(groups), seed])
    X, Y = random.normal(size=(40, 4)), chained_labels(random, 40, groups)
    order = random.permutation(Y.shape[1])
    Y = np.ascontiguousarray(Y[:, order])
    K = pairwise_kernels(X, metric="rbf")
    run = solve(K, Y, c=2.0, solver=solver, tolerance=1e-7)
    optimum = exact.hinge(K, Y, 2.0, "free").lower
    assert run.status == "converged"
    assert run.primal == pytest.approx(optimum, rel=1.1e-7)
    assert run.dual_objective <= optimum * (1 + 1e-9)
    assert run.bias.sum() == pytest.approx(0.0, abs=1e-10 * np.abs(run.bias).max())
    expected = rank_svm.objective_18(K, Y, 2.0, run.dual, run.bias)
    assert run.primal == pytest.approx(expected, rel=1e-9)
    assert certificates.dual_infeasibility(Y, 2.0, run.dual, "free") <= 1e-9
    # No pair across components suffers a loss.
    group_of = np.repeat(np.arange(len(groups)), groups)[order]
    i, m, n = rank_svm.pairs(Y)
    across = group_of[m] != group_of[n]
    F = K @ run.dual + run.bias
    margins = F[i, m] - F[i, n]
    assert across.any()
    assert (margins[across] >= 1 - 1e-9).all()


@pytest.mark.parametrize("solver", ["bcd", "dcd"])
def test_labels_that_biases_alone_separate(solver):
    Y = np.tri(5, 4, -1, dtype=int)
    run = solve(np.eye(5), Y, solver=solver)
    assert (run.status, run.primal, run.dual_objective, run.gap) == ("converged", 0.0, 0.0, 0.0)
    np.testing.assert_array_equal(run.dual, 0.0)
    assert rank_svm.objective_18(np.eye(5), Y, 1.0, run.dual, run.bias) == 0.0


def test_several_components_share_the_epochs():
    random = np.random.default_rng(6)
    X, Y = random.normal(size=(40, 4)), chained_labels(random, 40, (3, 3))
    run = solve(X, Y, kernel_name="rbf", c=100.0, max_epochs=5)
    assert run.status == "max_iterations"
    assert run.n_iter <= 5
    K = pairwise_kernels(X, metric="rbf", gamma=1.0)
    expected = rank_svm.objective_18(K, Y, 100.0, run.dual, run.bias)
    assert run.primal == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("hard_first", [True, False])
def test_a_component_that_converges_hides_none_that_does_not(hard_first):
    """The last rows, of zeros, start at their solution; the others cannot reach theirs so soon."""
    random = np.random.default_rng(8)
    X, Y = random.normal(size=(40, 4)), np.zeros((40, 5), dtype=int)
    X[30:] = 0.0
    Y[:30, :3] = random.integers(2, size=(30, 3))
    Y[30:, 3:] = np.eye(2, dtype=int)[np.arange(10) % 2]
    # Arcs lead from labels that are relevant to others: the component where they end is the first.
    (Y[:30, 3:] if hard_first else Y[30:, :3])[:] = 1
    options = {"kernel_name": "linear", "tolerance": 1e-5}
    # Each of these rows has four pairs in the whole, of which one is within the component.
    alone = solve(X[30:], Y[30:, 3:], c=25.0, **options).dual
    assert solve(X[30:], Y[30:, 3:], c=25.0, start=alone, **options).n_iter == 1
    start = np.zeros(Y.shape)
    start[30:, 3:] = alone
    run = solve(X, Y, c=100.0, start=start, max_epochs=5, **options)
    assert (run.status, run.gap > 1e-5) == ("max_iterations", True)


def test_interruption_in_the_first_of_several_components_is_honest():
    random = np.random.default_rng(7)
    X, Y = random.normal(size=(40, 4)), chained_labels(random, 40, (3, 3))
    K = pairwise_kernels(X, metric="rbf")
    whole = solve(K, Y, c=5.0)
    run = solve(K, Y, c=5.0, start=whole.dual / 2, callback=lambda epoch, *_: epoch == 2)
    assert run.status == "interrupted"
    expected = rank_svm.objective_18(K, Y, 5.0, run.dual, run.bias)
    assert run.primal == pytest.approx(expected, rel=1e-9)
    assert run.dual_objective <= whole.primal
    # The start of the component that was not reached is kept.
    for labels in (slice(0, 3), slice(3, 6)):
        assert np.abs(run.dual[:, labels]).max() > 0.0


@pytest.mark.parametrize("groups", [(6,), (3, 3)])
@pytest.mark.parametrize("kernel", ["rbf", "linear"])
@pytest.mark.parametrize("solver", ["bcd", "dcd"])
def test_an_interrupted_fit_with_a_free_bias_has_a_bound(solver, kernel, groups):
    random = np.random.default_rng(9)
    X, Y = random.normal(size=(40, 4)), chained_labels(random, 40, groups)
    K = pairwise_kernels(X, metric=kernel)
    optimum = exact.hinge(K, Y, 5.0, "free").lower
    options = {"c": 5.0, "solver": solver, "tolerance": 1e-4}
    # Of several components, all but the last are solved by then.
    stop = solve(K, Y, **options).n_iter - 1
    run = solve(K, Y, callback=lambda epoch, *_: epoch >= stop, **options)
    assert run.status == "interrupted"
    # It is that of the dual matrix that is returned, which is feasible.
    assert run.dual_objective == pytest.approx(certificates.dual_objective(K, Y, run.dual, "free"))
    assert certificates.dual_infeasibility(Y, 5.0, run.dual, "free") <= 1e-9
    assert 0.3 * optimum <= run.dual_objective <= optimum * (1 + 1e-9)
    expected = rank_svm.objective_18(K, Y, 5.0, run.dual, run.bias)
    assert run.primal == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("bias", ["penalized", "none"])
@pytest.mark.parametrize("block_size", [1, 3, 0])
@pytest.mark.parametrize("kernel", ["linear", "rbf", "poly"])
def test_dcd_follows_the_published_loop(kernel, block_size, bias):
    X, Y = random_problem(40, n=15)
    Y[3], Y[4] = 0, 1
    K = pairwise_kernels(X, metric=kernel)
    Kt = K + 1 if bias == "penalized" else K
    # Without a Laplacian the loop is Rank-SVM's, on features with these inner products.
    features, no_edge = root(Kt), np.zeros(K.shape)
    _, alphas = rank_hlapsvm.algorithm_1(features, Y, 2.0, 0.0, no_edge, passes=6)
    plain = {"shuffle": False, "without": ["shrinking", *ACCELERATION], "tolerance": 1e-15}
    for epoch, alpha in enumerate(alphas, start=1):
        run = solve(
            K,
            Y,
            c=2.0,
            bias=bias,
            solver="dcd",
            block_size=block_size,
            max_epochs=epoch,
            **plain,
        )
        B = rank_hlapsvm.proxy(alpha, Y)
        np.testing.assert_allclose(run.dual, B, rtol=0, atol=1e-9)
    values = [-rank_hlapsvm.objective_17(Kt, Y, alpha) for alpha in alphas]
    np.testing.assert_allclose(run.history["dual"], values, rtol=1e-9)


@pytest.mark.parametrize("bias", BIASES)
@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_frank_wolfe_follows_the_published_loop(kernel, bias):
    X, Y = random_problem(41, n=15)
    K = pairwise_kernels(X, metric=kernel)
    Kt, start = K + 1 if bias == "penalized" else K, None
    if bias == "free":
        # At alpha = 0 all pairs cost the same, and the linear programme has many solutions.
        C_i = rank_svm.upper_bounds(Y, 2.0)
        start = circulation(np.random.default_rng(0).uniform(0, C_i), Y, C_i)
    alpha, b, plain = rank_svm.frank_wolfe(Kt, Y, 2.0, 0.0, 31, start, free=bias == "free")
    W, z, _ = np.transpose(plain)
    options = {"c": 2.0, "bias": bias, "solver": "frank-wolfe", "tolerance": 1e-15}
    if start is not None:
        options["start"] = rank_svm.proxy(start, Y)
    run = solve(K, Y, max_epochs=30, **options)
    epoch, _, primal, dual = run.history.values()
    np.testing.assert_array_equal(epoch, np.arange(31))
    np.testing.assert_allclose(dual, -W, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(dual - primal, z, rtol=1e-7, atol=1e-10)
    np.testing.assert_allclose(run.dual, rank_svm.proxy(alpha, Y), atol=1e-9)
    if bias == "free":
        loss = [rank_svm.objective_18(K, Y, 2.0, run.dual, one) for one in (run.bias, b)]
        np.testing.assert_allclose(loss, run.primal, rtol=1e-9)
