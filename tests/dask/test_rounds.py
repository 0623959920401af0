"""The rounds over parts, in one process: the optimum of one machine, with a certificate."""

from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.feature_extraction.text import TfidfTransformer
from threadpoolctl import threadpool_limits

from multimargin import RankSVM, RankSVMz
from multimargin.dask import bias, parts, solving
from multimargin.dask.rounds import PartsFit, rounds_left
from multimargin.datasets import load_debian_tags
from multimargin.estimators.pairwise.problem import Model
from tests.support.certificates import hinge
from tests.support.local_parts import LocalParts
from tests.support.parts import (
    MODELS,
    TOL,
    check,
    dealt,
    exact_optimum,
    objective,
    problem,
    solved,
    with_gaps,
)
from tests.support.subsets import fast_only, first_fast


@pytest.fixture(autouse=True)
def no_splitting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(solving, "MOST_FEATURES", 0)


@pytest.mark.parametrize("gaps", [False, True])
@pytest.mark.parametrize("count", first_fast([3, 1, 16], 1))
@pytest.mark.parametrize("name", MODELS)
def test_the_optimum_of_one_machine(name: str, count: int, gaps: bool) -> None:
    model, estimator = MODELS[name]
    X, Y = problem(10, n=30) if gaps else problem()
    if gaps:
        Y = with_gaps(Y, 0.3)
        Y[:2] = np.nan
    solution = solved(dealt(X, Y, count), model)
    check(solution, exact_optimum(estimator, X, Y), objective(model, X, Y, solution))
    assert solution.history["primal"][-1] == solution.primal
    assert solution.history["epoch"].tolist() == list(range(1, solution.rounds + 1))


@pytest.mark.parametrize("name", fast_only(MODELS, ["hinge, penalized bias"]))
def test_sparse_rows_and_rows_without_pairs_and_parts_without_rows(name: str) -> None:
    model, estimator = MODELS[name]
    X, Y = problem(7, n=12)
    X = np.where(np.abs(X) > 0.7, X, 0.0)
    Y[:3], Y[3] = 0, 1
    for rows in (X, sparse.csr_matrix(X)):
        cluster = dealt(rows, Y, 16)
        assert any(part.X.shape[0] == 0 for part in cluster.data)
        solution = solved(cluster, model)
        check(solution, exact_optimum(estimator, X, Y), objective(model, X, Y, solution))


@pytest.mark.parametrize("name", ["hinge", "squared hinge", "hinge, free bias"])
def test_weights_of_rows_count_as_copies_do(name: str) -> None:
    model, estimator = MODELS[name]
    X, Y = problem(2, n=40)
    weight = np.random.default_rng(0).integers(0, 4, 40).astype(float)
    copies = np.repeat(np.arange(40), weight.astype(int))
    exact = exact_optimum(estimator, X[copies], Y[copies])
    solution = solved(dealt(X, Y, 5, weight=weight), model)
    check(solution, exact, objective(model, X, Y, solution, 1.0, weight))


@pytest.mark.parametrize("gaps", [0.0, 0.3])
@pytest.mark.parametrize("bias", ["none", "penalized", "free"])
def test_every_label_is_compared_with_the_zero_label(bias: str, gaps: float) -> None:
    X, Y = problem(11, n=24)
    Y[:2], Y[2] = 0, 1
    Y = with_gaps(Y, gaps)
    # A label that is always relevant is a component of its own.
    Y = np.column_stack([Y, np.ones(len(Y))])
    cluster = dealt(X, Y, 4, C=2.0, kind="zero label")
    solution = solved(cluster, Model("zero_label_hinge", bias))
    scores = X @ solution.weights + solution.bias
    slacks = hinge(np.where(Y == 1, 1.0, -1.0) * (scores[:, :-1] - scores[:, -1:]))
    value = 0.5 * np.sum(solution.weights**2) + 2.0 * float(
        np.nanmean(slacks + 0 * Y, axis=1).sum()
    )
    value += 0.5 * float(np.sum(solution.bias**2)) if bias == "penalized" else 0.0
    check(solution, exact_optimum(RankSVMz(bias=bias), X, Y, C=2.0), value)


@pytest.mark.parametrize("weighted", [False, True])
def test_every_pair_weighs_the_same(weighted: bool) -> None:
    X, Y = problem(12)
    weight = np.random.default_rng(2).uniform(0.0, 3.0, len(Y)) if weighted else np.ones(len(Y))
    exact = exact_optimum(RankSVM(pair_weights="uniform"), X, Y, weight, C=3.0)
    cluster = dealt(X, Y, 4, C=3.0, weight=weight if weighted else None, kind="uniform")
    cluster = cluster.view(parts.Part.reweighted, 1.0 / weight.sum())
    assert cluster.sums(parts.describe)["row_weight"] == pytest.approx(weight.sum())
    model = Model("hinge", "free")
    solution = solved(cluster, model)
    pairs = Y.sum(axis=1) * (5 - Y.sum(axis=1)).astype(float)
    value = objective(model, X, Y, solution, 3.0 / weight.sum(), weight * pairs)
    check(solution, exact, value)


def test_a_free_bias_over_components_of_labels() -> None:
    # Label 0 is relevant for all rows, label 4 for none, and labels 1 and 2 always win over 3, 5.
    random = np.random.default_rng(3)
    X = random.normal(size=(80, 6))
    Y = np.zeros((80, 6), dtype=np.uint8)
    Y[:, 0] = 1
    Y[:, 1] = X[:, 0] + 0.5 * random.normal(size=80) > 0
    Y[:, 2] = 1 - Y[:, 1]
    Y[:40, 1:3] = 1
    Y[:40, 3] = X[:40, 1] + 0.5 * random.normal(size=40) > 0
    Y[:40, 5] = 1 - Y[:40, 3]
    model, estimator = MODELS["hinge, free bias"]
    solution = solved(dealt(X, Y, 4), model)
    check(solution, exact_optimum(estimator, X, Y), objective(model, X, Y, solution))


@pytest.mark.parametrize("name", fast_only(MODELS, ["hinge", "squared hinge"]))
def test_the_dual_objective_bounds_at_every_round(name: str) -> None:
    model, estimator = MODELS[name]
    X, Y = problem(5)
    exact = exact_optimum(estimator, X, Y)
    history = solved(dealt(X, Y, 8), model).history
    assert (history["primal"] >= exact * (1 - 1e-6)).all() or model.bias == "free"
    if model.bias != "free":
        assert (history["dual"] <= exact * (1 + 1e-6)).all()
    if model.bias == "none":
        assert (np.diff(history["dual"]) >= -1e-9 * exact).all()


def small_text(C: float) -> LocalParts:
    """Text with many labels, in four parts."""
    data = load_debian_tags()
    X = TfidfTransformer(sublinear_tf=True).fit_transform(data.X[:800])
    Y = np.asarray(data.Y[:800], dtype=np.uint8)
    return dealt(X, Y, 4, C=C)


def test_a_penalized_bias_takes_few_more_rounds_than_none() -> None:
    """With the kernel K + 1 in every part it takes some 20 times as many."""
    rounds_of = {}
    for kind in ("none", "penalized"):
        solution = solved(small_text(10.0), Model("hinge", kind), tol=1e-3)
        assert solution.status == "converged"
        rounds_of[kind] = solution.rounds
    assert rounds_of["penalized"] <= 5 * rounds_of["none"]


@cache
def free_bias_of_text() -> PartsFit:
    return solved(small_text(0.3), Model("hinge", "free"), tol=1e-3)


@pytest.mark.parametrize("without", ["start", "looks", "flow near the margin"])
def test_what_speeds_up_a_free_bias_does_not_move_its_optimum(
    without: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = free_bias_of_text()
    if without == "start":
        monkeypatch.setattr(bias._rust, "best_bias_without_features", lambda C: np.zeros(len(C)))
    elif without == "looks":
        monkeypatch.setattr(bias, "_FIRST_GAP", 0.0)
    else:
        monkeypatch.setattr(bias, "_ALWAYS_ROOM", 0)
        monkeypatch.setattr(bias, "_BYTES_OF_CAPACITIES", 1e9)
    other = free_bias_of_text.__wrapped__()
    assert other.status == whole.status == "converged"
    assert other.rounds > whole.rounds
    assert other.dual <= whole.primal
    assert whole.dual <= other.primal


@pytest.mark.parametrize(
    ("name", "C", "offset"),
    [
        *(("hinge, penalized bias", C, 0.0) for C in (1e-3, 1.0, 1e3)),
        *(("hinge, free bias", C, 0.0) for C in (1e-3, 1.0, 1e3)),
        ("hinge, free bias", 1.0, 100.0),
    ],
)
def test_the_bias_settles_at_every_C_and_far_from_zero(name: str, C: float, offset: float) -> None:
    X, Y = problem(9, n=30)
    X, tol = X + offset, TOL if offset else 1e-3
    model, estimator = MODELS[name]
    solution = solved(dealt(X, Y, 4, C=C), model, tol=tol)
    exact = exact_optimum(estimator, X, Y, C=C)
    check(solution, exact, objective(model, X, Y, solution, C), tol)


def test_the_same_parts_and_seed_give_the_same_bits() -> None:
    X, Y = problem(6)
    model, _ = MODELS["hinge, free bias"]
    first, second = (solved(dealt(X, Y, 4), model, max_rounds=9) for _ in range(2))
    np.testing.assert_array_equal(first.weights, second.weights)
    np.testing.assert_array_equal(first.bias, second.bias)
    third = solved(dealt(X, Y, 4), model, threads=3, max_rounds=9)
    np.testing.assert_array_equal(first.weights, third.weights)


@pytest.mark.parametrize("name", MODELS)
def test_a_fit_that_is_stopped_is_certified(name: str) -> None:
    model, estimator = MODELS[name]
    X, Y = problem(8)
    exact = exact_optimum(estimator, X, Y)

    def stop(epoch: int, *_: Any) -> bool:
        return epoch == 4

    def press(epoch: int, *_: Any) -> bool:
        if epoch == 4:
            raise KeyboardInterrupt
        return False

    for changes in ({"max_rounds": 4}, {"callback": stop}, {"callback": press}):
        solution = solved(dealt(X, Y, 4), model, tol=1e-12, **changes)
        assert solution.rounds == 4
        last = solution.history
        assert (last["primal"][-1], last["dual"][-1]) == (solution.primal, solution.dual)
        assert solution.status == ("max_iterations" if "max_rounds" in changes else "interrupted")
        assert solution.primal == pytest.approx(objective(model, X, Y, solution), rel=1e-9)
        assert 0.1 * exact <= solution.dual <= exact * (1 + 1e-6) <= solution.primal * (1 + 2e-6)


@pytest.mark.parametrize("interrupted", ["pairs_near_margin", "rerouted", "certify"])
def test_ctrl_c_in_the_middle_of_a_repair_leaves_a_bound(
    interrupted: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The dual rows have moved by then, and the common point is not theirs yet."""
    model, estimator = MODELS["hinge, free bias"]
    X, Y = problem(8)
    exact = exact_optimum(estimator, X, Y)
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
    solution = solved(cluster, model, max_rounds=4)
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
    # Long ago: the rounds end at the first point that a round has moved.
    stopped = solved(dealt(X, Y, 3, C=10.0), model, tol=1e-9, deadline=0.0)
    assert (stopped.status, stopped.rounds) == ("time_limit", 2)
    assert stopped.primal == pytest.approx(objective(model, X, Y, stopped, C=10.0), rel=1e-9)
    whole = solved(dealt(X, Y, 3, C=10.0), model)
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
            found.append(solved(dealt(X, Y, 3), MODELS[name][0], max_rounds=6, tol=1e-3))
    np.testing.assert_array_equal(found[0].weights, found[1].weights)
    assert (found[0].primal, found[0].dual) == (found[1].primal, found[1].dual)


@pytest.mark.parametrize("features", [0, 4096])
@pytest.mark.parametrize("name", ["hinge", "hinge, penalized bias", "hinge, free bias"])
def test_rounding_is_that_of_what_is_summed_up(
    name: str, features: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(solving, "MOST_FEATURES", features)
    model, _ = MODELS[name]
    X, Y = problem(9, n=300)
    X = X + 30.0
    solution = solved(dealt(X, Y, 4, C=10.0), model, tol=1e-3, max_rounds=100)
    W, b = (np.asarray(array, dtype=np.longdouble) for array in (solution.weights, solution.bias))
    exact = replace(solution, weights=W, bias=b)
    error = abs(float(objective(model, X.astype(np.longdouble), Y, exact, 10.0)) - solution.primal)
    assert error <= solution.rounding < 1e-9 * solution.primal
    # The sizes of the terms, however large beside their sum, times so many units of rounding.
    scores = np.abs(X @ solution.weights) + np.abs(solution.bias)
    assert solution.rounding > 2.0**-52 * (solution.primal + scores.mean())


def test_the_rounds_that_are_left_at_a_pace() -> None:
    gaps = 0.5 ** np.arange(8)
    assert rounds_left(1.0 + 0.0 * gaps, 1.0 - gaps, 2.0**-12) == pytest.approx(5.0)
    assert rounds_left([1.0, 1.0], [0.5, 0.4], 1e-3) == np.inf
    assert rounds_left([1.0], [0.5], 1e-3) == np.inf
    assert rounds_left([1.0, 1.0], [0.5, 0.9995], 1e-3) == 0.0
    # Nothing is known of rounds without an objective.
    assert not rounds_left([np.inf, np.inf], [0.0, 0.0], 1e-3) < np.inf
