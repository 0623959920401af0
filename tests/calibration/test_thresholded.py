"""Thresholds around any classifier: learned from held-out scores, and from nothing else."""

import pickle

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator, clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.multiclass import OneVsRestClassifier
from sklearn.multioutput import ClassifierChain, MultiOutputClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC

from multimargin import LLSF, MLODM, MLRL, RankCVM, RankHLapSVM, RankSVM, ThresholdedClassifier
from multimargin.measures import get_scorer
from multimargin.thresholds import ConstantThreshold, FeaturesThreshold, LabelsThreshold, Threshold
from tests.support.cases import case
from tests.support.problems import noisy_linear_problem

X, Y = noisy_linear_problem(0, 120, 5, 4, cut=0.8)

CLASSIFIERS = [
    RankSVM(random_state=0),
    MLRL(),
    LLSF(),
    OneVsRestClassifier(LinearSVC(random_state=0)),
    OneVsRestClassifier(LogisticRegression()),
    OneVsRestClassifier(SVC()),
    ClassifierChain(LogisticRegression()),
    MultiOutputClassifier(LogisticRegression()),
    MultiOutputClassifier(CalibratedClassifierCV(LinearSVC(random_state=0), cv=3)),
    RandomForestClassifier(n_estimators=5, random_state=0),
    KNeighborsClassifier(),
    make_pipeline(StandardScaler(), OneVsRestClassifier(LogisticRegression())),
    GridSearchCV(
        RankSVM(random_state=0), {"C": [0.5, 1.0]}, scoring=get_scorer("neg_ranking_loss")
    ),
]


@pytest.mark.parametrize("classifier", CLASSIFIERS, ids=lambda c: type(c).__name__)
def test_every_kind_of_classifier(classifier):
    model = ThresholdedClassifier(classifier).fit(X, Y)
    scores, decision = model.label_scores(X), model.decision_function(X)
    assert scores.shape == decision.shape == Y.shape
    np.testing.assert_array_equal(decision, scores - model.threshold_.thresholds_)
    np.testing.assert_array_equal(model.predict(X), (decision > 0).astype(int))
    assert model.n_features_in_ == X.shape[1]
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict(X), model.predict(X))


class Splitter(KFold):
    """Keeps the labels that it is to stratify by."""

    def split(self, X, y=None, groups=None):
        self.labels = y
        return super().split(X, y, groups)


def test_folds_are_stratified_by_the_labels_that_are_relevant():
    unknown = Y.astype(float)
    unknown[0] = np.nan
    for given, seen in ((Y, Y), (unknown, np.nan_to_num(unknown))):
        cv = Splitter(3)
        ThresholdedClassifier(RankSVM(random_state=0), cv=cv).fit(X, given)
        np.testing.assert_array_equal(cv.labels, seen)


@pytest.mark.parametrize("threshold", ["scores", "features", "macro", "count", 0.25])
def test_threshold_is_fitted_on_the_scores_of_held_out_rows(threshold):
    cv = KFold(4, shuffle=True, random_state=1)
    model = ThresholdedClassifier(RankSVM(random_state=0), threshold, cv=cv).fit(X, Y)
    held_out = np.empty(Y.shape)
    for train, test in cv.split(X):
        held_out[test] = RankSVM(random_state=0).fit(X[train], Y[train]).label_scores(X[test])
    order = np.concatenate([test for _, test in cv.split(X)])
    unit = held_out.std(axis=1).mean()
    expected = clone(model.threshold_).fit(held_out[order] / unit, Y[order], X[order])
    expected.rescale(unit)
    F = model.label_scores(X)
    np.testing.assert_array_equal(F, RankSVM(random_state=0).fit(X, Y).label_scores(X))
    np.testing.assert_allclose(
        model.threshold_.predict(F, X), expected.predict(F, X), rtol=1e-9, atol=1e-12
    )


class Scaled(BaseEstimator):
    """Rank-SVM with scores of another scale."""

    def __init__(self, factor=1.0):
        self.factor = factor

    def fit(self, X, y):
        self.model_ = RankSVM(random_state=0).fit(X, y)
        return self

    def label_scores(self, X):
        return self.factor * self.model_.label_scores(X)


@pytest.mark.parametrize("threshold", ["scores", "features", "macro", "count"])
def test_the_scale_of_the_scores_does_not_matter(threshold):
    labels = Y.copy()
    labels[:10] = 0
    expected = ThresholdedClassifier(Scaled(), threshold).fit(X, labels).predict(X)
    assert 0.1 < expected.mean() < 0.9
    for factor in (2.0**-20, 2.0**20):
        found = ThresholdedClassifier(Scaled(factor), threshold).fit(X, labels).predict(X)
        np.testing.assert_array_equal(found, expected)


def test_kinds_of_input_and_jobs():
    expected = ThresholdedClassifier(RankSVM(random_state=0)).fit(X, Y).decision_function(X)
    names = [f"label {k}" for k in range(Y.shape[1])]
    for A, B in ((pd.DataFrame(X), pd.DataFrame(Y, columns=names)), (X.tolist(), Y.tolist())):
        model = ThresholdedClassifier(RankSVM(random_state=0), n_jobs=2).fit(A, B)
        np.testing.assert_array_equal(model.decision_function(A), expected)
        assert hasattr(model, "label_names_in_") == isinstance(B, pd.DataFrame)
    # Products of sparse rows round differently, which may decide a step: the optimum is the same.
    of_dense, of_sparse = (
        ThresholdedClassifier(RankSVM(random_state=0, tol=1e-11), n_jobs=2).fit(A, B)
        for A, B in ((X, Y), (sparse.csr_array(X), sparse.csc_array(Y)))
    )
    expected = of_dense.decision_function(X)
    np.testing.assert_allclose(of_sparse.decision_function(X), expected, atol=1e-9)
    assert not hasattr(of_sparse, "label_names_in_")


@pytest.mark.parametrize("method", [RankSVM, RankCVM, RankHLapSVM, MLODM, LLSF])
def test_thresholds_of_the_estimators(method):
    seed = {} if method is LLSF else {"random_state": 0}
    plain = method(threshold=0.0, **seed).fit(X, Y)
    assert isinstance(plain.threshold_, ConstantThreshold)
    F = plain.label_scores(X)
    np.testing.assert_array_equal(plain.decision_function(X), F)
    for threshold in ("scores", "features", "macro", "count", LabelsThreshold()):
        model = method(threshold=threshold, **seed).fit(X, Y)
        assert isinstance(model.threshold_, Threshold)
        np.testing.assert_array_equal(model.label_scores(X), F)
        t = model.threshold_.predict(F, X)
        expected = F - (t if t.ndim == 2 else t[:, None])
        np.testing.assert_array_equal(model.decision_function(X), expected)
        np.testing.assert_array_equal(model.predict(X), (expected > 0).astype(int))
        if threshold == "count":
            assert (model.predict(X).sum(axis=1) == round(Y.sum() / len(Y))).all()


def test_refusals():
    inner = RankSVM(random_state=0)
    for arguments, labels, message in (
        ({"estimator": "svm"}, Y, r"^estimator is 'svm'; expected a classifier with `fit`"),
        ({"threshold": "label"}, Y, r"^threshold is 'label'; expected 'auto', 'micro', "),
        ({"response_method": "transform"}, Y, r"^response_method is 'transform'; expected one of"),
        (
            {"response_method": "predict_proba"},
            Y,
            r"^estimator is a RankSVM, which has no predict_proba; expected a class",
        ),
        ({}, Y[:, 0], r"^y has one dimension; expected a label indicator"),
        ({}, Y[1:], r"y has \d+ rows; expected \d+, as many as X"),
    ):
        with case(arguments), pytest.raises((TypeError, ValueError), match=message):
            ThresholdedClassifier(**{"estimator": inner, **arguments}).fit(X, labels)
    with pytest.raises(NotFittedError):
        ThresholdedClassifier(inner).predict(X)
    pairwise = ThresholdedClassifier(RankSVM(kernel="precomputed"), FeaturesThreshold())
    assert pairwise.__sklearn_tags__().input_tags.pairwise


def test_a_label_that_a_fold_lacks():
    labels = Y.copy()
    labels[:, 3] = np.arange(len(Y)) < 24
    each = MultiOutputClassifier(LogisticRegression())
    with pytest.raises(ValueError, match="at least 2 classes") as caught:
        ThresholdedClassifier(each, cv=KFold(5)).fit(X, labels)
    assert "MultilabelStratifiedKFold" in caught.value.__notes__[0]
    forest = RandomForestClassifier(n_estimators=3, random_state=0)
    assert ThresholdedClassifier(forest).fit(X, labels).predict(X).shape == Y.shape
