"""The Rank-SVM reference against its own dual, a second solver and independent programs."""

import cvxpy as cp
import numpy as np
import pytest
from scipy.optimize import linprog
from sklearn.metrics.pairwise import pairwise_kernels
from sklearn.svm import SVC, LinearSVC

from multimargin.datasets import load_arff
from multimargin.reference import exact, rank_svm
from tests.support.data import DATA
from tests.support.problems import unrelated_problem
from tests.support.subsets import fast_only, first_fast

BIASES = ["free", "penalized", "none"]


def random_problem(seed, decades=4):
    """K, Y, C: linear or rbf, C over some decades around 1, degenerate rows and labels in turn."""
    rng = np.random.default_rng(seed)
    n, d, q = rng.integers(4, 16), rng.integers(1, 6), rng.integers(2, 6)
    X = rng.normal(size=(n, d))
    Y = (rng.random((n, q)) < 0.4).astype(int)
    kind = seed % 5
    if kind == 1:
        Y[:, 0] = 1  # a label relevant for all rows
    if kind == 2:
        Y[:, -1] = 0  # a label relevant for none
    if kind == 3:
        Y[0], Y[1] = 0, 1  # rows without pairs
    if kind == 4:
        X[1], X[2], Y[2] = X[0], X[0], Y[0]  # duplicates, with different and with equal labels
    K = pairwise_kernels(X, metric="linear" if seed % 2 else "rbf")
    return K, Y, 10.0 ** rng.integers(-decades, decades + 1)


def accuracy(optimum, Y, bias):
    """1e-8 of the optimum; where the bias alone separates all pairs, the optimum is exactly 0."""
    pairs = exact.pairs(Y)
    H = exact.pair_matrix(pairs, Y.shape[1])
    u = np.ones(len(pairs.i))
    circulation, _ = rank_svm.linear_programme(-u, H, u, bias)
    return 1e-8 * optimum if circulation.any() else 1e-9


def small_problem(seed, n=12, d=3, q=4):
    return unrelated_problem(seed, n, d, q, share=0.45)


def theta_matrix(Kt, Y):
    """Theta = (H^T H) o K of Xu 2013, eq. (42), with K on pairs as in (25)."""
    pairs = exact.pairs(Y)
    H = exact.pair_matrix(pairs, Y.shape[1]).toarray()
    return (H.T @ H) * Kt[np.ix_(pairs.i, pairs.i)]


# -------------------------------------------------------------------------------------------------
# The exact solutions
# -------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("bias", BIASES)
@pytest.mark.parametrize("seed", first_fast(range(40), 15))
def test_primal_and_dual_value_agree_and_certify_each_other(seed, bias):
    K, Y, C = random_problem(seed)
    primal = rank_svm.primal(K, Y, C, bias)
    dual = rank_svm.dual(K, Y, C, bias)
    bound = accuracy(primal.objective, Y, bias)
    assert abs(primal.objective - dual.objective) <= bound
    for solution in (primal, dual):
        gap = rank_svm.duality_gap(K, Y, C, solution.B, solution.b, bias)
        assert abs(gap) <= bound
        assert rank_svm.dual_infeasibility(Y, C, solution.B, bias) <= 1e-9 * max(1, C)
        assert abs(solution.b.sum()) <= 1e-9 * (1 + np.abs(solution.b).max()) or bias != "free"


@pytest.mark.parametrize("bias", BIASES)
@pytest.mark.parametrize("seed", first_fast(range(40, 60), 5))
def test_second_solver_agrees_on_the_dual(seed, bias):
    K, Y, C = random_problem(seed)
    optimum = rank_svm.primal(K, Y, C, bias).objective
    value = rank_svm.dual(K, Y, C, bias, solver="scs").objective
    assert abs(value - optimum) <= accuracy(optimum, Y, bias)


@pytest.mark.parametrize("bias", BIASES)
@pytest.mark.parametrize("seed", first_fast(range(60, 80), 5))
def test_second_solver_agrees_with_itself_and_the_first(seed, bias):
    K, Y, C = random_problem(seed, decades=2)
    optimum = rank_svm.dual(K, Y, C, bias).objective
    primal = rank_svm.primal(K, Y, C, bias, solver="scs").objective
    dual = rank_svm.dual(K, Y, C, bias, solver="scs").objective
    assert abs(primal - optimum) <= accuracy(optimum, Y, bias)
    assert abs(primal - dual) <= accuracy(optimum, Y, bias)


@pytest.mark.parametrize("bias", BIASES)
def test_recovered_model_has_the_scores_of_the_primal_variables(bias):
    X, Y = small_problem(0, n=20)
    K = X @ X.T
    primal = rank_svm.primal(K, Y, 2.0, bias)
    dual = rank_svm.dual(K, Y, 2.0, bias)
    W = X.T @ dual.B
    np.testing.assert_allclose(dual.F, X @ W + dual.b, atol=1e-12)
    np.testing.assert_allclose(X @ W, primal.F - primal.b, atol=1e-5)
    np.testing.assert_allclose(K @ primal.B, primal.F - primal.b, atol=1e-5)
    value = rank_svm.primal_objective(K, Y, 2.0, dual.B, dual.b, bias)
    assert value == pytest.approx(primal.objective, rel=1e-8)


@pytest.mark.parametrize("bias", BIASES)
def test_kkt_residual_vanishes_at_the_optimum_only(bias):
    X, Y = small_problem(1)
    K = X @ X.T
    dual = rank_svm.dual(K, Y, 1.0, bias)
    assert rank_svm.kkt_residual(K, Y, 1.0, dual.alpha, dual.b, bias) < 1e-6
    assert rank_svm.kkt_residual(K, Y, 1.0, 0 * dual.alpha, 0 * dual.b, bias) > 0.1
    moved = dual.alpha.copy()
    moved[0] += 0.1 if moved[0] < 0.05 else -0.05
    assert rank_svm.kkt_residual(K, Y, 1.0, moved, dual.b, bias) > 1e-3


def test_free_bias_residual_includes_the_equality():
    Y = np.array([[1, 0]])
    assert rank_svm.kkt_residual(np.eye(1), Y, 1.0, np.array([1.0]), np.zeros(2), "free") == 1.0
    assert rank_svm.kkt_residual(np.eye(1), Y, 1.0, np.array([0.5]), np.zeros(2), "none") == 0.0


def test_one_pair_by_hand():
    # one pair, kernel 1: W(a) = a^2 - a, so a = min(C, 1/2)
    Y = np.array([[1, 0]])
    for C, alpha in ((0.25, 0.25), (2.0, 0.5)):
        dual = rank_svm.dual(np.eye(1), Y, C, "none")
        assert dual.objective == pytest.approx(alpha - alpha**2, abs=1e-10)
        np.testing.assert_allclose(dual.B, [[alpha, -alpha]], atol=1e-6)
    # the bias alone separates it: nothing is left to pay for
    assert rank_svm.dual(np.eye(1), Y, 2.0, "free").objective == pytest.approx(0, abs=1e-10)


@pytest.mark.parametrize("bias", BIASES)
def test_rows_without_pairs_contribute_nothing(bias):
    X, Y = small_problem(2, n=8)
    Y[3], Y[5] = 0, 1
    kept = [i for i in range(8) if i not in (3, 5)]
    K = pairwise_kernels(X, metric="rbf")
    whole = rank_svm.dual(K, Y, 1.0, bias)
    part = rank_svm.dual(K[np.ix_(kept, kept)], Y[kept], 1.0, bias)
    assert whole.objective == pytest.approx(part.objective, rel=1e-9)
    np.testing.assert_array_equal(whole.B[[3, 5]], 0)


@pytest.mark.parametrize("problem", [rank_svm.primal, rank_svm.dual])
def test_problem_without_pairs_has_the_zero_solution(problem):
    solution = problem(np.eye(2), [[1, 1], [0, 0]])
    assert solution.objective == 0.0
    np.testing.assert_array_equal(solution.B, np.zeros((2, 2)))
    assert (
        rank_svm.primal_objective(np.eye(2), [[1, 1], [0, 0]], 1.0, solution.B, solution.b, "free")
        == 0
    )


def test_zero_instance_without_bias_pays_the_whole_loss():
    Y = np.array([[1, 0], [0, 1]])
    K = np.diag([1.0, 0.0])
    assert rank_svm.dual(K, Y, 3.0, "none").objective == pytest.approx(3.25, rel=1e-9)
    assert rank_svm.primal(K, Y, 3.0, "none").objective == pytest.approx(3.25, rel=1e-9)


def test_arguments_are_checked_and_left_alone():
    K, Y = np.eye(2), np.array([[1, 0], [0, 1]])
    with pytest.raises(ValueError, match="K has 2 rows and Y has 1"):
        rank_svm.dual(K, Y[:1])
    with pytest.raises(ValueError, match="K is indefinite"):
        rank_svm.primal(np.diag([1.0, -1.0]), Y)
    with pytest.raises(ValueError, match="b is not 0"):
        rank_svm.primal_objective(K, Y, 1.0, np.zeros((2, 2)), np.ones(2), "none")
    for solve in (rank_svm.primal, rank_svm.dual, rank_svm.frank_wolfe):
        solve(K, Y)
    rank_svm.dual_coordinate_descent(K, Y)
    np.testing.assert_array_equal(K, np.eye(2))
    np.testing.assert_array_equal(Y, [[1, 0], [0, 1]])


@pytest.mark.parametrize("seed", range(30))
def test_dual_infeasibility_decides_as_a_linear_programme_does(seed):
    rng = np.random.default_rng(seed)
    q, C = 5, 1.0
    Y = np.array([[1, 1, 0, 0, 0], [1, 1, 1, 0, 0]])[seed % 2 : seed % 2 + 1]
    pairs = exact.pairs(Y)
    H = exact.pair_matrix(pairs, q)
    c = exact.pair_weights(pairs, C)
    inside = (H @ (c * rng.random(6)))[None, :]
    assert rank_svm.dual_infeasibility(Y, C, inside, "none") <= 1e-15
    # supplies and demands with equal sums, beyond the capacities about every other time
    supply, demand = rng.random(Y.sum()), rng.random(q - Y.sum())
    beta = np.concatenate([supply / supply.sum(), -demand / demand.sum()])
    beta *= rng.uniform(0.3, 1.0) * C
    flow = linprog(np.zeros(6), A_eq=H, b_eq=beta, bounds=list(zip(0 * c, c, strict=True)))
    feasible = rank_svm.dual_infeasibility(Y, C, beta[None, :], "none") <= 1e-9
    assert feasible == (flow.status == 0)


def test_dual_infeasibility_sees_every_constraint():
    Y = np.array([[1, 0], [1, 1]])
    B = np.zeros((2, 2))
    assert rank_svm.dual_infeasibility(Y, 1.0, B, "free") == 0
    assert rank_svm.dual_infeasibility(Y, 1.0, np.array([[1.5, -1.5], [0, 0]]), "none") == 0.5
    assert rank_svm.dual_infeasibility(Y, 1.0, np.array([[-0.5, 0.5], [0, 0]]), "none") == 0.5
    assert rank_svm.dual_infeasibility(Y, 1.0, np.array([[0.5, -0.25], [0, 0]]), "none") == 0.25
    assert rank_svm.dual_infeasibility(Y, 1.0, np.array([[0, 0], [0.5, -0.5]]), "none") == 0.5
    assert rank_svm.dual_infeasibility(Y, 1.0, np.array([[0.75, -0.75], [0, 0]]), "free") == 0.75


# -------------------------------------------------------------------------------------------------
# Reductions that other programs can confirm
# -------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_two_labels_are_a_binary_svm(kernel):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(30, 2))
    y = np.where(X[:, 0] + rng.normal(size=30) > 0, 1, -1)
    K = pairwise_kernels(X, metric=kernel)
    C = 0.7
    svc = SVC(C=2 * C, kernel="precomputed", tol=1e-10).fit(K, y)
    a = np.zeros(30)
    a[svc.support_] = svc.dual_coef_[0]  # y_i alpha_i
    value = 0.5 * (np.abs(a).sum() - 0.5 * a @ K @ a)
    dual = rank_svm.dual(K, np.column_stack([y == 1, y == -1]).astype(int), C, "free")
    assert dual.objective == pytest.approx(value, rel=1e-8)
    difference = dual.F[:, 0] - dual.F[:, 1]
    np.testing.assert_allclose(difference, svc.decision_function(K), atol=1e-6)


def test_single_labels_without_bias_are_weston_watkins():
    rng = np.random.default_rng(4)
    n, d, q, C = 25, 3, 4, 1.3
    X, y = rng.normal(size=(n, d)), rng.integers(q, size=n)
    W = cp.Variable((d, q))
    scores = X @ W
    loss = sum(
        cp.pos(1 - scores[i, y[i]] + scores[i, k]) for i in range(n) for k in range(q) if k != y[i]
    )
    problem = cp.Problem(cp.Minimize(0.5 * cp.sum_squares(W) + C / (q - 1) * loss))
    exact.solve_qp(problem)
    dual = rank_svm.dual(X @ X.T, np.eye(q, dtype=int)[y], C, "none")
    assert dual.objective == pytest.approx(problem.value, rel=1e-8)
    np.testing.assert_allclose(X.T @ dual.B, W.value, atol=1e-5)


@pytest.mark.parametrize("bias", ["none", "penalized"])
def test_linear_rank_svm_is_liblinear_on_one_row_a_pair(bias):
    X, Y = small_problem(5, n=15)
    C = 0.8
    features = X if bias == "none" else np.column_stack([X, np.ones(len(X))])
    rows, weights = [], []
    for i in range(len(X)):
        relevant, irrelevant = np.flatnonzero(Y[i] == 1), np.flatnonzero(Y[i] == 0)
        for m in relevant:
            for n in irrelevant:
                direction = np.eye(Y.shape[1])[m] - np.eye(Y.shape[1])[n]
                rows.append(np.kron(direction, features[i]))
                weights.append(C / (len(relevant) * len(irrelevant)))
    sign = np.where(np.arange(len(rows)) % 2, 1, -1)
    Z = np.array(rows) * sign[:, None]
    svm = LinearSVC(C=1.0, loss="hinge", fit_intercept=False, tol=1e-9, max_iter=1_000_000)
    w = svm.fit(Z, sign, sample_weight=weights).coef_[0]
    value = 0.5 * w @ w + np.array(weights) @ np.maximum(0, 1 - sign * (Z @ w))
    dual = rank_svm.dual(X @ X.T, Y, C, bias)
    assert dual.objective == pytest.approx(value, rel=1e-8)
    W = w.reshape(Y.shape[1], -1).T
    np.testing.assert_allclose(X.T @ dual.B, W[: X.shape[1]], atol=1e-5)
    if bias == "penalized":
        np.testing.assert_allclose(dual.b, W[-1], atol=1e-5)


# -------------------------------------------------------------------------------------------------
# Frank-Wolfe
# -------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("bias", fast_only(BIASES, ["none"]))
@pytest.mark.parametrize("seed", first_fast([6, 7], 1))
def test_frank_wolfe_is_monotone_and_z_bounds_the_distance_to_the_optimum(seed, bias):
    X, Y = small_problem(seed)
    K = pairwise_kernels(X, metric="rbf")
    optimum = rank_svm.dual(K, Y, 1.0, bias).objective
    run = rank_svm.frank_wolfe(K, Y, 1.0, bias, tol=0.0, max_iter=400)
    rounding = 1e-9 * optimum
    assert (np.diff(run.objective) >= -rounding).all()
    assert (run.objective <= optimum + rounding).all()
    assert (optimum - run.objective <= -run.z + rounding).all()
    assert ((run.step[:-1] > 0) & (run.step[:-1] <= 1)).all()
    assert run.objective[-1] >= 0.98 * optimum
    assert run.objective[0] == 0.0


@pytest.mark.parametrize("bias", fast_only(BIASES, ["penalized"]))
def test_frank_wolfe_converges_at_the_rate_of_theorem_1(bias):
    X, Y = small_problem(8)
    K = pairwise_kernels(X, metric="rbf")
    Theta = theta_matrix(exact.kernel_matrix(K, bias), Y)
    c = exact.pair_weights(exact.pairs(Y), 10.0)
    optimum = rank_svm.dual(K, Y, 10.0, bias).objective
    run = rank_svm.frank_wolfe(K, Y, 10.0, bias, tol=0.0, max_iter=200)
    assert run.step[0] < 1  # then xi of (47) is 1 / step - 1
    p = np.arange(1, 201)
    bound = 2 * np.linalg.norm(Theta) * (c @ c) / (p + 1 / run.step[0] - 1)
    assert (optimum - run.objective <= bound).all()


@pytest.mark.parametrize("bias", BIASES)
def test_frank_wolfe_iterates_are_feasible_and_z_is_the_duality_gap(bias):
    X, Y = small_problem(9)
    K = pairwise_kernels(X, metric="rbf")
    pairs = exact.pairs(Y)
    c = exact.pair_weights(pairs, 2.0)
    H = exact.pair_matrix(pairs, Y.shape[1])
    for iterates in range(1, 15):
        run = rank_svm.frank_wolfe(K, Y, 2.0, bias, tol=0.0, max_iter=iterates)
        alpha = run.solution.alpha
        assert (alpha >= 0).all()
        assert (alpha <= c).all()
        if bias == "free":
            np.testing.assert_allclose(H @ alpha, 0, atol=1e-10)
        assert len(run.z) == iterates
        assert run.step[-1] == 0.0
        gap = rank_svm.duality_gap(K, Y, 2.0, run.solution.B, run.solution.b, bias)
        assert gap == pytest.approx(-run.z[-1], rel=1e-8)
        assert run.solution.objective == pytest.approx(run.objective[-1], abs=1e-12)


@pytest.mark.parametrize("bias", ["penalized", "none"])
def test_frank_wolfe_follows_the_loop_on_the_full_matrix(bias):
    X, Y = small_problem(10)
    K = X @ X.T
    c = exact.pair_weights(exact.pairs(Y), 1.0)
    Theta = theta_matrix(exact.kernel_matrix(K, bias), Y)
    u = np.ones(len(c))
    run = rank_svm.frank_wolfe(K, Y, 1.0, bias, tol=0.0, max_iter=30)
    alpha = np.zeros(len(c))
    for p in range(30):
        g = Theta @ alpha - u
        d = np.where(g < 0, c, 0) - alpha
        assert run.objective[p] == pytest.approx(u @ alpha - 0.5 * alpha @ Theta @ alpha, abs=1e-11)
        assert run.z[p] == pytest.approx(d @ g, abs=1e-10)
        if p < 29:
            assert run.step[p] == pytest.approx(min(1, -(d @ g) / (d @ Theta @ d)), rel=1e-8)
        alpha = alpha + run.step[p] * d
    np.testing.assert_allclose(run.solution.alpha, alpha, atol=1e-12)


def test_frank_wolfe_stops_on_z_and_starts_where_it_is_told():
    X, Y = small_problem(11)
    K = X @ X.T
    run = rank_svm.frank_wolfe(K, Y, 1.0, "free", tol=0.5, max_iter=1000)
    assert abs(run.z[-1]) <= 0.5
    assert (np.abs(run.z[:-1]) > 0.5).all()
    dual = rank_svm.dual(K, Y, 1.0, "penalized")
    again = rank_svm.frank_wolfe(K, Y, 1.0, "penalized", tol=1e-5, start=dual.alpha)
    assert len(again.z) == 1
    assert again.objective[0] == pytest.approx(dual.objective, rel=1e-12)


def test_frank_wolfe_rejects():
    X, Y = small_problem(12)
    K = X @ X.T
    c = exact.pair_weights(exact.pairs(Y), 1.0)
    with pytest.raises(ValueError, match="max_iter is 0"):
        rank_svm.frank_wolfe(K, Y, max_iter=0)
    with pytest.raises(ValueError, match="one entry a pair"):
        rank_svm.frank_wolfe(K, Y, start=[0.0])
    with pytest.raises(ValueError, match="leaves its box"):
        rank_svm.frank_wolfe(K, Y, start=2 * c)
    with pytest.raises(ValueError, match="H start is not 0"):
        rank_svm.frank_wolfe(K, Y, start=np.where(np.arange(len(c)) == 0, c, 0))


# -------------------------------------------------------------------------------------------------
# Dual coordinate descent
# -------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("bias", ["penalized", "none"])
@pytest.mark.parametrize("seed", [13, 14, 15])
def test_coordinate_descent_reaches_the_optimum(seed, bias):
    X, Y = small_problem(seed)
    K = pairwise_kernels(X, metric="rbf" if seed % 2 else "linear")
    optimum = rank_svm.dual(K, Y, 1.0, bias).objective
    run = rank_svm.dual_coordinate_descent(K, Y, 1.0, bias, tol=1e-9)
    assert (np.diff(run.objective) >= -1e-12 * optimum).all()
    assert run.solution.objective == pytest.approx(optimum, rel=1e-6)
    assert run.change[-1] < 1e-9
    gap = rank_svm.duality_gap(K, Y, 1.0, run.solution.B, run.solution.b, bias)
    assert 0 <= gap + 1e-12 <= 1e-6 * optimum
    assert rank_svm.kkt_residual(K, Y, 1.0, run.solution.alpha, run.solution.b, bias) < 1e-6
    assert rank_svm.dual_infeasibility(Y, 1.0, run.solution.B, bias) < 1e-12


@pytest.mark.parametrize("bias", ["penalized", "none"])
def test_coordinate_descent_minimises_exactly_over_one_pair_at_a_time(bias):
    X, Y = small_problem(16)
    K = X @ X.T
    pairs = exact.pairs(Y)
    c = exact.pair_weights(pairs, 1.0)
    Theta = theta_matrix(exact.kernel_matrix(K, bias), Y)
    orders = [np.random.default_rng(t).permutation(len(Y)) for t in range(2)]
    run = rank_svm.dual_coordinate_descent(K, Y, 1.0, bias, tol=0.0, max_epochs=5, orders=orders)
    alpha = np.zeros(len(c))
    for epoch in range(5):
        for i in orders[epoch % 2]:
            for pair in np.flatnonzero(pairs.i == i):
                newton = alpha[pair] - (Theta[pair] @ alpha - 1) / Theta[pair, pair]
                alpha[pair] = np.clip(newton, 0, c[pair])
        B = rank_svm.expansion(alpha, pairs, *Y.shape)
        np.testing.assert_allclose(run.B[epoch], B, atol=1e-12)
        value = alpha.sum() - 0.5 * alpha @ Theta @ alpha
        assert run.objective[epoch] == pytest.approx(value, abs=1e-11)
    assert len(run.B) == len(run.change) == 5


def test_coordinate_descent_puts_a_zero_instance_at_its_bound():
    Y = np.array([[1, 0], [0, 1]])
    run = rank_svm.dual_coordinate_descent(np.diag([1.0, 0.0]), Y, 3.0, "none")
    np.testing.assert_allclose(run.solution.B, [[0.5, -0.5], [-3.0, 3.0]])
    assert run.solution.objective == pytest.approx(3.25)


def test_coordinate_descent_rejects():
    K, Y = np.eye(2), np.array([[1, 0], [0, 1]])
    with pytest.raises(ValueError, match="bias is 'free'"):
        rank_svm.dual_coordinate_descent(K, Y, bias="free")
    with pytest.raises(ValueError, match="max_epochs is 0"):
        rank_svm.dual_coordinate_descent(K, Y, max_epochs=0)
    with pytest.raises(ValueError, match=r"expected a permutation of 0\.\.1"):
        rank_svm.dual_coordinate_descent(K, Y, orders=[[0, 0]])


# -------------------------------------------------------------------------------------------------
# Real data
# -------------------------------------------------------------------------------------------------
@pytest.fixture(scope="module")
def emotions():
    folder = DATA / "emotions"
    if not folder.is_dir():
        pytest.skip(f"no data in {folder}")
    data = load_arff(folder / "emotions-train.arff", labels=folder / "emotions.xml")
    X = np.asarray(data.X)
    return (X - X.min(axis=0)) / (X.max(axis=0) - X.min(axis=0)), np.asarray(data.Y)


@pytest.mark.parametrize(
    ("bias", "solver", "value"),
    [
        pytest.param("free", "clarabel", 133.446134, marks=pytest.mark.slow),
        pytest.param("free", "scs", 133.446134, marks=pytest.mark.slow),
        pytest.param("none", "scs", 134.015822, marks=pytest.mark.slow),
    ],
)
def test_emotions_linear(emotions, bias, solver, value):
    X, Y = emotions
    K = X @ X.T
    dual = rank_svm.dual(K, Y, 1.0, bias, solver)
    assert dual.objective == pytest.approx(value, abs=1e-6)
    assert abs(rank_svm.duality_gap(K, Y, 1.0, dual.B, dual.b, bias)) <= 1e-8 * value


@pytest.mark.slow
def test_emotions_rbf(emotions):
    X, Y = emotions
    K = pairwise_kernels(X, metric="rbf", gamma=0.5)
    primal = rank_svm.primal(K, Y, 2.0, "free")
    assert primal.objective == pytest.approx(219.3507, abs=1e-4)
    assert abs(rank_svm.duality_gap(K, Y, 2.0, primal.B, primal.b, "free")) <= 1e-8 * 219
