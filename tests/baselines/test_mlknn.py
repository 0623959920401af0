"""ML-kNN against a worked example, loops written from the paper, and published tables."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse

from multimargin.baselines import MLkNN

# Distances to the right neighbour: 1, 2, 3, ...: no two are equal.
LINE = np.array([[0.0], [1.0], [3.0], [6.0]])


def by_loops(X, Y, X_test, k, s):
    """Zhang and Zhou (2007), figure 1: posterior probabilities."""
    n, q = len(Y), len(Y[0])

    def neighbours(x, barred=None):
        away = [(sum((a - b) ** 2 for a, b in zip(x, X[j], strict=True)), j) for j in range(n)]
        return [j for _, j in sorted(pair for pair in away if pair[1] != barred)[:k]]

    answer = []
    for x in X_test:
        row = []
        for label in range(q):
            has = sum(Y[i][label] for i in range(n))
            prior = (s + has) / (2 * s + n)
            with_label, without = [0] * (k + 1), [0] * (k + 1)
            for i in range(n):
                delta = sum(Y[j][label] for j in neighbours(X[i], barred=i))
                (with_label if Y[i][label] else without)[delta] += 1
            c = sum(Y[j][label] for j in neighbours(x))
            yes = prior * (s + with_label[c]) / (s * (k + 1) + sum(with_label))
            no = (1 - prior) * (s + without[c]) / (s * (k + 1) + sum(without))
            row.append(yes / (yes + no))
        answer.append(row)
    return answer


@pytest.mark.parametrize(("k", "s"), [(1, 1.0), (3, 0.5), (10, 1.0)])
@pytest.mark.parametrize("whole", [False, True], ids=["continuous", "many ties"])
def test_loops(k, s, whole):
    rng = np.random.default_rng(k)
    X, X_test = rng.standard_normal((40, 3)), rng.standard_normal((15, 3))
    if whole:  # the earlier of two rows at the same distance is the neighbour
        X, X_test = np.round(X), np.round(X_test)
    Y = (rng.random((40, 4)) < [0.5, 0.2, 0.9, 0.4]).astype(int)
    expected = by_loops(X.tolist(), Y.tolist(), X_test.tolist(), k, s)
    for as_features in (np.asarray, sparse.csr_array):
        model = MLkNN(n_neighbors=k, smoothing=s).fit(as_features(X), Y)
        assert_allclose(model.label_scores(as_features(X_test)), expected, rtol=1e-12)
    assert_allclose(model.predict(sparse.csr_array(X_test)), np.array(expected) > 0.5)


def test_rows_that_stand_in_twice_are_neighbours_of_each_other():
    X = np.repeat(np.random.default_rng(0).standard_normal((6, 2)), 2, axis=0)
    Y = np.repeat(np.eye(6, dtype=int), 2, axis=0)
    model = MLkNN(n_neighbors=1).fit(X, Y)
    # Both rows of each label have one neighbour with it.
    assert_allclose(model.likelihood_[1], np.tile([1 / 4, 3 / 4], (6, 1)))


def test_labels_of_one_class_and_few_rows():
    Y = np.array([[0, 1, 1], [0, 1, 0], [0, 1, 1], [0, 1, 0]])
    model = MLkNN(n_neighbors=10).fit(LINE, Y)
    assert model.n_neighbors_ == 3
    scores = model.label_scores(LINE)
    assert np.isfinite(scores).all()
    assert (scores[:, 0] < 0.5).all()
    assert (scores[:, 1] > 0.5).all()


def test_an_offset_of_the_features_changes_nothing():
    rng = np.random.default_rng(1)
    X = rng.integers(0, 100, (30, 2)).astype(float)
    Y = (rng.random((30, 3)) < 0.4).astype(int)
    near, far = (MLkNN(n_neighbors=2).fit(Z, Y).label_scores(Z) for Z in (X, X + 1e12))
    assert_allclose(near, far, rtol=1e-12)
