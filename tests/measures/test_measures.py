"""Measures against their definitions, written as loops, and against scikit-learn."""

from inspect import signature

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn import config_context, metrics
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import make_multilabel_classification
from sklearn.model_selection import GridSearchCV, KFold, cross_validate
from sklearn.multiclass import OneVsRestClassifier
from sklearn.multioutput import ClassifierChain
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from multimargin import RankSVM, measures
from multimargin.measures import ranking
from tests.support.cases import case
from tests.support.subsets import first_fast

RANKING = ["ranking_loss", "one_error", "coverage", "ranking_average_precision", "is_error"]
LABEL_SETS = ["hamming_loss", "exact_match", "jaccard", "example_f1", "macro_f1", "micro_f1"]
# Those of the measures in tables; test_retrieval.py has the others.
SCORERS = {
    name: scorer
    for name, scorer in measures.SCORERS.items()
    if name.removeprefix("neg_") in {*measures.MEASURES, "ranking_hamming"}
}

RAP = "ranking_average_precision"


def ranking_loss_of_row(y, f):
    relevant = [k for k in range(len(y)) if y[k] == 1]
    irrelevant = [k for k in range(len(y)) if y[k] == 0]
    wrong = [(k, j) for k in relevant for j in irrelevant if f[k] <= f[j]]
    return len(wrong) / (len(relevant) * len(irrelevant))


def one_error_of_row(y, f):
    on_top = [k for k in range(len(y)) if f[k] == max(f)]
    return 0.0 if any(y[k] == 1 for k in on_top) else 1.0


def coverage_of_row(y, f):
    lowest = min(f[k] for k in range(len(y)) if y[k] == 1)
    return len([k for k in range(len(y)) if f[k] >= lowest]) - 1


def average_precision_of_row(y, f):
    labels = range(len(y))
    relevant = [k for k in labels if y[k] == 1]
    total = 0.0
    for k in relevant:
        total += len([j for j in relevant if f[j] >= f[k]]) / len(
            [j for j in labels if f[j] >= f[k]]
        )
    return total / len(relevant)


def is_error_of_row(y, f):
    for k in range(len(y)):
        for j in range(len(y)):
            if y[k] == 1 and y[j] == 0 and not f[k] > f[j]:
                return 1.0
    return 0.0


OF_ROW = {
    "ranking_loss": ranking_loss_of_row,
    "one_error": one_error_of_row,
    "coverage": coverage_of_row,
    "ranking_average_precision": average_precision_of_row,
    "is_error": is_error_of_row,
}


def perfect_value(name, y):
    """The value of a row with one kind of labels only."""
    if name == "coverage":
        return len(y) - 1 if all(y) else 0
    return {"ranking_loss": 0, "one_error": 0, "ranking_average_precision": 1, "is_error": 0}[name]


def ranking_by_definition(name, Y, F, degenerate_rows="ignore"):
    values = []
    for y, f in zip(Y.tolist(), F.tolist(), strict=True):
        if 0 < sum(y) < len(y):
            values.append(OF_ROW[name](y, f))
        elif degenerate_rows == "count":
            values.append(perfect_value(name, y))
    return sum(values) / len(values)


def f1_of_counts(n_both, n_true, n_pred, zero_division):
    return 2 * n_both / (n_true + n_pred) if n_true + n_pred else zero_division


def label_sets_by_definition(name, Y, P, zero_division):
    n, q = Y.shape
    rows = [(set(np.flatnonzero(Y[i])), set(np.flatnonzero(P[i]))) for i in range(n)]
    columns = [(set(np.flatnonzero(Y[:, k])), set(np.flatnonzero(P[:, k]))) for k in range(q)]
    if name == "hamming_loss":
        return sum(len(t ^ p) for t, p in rows) / (n * q)
    if name == "exact_match":
        return sum(t == p for t, p in rows) / n
    if name == "jaccard":
        return sum(len(t & p) / len(t | p) if t | p else zero_division for t, p in rows) / n
    if name == "micro_f1":
        counts = [
            sum(len(s) for s in sets)
            for sets in zip(*((t & p, t, p) for t, p in rows), strict=True)
        ]
        return f1_of_counts(*counts, zero_division)
    sets = {"example_f1": rows, "macro_f1": columns}[name]
    values = [f1_of_counts(len(t & p), len(t), len(p), zero_division) for t, p in sets]
    return sum(values) / len(values)


def random_case(rng, q=None):
    """Labels and scores with many ties and degenerate rows, at least one row with pairs."""
    n, q = rng.integers(1, 7), q or rng.integers(2, 7)
    Y = (rng.random((n, q)) < rng.choice([0.1, 0.5, 0.9], size=(n, 1))).astype(int)
    Y[rng.integers(n)] = rng.permutation(np.arange(q) < rng.integers(1, q))
    F = rng.standard_normal((n, q))
    if rng.random() < 0.7:
        F = np.round(F * rng.choice([0.0, 0.5, 2.0]))
    return Y, F


@pytest.mark.parametrize("cases", first_fast([150, 1000], 1))
@pytest.mark.parametrize("name", RANKING)
@pytest.mark.parametrize("degenerate_rows", ["ignore", "count"])
def test_ranking_measures_by_definition(name, degenerate_rows, cases):
    rng = np.random.default_rng(0)
    for number in range(cases):
        Y, F = random_case(rng, q=2 if number % 5 == 0 else None)
        found = getattr(measures, name)(Y, F, degenerate_rows=degenerate_rows)
        assert type(found) is float
        assert found == pytest.approx(
            ranking_by_definition(name, Y, F, degenerate_rows), rel=1e-14, abs=1e-15
        )


@pytest.mark.parametrize("name", LABEL_SETS)
@pytest.mark.parametrize("zero_division", first_fast([None, 0.0, 1.0], 2))
def test_label_set_measures_by_definition(name, zero_division):
    if zero_division is not None and name in ("hamming_loss", "exact_match"):
        with pytest.raises(TypeError, match="zero_division"):
            getattr(measures, name)([[0, 1]], [[0, 1]], zero_division=zero_division)
        return
    options = {} if zero_division is None else {"zero_division": zero_division}
    rng = np.random.default_rng(1)
    for _ in range(50):
        n, q = rng.integers(1, 6), rng.integers(2, 6)
        density = rng.choice([0.0, 0.1, 0.5, 1.0], size=2)
        Y = (rng.random((n, q)) < density[0]).astype(int)
        P = (rng.random((n, q)) < density[1]).astype(int)
        found = getattr(measures, name)(Y, P, **options)
        assert type(found) is float
        expected = label_sets_by_definition(
            name, Y, P, 1.0 if zero_division is None else zero_division
        )
        assert found == pytest.approx(expected, rel=1e-14, abs=1e-15)


def test_many_rows_and_labels():
    # More entries than one chunk holds, and a chunk boundary inside the degenerate rows.
    rng = np.random.default_rng(3)
    Y = (rng.random((900, 400)) < rng.choice([0.0, 0.02, 0.5], size=(900, 1))).astype(np.uint8)
    F = np.round(rng.standard_normal((900, 400)), 2)
    kept = [i for i in range(900) if 0 < Y[i].sum() < 400]
    assert len(kept) * 400 > ranking._ENTRIES_PER_CHUNK
    by_halves = np.array_split(kept, 7)
    for name in RANKING:
        measure = getattr(measures, name)
        sums = [measure(Y[half], F[half]) * len(half) for half in by_halves]
        assert measure(Y, F) == pytest.approx(sum(sums) / len(kept), rel=1e-12)
    assert measures.ranking_loss(Y, F) == pytest.approx(
        metrics.label_ranking_loss(Y[kept], F[kept]), rel=1e-12
    )


def test_all_measures():
    rng = np.random.default_rng(6)
    Y, F = random_case(rng, q=4)
    P = (F > 0).astype(int)
    Y, F, P = (np.vstack([A, A[:1] * 0]) for A in (Y, F, P))
    options = {"degenerate_rows": "count", "zero_division": 0.0}
    found = measures.all_measures(Y, P, F, **options)
    assert list(found) == RANKING + LABEL_SETS
    for name in RANKING:
        assert found[name] == getattr(measures, name)(
            pd.DataFrame(Y), F.tolist(), degenerate_rows="count"
        )
    for name in LABEL_SETS:
        options = {} if name in ("hamming_loss", "exact_match") else {"zero_division": 0.0}
        assert found[name] == getattr(measures, name)(sparse.csc_array(Y), P.tolist(), **options)


def test_ranking_measures_refuse():
    # What labels and scores may be has tests in tests/checks.
    Y, F = np.eye(3), np.eye(3)
    for name in RANKING:
        measure = getattr(measures, name)
        with case(name):
            with pytest.raises(ValueError, match=r"-1\. .*\(Y_true > 0\)\.astype\(int\)"):
                measure(2 * Y - 1, F)
            with pytest.raises(ValueError, match=r"^scores has shape \(3, 2\); expected \(3, 3\)"):
                measure(Y, F[:, :2])
            with pytest.raises(ValueError, match=r"^degenerate_rows is 'drop'; expected one of"):
                measure(Y, F, degenerate_rows="drop")
            with pytest.raises(ValueError, match=r"^Y_true has no row with both relevant and irr"):
                measure(0 * Y, F)
            assert measure(0 * Y, F, degenerate_rows="count") == perfect_value(name, [0, 0, 0])


def test_label_set_measures_refuse():
    Y = np.eye(3)
    for name in LABEL_SETS:
        measure = getattr(measures, name)
        with case(name):
            with pytest.raises(ValueError, match=r"\(Y_true > 0\)\.astype\(int\)"):
                measure(2 * Y - 1, Y)
            with pytest.raises(ValueError, match=r"^Y_pred has values other than 0 and 1: 0.3"):
                measure(Y, 0.3 * Y)
            with pytest.raises(ValueError, match=r"^Y_pred has shape \(2, 3\); .* Y_true"):
                measure(Y, Y[:2])
            with pytest.raises(ValueError, match="expected at least two labels"):
                measure(Y[:, :1], Y[:, :1])
            for zero_division in (0.5, "warn", np.nan) if name not in LABEL_SETS[:2] else ():
                with pytest.raises(ValueError, match=r"^zero_division is .*; expected 0.0 or 1.0"):
                    measure(Y, Y, zero_division=zero_division)


def classifier(seed=0):
    return OneVsRestClassifier(LinearSVC(random_state=seed))


def multilabel_data(q):
    return make_multilabel_classification(
        n_samples=60, n_features=6, n_classes=q, n_labels=1, random_state=q
    )


class KnownScores(ClassifierMixin, BaseEstimator):
    """Scores are the first features, or their negatives."""

    def __init__(self, sign=1):
        self.sign = sign

    def fit(self, X, y):
        self.classes_ = np.arange(y.shape[1])
        return self

    def decision_function(self, X):
        return self.sign * X[:, : self.classes_.size]

    def predict(self, X):
        return (self.decision_function(X) > 0).astype(int)


def expected_score(name, Y, F):
    measure = name.removeprefix("neg_")
    sign = -1 if name.startswith("neg_") else 1
    if measure == "ranking_hamming":
        parts = [expected_score(f"neg_{part}_loss", Y, F) for part in ("ranking", "hamming")]
        return sum(parts) / 2
    if measure in RANKING:
        return sign * ranking_by_definition(measure, Y, F)
    return sign * label_sets_by_definition(measure, Y, F > 0, 1.0)


def test_every_measure_has_a_scorer_with_the_right_sign():
    losses = {"ranking_loss", "one_error", "coverage", "is_error", "hamming_loss"}
    names = {f"neg_{name}" if name in losses else name for name in RANKING + LABEL_SETS}
    assert set(SCORERS) == names | {"neg_ranking_hamming"}
    assert set(measures.SCORERS) - set(SCORERS) == set(measures.MORE_MEASURES)
    # "average_precision" is scikit-learn's, which ranks the rows of each label.
    with pytest.raises(ValueError, match="name is 'average_precision'; expected one of "):
        measures.get_scorer("average_precision")
    for q in (2, 3, 5, 30):
        rng = np.random.default_rng(q)
        Y = np.array([rng.permutation(np.arange(q) < rng.integers(1, q)) for _ in range(9)])
        X = np.round(rng.standard_normal((9, q)), 1)
        model = KnownScores().fit(X, Y)
        perfect = KnownScores().fit(Y - 0.5, Y)
        for name, scorer in SCORERS.items():
            assert scorer(model, X, Y) == pytest.approx(expected_score(name, Y, X))
            assert scorer(perfect, Y - 0.5, Y) > scorer(model, X, Y)


def test_scores_of_chains_and_pipelines_are_validated():
    # Classifier chains list the classes of each label, a nested `classes_`.
    X, Y = multilabel_data(5)
    for model in (ClassifierChain(LinearSVC(), random_state=0), classifier()):
        pipeline = make_pipeline(StandardScaler(), model)
        scores = cross_validate(pipeline, X, pd.DataFrame(Y), scoring=SCORERS, cv=2)
        assert all(np.isfinite(scores[f"test_{name}"]).all() for name in SCORERS)


def test_get_scorer():
    X, Y = multilabel_data(3)
    model = classifier().fit(X, Y)
    for name, scorer in SCORERS.items():
        assert measures.get_scorer(name) is not scorer
        assert measures.get_scorer(name)(model, X, Y) == scorer(model, X, Y)
    for name in ("ranking_loss", "neg_ranking_loss", "ranking-loss"):
        assert measures.get_scorer(name)(model, X, Y) == SCORERS["neg_ranking_loss"](model, X, Y)
    with pytest.raises(ValueError, match=r"^name is 'x'; expected one of .*, ranking_loss"):
        measures.get_scorer("x")


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_frames_with_labels_in_another_order_are_refused(library):
    table = pytest.importorskip(library)
    frame = table.table if library == "pyarrow" else table.DataFrame
    Y = frame({"a": [1, 0], "b": [0, 1], "c": [0, 1]})
    scores = frame({"a": [0.5, -0.5], "b": [-0.5, 0.5], "c": [-0.5, 0.5]})
    given = {"Y_true": Y, "Y_pred": Y, "scores": scores, "propensities": [0.5, 0.5, 0.5]}
    tried = 0
    for name in filter(str.islower, measures.__all__):
        takes = signature(getattr(measures, name)).parameters.keys() & given.keys()
        for turned in takes & {"Y_pred", "scores"}:
            arguments = {one: given[one] for one in takes}
            getattr(measures, name)(**arguments)
            select = "__getitem__" if library == "pandas" else "select"
            arguments[turned] = getattr(arguments[turned], select)(["c", "a", "b"])
            with pytest.raises(ValueError, match=f"{turned} has the same labels in another order"):
                getattr(measures, name)(**arguments)
            tried += 1
    assert tried > 20


@pytest.mark.filterwarnings("ignore:.*y has.* label")
def test_scorers_find_the_columns_of_frames_by_name():
    X, Y = multilabel_data(4)
    Y[Y.sum(axis=1) == 0, 0] = 1
    frame = pd.DataFrame(Y, columns=list("abcd"), dtype=float)
    frame.iloc[0, 0] = np.nan
    model = make_pipeline(StandardScaler(), RankSVM(random_state=0)).fit(X, frame)
    searched = GridSearchCV(model, {"ranksvm__C": [1.0]}, cv=KFold(2), scoring=SCORERS, refit=RAP)
    for fitted in (model, searched.fit(X, frame)):
        together = metrics.check_scoring(fitted, SCORERS)(fitted, X, frame[list("cadb")])
        for name, scorer in SCORERS.items():
            expected = scorer(fitted, X, frame.to_numpy())
            assert scorer(fitted, X, frame) == expected
            assert scorer(fitted, X, frame[list("cadb")]) == expected == together[name]
            with pytest.raises(ValueError, match="that the model does not know: 'x'"):
                scorer(fitted, X, frame.rename(columns={"a": "x"}))


@pytest.mark.parametrize("name", measures.SCORERS)
def test_searches_pass_requested_weights_to_each_scorer(name):
    X, Y = multilabel_data(3)
    weights = np.random.default_rng(0).random(len(X))
    model = KnownScores().fit(X, Y)
    with config_context(enable_metadata_routing=True):
        scorer = measures.get_scorer(name).set_score_request(sample_weight=True)
        search = GridSearchCV(model, {"sign": [1]}, scoring=scorer, cv=KFold(2))
        search.fit(X, Y, sample_weight=weights)
    expected = [
        scorer(model, X[rows], Y[rows], sample_weight=weights[rows])
        for _, rows in KFold(2).split(X)
    ]
    assert search.best_score_ == pytest.approx(np.mean(expected))


WEIGHTED = [
    name
    for name in filter(str.islower, measures.__all__)
    if {"Y_true", "sample_weight"} <= signature(getattr(measures, name)).parameters.keys()
    and name not in ("all_measures", "label_measures")
]


@pytest.mark.parametrize("name", WEIGHTED)
@pytest.mark.filterwarnings("ignore:Labels with one value only")
def test_weights_are_repetitions_where_labels_are_unknown(name):
    function, rng = getattr(measures, name), np.random.default_rng(0)
    Y = np.array([[1, 0, 1], [0, 1, 0], [1, 1, 0], [np.nan, np.nan, 1], [0, 1, np.nan]])
    # The last label is known in a row of weight 0 alone.
    Y[[0, 1, 2], 2] = np.nan
    weights = np.array([2, 1, 3, 0, 1])
    given = {"Y_true": Y, "Y_pred": rng.integers(0, 2, Y.shape), "scores": rng.normal(size=Y.shape)}
    given = {one: rows for one, rows in given.items() if one in signature(function).parameters}
    others = {"propensities": [0.5, 0.7, 0.9]} if name.startswith("propensity") else {}
    repeated = {one: np.repeat(rows, weights, axis=0) for one, rows in given.items()}
    expected = function(**repeated, **others)
    assert function(**given, **others, sample_weight=weights) == pytest.approx(expected)
    alone = np.arange(5) == 4
    given["Y_true"] = np.where(alone[:, None], np.nan, Y)
    with pytest.raises(ValueError, match="expected"):
        function(**given, **others, sample_weight=alone.astype(float))
