"""Exact solutions with bounds: where there is nothing to solve, and what leaves them alone.

`test_identities.py` and `tests/optimum` have their values.
"""

import numpy as np
import pytest

from multimargin.reference import exact
from multimargin.reference.matrices import damped, damped_solve, root
from tests.support.certificates import dual_infeasibility


def test_labels_that_biases_alone_separate_have_the_zero_solution():
    found = exact.hinge(np.eye(5), np.tri(5, 4, -1, dtype=int), bias="free")
    assert (found.lower, found.upper, found.B.any()) == (0.0, 0.0, False)


def test_arguments_are_left_alone():
    for solve in (exact.hinge, exact.squared_hinge, exact.margin_rho, exact.optimal_margin):
        K, Y, C = np.eye(2), np.array([[1, 0], [0, 1]]), np.array([1.0, 2.0])
        solve(K, Y, C)
        np.testing.assert_array_equal(K, np.eye(2))
        np.testing.assert_array_equal(Y, [[1, 0], [0, 1]])
        np.testing.assert_array_equal(C, [1.0, 2.0])


def test_an_indefinite_kernel_is_named():
    with pytest.raises(ValueError, match=r"indefinite: its eigenvalues lie between -0\.5"):
        root(np.diag([2.0, -0.5]))
    with pytest.raises(ValueError, match="K is indefinite"):
        exact.hinge(np.diag([1.0, -1.0]), np.eye(2, dtype=int), 1.0, "none")


@pytest.mark.parametrize("shape", [(3, 5), (5, 3)])
def test_factors_are_those_of_inverses(shape):
    random = np.random.default_rng(0)
    E, G = random.normal(size=shape), random.normal(size=(4, shape[1]))
    inverse = np.linalg.inv(np.eye(shape[1]) + E.T @ E)
    D = damped(G, E)
    np.testing.assert_allclose(D @ D.T, G @ inverse @ G.T, atol=1e-12)
    np.testing.assert_allclose(damped_solve(E, G.T), inverse @ G.T, atol=1e-12)


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
