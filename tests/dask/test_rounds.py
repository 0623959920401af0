"""The rounds over parts, in one process: the optimum of one machine, with a certificate."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from benchmarks.local_parts import LocalParts
from scipy import sparse
from sklearn.base import clone
from sklearn.feature_extraction.text import TfidfTransformer
from threadpoolctl import threadpool_limits

from multimargin import MLODM, RankLSVM, RankSVM, RankSVMz
from multimargin.dask import bias, parts, solving
from multimargin.dask.parts import Pairs
from multimargin.dask.rounds import Settings, Solution, relative_gap
from multimargin.datasets import load_debian_tags
from multimargin.estimators.shared.problem import Model
from tests.support.problems import noisy_linear_problem
from tests.support.subsets import fast_only, first_fast

TOL = 1e-4
THETA, MU = 0.1, 0.5

MODELS = {
    "hinge": (Model("hinge", "none"), RankSVM(C=1.0, kernel="linear", bias="none")),
    "hinge, penalized bias": (
        Model("hinge", "penalized"),
        RankSVM(C=1.0, kernel="linear", bias="penalized"),
    ),
    "hinge, free bias": (Model("hinge", "free"), RankSVM(C=1.0, kernel="linear", bias="free")),
    "squared hinge": (Model("squared_hinge", "penalized"), RankLSVM(C=1.0, kernel="linear")),
    "optimal margin": (
        Model("optimal_margin", "none", THETA, MU),
        MLODM(C=1.0, kernel="linear", theta=THETA, mu=MU),
    ),
}


def problem(seed: int = 0, n: int = 60, d: int = 8, q: int = 5) -> tuple[Any, Any]:
    X, Y = noisy_linear_problem(seed, n, d, q, noise=0.5, cut=0.5)
    return X, Y.astype(np.uint8)


def dealt(
    X: Any, Y: Any, count: int, C: float = 1.0, weight: Any = None, kind: str = "balanced"
) -> LocalParts:
    rows = np.array_split(np.arange(Y.shape[0]), count)
    weights: Sequence[Any] = [None] * count if weight is None else [weight[r] for r in rows]
    return LocalParts(
        parts.make_part(k, X[r], Y[r], w, Pairs(C, kind))
        for k, (r, w) in enumerate(zip(rows, weights, strict=True))
    )


def solved(cluster: LocalParts, shape: Any, model: Model, **changes: Any) -> Solution:
    settings = {"tol": TOL, "max_rounds": 3000, "seed": 0, "threads": 1, "callback": None}
    return solving.solve(cluster, shape, model, Settings(**{**settings, **changes}))


def loss(model: Model, margin: Any) -> Any:
    if model.loss == "hinge":
        return np.maximum(0.0, 1.0 - margin)
    if model.loss == "squared_hinge":
        return 0.5 * np.maximum(0.0, 1.0 - margin) ** 2
    low, high = np.maximum(0, 1 - THETA - margin), np.maximum(0, margin - 1 - THETA)
    return 0.5 * (low**2 + MU * high**2)


def objective(
    model: Model, X: Any, Y: Any, solution: Solution, C: float = 1.0, weight: Any = None
) -> float:
    """Return the primal objective, by its definition."""
    W, b = solution.weights, solution.bias
    scores = X @ W + b
    total = 0.5 * np.sum(W**2) + (0.5 * np.sum(b**2) if model.bias == "penalized" else 0.0)
    for i, (row, relevant) in enumerate(zip(scores, Y.astype(bool), strict=True)):
        margins = row[relevant][:, None] - row[~relevant]
        if margins.size:
            c = (1.0 if weight is None else weight[i]) * C / margins.size
            total += c * loss(model, margins).sum()
    return float(total)


@pytest.mark.parametrize("count", first_fast([3, 1, 16], 1))
@pytest.mark.parametrize("name", MODELS)
def test_the_optimum_of_one_machine(name: str, count: int) -> None:
    model, estimator = MODELS[name]
    X, Y = problem()
    exact = estimator.set_params(solver="exact").fit(X, Y).objective_
    solution = solved(dealt(X, Y, count), (X.shape[1], Y.shape[1]), model)
    assert solution.status == "converged"
    assert 0.0 <= solution.gap <= TOL
    # The certificate is true: the primal objective that of the model, the dual one a bound.
    assert solution.primal == pytest.approx(objective(model, X, Y, solution), rel=1e-9)
    assert solution.dual <= exact * (1.0 + 1e-6)
    assert solution.primal >= exact * (1.0 - 1e-6)
    assert solution.history["primal"][-1] == solution.primal
    assert solution.history["epoch"].tolist() == list(range(1, solution.rounds + 1))


@pytest.mark.parametrize("name", fast_only(MODELS, ["hinge, penalized bias"]))
def test_sparse_and_dense_rows_agree(name: str) -> None:
    model, _ = MODELS[name]
    X, Y = problem(1)
    X = np.where(np.abs(X) > 0.7, X, 0.0)
    shape = (X.shape[1], Y.shape[1])
    dense = solved(dealt(X, Y, 4), shape, model)
    compressed = solved(dealt(sparse.csr_matrix(X), Y, 4), shape, model)
    assert compressed.status == "converged"
    assert compressed.primal == pytest.approx(dense.primal, rel=2 * TOL)


@pytest.mark.parametrize("name", ["hinge", "squared hinge", "hinge, free bias"])
def test_weights_of_rows_count_as_copies_do(name: str) -> None:
    model, estimator = MODELS[name]
    X, Y = problem(2, n=40)
    weight = np.random.default_rng(0).integers(0, 4, 40).astype(float)
    copies = np.repeat(np.arange(40), weight.astype(int))
    exact = estimator.set_params(solver="exact").fit(X[copies], Y[copies]).objective_
    solution = solved(dealt(X, Y, 5, weight=weight), (X.shape[1], Y.shape[1]), model)
    assert solution.status == "converged"
    assert solution.primal == pytest.approx(exact, rel=2 * TOL)
    assert solution.primal == pytest.approx(objective(model, X, Y, solution, 1.0, weight), rel=1e-9)


def with_gaps(Y: Any, share: float, seed: int = 0) -> Any:
    """Return an indicator in which a share of the labels is unknown."""
    unknown = np.random.default_rng(seed).random(Y.shape) < share
    return np.where(unknown, np.nan, Y)


@pytest.mark.parametrize("count", first_fast([4, 1], 1))
@pytest.mark.parametrize("name", MODELS)
def test_unknown_labels_are_in_no_pair(name: str, count: int) -> None:
    model, estimator = MODELS[name]
    X, Y = problem(10, n=30)
    Y = with_gaps(Y, 0.3)
    Y[:2] = np.nan
    exact = estimator.set_params(solver="exact").fit(X, Y).objective_
    solution = solved(dealt(X, Y, count), (X.shape[1], Y.shape[1]), model)
    assert solution.status == "converged"
    assert 0.0 <= solution.gap <= TOL
    assert solution.primal == pytest.approx(exact, rel=2 * TOL)
    assert solution.dual <= exact * (1.0 + 1e-6)


@pytest.mark.parametrize("gaps", [0.0, 0.3])
@pytest.mark.parametrize("bias", ["none", "penalized", "free"])
def test_every_label_is_compared_with_the_zero_label(bias: str, gaps: float) -> None:
    X, Y = problem(11, n=24)
    Y[:2], Y[2] = 0, 1
    Y = with_gaps(Y, gaps)
    # A label that is always relevant is a component of its own.
    Y = np.column_stack([Y, np.ones(len(Y))])
    exact = RankSVMz(C=2.0, kernel="linear", bias=bias, solver="exact").fit(X, Y)
    cluster = dealt(X, Y, 4, C=2.0, kind="zero label")
    solution = solved(cluster, (X.shape[1], Y.shape[1] + 1), Model("zero_label_hinge", bias))
    assert solution.status == "converged"
    assert solution.primal == pytest.approx(exact.objective_, rel=2 * TOL)
    assert solution.dual <= exact.objective_ * (1.0 + 1e-6)
    # The objective is that of the weights, by its definition.
    scores = X @ solution.weights + solution.bias
    margins = np.where(Y == 1, 1.0, -1.0) * (scores[:, :-1] - scores[:, -1:])
    slacks = np.where(np.isnan(Y), 0.0, np.maximum(0.0, 1.0 - margins))
    known = np.maximum(np.count_nonzero(~np.isnan(Y), axis=1), 1)
    value = 0.5 * np.sum(solution.weights**2) + 2.0 * float(np.sum(slacks.sum(axis=1) / known))
    value += 0.5 * float(np.sum(solution.bias**2)) if bias == "penalized" else 0.0
    assert solution.primal == pytest.approx(value, rel=1e-9)


@pytest.mark.parametrize("weighted", [False, True])
def test_every_pair_weighs_the_same(weighted: bool) -> None:
    X, Y = problem(12)
    weight = np.random.default_rng(2).uniform(0.0, 3.0, len(Y)) if weighted else None
    options = {"C": 3.0, "kernel": "linear", "pair_weights": "uniform"}
    exact = RankSVM(**options, solver="exact").fit(X, Y, sample_weight=weight).objective_
    cluster = dealt(X, Y, 4, C=3.0, weight=weight, kind="uniform")
    rows = len(Y) if weight is None else weight.sum()
    cluster = cluster.view(parts.Part.reweighted, 1.0 / rows)
    assert cluster.sums(parts.describe)["row_weight"] == pytest.approx(rows)
    solution = solved(cluster, (8, 5), Model("hinge", "free"))
    assert solution.status == "converged"
    assert solution.primal == pytest.approx(exact, rel=2 * TOL)


def test_a_free_bias_over_components_of_labels() -> None:
    # Label 0 is relevant for all rows, label 4 for none, and labels 1 and 2 always win over 3, 5.
    random = np.random.default_rng(3)
    X = random.normal(size=(80, 6))
    Y = np.zeros((80, 6), dtype=np.uint8)
    Y[:, 0] = 1
    Y[:, 1] = X[:, 0] + 0.5 * random.normal(size=80) > 0
    Y[:, 2] = 1 - Y[:, 1]
    both = Y[:, 1:3].copy()
    Y[:40, 1:3] = 1
    Y[:40, 3] = X[:40, 1] + 0.5 * random.normal(size=40) > 0
    Y[:40, 5] = 1 - Y[:40, 3]
    assert both.sum() == 80
    model, estimator = MODELS["hinge, free bias"]
    alone = estimator.set_params(solver="bcd", tol=1e-6).fit(X, Y)
    solution = solved(dealt(X, Y, 4), (6, 6), model)
    assert solution.status == "converged"
    assert solution.primal == pytest.approx(alone.objective_, rel=2 * TOL)
    assert solution.primal == pytest.approx(objective(model, X, Y, solution), rel=1e-9)


def test_a_free_bias_on_features_far_from_zero() -> None:
    X, Y = problem(4)
    model, estimator = MODELS["hinge, free bias"]
    exact = estimator.set_params(solver="exact").fit(X, Y).objective_
    solution = solved(dealt(X + 100.0, Y, 4), (X.shape[1], Y.shape[1]), model)
    assert solution.status == "converged"
    assert solution.primal == pytest.approx(exact, rel=2 * TOL)
    assert solution.primal == pytest.approx(objective(model, X + 100.0, Y, solution), rel=1e-6)


@pytest.mark.parametrize("name", fast_only(MODELS, ["hinge", "squared hinge"]))
def test_the_dual_objective_bounds_at_every_round(name: str) -> None:
    model, estimator = MODELS[name]
    X, Y = problem(5)
    exact = estimator.set_params(solver="exact").fit(X, Y).objective_
    shape = (X.shape[1], Y.shape[1])
    # Momentum may overshoot; the line search alone never lets the dual objective fall.
    history = solved(dealt(X, Y, 8), shape, model, momentum=False).history
    assert (history["primal"] >= exact * (1 - 1e-6)).all() or model.bias == "free"
    if model.bias != "free":
        assert (history["dual"] <= exact * (1 + 1e-6)).all()
    if model.bias == "none":
        assert (np.diff(history["dual"]) >= -1e-9 * exact).all()


def small_text(C: float) -> tuple[LocalParts, tuple[int, int]]:
    """Return text with many labels, in four parts."""
    data = load_debian_tags()
    X = TfidfTransformer(sublinear_tf=True).fit_transform(data.X[:800])
    Y = np.asarray(data.Y[:800], dtype=np.uint8)
    return dealt(X, Y, 4, C=C), (X.shape[1], Y.shape[1])


def test_a_penalized_bias_takes_few_more_rounds_than_none() -> None:
    """With the kernel K + 1 in every part it takes some 20 times as many."""
    rounds_of = {}
    for kind in ("none", "penalized"):
        solution = solved(*small_text(10.0), Model("hinge", kind), tol=1e-3)
        assert solution.status == "converged"
        rounds_of[kind] = solution.rounds
    assert rounds_of["penalized"] <= 5 * rounds_of["none"]


@pytest.mark.parametrize("without", ["start", "looks", "flow near the margin"])
def test_what_speeds_up_a_free_bias_does_not_move_its_optimum(
    without: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = Model("hinge", "free")
    whole = solved(*small_text(0.3), model, tol=1e-3)
    if without == "start":
        monkeypatch.setattr(bias._rust, "best_bias_without_features", lambda C: np.zeros(len(C)))
    elif without == "looks":
        monkeypatch.setattr(bias, "_FIRST_GAP", 0.0)
    else:
        monkeypatch.setattr(bias, "_ALWAYS_ROOM", 0)
        monkeypatch.setattr(bias, "_BYTES_OF_CAPACITIES", 1e9)
    other = solved(*small_text(0.3), model, tol=1e-3)
    assert other.status == whole.status == "converged"
    assert other.rounds > whole.rounds
    assert other.dual <= whole.primal
    assert whole.dual <= other.primal


@pytest.mark.parametrize("name", ["hinge, penalized bias", "hinge, free bias"])
@pytest.mark.parametrize("C", [1e-3, 1.0, 1e3])
def test_the_bias_settles_at_every_C(name: str, C: float) -> None:
    X, Y = problem(9, n=30)
    model, estimator = MODELS[name]
    exact = clone(estimator).set_params(C=C, solver="exact").fit(X, Y)
    shape = (X.shape[1], Y.shape[1])
    solution = solved(dealt(X, Y, 4, C=C), shape, model, tol=1e-3)
    assert solution.status == "converged"
    assert solution.primal == pytest.approx(exact.objective_, rel=1e-3)


def test_the_same_parts_and_seed_give_the_same_bits() -> None:
    X, Y = problem(6)
    model, _ = MODELS["hinge, free bias"]
    first, second = (solved(dealt(X, Y, 4), (8, 5), model, max_rounds=9) for _ in range(2))
    np.testing.assert_array_equal(first.weights, second.weights)
    np.testing.assert_array_equal(first.bias, second.bias)
    third = solved(dealt(X, Y, 4), (8, 5), model, threads=3, max_rounds=9)
    np.testing.assert_array_equal(first.weights, third.weights)


@pytest.mark.parametrize("name", first_fast(["optimal margin", "hinge", "hinge, free bias"], 1))
def test_momentum_changes_how_fast_and_not_where_to(name: str) -> None:
    model, estimator = MODELS[name]
    X, Y = problem(9, n=120)
    exact = estimator.set_params(solver="exact", C=4.0).fit(X, Y).objective_
    estimator.set_params(C=1.0)
    rounds_taken = []
    for momentum in (False, True):
        solution = solved(dealt(X, Y, 4, C=4.0), (8, 5), model, tol=1e-3, momentum=momentum)
        assert solution.status == "converged"
        assert solution.dual <= exact * (1 + 1e-6)
        assert solution.primal == pytest.approx(exact, rel=2e-3)
        rounds_taken.append(solution.rounds)
    assert rounds_taken[0] > 50
    assert rounds_taken[1] != rounds_taken[0]


@pytest.mark.parametrize("name", fast_only(MODELS, ["hinge", "squared hinge"]))
def test_rows_without_pairs_and_parts_without_rows(name: str) -> None:
    model, estimator = MODELS[name]
    X, Y = problem(7, n=12)
    Y[:3] = 0
    Y[3] = 1
    exact = estimator.set_params(solver="exact").fit(X, Y).objective_
    cluster = dealt(X, Y, 16)
    assert any(part.X.shape[0] == 0 for part in cluster.data)
    solution = solved(cluster, (8, 5), model)
    assert solution.status == "converged"
    assert solution.primal == pytest.approx(exact, rel=2 * TOL)


@pytest.mark.parametrize("name", MODELS)
def test_a_fit_that_is_stopped_is_certified(name: str) -> None:
    model, estimator = MODELS[name]
    X, Y = problem(8)
    exact = estimator.set_params(solver="exact").fit(X, Y).objective_

    def stop(epoch: int, *_: Any) -> bool:
        return epoch == 4

    def press(epoch: int, *_: Any) -> bool:
        if epoch == 4:
            raise KeyboardInterrupt
        return False

    for changes in ({"max_rounds": 4}, {"callback": stop}, {"callback": press}):
        solution = solved(dealt(X, Y, 4), (8, 5), model, tol=1e-12, **changes)
        assert solution.rounds == 4
        last = solution.history
        assert (last["primal"][-1], last["dual"][-1]) == (solution.primal, solution.dual)
        assert solution.status == ("max_iterations" if "max_rounds" in changes else "interrupted")
        assert solution.primal == pytest.approx(objective(model, X, Y, solution), rel=1e-9)
        assert 0.1 * exact <= solution.dual <= exact * (1 + 1e-6) <= solution.primal * (1 + 2e-6)


@pytest.mark.parametrize("interrupted", ["residual_capacities", "rerouted", "certify"])
def test_ctrl_c_in_the_middle_of_a_repair_leaves_a_bound(
    interrupted: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The dual rows have moved by then, and the common point is not theirs yet."""
    model, estimator = MODELS["hinge, free bias"]
    X, Y = problem(8)
    exact = estimator.set_params(solver="exact").fit(X, Y).objective_
    cluster = dealt(X, Y, 4)
    left = [True]

    def once(method: Any) -> Any:
        def interrupting(function: Any, *arguments: Any) -> Any:
            answer = method(function, *arguments)
            if function.__name__ == interrupted and left:
                left.clear()
                raise KeyboardInterrupt
            return answer

        return interrupting

    monkeypatch.setattr(cluster, "advance", once(cluster.advance))
    monkeypatch.setattr(cluster, "state_sums", once(cluster.state_sums))
    solution = solved(cluster, (8, 5), model, max_rounds=4)
    assert not left
    assert solution.status == "interrupted"
    assert solution.primal == pytest.approx(objective(model, X, Y, solution), rel=1e-9)
    assert 0.0 <= solution.dual <= exact * (1 + 1e-6) <= solution.primal * (1 + 2e-6)
    total = cluster.state_sums(parts.contribution, 1.0)["sum"]
    np.testing.assert_allclose(total, 0.0, atol=1e-9)


@pytest.mark.parametrize("name", fast_only(MODELS, ["squared hinge"]))
def test_a_deadline_ends_the_rounds_with_a_certificate(name: str) -> None:
    model, _ = MODELS[name]
    X, Y = problem()
    shape = X.shape[1], Y.shape[1]
    # Long ago: the rounds end at the first point that a round has moved.
    stopped = solved(dealt(X, Y, 3, C=10.0), shape, model, tol=1e-9, deadline=0.0)
    assert (stopped.status, stopped.rounds) == ("time_limit", 2)
    assert stopped.primal == pytest.approx(objective(model, X, Y, stopped, C=10.0), rel=1e-9)
    whole = solved(dealt(X, Y, 3, C=10.0), shape, model)
    assert 0.0 <= stopped.dual <= whole.primal
    # B = 0 bounds a free bias, whose rows have to sum to 0, until a repair is better.
    assert stopped.dual > 0.0 or model.bias == "free"
    assert stopped.primal >= whole.dual
    assert stopped.gap > 1e-9
    last = stopped.history
    assert (last["primal"][-1], last["dual"][-1]) == (stopped.primal, stopped.dual)


@pytest.mark.parametrize("name", ["hinge", "hinge, free bias", "squared hinge"])
@pytest.mark.parametrize(("n", "d", "q", "density"), [(60, 4000, 5, 0.02), (3000, 120, 14, 1.0)])
def test_bits_are_those_of_one_blas_thread(
    name: str, n: int, d: int, q: int, density: float
) -> None:
    # As many weights, or products of rows, as a BLAS deals to several threads.
    random = np.random.default_rng(3)
    X: Any = sparse.random(n, d, density=density, rng=random, format="csr")
    if density == 1.0:
        X = X.toarray() - 0.5
    Y = (random.random((n, q)) < 0.4).astype(np.uint8)
    found = []
    for threads in (1, 2):
        with threadpool_limits(threads, user_api="blas"):
            found.append(solved(dealt(X, Y, 3), (d, q), MODELS[name][0], max_rounds=6, tol=1e-3))
    np.testing.assert_array_equal(found[0].weights, found[1].weights)
    assert (found[0].primal, found[0].dual) == (found[1].primal, found[1].dual)


def test_a_bound_above_the_objective_certifies_nothing() -> None:
    assert relative_gap(29.17, 48.65) == np.inf
    assert relative_gap(1.0, np.nan) == np.inf
    assert -1e-9 <= relative_gap(1.0, 1.0 + 1e-12) < 0.0
    assert relative_gap(0.0, 0.0) == 0.0
