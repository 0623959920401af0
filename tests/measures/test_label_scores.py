"""Label scores of any classifier, as it has them."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.multiclass import OneVsRestClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, Normalizer, StandardScaler

from multimargin import RankSVM
from multimargin.measures.label_scores import response_of, scores_by
from tests.support.problems import noisy_linear_problem

RESPONSES = ("label_scores", "decision_function", "predict_proba", "predict")


class Fixed(ClassifierMixin, BaseEstimator):
    """A classifier that predicts what it was given."""

    def __init__(self, predictions):
        self.predictions = predictions

    def fit(self, X, y):
        return self

    def predict(self, X):
        return self.predictions


@pytest.fixture
def data():
    return noisy_linear_problem(0, 40, 3, 4, noise=0.0, cut=0.2)


def test_the_first_response_that_there_is(data):
    one_vs_rest = OneVsRestClassifier(LogisticRegression()).fit(*data)
    neighbours = KNeighborsClassifier().fit(*data)
    assert response_of(RankSVM(), RESPONSES) == "label_scores"
    assert response_of(RankSVM(), RESPONSES[1:]) == "decision_function"
    assert response_of(one_vs_rest, RESPONSES) == "decision_function"
    assert response_of(one_vs_rest, ("predict_proba", "decision_function")) == "predict_proba"
    assert response_of(neighbours, RESPONSES) == "predict_proba"
    assert response_of(Fixed(data[1]), RESPONSES) == "predict"
    with pytest.raises(TypeError, match="StandardScaler, which has no label_scores or predict; ex"):
        response_of(StandardScaler(), ("label_scores", "predict"))
    with pytest.raises(TypeError, match="KNeighborsClassifier, which has no label_scores; ex"):
        scores_by(neighbours, "label_scores", data[0])


def test_pipelines_and_searches_hand_label_scores_on(data):
    X, Y = data
    # One threshold for each label: the decision function ranks otherwise.
    model = RankSVM(C=1.0, threshold="macro", random_state=0)
    scaled = StandardScaler().fit_transform(X)
    expected = model.fit(scaled, Y).label_scores(scaled)
    pipeline = make_pipeline(StandardScaler(), model).fit(X, Y)
    search = GridSearchCV(pipeline, {"ranksvm__C": [1.0]}, cv=2).fit(X, Y)
    around = make_pipeline(search).fit(X, Y)
    for fitted in (pipeline, search, around):
        assert response_of(fitted, RESPONSES) == "label_scores"
        np.testing.assert_allclose(scores_by(fitted, "label_scores", X), expected)
        decision = scores_by(fitted, "decision_function", X)
        assert np.abs(decision - expected).max() > 1e-3
    steps = make_pipeline(MinMaxScaler(), Normalizer(), model).fit(X, Y)
    np.testing.assert_array_equal(
        scores_by(steps, "label_scores", X), steps[2].label_scores(steps[:2].transform(X))
    )
    other = make_pipeline(StandardScaler(), KNeighborsClassifier()).fit(X, Y)
    assert response_of(other, RESPONSES) == "predict_proba"


def test_probabilities_are_those_of_relevance(data):
    X, Y = data
    Y[:, 1], Y[:, 2] = 0, 1
    model = KNeighborsClassifier(3).fit(X, Y)
    nearest = model.kneighbors(X, return_distance=False)
    scores = scores_by(model, "predict_proba", X, n_labels=4)
    np.testing.assert_allclose(scores, Y[nearest].mean(axis=1))


def test_predictions_become_floats(data):
    X, Y = data
    for predictions in (Y, sparse.csr_array(Y), Y.astype(np.float32)):
        scores = scores_by(Fixed(predictions), "predict", X.tolist())
        assert scores.dtype == np.float64
        np.testing.assert_array_equal(scores, Y)


def test_other_shapes_and_missing_scores_are_named(data):
    X, Y = data
    message = r"predict of Fixed has shape \(39, 4\); expected \(40, 4\), one score for each row"
    with pytest.raises(ValueError, match=message):
        scores_by(Fixed(Y[1:]), "predict", X, n_labels=4)
    with pytest.raises(ValueError, match=r"has shape \(40,\); expected \(40, q\)"):
        scores_by(Fixed(Y[:, 0]), "predict", X)
    with pytest.raises(ValueError, match="predict of Fixed contains NaN"):
        scores_by(Fixed(np.where(Y, 1.0, np.nan)), "predict", X)
