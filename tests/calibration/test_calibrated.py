"""Calibrated classifiers: learned from held-out scores, each row without itself."""

import pickle

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from scipy.special import logit
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import brier_score_loss
from sklearn.model_selection import KFold
from sklearn.multiclass import OneVsRestClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from multimargin import (
    MLRL,
    CalibratedClassifier,
    LabelRankerCV,
    RankLSVM,
    RankSVM,
    ThresholdedClassifier,
)
from multimargin.calibration import PooledCalibration
from multimargin.calibration.calibrated import calibrate, with_empty_label
from multimargin.calibration.head import Head
from multimargin.calibration.held_out import HeldOut
from multimargin.thresholds import F1Threshold, LabelsThreshold, ShrunkenThreshold
from tests.support.problems import noisy_linear_problem

X, Y = noisy_linear_problem(3, 160, 5, 4, cut=0.8)


def test_it_learns_from_held_out_scores_each_row_without_itself():
    folds = list(KFold(4).split(X))
    inner = RankSVM(random_state=0)
    model = CalibratedClassifier(inner, cv=folds).fit(X, Y)
    scores, odds = np.empty(Y.shape), np.empty(Y.shape)
    for train, test in folds:
        scores[test] = clone(inner).fit(X[train], Y[train]).label_scores(X[test])
    for train, test in folds:
        without = PooledCalibration().fit(scores[train], Y[train])
        odds[test] = without.decision_function(scores[test])
    calibration = PooledCalibration().fit(scores, Y)
    cut = F1Threshold().fit(odds, Y)
    assert model.threshold_.value_ == pytest.approx(cut.value_, abs=1e-4)
    of_all = calibration.decision_function(inner.fit(X, Y).label_scores(X))
    np.testing.assert_allclose(model.label_scores(X), of_all, atol=1e-6)


@pytest.mark.parametrize(("cut", "most"), [(0.8, False), (2.5, True)])
def test_a_label_of_rows_without_any_is_no_example_where_most_rows_have_none(cut, most):
    X, y = noisy_linear_problem(3, 160, 5, 4, cut=cut)
    empty = y.sum(axis=1) == 0
    assert 0.1 < empty.mean() < 0.9
    assert (empty.mean() > 0.5) == most
    labels = np.column_stack([y, empty]).astype(float)
    folds = list(KFold(4).split(X))
    inner = RankSVM(random_state=0)
    scores = np.empty(labels.shape)
    for train, test in folds:
        scores[test] = clone(inner).fit(X[train], labels[train]).label_scores(X[test])
    of_rows = clone(inner).fit(X, labels).label_scores(X)
    blocks, of_rows = [scores], [of_rows]
    if most:
        labels[:, -1] = np.nan
        centre, spread = scores[:, :4].mean(), scores[:, :4].std()
        for found in (blocks, of_rows):
            found.append(-np.log1p(np.exp((centre - found[0]) / spread)))
    expected = PooledCalibration().fit(blocks, labels).predict_proba(of_rows)[:, :4]
    model = CalibratedClassifier(inner, empty_label=True, cv=folds).fit(X, y)
    np.testing.assert_allclose(model.predict_proba(X), expected, atol=1e-6)
    lifted = CalibratedClassifier(inner, empty_label=True, lift=True, cv=folds).fit(X, y)
    of_all = lifted.calibration_.calibration if most else lifted.calibration_
    assert of_all.lift.lift_[-1].any() != most


def test_the_labels_of_a_row_do_not_change_its_own_calibration():
    rng = np.random.default_rng(0)
    scores, y = rng.normal(size=(30, 4)), rng.integers(0, 2, size=(30, 4))
    rows = np.r_[np.arange(30), 3]  # row 3 is held out twice
    folds = np.r_[np.arange(30) % 3, 1]

    def odds(labels):
        return calibrate(HeldOut([scores[rows]], labels[rows], rows, None, folds)).odds

    changed = y.copy()
    changed[3] = 1 - changed[3]
    same = np.isin(rows, 3)
    np.testing.assert_allclose(odds(y)[same], odds(changed)[same], atol=1e-6)
    assert np.abs(odds(y)[~same] - odds(changed)[~same]).max() > 1e-2


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
def test_every_kind_of_classifier(classifier):
    X, y = noisy_linear_problem(2, 460, 5, 4, cut=0.8)
    X, X_test, y, y_test = X[:160], X[160:], y[:160], y[160:]
    model = CalibratedClassifier(classifier).fit(X, y)
    p = model.predict_proba(X_test)
    assert ((p >= 0) & (p <= 1)).all()
    np.testing.assert_allclose(logit(p), model.label_scores(X_test), atol=1e-6)
    np.testing.assert_array_equal(model.predict(X_test), model.decision_function(X_test) > 0)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).predict_proba(X_test), p)
    assert model.n_features_in_ == X.shape[1]
    # Better than the share of each label.
    for k in range(y.shape[1]):
        share = np.full(len(y_test), y[:, k].mean())
        assert brier_score_loss(y_test[:, k], p[:, k]) < brier_score_loss(y_test[:, k], share)


def test_thresholds():
    inner = RankSVM(random_state=0)
    model = CalibratedClassifier(inner, threshold=0.4).fit(X, Y)
    p = model.predict_proba(X)
    np.testing.assert_array_equal(model.predict(X), p > 0.4)
    model.set_params(at_least_one=True, threshold=0.9).fit(X, Y)
    expected = (p > 0.9) | (p == p.max(axis=1, keepdims=True))
    assert (p > 0.9).any(axis=1).mean() < 1.0
    np.testing.assert_array_equal(model.predict(X), expected)
    by_label = CalibratedClassifier(inner, LabelsThreshold(), at_least_one=True).fit(X, Y)
    assert by_label.threshold_.thresholds_.shape == (4,)
    alone = by_label.label_scores(X) > by_label.threshold_.thresholds_
    np.testing.assert_array_equal(by_label.predict(X)[alone.any(axis=1)], alone[alone.any(axis=1)])
    assert (by_label.predict(X).sum(axis=1) >= 1).all()
    macro = CalibratedClassifier(inner, "macro").fit(X, Y)
    assert isinstance(macro.threshold_, ShrunkenThreshold)


def test_at_least_one_moves_no_row_in_which_a_label_passes():
    threshold, scores = LabelsThreshold(), np.array([[2.0, 1.0], [2.0, -1.0]])
    threshold.thresholds_ = np.array([3.0, 0.0])
    moved = Head(None, threshold, 2, at_least_one=True).thresholds(scores)
    np.testing.assert_array_equal(scores > moved, [[False, True], [True, False]])


def test_a_label_that_a_fold_lacks_and_rows_of_zeros():
    y = np.column_stack([Y, np.zeros((len(Y), 2), dtype=int)])
    y[0, 4] = 1
    rows = np.vstack([np.zeros((5, 5)), X[5:]])
    model = CalibratedClassifier(RankSVM(kernel="linear", random_state=0)).fit(rows, y)
    p = model.predict_proba(rows)
    assert p[:, 4:].mean() < 0.1


def test_unknown_labels_and_weights():
    y = Y.astype(float)
    y[np.random.default_rng(0).random(y.shape) < 0.2] = np.nan
    weights = np.random.default_rng(1).integers(0, 3, size=len(y)).astype(float)
    folds = [(rows, rows) for rows in (np.arange(80), np.arange(80, 160))]
    classifier = RankLSVM(kernel="linear", tol=1e-10, max_iter=100_000)
    model = CalibratedClassifier(classifier, cv=folds)
    p = model.fit(X, y, sample_weight=weights).predict_proba(X)
    repeated = np.repeat(np.arange(160), weights.astype(int))
    half = int(weights[:80].sum())
    ends = np.arange(repeated.size)
    model.set_params(cv=[(ends[:half], ends[:half]), (ends[half:], ends[half:])])
    q = model.fit(X[repeated], y[repeated]).predict_proba(X)
    np.testing.assert_allclose(p, q, atol=1e-3)


@pytest.mark.parametrize("wrapper", [CalibratedClassifier, ThresholdedClassifier])
def test_weights_reach_the_last_step_of_a_pipeline(wrapper):
    weights = np.r_[np.zeros(80), np.ones(80)]
    inside = make_pipeline(RankSVM(random_state=0, kernel="linear"))
    model = wrapper(inside).fit(X, Y, sample_weight=weights)
    alone = RankSVM(random_state=0, kernel="linear").fit(X, Y, sample_weight=weights)
    np.testing.assert_array_equal(model.estimator_[-1].coef_, alone.coef_)
    with pytest.raises(TypeError, match=r"KNeighborsClassifier\.fit takes none; expected None"):
        wrapper(KNeighborsClassifier()).fit(X, Y, sample_weight=weights)


def test_parameters_are_checked():
    for parameters, message in (
        ({"threshold": "platt"}, "threshold is 'platt'; expected 'micro', 'macro', 'samples', a"),
        ({"threshold": 1.0}, "threshold is 1.0; expected a finite number above 0 and below 1"),
        ({"C": 0.0}, "C is 0.0; expected a finite number above 0"),
        ({"at_least_one": 1}, "at_least_one is 1; expected True or False"),
    ):
        with pytest.raises((TypeError, ValueError), match=message):
            CalibratedClassifier(RankSVM(), **parameters).fit(X, Y)


@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array])
def test_whether_a_row_has_a_label_is_unknown_where_one_may_apply(container):
    marks = np.array([[1, 0], [0, 0], [1, 2], [0, 2], [2, 2]], dtype=np.uint8)
    found = with_empty_label(container(marks))
    found = found.toarray() if sparse.issparse(found) else found
    np.testing.assert_array_equal(found, np.column_stack([marks, [0, 1, 0, 2, 2]]))


@pytest.mark.filterwarnings("ignore::multimargin.UnknownLabelsWarning")
@pytest.mark.parametrize("several", [False, True])
def test_a_classifier_that_refuses_unknown_labels_is_named(several):
    refusing, unknown = KNeighborsClassifier(), Y.astype(float)
    unknown[0, 0] = np.nan
    stack = [RankSVM(kernel="linear"), refusing] if several else refusing
    with pytest.raises(ValueError, match="NaN") as caught:
        CalibratedClassifier(stack).fit(X, unknown)
    notes = " ".join(caught.value.__notes__)
    assert "y has NaN for unknown labels, which KNeighborsClassifier may not take" in notes


def test_frozen_models_with_labels_in_another_order_are_refused():
    names = list("dbca")
    frame = pd.DataFrame(Y, columns=names)
    frame.loc[Y.sum(axis=1) == 0, "c"] = 1
    fitted = make_pipeline(StandardScaler(), RankSVM(random_state=0)).fit(X, frame)
    inside = (FrozenEstimator(fitted), make_pipeline(StandardScaler(), FrozenEstimator(fitted[-1])))
    lists = [[names[k] for k in np.flatnonzero(row)] for row in frame.to_numpy()]
    for frozen in inside:
        ranker = LabelRankerCV(Cs=1, loss="hinge", kernel="linear", stack=[frozen], random_state=0)
        for model in (CalibratedClassifier(frozen), ThresholdedClassifier(frozen), ranker):
            model.fit(X, frame)
            for y in (frame[sorted(names)], frame[names[:3]], lists):
                with pytest.raises(ValueError, match="was fitted to, in its order: 'd', 'b'"):
                    model.fit(X, y)
    # What is fitted anew learns the labels of y.
    model = CalibratedClassifier(fitted).fit(X, frame[sorted(names)])
    assert model.label_names_in_.tolist() == sorted(names)
