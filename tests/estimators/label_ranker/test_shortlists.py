"""Fits to thousands of labels, with a limit that is small here."""

import pickle
import re
import tracemalloc
import warnings

import numpy as np
import pytest
from scipy import sparse
from scipy.special import expit
from sklearn.base import clone
from sklearn.preprocessing import normalize

import multimargin.onnx
from multimargin import (
    CalibratedClassifier,
    LabelRankerCV,
    RankSVM,
    explain,
    load_model,
    predict_frame,
    predict_names,
    predict_sparse,
    predict_top,
    save_model,
)
from multimargin.blocks import LabelNeighbours
from multimargin.calibration import shortlists as lists_of_labels
from multimargin.calibration.logistic import PooledLogistic
from multimargin.calibration.shortlists import HeldOutLists, ShortlistClassifier
from multimargin.estimators.label_ranker import search as searching
from multimargin.estimators.label_ranker import shortlists
from multimargin.measures import precision_at_k
from tests.estimators.test_thousands_of_labels import sparse_problem

pytestmark = [
    pytest.mark.filterwarnings("ignore:The best C"),
    pytest.mark.filterwarnings("ignore:y has .* with fewer relevant rows"),
    pytest.mark.filterwarnings("ignore::multimargin.EmptyRowsWarning"),
]
LIMIT = 10_000
QUICK = {"Cs": [1.0], "cv": 2, "random_state": 0}


@pytest.fixture(autouse=True)
def small_limit(monkeypatch):
    monkeypatch.setattr(shortlists, "MOST_SCORES", LIMIT)


def parts(seed, n=300, d=120, q=90, test=80):
    X, Y = sparse_problem(seed, n + test, d, q)
    return X[:n], Y[:n], X[n:], Y[n:]


def chosen(monkeypatch, stacked):
    """Let a calibration of all blocks, or of the ranker, be the more precise one."""
    values = HeldOutLists.precisions

    def precisions(self, odds, n_labels, folds):
        found = values(self, odds, n_labels, folds)
        # Both are learned before either is measured.
        asked.append(self)
        return found + (0.0 if len(asked) % 2 else (-1.0 if stacked else 1.0))

    asked: list[HeldOutLists] = []
    fit = ShortlistClassifier.fit_held_out

    def watched(self, *given):
        with monkeypatch.context() as patched:
            patched.setattr(HeldOutLists, "precisions", precisions)
            return fit(self, *given)

    monkeypatch.setattr(ShortlistClassifier, "fit_held_out", watched)


def assert_same(one, other, X):
    for method in ("predict", "predict_proba"):
        found, expected = getattr(one, method)(X), getattr(other, method)(X)
        np.testing.assert_array_equal(found.toarray(), expected.toarray())


@pytest.mark.parametrize("threshold", ["micro", "samples", 0.3])
def test_a_list_of_all_labels_is_what_a_calibrated_classifier_learns(monkeypatch, threshold):
    chosen(monkeypatch, True)
    minimise = PooledLogistic.minimise
    # To rounding: at its tolerance one of two sums of the same pairs takes a step more.
    monkeypatch.setattr(PooledLogistic, "minimise", lambda *given: minimise(*given[:-1], 1e-20))
    X, Y, X_test, _ = parts(0, n=500, q=30)
    folds = [(np.arange(100, 500), np.arange(100)), (np.arange(400), np.arange(400, 500))]
    options = {"cv": folds, "threshold": threshold, "at_least_one": True}
    model = LabelRankerCV(**{**QUICK, **options}).fit(X, Y)
    assert model.shortlisted_
    assert model.empty_label_
    seed = int(np.random.RandomState(0).randint(2**31 - 1))
    ranker = RankSVM(
        C=1.0, kernel="linear", bias="penalized", threshold=0.0, tol=1e-2, random_state=seed
    )
    alike = CalibratedClassifier(
        [("ranker", ranker), ("neighbours", LabelNeighbours(metric="cosine"))],
        empty_label=True,
        **options,
    )
    # The same gap on folds and on all rows.
    model.set_params(tol=1e-2).fit(X, Y)
    alike.fit(normalize(X), Y.toarray())
    expected = alike.predict_proba(normalize(X_test))
    np.testing.assert_allclose(model.predict_proba(X_test).toarray(), expected, rtol=1e-8)
    assert model.threshold_.predict(np.zeros((1, 2))) == pytest.approx(
        alike.threshold_.predict(np.zeros((1, 2)))
    )
    np.testing.assert_array_equal(model.predict(X_test).toarray(), alike.predict(normalize(X_test)))


def test_a_ranker_that_is_as_precise_alone_keeps_its_order(monkeypatch):
    X, Y, X_test, _ = parts(0)
    chosen(monkeypatch, False)
    model = LabelRankerCV(**QUICK).fit(X, Y)
    assert model.blocks_ == ("ranker",)
    assert "neighbours" in model.left_out_
    assert not model.calibration_.label_coef_.any()
    assert not model.calibration_.label_intercept_.any()
    best, _ = predict_top(model, X_test, 5)
    scores = model.ranker_.label_scores(normalize(X_test))[:, :90]
    np.testing.assert_array_equal(best, np.argsort(-scores, axis=1, kind="stable")[:, :5])


def test_neighbours_are_weighed_where_that_is_more_precise(monkeypatch):
    X, Y, *_ = parts(0)
    chosen(monkeypatch, True)
    model = LabelRankerCV(**QUICK).fit(X, Y)
    assert model.blocks_ == ("ranker", "neighbours")
    assert "neighbours" not in model.left_out_
    assert model.calibration_.label_coef_.any()


@pytest.mark.parametrize("seed", range(3))
def test_the_choice_is_by_held_out_precision_and_is_reported(monkeypatch, seed):
    X, Y, *_ = parts(15 + seed, n=600)
    seen = []
    calibrate = lists_of_labels.calibrate

    def watched(held_out):
        calibrated = calibrate(held_out)
        # By the definition: how many of the five most probable labels are relevant.
        odds = np.where(held_out.listed.numbers < 90, calibrated.odds, -np.inf)
        best = np.argsort(-odds, axis=1, kind="stable")[:, :5]
        hits = np.take_along_axis(held_out.labels, best, axis=1)
        seen.append((held_out.per_label, hits.mean()))
        return calibrated

    monkeypatch.setattr(lists_of_labels, "calibrate", watched)
    folds = [(np.arange(300), np.arange(300, 600))]
    model = LabelRankerCV(**{**QUICK, "cv": folds}).fit(X, Y)
    values = dict(seen)
    assert set(values) == {True, False}
    assert (model.blocks_ == ("ranker", "neighbours")) == (values[True] > values[False])
    assert model.best_score_ == pytest.approx(max(values.values()), abs=1e-12)


def test_the_limit_is_a_number_of_pairs():
    X, Y, *_ = parts(1, n=LIMIT // 90 + 1)
    assert LabelRankerCV(**QUICK).fit(X, Y).shortlisted_
    fewer = LabelRankerCV(**QUICK, stack=None).fit(X[:-1], Y[:-1])
    assert not fewer.shortlisted_
    assert fewer.decision_function(X).shape == Y.shape
    assert not hasattr(fewer, "base_rates_")


def test_predictions_and_tools(tmp_path):
    X, Y, X_test, Y_test = parts(2)
    model = LabelRankerCV(**QUICK).fit(X, Y)
    p = model.predict_proba(X_test)
    assert sparse.issparse(p)
    assert p.shape == Y_test.shape
    assert np.diff(p.indptr).max() <= lists_of_labels.N_BEST
    labels, odds = model.shortlists(X_test)
    for row in range(3):
        own = labels[row] < Y.shape[1]
        expected = np.zeros(Y.shape[1])
        expected[labels[row][own]] = expit(odds[row][own])
        np.testing.assert_allclose(p[[row]].toarray()[0], expected)
    best, values = predict_top(model, X_test, 5)
    np.testing.assert_allclose(values, -np.sort(-p.toarray(), axis=1)[:, :5])
    assert precision_at_k(Y_test, p.toarray()) == pytest.approx(model.score(X_test, Y_test))
    predicted = model.predict(X_test)
    assert predicted.dtype == np.uint8
    assert sparse.issparse(predicted)
    above = expit(model.threshold_.value_)
    np.testing.assert_array_equal(predicted.toarray(), p.toarray() > above)
    assert (predict_sparse(model, X_test) != predicted).nnz == 0
    named, scores = predict_names(model, X_test, return_scores=True)
    assert [sorted(row) for row in named] == [row.indices.tolist() for row in predicted]
    assert all(row == sorted(row, reverse=True) for row in scores)
    assert predict_names(model, X_test, k=5) == [row.tolist() for row in best]
    reasons = explain(model, X_test[:5])
    assert [len(row) for row in reasons] == [len(row) for row in named[:5]]
    assert pickle.loads(pickle.dumps(model)).score(X_test, Y_test) == model.score(X_test, Y_test)
    save_model(model, tmp_path / "tags.model")
    loaded = load_model(tmp_path / "tags.model")
    assert_same(loaded, model, X_test)
    assert predict_names(loaded, X_test) == named


def test_labels_that_are_not_listed_have_base_rates():
    X, Y, X_test, _ = parts(3)
    model = LabelRankerCV(**QUICK, stack=None).fit(X, Y)
    assert model.base_rates_.shape == (90,)
    _, values = predict_top(model, X_test, 90)
    p = model.predict_proba(X_test).toarray()
    expected = np.where(p > 0.0, p, model.base_rates_)
    np.testing.assert_allclose(values, -np.sort(-expected, axis=1))


def test_the_container_changes_no_bit():
    X, Y, X_test, _ = parts(4)
    X = X.astype(np.float32).astype(np.float64)
    # Names are of labels that some row has.
    Y = Y[:, np.flatnonzero(Y.sum(axis=0))]
    names = [[f"label {k:02d}" for k in row.indices] for row in Y]
    expected = LabelRankerCV(**QUICK).fit(X, Y)
    for features, given in (
        *((X, Y.toarray()), (X, Y.tocsc()), (X, names)),
        (X.astype(np.float32), Y.astype(float)),
    ):
        found = LabelRankerCV(**QUICK).fit(features, given)
        assert_same(found, expected, X_test)
        assert found.score(X, given) == expected.score(X, Y)


def test_jobs_and_copies_change_no_bit():
    X, Y, X_test, _ = parts(5)
    options = {
        **QUICK,
        "cv": list(
            zip(
                [np.arange(200), np.arange(100, 300)],
                [np.arange(200, 300), np.arange(100)],
                strict=True,
            )
        ),
    }
    model = LabelRankerCV(**options).fit(X, Y)
    assert model.n_splits_ == 2
    assert_same(clone(model).set_params(n_jobs=2).fit(X, Y), model, X_test)
    assert_same(clone(model).fit(X.copy(), Y.copy()), model, X_test)
    other = clone(model).set_params(random_state=1).fit(X, Y)
    assert (other.predict_proba(X_test) != model.predict_proba(X_test)).nnz > 0


def test_only_known_labels_and_rows_of_some_weight_count():
    X, Y, X_test, _ = parts(6)
    rng = np.random.default_rng(0)
    weights = rng.integers(0, 3, 300).astype(float)
    model = LabelRankerCV(**QUICK).fit(X, Y, weights)
    flipped = Y.toarray()
    flipped[weights == 0.0] = 1 - flipped[weights == 0.0]
    # Rows of no weight still belong to the share of rows without labels.
    flipped[(weights == 0.0) & (np.diff(Y.indptr) == 0)] = 0
    flipped[(weights == 0.0) & (np.diff(Y.indptr) > 0), 0] = 1
    found = clone(model).fit(X, flipped, weights)
    np.testing.assert_allclose(
        found.predict_proba(X_test).toarray(), model.predict_proba(X_test).toarray(), rtol=1e-6
    )
    unknown = Y.toarray().astype(float)
    unknown[rng.random(Y.shape) < 0.1] = np.nan
    unknown[:5] = np.nan
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        one = LabelRankerCV(**QUICK).fit(X, unknown)
        other = LabelRankerCV(**QUICK).fit(X, sparse.csr_array(unknown))
        listed = [list(np.flatnonzero(row)) for row in Y.toarray()]
        listed[3] = None
        of_lists = LabelRankerCV(**QUICK).fit(
            X, [None if r is None else [f"{k:02d} ".strip() for k in r] for r in listed]
        )
    assert of_lists.shortlisted_
    assert_same(one, other, X_test)
    assert np.isfinite(one.best_score_)
    assert np.isfinite(one.score(X, unknown))


@pytest.mark.parametrize("case", ["single rows", "in all rows", "empty rows", "no rows", "few"])
def test_odd_labels(monkeypatch, case):
    X, Y, X_test, Y_test = parts(7)
    y = Y.toarray()
    if case == "single rows":
        y[:, 10:] = 0
        y[np.arange(80), np.arange(10, 90)] = 1
    elif case == "in all rows":
        y[:, 5] = 1
    elif case == "empty rows":
        y[::2] = 0
    elif case == "no rows":
        y[:, 60:] = 0
    else:
        monkeypatch.setattr(shortlists, "MOST_SCORES", 500)
        y, Y_test = y[:, :2], Y_test[:, :2]
    model = LabelRankerCV(**QUICK).fit(X, y)
    assert model.shortlisted_
    p = model.predict_proba(X_test)
    assert p.shape == Y_test.shape
    assert ((p.data > 0.0) & (p.data < 1.0)).all()
    assert ((model.base_rates_ >= 0.0) & (model.base_rates_ < 1.0)).all()
    if case == "in all rows":
        assert model.predict(X_test)[:, [5]].toarray().all()
    if case == "no rows":
        assert model.predict(X_test)[:, 60:].nnz == 0


@pytest.mark.slow
def test_no_array_of_all_rows_and_labels_is_made(monkeypatch):
    """At the real limit, where dual variables are sparse, too."""
    monkeypatch.setattr(shortlists, "MOST_SCORES", 2**26)
    monkeypatch.setattr(lists_of_labels, "_SCORES", 2**18)
    monkeypatch.setattr("multimargin.blocks.neighbours._ENTRIES", 2**18)
    monkeypatch.setattr("multimargin.inspection.names._SCORES", 2**18)
    X, Y = sparse_problem(0, 8_200, 60, 8_200)
    tracemalloc.start()
    try:
        model = LabelRankerCV(Cs=[1.0], random_state=0, cv_tol=0.1, tol=0.1).fit(X, Y)
        predicted = model.predict(X)
        predict_top(model, X, 3), predict_names(model, X[:100])
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert model.shortlisted_
    assert predicted.shape == Y.shape
    # One byte each would be more.
    assert peak < Y.shape[0] * Y.shape[1]


def test_of_very_many_rows_neighbours_are_left_out_and_few_are_held_out(monkeypatch):
    X, Y, *_ = parts(16)
    monkeypatch.setattr("multimargin.blocks.by_name._MOST_NEAR_LISTED", 299)
    monkeypatch.setattr("multimargin.estimators.label_ranker.task._MOST_HELD_OUT", 40)
    monkeypatch.setattr("multimargin.estimators.label_ranker.task._MANY_PAIRS", 5_000)
    held_out = []
    fit = ShortlistClassifier.fit_held_out

    def watched(self, estimators, held, *given):
        held_out.append(held.rows)
        return fit(self, estimators, held, *given)

    monkeypatch.setattr(ShortlistClassifier, "fit_held_out", watched)
    model = LabelRankerCV(**QUICK).fit(X, Y)
    assert model.left_out_["neighbours"] == "300 rows are more than 299"
    assert model.blocks_ == ("ranker",)
    assert len(np.unique(held_out[0])) == len(held_out[0]) == 40
    LabelRankerCV(**QUICK, stack=["neighbours"]).fit(X, Y)
    np.testing.assert_array_equal(held_out[0], held_out[1])


def test_groups():
    X, Y, X_test, _ = parts(8)
    model = LabelRankerCV(**QUICK).fit(X, Y, groups=np.arange(300) // 3)
    assert model.predict(X_test).shape == (80, 90)


def test_constant_features_and_dense_ones():
    X, Y, X_test, _ = parts(9, n=200)
    dense = LabelRankerCV(**QUICK).fit(X.toarray(), Y)
    assert_same(dense, LabelRankerCV(**QUICK).fit(X, Y), X_test)
    # One array or sparse: rows are taken as sparse by both.
    assert_same(dense, dense, X_test.toarray())
    nothing = LabelRankerCV(**QUICK).fit(np.ones((200, 1)), Y)
    assert nothing.predict_proba(np.ones((4, 1))).shape == (4, 90)


REFUSED = {
    "kernel": ("rbf", "kernel is 'rbf'; expected 'auto' or 'linear'"),
    "loss": ("squared_hinge", "loss is 'squared_hinge'; expected 'auto' or 'hinge'"),
    "scoring": ("macro_f1", "scoring is 'macro_f1'; expected 'auto' or 'precision_at_5'"),
    "threshold": ("macro", "threshold is 'macro'; expected 'micro' or 'samples' or a probability"),
    "stack": (
        ["forest"],
        r"stack is \['forest'\]; expected None or 'auto' or 'full' or \['neighbours'\]",
    ),
    "views": ([("all", "passthrough", slice(0, 9))], "views is .*; expected 'auto' or None"),
    "calibration": (False, "calibration is False; expected True"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_needs_the_scores_of_all_labels_is_refused(name):
    X, Y, *_ = parts(10)
    value, message = REFUSED[name]
    with pytest.raises(ValueError, match=f"{message}.*y has 300 rows x 90 labels, more than 10000"):
        LabelRankerCV(**QUICK, **{name: value}).fit(X, Y)


def test_classes_are_refused():
    X = parts(10)[0]
    with pytest.raises(ValueError, match="y has one class for each of 300 rows, 90 classes in all"):
        LabelRankerCV(**QUICK).fit(X, np.arange(300) % 90)


def test_methods_that_need_all_scores_name_others(tmp_path):
    X, Y, X_test, _ = parts(11)
    model = LabelRankerCV(**QUICK).fit(X, Y)
    for method in ("decision_function", "label_scores", "decision_and_probabilities"):
        assert not hasattr(model, method)
        with pytest.raises(AttributeError, match=f"no attribute '{method}'") as refused:
            getattr(model, method)
        assert re.search("best of its 90 labels .*predict_top", str(refused.value.__cause__))
    with pytest.raises((TypeError, ValueError), match=r"shortlists"):
        multimargin.onnx.export(model, tmp_path / "tags.onnx")
    with pytest.raises(ValueError, match="predict_names"):
        predict_frame(model, X_test)


def test_the_program_refuses_what_it_cannot_measure(tmp_path, monkeypatch, capsys):
    from multimargin.cli.data import check_all_scored, check_room_for_scores

    X, Y, *_ = parts(11)
    check_room_for_scores("label-ranker", Y.toarray()[:110])
    check_room_for_scores("rank-svm", Y.toarray())
    with pytest.raises(ValueError, match="the data have 300 rows x 90 labels; expected at most"):
        check_room_for_scores("label-ranker", Y.toarray())
    with pytest.raises(ValueError, match="predict_names and predict_sparse"):
        check_all_scored(LabelRankerCV(**QUICK).fit(X, Y))


def test_time():
    X, Y, X_test, _ = parts(12)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        model = LabelRankerCV(random_state=0, max_time=1e-3).fit(X, Y)
    assert model.status_ == "time_limit"
    assert model.blocks_ == ("ranker",)
    assert len(model.cv_results_["params"]) == 1
    assert model.predict(X_test).shape == (80, 90)
    assert predict_names(model, X_test, k=3)
    assert LabelRankerCV(**QUICK, max_time=1e6).fit(X, Y).status_ == "converged"


def test_lists_of_fewer_rows_never_stand_in_for_those_of_the_fold(monkeypatch):
    X, Y, *_ = parts(12)
    for name, size in (("_MANY_PAIRS", 5_000), ("_FEWEST_DRAWN", 200), ("_MOST_DRAWN", 200)):
        monkeypatch.setattr(f"multimargin.estimators.label_ranker.task.{name}", size)
    monkeypatch.setattr(searching.Search, "_foretold", lambda *_: np.inf)
    sizes, fit = [], RankSVM.fit

    def watched(self, X, *given, **named):
        sizes.append(X.shape[0])
        return fit(self, X, *given, **named)

    monkeypatch.setattr(searching.PairwiseClassifier, "fit", watched)
    LabelRankerCV(**QUICK, max_time=1e6).fit(X, Y)
    assert sizes[-2:] == [150, 300]


@pytest.mark.parametrize("phase", ["first", "second", "held out", "all rows", "neighbours"])
def test_ctrl_c_keeps_a_whole_model(monkeypatch, phase):
    X, Y, X_test, Y_test = parts(13)
    fits = []
    fit = RankSVM.fit
    last = {"first": 0, "second": 1, "held out": 3, "all rows": 4}.get(phase, 99)

    def interrupted(self, *given, **named):
        if len(fits) == last:
            raise KeyboardInterrupt
        fits.append(self)
        return fit(self, *given, **named)

    monkeypatch.setattr(searching.PairwiseClassifier, "fit", interrupted)
    monkeypatch.setattr("multimargin.estimators.label_ranker.task._MANY_PAIRS", 5_000)
    monkeypatch.setattr("multimargin.estimators.label_ranker.task._FEWEST_DRAWN", 200)
    monkeypatch.setattr("multimargin.estimators.label_ranker.task._MOST_DRAWN", 200)
    if phase == "neighbours":
        monkeypatch.setattr(LabelNeighbours, "fit", press_ctrl_c)
    model = LabelRankerCV([1.0, 3.0, 10.0], random_state=0)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, Y)
    if phase == "first":
        assert not hasattr(model, "best_params_")
        return
    assert model.status_ == "interrupted"
    assert model.blocks_ == ("ranker",)
    assert model.n_splits_ == 1
    p = model.predict_proba(X_test)
    assert p.shape == Y_test.shape
    assert model.predict(X_test).nnz > 0


def press_ctrl_c(*given, **named):
    raise KeyboardInterrupt


def test_nested_parameters_lines_and_results(capsys):
    X, Y, *_ = parts(14)
    model = LabelRankerCV(3, verbose=1, random_state=0).fit(X, Y)
    out = capsys.readouterr().out
    assert "loss=hinge kernel=linear top_k" not in out
    assert "stack: neighbours in" in out
    tried = model.cv_results_["params"]
    assert {one["C"] for one in tried} <= {0.1, 10.0, 1000.0}
    assert {(one["loss"], one["kernel"]) for one in tried} == {("hinge", "linear")}
    assert model.scoring_ == "precision_at_5"
    assert {"linear", "forest", "lift"} <= set(model.left_out_)
    assert model.best_estimator_.predict(X[:3]).shape == (3, 90)
    assert_same(model.best_estimator_, model, X)
    again = clone(model.best_estimator_[-1]).fit(normalize(X), Y)
    assert again.predict(normalize(X)).shape == Y.shape
