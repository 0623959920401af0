"""The label pairs of the exact models, their matrices, and the factor of a kernel matrix."""

import numpy as np
import pytest

from multimargin.estimators.shared import exact_pairs as exact

Y = np.array([[1, 0, 1, 0], [0, 0, 0, 0], [1, 1, 1, 1], [0, 0, 0, 1]])


def test_pairs_are_listed_by_instance_then_relevant_then_irrelevant_label():
    i, m, n = exact.pairs(Y)
    triples = list(zip(i.tolist(), m.tolist(), n.tolist(), strict=True))
    assert triples == [
        (0, 0, 1),
        (0, 0, 3),
        (0, 2, 1),
        (0, 2, 3),
        (3, 3, 0),
        (3, 3, 1),
        (3, 3, 2),
    ]


def test_pair_weights_share_C_within_an_instance():
    pairs = exact.pairs(Y)
    c = exact.pair_weights(pairs, 6.0)
    np.testing.assert_allclose(c, [1.5] * 4 + [2.0] * 3, rtol=1e-15)


def test_block_pair_matrix_stacks_H_i_alpha_i():
    pairs = exact.pairs(Y)
    H = exact.pair_matrix(pairs, 4).toarray()
    alpha = np.random.default_rng(0).random(len(pairs.i))
    B = (exact.block_pair_matrix(pairs, len(Y), 4) @ alpha).reshape(Y.shape)
    for i in range(len(Y)):
        H_i, alpha_i = H[:, pairs.i == i], alpha[pairs.i == i]
        np.testing.assert_allclose(B[i], H_i @ alpha_i, atol=1e-15)


def test_transposed_block_pair_matrix_takes_score_differences():
    pairs = exact.pairs(Y)
    F = np.random.default_rng(1).normal(size=Y.shape)
    differences = exact.block_pair_matrix(pairs, *Y.shape).T @ F.ravel()
    np.testing.assert_array_equal(differences, F[pairs.i, pairs.m] - F[pairs.i, pairs.n])


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


def test_kernel_matrix_adds_one_for_the_penalised_bias_and_leaves_its_argument_alone():
    K = np.eye(3)
    np.testing.assert_array_equal(exact.kernel_matrix(K, "penalized"), np.eye(3) + 1)
    np.testing.assert_array_equal(exact.kernel_matrix(K, "free"), np.eye(3))
    np.testing.assert_array_equal(K, np.eye(3))


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


@pytest.mark.parametrize(("n", "d"), [(6, 3), (4, 9), (5, 5)])
def test_factor_reproduces_a_linear_kernel_with_its_rank(n, d):
    X = np.random.default_rng(n).normal(size=(n, d))
    X[1] = X[0]
    G = exact.factor(X @ X.T)
    assert G.shape == (n, min(n - 1, d))
    np.testing.assert_allclose(G @ G.T, X @ X.T, atol=1e-13 * d)


def test_factor_clips_a_negative_eigenvalue_of_rounding_size():
    G = exact.factor(np.diag([2.0, 1.0, -1e-13]))
    np.testing.assert_allclose(G @ G.T, np.diag([2.0, 1.0, 0.0]), atol=1e-15)


def test_factor_rejects_an_indefinite_matrix():
    with pytest.raises(ValueError, match=r"K is indefinite: its eigenvalues lie between -0\.5"):
        exact.factor(np.diag([2.0, -0.5]))
