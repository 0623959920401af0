"""Several views of the rows: each has a ranker and a stack, and one calibration weighs all."""

import pickle
import warnings
from functools import cache
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from multimargin import LabelRankerCV, explain, load_model, predict_names, save_model
from multimargin.features.views import Views
from multimargin.measures import ranking_average_precision
from multimargin.onnx import export
from multimargin.tuning import MultilabelStratifiedKFold

WORDS = ["edit", "play", "draw", "sound", "image", "game", "map", "code", "text", "chat"]
NUMBERS = ["size", "age", "price"]
QUICK = {"loss": "hinge", "class_weight": None, "top_k": None, "cv": 2, "random_state": 0}
# Where nothing depends on the blocks of a stack.
NEAR = ["neighbours"]


def tables(n: int = 120, seed: int = 0) -> tuple[pd.DataFrame, Any]:
    """Return texts beside numbers, and labels of which some need the one and some the other."""
    rng = np.random.default_rng(seed)
    chosen = rng.random((n, len(WORDS))) < 0.3
    texts = [" ".join(np.array(WORDS)[row]) or "nothing" for row in chosen]
    numbers = rng.normal(size=(n, len(NUMBERS)))
    y = np.column_stack(
        [chosen[:, 0] | chosen[:, 1], chosen[:, 2], numbers[:, 0] > 0, numbers[:, 1] > 0.5]
    ).astype(int)
    return pd.DataFrame({"text": texts, **dict(zip(NUMBERS, numbers.T, strict=True))}), y


def views() -> list[Any]:
    return [("words", TfidfVectorizer(), "text"), ("numbers", "passthrough", NUMBERS)]


def model(**options: Any) -> LabelRankerCV:
    return LabelRankerCV([1.0], **{**QUICK, "views": views(), **options})


@cache
def fitted() -> tuple[pd.DataFrame, Any, LabelRankerCV]:
    """Return the tables, and the model of them that tests only look at."""
    X, y = tables()
    return X, y, model().fit(X, y)


def quietly(estimator: Any, *data: Any, **options: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return estimator.fit(*data, **options)


def test_each_view_adds_what_it_knows() -> None:
    X, y = tables(300)
    train, test = np.arange(200), np.arange(200, 300)

    def value(*chosen: Any) -> float:
        found = model(views=list(chosen)).fit(X.iloc[train], y[train])
        return ranking_average_precision(y[test], found.label_scores(X.iloc[test]))

    words, numbers = views()
    assert 1.0 - value(words, numbers) < 0.5 * (1.0 - max(value(words), value(numbers)))


def test_blocks_rankers_and_results_have_the_names_of_views() -> None:
    X, y = tables()
    found = model(stack=["neighbours"], views=views()).fit(X, y)
    assert set(found.blocks_) == {
        f"{view}__{block}" for view in ("words", "numbers") for block in ("ranker", "neighbours")
    }
    first = found.blocks_[0].split("__")[0]
    assert found.rankers_[first] is found.ranker_
    means = found.cv_results_["mean_test_score"]
    by_view = {
        name: means[found.cv_results_["param_view"] == name].max() for name in found.rankers_
    }
    assert max(by_view, key=by_view.__getitem__) == first
    assert found.cv_results_["params"][found.best_index_]["view"] == first
    assert found.n_features_in_ == 4
    np.testing.assert_array_equal(found.feature_names_in_, X.columns)


def test_a_view_of_all_columns_is_the_same_model_as_none() -> None:
    X, y = tables()
    X = X[NUMBERS].to_numpy()
    alone = LabelRankerCV([1.0], **QUICK).fit(X, y)
    one = model(views=[("all", "passthrough", [0, 1, 2])]).fit(X, y)
    np.testing.assert_array_equal(one.predict_proba(X), alone.predict_proba(X))


@pytest.mark.parametrize("columns", [[1, 2, 3], slice(1, 4), lambda X: [1, 2, 3]])
def test_columns_by_places_of_an_array(columns: Any) -> None:
    X, y, named = fitted()
    chosen = [("words", TfidfVectorizer(), 0), ("numbers", StandardScaler(), columns)]
    found = model(views=chosen, stack=NEAR).fit(X.to_numpy(dtype=object), y)
    assert found.predict_proba(X.to_numpy(dtype=object)).shape == named.predict_proba(X).shape


def test_parameters_inside_are_reached_and_survive_a_clone() -> None:
    one = model(stack=[("svm", LogisticRegression())])
    one.set_params(words__min_df=3, svm__C=7.0, tol=0.5)
    assert (one.views[0][1].min_df, one.stack[0][1].C, one.tol) == (3, 7.0, 0.5)
    other = clone(one)
    assert other.get_params()["words__min_df"] == 3
    other.set_params(numbers=StandardScaler())
    assert isinstance(other.views[1][1], StandardScaler)
    assert one.views[1][1] == "passthrough"
    with pytest.raises(ValueError, match="Invalid parameter 'min_d'"):
        one.set_params(words__min_d=3)


@pytest.mark.parametrize(
    ("view", "block"), [("a", "a"), ("tol", "b"), ("a", "Cs"), ("a", "b__c")], ids=str
)
def test_names_by_which_no_parameter_is_found_are_refused(view: str, block: str) -> None:
    views = [(view, StandardScaler(), ["price"]), ("others", "passthrough", ["age"])]
    ambiguous = model(views=views, stack=[(block, LogisticRegression()), "lift"])
    with pytest.raises(ValueError, match=f"views and stack: .*{view if view != 'a' else block}"):
        ambiguous.fit(*tables())


def test_transformers_of_the_caller_stay_unfitted_and_order_of_columns_does_not_matter() -> None:
    X, y = tables()
    given = views()
    found = model(views=given, stack=NEAR).fit(X, y)
    assert not hasattr(given[0][1], "vocabulary_")
    again = found.predict_proba(X[["age", "text", "price", "size"]])
    np.testing.assert_array_equal(again, found.predict_proba(X))
    with pytest.raises(ValueError, match=r"columns are missing: \{'price'\}"):
        found.predict(X[["text", "size", "age"]])


def test_copies_files_and_graphs_answer_alike(tmp_path: Any) -> None:
    runtime = pytest.importorskip("onnxruntime")
    X, _, found = fitted()
    expected = found.predict_proba(X)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(found)).predict_proba(X), expected)
    save_model(found, tmp_path / "a.model")
    np.testing.assert_array_equal(load_model(tmp_path / "a.model").predict_proba(X), expected)
    export(found, tmp_path / "a.onnx")
    session = runtime.InferenceSession(tmp_path / "a.onnx")
    rows = {"X": X[NUMBERS].to_numpy(), "texts": X[["text"]].to_numpy(dtype=object)}
    probabilities, labels = session.run(["probabilities", "labels"], rows)
    np.testing.assert_allclose(probabilities, expected, atol=1e-6)
    np.testing.assert_array_equal(labels, found.predict(X))


def test_reasons_say_which_view_supports_a_label() -> None:
    X, y = tables()
    found = model(kernel="linear").fit(X, y)
    (reasons,) = explain(found, X[:1], 0)
    assert {name.split("__")[0] for name, _ in reasons.blocks} == {"words", "numbers", "lift"}
    assert {feature.split("__")[0] for feature in reasons.features} <= {"words", "numbers"}


def test_several_views_are_predicted_by_names() -> None:
    X, y = tables()
    tags = [[f"tag {k}" for k in np.flatnonzero(row)] for row in y]
    found = model(stack=NEAR).fit(X, tags)
    assert set(np.concatenate(predict_names(found, X))) <= {f"tag {k}" for k in range(4)}


def test_the_number_of_jobs_changes_no_bit() -> None:
    X, y, expected = fitted()
    found = model(n_jobs=3).fit(X, y).predict_proba(X)
    np.testing.assert_array_equal(found, expected.predict_proba(X))


class Strange(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Makes of rows what it is told, or fails."""

    def __init__(self, kind: str) -> None:
        self.kind = kind

    def fit(self, X: Any, y: Any = None) -> "Strange":
        return self

    def transform(self, X: Any) -> Any:
        n = len(X)
        return {
            "nan": lambda: np.full((n, 2), np.nan),
            "no columns": lambda: np.empty((n, 0)),
            "names": lambda: np.full((n, 2), "a", dtype=object),
            "one dimension": lambda: np.ones(n),
            "fails": lambda: 1 / 0,
            "fewer rows": lambda: np.ones((n - 1, 2)),
            "constant": lambda: np.ones((n, 2)),
            "zeros": lambda: np.zeros((n, 2)),
        }[self.kind]()


@pytest.mark.parametrize(
    ("kind", "error", "message"),
    [
        ("nan", ValueError, "transformer of 'odd' does not return .*NaN"),
        ("no columns", ValueError, "transformer of 'odd' .*0 feature"),
        ("names", ValueError, "transformer of 'odd' does not return"),
        ("one dimension", ValueError, "odd"),
        ("fewer rows", ValueError, "'odd' .*the matrix has [0-9]+ rows; expected"),
        ("fails", ZeroDivisionError, "division by zero"),
    ],
)
def test_a_view_that_cannot_be_used_is_named(kind: str, error: Any, message: str) -> None:
    X, y = tables()
    with pytest.raises(error, match=message) as caught:
        model(views=[*views(), ("odd", Strange(kind), ["size"])]).fit(X, y)
    assert "odd" in "".join([str(caught.value), *getattr(caught.value, "__notes__", ())])


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        ([], TypeError, r"views is \[\]; expected 'auto', None or a list of \(name, transformer, "),
        ("words", TypeError, "views is 'words'"),
        ([("a", TfidfVectorizer())], TypeError, "views has"),
        ([("a", "passthrough", [0]), ("a", "passthrough", [1])], ValueError, "names"),
        ([("a__b", "passthrough", [0])], ValueError, "names"),
        ([("a", "drop", [0])], TypeError, "views has 'drop' for 'a'"),
        ([("a", None, [0])], TypeError, "views has None for 'a'"),
        ([("a", TfidfVectorizer, [0])], TypeError, "views has .* for 'a'; expected a transformer"),
    ],
)
def test_what_are_no_views_is_refused_before_anything_is_fitted(
    given: Any, error: Any, message: str
) -> None:
    X, y = tables()
    with pytest.raises(error, match=message):
        model(views=given).fit(X, y)


def test_without_a_calibration_nothing_weighs_views() -> None:
    X, y = tables()
    with pytest.raises(ValueError, match="views has 2 views with calibration=False"):
        model(calibration=False).fit(X, y)
    assert model(calibration=False, views=views()[:1]).fit(X, y).predict(X).shape == y.shape


def test_a_view_without_information_does_no_harm() -> None:
    X, y, found = fitted()
    alone = ranking_average_precision(y, found.label_scores(X))
    for kind in ("constant", "zeros"):
        found = model(views=[*views(), ("odd", Strange(kind), ["size"])]).fit(X, y)
        assert ranking_average_precision(y, found.label_scores(X)) > alone - 0.01


def test_columns_of_no_view_are_left_out() -> None:
    X, y = tables()
    found = model(views=views()[:1], stack=NEAR).fit(X, y)
    changed = X.assign(size=0.0, age=0.0, price=0.0)
    np.testing.assert_array_equal(found.predict_proba(changed), found.predict_proba(X))


@pytest.mark.parametrize("seconds", [1e-3, 0.5])
def test_max_time(seconds: float) -> None:
    X, y = tables()
    found = quietly(model(max_time=seconds), X, y)
    assert set(found.rankers_) == {"words", "numbers"}
    assert found.predict_proba(X).shape == y.shape


def test_weights_groups_unknown_labels_and_rows_without_labels() -> None:
    X, y = tables(160)
    y = y.astype(float)
    y[::7] = 0.0
    y[3, 1] = y[8, 2] = np.nan
    weights = np.random.default_rng(0).uniform(0.0, 2.0, len(y))
    found = quietly(model(), X, y, weights, np.arange(len(y)) // 4)
    assert found.empty_label_
    assert np.isfinite(found.predict_proba(X)).all()
    assert found.n_splits_ == 2


def test_five_rows_and_two_labels() -> None:
    X, y = tables(5, seed=3)
    y = np.array([[1, 0], [0, 1], [1, 0], [0, 1], [1, 1]])
    found = quietly(model(cv=2), X, y)
    assert found.predict(X).shape == (5, 2)


def test_classes() -> None:
    X, y = tables()
    classes = np.where(y[:, 2] == 1, "large", "small")
    found = quietly(model(), X, classes)
    assert np.mean(found.predict(X) == classes) > 0.8


def test_texts_that_are_vectors_already() -> None:
    X, y = tables()
    lengths = FunctionTransformer(lambda texts: np.array([[len(text)] for text in texts]))
    chosen = [("words", TfidfVectorizer(), "text"), ("length", lengths, "text")]
    found = model(views=chosen, stack=NEAR)
    assert found.fit(X, y).predict(X[:3]).shape == (3, 4)


def test_ctrl_c_in_the_search_of_the_second_view_keeps_the_first(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from multimargin.estimators.label_ranker.search import Search

    X, y = tables()
    run = Search.run

    def interrupted(search: Search) -> None:
        if search.view == "numbers":
            raise KeyboardInterrupt
        run(search)

    monkeypatch.setattr(Search, "run", interrupted)
    found = model()
    with pytest.raises(KeyboardInterrupt):
        found.fit(X, y)
    assert found.status_ == "interrupted"
    assert found.blocks_ == ("words__ranker",)
    assert found.predict_proba(X).shape == y.shape


def test_splits_of_frames_by_a_splitter() -> None:
    X, y = tables()
    folds = MultilabelStratifiedKFold(2, random_state=0)
    assert model(cv=folds, stack=NEAR).fit(X, y).n_splits_ == 2


def test_forms_are_chosen_view_by_view() -> None:
    X, _ = tables()
    wide = FunctionTransformer(lambda column: sparse.eye_array(len(column), 600, format="csr"))
    found = Views([("wide", wide, ["size"]), ("few", "passthrough", NUMBERS)])
    rows = found.fit_transform(X)
    assert (found.dense_, found.unit_length_, found.stops_) == (
        [False, True],
        [True, False],
        [600, 603],
    )
    assert sparse.issparse(rows)
    np.testing.assert_allclose(rows[:, 600:].toarray(), X[NUMBERS])
    assert found.get_feature_names_out()[0] == "wide__0"


@pytest.mark.parametrize("places", [[0], [0, 1], [1, 0]])
def test_a_transformer_returns_as_many_columns_as_in_the_fit(places: list[int]) -> None:
    X, y = tables()
    times = {"columns": 2}
    repeated = FunctionTransformer(lambda rows: np.repeat(rows, times["columns"], axis=1))
    views = [("changing", repeated, ["size"]), ("few", "passthrough", NUMBERS)]
    found = LabelRankerCV([1.0], stack=None, views=[views[place] for place in places]).fit(X, y)
    for width, name in product((1, 4), ("predict", "predict_proba", "label_scores")):
        times["columns"] = width
        with pytest.raises(ValueError, match=f"'changing' .* has {width} columns; expected 2, as"):
            getattr(found, name)(X)
