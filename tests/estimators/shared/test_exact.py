"""``solver="exact"``: its certificates are bounds, and its failures say what helps."""

import numpy as np
import pytest

from multimargin import MLODM, MLRL, RankLSVM, RankSVM, RankSVMz
from multimargin.estimators.shared import exact_solver
from tests.support.problems import unrelated_problem


def problem(seed, n=12, d=3, q=4):
    return unrelated_problem(seed, n, d, q, share=0.5)


@pytest.mark.parametrize(
    "model",
    [
        *(
            kind(C, solver="exact")
            for kind in (RankSVM, RankSVMz, RankLSVM, MLODM)
            for C in (1, 1e6)
        ),
        *(MLRL(lam, solver="exact") for lam in (1e-6, 0.1)),
    ],
    ids=str,
)
def test_the_gap_is_that_of_the_objectives(model):
    X, Y = problem(7)
    model.fit(X, Y)
    difference = model.objective_ - model.dual_objective_
    assert model.dual_gap_ == difference / model.objective_
    assert difference >= 0.0


def test_a_bound_above_the_objective_certifies_nothing():
    assert exact_solver.relative_gap(1.0, 1.1) == np.inf
    assert exact_solver.relative_gap(1.0, 1.1, loss_at_zero=2.0) == np.inf
    assert exact_solver.relative_gap(1.0, np.nan) == np.inf
    assert exact_solver.relative_gap(1e-20, 0.0, loss_at_zero=1.0) == 0.0


def test_a_failure_names_solver_status_and_remedy(monkeypatch):
    for settings, _ in exact_solver.QUADRATIC:
        monkeypatch.setitem(settings, "max_iter", 1)
    X, Y = problem(8)
    with pytest.raises(
        exact_solver.ExactSolverError, match=r"clarabel stopped with status .*; expected"
    ):
        RankSVM(solver="exact").fit(X, Y)
    with pytest.raises(RuntimeError, match=r"Scale the features, lower C .* solver='bcd'"):
        MLODM(solver="exact").fit(X, Y)
