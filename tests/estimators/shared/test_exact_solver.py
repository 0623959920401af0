"""The call of the interior-point solver: a known optimum, and failures that say what helps."""

import sys

import cvxpy as cp
import numpy as np
import pytest

from multimargin.estimators.shared import exact_solver


def test_it_reaches_a_known_optimum():
    x = cp.Variable(3)
    point = np.array([2.0, -1.0, 0.5])
    constraints = [x >= 0, x <= 1]
    exact_solver.solve(cp.Problem(cp.Minimize(cp.sum_squares(x - point)), constraints))
    np.testing.assert_allclose(x.value, [1.0, 0.0, 0.5], atol=1e-10)
    # At x_1 = 1 the gradient -2 of the objective is held by the multiplier of x <= 1.
    np.testing.assert_allclose(constraints[1].dual_value, [2.0, 0.0, 0.0], atol=1e-9)


def test_a_problem_without_a_solution_is_an_error():
    x = cp.Variable()
    with pytest.raises(RuntimeError, match="status infeasible; expected 'optimal'"):
        exact_solver.solve(cp.Problem(cp.Minimize(x**2), [x >= 1, x <= 0]))


def test_too_few_iterations_are_an_error():
    x = cp.Variable(3)
    problem = cp.Problem(cp.Minimize(cp.sum_squares(x - [3.0, 1.0, 2.0])), [cp.norm1(x) <= 1])
    with pytest.raises(exact_solver.ExactSolverError, match="clarabel"):
        exact_solver.solve(problem, [({"max_iter": 1}, ("optimal",))])


def test_missing_cvxpy_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "cvxpy", None)
    with pytest.raises(ImportError, match=r"pip install 'multimargin\[exact\]'"):
        exact_solver.import_cvxpy()
