"""Value and proximal map of the compiled losses by their definitions, on thousands of blocks.

d minimises 1/2 ||d||^2 + lambda loss(c + d) where d = -lambda H^T a for a subgradient a of the loss
by the margins of the pairs, whose rows of H have +1 at one label and -1 at another. At the kink of
the hinge, and where pairs tie for the last place at the top, a linear programme finds the a that is
nearest.
"""

from typing import NamedTuple

import numpy as np
import pytest
from scipy.optimize import linprog

from multimargin import _rust
from tests.support.cases import case
from tests.support.problems import loss_prox, loss_value
from tests.support.subsets import first_fast


class Loss(NamedTuple):
    name: str
    theta: float = 0.0
    mu: float = 1.0


LOSSES = [
    Loss("hinge"),
    Loss("squared_hinge"),
    Loss("optimal_margin"),
    Loss("optimal_margin", 0.3, 0.4),
    Loss("optimal_margin", 0.9, 0.05),
    Loss("zero_label_hinge"),
]
DECADES = [(-8, -6), (-6, -3), (-3, 0), (0, 2), (2, 5), (5, 8)]


class Block(NamedTuple):
    centre: np.ndarray
    relevant: int
    lam: float
    weights: np.ndarray | None = None
    top: int | None = None


def pairs_of(loss, q, p):
    """The labels of each pair, and the number of the relevant label whose top it competes for."""
    if loss.name == "zero_label_hinge":
        k = np.arange(q - 1)
        return np.where(k < p, k, q - 1), np.where(k < p, q - 1, k), k
    m, n = np.divmod(np.arange(p * (q - p)), q - p)
    return m, p + n, m


def loss_and_slopes(loss, z, top, slack):
    """The loss of one relevant label's margins, bounds of minus its slopes, and of their sum."""
    below, above = np.maximum(0.0, 1.0 - loss.theta - z), np.maximum(0.0, z - 1.0 - loss.theta)
    if loss.name == "optimal_margin":
        slope = below - loss.mu * above
        return 0.5 * np.sum(below**2 + loss.mu * above**2), slope, slope, slope.sum(), slope.sum()
    slope = below if loss.name == "squared_hinge" else np.ones_like(z)
    each = 0.5 * below**2 if loss.name == "squared_hinge" else below
    last = np.sort(below)[::-1][top - 1]
    inside, tied = below > last + slack, (np.abs(below - last) <= slack) & (z <= 1.0 + slack)
    low, high = np.where(inside, slope, 0.0), np.where(inside | tied, slope, 0.0)
    most = low.sum() + (top - inside.sum()) * (slope[tied].mean() if tied.any() else 0.0)
    least = most if last > slack else low.sum()
    return np.sort(each)[::-1][:top].sum(), low, high, least, most


def check(block, loss):
    centre, p, lam, weights, top = block
    q = len(centre)
    parameters = {"loss": loss.name, "theta": loss.theta, "mu": loss.mu}
    moved = loss_prox(centre, p, lam, weights, top, **parameters)
    m, n, group = pairs_of(loss, q, p)
    H = np.zeros((len(m), q))
    H[np.arange(len(m)), m], H[np.arange(len(m)), n] = 1.0, -1.0
    size = 1.0 + np.abs(centre).max()
    slack = 32.0 * np.finfo(float).eps * size * q
    expected, low, high, sums = 0.0, [], [], []
    for g in np.unique(group):
        own, weight = group == g, 1.0 if weights is None else weights[g]
        most = min(top or q, own.sum())
        expected += weight * loss_and_slopes(loss, (H @ centre)[own], most, slack)[0]
        _, *slopes = loss_and_slopes(loss, (H @ (centre + moved))[own], most, slack)
        for list_, value in zip((low, high), slopes[:2], strict=True):
            list_.extend(lam * weight * value)
        sums.append((own, lam * weight * slopes[2], lam * weight * slopes[3]))
    low, high, unit = np.array(low), np.array(high), min(lam, 1.0)
    if loss.name != "optimal_margin":
        # Labels in no active pair stay where they are, to the bit.
        active = H @ (centre + moved) <= 1.0 + slack
        assert not moved[~np.any(H[active], axis=0)].any()
    a = low
    if (high > low).any():
        # The largest entry of the residual, within a share of the unit for what is rounding.
        rounding = lam * slack * q
        rows, bounds = [np.c_[H.T, -np.ones(q)], np.c_[-H.T, -np.ones(q)]], [moved, -moved]
        for own, least, most in sums:
            rows += [np.r_[own, 0.0][None], -np.r_[own, 0.0][None]]
            bounds += [[most + rounding], [rounding - least]]
        found = linprog(
            np.r_[np.zeros(len(m)), 1.0],
            np.vstack(rows) / unit,
            np.concatenate(bounds) / unit,
            bounds=[*zip(low, high, strict=True), (0.0, None)],
        )
        a = found.x[:-1]
    # Scores are rounded, and lambda multiplies what that does to each slope.
    rounding = 4.0 * lam * slack * (1.0 if weights is None else weights.max())
    np.testing.assert_allclose(moved, H.T @ a, rtol=1e-6, atol=1e-7 * unit * size + rounding)
    assert abs(moved.sum()) <= 1e-12 * size * q * unit
    if weights is None and top is None:
        value = loss_value(centre, p, **parameters)
        assert value == pytest.approx(expected, rel=1e-12, abs=1e-12)


def random_block(random, loss, decades):
    """Ties in half of the blocks, and often one relevant or one irrelevant label."""
    p, r = random.integers(1, 6), random.integers(1, 8)
    one = random.random()
    p, r = (1, r) if one < 0.25 else (p, 1) if one < 0.5 else (p, r)
    zero = loss.name == "zero_label_hinge"
    # A zero label has a pair with labels of one kind, too.
    p = random.integers(0, p + r + 1) if zero else p
    centre = random.choice([0.3, 1.0, 4.0]) * random.normal(size=p + r if not zero else p + r + 1)
    if random.random() < 0.5:
        centre = np.round(2 * centre) / 2
    return Block(centre, int(p), 10.0 ** random.uniform(*decades))


@pytest.mark.parametrize("count", first_fast([40, 200], 1))
@pytest.mark.parametrize("loss", LOSSES, ids=str)
def test_random_blocks(loss, count):
    for decades in DECADES:
        random = np.random.default_rng([LOSSES.index(loss), count, 8 + decades[0]])
        for number in range(count):
            with case(decades, number):
                check(random_block(random, loss, decades), loss)


@pytest.mark.parametrize("loss", [*LOSSES[:2], LOSSES[3]], ids=str)
def test_weights_of_labels_and_the_top_of_the_ranking(loss):
    """With large offsets, and weights far apart."""
    random = np.random.default_rng(4)
    for number in range(200):
        p, r = random.integers(1, 5), random.integers(1, 8)
        centre = random.normal(size=p + r) * random.choice([0.5, 2.0])
        centre = np.round(2.0 * centre) / 2.0 if number % 3 == 0 else centre
        centre += 100.0 * (number % 5 == 0)
        weights = 10.0 ** random.uniform(-2.0, 2.0, size=p)
        all_count = number % 4 == 0 or loss.name == "optimal_margin"
        top = None if all_count else int(random.integers(1, r + 1))
        with case(number):
            lam = float(10.0 ** random.uniform(-2.0, 1.0))
            check(Block(centre, int(p), lam, weights, top), loss)


@pytest.mark.parametrize("loss", [*LOSSES[:2], LOSSES[3]], ids=str)
def test_blocks_of_many_labels(loss):
    """Up to 200 labels, few of them on one side."""
    random = np.random.default_rng(5)
    for number in range(15):
        small, large = random.integers(1, 5), random.integers(40, 196)
        centre = random.choice([0.5, 2.0]) * random.normal(size=small + large)
        centre = np.round(4 * centre) / 4 if random.random() < 0.5 else centre
        relevant = int(small if random.random() < 0.5 else large)
        with case(number):
            check(Block(centre, relevant, 10.0 ** random.uniform(-6, 3)), loss)


@pytest.mark.parametrize("loss", LOSSES[:5], ids=str)
def test_equal_scores_move_as_one(loss):
    """With all scores equal the problem has two unknowns: one for each side."""
    name, theta, mu = loss
    for p, r in ((1, 1), (1, 6), (6, 1), (4, 5)):
        for lam in (1e-8, 1e-3, 1.0, 1e3, 1e8):
            with case(p, r, lam):
                moved = loss_prox(np.full(p + r, 7.0), p, lam, loss=name, theta=theta, mu=mu)
                # min over x of p (r x)^2 / 2 + r (p x)^2 / 2 + lam p r loss(z),  z = (p + r) x
                x = (1.0 - theta) * lam / (1.0 + lam * (p + r))
                x = min(lam, 1.0 / (p + r)) if name == "hinge" else x
                np.testing.assert_allclose(moved[:p], r * x, rtol=1e-9)
                np.testing.assert_allclose(moved[p:], -p * x, rtol=1e-9)


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
