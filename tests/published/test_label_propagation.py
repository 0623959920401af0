"""MLGRF and MLLGC against minimisation by brute force, and what new rows get."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.optimize import minimize
from sklearn.base import clone

from published.rivals import CNMF, MLGRF, MLLGC
from tests.support.subsets import first_fast

METHODS = [MLGRF(), MLLGC(), CNMF()]


def problem(seed=0, n=10):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 2))
    Y = np.column_stack([X[:, 0] > 0, X[:, 0] > 0.3, X[:, 1] > 0]).astype(int)
    Y[n // 2 :] = -1
    return X, Y


def edges(X, k, gamma):
    """Weights of the mutual-or-one-sided neighbour graph, pair by pair."""
    n = len(X)
    near = [
        sorted((j for j in range(n) if j != i), key=lambda j: np.sum((X[i] - X[j]) ** 2))[:k]
        for i in range(n)
    ]
    return {
        (i, j): np.exp(-gamma * np.sum((X[i] - X[j]) ** 2))
        for i in range(n)
        for j in range(i)
        if j in near[i] or i in near[j]
    }


def cosine(a, b):
    return a @ b / np.sqrt((a @ a) * (b @ b))


def energy(F, Y, graph, *, method, rho, beta=1.0):
    """The objective as sums over edges."""
    labelled = Y[:, 0] >= 0
    q = Y.shape[1]
    among = {(k, m): cosine(Y[labelled, k], Y[labelled, m]) for k in range(q) for m in range(k)}
    if method == "mlgrf":
        rows = sum(w * np.sum((F[i] - F[j]) ** 2) for (i, j), w in graph.items())
        columns = sum(w * np.sum((F[:, k] - F[:, m]) ** 2) for (k, m), w in among.items())
        return rows + rho * columns
    degree, weight = np.zeros(len(F)), np.zeros(q)
    for (i, j), w in graph.items():
        degree[[i, j]] += w
    for (k, m), w in among.items():
        weight[[k, m]] += w
    G, H = F / np.sqrt(degree)[:, None], F / np.sqrt(weight)
    rows = sum(w * np.sum((G[i] - G[j]) ** 2) for (i, j), w in graph.items())
    columns = sum(w * np.sum((H[:, k] - H[:, m]) ** 2) for (k, m), w in among.items())
    given = np.where(labelled[:, None], Y, 0)
    return np.sum((F - given) ** 2) + beta * rows + rho * columns


@pytest.mark.parametrize("rho", first_fast([0.5, 0.0], 1))
def test_the_objective_is_minimal(rho):
    X, Y = problem()
    graph, options = edges(X, 4, 0.7), {"label_weight": rho, "n_neighbors": 4, "gamma": 0.7}
    found = MLGRF(**options).fit(X, Y).transduced_scores_
    assert_array_equal(found[:5], Y[:5])

    def of_unlabelled(free):
        F = np.vstack([Y[:5], free.reshape(5, 3)])
        return energy(F, Y, graph, method="mlgrf", rho=rho)

    best = minimize(of_unlabelled, np.zeros(15), tol=1e-12)
    assert_allclose(found[5:], best.x.reshape(5, 3), atol=1e-4)
    assert of_unlabelled(found[5:]) <= best.fun + 1e-9

    def of_all(F):
        return energy(F.reshape(10, 3), Y, graph, method="mllgc", rho=rho, beta=3.0)

    found = MLLGC(smoothness=3.0, **options).fit(X, Y).transduced_scores_
    best = minimize(of_all, np.zeros(30), tol=1e-12)
    assert_allclose(found, best.x.reshape(10, 3), atol=1e-4)
    assert of_all(found) <= best.fun + 1e-9


@pytest.mark.parametrize("model", METHODS, ids=lambda m: type(m).__name__)
def test_rows_of_the_fit_and_new_rows(model):
    X, Y = problem(n=40)
    model = clone(model).set_params(n_neighbors=5, gamma=0.5).fit(X, Y)
    assert_array_equal(model.labelled_, np.arange(20))
    assert_allclose(model.label_scores(X), model.transduced_scores_)
    x = np.array([0.2, -0.1])
    near = sorted(range(40), key=lambda j: np.sum((X[j] - x) ** 2))[:5]
    weights = [np.exp(-0.5 * np.sum((X[j] - x) ** 2)) for j in near]
    expected = np.average(model.transduced_scores_[near], axis=0, weights=weights)
    assert_allclose(model.label_scores([x])[0], expected)
    # Far from all rows the weights underflow; the nearest counts.
    assert np.isfinite(model.label_scores([[1e6, 1e6]])).all()
    # As many labels a row where none are known as where they are.
    assert model.predict(X[20:]).sum() == pytest.approx(Y[:20].sum(), abs=1)


@pytest.mark.parametrize("model", METHODS, ids=lambda m: type(m).__name__)
def test_sparse_features_and_classes(model):
    X, Y = problem(n=40)
    X = np.round(4 * X)
    model = clone(model).set_params(n_neighbors=5, gamma=0.5)
    dense = model.fit(X, Y).label_scores(X)
    assert_allclose(model.fit(sparse.csr_array(X), Y).label_scores(sparse.csr_array(X)), dense)
    y = np.where(X[:, 0] > 0, "b", "a").astype(object)
    codes = np.where(y == "b", 1, 0)
    codes[25:] = -1
    assert (model.fit(X, codes).predict(X)[25:] == (y == "b")[25:]).mean() > 0.6
