"""The exact models where there is nothing to solve; tests/optimum has their certificates."""

import numpy as np
import pytest

from multimargin.estimators.shared import exact_models
from tests.support.cases import case
from tests.support.certificates import dual_infeasibility


@pytest.mark.parametrize(
    "solve", [exact_models.hinge, exact_models.squared_hinge, exact_models.optimal_margin]
)
def test_a_problem_without_pairs_has_the_zero_solution(solve):
    found = solve(np.eye(2), [[1, 1], [0, 0]])
    assert found.objective == found.primal == 0.0
    np.testing.assert_array_equal(found.F, np.zeros((2, 2)))


def test_labels_that_biases_alone_separate_have_the_zero_solution():
    found = exact_models.hinge(np.eye(5), np.tri(5, 4, -1, dtype=int), bias="free")
    assert (found.objective, found.primal, found.B.any()) == (0.0, 0.0, False)


def test_arguments_are_checked_and_left_alone():
    K, Y = np.eye(2), np.array([[1, 0], [0, 1]])
    odm, zero_label = exact_models.optimal_margin, exact_models.zero_label
    for solve, arguments, message in (
        (exact_models.hinge, (K, Y[:1]), "K has 2 rows and Y has 1"),
        (zero_label, (K, Y[:1]), "K has 2 rows and Y has 1"),
        (exact_models.hinge, (np.diag([1.0, -1.0]), Y, 1.0, "none"), "K is indefinite"),
        *((zero_label, (K, Y, C), "C is") for C in (0.0, np.nan)),
        *((odm, (K, Y, 1.0, theta, 0.5), "expected 0") for theta in (-0.1, 1.0)),
        *((odm, (K, Y, 1.0, 0.2, mu), "expected 0") for mu in (0.0, 1.1)),
    ):
        with case(arguments), pytest.raises(ValueError, match=message):
            solve(*arguments)
    exact_models.hinge(K, Y)
    np.testing.assert_array_equal(K, np.eye(2))
    np.testing.assert_array_equal(Y, [[1, 0], [0, 1]])


def test_dual_infeasibility_sees_every_constraint():
    Y = np.array([[1, 0], [1, 1]])
    for B, bias, expected in (
        ([[0, 0], [0, 0]], "free", 0),
        ([[1.5, -1.5], [0, 0]], "none", 0.5),
        ([[-0.5, 0.5], [0, 0]], "none", 0.5),
        ([[0.5, -0.25], [0, 0]], "none", 0.25),
        ([[0, 0], [0.5, -0.5]], "none", 0.5),
        ([[0.75, -0.75], [0, 0]], "free", 0.75),
    ):
        assert dual_infeasibility(Y, 1.0, np.array(B), bias) == expected
