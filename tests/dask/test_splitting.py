"""The splitting over parts: the same iterates for any parts, the optimum of one machine."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy import sparse

from multimargin import RankLSVM, RankSVM, RankSVMz
from multimargin.dask import parts, solving, splitting
from multimargin.dask.parts import Pairs
from multimargin.dask.rounds import PartsFit, PartsLost
from multimargin.dask.splitting import Ridge, extrapolation, leap
from multimargin.estimators.fitting.products import product
from multimargin.estimators.pairwise.problem import Model
from tests.support.exact import exact_objective
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
from tests.support.subsets import first_fast

ZERO_LABEL = (Model("zero_label_hinge", "penalized"), RankSVMz(bias="penalized"))


def split_rounds(solution: PartsFit) -> int:
    return int(np.isfinite(solution.history["rho"]).sum())


@pytest.mark.parametrize("name", [*MODELS, "zero label"])
def test_the_iterates_are_those_of_one_part(name: str) -> None:
    """Also after changes of the penalty, leaps of the bias and extrapolations."""
    zero = name == "zero label"
    model = ZERO_LABEL[0] if zero else MODELS[name][0]
    X, Y = problem(1, n=40)
    found = []
    for count in (1, 3, 7):
        cluster = dealt(X, Y, count, C=10.0, kind="zero label" if zero else "balanced")
        found.append(solved(cluster, model, tol=1e-12, max_rounds=61))
    for other in found[1:]:
        scale = np.abs(found[0].weights).max()
        np.testing.assert_allclose(other.weights, found[0].weights, rtol=0, atol=1e-9 * scale)
        np.testing.assert_allclose(other.bias, found[0].bias, rtol=0, atol=1e-9)
        for column in ("primal", "dual", "rho"):
            np.testing.assert_allclose(
                other.history[column], found[0].history[column], rtol=1e-9, atol=1e-9
            )


@pytest.mark.parametrize("gaps", [False, True])
@pytest.mark.parametrize("name", MODELS)
def test_the_optimum_of_one_machine(name: str, gaps: bool) -> None:
    model, estimator = MODELS[name]
    X, Y = problem(10, n=30) if gaps else problem()
    if gaps:
        Y = with_gaps(Y, 0.3)
        Y[:2] = np.nan
    solution = solved(dealt(X, Y, 3), model)
    check(solution, exact_optimum(estimator, X, Y), objective(model, X, Y, solution))
    assert split_rounds(solution) == solution.rounds
    assert solution.history["epoch"].tolist() == list(range(1, solution.rounds + 1))
    assert solution.history["primal"][-1] == solution.primal


def odd_problem(seed: int) -> tuple[Any, Any, Any, dict[str, Any], list[Any]]:
    """Return features, labels, weights of rows, parameters, and the rows of each part."""
    random = np.random.default_rng(seed)
    n, d, q = random.integers(4, 25), random.integers(1, 7), random.integers(2, 6)
    X, Y = problem(seed, n=n, d=d, q=q)
    X = X * 10.0 ** random.uniform(-1, 1) + random.choice([0.0, 3.0])
    X[0], Y[0] = 0.0, np.arange(q) % 2
    Y[1] = random.integers(2)
    if random.random() < 0.5:
        # Relevant for no row, or for all.
        Y[1:, -1] = random.integers(2)
    Y = with_gaps(Y, random.choice([0.0, 0.2]), seed)
    weight = random.choice([0.0, 0.5, 1.0, 3.0], n) if random.random() < 0.5 else np.ones(n)
    Y[0], weight[0] = np.arange(q) % 2, 1.0
    parameters: dict[str, Any] = {"C": 10.0 ** random.uniform(-2, 1.5)}
    if random.random() < 0.3:
        parameters["top_k"] = 1
    if random.random() < 0.3:
        parameters["class_weight"] = dict(enumerate(random.uniform(0.5, 2.0, q)))
    # Parts without a row, of one, and of rows without pairs.
    cuts = np.sort(random.integers(0, n + 1, random.integers(1, 7)))
    rows = np.split(np.arange(n), [1, 2, *np.maximum(cuts, 2)])
    return X, Y, weight, parameters, rows


@pytest.mark.parametrize("seed", first_fast(range(500), 20))
def test_bounds_of_odd_parts(seed: int) -> None:
    X, Y, weight, parameters, rows = odd_problem(seed)
    bias = ("none", "penalized", "free")[seed % 3]
    estimator: Any = RankSVM(bias=bias)
    model = Model("hinge", bias)
    if seed % 4 == 0:
        estimator, model = RankLSVM(), Model("squared_hinge", "penalized")
    made = [
        parts.make_part(k, X[r], Y[r], weight[r], Pairs(parameters["C"]))
        for k, r in enumerate(rows)
    ]
    label_weights = parameters.get("class_weight")
    if label_weights is not None:
        label_weights = np.array(list(label_weights.values()))
    top = parameters.get("top_k")
    if label_weights is not None or top is not None:
        made = [part.counting(label_weights, top, True) for part in made]
    solution = solved(LocalParts(made), model, tol=1e-3, max_rounds=5000)
    given = {**parameters, "kernel": "linear", "class_weight": label_weights}
    exact = exact_objective(estimator.set_params(**given), X, Y, weight)
    assert solution.primal >= exact * (1.0 - 1e-6)
    assert solution.dual <= exact * (1.0 + 1e-6)
    # The dual rows of pairs at the top have to be mixed with others until they sum to 0.
    assert solution.status == "converged" or (model.bias == "free" and top is not None)
    assert solution.gap <= (1e-3 if solution.status == "converged" else 0.05)
    if model.bias != "free":
        assert (solution.history["dual"] <= exact * (1.0 + 1e-6)).all()
        assert (solution.history["primal"] >= exact * (1.0 - 1e-6)).all()


@pytest.mark.parametrize("top", [None, 1])
def test_slow_rounds_change_over_and_lose_nothing(top: int | None) -> None:
    model, estimator = Model("hinge", "penalized"), RankSVM(bias="penalized", top_k=top)
    X, Y = problem(3, n=60)
    cluster = dealt(sparse.csr_matrix(X), Y, 6, C=100.0)
    if top is not None:
        cluster = cluster.view(parts.Part.counting, None, top, True)
    solution = solved(cluster, model, tol=1e-3)
    assert solution.status == "converged"
    assert 0 < split_rounds(solution) < solution.rounds
    exact = exact_optimum(estimator, X, Y, C=100.0)
    assert solution.dual <= exact * (1 + 1e-6) <= solution.primal * (1 + 2e-6)
    # At the same weights and dual rows.
    rho = solution.history["rho"]
    first = int(np.argmax(np.isfinite(rho)))
    primal = solution.history["primal"]
    assert primal[first] <= primal[:first].max()


@pytest.mark.parametrize("name", MODELS)
def test_a_fit_that_is_stopped_is_certified(name: str) -> None:
    model, estimator = MODELS[name]
    X, Y = problem(8)
    exact = exact_optimum(estimator, X, Y)

    def press(epoch: int, *_: Any) -> bool:
        if epoch == 9:
            raise KeyboardInterrupt
        return False

    for changes in ({"max_rounds": 9}, {"callback": press}, {"deadline": 0.0}):
        solution = solved(dealt(X, Y, 4), model, tol=1e-12, **changes)
        assert solution.rounds == (2 if "deadline" in changes else 9)
        assert solution.status in ("max_iterations", "interrupted", "time_limit")
        assert solution.primal == pytest.approx(objective(model, X, Y, solution), rel=1e-9)
        assert 0.0 <= solution.dual <= exact * (1 + 1e-6) <= solution.primal * (1 + 2e-6)
        last = solution.history
        assert (last["primal"][-1], last["dual"][-1]) == (solution.primal, solution.dual)


@pytest.mark.parametrize("name", ["hinge, penalized bias", "hinge, free bias"])
@pytest.mark.parametrize("when", [1, 5, 30])
def test_parts_that_start_anew(name: str, when: int) -> None:
    """One part has older dual rows and no scores, as after the loss of its worker."""
    model, estimator = MODELS[name]
    X, Y = problem(4)

    class Losing(LocalParts):
        calls = 0

        def advance(self, *arguments: Any) -> Any:
            self.calls += 1
            if self.calls == when:
                self.states[1] = parts.fresh(self.data[1])
                raise PartsLost
            return super().advance(*arguments)

    solution = solved(Losing(dealt(X, Y, 3).data), model)
    check(solution, exact_optimum(estimator, X, Y), objective(model, X, Y, solution))


@pytest.mark.parametrize("bias", ["none", "penalized", "free"])
@pytest.mark.parametrize("C", [1e-100, 1e-6, 1e6, 1e100])
def test_extreme_weights_of_the_loss(C: float, bias: str) -> None:
    X, Y = problem(5, n=20)
    solution = solved(dealt(X, Y, 3, C=C), Model("hinge", bias), tol=1e-3, max_rounds=300)
    assert np.isfinite(solution.primal)
    assert solution.dual <= solution.primal
    if C < 1.0:
        assert solution.status == "converged"


def test_threads_change_no_bit() -> None:
    X, Y = problem(6, n=300)
    model, _ = MODELS["hinge, free bias"]
    first, second = (solved(dealt(X, Y, 2), model, threads=k, max_rounds=50) for k in (1, 3))
    np.testing.assert_array_equal(first.weights, second.weights)
    assert first.dual == second.dual


def test_a_ridge_regression_for_every_penalty() -> None:
    random = np.random.default_rng(0)
    X, T = random.normal(size=(20, 4)) + 2.0, random.normal(size=(20, 3))
    scales = random.uniform(0.5, 2.0, (20, 1))
    ones = scales * np.column_stack([X, np.ones(20)])
    for bias, penalty in (("none", 0.0), ("penalized", 1.0), ("free", 0.0)):
        ridge = Ridge(ones.T @ ones, bias)
        for rho in (0.1, 10.0):
            model = ridge.minimiser(rho, rho * product(ones.T, scales * T))
            slope = rho * ones.T @ (ones @ model - scales * T)
            slope += np.diag([1.0] * 4 + [penalty]) @ model
            np.testing.assert_allclose(slope[: 4 + (bias != "none")], 0.0, atol=1e-9)
            assert bias != "none" or not model[-1].any()


def test_the_shortest_move_of_a_mixture() -> None:
    random = np.random.default_rng(1)
    # An iteration that is linear ends at once.
    matrix = random.normal(size=(3, 3))
    matrix *= 0.9 / np.abs(np.linalg.eigvals(matrix)).max()
    states = [random.normal(size=3)]
    for _ in range(5):
        states.append(matrix @ states[-1] + 1.0)
    moves = np.diff(states, axis=0)
    weights = extrapolation(moves @ moves.T)
    assert weights is not None
    assert weights.sum() == pytest.approx(1.0)
    end = np.linalg.solve(np.eye(3) - matrix, np.ones(3))
    mixed = weights @ np.array(states[1:])
    assert np.linalg.norm(mixed - end) < 0.1 * np.linalg.norm(states[-1] - end)
    assert extrapolation(np.zeros((4, 4))) is None
    assert extrapolation(np.full((4, 4), np.nan)) is None


def test_a_leap_follows_the_secant() -> None:
    moved = np.array([0.2, -0.2, 0.2, 0.2, 0.0, 0.2])
    change = np.array([-0.4, 0.4, 0.1, -0.1, -1.0, 0.0])
    lack = np.array([0.2, -0.2, 0.3, 5.0, 1.0, -1.0])
    # As far as the secant says; no fall of what is lacking; at most as far as the last move.
    expected = [0.1, -0.1, 0.0, 0.2, 0.0, 0.0]
    np.testing.assert_allclose(leap(moved, change, lack), expected)


def test_features_that_are_too_many_are_left_to_the_other_rounds(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert solving.MOST_FEATURES == splitting.MOST_FEATURES
    monkeypatch.setattr(solving, "MOST_FEATURES", 7)
    X, Y = problem(2)
    solution = solved(dealt(X, Y, 3), MODELS["hinge"][0], tol=1e-2)
    assert split_rounds(solution) == 0


def test_rows_of_the_problem_with_a_zero_label() -> None:
    model, _ = ZERO_LABEL
    X, Y = problem(11, n=24)
    cluster = dealt(X, Y, 4, C=2.0, kind="zero label")
    solution = solved(cluster, replace(model, bias="free"))
    exact = exact_optimum(RankSVMz(bias="free"), X, Y, C=2.0)
    assert solution.status == "converged"
    assert solution.dual <= exact * (1 + 1e-6) <= solution.primal * (1 + 2e-6)
    assert solution.gap <= TOL
