"""The LLSF reference: optimality, the published loop, and its divergence."""

import numpy as np
import pytest
from sklearn.svm import LinearSVC

from multimargin.reference import llsf
from tests.support.problems import unrelated_problem


def random_problem(seed, n=10, d=5, q=4):
    return unrelated_problem(seed, n, d, q, share=0.45)


def test_dissimilarity_has_a_zero_diagonal_and_knows_absent_labels():
    Y = np.array([[1, 1, 0, 1], [1, 1, 0, 0], [0, 0, 0, 1], [0, 0, 0, 1]])
    R = llsf.label_dissimilarity(Y)
    cosine = 1 / np.sqrt(2 * 3)
    expected = [
        [0, 0, 1, 1 - cosine],
        [0, 0, 1, 1 - cosine],
        [1, 1, 0, 1],
        [1 - cosine, 1 - cosine, 1, 0],
    ]
    np.testing.assert_allclose(R, expected, atol=1e-15)
    assert np.linalg.eigvalsh(R)[0] < 0


def test_published_loop_diverges_where_features_outnumber_instances():
    # Bag-of-words features, more of them than rows, and the paper's parameters.
    rng = np.random.default_rng(6)
    X = (rng.random((40, 100)) < 0.1).astype(float)
    Y = (rng.random((40, 8)) < 0.2).astype(int)
    loop = llsf.algorithm_1(X, Y, 0.5, 0.1, max_iter=1000)
    assert loop.objective < -1e20
    # The bound of the convex form: its objective is never negative.
    convex = llsf.algorithm_1(X, Y, 0.5, 0.1, max_iter=2000, delta=llsf.shift(X, Y, 0.5))
    assert 0 < convex.objective <= 0.5 * Y.sum()
    assert convex.objective == pytest.approx(llsf.problem_3(X, Y, 0.5, 0.1)[0], rel=1e-6)


def test_lipschitz_constant_is_safe_and_loose_by_at_most_the_root_of_two():
    X, Y = random_problem(7, 12, 6, 4)
    R = llsf.label_dissimilarity(Y)
    tight = np.linalg.norm(X.T @ X, 2) + 3.0 * np.linalg.norm(R, 2)
    assert tight <= llsf.lipschitz(X, R, 3.0) * (1 + 1e-12)
    assert llsf.lipschitz(X, R, 3.0) <= np.sqrt(2) * tight


def test_prediction_and_selection():
    X, Y = random_problem(8, 30, 6, 3)
    Y[:, 2] = 1
    W = np.array([[1.0, 0, 0], [0, 0, 1], [2, 0, 0], [0, 0, 0], [0, 0, 0], [0, 0, 0]])
    predicted, scores = llsf.algorithm_2(X, W, threshold=0.2)
    np.testing.assert_allclose(scores, X @ W)
    np.testing.assert_array_equal(predicted, X @ W > 0.2)
    by_svm, scores = llsf.algorithm_3(X, Y, X, W, LinearSVC)
    alone = LinearSVC().fit(X[:, [0, 2]], Y[:, 0])
    np.testing.assert_array_equal(by_svm[:, 0], alone.predict(X[:, [0, 2]]))
    np.testing.assert_allclose(scores[:, 0], alone.decision_function(X[:, [0, 2]]))
    assert (by_svm[:, 1] == int(Y[:, 1].mean() > 0.5)).all()
    assert by_svm[:, 2].all()
