"""Features that speak for and against a label."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler
from sklearn.svm import SVC

from multimargin import (
    LLSF,
    CalibratedClassifier,
    LabelRankerCV,
    RankLSVM,
    RankSVM,
    ThresholdedClassifier,
    explain,
    predict_names,
)
from multimargin.methods import make_method
from tests.support.problems import noisy_linear_problem

NAMES = ["a", "b", "c", "d"]
X, Y = noisy_linear_problem(0, 90, 5, 4, noise=0.0)
LISTED = [[NAMES[k] for k in np.flatnonzero(row)] for row in Y]
LINEAR = RankLSVM(kernel="linear", random_state=0)


def scores_of(model, rows):
    inner = getattr(model, "estimator_", getattr(model, "ranker_", model))
    # A further column is that of rows without labels.
    return inner.label_scores(rows)[:, : len(NAMES)]


@pytest.mark.parametrize(
    "model",
    [
        LINEAR,
        RankSVM(kernel="linear", bias="free"),
        LLSF(alpha=0.1, beta=0.1),
        CalibratedClassifier(LINEAR, cv=2),
        ThresholdedClassifier(LINEAR, cv=2),
        LabelRankerCV([1.0], kernel="linear", loss="squared_hinge", cv=2, unit_length=False),
    ],
    ids=lambda model: type(model).__name__,
)
@pytest.mark.parametrize("stored", [np.asarray, sparse.csr_array])
def test_contributions_add_up_to_the_score_above_the_mean(model, stored):
    model.fit(X, LISTED)
    rows = X[:7]
    scores = scores_of(model, rows)
    for label in NAMES:
        for k in (1, 3, 9):
            found = explain(model, stored(rows), label, k=k)
            assert max(len(one.features) for one in found) == min(k, 5)
            expected = scores[:, NAMES.index(label)] - scores.mean(axis=1)
            np.testing.assert_allclose([one.total for one in found], expected, atol=1e-9)


def test_what_is_named_is_strongest():
    model = LINEAR.fit(X, LISTED)
    weights = model.coef_[1] - model.coef_.mean(axis=0)
    (found,) = explain(model, X[:1], "b", k=3)
    each = X[0] * weights
    strongest = np.argsort(-np.abs(each))[:3]
    strongest = strongest[np.argsort(-each[strongest])]
    assert found.features == tuple(map(str, strongest))
    np.testing.assert_allclose(found.contributions, each[strongest])
    general = explain(model, None, "b")
    np.testing.assert_allclose(general.contributions, np.sort(weights)[::-1])
    assert general.others == pytest.approx(0.0, abs=1e-12)
    assert str(found).startswith(f"b: {strongest[0]} ")


@pytest.mark.parametrize("unit_length", [False, True])
def test_a_data_frame_names_the_features_of_a_label_ranker(unit_length):
    """Its ranker and its stack are fitted to arrays, which have no names."""
    frame = pytest.importorskip("pandas").DataFrame(X, columns=list("vwxyz"))
    ranker = LabelRankerCV([1.0], kernel="linear", cv=2, random_state=0, unit_length=unit_length)
    for model in (ranker, make_pipeline("passthrough", ranker)):
        model.fit(frame, LISTED)
        for found in (explain(model, frame[:2], "b")[0], explain(model, frame[:2])[0][0]):
            assert set(found.features) == set("vwxyz")
            assert dict(found.blocks).keys() == set(ranker.blocks_)
        assert set(explain(model, None, "b").features) == set("vwxyz")


def test_a_feature_alike_for_all_labels_says_nothing():
    model = LINEAR.fit(X, LISTED)
    before = explain(model, X[:2], "a")
    model.coef_ = model.coef_ + np.arange(5.0)
    after = explain(model, X[:2], "a")
    for one, other in zip(before, after, strict=True):
        np.testing.assert_allclose(one.contributions, other.contributions, atol=1e-9)


def test_words_of_texts_that_are_scaled_to_unit_length():
    texts = [" ".join(f"word{k}" for k in np.flatnonzero(row > 0)) for row in X]
    options = {"kernel": "linear", "unit_length": True}
    ranker = LabelRankerCV([1.0], loss="squared_hinge", cv=2, **options)
    model = make_pipeline(TfidfVectorizer(norm=None), ranker).fit(texts, LISTED)
    assert ranker.unit_length_
    (found,) = explain(model, texts[3:4], "c")
    assert set(found.features) == set(texts[3].split())
    rows = TfidfVectorizer(norm="l2").fit(texts).transform(texts[3:4])
    scores = ranker.ranker_.label_scores(rows)[0, : len(NAMES)]
    assert found.total == pytest.approx(scores[2] - scores.mean())


def test_what_cannot_be_explained_is_refused():
    with pytest.raises(TypeError, match=r"model is RankLSVM with kernel='rbf', .* linear"):
        explain(RankLSVM().fit(X, LISTED), X, "a")
    others = [make_method(name) for name in ("label-powerset", "bsvm", "llsf-bsvm")]
    for other in (*others, RandomForestClassifier(2)):
        with pytest.raises(TypeError, match="whose features have no weights for each label"):
            explain(other.fit(X, Y), X, 1)
    for other in (SVC(kernel="linear"), LogisticRegression()):
        with pytest.raises(TypeError, match=r"no weights for each label; expected .* of multimar"):
            explain(other.fit(X, Y[:, 0]), X, 1)
    model = make_pipeline(MinMaxScaler(), LINEAR).fit(X, LISTED)
    with pytest.raises(ValueError, match="label is 'z'; expected one of 'a', 'b', 'c', 'd'"):
        explain(model, X, "z")
    with pytest.raises(ValueError, match="k is 0; expected"):
        explain(model, X, "a", k=0)
    named = make_pipeline(MinMaxScaler(), LINEAR).fit(
        X, [{*row, "sound"} - {"a"} for row in LISTED]
    )
    with pytest.raises(ValueError, match=r"label is 'suond' \(did you mean 'sound'\?\); expected"):
        explain(named, X, "suond")


def test_the_shares_of_a_stack_sum_to_its_odds():
    stack = ["linear", "neighbours"]
    model = LabelRankerCV([1.0], kernel="linear", loss="squared_hinge", cv=2, stack=stack)
    texts = [" ".join(f"word{k}" for k in np.flatnonzero(row > 0)) for row in X]
    tagger = make_pipeline(TfidfVectorizer(), model).fit(texts, LISTED)
    odds = tagger.decision_function(texts[:9]) + model.threshold_.value_
    calibration = model.calibration_
    for place, label in enumerate(NAMES):
        found = explain(tagger, texts[:9], label)
        assert [name for name, _ in found[0].blocks] == ["ranker", *stack]
        shares = [sum(share for _, share in one.blocks) for one in found]
        intercept = calibration.intercept_ + calibration.label_intercept_[place]
        np.testing.assert_allclose(np.add(shares, intercept), odds[:, place], atol=1e-9)
    assert "(log odds: ranker " in str(found[0])


@pytest.mark.parametrize(
    "model",
    [LINEAR, LabelRankerCV([1.0], kernel="linear", loss="squared_hinge", cv=2)],
    ids=lambda model: type(model).__name__,
)
def test_without_a_label_what_is_predicted_is_explained(model):
    model.fit(X, LISTED)
    found = explain(model, X[:9], k=3)
    assert [[one.label for one in row] for row in found] == predict_names(model, X[:9])
    for label in NAMES:
        for row, of_label in zip(found, explain(model, X[:9], label, k=3), strict=True):
            assert [str(one) for one in row if one.label == label] in ([], [str(of_label)])
    with pytest.raises(ValueError, match="X and label are both None"):
        explain(model, None)
