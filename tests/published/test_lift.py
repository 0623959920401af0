"""LIFT against its steps, written out."""

import numpy as np
from numpy.testing import assert_allclose
from scipy import sparse
from sklearn.cluster import KMeans
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from published.rivals import LIFT

RNG = np.random.default_rng(0)
X, X_test = RNG.standard_normal((60, 4)), RNG.standard_normal((20, 4))
Y = (X @ RNG.standard_normal((4, 3)) > [0.0, 1.0, -1.5]).astype(int)


def test_classifiers_on_distances_to_the_centres():
    model = LIFT(ratio=0.2, random_state=0).fit(X, Y)
    for k in range(3):
        sides = [X[Y[:, k] == 1], X[Y[:, k] == 0]]
        m = int(np.ceil(0.2 * min(map(len, sides))))
        assert model.centres_[k].shape == (2 * m, 4)
        for side, centres in zip(sides, np.split(model.centres_[k], 2), strict=True):
            # A fixed point of Lloyd's algorithm: each centre is the mean of the rows nearest to it.
            nearest = [min(range(m), key=lambda c: np.sum((x - centres[c]) ** 2)) for x in side]
            for c in range(m):
                own = side[[i for i, found in enumerate(nearest) if found == c]]
                assert_allclose(centres[c], own.mean(axis=0), rtol=1e-9)
            # and no worse than twice the best of twenty runs
            inertia = sum(np.sum((x - centres[c]) ** 2) for x, c in zip(side, nearest, strict=True))
            assert inertia <= 2 * KMeans(m, n_init=20, random_state=1).fit(side).inertia_ + 1e-9

        def features(Z, centres=model.centres_[k]):
            return np.array([[np.linalg.norm(z - c) for c in centres] for z in Z])

        svm = SVC(kernel="linear", C=1.0).fit(features(X), Y[:, k])
        expected = svm.decision_function(features(X_test))
        assert_allclose(model.label_scores(X_test)[:, k], expected, atol=1e-3)
        assert ((expected > 0) == model.predict(X_test)[:, k]).mean() > 0.94


def test_sparse_features_and_other_classifiers():
    tree = LIFT(estimator=DecisionTreeClassifier(random_state=0), random_state=0)
    dense = tree.fit(X, Y).label_scores(X_test)
    assert set(np.unique(dense)) == {-0.5, 0.5}
    model = LIFT(random_state=0).fit(sparse.csr_array(X), Y)
    assert model.label_scores(sparse.csr_array(X_test)).shape == (20, 3)


def test_labels_of_one_class_and_duplicates():
    labels = np.column_stack([0 * Y[:, 0], 1 + 0 * Y[:, 1], Y[:, 2]])
    scores = LIFT(ratio=1.0, random_state=0).fit(np.round(X / 2), labels).label_scores(X)
    assert (scores[:, 0] == -1).all()
    assert (scores[:, 1] == 1).all()
    assert np.isfinite(scores).all()
