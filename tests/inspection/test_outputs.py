"""Predictions as sparse matrices and data frames say what the methods say."""

import numpy as np
import pandas as pd
import polars
import pytest
from scipy import sparse
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score
from sklearn.model_selection import GridSearchCV
from sklearn.multiclass import OneVsRestClassifier
from sklearn.multioutput import ClassifierChain
from sklearn.pipeline import make_pipeline

from multimargin import (
    CalibratedClassifier,
    RankLSVM,
    RankSVM,
    predict_frame,
    predict_sparse,
)
from multimargin.inspection import names as blocks
from multimargin.measures import micro_f1
from tests.support.problems import noisy_linear_problem

X, Y = noisy_linear_problem(0, 90, 5, 4, noise=0.3)
NAMES = ["a", "b", "c", "d"]
LISTED = [[NAMES[k] for k in np.flatnonzero(row)] for row in Y]

MODELS = [
    RankSVM(random_state=0),
    RankLSVM(kernel="linear", threshold="macro"),
    make_pipeline(CalibratedClassifier(RankSVM(random_state=0), cv=2, at_least_one=True)),
    GridSearchCV(RankLSVM(), {"C": [1.0]}, cv=2),
    OneVsRestClassifier(LogisticRegression()),
    ClassifierChain(LogisticRegression()),
    RandomForestClassifier(5, random_state=0),
]


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_sparse_predictions_by_blocks(model, monkeypatch):
    model.fit(X, Y)
    expected = model.predict(X)
    # Blocks of 7 rows of 4 labels.
    monkeypatch.setattr(blocks, "_SCORES", 28)
    for rows in (X, sparse.csr_array(X)):
        predicted = predict_sparse(model, rows)
        assert isinstance(predicted, sparse.csr_array)
        assert predicted.dtype == np.uint8
        assert predicted.shape == Y.shape
        np.testing.assert_array_equal(predicted.toarray(), expected)
    assert predicted.nnz == np.count_nonzero(expected)
    expected_f1 = f1_score(Y, expected, average="micro")
    assert f1_score(sparse.csr_array(Y), predicted, average="micro") == expected_f1
    assert micro_f1(Y, predicted) == pytest.approx(expected_f1)


def test_no_array_of_all_labels_is_asked_for(monkeypatch):
    model = RankSVM(kernel="linear", random_state=0).fit(X, Y)
    asked = []
    method = RankSVM.decision_function
    monkeypatch.setattr(blocks, "_SCORES", 40)
    monkeypatch.setattr(
        RankSVM, "decision_function", lambda self, X: asked.append(len(X)) or method(self, X)
    )
    assert predict_sparse(model, X).nnz > 0
    assert asked == [10] * 9


def test_frames_have_the_names_of_labels_and_the_index_of_rows():
    table = pd.DataFrame(X, index=[f"row {k}" for k in range(90)]).add_prefix("x")
    model = CalibratedClassifier(RankSVM(random_state=0), cv=2).fit(table, LISTED)
    for response in ("predict", "predict_proba", "decision_function", "label_scores"):
        frame = predict_frame(model, table, response=response)
        assert frame.columns.tolist() == NAMES
        assert frame.index.equals(table.index)
        np.testing.assert_array_equal(frame.to_numpy(), getattr(model, response)(table))
    other = predict_frame(model, table, response="predict_proba", library="polars")
    assert isinstance(other, polars.DataFrame)
    assert other.columns == NAMES
    np.testing.assert_array_equal(other.to_numpy(), model.predict_proba(table))


def test_frames_of_other_rows_and_models():
    texts = [" ".join(f"word{k}" for k in np.flatnonzero(row > 0)) for row in X]
    tagger = make_pipeline(TfidfVectorizer(), RankSVM(kernel="linear", random_state=0))
    frame = predict_frame(tagger.fit(texts, LISTED), texts)
    assert frame.index.equals(pd.RangeIndex(90))
    np.testing.assert_array_equal(frame, tagger.predict(texts))
    forest = RandomForestClassifier(5, random_state=0).fit(X, Y)
    shares = predict_frame(forest, X, response="predict_proba")
    assert shares.columns.tolist() == [0, 1, 2, 3]
    np.testing.assert_array_equal(shares[2], forest.predict_proba(X)[2][:, 1])


def test_what_cannot_be_answered_is_refused():
    model = RankSVM(random_state=0).fit(X, Y)
    with pytest.raises(TypeError, match="RankSVM, which has no predict_proba"):
        predict_frame(model, X, response="predict_proba")
    with pytest.raises(ValueError, match="response is 'proba'"):
        predict_frame(model, X, response="proba")
    with pytest.raises(ValueError, match="library is 'arrow'"):
        predict_frame(model, X, library="arrow")
    for ask in (predict_frame, predict_sparse):
        with pytest.raises(ValueError, match="model predicts one class per row"):
            ask(RankSVM(random_state=0).fit(X, X[:, 0] > 0), X)
        with pytest.raises(ValueError, match=r"0 sample\(s\)"):
            ask(model, X[:0])
