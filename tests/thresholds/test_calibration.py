"""Probabilities of labels: learned from held-out scores, by the functions of scikit-learn."""

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import brier_score_loss
from sklearn.model_selection import KFold, cross_val_predict
from sklearn.multiclass import OneVsRestClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from multimargin import MLRL, CalibratedClassifier, RankSVM, ThresholdedClassifier
from multimargin.thresholds.calibration import _isotonic
from tests.support.problems import noisy_linear_problem


def problem(seed=0, n=160, d=5, q=4):
    return noisy_linear_problem(seed, n, d, q, cut=0.8)


def scores_of_folds(classifier, X, Y, cv=5):
    scores = np.empty(Y.shape)
    for train, test in KFold(cv).split(X):
        scores[test] = clone(classifier).fit(X[train], Y[train]).label_scores(X[test])
    return scores


def test_the_isotonic_functions_are_those_of_the_held_out_scores():
    X, Y = problem()
    classifier = RankSVM(random_state=0)
    model = CalibratedClassifier(classifier, method="isotonic").fit(X, Y)
    held_out = scores_of_folds(classifier, X, Y)
    scores = classifier.fit(X, Y).label_scores(X)
    for k in range(Y.shape[1]):
        by_hand = IsotonicRegression(y_min=0, y_max=1, out_of_bounds="clip")
        by_hand.fit(held_out[:, k], Y[:, k])
        np.testing.assert_allclose(model.predict_proba(X)[:, k], by_hand.predict(scores[:, k]))


def test_the_sigmoid_is_that_of_scikit_learn():
    X, Y = problem(1)
    svm = LinearSVC(random_state=0)
    folds = list(KFold(4).split(X))
    model = CalibratedClassifier(OneVsRestClassifier(svm), cv=folds).fit(X, Y)
    found = model.predict_proba(X)
    for k in range(Y.shape[1]):
        peer = CalibratedClassifierCV(svm, method="sigmoid", cv=folds, ensemble=False)
        peer.fit(X, Y[:, k])
        np.testing.assert_allclose(found[:, k], peer.predict_proba(X)[:, 1], atol=1e-4)


@pytest.mark.parametrize("method", ["sigmoid", "isotonic"])
@pytest.mark.parametrize(
    "classifier",
    [
        RankSVM(random_state=0),
        MLRL(lam=0.01),
        OneVsRestClassifier(LogisticRegression()),
        KNeighborsClassifier(),
        make_pipeline(StandardScaler(), RankSVM(random_state=0)),
    ],
    ids=lambda c: type(c).__name__,
)
def test_every_kind_of_classifier(classifier, method):
    X, Y = problem(2, n=460)
    X, X_test, Y, Y_test = X[:160], X[160:], Y[:160], Y[160:]
    model = CalibratedClassifier(classifier, method=method).fit(X, Y)
    p = model.predict_proba(X_test)
    assert p.shape == Y_test.shape
    assert ((p >= 0) & (p <= 1)).all()
    np.testing.assert_array_equal(model.predict(X_test), p > 0.5)
    np.testing.assert_array_equal(model.decision_function(X_test), p - 0.5)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).predict_proba(X_test), p)
    assert model.n_features_in_ == X.shape[1]
    # Better than the share of each label.
    for k in range(Y.shape[1]):
        share = np.full(len(Y_test), Y[:, k].mean())
        assert brier_score_loss(Y_test[:, k], p[:, k]) < brier_score_loss(Y_test[:, k], share)


@pytest.mark.parametrize("method", ["sigmoid", "isotonic"])
def test_labels_of_one_value_have_a_constant_probability(method):
    X, Y = problem(3)
    Y = np.column_stack([Y, np.zeros(len(Y)), np.ones(len(Y))])
    frame = pd.DataFrame(Y, columns=["a", "b", "c", "d", "never", "always"])
    with pytest.warns(UserWarning, match="have a constant probability: never, always") as found:
        model = CalibratedClassifier(RankSVM(random_state=0), method=method).fit(X, frame)
    assert len(found) == 1
    p = model.predict_proba(X)
    n = len(Y)
    expected = (0.0, 1.0) if method == "isotonic" else (1 / (n + 2), (n + 1) / (n + 2))
    np.testing.assert_allclose(p[:, 4:], np.tile(expected, (n, 1)), atol=1e-12)


@pytest.mark.parametrize("method", ["sigmoid", "isotonic"])
def test_unknown_labels_and_weights(method):
    X, Y = problem(4)
    Y = Y.astype(float)
    Y[np.random.default_rng(0).random(Y.shape) < 0.2] = np.nan
    weights = np.random.default_rng(1).integers(0, 3, size=len(Y)).astype(float)
    folds = [(rows, rows) for rows in (np.arange(80), np.arange(80, 160))]
    classifier = RankSVM(kernel="linear", bias="none", tol=1e-9, max_iter=100_000)
    model = CalibratedClassifier(classifier, method=method, cv=folds)
    p = model.fit(X, Y, sample_weight=weights).predict_proba(X)
    assert np.isfinite(p).all()
    repeated = np.repeat(np.arange(160), weights.astype(int))
    half = int(weights[:80].sum())
    ends = np.arange(repeated.size)
    model.set_params(cv=[(ends[:half], ends[:half]), (ends[half:], ends[half:])])
    q = model.fit(X[repeated], Y[repeated]).predict_proba(X)
    np.testing.assert_allclose(p, q, atol=2e-2 if method == "isotonic" else 1e-3)


@pytest.mark.parametrize("wrapper", [CalibratedClassifier, ThresholdedClassifier])
def test_weights_reach_the_last_step_of_a_pipeline(wrapper):
    X, Y = problem(5)
    weights = np.r_[np.zeros(80), np.ones(80)]
    inside = make_pipeline(RankSVM(random_state=0, kernel="linear"))
    model = wrapper(inside).fit(X, Y, sample_weight=weights)
    alone = RankSVM(random_state=0, kernel="linear").fit(X, Y, sample_weight=weights)
    np.testing.assert_array_equal(model.estimator_[-1].coef_, alone.coef_)
    with pytest.raises(TypeError, match="fit of KNeighborsClassifier takes none; expected None"):
        wrapper(KNeighborsClassifier()).fit(X, Y, sample_weight=weights)


def test_cross_val_predict_gives_probabilities():
    X, Y = problem(6)
    p = cross_val_predict(
        CalibratedClassifier(RankSVM(random_state=0)), X, Y, cv=3, method="predict_proba"
    )
    assert p.shape == Y.shape


def test_parameters_are_checked():
    X, Y = problem(7)
    with pytest.raises(ValueError, match="method is 'platt'; expected one of"):
        CalibratedClassifier(RankSVM(), method="platt").fit(X, Y)
    with pytest.raises(ValueError, match="y has one dimension"):
        CalibratedClassifier(RankSVM()).fit(X, Y[:, 0])


def test_a_label_without_scores_is_relevant_nowhere():
    regression = _isotonic(np.zeros(0), np.zeros(0, dtype=bool), np.zeros(0), 1.0)
    np.testing.assert_array_equal(regression.predict([-5.0, 0.0, 5.0]), 0.0)
