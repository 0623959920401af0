"""Pooled calibration: the minimum that SciPy finds on the columns of the definition."""

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import expit
from scipy.stats import rankdata

from multimargin.calibration import PooledCalibration


def problem(seed=0, n=120, q=7):
    rng = np.random.default_rng(seed)
    scores = rng.normal(size=(n, q)) + rng.normal(size=q)
    y = (rng.random((n, q)) < 1 / (1 + np.exp(-2 * scores + rng.normal(size=q)))).astype(int)
    return scores, y


def features(scores):
    f = np.sort(scores, axis=1)[:, ::-1]
    rank = rankdata(-scores, method="min", axis=1) - 1
    return np.stack(
        [
            scores,
            scores - f[:, :1],
            scores - f[:, :3].mean(axis=1, keepdims=True),
            np.log(1 + rank),
            np.tile(scores.std(axis=1, keepdims=True), scores.shape[1]),
        ],
        axis=-1,
    ), rank


def minimum(common, own, y, towards, C):
    """Return the shared weights, those of the labels' own columns, and the intercept."""
    design = np.hstack([common, own, np.ones((len(y), 1))])
    sign = np.where(y == 1, 1.0, -1.0)
    penalty = np.r_[np.full(common.shape[1], 5.0), np.ones(own.shape[1]), 0.0]
    centre = np.r_[towards, np.zeros(own.shape[1] + 1)]

    def objective(w):
        margin = sign * (design @ w)
        value = C * np.logaddexp(0.0, -margin).sum() + penalty @ (w - centre) ** 2 / 2
        return value, penalty * (w - centre) - C * design.T @ (sign * expit(-margin))

    found = minimize(objective, centre, jac=True, method="L-BFGS-B", tol=1e-14)
    return np.split(found.x, [common.shape[1], design.shape[1] - 1])


@pytest.mark.parametrize(("top_k", "C"), [(100, 1.0), (3, 0.3)])
def test_scipy_finds_the_same(top_k, C):
    scores, y = problem()
    scores[:, 1] = np.round(scores[:, 1])
    scores[:40, 2] = scores[:40, 1]  # ties
    columns, rank = features(scores)
    rows, labels = np.nonzero(rank < top_k)
    common = columns[rows, labels]
    scale = common.std(axis=0)
    own = np.eye(scores.shape[1])[labels]
    own = np.hstack([0.5 * own, 0.3 * own * common[:, :1] / scale[0]])
    towards = np.array([1.0, 0.0, 0.0, 0.0, 0.0])
    shared, further, intercept = minimum(common / scale, own, y[rows, labels], towards, C)
    every = columns.reshape(-1, 5)
    own = np.tile(np.eye(scores.shape[1]), (len(scores), 1))
    own = np.hstack([0.5 * own, 0.3 * own * every[:, :1] / scale[0]])
    expected = (every / scale @ shared + own @ further + intercept).reshape(scores.shape)
    found = PooledCalibration(C, top_k).fit(scores, y)
    np.testing.assert_allclose(found.decision_function(scores), expected, atol=1e-4)
    p = 1 / (1 + np.exp(-expected))
    np.testing.assert_allclose(found.predict_proba(scores), p, atol=1e-4)


def test_scipy_finds_the_same_for_several_models():
    scores, y = problem(6)
    others = [problem(seed)[0] + y for seed in (7, 8)]
    columns, _ = features(scores)
    common = np.dstack([columns, *others]).reshape(-1, 7)
    scale = common.std(axis=0)
    own = np.tile(np.eye(scores.shape[1]), (len(scores), 1))
    slopes = [0.3 * own * common[:, [place]] / scale[place] for place in (0, 5, 6)]
    own = np.hstack([0.5 * own, *slopes])
    towards = np.array([1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 1.0]) / 3
    shared, further, intercept = minimum(common / scale, own, y.ravel(), towards, 0.7)
    found = PooledCalibration(0.7).fit([scores, *others], y)
    expected = (common / scale @ shared + own @ further + intercept).reshape(scores.shape)
    np.testing.assert_allclose(found.decision_function([scores, *others]), expected, atol=1e-4)
    assert found.coef_.shape == (7,)
    assert found.label_coef_.shape == (3, scores.shape[1])
    # The order of further models does not matter.
    turned = PooledCalibration(0.7).fit([scores, *others[::-1]], y)
    np.testing.assert_allclose(
        turned.decision_function([scores, *others[::-1]]),
        found.decision_function([scores, *others]),
        atol=1e-8,
    )
    with pytest.raises(ValueError, match="scores has 2 blocks; expected 3 as in fit"):
        found.decision_function([scores, scores])


def test_its_gap_bounds_what_it_is_above_the_minimum():
    scores, y = problem(9)
    pairs = PooledCalibration().pairs_of([scores], y.astype(np.uint8))
    best = PooledCalibration().fit(scores, y)
    assert best.gap_ < 1e-12

    def objective(model):
        odds, own = model.decision_function(scores), model._solution
        losses = np.logaddexp(0.0, np.where(y == 1, -odds, odds)).sum()
        shared = np.sum((own[0][:-1] - [1.0, 0.0, 0.0, 0.0, 0.0]) ** 2)
        return losses + 0.5 * (5.0 * shared + 1e-6 * own[0][-1] ** 2 + np.sum(own[1] ** 2))

    for tolerance in (10.0, 1.0, 0.1):
        rough = PooledCalibration().fit_pairs(pairs, None, None, tolerance)
        above = objective(rough) - objective(best)
        assert above <= rough.gap_ * objective(rough) + 1e-9
    assert rough.n_iter_ < best.n_iter_


def test_weights_are_repetitions_and_unknown_labels_are_left_out():
    scores, y = problem(2)
    y = y.astype(float)
    rng = np.random.default_rng(0)
    y[rng.random(y.shape) < 0.2] = np.nan
    weights = rng.integers(0, 3, size=len(y))
    again = np.repeat(np.arange(len(y)), weights)
    one = PooledCalibration().fit(scores, y, sample_weight=weights).predict_proba(scores)
    other = PooledCalibration().fit(scores[again], y[again]).predict_proba(scores)
    np.testing.assert_allclose(one, other, atol=1e-8)


@pytest.mark.parametrize("weight", [1e20, 1e100, 1e300])
def test_weights_that_leave_nothing_of_the_penalty_end_in_odds(weight):
    scores, y = problem(2)
    spread = weight * np.random.default_rng(0).random(len(y))
    for weights in (np.full(len(y), weight), spread):
        odds = PooledCalibration().fit(scores, y, sample_weight=weights).predict_proba(scores)
        assert np.isfinite(odds).all()
        assert np.corrcoef(odds.ravel(), y.ravel())[0, 1] > 0.5


@pytest.mark.parametrize("seed", [1, 11, 185, 203, 325])
def test_several_models_of_few_rows_whose_weights_differ_by_orders_end_in_odds(seed):
    rng = np.random.default_rng(seed)
    n, q, models = int(rng.choice([4, 8, 15])), int(rng.integers(2, 4)), int(rng.integers(1, 5))
    # Far from zero: to the heaviest row all others are rounding.
    scores = [rng.normal(size=(n, q)) + 10.0 ** rng.uniform(0, 6) for _ in range(models)]
    y, weights = (rng.random((n, q)) < 0.5).astype(int), 10.0 ** rng.uniform(-8, 8, size=n)
    odds = PooledCalibration().fit(scores, y, weights).decision_function(scores)
    assert np.isfinite(odds).all()


def test_rows_of_zeros_and_labels_of_one_value():
    scores, y = problem(3)
    scores[:10] = 0.0
    y[:, 0], y[:, 1] = 0, 1
    p = PooledCalibration().fit(scores, y).predict_proba(scores)
    assert np.isfinite(p).all()
    assert p[:, 0].mean() < 0.2
    assert p[:, 1].mean() > 0.9
    p = PooledCalibration().fit(np.zeros((5, 3)), np.zeros((5, 3))).predict_proba(np.zeros((1, 3)))
    assert p.max() < 0.01


def test_scores_that_differ_by_rounding_have_one_rank():
    """Solutions of hinges tie labels, and products of other rows round their scores otherwise."""
    scores, y = problem()
    scores[:, 2] = scores[:, 1]
    calibration = PooledCalibration().fit(scores, y)
    rounded = scores.copy()
    rounded[::2, 2] *= 1.0 + 1e-15
    odds, of_rounded = map(calibration.decision_function, (scores, rounded))
    np.testing.assert_allclose(of_rounded, odds, rtol=1e-12)


def test_a_first_guess_changes_nothing():
    scores, y = problem(4)
    start = PooledCalibration().fit(scores[:60], y[:60])
    cold = PooledCalibration().fit(scores, y)
    warm = PooledCalibration()
    warm.fit_pairs(warm.pairs_of([scores], y.astype(np.uint8)), None, start)
    np.testing.assert_allclose(
        warm.decision_function(scores), cold.decision_function(scores), atol=1e-5
    )
    assert warm.n_iter_ < cold.n_iter_


def test_bad_input_is_named():
    scores, y = problem(5)
    for model, labels, message in (
        (PooledCalibration(0), y, "C is 0; expected a finite number above 0"),
        (PooledCalibration(top_k=0), y, "top_k is 0; expected an integer of at least 1"),
        (PooledCalibration(), np.full(y.shape, np.nan), "y has no known label"),
    ):
        with pytest.raises(ValueError, match=message):
            model.fit(scores, labels)
    with pytest.raises(ValueError, match=r"scores has shape \(120, 3\); expected \(n, 7\)"):
        PooledCalibration().fit(scores, y).decision_function(scores[:, :3])
