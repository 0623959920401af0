"""The compiled loss with a zero label: its proximal map and its problems against exact solvers."""

import cvxpy as cp
import numpy as np
import pytest

from multimargin import _rust
from multimargin.estimators.shared import exact_models, exact_solver
from multimargin.kernels import rust_features
from tests.support.problems import loss_value

LOSS = "zero_label_hinge"


def solve(X, Y, **options):
    settings = {"c": 1.0, "bias": "free", "solver": "bcd", "kernel_name": "precomputed"}
    settings |= {"tolerance": 1e-8, "max_epochs": 100_000}
    indicator = np.ascontiguousarray(Y, dtype=np.uint8)
    return _rust.solve_pairwise(indicator, rust_features(X), loss=LOSS, **(settings | options))


# -------------------------------------------------------------------------------------------------
# One instance
# -------------------------------------------------------------------------------------------------
def signed(relevant, q):
    return np.where(np.arange(q) < relevant, 1.0, -1.0)


@pytest.mark.parametrize("decades", [(-6, -3), (-3, 0), (0, 3)])
def test_proximal_map_of_random_blocks(decades):
    random = np.random.default_rng(decades[0] + 10)
    for _ in range(60):
        q = int(random.integers(1, 9))
        relevant = int(random.integers(0, q + 1))
        lam = 10.0 ** random.uniform(*decades)
        centre = random.choice([0.3, 1.0, 4.0]) * random.normal(size=q + 1)
        if random.random() < 0.5:
            centre = np.round(2 * centre) / 2
        # With d = lam u the pairs' terms are lam^2 max(0, lack / lam - y (u_k - u_0)).
        y, unit = signed(relevant, q), min(lam, 1.0)
        lack = (1.0 - y * (centre[:q] - centre[q])) / unit
        # |u_k - u_0| <= q + 1: terms further than that from the kink can be brought closer.
        lack = np.clip(lack, -q - 2.0, q + 2.0) if lam < 1 else lack
        u = cp.Variable(q + 1)
        loss = cp.sum(cp.pos(lack - cp.multiply(y, u[:q] - u[q])))
        exact_solver.solve(cp.Problem(cp.Minimize(0.5 * cp.sum_squares(u) + max(lam, 1.0) * loss)))
        found = _rust.loss_prox(centre, relevant, lam, loss=LOSS)
        # At a tie the interior point is as accurate as the root of its objective.
        np.testing.assert_allclose(found / unit, u.value, atol=2e-5 * (1.0 + np.abs(centre).max()))
        assert abs(found.sum()) <= 1e-14 * (1.0 + np.abs(found).sum())

        def value(d, centre=centre, y=y, lam=lam, relevant=relevant):
            return 0.5 * d @ d + lam * loss_value(centre + d, relevant, loss=LOSS)

        best = value(unit * u.value)
        assert value(found) <= best + 1e-9 * (1.0 + best)


def test_value_is_the_sum_over_labels():
    random = np.random.default_rng(3)
    for _ in range(100):
        q = int(random.integers(1, 9))
        relevant = int(random.integers(0, q + 1))
        scores = random.normal(size=q + 1)
        margins = signed(relevant, q) * (scores[:q] - scores[q])
        expected = np.maximum(0.0, 1.0 - margins).sum()
        assert loss_value(scores, relevant, loss=LOSS) == pytest.approx(expected, rel=1e-14)


def test_scores_without_a_zero_label_are_refused():
    with pytest.raises(ValueError, match="expected finite scores with the zero label's last"):
        _rust.loss_prox(np.zeros(1), 0, 1.0, loss=LOSS)
    with pytest.raises(ValueError, match="relevant is 3 of 3 labels"):
        _rust.loss_prox(np.zeros(3), 3, 1.0, loss=LOSS)


# -------------------------------------------------------------------------------------------------
# Whole problems
# -------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("bias", ["free", "penalized"])
def test_labels_of_one_class_have_no_support_with_a_free_bias(bias):
    random = np.random.default_rng(9)
    X = random.normal(size=(20, 3))
    Y = (random.random((20, 4)) < 0.5).astype(np.uint8)
    Y[:, 1], Y[:, 3] = 1, 0
    K = X @ X.T
    solution = solve(K, Y, bias=bias)
    optimum = exact_models.zero_label(K, Y, 1.0, bias).objective
    assert solution.primal == pytest.approx(optimum, rel=1e-7)
    assert solution.dual[:, [1, 3]].any() == (bias == "penalized")
    scores = solution.scores + solution.bias
    if bias == "free":
        assert (scores[:, 1] - scores[:, 4]).min() >= 1.0 - 1e-9
        assert (scores[:, 3] - scores[:, 4]).max() <= -1.0 + 1e-9


def test_no_label_of_two_classes():
    Y = np.array([[1, 0], [1, 0], [1, 0]], dtype=np.uint8)
    solution = solve(np.eye(3), Y)
    assert (solution.primal, solution.dual_objective) == (0.0, 0.0)
    assert not solution.dual.any()
