"""The label pairs of the exact models, their matrices, and the factor of a kernel matrix."""

import numpy as np
import pytest

from multimargin.estimators.shared import exact_pairs as exact
from tests.support.cases import case


def test_what_is_wrong_is_named():
    pairs = exact.pairs([[1, 0, 1, 0], [0, 0, 0, 0]])
    not_symmetric = np.array([[1.0, 0.5], [0.0, 1.0]])
    for function, arguments, message in (
        *((exact.pair_weights, (pairs, C), "C is .*, exp") for C in (0.0, -1.0, np.nan, np.inf)),
        (exact.label_matrix, ([0, 1],), "Y has 1 dimension"),
        (exact.label_matrix, ([[-2, 1]],), "Y holds the values"),
        (exact.label_matrix, ([[0.5, 1]],), "Y holds"),
        (exact.kernel_matrix, (np.ones((2, 3)), "none"), "expected a square matrix"),
        (exact.kernel_matrix, (np.full((2, 2), np.nan), "none"), "NaN or infinite"),
        (exact.kernel_matrix, (not_symmetric, "none"), "expected symmetry"),
        (exact.factor, (np.diag([2.0, -0.5]),), r"indefinite: its eigenvalues lie between -0\.5"),
    ):
        with case(arguments), pytest.raises(ValueError, match=message):
            function(*arguments)
