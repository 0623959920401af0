"""The call of the interior-point solver: a known optimum, and failures that say what helps."""

import sys

import cvxpy as cp
import numpy as np
import pytest

from multimargin import MLODM, RankLSVM, RankSVM
from multimargin.reference import interior_point
from tests.support.exact import optimum_of
from tests.support.problems import unrelated_problem


def test_it_reaches_a_known_optimum():
    x = cp.Variable(3)
    point = np.array([2.0, -1.0, 0.5])
    constraints = [x >= 0, x <= 1]
    interior_point.solve_program(cp.Problem(cp.Minimize(cp.sum_squares(x - point)), constraints))
    np.testing.assert_allclose(x.value, [1.0, 0.0, 0.5], atol=1e-10)
    # At x_1 = 1 the gradient -2 of the objective is held by the multiplier of x <= 1.
    np.testing.assert_allclose(constraints[1].dual_value, [2.0, 0.0, 0.0], atol=1e-9)


def test_a_problem_without_a_solution_is_an_error():
    x = cp.Variable()
    with pytest.raises(RuntimeError, match="status infeasible; expected 'optimal'"):
        interior_point.solve_program(cp.Problem(cp.Minimize(x**2), [x >= 1, x <= 0]))


@pytest.mark.parametrize("method", [RankLSVM, MLODM])
def test_sums_of_long_columns_lose_nothing_by_kernel_values(method):
    X, Y = unrelated_problem(8, 29, 1, 5, share=0.5)
    found = optimum_of(method(C=7.0, kernel="linear"), 1e5 * X, Y)
    assert 0.0 <= found.upper - found.lower <= 1e-7 * found.upper


def test_a_failure_names_solver_status_and_remedy(monkeypatch):
    for settings, _ in interior_point.QUADRATIC:
        monkeypatch.setitem(settings, "max_iter", 1)
    X, Y = unrelated_problem(8, 12, 3, 4, share=0.5)
    with pytest.raises(
        interior_point.ExactSolverError, match=r"clarabel stopped with status .*; expected"
    ):
        optimum_of(RankSVM(), X, Y)
    with pytest.raises(RuntimeError, match=r"Scale the features, lower C .* solver='bcd'"):
        optimum_of(MLODM(), X, Y)


def test_missing_cvxpy_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "cvxpy", None)
    with pytest.raises(ImportError, match=r"pip install 'multimargin\[exact\]'"):
        interior_point.import_cvxpy()
