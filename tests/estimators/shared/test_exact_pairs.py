"""The label pairs of the exact models, their matrices, and the factor of a kernel matrix."""

import numpy as np
import pytest

from multimargin.estimators.shared import exact_pairs as exact

Y = np.array([[1, 0, 1, 0], [0, 0, 0, 0], [1, 1, 1, 1], [0, 0, 0, 1]])


@pytest.mark.parametrize("C", [0.0, -1.0, np.nan, np.inf])
def test_pair_weights_reject_C(C):
    with pytest.raises(ValueError, match=r"C is .*, expected a positive finite number"):
        exact.pair_weights(exact.pairs(Y), C)


@pytest.mark.parametrize(
    ("labels", "message"),
    [([0, 1], "Y has 1 dimension"), ([[-2, 1]], "Y holds the values"), ([[0.5, 1]], "Y holds")],
)
def test_label_matrix_rejects(labels, message):
    with pytest.raises(ValueError, match=message):
        exact.label_matrix(labels)


@pytest.mark.parametrize(
    ("K", "message"),
    [
        (np.ones((2, 3)), "expected a square matrix"),
        (np.array([[1.0, np.nan], [np.nan, 1.0]]), "NaN or infinite"),
        (np.array([[1.0, 0.5], [0.0, 1.0]]), "expected symmetry"),
    ],
)
def test_kernel_matrix_rejects(K, message):
    with pytest.raises(ValueError, match=message):
        exact.kernel_matrix(K, "none")


def test_factor_rejects_an_indefinite_matrix():
    with pytest.raises(ValueError, match=r"K is indefinite: its eigenvalues lie between -0\.5"):
        exact.factor(np.diag([2.0, -0.5]))
