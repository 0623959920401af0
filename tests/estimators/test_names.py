"""Predicted labels by their names."""

import numpy as np
import pytest
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

from multimargin import LabelRankerCV, RankLSVM, predict_names
from multimargin.estimators.names import final_estimator, label_names_of_model

NAMES = ["a", "b", "c", "d"]
RANDOM = np.random.default_rng(0)
X = RANDOM.standard_normal((90, 5))
Y = (X @ RANDOM.standard_normal((5, 4)) > 0.3).astype(int)
LISTED = [[NAMES[k] for k in np.flatnonzero(row)] for row in Y]


@pytest.mark.parametrize("threshold", [0.0, "labels"])
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
    for row, names in zip(probabilities, predict_names(model, X, top=3), strict=True):
        assert names == [NAMES[k] for k in np.argsort(-row)[:3]]
    for row, names in zip(model.predict(X), predict_names(model, X), strict=True):
        assert set(names) == {NAMES[k] for k in np.flatnonzero(row)}


def test_numbers_where_there_are_no_names():
    model = RankLSVM(kernel="linear").fit(X, Y)
    assert sorted(predict_names(model, X[:1], top=9)[0]) == [0, 1, 2, 3]


def test_pipelines_and_searches():
    texts = [" ".join(f"word{k}" for k in np.flatnonzero(row > 0)) for row in X]
    model = RankLSVM(kernel="linear", random_state=0)
    pipeline = make_pipeline(TfidfVectorizer(), model).fit(texts, LISTED)
    assert final_estimator(pipeline) is pipeline[-1]
    assert label_names_of_model(pipeline).tolist() == NAMES
    assert predict_names(pipeline, texts) == predict_names(
        pipeline[-1], pipeline[:-1].transform(texts)
    )
    search = GridSearchCV(pipeline, {"ranklsvm__C": [1.0]}, cv=2).fit(texts, Y)
    assert final_estimator(search) is search.best_estimator_[-1]


def test_what_has_no_names_is_refused():
    model = RankLSVM(kernel="linear").fit(X, X[:, 0] > 0)
    with pytest.raises(ValueError, match="model predicts one class a row"):
        predict_names(model, X)
    with pytest.raises(ValueError, match="top is 0; expected an integer"):
        predict_names(model, X, top=0)
