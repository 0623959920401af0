"""Value and proximal map of the compiled losses against CVXPY, thousands of random blocks.

Many blocks are solved as one separable problem. Two forms of it cover all lambda: with the
displacement d = lambda H^T t (t has one entry a pair, H^T one row a label),

    primal  min over d   1/2 ||d||^2 + lambda sum loss(z + H d)                    lambda >= 1
    dual    min over t   lambda/2 ||H^T t||^2 + sum [conjugate(t) - (1 - z) t]     lambda < 1

where z are the margins at the centre. In the first d, in the second d / lambda is well determined.
"""

from typing import NamedTuple

import cvxpy as cp
import numpy as np
import pytest
import scipy.sparse as sp

from multimargin import _rust
from multimargin.estimators.shared.exact_solver import solve
from tests.support.problems import loss_value
from tests.support.subsets import first_fast


class Block(NamedTuple):
    centre: np.ndarray
    relevant: int
    lam: float


LOSSES = [
    ("hinge", 0.0, 1.0),
    ("squared_hinge", 0.0, 1.0),
    ("optimal_margin", 0.0, 1.0),
    ("optimal_margin", 0.3, 0.4),
    ("optimal_margin", 0.9, 0.05),
]
DECADES = [(-8, -6), (-6, -3), (-3, 0), (0, 2), (2, 5), (5, 8)]


def pair_loss(name, theta, mu, z):
    if name == "hinge":
        return np.maximum(0.0, 1.0 - z)
    if name == "squared_hinge":
        return 0.5 * np.maximum(0.0, 1.0 - z) ** 2
    below, above = np.maximum(0.0, 1.0 - theta - z), np.maximum(0.0, z - 1.0 - theta)
    return 0.5 * (below**2 + mu * above**2)


def margins(scores, relevant):
    return scores[:relevant, None] - scores[None, relevant:]


def random_blocks(seed, count, decades, offset):
    """Ties in half of the blocks, and often one relevant or one irrelevant label."""
    random = np.random.default_rng(seed)
    blocks = []
    for _ in range(count):
        p, r = random.integers(1, 6), random.integers(1, 8)
        one = random.random()
        p, r = (1, r) if one < 0.25 else (p, 1) if one < 0.5 else (p, r)
        centre = random.choice([0.3, 1.0, 4.0]) * random.normal(size=p + r)
        if random.random() < 0.5:
            centre = np.round(2 * centre) / 2
            centre[:p] += offset
        blocks.append(Block(centre, int(p), 10.0 ** random.uniform(*decades)))
    return blocks


def large_blocks(seed, count, decades):
    """Up to 200 labels, few of them on one side."""
    random = np.random.default_rng(seed)
    blocks = []
    for _ in range(count):
        small, large = random.integers(1, 5), random.integers(40, 196)
        centre = random.choice([0.5, 2.0]) * random.normal(size=small + large)
        if random.random() < 0.5:
            centre = np.round(4 * centre) / 4
        relevant = int(small if random.random() < 0.5 else large)
        blocks.append(Block(centre, relevant, 10.0 ** random.uniform(*decades)))
    return blocks


def pair_differences(blocks):
    """H: one row a pair, +1 at its relevant and -1 at its irrelevant label."""
    parts = []
    for centre, p, _ in blocks:
        r = len(centre) - p
        plus = sp.kron(sp.eye_array(p), np.ones((r, 1)))
        minus = sp.kron(np.ones((p, 1)), sp.eye_array(r))
        parts.append(sp.hstack([plus, -minus]))
    return sp.csr_array(sp.block_diag(parts))


def exact_displacements(blocks, name, theta, mu):
    """d for lambda >= 1, d / lambda below, of all blocks one after the other."""
    H = pair_differences(blocks)
    pairs = [p * (len(centre) - p) for centre, p, _ in blocks]
    lam = np.repeat([block.lam for block in blocks], pairs)
    z = np.concatenate([margins(centre, p).ravel() for centre, p, _ in blocks])
    if min(lam) >= 1:
        d = cp.Variable(H.shape[1])
        gap = (1.0 - z) - H @ d
        if name == "hinge":
            loss = lam @ cp.pos(gap)
        elif name == "squared_hinge":
            loss = 0.5 * cp.sum_squares(cp.multiply(np.sqrt(lam), cp.pos(gap)))
        else:
            below, above = cp.pos(gap - theta), cp.pos(-gap - theta)
            loss = 0.5 * cp.sum_squares(cp.multiply(np.sqrt(lam), below))
            loss += 0.5 * cp.sum_squares(cp.multiply(np.sqrt(mu * lam), above))
        solve(cp.Problem(cp.Minimize(0.5 * cp.sum_squares(d) + loss)))
        return d.value
    labels = np.repeat([block.lam for block in blocks], [len(block.centre) for block in blocks])
    if name == "hinge":
        # In the form of the primal divided by lambda^2: |H u| <= q, so that margins further than
        # that from the kink at 1 can be brought closer.
        u = cp.Variable(H.shape[1])
        q = np.repeat([len(block.centre) + 1.0 for block in blocks], pairs)
        gap = np.clip((1.0 - z) / lam, -q, q) - H @ u
        solve(cp.Problem(cp.Minimize(0.5 * cp.sum_squares(u) + cp.sum(cp.pos(gap)))))
        return u.value
    t = cp.Variable(len(z), nonneg=True)
    total, conjugate = t, 0.5 * cp.sum_squares(t)
    if name == "optimal_margin":
        down = cp.Variable(len(z), nonneg=True)
        total = t - down
        conjugate += 0.5 / mu * cp.sum_squares(down) + theta * cp.sum(t + down)
    quadratic = 0.5 * cp.sum_squares(cp.multiply(np.sqrt(labels), H.T @ total))
    solve(cp.Problem(cp.Minimize(quadratic + conjugate - (1.0 - z) @ total)))
    return H.T @ total.value


def objective(block, displacement, name, theta, mu):
    z = margins(block.centre + displacement, block.relevant)
    loss = pair_loss(name, theta, mu, z).sum()
    return 0.5 * displacement @ displacement + block.lam * loss


def error_of_the_exact_point(block, displacement, expected, name):
    """Bound of the interior point's own error, which at a tie goes with the root of its accuracy.

    The problem is strongly convex with modulus 1: the minimiser is at most sqrt(2 delta) away from
    a point whose value is worse by delta.
    """
    if name != "hinge":
        return 0.0
    centre, p, lam = block
    unit, weight = min(lam, 1.0), max(lam, 1.0)
    q = len(centre) + 1.0
    kinks = 1.0 - margins(centre, p)
    if lam < 1:
        kinks = np.clip(kinks / lam, -q, q)

    def value(u):
        return 0.5 * u @ u + weight * np.maximum(0.0, kinks - margins(u, p)).sum()

    return np.sqrt(2.0 * max(0.0, value(expected) - value(displacement / unit)))


def check(blocks, name, theta, mu):
    found = exact_displacements(blocks, name, theta, mu)
    sizes = [len(block.centre) for block in blocks]
    for block, expected in zip(blocks, np.split(found, np.cumsum(sizes)[:-1]), strict=True):
        centre, p, lam = block
        displacement = _rust.loss_prox(centre, p, lam, loss=name, theta=theta, mu=mu)
        unit = min(lam, 1.0)
        tolerance = 1e-6 * (1.0 + np.abs(centre).max())
        tolerance += error_of_the_exact_point(block, displacement, expected, name)
        np.testing.assert_allclose(displacement / unit, expected, rtol=1e-6, atol=tolerance)
        value = objective(block, displacement, name, theta, mu)
        best = objective(block, unit * expected, name, theta, mu)
        # Scores are rounded, and lambda multiplies what that does to each margin.
        rounding = np.finfo(float).eps * lam * p * (len(centre) - p) * (1.0 + np.abs(centre).max())
        assert value <= best + 1e-9 * (1.0 + best) + 4.0 * rounding
        assert abs(displacement.sum()) <= 1e-12 * (1.0 + np.abs(centre).sum()) * unit
        value = loss_value(centre, p, loss=name, theta=theta, mu=mu)
        expected_value = pair_loss(name, theta, mu, margins(centre, p)).sum()
        assert value == pytest.approx(expected_value, rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("count", first_fast([40, 200], 1))
@pytest.mark.parametrize("decades", DECADES, ids=lambda decades: "1e{}..1e{}".format(*decades))
@pytest.mark.parametrize(("name", "theta", "mu"), LOSSES)
def test_random_blocks(name, theta, mu, decades, count):
    seed = 100 * LOSSES.index((name, theta, mu)) + DECADES.index(decades)
    # Margins of exactly 1 are ties of the hinge. For the other losses they only spoil the exact
    # solver, whose point is then no more accurate than the root of its objective.
    offset = 0.0 if name == "hinge" else 0.137
    check(random_blocks(seed, count, decades, offset), name, theta, mu)


@pytest.mark.parametrize("low", first_fast([-3, -6, 0], 1))
@pytest.mark.parametrize(("name", "theta", "mu"), [*LOSSES[:2], LOSSES[3]])
def test_blocks_of_many_labels(name, theta, mu, low):
    check(large_blocks(low + 60, 15, (low, low + 3)), name, theta, mu)


@pytest.mark.parametrize(("name", "theta", "mu"), LOSSES)
@pytest.mark.parametrize("shape", [(1, 1), (1, 6), (6, 1), (4, 5)], ids=str)
def test_equal_scores_move_as_one(shape, name, theta, mu):
    """With all scores equal the problem has two unknowns: one for each side."""
    p, r = shape
    for lam in (1e-8, 1e-3, 1.0, 1e3, 1e8):
        displacement = _rust.loss_prox(np.full(p + r, 7.0), p, lam, loss=name, theta=theta, mu=mu)
        # min over x of p (r x)^2 / 2 + r (p x)^2 / 2 + lam p r loss(z),  z = (p + r) x
        if name == "hinge":
            x = min(lam, 1.0 / (p + r))
        else:
            x = (1.0 - theta) * lam / (1.0 + lam * (p + r))
        np.testing.assert_allclose(displacement[:p], r * x, rtol=1e-9)
        np.testing.assert_allclose(displacement[p:], -p * x, rtol=1e-9)


def test_bad_arguments_are_refused():
    scores = np.zeros(3)
    with pytest.raises(ValueError, match="relevant is 0 of 3 labels, expected finite scores with"):
        _rust.loss_prox(scores, 0, 1.0, loss="hinge")
    with pytest.raises(ValueError, match="relevant is 3 of 3 labels"):
        _rust.loss_prox(scores, 3, 1.0, loss="hinge")
    with pytest.raises(ValueError, match='loss is "log", expected'):
        loss_value(scores, 1, loss="log")
    with pytest.raises(ValueError, match="theta is 1, expected 0 <= theta < 1"):
        loss_value(scores, 1, loss="optimal_margin", theta=1.0)
    with pytest.raises(ValueError, match="mu is 0, expected 0 < mu <= 1"):
        loss_value(scores, 1, loss="optimal_margin", mu=0.0)
    for lam in (0.0, -1.0, np.nan, np.inf):
        with pytest.raises(ValueError, match="lam is"):
            _rust.loss_prox(scores, 1, lam, loss="hinge")


def test_the_loss_of_all_rows_is_the_weighted_sum_of_theirs():
    random = np.random.default_rng(0)
    Y = (random.random((20, 5)) < 0.4).astype(np.uint8)
    Y[0], Y[1] = 0, 1
    unknown = random.random(Y.shape) < 0.2
    scores, weights = random.normal(size=Y.shape), random.random(20)
    of_labels = random.uniform(0.5, 2.0, size=5)
    expected = 0.0
    for s, y, missing, c in zip(scores, Y, unknown, weights, strict=True):
        margins = s[(y == 1) & ~missing][:, None] - s[(y == 0) & ~missing]
        slacks = np.maximum(0.0, 1.0 - margins)
        expected += c * (of_labels[(y == 1) & ~missing] @ slacks.sum(axis=1))
    Y[unknown] = 2
    found = _rust.total_loss(Y, scores, weights, loss="hinge", label_weights=of_labels)
    assert found == pytest.approx(expected, rel=1e-13)
    scores[3, 2] = np.nan
    assert _rust.total_loss(Y, scores, weights, loss="hinge") == np.inf
    with pytest.raises(ValueError, match="scores is 95 numbers, expected a score for each"):
        _rust.total_loss(Y, np.zeros((19, 5)), weights, loss="hinge")
