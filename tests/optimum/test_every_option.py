"""Every estimator, solver and option on random problems, judged by an exact quadratic programme."""

from dataclasses import replace
from functools import cache, partial

import numpy as np
import pytest

from multimargin import LLSF, MLRL, RankCVM, RankSVM
from tests.campaign import judging
from tests.campaign.bounds import optimum
from tests.campaign.judging import judge
from tests.campaign.tasks import (
    ENDS,
    SOLVERS,
    SOLVERS_OF_TOP_K,
    WEIGHTED,
    WITH_CLASS_WEIGHT,
    WITH_PAIR_WEIGHTS,
    WITH_TOP_K,
    draw_task,
    strained,
)
from tests.support.subsets import fast_only, first_fast

LOOPS = [(method, solver) for method, solvers in SOLVERS.items() for solver in sorted({*solvers})]
DRAWS = first_fast([range(3), range(9)], 1)


def with_parameters(task, **parameters):
    return replace(task, parameters=task.parameters | parameters)


def as_drawn(task, random):
    """Kernels, scales, storage and tolerances of all kinds, unknown labels in a part."""
    return task


def sample_weight(task, random):
    return replace(task, weights=random.integers(1, 4, size=len(task.Y)).astype(float))


def class_weight(task, random):
    weights = 10.0 ** random.uniform(-1.5, 1.5, size=task.Y.shape[1])
    return with_parameters(task, class_weight=weights)


def both_weights(task, random):
    return class_weight(sample_weight(task, random), random)


def unknown_labels(task, random):
    """A third of the labels, but one row that has a pair."""
    Y = task.Y.astype(float)
    unknown = (random.random(Y.shape) < 0.3) & (Y >= 0)
    unknown[np.flatnonzero((Y == 1).any(axis=1) & (Y == 0).any(axis=1))[0]] = False
    return replace(task, Y=np.where(unknown, np.nan, Y))


def uniform_pairs(task, random):
    weights = random.integers(1, 4, size=len(task.Y)).astype(float)
    task = replace(task, weights=weights if random.random() < 0.5 else None)
    return with_parameters(task, pair_weights="uniform")


def top_k(task, random):
    return with_parameters(task, top_k=int(random.integers(1, 5)))


def top_k_and_weights(task, random):
    # Weights of rows where the reference takes them.
    weighted = both_weights if task.estimator in WEIGHTED else class_weight
    return top_k(weighted(task, random), random)


def few_columns(task, random):
    """Standardised columns, fewer than rows, and a large C, on which coordinate ascent crawls."""
    X = random.normal(size=(len(task.Y), 3))
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    task = replace(task, X=X, features=X, scale=1.0, K=X @ X.T)
    return with_parameters(task, kernel="linear", C=10.0 ** random.uniform(1, 4), max_iter=5000)


OPTIONS = {
    as_drawn: tuple(SOLVERS),
    sample_weight: WEIGHTED,
    class_weight: WITH_CLASS_WEIGHT,
    both_weights: WEIGHTED,
    unknown_labels: tuple(method for method in SOLVERS if method is not LLSF),
    uniform_pairs: WITH_PAIR_WEIGHTS,
    top_k: WITH_TOP_K,
    top_k_and_weights: WITH_TOP_K,
    few_columns: WITH_CLASS_WEIGHT,
}
# Of the loops that solve such problems.
SOME = {top_k: SOLVERS_OF_TOP_K, top_k_and_weights: SOLVERS_OF_TOP_K, few_columns: ("bcd",)}
CASES = [
    (option, method, solver)
    for option, methods in OPTIONS.items()
    for method, solver in LOOPS
    if method in methods and solver in SOME.get(option, (solver,))
]
# The loops that users get, and one of each other kind.
DEFAULT = {method: solvers[0] for method, solvers in SOLVERS.items()}
OTHERS = {(RankSVM, "dcd"), (RankSVM, "frank-wolfe"), (RankCVM, "frank-wolfe")}
OTHERS |= {(MLRL, "alternating")}


def is_fast(option, method, solver):
    if option is as_drawn:
        return solver == DEFAULT[method] or (method, solver) in OTHERS
    return solver == DEFAULT[method] and option not in (sample_weight, class_weight)


def name_of(case):
    return "-".join(getattr(part, "__name__", part) for part in case)


def crawls(solver):
    """Whether a loop may end before its tolerance: the published ones do so often."""
    return solver in ("dcd", "multiplicative", "frank-wolfe", "alternating")


@pytest.mark.parametrize(
    ("option", "method", "solver"),
    fast_only(CASES, [case for case in CASES if is_fast(*case)]),
    ids=map(name_of, CASES),
)
@pytest.mark.parametrize("draws", DRAWS, ids=str)
def test_no_miss(option, method, solver, draws):
    statuses, resolved = [], 0
    for index in draws:
        number = 1000 * LOOPS.index((method, solver)) + index
        # Each option has problems of its own.
        task = draw_task(2 + list(OPTIONS).index(option), number, method, solver)
        if option is not as_drawn:
            # As close as the judge can see.
            task = with_parameters(task, tol=task.parameters["tol"] if crawls(solver) else 1e-7)
            task = option(task, np.random.default_rng([len(option.__name__), number]))
        verdict = judge(task)
        assert not verdict.misses, f"{verdict.task}: {verdict.misses}"
        statuses.append(verdict.status)
        resolved += verdict.resolved
    # A judge who does not know the optimum finds little.
    assert resolved >= 0.7 * len(draws)
    # Everything but the published loops is to solve nearly all of them.
    assert statuses.count("converged") >= (0.2 if crawls(solver) else 0.6) * len(draws), statuses


@pytest.mark.parametrize(("method", "solver"), LOOPS, ids=map(name_of, LOOPS))
def test_the_returned_model_has_the_value_that_is_said(method, solver):
    first = 1000 * LOOPS.index((method, solver))
    for index in range(12):
        task = draw_task(7, first + index, method, solver)
        # The value of a point on the way is as good a test.
        task = with_parameters(task, max_iter=min(task.parameters["max_iter"], 300))
        verdict = judge(task, by_optimum=False)
        assert not verdict.misses, f"{verdict.task}: {verdict.misses}"


@pytest.mark.parametrize(
    ("method", "solver"),
    fast_only(LOOPS, [loop for loop in LOOPS if is_fast(as_drawn, *loop)]),
    ids=map(name_of, LOOPS),
)
def test_no_miss_where_a_fit_is_ended_early(method, solver, monkeypatch):
    first = 1000 * LOOPS.index((method, solver))
    drawn = [strained(draw_task(9, first + index, method, solver)) for index in range(30)]
    # The weights of a linear model and the expansion of a kernel are two models to be right.
    linear = [task for task in drawn if task.parameters.get("kernel", "linear") == "linear"]
    others = [task for task in drawn if task not in linear]
    statuses = set()
    for task in linear[:3] + others[:1]:
        # However a fit is ended, the optimum is that of the task.
        bounds = cache(partial(optimum, task))
        monkeypatch.setattr(judging, "optimum", lambda _, bounds=bounds: bounds())
        for ends in ENDS:
            verdict = judge(replace(task, ends=ends))
            assert not verdict.misses, f"{verdict.task}: {verdict.misses}"
            statuses.add((ends, verdict.status))
    ended = {"time": "time_limit", "interrupt": "interrupted", "epochs": "max_iterations"}
    assert statuses >= set(ended.items())
