"""BKNN and BR-kNN against loops and a worked example."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from published.rivals.brknn import BRkNN, FMeasureThreshold


def balanced_by_loops(X, Y, x, b, barred=None):
    raw = []
    distance = [float(np.linalg.norm(x - z)) if i != barred else None for i, z in enumerate(X)]
    exact = any(value == 0.0 for value in distance)
    for label in range(Y.shape[1]):
        own = sorted(
            (distance[i], i) for i in range(len(X)) if Y[i, label] and distance[i] is not None
        )[:b]
        weights = [float(away == 0.0) if exact else 1 / away for away, _ in own]
        raw.append(sum(weights) / len(weights) if weights else 0.0)
    return [value / max(raw) if max(raw) else 0.0 for value in raw]


def plain_by_loops(X, Y, x, b, barred=None):
    order = sorted((float(np.linalg.norm(x - z)), i) for i, z in enumerate(X) if i != barred)
    return np.mean([Y[i] for _, i in order[:b]], axis=0)


def best_threshold(scores, relevant, alpha):
    """Eq. (23) of LLSF: try all, the smallest of the best."""
    best, quality = 1.0, -1.0
    for step in range(101):
        predicted = scores > step / 100
        hits = np.sum(predicted & relevant)
        if hits:
            precision, recall = hits / predicted.sum(), hits / relevant.sum()
            value = 2 / (alpha / precision + (1 - alpha) / recall)
            if value > quality + 1e-12:
                best, quality = step / 100, value
    return best


@pytest.mark.parametrize("balanced", [True, False])
@pytest.mark.parametrize("alpha", [0.5, 0.2])
@pytest.mark.parametrize("duplicates", [False, True])
def test_loops(balanced, alpha, duplicates):
    rng = np.random.default_rng(3)
    X = rng.standard_normal((30, 3))
    if duplicates:
        X[10:20] = X[:10]
    Y = (rng.random((30, 4)) < [0.5, 0.1, 0.8, 0.3]).astype(int)
    X_test = np.vstack([rng.standard_normal((10, 3)), X[:2]])
    model = BRkNN(n_neighbors=4, balanced=balanced, alpha=alpha).fit(X, Y)
    by_loops = balanced_by_loops if balanced else plain_by_loops
    expected = np.array([by_loops(X, Y, x, 4) for x in X_test])
    assert_allclose(model.label_scores(X_test), expected, rtol=1e-10)
    of_training = np.array([by_loops(X, Y, x, 4, barred=i) for i, x in enumerate(X)])
    thresholds = [best_threshold(of_training[:, k], Y[:, k].astype(bool), alpha) for k in range(4)]
    assert_allclose(model.threshold_.thresholds_, thresholds)
    assert_array_equal(model.predict(X_test), expected > thresholds)


@pytest.mark.parametrize("balanced", [True, False])
def test_labels_of_one_class_and_one_row(balanced):
    X = np.random.default_rng(0).standard_normal((12, 2))
    Y = np.zeros((12, 3), dtype=int)
    Y[:, 1], Y[4, 2] = 1, 1
    model = BRkNN(balanced=balanced).fit(X, Y)
    assert np.isfinite(model.label_scores(X)).all()
    assert not model.predict(X)[:, 0].any()
    assert BRkNN(n_neighbors=3).fit(X[:1], Y[:1]).label_scores(X[:1]).shape == (1, 3)


def test_a_threshold_follows_the_unit_of_its_scores():
    rng = np.random.default_rng(0)
    F, Y = rng.random((20, 3)), rng.integers(0, 2, (20, 3))
    threshold = FMeasureThreshold().fit(F, Y)
    expected = threshold.predict(F) < F
    assert_array_equal(threshold.rescale(4.0).predict(4.0 * F) < 4.0 * F, expected)
