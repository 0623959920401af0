"""Proximal maps with weights of labels and the top of the ranking against CVXPY."""

import numpy as np
import pytest

from multimargin import _rust
from tests.support.cases import case
from tests.support.subsets import first_fast

cp = pytest.importorskip("cvxpy")


def block(seed):
    """Scores with ties, large offsets and weights far apart; p, k and lambda."""
    random = np.random.default_rng(seed)
    p, r = random.integers(1, 5), random.integers(1, 8)
    centre = random.normal(size=p + r) * random.choice([0.5, 2.0])
    if seed % 3 == 0:
        centre = np.round(2.0 * centre) / 2.0
    if seed % 5 == 0:
        centre += 100.0
    weights = 10.0 ** random.uniform(-2.0, 2.0, size=p)
    top = None if seed % 4 == 0 else int(random.integers(1, r + 1))
    return centre, int(p), weights, top, float(10.0 ** random.uniform(-2.0, 1.0))


# Accurate or not, what a solver finds is a point, and no point is better than the proximal one.
@pytest.mark.filterwarnings("ignore:Solution may be inaccurate")
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "optimal_margin"])
@pytest.mark.parametrize("seeds", first_fast([range(12), range(12, 200)], 1))
def test_the_proximal_map_is_the_minimiser(loss, seeds):
    for seed in seeds:
        with case(seed):
            check_proximal_map(loss, seed)


def check_proximal_map(loss, seed):
    centre, p, weights, top, lam = block(seed)
    top = None if loss == "optimal_margin" else top
    shape = {"theta": 0.2, "mu": 0.5} if loss == "optimal_margin" else {}
    moved = _rust.loss_prox(centre, p, lam, loss=loss, weights=weights, top=top, **shape)
    d = cp.Variable(centre.size)
    terms = []
    for m in range(p):
        margin = centre[m] - centre[p:] + d[m] - d[p:]
        if loss == "hinge":
            each = cp.pos(1 - margin)
        elif loss == "squared_hinge":
            each = 0.5 * cp.square(cp.pos(1 - margin))
        else:
            far = 0.5 * cp.square(cp.pos(margin - 1.2))
            each = 0.5 * cp.square(cp.pos(0.8 - margin)) + 0.5 * far
        terms.append(weights[m] * cp.sum_largest(each, min(top or 99, centre.size - p)))
    # In units in which the largest weight of a pair is at most 1.
    objective = (0.5 * cp.sum_squares(d) + lam * cp.sum(cp.hstack(terms))) / max(1.0, lam * 100.0)
    cp.Problem(cp.Minimize(objective)).solve(solver="CLARABEL")
    # Strongly convex: close values are close points; and no point has less than the optimum.
    of_solver = objective.value
    d.value = moved
    assert objective.value <= of_solver + 1e-10 * max(1.0, of_solver)
    assert moved.sum() == pytest.approx(0.0, abs=1e-9)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"weights": np.ones(2)}, "weights is"),
        ({"weights": np.array([1.0, 0.0, 1.0])}, "weights is"),
        ({"top": 0}, "top is 0"),
    ],
)
def test_malformed_pairs_are_named(given, message):
    with pytest.raises(ValueError, match=message):
        _rust.loss_prox(np.arange(6.0), 3, 1.0, loss="hinge", **given)
