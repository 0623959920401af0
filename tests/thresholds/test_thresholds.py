"""Thresholds of rows against brute force and plain least squares; what every threshold keeps to."""

import pickle
import tracemalloc
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.svm import LinearSVR

from multimargin.thresholds import (
    ConstantThreshold,
    CountThreshold,
    FeaturesThreshold,
    LabelsThreshold,
    ScoresThreshold,
    cuts,
    make_threshold,
)
from multimargin.thresholds.base import check_rows
from multimargin.thresholds.cuts import best_thresholds
from tests.support.problems import noisy_linear_problem


def hamming_thresholds(F, Y):
    return best_thresholds(*check_rows(F, Y)[:2])


def n_errors(f, y, t):
    return sum((score >= t) != bool(relevant) for score, relevant in zip(f, y, strict=True))


def best_threshold(f, y):
    """Try every interval between neighbouring distinct scores, from below."""
    levels = sorted(set(f))
    candidates = [levels[0] - 1]
    candidates += [(a + b) / 2 for a, b in pairwise(levels)]
    candidates += [levels[-1] + 1]
    fewest = min(n_errors(f, y, t) for t in candidates)
    return next(t for t in candidates if n_errors(f, y, t) == fewest)


def test_hamming_thresholds_by_brute_force():
    rng = np.random.default_rng(0)
    for case in range(1000):
        n, q = rng.integers(1, 5), 2 if case % 5 == 0 else rng.integers(1, 8)
        Y = (rng.random((n, q)) < rng.choice([0.0, 0.2, 0.5, 1.0], size=(n, 1))).astype(int)
        F = rng.standard_normal((n, q))
        if case % 3:
            F = np.round(F * rng.choice([0.0, 1.0, 4.0])) / 2
        found = hamming_thresholds(F, Y)
        assert found.dtype == np.float64
        expected = [best_threshold(f, y) for f, y in zip(F.tolist(), Y.tolist(), strict=True)]
        np.testing.assert_allclose(found, expected, rtol=1e-15, atol=1e-15)


def test_hamming_thresholds_of_the_known_labels():
    rng = np.random.default_rng(1)
    F, Y = rng.standard_normal((300, 6)), rng.integers(2, size=(300, 6)).astype(float)
    Y[rng.random(Y.shape) < 0.4] = np.nan
    known = [(f[y >= 0].tolist(), y[y >= 0].tolist()) for f, y in zip(F, Y, strict=True)]
    expected = [best_threshold(f, y) if f else 0.0 for f, y in known]
    np.testing.assert_allclose(hamming_thresholds(F, Y), expected, rtol=1e-15, atol=1e-15)


def test_hamming_thresholds_of_many_rows():
    rng = np.random.default_rng(1)
    F = np.round(rng.standard_normal((700, 300)), 1)
    Y = (rng.random((700, 300)) < 0.3).astype(int)
    assert F.size > cuts.ENTRIES_PER_CHUNK
    found = hamming_thresholds(np.asfortranarray(F), Y)
    one_by_one = [hamming_thresholds(F[i : i + 1], Y[i : i + 1])[0] for i in range(700)]
    np.testing.assert_array_equal(found, one_by_one)


def scores_and_labels(rng, n, q, sum_zero):
    F = rng.standard_normal((n, q))
    if sum_zero:
        F -= F.mean(axis=1, keepdims=True)
    return F, (F + rng.standard_normal((n, q)) > 0.3).astype(int)


@pytest.mark.parametrize("sum_zero", [False, True])
@pytest.mark.parametrize(("n", "q"), [(60, 5), (40, 2), (6, 5), (4, 9), (1, 3)])
def test_scores_threshold_is_the_minimum_norm_solution(n, q, sum_zero):
    F, Y = scores_and_labels(np.random.default_rng(2), n, q, sum_zero)
    threshold = ScoresThreshold()
    assert threshold.fit(F, Y) is threshold
    assert threshold.coef_.shape == (q,)
    design = np.column_stack([F, np.ones(n)])
    expected = np.linalg.pinv(design, rcond=1e-10) @ hamming_thresholds(F, Y)
    np.testing.assert_allclose(threshold.coef_, expected[:q], rtol=1e-9, atol=1e-11)
    np.testing.assert_allclose(threshold.intercept_, expected[q], rtol=1e-9, atol=1e-11)
    new = np.random.default_rng(3).standard_normal((7, q))
    np.testing.assert_allclose(
        threshold.predict(new), new @ expected[:q] + expected[q], rtol=1e-9, atol=1e-10
    )
    if sum_zero:
        assert abs(threshold.coef_.sum()) < 1e-11


@pytest.mark.parametrize(("dtype", "noise"), [(np.float64, 1e-12), (np.float32, 1e-7)])
def test_scores_threshold_does_not_fit_rounding_noise(dtype, noise):
    # Rows sum to zero up to the rounding of a long fit: without a tolerance the coefficients along
    # (1, ..., 1) would be of the order of 1/noise.
    rng = np.random.default_rng(5)
    F, Y = scores_and_labels(rng, 200, 6, sum_zero=True)
    exact = ScoresThreshold().fit(F, Y)
    noisy = ScoresThreshold().fit((F + noise * rng.standard_normal(F.shape)).astype(dtype), Y)
    np.testing.assert_allclose(noisy.coef_, exact.coef_, atol=100 * noise)
    np.testing.assert_allclose(noisy.intercept_, exact.intercept_, atol=100 * noise)


def features_problem(rng, n=80, d=4, q=5):
    X = rng.standard_normal((n, d))
    F = X @ rng.standard_normal((d, q)) + 0.3 * rng.standard_normal((n, q))
    Y = (X[:, :1] < F).astype(int)
    Y[:3], Y[3:5] = 0, 1
    return X, F, Y


X, F, Y = features_problem(np.random.default_rng(6))


def targets_by_definition():
    target, kept = [], []
    for i in range(len(Y)):
        relevant = [F[i, k] for k in range(5) if Y[i, k] == 1]
        irrelevant = [F[i, k] for k in range(5) if Y[i, k] == 0]
        if relevant and irrelevant:
            kept.append(i)
            target.append((min(relevant) + max(irrelevant)) / 2)
    assert len(kept) < len(Y) - 4
    return kept, np.array(target)


@pytest.mark.parametrize("epsilon", [0.0, 0.2])
def test_features_threshold_is_support_vector_regression(epsilon):
    kept, target = targets_by_definition()
    options = {"C": 2.0, "epsilon": epsilon, "random_state": 3}
    regression = LinearSVR(max_iter=10000, **options)
    regression.fit(X[kept], target)
    threshold = FeaturesThreshold(**options)
    assert threshold.fit(F, Y, X) is threshold
    np.testing.assert_allclose(threshold.coef_, regression.coef_, rtol=1e-12)
    np.testing.assert_allclose(threshold.predict(F, X), regression.predict(X), rtol=1e-12)
    assert isinstance(threshold.intercept_, float)
    assert threshold.n_iter_ == regression.n_iter_


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("copies", [1, 130])
@pytest.mark.parametrize("weighted", [False, True])
def test_features_threshold_of_the_squared_loss_is_least_squares(kind, copies, weighted):
    kept, target = targets_by_definition()
    wide = np.tile(np.where(np.abs(X) < 0.5, 0.0, X), copies)
    weights = np.random.default_rng(0).integers(0, 3, len(Y)).astype(float) if weighted else None
    threshold = FeaturesThreshold(C=2.0, loss="squared").fit(F, Y, kind(wide), weights)
    A = np.column_stack([wide[kept], np.ones(len(kept))])
    w = np.ones(len(kept)) if weights is None else weights[kept]
    penalty = np.diag(np.append(np.full(A.shape[1] - 1, 0.25), 0.0))
    solution = np.linalg.solve((A.T * w) @ A + penalty, (A.T * w) @ target)
    found = np.append(threshold.coef_, threshold.intercept_)
    np.testing.assert_allclose(found, solution, rtol=1e-4, atol=1e-6)
    assert threshold.n_iter_ is None


def test_the_default_where_rows_have_no_labels_are_least_squares_of_scaled_features():
    threshold = make_threshold("auto", n_labels=5, empty=0.02, random_state=0)
    assert (threshold.loss, threshold.scale) == ("squared", True)
    plain = clone(threshold).fit(F, Y, X)
    other = clone(threshold).fit(F, Y, 1e3 * X + 5.0)
    np.testing.assert_allclose(plain.predict(F, X), other.predict(F, 1e3 * X + 5.0), rtol=1e-9)


def test_least_squares_have_no_errors_that_are_free():
    with pytest.raises(ValueError, match=r"^epsilon is 0.1; expected 0 with loss='squared'.$"):
        FeaturesThreshold(loss="squared", epsilon=0.1).fit(F, Y, X)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_features_threshold_by_default_is_the_same_in_each_fit():
    X, Y = noisy_linear_problem(0, 60, 8, 3, noise=1.0)
    scores = X[:, :3]
    one, other = (FeaturesThreshold(max_iter=50).fit(scores, Y, X) for _ in range(2))
    np.testing.assert_array_equal(one.coef_, other.coef_)


def test_features_threshold_of_other_kinds_of_features():
    holed = np.where(np.abs(X) < 0.5, 0.0, X)
    dense = FeaturesThreshold(random_state=0).fit(F, Y, holed)
    for make in (sparse.csr_matrix, sparse.csc_array, sparse.coo_array, pd.DataFrame):
        other = FeaturesThreshold(random_state=0).fit(F, Y, make(holed))
        np.testing.assert_allclose(other.coef_, dense.coef_, rtol=1e-9)
        found = other.predict(F, make(holed))
        assert type(found) is np.ndarray
        assert found.shape == (80,)
        np.testing.assert_allclose(found, dense.predict(F, holed), rtol=1e-9, atol=1e-12)


def test_constant_threshold():
    F = np.zeros((4, 3))
    for value in (0.5, -1):
        threshold = ConstantThreshold(value)
        assert threshold.fit(F, np.eye(4, 3)) is threshold
        found = threshold.predict(F)
        assert found.dtype == np.float64
        np.testing.assert_array_equal(found, np.full(4, value))
    for value in (np.nan, np.inf, "0.5", None, True):
        threshold = ConstantThreshold(value)
        for call in (lambda t=threshold: t.fit(F, np.eye(4, 3)), lambda t=threshold: t.predict(F)):
            with pytest.raises(ValueError, match=r"^value is .*; expected a finite number"):
                call()


def test_make_threshold():
    kinds = {"scores": ScoresThreshold, "macro": LabelsThreshold, "count": CountThreshold}
    assert {name: type(make_threshold(name)) for name in kinds} == kinds
    assert make_threshold("features", random_state=5).random_state == 5
    for value in (0.5, 0, np.float32(0.5), np.int64(1)):
        constant = make_threshold(value)
        assert isinstance(constant, ConstantThreshold)
        assert type(constant.value) is float
        assert constant.value == value
    fitted = FeaturesThreshold(C=3.0)
    fitted.coef_ = np.ones(2)
    copy = make_threshold(fitted)
    assert (copy is fitted, copy.C, hasattr(copy, "coef_")) == (False, 3.0, False)


ALL = [
    ScoresThreshold(),
    FeaturesThreshold(random_state=0),
    ConstantThreshold(0.25),
    LabelsThreshold(),
    LabelsThreshold("hamming_loss", n_splits=None),
    CountThreshold(),
]


@pytest.mark.parametrize("loss", ["epsilon_insensitive", "squared"])
@pytest.mark.parametrize("size", [1e120, 1e300])
def test_thresholds_of_huge_scores_are_those_of_scores_in_another_unit(loss, size):
    X, Y = noisy_linear_problem(3, 40, 4, 3)
    scores = X @ np.random.default_rng(0).normal(size=(4, 3))
    C = 1e-3 * size if loss == "epsilon_insensitive" else 1e-3
    huge = FeaturesThreshold(C=C, loss=loss).fit(size * scores, Y, X)
    plain = FeaturesThreshold(C=1e-3, loss=loss).fit(scores, Y, X)
    difference = huge.predict(scores, X) / size - plain.predict(scores, X)
    assert np.abs(difference).max() < 1e-3 * np.abs(plain.predict(scores, X)).max()


@pytest.mark.parametrize("threshold", ALL, ids=lambda threshold: type(threshold).__name__)
class TestEveryThreshold:
    def test_inputs_are_not_modified(self, threshold):
        # Column-major float64 scores are what LAPACK could overwrite in place.
        for scores in (F.copy(), np.asfortranarray(F)):
            arrays = (scores, Y.astype(np.uint8), X.copy())
            before = [array.copy() for array in arrays]
            for array in arrays:
                array.flags.writeable = False
            clone(threshold).fit(*arrays).predict(scores, X)
            for array, copy in zip(arrays, before, strict=True):
                np.testing.assert_array_equal(array, copy)

    def test_same_result_twice_and_for_all_kinds_of_labels(self, threshold):
        expected = clone(threshold).fit(F, Y, X).predict(F, X)
        for labels in (Y, Y.astype(bool), Y.tolist(), sparse.csc_array(Y), pd.DataFrame(Y)):
            np.testing.assert_array_equal(
                clone(threshold).fit(F.tolist(), labels, X).predict(F, X), expected
            )

    @pytest.mark.parametrize("q", [2, 5])
    def test_predicted_labels_are_above_the_threshold(self, threshold, q):
        X, F, Y = features_problem(np.random.default_rng(16), q=q)
        fitted = clone(threshold).fit(F, Y, X)
        assert clone(fitted).get_params() == threshold.get_params()
        t = fitted.predict(F, X)
        np.testing.assert_array_equal(pickle.loads(pickle.dumps(fitted)).predict(F, X), t)
        assert t.shape == (F.shape if isinstance(threshold, LabelsThreshold) else F.shape[:1])
        over = F - (t if t.ndim == 2 else t[:, None])
        np.testing.assert_array_equal(fitted.decision_function(F, X), over)
        expected = fitted.predict_labels(F, X)
        np.testing.assert_array_equal(expected, (over > 0).astype(int))
        assert fitted.rescale(4.0) is fitted
        if not isinstance(threshold, ConstantThreshold):
            np.testing.assert_array_equal(fitted.predict_labels(4.0 * F, X), expected)

    def test_refusals(self, threshold):
        for scores, labels, message in (
            (F, 2 * Y - 1, r"\(y > 0\)\.astype\(int\)"),
            (F, Y[:, 0], r"^y has shape \(80,\)"),
            (F[1:], Y, r"^scores has shape \(79, 5\); expected \(80, 5\)"),
            (np.where(F > 1, np.nan, F), Y, "scores contains NaN"),
        ):
            with pytest.raises(ValueError, match=message):
                clone(threshold).fit(scores, labels, X)
        fitted = clone(threshold).fit(F, Y, X)
        with pytest.raises(ValueError, match=r"^scores has shape \(5,\)"):
            fitted.predict(F[0], X[:1])
        if isinstance(threshold, ScoresThreshold | LabelsThreshold | CountThreshold):
            with pytest.raises(ValueError, match=r"^scores has shape \(80, 4\); expected \(n, 5\)"):
                fitted.predict(F[:, 1:], X)
        if not isinstance(threshold, ConstantThreshold):
            with pytest.raises(NotFittedError):
                clone(threshold).predict(F, X)


def test_features_threshold_refuses():
    fitted = FeaturesThreshold(random_state=0).fit(F, Y, X)
    for call, message in (
        (lambda: FeaturesThreshold().fit(F, Y), "X is None"),
        (lambda: FeaturesThreshold().fit(F, Y, X[1:]), "X has 79 rows; expected 80"),
        (lambda: FeaturesThreshold().fit(F, 0 * Y, X), "y has no row with both relevant and irr"),
        (lambda: fitted.predict(F), "X is None"),
        (lambda: fitted.predict(F, X[:, 1:]), "X has 3 features; expected 4"),
        (lambda: fitted.predict(F, X[:1]), "X has 1 rows; expected 80"),
    ):
        with pytest.raises(ValueError, match=f"^{message}"):
            call()


def test_rows_of_weight_0_teach_no_threshold_of_features():
    rng = np.random.default_rng(0)
    X, F = rng.normal(size=(30, 4)), rng.normal(size=(30, 3))
    Y = (F > 0).astype(int)
    weights = np.repeat([1.0, 0.0], 15)
    kept = FeaturesThreshold(random_state=0).fit(F[:15], Y[:15], X[:15])
    found = FeaturesThreshold(random_state=0).fit(F, Y, X, sample_weight=weights)
    np.testing.assert_allclose(found.predict(F, X), kept.predict(F, X))


@pytest.mark.parametrize("shape", [(6000, 400), (400, 6000)])
def test_least_squares_on_the_scores_hold_them_once_more_and_not_twice(shape):
    random = np.random.default_rng(0)
    F, Y = random.normal(size=shape), random.integers(0, 2, size=shape).astype(np.uint8)
    ScoresThreshold().fit(F[:5], Y[:5])
    tracemalloc.start()
    try:
        ScoresThreshold().fit(F, Y)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    # The design, and the room of LAPACK or chunks of sorted scores.
    assert peak < 1.5 * F.nbytes
