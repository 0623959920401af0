"""ADTree against boosting by loops over all nodes, features and thresholds."""

import math
from itertools import pairwise

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse

from published.rivals import ADTree


class Loops:
    """De Comité et al. 2003 with preconditions as lists of tests."""

    def __init__(self, X, Y, rounds):
        self.root, self.rules = None, []
        n, q = len(X), len(Y[0])
        sign = [[1 if y else -1 for y in row] for row in Y]

        def weight(rows, label, relevant):
            return sum(
                math.exp(-sign[i][label] * score[i][label])
                for i in rows
                if (sign[i][label] > 0) == relevant
            )

        def vote(rows):
            return [
                0.5 * math.log((weight(rows, k, True) + 1) / (weight(rows, k, False) + 1))
                for k in range(q)
            ]

        def impurity(rows):
            return sum(
                2 * math.sqrt(weight(rows, k, True) * weight(rows, k, False)) for k in range(q)
            )

        score = [[0.0] * q for _ in range(n)]
        self.root = vote(range(n))
        score = [list(self.root) for _ in range(n)]
        preconditions = [[]]
        for _ in range(rounds):
            best = None
            for tests in preconditions:
                inside = [i for i in range(n) if self.holds(tests, X[i])]
                outside = [i for i in range(n) if i not in inside]
                rest = sum(weight(outside, k, r) for k in range(q) for r in (True, False))
                for feature in range(len(X[0])):
                    values = sorted({X[i][feature] for i in inside})
                    for a, b in pairwise(values):
                        yes = [i for i in inside if X[i][feature] <= a]
                        no = [i for i in inside if X[i][feature] > a]
                        z = impurity(yes) + impurity(no) + rest
                        if best is None or z < best[0] - 1e-9:
                            best = z, tests, feature, (a + b) / 2, yes, no
            if best is None:
                break
            _, tests, feature, threshold, yes, no = best
            votes = vote(yes), vote(no)
            for rows, added in zip((yes, no), votes, strict=True):
                for i in rows:
                    score[i] = [s + v for s, v in zip(score[i], added, strict=True)]
            self.rules.append((tests, feature, threshold, *votes))
            preconditions += [[*tests, (feature, threshold, True)]]
            preconditions += [[*tests, (feature, threshold, False)]]

    @staticmethod
    def holds(tests, x):
        return all((x[feature] < threshold) == answer for feature, threshold, answer in tests)

    def scores(self, x):
        total = list(self.root)
        for tests, feature, threshold, yes, no in self.rules:
            if self.holds(tests, x):
                added = yes if x[feature] < threshold else no
                total = [s + v for s, v in zip(total, added, strict=True)]
        return total


@pytest.mark.parametrize("kind", ["continuous", "binary", "both"])
def test_loops(kind):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((24, 3))
    if kind != "continuous":
        X = np.hstack([X, rng.integers(0, 3, (24, 3))])
    if kind == "binary":
        X = X[:, 3:]
    Y = (rng.random((24, 3)) < 0.3 + 0.5 * (X[:, [0]] > 0)).astype(int)
    expected = Loops(X.tolist(), Y.tolist(), 6)
    model = ADTree(n_rounds=6).fit(X, Y)
    X_test = np.vstack([X, rng.standard_normal((10, X.shape[1]))])
    found = model.label_scores(X_test)
    assert_allclose(found, [expected.scores(x) for x in X_test.tolist()], rtol=1e-9, atol=1e-12)
    as_sparse = ADTree(n_rounds=6).fit(sparse.csr_array(X), Y)
    assert_allclose(as_sparse.label_scores(sparse.csr_array(X_test)), found)
