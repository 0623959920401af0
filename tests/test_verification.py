"""The fast solvers against the exact one, and a verdict that can be negative."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from multimargin import MLODM, LabelSpecificBinaryRelevance, RankSVM
from multimargin.datasets import load_digit_attributes
from multimargin.estimators.shared import pairwise as base
from multimargin.estimators.shared.problem import Fit, Problem
from multimargin.methods import METHODS, make_method
from multimargin.verification import draw_rows, verify

X, _, Y, _ = load_digit_attributes().train_test()
ROWS = draw_rows(Y, 12)
# What label-ranker chooses is one of the others.
WITH_OBJECTIVE = [name for name in METHODS if name not in ("label-ranker", "llsf-bsvm", "llsf-cc")]


@pytest.mark.parametrize("name", WITH_OBJECTIVE)
def test_every_method_agrees(name: str) -> None:
    found = verify(make_method(name), X[ROWS][:, 20:40], Y[ROWS][:, :4])
    assert found.agrees
    assert found.objective_difference < 1e-6
    assert found.score_difference < 1e-2
    assert found.bound <= found.exact_objective * (1 + 1e-9)
    assert (found.n_samples, found.n_features, found.n_labels) == (12, 20, 4)


def test_a_wrong_solver_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    solve = base.solve

    def careless(problem: Problem, solver: str) -> Fit:
        fit = solve(problem, solver)
        return fit if solver == "exact" else replace(fit, primal=1.001 * fit.primal)

    monkeypatch.setattr(base, "solve", careless)
    # The estimators would notice: what is wrong here is what leaves them.
    monkeypatch.setattr(base, "certified", lambda problem, fit, *_: fit)
    found = verify(MLODM(random_state=0), X[ROWS], Y[ROWS])
    assert not found.agrees
    assert found.objective_difference == pytest.approx(1e-3, rel=1e-2)


def test_a_false_bound_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    found = verify(MLODM(random_state=0), X[ROWS], Y[ROWS])
    assert found.agrees
    assert not replace(found, bound=1.001 * found.exact_objective).agrees
    assert found.exact_bound is not None
    assert not replace(found, exact_bound=1.001 * found.objective).agrees
    assert not replace(found, tolerance=1e-15).agrees


def test_rows_have_pairs() -> None:
    labels = np.array([[0, 0], [1, 0], [1, 1], [0, 1], [1, 0]], dtype=np.uint8)
    assert draw_rows(labels, 9).tolist() == [1, 3, 4]
    assert draw_rows(labels, 2).size == 2
    assert draw_rows(labels, 2).tolist() == draw_rows(labels, 2).tolist()
    with pytest.raises(ValueError, match="no row with both"):
        draw_rows(labels[[0, 2]], 1)


def test_what_cannot_be_verified() -> None:
    for model, message in (
        (LabelSpecificBinaryRelevance(), "has no objective of its own; expected its selector"),
        (RankSVM(solver="exact"), "solver is 'exact'; expected one to compare"),
        (make_method("llsf", convexify=False), "convexify is False; expected True"),
    ):
        with pytest.raises(ValueError, match=message):
            verify(model, X[ROWS], Y[ROWS])
    for foreign in ("rank-svm", LogisticRegression()):
        with pytest.raises(TypeError, match=r"model is .*; expected a method of multimargin"):
            verify(foreign, X[ROWS], Y[ROWS])
