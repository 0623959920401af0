"""Predicted labels by their names."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.metrics import accuracy_score
from sklearn.model_selection import GridSearchCV
from sklearn.multiclass import OneVsRestClassifier
from sklearn.multioutput import ClassifierChain, MultiOutputClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, MultiLabelBinarizer, StandardScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

from multimargin import (
    CalibratedClassifier,
    LabelRankerCV,
    RankLSVM,
    explain,
    predict_names,
    predict_top,
)
from multimargin.inspection.names import label_names_of_model
from tests.support.problems import noisy_linear_problem

NAMES = ["a", "b", "c", "d"]
X, Y = noisy_linear_problem(0, 90, 5, 4, noise=0.0)
LISTED = [[NAMES[k] for k in np.flatnonzero(row)] for row in Y]


@pytest.mark.parametrize("threshold", [0.0, "macro"])
def test_predicted_labels_by_name(threshold):
    model = RankLSVM(kernel="linear", threshold=threshold).fit(X, LISTED)
    decision = model.decision_function(X)
    for row, names in zip(decision, predict_names(model, X), strict=True):
        assert set(names) == {NAMES[k] for k in np.flatnonzero(row > 0)}
        assert np.all(np.diff([row[NAMES.index(name)] for name in names]) <= 0)


def test_the_most_probable_come_first():
    model = LabelRankerCV([1.0], threshold="macro", kernel="linear", loss="squared_hinge", cv=2)
    model.fit(X, LISTED)
    probabilities = model.predict_proba(X)
    for row, names in zip(probabilities, predict_names(model, X, k=3), strict=True):
        assert names == [NAMES[k] for k in np.argsort(-row)[:3]]
    for row, names in zip(model.predict(X), predict_names(model, X), strict=True):
        assert set(names) == {NAMES[k] for k in np.flatnonzero(row)}


def test_numbers_where_there_are_no_names():
    model = RankLSVM(kernel="linear").fit(X, Y)
    assert sorted(predict_names(model, X[:1], k=9)[0]) == [0, 1, 2, 3]


def test_pipelines_and_searches():
    texts = [" ".join(f"word{k}" for k in np.flatnonzero(row > 0)) for row in X]
    model = RankLSVM(kernel="linear", random_state=0)
    pipeline = make_pipeline(TfidfVectorizer(), MaxAbsScaler(), model).fit(texts, LISTED)
    assert label_names_of_model(pipeline).tolist() == NAMES
    assert predict_names(pipeline, texts) == predict_names(
        pipeline[-1], pipeline[:-1].transform(texts)
    )
    search = GridSearchCV(pipeline, {"ranklsvm__C": [1.0]}, cv=2).fit(texts, Y)
    assert label_names_of_model(search).tolist() == [0, 1, 2, 3]


def test_what_has_no_names_is_refused():
    model = RankLSVM(kernel="linear").fit(X, X[:, 0] > 0)
    with pytest.raises(ValueError, match="model predicts one class per row"):
        predict_names(model, X)
    with pytest.raises(ValueError, match="k is 0; expected an integer"):
        predict_names(model, X, k=0)


OTHERS = [
    ClassifierChain(LogisticRegression()),
    ClassifierChain(LinearSVC()),
    MultiOutputClassifier(LogisticRegression()),
    MultiOutputClassifier(LinearSVC()),
    make_pipeline(MaxAbsScaler(), MultiOutputClassifier(LogisticRegression())),
    OneVsRestClassifier(LinearSVC()),
    RandomForestClassifier(n_estimators=5, random_state=0),
    KNeighborsClassifier(3, algorithm="brute"),
    DecisionTreeClassifier(random_state=0),
    DummyClassifier(),
    RidgeClassifier(),
]


@pytest.mark.parametrize("model", OTHERS, ids=str)
@pytest.mark.parametrize("make", [np.asarray, sparse.coo_array])
def test_classifiers_of_scikit_learn_name_what_they_predict(model, make):
    model.fit(X, Y)
    given = make(X[:9])
    for row, names in zip(model.predict(X[:9]), predict_names(model, given), strict=True):
        assert sorted(names) == np.flatnonzero(row).tolist()
    assert [len(row) for row in predict_names(model, given, k=2)] == [2] * 9
    assert predict_top(model, given, 2)[0].shape == (9, 2)


def test_what_predicts_no_labels_is_refused_by_its_type():
    one_class = LogisticRegression().fit(X, Y[:, 0])
    for ask in (predict_names, predict_top):
        with pytest.raises(ValueError, match=r"one class per row \(LogisticRegression\)"):
            ask(one_class, X)
    other_codes = DecisionTreeClassifier().fit(X, Y + 1)
    with pytest.raises(TypeError, match=r"DecisionTreeClassifier whose output 0 has the cl.*1, 2"):
        predict_names(other_codes, X)
    with pytest.raises(TypeError, match="ends with a StandardScaler, which does not say"):
        predict_names(StandardScaler().fit(X), X)


def test_score_takes_what_fit_took():
    X, Y = noisy_linear_problem(0, 60, 3, 3)
    names = [[name for name, one in zip("abc", row, strict=True) if one] for row in Y]
    model = make_pipeline(StandardScaler(), RankLSVM(kernel="linear", random_state=0))
    model.fit(X[:40], names[:40])
    indicator = MultiLabelBinarizer(classes=list("abc")).fit_transform(names[40:])
    expected = accuracy_score(indicator, model.predict(X[40:]))
    assert 0 < expected < 1
    assert model.score(X[40:], names[40:]) == pytest.approx(expected)
    assert model.score(X[40:], indicator) == pytest.approx(expected)
    # A name that the model has never seen cannot be predicted.
    assert model.score(X[40:], [[*row, "new"] for row in names[40:]]) == 0
    weights = np.arange(20)
    weighted = accuracy_score(indicator, model.predict(X[40:]), sample_weight=weights)
    found = model[-1].score(model[0].transform(X[40:]), names[40:], sample_weight=weights)
    assert found == pytest.approx(weighted)
    with pytest.raises(ValueError, match="rows"):
        model.score(X[40:], names[41:])


def test_a_frame_where_a_column_of_texts_is_expected_is_refused():
    pd = pytest.importorskip("pandas")
    texts = ["plays audio", "edits audio", "edits photos", "shows photos"]
    frame = pd.DataFrame({"about": texts, "size": 1})
    tags = [["sound"], ["sound", "editor"], ["image", "editor"], ["image"]]
    model = make_pipeline(TfidfVectorizer(), RankLSVM(kernel="linear", random_state=0))
    model.fit(frame.about, tags)
    for ask in (predict_names, predict_top, lambda *given: predict_names(*given, k=2)):
        with pytest.raises(ValueError, match=r"X is a DataFrame of 4 rows, for which .* returns 2"):
            ask(model, frame)
    with pytest.raises(ValueError, match=r"X is a DataFrame of 4 rows, for which .* returns 2"):
        explain(model, frame, "image")


class CountingScaler(MaxAbsScaler):
    """A scaler that counts its calls."""

    calls = 0

    def transform(self, X):
        CountingScaler.calls += 1
        return super().transform(X)


@pytest.mark.parametrize(
    "model",
    [
        LabelRankerCV([1.0], kernel="linear", loss="squared_hinge", cv=2),
        LabelRankerCV([1.0], threshold="macro", unit_length=True, cv=2, stack=None),
        CalibratedClassifier(RankLSVM(kernel="linear"), cv=2),
        RankLSVM(kernel="linear"),
    ],
)
def test_names_and_scores_of_one_pass(model):
    pipeline = make_pipeline(CountingScaler(), model).fit(X, LISTED)
    CountingScaler.calls = 0
    names, scores = predict_names(pipeline, X, return_scores=True)
    assert CountingScaler.calls == 1
    probable = hasattr(pipeline, "predict_proba")
    expected = pipeline.predict_proba(X) if probable else pipeline.decision_function(X)
    assert names == predict_names(pipeline, X)
    for row, named, values in zip(expected, names, scores, strict=True):
        assert values == [row[NAMES.index(name)] for name in named]
        assert values == sorted(values, reverse=True)
    for row, named in zip(pipeline.predict(X), names, strict=True):
        assert set(named) == {NAMES[k] for k in np.flatnonzero(row)}
    best, of_best = predict_names(pipeline, X[:5], k=2, return_scores=True)
    assert best == predict_names(pipeline, X[:5], k=2)
    assert of_best == np.sort(expected[:5])[:, :-3:-1].tolist()


def test_scores_of_predictions_alone():
    ridge = RidgeClassifier().fit(X, Y)
    names, scores = predict_names(KNeighborsClassifier(3).fit(X, Y), X, return_scores=True)
    assert [len(row) for row in names] == [len(row) for row in scores]
    assert predict_names(ridge, X, return_scores=True)[0] == predict_names(ridge, X)
