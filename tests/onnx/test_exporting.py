"""Exported models say in onnxruntime what they say here."""

import json

import numpy as np
import onnx
import onnxruntime
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.compose import make_column_transformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import NotFittedError
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    MaxAbsScaler,
    MinMaxScaler,
    Normalizer,
    PolynomialFeatures,
    StandardScaler,
)

from multimargin import (
    LLSF,
    MLODM,
    MLRL,
    SSMLRL,
    CalibratedClassifier,
    LabelRankerCV,
    LabelSpecificBinaryRelevance,
    RankSVM,
    ThresholdedClassifier,
)
from multimargin.blocks import (
    LabelBoosting,
    LabelDiscriminant,
    LabelForest,
    LabelKernelRidge,
    LabelLogistic,
    LabelNeighbours,
)
from multimargin.datasets import load_debian_tags, load_digit_attributes
from multimargin.datasets.table_encoder import with_encoder
from multimargin.onnx import export
from multimargin.thresholds import CountThreshold, LabelsThreshold, RecallGuarantee, Threshold
from tests.support.models import PAIRWISE
from tests.support.problems import noisy_linear_problem
from tests.support.subsets import fast_only, first_fast

KERNELS = ("linear", "rbf", "laplacian", "poly", "sigmoid")
METHODS = [*PAIRWISE, MLRL, SSMLRL]
# Rounding of sums in another order, relative to the scores.
TOLERANCE = 1e-9


X, Y = noisy_linear_problem(0, 150, 6, 5, rank=3, noise=0.5, cut=0.2)


@pytest.fixture(scope="module")
def digits():
    return load_digit_attributes().train_test()


def answers(model, X, folder, **names):
    """What a runtime answers, which knows nothing but the file."""
    export(model, folder / "model.onnx", **names)
    session = onnxruntime.InferenceSession(
        folder / "model.onnx", providers=["CPUExecutionProvider"]
    )
    outputs = [output.name for output in session.get_outputs()]
    X = X.toarray() if sparse.issparse(X) else np.asarray(X, dtype=np.float64)
    assert [len(found) for found in session.run(outputs, {"X": X[:0]})] == [0] * len(outputs)
    return dict(zip(outputs, session.run(outputs, {"X": X}), strict=True))


def assert_same(model, X, folder, scores=None):
    found = answers(model, X, folder)
    expected = model.label_scores(X) if scores is None else scores
    assert found["scores"].dtype == np.float64
    assert found["labels"].dtype == np.int64
    assert_allclose(found["scores"], expected, rtol=0, atol=TOLERANCE * np.abs(expected).max())
    assert_array_equal(found["labels"], model.predict(X))


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_every_method_and_kernel(method, kernel, tmp_path):
    settings = {"gamma": 0.1, "coef0": 0.5 if kernel == "poly" else 0.0, "tol": 0.05}
    assert_same(method(kernel=kernel, **settings).fit(X[:100], Y[:100]), X, tmp_path)


@pytest.mark.parametrize("threshold", ["scores", "features", "macro", "count", 0.3])
@pytest.mark.parametrize("wrapped", first_fast([False, True], 1))
def test_every_threshold(threshold, wrapped, digits, tmp_path):
    X, X_test, Y, _ = digits
    for estimator in (RankSVM(kernel="linear", random_state=0), LLSF()):
        if wrapped:
            model = ThresholdedClassifier(
                make_pipeline(MinMaxScaler(), estimator), threshold, cv=2
            ).fit(X, Y)
        else:
            model = estimator.set_params(threshold=threshold).fit(X, Y)
        assert_same(model, X_test, tmp_path)
        assert 0 < model.predict(X_test).mean() < 1


def test_labels_with_equal_scores_pass_together(tmp_path):
    # The weights of LLSF are made by hand: rows of X are the scores.
    rows = [[3, 2, 1, 0], [1, 1, 1, 1], [2, 1, 1, 0], [0, 1, 1, 1], [5, 5, 0, 0]]
    X = np.array(rows, dtype=float)
    for count in range(5):
        model = LLSF(threshold=CountThreshold(count)).fit(np.eye(5, 4) + 1, (X > 1).astype(int))
        model.coef_ = np.eye(4)
        assert_same(model, X, tmp_path)


def test_data_of_words_and_a_model_fitted_to_sparse_rows(tmp_path):
    X, X_test, Y, _ = load_debian_tags().train_test()
    assert sparse.issparse(X)
    some = slice(0, 400)
    for model in (MLODM(kernel="linear"), RankSVM(C=1.0)):
        pipeline = make_pipeline(MaxAbsScaler(), model).fit(X[some], Y[some])
        scores = model.label_scores(pipeline[:-1].transform(X_test))
        assert_same(pipeline, X_test, tmp_path, scores)


@pytest.mark.parametrize(
    "scaler",
    [
        StandardScaler(),
        StandardScaler(with_mean=False),
        StandardScaler(with_std=False),
        MinMaxScaler(),
        MinMaxScaler(feature_range=(-1, 2), clip=True),
        MaxAbsScaler(),
        Normalizer(),
        Normalizer("l1"),
        Normalizer("max"),
        make_pipeline(StandardScaler(), MinMaxScaler()),
        "passthrough",
    ],
    ids=repr,
)
def test_every_scaler(scaler, tmp_path):
    moved = 10.0 * X + 100.0
    moved[0] = 0.0
    model = make_pipeline(scaler, RankSVM()).fit(moved[:100], Y[:100])
    transformed = moved if scaler == "passthrough" else model[:-1].transform(moved)
    assert_same(model, moved, tmp_path, model[-1].label_scores(transformed))


@pytest.mark.parametrize(
    "columns",
    [
        make_column_transformer((MinMaxScaler(), [0, 2]), remainder="passthrough"),
        make_column_transformer((MinMaxScaler(), ["a", "c"]), ("passthrough", ["d", "b"])),
        make_column_transformer(
            (MinMaxScaler(), ["a"]), (make_pipeline("passthrough", MaxAbsScaler()), ["b"])
        ),
        FunctionTransformer(),
    ],
    ids=repr,
)
def test_columns_that_are_passed_through(columns, tmp_path):
    table = pd.DataFrame(X[:, :4], columns=list("abcd"))
    model = make_pipeline(columns, RankSVM()).fit(table, Y)
    assert_same(model, table, tmp_path, model[-1].label_scores(model[:-1].transform(table)))


def test_distances_far_from_zero_do_not_cancel(tmp_path):
    assert_same(RankSVM(gamma=0.1).fit(X[:100] + 1e7, Y[:100]), X + 1e7, tmp_path)
    # A column of one huge number, and one in a row alone
    constant, single = X.copy(), X.copy()
    constant[:, 0], single[3, 0] = 1e30, 1e30
    for rows in (constant, single):
        assert_same(RankSVM(gamma=0.1).fit(rows[:100], Y[:100]), rows, tmp_path)


def test_a_table_of_numbers_with_missing_values(tmp_path):
    table = pd.DataFrame(X.copy(), columns=list("abcdef"))
    table.loc[::7, "c"] = np.nan
    for scaling in ("minmax", "standard", "unit", "none"):
        model = with_encoder(RankSVM(), dict.fromkeys("abcdef", "number"), scaling, n_rows=100)
        model.fit(table[:100], Y[:100])
        scores = model[-1].label_scores(model[:-1].transform(table))
        assert_same(model, table, tmp_path, scores)


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_a_search_and_a_precomputed_kernel(kernel, tmp_path):
    search = GridSearchCV(RankSVM(kernel=kernel), {"C": [0.1, 1.0]}, cv=2).fit(X[:100], Y[:100])
    assert_same(search, X, tmp_path, search.best_estimator_.label_scores(X))
    K = X @ X[:100].T
    assert_same(RankSVM(kernel="precomputed").fit(K[:100], Y[:100]), K, tmp_path)


@pytest.mark.parametrize("at_least_one", [False, True])
@pytest.mark.parametrize("threshold", ["micro", 0.9, LabelsThreshold(), RecallGuarantee(0.8)])
def test_probabilities(digits, tmp_path, threshold, at_least_one):
    X, X_test, Y, _ = digits
    inner = RankSVM(kernel="linear", random_state=0)
    model = CalibratedClassifier(inner, threshold, at_least_one=at_least_one, cv=2).fit(X, Y)
    found = answers(model, X_test, tmp_path)
    assert_allclose(found["probabilities"], model.predict_proba(X_test), atol=1e-9)
    assert_array_equal(found["labels"], model.predict(X_test))
    assert_allclose(found["scores"], model.label_scores(X_test), atol=1e-8)


@pytest.mark.parametrize("kind", ["rbf", "sparse", "empty", "mostly empty", "classes"])
def test_label_ranker(digits, tmp_path, kind):
    X, X_test, y, _ = digits
    # No two rows are equally far from a third: which of them votes is each runtime's own.
    rng = np.random.default_rng(0)
    X, X_test = (rows + 1e-3 * rng.random(rows.shape) for rows in (X, X_test))
    if kind == "sparse":
        X, X_test = sparse.csr_array(X), sparse.csr_array(X_test)
    elif kind == "empty":
        y = y.copy()
        y[:100] = 0
    elif kind == "mostly empty":
        y = y.copy()
        y[:200] = 0
    elif kind == "classes":
        y = y.argmax(axis=1)
    model = LabelRankerCV([10.0], loss="hinge", gamma="scale", class_weight=None, top_k=None)
    model.fit(X[:300], y[:300])
    dense = X_test.toarray() if kind == "sparse" else X_test
    found = answers(model, dense, tmp_path)
    assert_allclose(found["scores"], model.label_scores(X_test), atol=1e-7)
    if kind == "classes":
        chosen = model.classes_[found["labels"].argmax(axis=1)]
        assert_array_equal(chosen, model.predict(X_test))
    else:
        assert_array_equal(found["labels"], model.predict(X_test))
    assert_allclose(found["probabilities"], model.predict_proba(X_test), atol=1e-8)


def test_trees_that_are_one_leaf_stand_beside_others(tmp_path):
    rng = np.random.default_rng(0)
    rows, y = rng.normal(size=(12, 1)), rng.integers(0, 2, size=(12, 4))
    forest = LabelForest(60, min_samples_leaf=5, random_state=0)
    boosting = LabelBoosting(60, min_samples_leaf=3, random_state=0)
    model = CalibratedClassifier([forest, boosting], cv=2).fit(rows, y)
    found = answers(model, rows, tmp_path)
    assert_allclose(found["probabilities"], model.predict_proba(rows), atol=1e-12)


def test_any_number_of_rows(tmp_path):
    for threshold in ("scores", "count"):
        model = RankSVM(threshold=threshold).fit(X, Y)
        for n in (0, 1, 3):
            found = answers(model, X[:n], tmp_path)
            assert found["scores"].shape == found["labels"].shape == (n, Y.shape[1])


def test_the_file_names_labels_features_and_version(tmp_path):
    frame = pd.DataFrame(X, columns=list("abcdef"))
    tags = pd.DataFrame(Y, columns=["p", "q", "r", "s", "t"])
    model = make_pipeline(StandardScaler(), RankSVM()).fit(frame, tags)

    def metadata():
        return {one.key: one.value for one in onnx.load(tmp_path / "model.onnx").metadata_props}

    answers(model, frame, tmp_path)
    found = metadata()
    assert json.loads(found["label_names"]) == list("pqrst")
    assert json.loads(found["feature_names"]) == list("abcdef")
    assert found["model"] == "RankSVM()"
    assert found["multimargin"].count(".") == 2
    assert onnx.load(tmp_path / "model.onnx").producer_name == "multimargin"
    answers(model, frame, tmp_path, label_names=list("vwxyz"))
    assert json.loads(metadata()["label_names"]) == list("vwxyz")
    with pytest.raises(ValueError, match="label_names has 2 names; expected 5"):
        export(model, tmp_path / "model.onnx", label_names=["a", "b"])


class Own(Threshold):
    """A threshold of one's own."""

    def fit(self, scores, y, X=None, sample_weight=None):
        return self

    def predict(self, scores, X=None):
        return np.zeros(len(scores))

    def rescale(self, factor):
        return self


def linear_kernel(X, Y):
    return X @ Y.T


class TestWhatCannotBeExported:
    def refused(self, model, folder, error, match):
        file = folder / "model.onnx"
        with pytest.raises(error, match=match):
            export(model, file)
        assert not file.exists()

    def test_models_of_others(self, tmp_path):
        one_vs_rest = OneVsRestClassifier(LogisticRegression())
        for model, named in (
            (RandomForestClassifier(2), "RandomForestClassifier; expected a pairwise"),
            (ThresholdedClassifier(one_vs_rest, cv=2), "OneVsRestClassifier; expected a pairwise"),
            (LabelSpecificBinaryRelevance(), "LabelSpecificBinaryRelevance; expected"),
        ):
            self.refused(model.fit(X, Y), tmp_path, TypeError, f"is a {named}")
        self.refused(RankSVM(), tmp_path, NotFittedError, "not fitted")

    def test_parts_of_models(self, tmp_path):
        function = RankSVM(kernel=linear_kernel).fit(X, Y)
        self.refused(function, tmp_path, ValueError, "kernel is the function .* expected 'linear'")
        own = RankSVM(threshold=Own()).fit(X, Y)
        self.refused(own, tmp_path, TypeError, "threshold is a Own; expected a ConstantThreshold")

    def test_other_transformers_leave_the_rest_to_export(self, tmp_path):
        model = make_pipeline(PolynomialFeatures(), RankSVM()).fit(X, Y)
        match = r"by a PolynomialFeatures; expected .*Export what comes after it, export\(model"
        self.refused(model, tmp_path, ValueError, match)
        # As the message says.
        assert_same(model[-1], model[:-1].transform(X), tmp_path)

    def test_functions_are_no_transformers_of_a_file(self, tmp_path):
        model = make_pipeline(FunctionTransformer(np.abs), RankSVM()).fit(X, Y)
        self.refused(model, tmp_path, ValueError, "by the function .*absolute.*; expected")

    def test_imputers_of_other_marks_than_nan(self, tmp_path):
        model = make_pipeline(SimpleImputer(missing_values=0.0), RankSVM()).fit(X, Y)
        self.refused(model, tmp_path, ValueError, "missing_values=0.0.*numbers that are NaN")

    def test_sparse_rows_beyond_what_a_file_holds(self, tmp_path):
        X = sparse.csr_array((np.ones(40), np.arange(40), np.arange(41)), shape=(40, 10_000_000))
        Y = np.tile([[1, 0], [0, 1]], (20, 1))
        model = RankSVM(gamma=1.0).fit(X, Y)
        self.refused(model, tmp_path, ValueError, "40 rows of 10000000 features, 3.2 GB")


def test_weights_in_single_precision_and_the_decision_function(digits, tmp_path):
    X, X_test, Y, _ = digits
    model = RankSVM(kernel="linear", bias="none").fit(X, Y)
    model.coef_ = model.coef_.astype(np.float32)
    assert_same(model, X_test, tmp_path)
    model = ThresholdedClassifier(
        RankSVM(kernel="linear", random_state=0), cv=2, response_method="decision_function"
    ).fit(X, Y)
    assert_same(model, X_test, tmp_path)


@pytest.mark.parametrize("n_classes", [2, 4])
def test_classes_are_one_label_a_row(n_classes, tmp_path):
    y = np.array(list("abcd"))[np.argsort(X[:, :n_classes], axis=1)[:, 0]]
    model = RankSVM().fit(X[:100], y[:100])
    found = answers(model, X, tmp_path)
    assert_array_equal(found["labels"].sum(axis=1), 1)
    assert_array_equal(model.classes_[found["labels"].argmax(axis=1)], model.predict(X))


@pytest.mark.parametrize("gaps", [[], [0], [0, 2]])
def test_indicators_of_missing_numbers(gaps, tmp_path):
    rows = X[:60].copy()
    rows[::3, gaps] = np.nan
    imputer = SimpleImputer(add_indicator=True)
    model = make_pipeline(imputer, StandardScaler(), RankSVM(kernel="linear")).fit(rows, Y[:60])
    new = X[60:80].copy()
    new[::2, :3] = np.nan
    assert_same(model, new, tmp_path, model[-1].label_scores(model[:-1].transform(new)))


# A column of numbers at the ends of double precision, alone and beside others.
STEPS = {
    "imputer and scaler": lambda: make_pipeline(SimpleImputer(), StandardScaler(), RankSVM()),
    "ranges": lambda: make_pipeline(SimpleImputer(), MinMaxScaler(), RankSVM(kernel="linear")),
    "largest": lambda: make_pipeline(SimpleImputer(), MaxAbsScaler(), RankSVM(kernel="linear")),
    "default": lambda: LabelRankerCV([1.0], cv_tol=0.1, tol=0.1, random_state=0),
    "linear": lambda: LabelRankerCV(
        [1.0], kernel="linear", scaling=True, stack=["linear"], random_state=0
    ),
}


@pytest.mark.parametrize("size", fast_only([1e-310, 1e-100, 1e-50, 1e100], [1e-100]))
@pytest.mark.parametrize("name", fast_only(STEPS, ["imputer and scaler", "ranges"]))
def test_columns_of_any_size(name, size, tmp_path):
    for rows in (X[:80, :1] * size, np.column_stack([X[:80, 0] * size, X[:80, 1]])):
        model = STEPS[name]().fit(rows, Y[:80])
        scores = model.label_scores(rows) if hasattr(model, "label_scores") else None
        if scores is None:
            scores = model[-1].label_scores(model[:-1].transform(rows))
        assert_same(model, rows, tmp_path, scores)


SINGLES = {
    "ranker": lambda: LabelRankerCV([1.0], cv_tol=0.1, tol=0.1, random_state=0),
    "linear": lambda: RankSVM(kernel="linear"),
    "rbf": RankSVM,
    "forest": lambda: CalibratedClassifier(LabelForest(3, random_state=0)),
    "boosting": lambda: CalibratedClassifier(LabelBoosting(3, random_state=0)),
    "discriminant": lambda: CalibratedClassifier(LabelDiscriminant()),
    "kernel ridge": lambda: CalibratedClassifier(LabelKernelRidge()),
    "logistic": lambda: CalibratedClassifier(LabelLogistic()),
    "neighbours": lambda: CalibratedClassifier(LabelNeighbours(metric="euclidean")),
}


@pytest.mark.parametrize("name", fast_only(SINGLES, ["linear", "forest", "logistic"]))
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_single_precision_is_refused_for_features_that_it_does_not_hold(name, tmp_path):
    file = tmp_path / "model.onnx"
    rows = X[:80, :2].copy()
    # Some entries near 0 are no matter.
    rows[::7, 1] = 1e-60
    export(SINGLES[name]().fit(rows, Y[:80]), file, float32=True)
    for size in (1e-100, 1e100):
        rows[:, 0] = X[:80, 0] * size
        model = SINGLES[name]().fit(rows, Y[:80])
        # Neither has a weight for it.
        if size != 1e-100 or name not in ("logistic", "kernel ridge"):
            with pytest.raises(ValueError, match="float32 is True, but the model was fitted to"):
                export(model, file, float32=True)
        export(model, file)
