"""BP-MLL against numerical derivatives and an epoch by loops."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from scipy.optimize import approx_fprime

from multimargin.baselines import BPMLL


def row_loss(parameters, shapes, x, y):
    """Eq. (3) of Zhang and Zhou for one row, pair by pair."""
    cuts = np.cumsum([int(np.prod(shape)) for shape in shapes])[:-1]
    U, u, V, v = (
        part.reshape(shape) for part, shape in zip(np.split(parameters, cuts), shapes, strict=True)
    )
    c = np.tanh(V.T @ np.tanh(U.T @ x + u) + v)
    pairs = [(k, m) for k in np.flatnonzero(y) for m in np.flatnonzero(1 - y)]
    return sum(np.exp(-(c[k] - c[m])) for k, m in pairs) / len(pairs) if pairs else 0.0


def test_two_epochs_by_numerical_gradients():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((6, 5))
    Y = np.array([[1, 0, 0], [1, 1, 0], [0, 0, 0], [1, 1, 1], [0, 1, 1], [0, 0, 1]])
    shapes = [(5, 4), (4,), (4, 3), (3,)]
    start = BPMLL(hidden=0.8, n_epochs=1, learning_rate=1e-300, decay=0.0, random_state=7)
    start.fit(X, Y)
    order = (start.coefs_[0], start.intercepts_[0], start.coefs_[1], start.intercepts_[1])
    parameters = np.concatenate([part.ravel() for part in order])
    assert np.abs(parameters).max() <= 0.5
    rate, decay, losses = 0.1, 0.3, []
    for _ in range(2):
        losses.append(0.0)
        for x, y in zip(X, Y, strict=True):
            losses[-1] += row_loss(parameters, shapes, x, y)
            slope = approx_fprime(parameters, row_loss, 1e-7, shapes, x, y)
            # The penalty is decay ||.||^2 for all rows together.
            parameters = parameters - rate * (slope + 2 * decay / len(X) * parameters)
    model = BPMLL(hidden=0.8, n_epochs=2, learning_rate=rate, decay=decay, random_state=7)
    model.fit(X, Y)
    order = (model.coefs_[0], model.intercepts_[0], model.coefs_[1], model.intercepts_[1])
    assert_allclose(np.concatenate([part.ravel() for part in order]), parameters, atol=1e-6)
    assert_allclose(model.loss_curve_, losses, rtol=1e-6)
    U, u, V, v = order
    assert_allclose(model.label_scores(X), np.tanh(np.tanh(X @ U + u) @ V + v))


@pytest.mark.parametrize("decay", [0.1, 40.0])
def test_sparse_rows_take_the_same_steps(decay):
    # With the larger decay a step leaves a third of U, which is multiplied out now and then.
    rng = np.random.default_rng(3)
    X = sparse.random_array((12, 20), density=0.2, rng=rng, format="csr")
    Y = (rng.random((12, 4)) < 0.4).astype(int)
    Y[0] = [1, 0, 0, 1]
    halves = sparse.csr_array(
        (np.repeat(X.data / 2, 2), np.repeat(X.indices, 2), 2 * X.indptr), X.shape
    )
    models = [
        BPMLL(n_epochs=3, decay=decay, learning_rate=0.1, random_state=0).fit(form, Y)
        for form in (X.toarray(), X, halves)
    ]
    for model in models[1:]:
        assert_allclose(model.coefs_[0], models[0].coefs_[0], rtol=1e-9, atol=1e-12)
        assert_allclose(model.loss_curve_, models[0].loss_curve_, rtol=1e-9)


def test_a_decay_that_takes_everything():
    X = np.random.default_rng(0).standard_normal((4, 3))
    Y = np.array([[1, 0], [0, 1], [1, 0], [0, 1]])
    # 1 - 2 rate decay / n = 0: a step leaves of the parameters its gradient alone.
    model = BPMLL(n_epochs=2, decay=4.0, learning_rate=0.5, random_state=0).fit(X, Y)
    assert np.isfinite(model.label_scores(X)).all()


def test_no_pair_at_all():
    with pytest.raises(ValueError, match="y has no label pair"):
        BPMLL().fit(np.zeros((3, 2)), np.array([[1, 1], [0, 0], [1, 1]]))
