"""Parameters are chosen on the training rows of each split, and on these alone."""

from dataclasses import replace
from typing import ClassVar

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from multimargin import RankSVM
from multimargin.compare import read_results, run_experiment
from multimargin.compare.experiment import evaluate
from multimargin.compare.experiment.tuning import scorer_of
from multimargin.datasets import MultilabelData
from multimargin.datasets.table_encoder import with_encoder
from multimargin.datasets.tables import TableColumns, table_of
from multimargin.measures import get_scorer
from multimargin.methods import make_method
from multimargin.scaling import with_scaler
from multimargin.tuning import LazySearchCV, MultilabelStratifiedKFold
from multimargin.tuning.last_step import search_last_step

GRID = {"gamma": [0.25, 1.0], "C": [0.1, 1.0, 10.0]}


def test_the_search_is_that_of_the_training_rows(data):
    (result,) = run_experiment(
        data, {"svm": RankSVM(random_state=0)}, cv="official", tune={"svm": GRID}
    )
    assert result.error is None
    train = data.splits["train"]
    pipeline = with_scaler(RankSVM(random_state=0), "minmax")
    scorer, _ = scorer_of("ranking_hamming")
    grid = {f"method__{name}": values for name, values in GRID.items()}
    folds = MultilabelStratifiedKFold(3)
    by_hand = LazySearchCV(pipeline, grid, scoring=scorer, cv=folds, refit=False)
    by_hand.fit(data.X[train], data.Y[train])
    best = {name.removeprefix("method__"): value for name, value in by_hand.best_params_.items()}
    assert result.tuning["parameters"] == best
    assert result.tuning["score"] == pytest.approx(-by_hand.best_score_)
    # gamma at C = 1, then C at the best gamma: one of them twice.
    assert result.tuning["combinations"] == 4
    expected = run_experiment(data, {"svm": RankSVM(random_state=0, **best)}, cv="official")[0]
    assert result.measures == expected.measures


class Watching(ClassifierMixin, BaseEstimator):
    """Remembers the rows that any fit or prediction of it has met."""

    met: ClassVar[set[float]] = set()

    def __init__(self, C=1.0):
        self.C = C

    def fit(self, X, y):
        self.met.update(X[:, 0].tolist())
        self.classes_ = np.arange(y.shape[1])
        return self

    def decision_function(self, X):
        self.met.update(X[:, 0].tolist())
        return np.tile(np.arange(self.classes_.size) * self.C, (len(X), 1))

    def predict(self, X):
        return (self.decision_function(X) > 0).astype(int)


def test_no_test_row_is_met_by_the_search(data, monkeypatch):
    seen, tuned = {}, evaluate.tuned

    def watched(*arguments):
        Watching.met.clear()
        answer = tuned(*arguments)
        seen["search"] = set(Watching.met)
        return answer

    monkeypatch.setattr(evaluate, "tuned", watched)
    X = np.column_stack([np.arange(len(data.X), dtype=float), data.X])
    marked = MultilabelData(X, data.Y, name="marked", splits=data.splits)
    (result,) = run_experiment(
        marked, {"w": Watching()}, cv="official", scaling="none", tune={"w": {"C": [1.0, 2.0]}}
    )
    assert result.error is None
    assert seen["search"] == set(data.splits["train"].astype(float).tolist())


def test_baselines_are_tuned_over_the_values_of_their_papers(make_data):
    data = make_data(n=100)
    methods = ["ovr-linear", "knn", "dummy", "random-forest"]
    results = run_experiment(data, methods, cv="official", tune=True, tune_folds=2)
    assert [result.error for result in results] == [None] * 4
    chosen = {result.method: result.tuning for result in results}
    assert chosen["dummy"] is None  # there is nothing to tune
    assert set(chosen["ovr-linear"]["parameters"]) == {"estimator__estimator__C"}
    assert chosen["knn"]["parameters"]["estimator__n_neighbors"] in (5, 10, 20)
    assert chosen["random-forest"]["combinations"] == 3
    unknown = data.Y.astype(float)
    unknown[data.splits["train"], 0] = np.nan
    (result,) = run_experiment(
        replace(data, Y=unknown), {"svm": RankSVM()}, cv="official", tune={"svm": {"C": [1.0, 2.0]}}
    )
    assert result.error is None
    assert result.tuning["combinations"] == 2


def test_scorers_of_others_are_asked_for_rows_that_they_can_measure(make_data):
    data = make_data(n=100)
    X, y = data.X, data.Y.astype(float)
    y[::2, 0] = np.nan
    pipeline = make_pipeline(StandardScaler(), RankSVM(kernel="linear"))
    named = {"n_folds": 2, "scoring": "f1_micro"}
    best, score, _ = search_last_step(pipeline, {"C": [0.1, 1.0]}, X, y, **named)
    assert best["C"] in (0.1, 1.0)
    assert 0.0 < score < 1.0
    y[:, 1] = np.nan
    with pytest.raises(ValueError, match=r"unknown labels in each of the \d+ rows of fold 1, none"):
        search_last_step(pipeline, {"C": [0.1, 1.0]}, X, y, **named)
    # Measures of this package need a known label, not all of them.
    search_last_step(pipeline, {"C": [1.0]}, X, y, n_folds=2, scoring=get_scorer("ranking_loss"))


def test_results_are_kept_and_told_apart(data, results_file):
    methods = {"svm": RankSVM(random_state=0)}

    def run(**options):
        return run_experiment(data, methods, cv="official", results_file=results_file, **options)

    plain, tuned, other = run(), run(tune={"svm": GRID}), run(tune={"svm": GRID}, tune_folds=2)
    assert len({result.job for result in (*plain, *tuned, *other)}) == 3
    assert read_results(results_file) == [*plain, *tuned, *other]
    assert run(tune={"svm": GRID}) == tuned
    for wrong, message in (
        ({"tune": {"other": GRID}}, "tune names 'other'; expected some of svm"),
        ({"tune": {"svm": GRID}, "tune_folds": 1}, "tune_folds is 1; expected an integer of at le"),
        ({"tune": {"svm": GRID}, "tune_score": "nice"}, "tune_score is 'nice'; expected one of "),
    ):
        with pytest.raises(ValueError, match=message):
            run(**wrong)


@pytest.mark.filterwarnings("ignore:5[78] of 60 rows have the text of rows before")
@pytest.mark.filterwarnings("ignore:many numbers are far from those of the fitted rows")
def test_tables_are_encoded_by_the_training_rows():
    random = np.random.default_rng(0)
    n = 60
    frame = pd.DataFrame(
        {
            "number": random.normal(size=n),
            # The test half has a name and words of its own, and huge numbers.
            "name": ["a", "b"] * (n // 4) + ["b", "c"] * (n // 4),
            "text": ["one two"] * (n // 2) + ["two three"] * (n // 2),
        }
    )
    frame.loc[n // 2 :, "number"] *= 1e6
    for k in range(3):
        frame[f"tag:{k}"] = (random.normal(size=n) + (frame["name"] == "b") > 0.3).astype(int)
    table = table_of(frame, TableColumns(labels="tag:*", text="text"), name="table")
    halves = {"train": np.arange(n // 2), "test": np.arange(n // 2, n)}
    table = replace(table, splits=halves)
    (result,) = run_experiment(table, {"knn": make_method("knn")}, cv="official")
    assert result.error is None
    assert result.shape["n_features"] == 3
    # By hand: the encoder sees the training rows alone.
    pipeline = with_encoder(make_method("knn"), table.kinds, "minmax", n_rows=n // 2)
    pipeline.fit(table.X.iloc[: n // 2], table.Y[: n // 2])
    wrong = (pipeline.predict(table.X.iloc[n // 2 :]) != table.Y[n // 2 :]).mean()
    assert result.measures["hamming_loss"] == pytest.approx(wrong)
    assert "c" not in pipeline[0].named_transformers_["names"][-1].categories_[0]
    # Another cell, another job.
    frame.loc[3, "text"] = "four"
    changed = table_of(frame, TableColumns(labels="tag:*", text="text"), name="table")
    changed = replace(changed, splits=halves)
    (other,) = run_experiment(changed, {"knn": make_method("knn")}, cv="official")
    assert other.job != result.job
