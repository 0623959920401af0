"""LabelRankerCV: what it chooses is what its parts would, and it says what it did."""

import pickle
import time
import warnings
from contextlib import suppress
from dataclasses import replace
from functools import cache
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from joblib import parallel_config
from scipy import sparse
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.preprocessing import normalize

from multimargin import MLODM, CalibratedClassifier, LabelRankerCV, RankLSVM, RankSVM
from multimargin.blocks import LabelLogistic
from multimargin.calibration import PooledCalibration, calibrated
from multimargin.calibration.held_out import HeldOut
from multimargin.estimators.label_ranker import fit as fitting
from multimargin.estimators.label_ranker import search as searching
from multimargin.estimators.label_ranker import settings, task
from multimargin.measures import (
    get_scorer,
    micro_average_precision,
    micro_f1,
    ranking_average_precision,
)
from multimargin.thresholds import F1Threshold, PrecisionGuarantee, RecallGuarantee
from multimargin.tuning import MultilabelStratifiedKFold
from tests.support.cases import case
from tests.support.problems import noisy_linear_problem

QUICK = {"loss": "hinge", "class_weight": None, "top_k": None, "stack": None, "random_state": 0}
AT_AN_EDGE = pytest.mark.filterwarnings("ignore:The best C")


def problem(seed=0, n=150, d=6, q=5):
    X, y = noisy_linear_problem(seed, n, d, q, cut=0.8)
    # Rows without labels have a test of their own.
    y[y.sum(axis=1) == 0, seed % q] = 1
    return X, y


def test_one_setting_is_a_calibrated_classifier():
    X, y = problem()
    inner = RankLSVM(10.0, kernel="linear", random_state=0, tol=1e-9, max_iter=100_000)
    expected = CalibratedClassifier(inner, at_least_one=True).fit(X, y)
    options = {**QUICK, "loss": "squared_hinge", "kernel": "linear", "tol": 1e-9, "cv_tol": 1e-9}
    options["at_least_one"] = True
    model = LabelRankerCV([10.0], **options).fit(X, y)
    np.testing.assert_allclose(model.predict_proba(X), expected.predict_proba(X), atol=1e-3)
    assert model.threshold_.value_ == pytest.approx(expected.threshold_.value_, abs=1e-2)
    assert (model.predict(X).sum(axis=1) > 0).all()
    assert model.status_ == model.ranker_.status_ == "converged"
    assert model.dual_gap_ <= 1e-9


def test_the_best_setting_is_that_of_the_held_out_rows():
    X, y = problem(1)
    Cs = [0.1, 1.0, 10.0]
    options = {**QUICK, "kernel": "linear", "cv_tol": 1e-5, "calibration": False}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        model = LabelRankerCV(Cs, **options).fit(X, y)
    values = []
    for C in Cs:
        inner = RankSVM(C, kernel="linear", bias="penalized", tol=1e-5, random_state=0)
        values.append(
            [
                ranking_average_precision(y[b], inner.fit(X[a], y[a]).label_scores(X[b]))
                for a, b in MultilabelStratifiedKFold(3).split(X, y)
            ]
        )
    assert [p["C"] for p in model.cv_results_["params"]] == [1.0, 10.0, 0.1]
    found = [model.cv_results_[f"split{fold}_test_score"] for fold in range(3)]
    np.testing.assert_allclose(np.transpose(found), np.take(values, [1, 2, 0], axis=0), atol=1e-3)
    assert model.best_params_["C"] == Cs[int(np.mean(values, axis=1).argmax())]
    assert model.best_score_ == pytest.approx(np.mean(values, axis=1).max(), abs=1e-3)
    assert not hasattr(model, "predict_proba")


def test_the_held_out_threshold_does_not_see_its_own_row(monkeypatch):
    X, y = problem(2)
    seen = []

    class Spy(F1Threshold):
        def fit(self, scores, y, X=None, sample_weight=None):
            seen.append(scores)
            return super().fit(scores, y, X, sample_weight)

    LabelRankerCV([10.0], threshold=Spy(), kernel="linear", **QUICK).fit(X, y)
    folds = list(MultilabelStratifiedKFold(3).split(X, y))
    inner = RankSVM(
        10.0, kernel="linear", bias="penalized", tol=1e-2, threshold=0.0, random_state=0
    )
    seed = int(np.random.RandomState(0).randint(2**31 - 1))
    inner.set_params(random_state=seed)
    scores = [clone(inner).fit(X[a], y[a]).label_scores(X[b]) for a, b in folds]
    expected = []
    for fold, own in enumerate(scores):
        others = [other for other in range(3) if other != fold]
        without = PooledCalibration().fit(
            np.vstack([scores[o] for o in others]), np.vstack([y[folds[o][1]] for o in others])
        )
        expected.append(without.decision_function(own))
    np.testing.assert_allclose(seen[-1], np.vstack(expected), atol=1e-9)


def test_the_order_of_the_labels_does_not_matter():
    X, y = problem(3)
    folds = list(MultilabelStratifiedKFold(3).split(X, y))
    order = np.random.default_rng(0).permutation(y.shape[1])
    # Of the hinge some labels may come out alike, and rounding ranks them.
    options = {"cv": folds, "cv_tol": 1e-8, "tol": 1e-8, "gamma": "scale", "random_state": 0}
    options["loss"] = ["squared_hinge", "margin_distribution"]
    one = LabelRankerCV(**options).fit(X, y)
    other = LabelRankerCV(**options).fit(X, y[:, order])
    assert one.best_params_ == other.best_params_
    p, q = one.predict_proba(X)[:, order], other.predict_proba(X)
    np.testing.assert_allclose(p, q, atol=1e-4)


def test_kernels_and_lengths_by_the_features():
    X, y = problem(4)
    dense = LabelRankerCV([10.0], **QUICK).fit(X, y)
    assert (dense.kernel_, dense.unit_length_) == ("linear", False)
    assert [p["kernel"] for p in dense.cv_results_["params"]] == ["rbf", "laplacian", "linear"]
    # Labels of rows far from 0 on either side are not linear.
    rings = (np.abs(X[:, :5]) > 0.7).astype(int)
    curved = LabelRankerCV([10.0], **QUICK).fit(X, rings)
    assert curved.kernel_ in ("rbf", "laplacian")
    assert len(curved.cv_results_["params"]) == 5  # widths, too
    more = sparse.random(150, 594, 0.02, random_state=0)
    words = sparse.csr_array(sparse.hstack([np.abs(X), more], format="csr"))
    text = LabelRankerCV([10.0], **QUICK).fit(words, y)
    assert (text.kernel_, text.unit_length_) == ("linear", True)
    same = LabelRankerCV([10.0], unit_length=False, **QUICK).fit(normalize(words), y)
    np.testing.assert_array_equal(text.predict_proba(words), same.predict_proba(normalize(words)))
    wide = LabelRankerCV([10.0], **QUICK).fit(np.hstack([X, np.zeros((150, 500))]), y)
    assert wide.kernel_ == "linear"


def test_names_of_labels():
    X, y = problem(5)
    names = ["a", "b", "c", "d", "e"]
    frame = LabelRankerCV([10.0], **QUICK).fit(X, pd.DataFrame(y, columns=names))
    sets = [{names[k] for k in np.flatnonzero(row)} for row in y]
    listed = LabelRankerCV([10.0], **QUICK).fit(X, sets)
    assert frame.label_names_in_.tolist() == listed.label_names_in_.tolist() == names
    np.testing.assert_array_equal(frame.predict_proba(X), listed.predict_proba(X))


def test_classes():
    X, y = problem(6)
    of_rows = np.array(list("xyz"))[y[:, 0] + y[:, 1]]
    model = LabelRankerCV([10.0], **QUICK).fit(X, of_rows)
    assert (model.predict(X) == of_rows).mean() > 0.65
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1.0)
    assert not hasattr(model, "threshold_")


@AT_AN_EDGE
def test_any_scorer_weights_groups_and_unknown_labels():
    X, y = problem(7)
    for scoring in ("micro_f1", "neg_ranking_loss", "f1_macro", get_scorer("neg_one_error")):
        model = LabelRankerCV([1.0, 10.0], scoring=scoring, kernel="linear", **QUICK).fit(X, y)
        mean = model.cv_results_["mean_test_score"]
        assert model.best_index_ == mean.argmax()
        assert model.best_score_ == pytest.approx(mean.max(), abs=0.05)
    y = y.astype(float)
    y[np.random.default_rng(0).random(y.shape) < 0.1] = np.nan
    groups = np.arange(len(y)) % 10
    weights = np.r_[np.zeros(5), np.ones(len(y) - 5)]
    model = LabelRankerCV([10.0], kernel="linear", **QUICK)
    changed = y.copy()
    changed[:5] = 1 - changed[:5]
    one = model.fit(X, y, weights, groups).predict_proba(X)
    np.testing.assert_allclose(one, clone(model).fit(X, changed, weights, groups).predict_proba(X))


def test_rows_without_labels_get_a_label():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 5))
    y = ((X[:, :3] > 0.5) & (X[:, 3:4] > 0)).astype(int)
    X, X_test, y, y_test = X[:150], X[150:], y[:150], y[150:]
    model = LabelRankerCV([10.0], kernel="linear", **QUICK).fit(X, y)
    assert model.empty_label_
    # Four columns, be the last that of a label or of the zero label.
    assert model.ranker_.label_scores(X).shape == (150, 4)
    assert model.predict_proba(X_test).shape == y_test.shape
    plain = CalibratedClassifier(RankSVM(kernel="linear", random_state=0)).fit(X, y)
    assert micro_f1(y_test, model.predict(X_test)) > micro_f1(y_test, plain.predict(X_test)) + 0.05
    # Unlike an unknown label.
    y = y.astype(float)
    y[y.sum(axis=1) == 0, 0] = np.nan
    assert not LabelRankerCV([10.0], kernel="linear", **QUICK).fit(X, y).empty_label_


def test_lines_and_warnings(capsys):
    X, y = problem(9)
    model = LabelRankerCV([1e-3, 1e-2], kernel="linear", verbose=1, **QUICK)
    with pytest.warns(UserWarning, match=r"The best C, 0.01, is the largest of Cs; larger values"):
        model.fit(X, y)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 2
    assert lines[0].startswith("1/2  C=0.01 loss=hinge kernel=linear: ")
    assert "; best " in lines[1]
    assert lines[1].endswith("at most 0 s left")


def test_no_warning_of_an_edge_beside_which_C_is_as_good():
    X, y = problem(9)
    model = LabelRankerCV([1e-4, 1e-3], kernel="linear", **QUICK).fit(X, y)
    assert np.ptp(model.cv_results_["mean_test_score"]) < 1e-9


def ended_after(monkeypatch, after, end):
    """Have a search end when as many settings are tried."""
    attempt = searching.Search._try

    def attempt_or_end(self, setting, models):
        if len(self.tried) == after:
            end(self)
        return attempt(self, setting, models)

    monkeypatch.setattr(searching.Search, "_try", attempt_or_end)


def press_ctrl_c(search):
    raise KeyboardInterrupt


@pytest.mark.parametrize("after", [0, 4])
def test_out_of_time_keeps_the_best_so_far(monkeypatch, after):
    X, y = problem(10)
    ended_after(monkeypatch, after, lambda search: setattr(search, "_deadline", -1.0))
    model = LabelRankerCV(max_time=1e6, random_state=0).fit(X, y)
    assert model.status_ == "time_limit"
    # Without any time the first setting is tried all the same.
    assert len(model.cv_results_["params"]) == max(after, 1)
    assert model.predict_proba(X).shape == y.shape
    assert model.ranker_.status_ == "converged"


def test_an_interruption_keeps_the_best_so_far_with_its_calibration(monkeypatch):
    X, y = problem(11)

    def stopped(after):
        model = LabelRankerCV(random_state=0)
        with monkeypatch.context() as patched:
            ended_after(patched, after, press_ctrl_c)
            with pytest.raises(KeyboardInterrupt):
                model.fit(X, y)
        assert hasattr(model, "best_params_") == (after > 0)
        if after:
            assert (model.status_, len(model.cv_results_["params"])) == ("interrupted", after)
        return model

    def nobody_waits_for_it(*arguments):
        raise AssertionError

    stopped(0)
    monkeypatch.setattr(calibrated, "calibrate", nobody_waits_for_it)
    late = stopped(6)
    assert 0 < late.best_index_ < 5, "the best is to be neither the first nor the last"
    assert late.best_score_ == late.cv_results_["mean_test_score"].max()
    early = stopped(late.best_index_ + 1)
    np.testing.assert_array_equal(late.predict_proba(X), early.predict_proba(X))
    np.testing.assert_array_equal(late.predict(X), early.predict(X))


@pytest.mark.parametrize("line", [2, 3, 4])
def test_the_model_that_is_kept_is_that_of_the_best_setting(monkeypatch, line):
    X, y = problem(11)
    fit, fits = MLODM.fit, []

    def interrupted(self, *arguments, **named):
        if len(fits) == 3 * line - 2:
            raise KeyboardInterrupt
        fits.append(fit(self, *arguments, **named))
        return self

    model = LabelRankerCV([0.1, 10.0, 100.0, 1000.0], loss="margin_distribution", random_state=0)
    with monkeypatch.context() as patched:
        patched.setattr(MLODM, "fit", interrupted)
        with pytest.raises(KeyboardInterrupt):
            model.fit(X, y)
    assert len(model.cv_results_["params"]) == line - 1
    best = model.ranker_
    assert model.best_params_["C"] == best.C
    # Its certificate is that of its own problem, on the rows of the first fold.
    again = clone(best).set_params(warm_start=False, tol=1e-6).fit(*first_fold(model, X, y))
    assert best.dual_objective_ <= again.objective_ * (1.0 + 1e-9)
    assert best.objective_ >= again.dual_objective_ * (1.0 - 1e-9)


def first_fold(model, X, y):
    train, _ = next(MultilabelStratifiedKFold(model.n_splits_).split(X, y))
    return X[train], y[train]


@AT_AN_EDGE
def test_jobs_and_copies_change_nothing():
    X, y = problem(12)
    model = LabelRankerCV([1.0, 10.0], random_state=0, gamma="scale").fit(X, y)
    p = model.predict_proba(X)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).predict_proba(X), p)
    again = clone(model).set_params(n_jobs=2).fit(X, y)
    np.testing.assert_array_equal(again.predict_proba(X), p)


@AT_AN_EDGE
def test_a_backend_of_processes_changes_nothing():
    X, y = problem(12, n=40)
    model = LabelRankerCV([1.0, 10.0], **QUICK, gamma="scale").fit(X, y)
    for n_jobs in (None, 2):
        with parallel_config(backend="loky", n_jobs=2):
            other = clone(model).set_params(n_jobs=n_jobs).fit(X, y)
        np.testing.assert_array_equal(other.predict_proba(X), model.predict_proba(X))


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_only_the_ratios_of_weights_count():
    X, y = problem(4, n=60)
    model = LabelRankerCV([1.0, 10.0], **QUICK, kernel="linear")
    expected = clone(model).fit(X, y).decision_function(X)
    # Powers of two round nothing.
    for size in (2.0**-900, 1.0, 2.0**66, 2.0**1000):
        found = clone(model).fit(X, y, np.full(len(y), size)).decision_function(X)
        np.testing.assert_array_equal(found, expected)
    random = np.random.default_rng(0)
    wide = 10.0 ** random.uniform(-6, 6, size=len(y))
    expected = clone(model).fit(X, y, wide).decision_function(X)
    np.testing.assert_array_equal(
        clone(model).fit(X, y, 2.0**60 * wide).decision_function(X), expected
    )


def test_weights_of_labels_by_name():
    X, y = problem(14)
    frame = pd.DataFrame(y, columns=list("abcde"))
    options = {**QUICK, "kernel": "linear"}
    by_name = LabelRankerCV([10.0], **{**options, "class_weight": {"b": 4.0}}).fit(X, frame)
    weights = np.array([1.0, 4.0, 1.0, 1.0, 1.0])
    by_array = LabelRankerCV([10.0], **{**options, "class_weight": weights}).fit(X, y)
    np.testing.assert_array_equal(by_name.predict_proba(X), by_array.predict_proba(X))
    np.testing.assert_array_equal(by_name.ranker_.class_weight, weights)
    with pytest.raises(ValueError, match="class_weight has a weight for 'z', which is not a label"):
        LabelRankerCV([10.0], class_weight=[None, {"z": 1.0}]).fit(X, frame)


def test_bad_input_is_named():
    X, y = problem(13)
    for parameters, message in (
        ({"loss": "logistic"}, "loss is 'logistic'; expected one of 'hinge', "),
        ({"loss": []}, "loss is empty; expected at least one value"),
        ({"top_k": []}, "top_k is empty; expected at least one value"),
        ({"Cs": []}, "Cs is empty; expected at least one number above 0"),
        ({"Cs": [1.0, -1.0]}, "Cs is -1.0; expected a finite number above 0"),
        ({"kernel": "precomputed"}, "kernel is 'precomputed'; expected one of 'auto', 'linear'"),
        ({"scoring": "nothing"}, "scoring is 'nothing'; expected a key of"),
        ({"unit_length": "text"}, "unit_length is 'text'; expected one of 'auto'"),
        ({"scaling": "minmax"}, "scaling is 'minmax'; expected one of 'auto'"),
        ({"threshold": "scores"}, "threshold is 'scores'; expected 'micro', "),
        ({"cv": 1}, "cv is 1; expected a number of folds of at least 2"),
    ):
        with pytest.raises((TypeError, ValueError), match=message):
            LabelRankerCV(**parameters).fit(X, y)


def test_folds_that_leave_nothing_to_learn_from_are_named():
    X, y = np.eye(4), np.array([[1, 1], [1, 1], [1, 0], [1, 1]])
    folds = [([0, 1, 2], [3]), ([0, 1, 3], [2])]
    with pytest.raises(ValueError, match=r"cv: of the 4 rows, fold 2 of 2 leaves 3 to"):
        LabelRankerCV(cv=folds).fit(X, y)


def test_settings_are_compared_by_known_labels():
    """A row with an unknown label is measured by the others; a foreign scorer is asked for none."""
    X, y = problem(4)
    y = y.astype(float)
    y[np.arange(len(y)), np.arange(len(y)) % y.shape[1]] = np.nan
    options = {**QUICK, "Cs": [1.0], "kernel": "linear"}
    model = LabelRankerCV(**options).fit(X, y)
    assert 0.5 < model.best_score_ < 1.0
    with pytest.raises(ValueError, match="y has no row that the scorer can measure"):
        LabelRankerCV(**options, scoring="f1_micro").fit(X, y)


CONTAINERS = {
    "csr": sparse.csr_matrix,
    "csc": lambda X: sparse.csr_matrix(X).tocsc(),
    "frame": lambda X: pd.DataFrame(X, columns=[f"x{k}" for k in range(X.shape[1])]),
    "list": lambda X: X.tolist(),
    "fortran": np.asfortranarray,
    "float32": lambda X: X.astype(np.float32),
}


@cache
def scored(columns):
    """Rows of so many columns, their labels, and a model of them with its scores."""
    X, y = problem(4)
    if columns > 6:
        draws = np.random.default_rng(0)
        X = np.hstack([X, draws.normal(size=(150, 594)) * (draws.random((150, 594)) < 0.02)])
    X = X.astype(np.float32).astype(np.float64)
    model = LabelRankerCV([1.0], **{**QUICK, "stack": "auto", "cv": 2}).fit(X, y)
    return X, y, model, model.label_scores(X)


@pytest.mark.parametrize("container", CONTAINERS)
@pytest.mark.parametrize("columns", [6, 600])
def test_the_container_does_not_matter(container, columns):
    """What decides are the numbers: how many columns, and how many of their entries are not 0."""
    X, y, model, expected = scored(columns)
    other = CONTAINERS[container](X)
    found = clone(model).fit(other, y)
    np.testing.assert_allclose(found.label_scores(other), expected, rtol=1e-6, atol=1e-6)
    stack, rows = found.best_estimator_[-1], found.best_estimator_[0].transform(other)
    np.testing.assert_allclose(stack.label_scores(rows), expected, rtol=1e-6, atol=1e-6)


def rows_with_and_without_labels(n=500, seed=1):
    """Half of the rows have no label, and what tells so is in the features."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(2 * n, 10))
    y = (X @ rng.normal(size=(10, 5)) + rng.normal(size=(2 * n, 5)) > 2.6).astype(int)
    return X[:n], X[n:], y[:n], y[n:]


@pytest.mark.parametrize("n_relevant", [5, 1])
def test_the_unit_of_the_features_does_not_matter_to_a_stack(n_relevant):
    X, y = problem(5)
    # With few relevant rows there is a linear classifier.
    y[:, n_relevant:] = 0
    y[: 90 if n_relevant == 1 else 0] = 0
    model = LabelRankerCV([10.0], kernel="rbf", cv=2, random_state=0)
    model.set_params(loss="squared_hinge", class_weight=None, top_k=None)
    expected = model.fit(X, y).best_score_
    for unit in (1e-120, 1e-40, 1e-9, 1e31, 1e60, 1e140):
        with case(unit):
            assert model.fit(unit * X, y).best_score_ > expected - 0.03
            assert np.isfinite(model.label_scores(unit * X)).all()


def test_few_settings_are_tried_where_most_rows_have_no_label():
    X, y = noisy_linear_problem(1, 150, 6, 4, noise=0.3, cut=0.3)
    y[:100] = 0
    shared = {"Cs": [1.0], "top_k": None, "kernel": "linear", "stack": None, "random_state": 0}

    def tried(**given):
        found = LabelRankerCV(**shared, **given).fit(X, y).cv_results_
        return set(found["param_loss"]), set(map(str, found["param_class_weight"]))

    assert tried() == ({"squared_hinge"}, {"None"})
    named = {"loss": ["margin_distribution", "hinge"], "class_weight": [None, "balanced"]}
    losses, weights = tried(**named)
    assert losses == {"margin_distribution", "hinge"}
    assert weights == {"None", "balanced"}
    assert tried(class_weight=np.ones(4))[1] != {"None"}


def test_a_setting_without_a_value_is_not_the_best():
    X, y = problem(3)
    calls = []

    def scoring(model, X, y):
        calls.append(len(X))
        return np.nan if len(calls) <= 3 else 0.5

    model = LabelRankerCV([1.0], **QUICK | {"loss": "auto"}, scoring=scoring).fit(X, y)
    means = model.cv_results_["mean_test_score"]
    assert np.isnan(means[0])
    assert means[model.best_index_] == 0.5


@pytest.mark.filterwarnings("ignore:Only one class is present")
def test_a_measure_that_no_fold_has_is_an_error():
    X, y = problem(3)
    y[:, 2] = 0
    message = "scoring has nothing to measure in the held-out rows of the folds: it is NaN"
    with pytest.raises(ValueError, match=message):
        LabelRankerCV([1.0], scoring="roc_auc", **QUICK).fit(X, y)


@pytest.mark.filterwarnings("ignore:y has NaN")
@pytest.mark.parametrize("scoring", ["f1_micro", "roc_auc", "micro_f1", "neg_ranking_loss"])
def test_rows_that_a_measure_cannot_take_are_left_out_of_the_score(scoring):
    X, y = problem(6)
    model = LabelRankerCV([1.0], scoring=scoring, **QUICK).fit(X, y)
    partly = y.astype(float)
    partly[:30, 1] = np.nan
    weights = np.where(np.arange(len(y)) < 40, 0.0, 1.0)
    expected = model.score(X[40:], y[40:])
    assert model.score(X, partly, sample_weight=weights) == pytest.approx(expected)
    if scoring in ("f1_micro", "roc_auc"):
        assert model.score(X, partly) == model.score(X[30:], y[30:])
        with pytest.raises(ValueError, match="y has no row that the scorer can measure"):
            model.score(X[:30], partly[:30])
    else:
        assert model.score(X, partly) != model.score(X[30:], y[30:])


def test_no_more_settings_are_tried_than_announced(capsys):
    X, y = noisy_linear_problem(5, 90, 3, 4, noise=0.3)
    y[:8] = 0
    options = {"gamma": "scale", "class_weight": None, "top_k": None, "stack": None}
    LabelRankerCV([1.0], **options, verbose=1, random_state=0).fit(X, y)
    lines = capsys.readouterr().out.splitlines()
    # Two losses, and two more kernels with the better one.
    assert len(lines) == 4
    for line in lines:
        done, planned = map(int, line.split()[0].split("/"))
        assert done <= planned
        assert "at most -" not in line


def test_a_loss_that_is_asked_for_is_the_only_one():
    X, X_test, y, y_test = rows_with_and_without_labels()
    shared = {"Cs": [1.0], "kernel": "linear", "stack": None, "random_state": 0}
    model = LabelRankerCV(loss="hinge", **shared).fit(X, y)
    assert set(model.cv_results_["param_loss"]) == {"hinge"}
    assert model.score(X_test, y_test) > 0.6


def test_the_measure_compares_rows_where_many_have_no_label():
    X, _, y, _ = rows_with_and_without_labels(200)
    model = LabelRankerCV([1.0], kernel="linear", stack=None, random_state=0).fit(X, y)
    odds = model.label_scores(X)
    assert model.score(X, y) == pytest.approx(micro_average_precision(y, odds))
    kept = y.sum(axis=1) > 0
    model.fit(X[kept], y[kept])
    odds = model.label_scores(X)
    assert model.score(X, y) == pytest.approx(ranking_average_precision(y, odds))


def test_score_is_by_scoring_and_takes_what_fit_takes():
    X, y = problem(5)
    names = np.array(["a", "b", "c", "d", "e"])
    sets = [list(names[row == 1]) for row in y]
    model = LabelRankerCV([10.0], scoring="micro_f1", kernel="linear", **QUICK).fit(X, sets)
    expected = micro_f1(y, model.predict(X))
    assert model.score(X, y) == pytest.approx(expected)
    assert model.score(X, sets) == pytest.approx(expected)
    weights = np.arange(len(y)) % 3
    weighted = micro_f1(y, model.predict(X), sample_weight=weights)
    assert model.score(X, y, weights) == pytest.approx(weighted)
    with pytest.warns(UserWarning, match="y has names that the model does not know, 'z'"):
        assert model.score(X, [[*row, "z"] for row in sets]) == pytest.approx(expected)
    classes = np.array(list("xyz"))[y[:, 0] + y[:, 1]]
    model = LabelRankerCV([10.0], scoring="micro_f1", kernel="linear", **QUICK).fit(X, classes)
    assert model.score(X, classes) == pytest.approx((model.predict(X) == classes).mean())


@pytest.mark.filterwarnings("ignore:The best C, 0.1, is the smallest")
def test_results_have_the_names_of_a_grid_search():
    X, y = problem(5)
    model = LabelRankerCV([0.1, 1.0, 10.0, 100.0], kernel="linear", **QUICK).fit(X, y)
    found = set(model.cv_results_)
    search = GridSearchCV(RankSVM(random_state=0), {"C": [1.0, 10.0]}, cv=3).fit(X, y)
    assert set(search.cv_results_) - {"param_C", "params"} <= found
    for name in ("mean_fit_time", "std_fit_time", "mean_score_time", "std_score_time"):
        assert (model.cv_results_[name] >= 0.0).all()


def test_best_score_is_at_chance_where_there_is_nothing_to_learn():
    said = []
    for seed in range(12):
        rng = np.random.default_rng(seed)
        labels = [np.isin(np.arange(150), rng.permutation(150)[:45]) for _ in range(5)]
        X, y = rng.normal(size=(150, 6)), np.column_stack(labels).astype(int)
        model = LabelRankerCV([10.0], kernel="linear", **QUICK).fit(X, y)
        chance = [ranking_average_precision(y, rng.normal(size=y.shape)) for _ in range(20)]
        said.append(model.best_score_ - np.mean(chance))
    assert np.mean(said) < 3 * np.std(said) / np.sqrt(len(said))


@pytest.mark.parametrize("folds", ["once", "twice"])
def test_odds_of_a_row_do_not_see_its_own_labels_where_one_fold_holds_it_out(monkeypatch, folds):
    X, y = problem(6)
    train, test = next(MultilabelStratifiedKFold(3).split(X, y))
    seen = []
    learn = HeldOut.learn

    def watched(self, threshold, scores, *others):
        seen.append((self.rows, scores))
        return learn(self, threshold, scores, *others)

    monkeypatch.setattr(HeldOut, "learn", watched)
    row = test[5]
    for labels in (y[row], 1 - y[row]):
        y[row] = labels
        # Of the fit on all rows nothing is asked here.
        cv = [(train, test)] * (1 if folds == "once" else 2)
        CalibratedClassifier(RankLSVM(kernel="linear", random_state=0), cv=cv).fit(X, y)
    (rows, before), (_, after) = seen
    np.testing.assert_array_equal(before[rows == row], after[rows == row])
    assert (before[rows != row] != after[rows != row]).any()


@pytest.mark.parametrize("end", ["no time", "interrupted"])
@pytest.mark.parametrize("threshold", [RecallGuarantee(0.5), PrecisionGuarantee(0.5)])
@pytest.mark.parametrize("empty", [False, True])
def test_a_guarantee_is_not_learned_from_odds_that_have_seen_the_row(
    monkeypatch, end, threshold, empty
):
    X, y = problem(6)
    if empty:
        y[: len(y) * 2 // 3] = 0
    train, test = next(MultilabelStratifiedKFold(3).split(X, y))
    seen = []
    fit = type(threshold).fit

    def watched(self, scores, *others):
        seen.append(scores)
        return fit(self, scores, *others)

    def stopped(self):
        raise KeyboardInterrupt

    monkeypatch.setattr(type(threshold), "fit", watched)
    if end == "no time":
        monkeypatch.setattr(fitting.Fit, "has_time", False)
    else:
        monkeypatch.setattr(fitting.Fit, "stack", stopped)
    place = int(np.flatnonzero(y[test].any(axis=1))[0])
    # As many labels as before, but others.
    for labels in (y[test[place]].copy(), np.roll(y[test[place]], 1)):
        y[test[place]] = labels
        model = LabelRankerCV([1.0], kernel="linear", threshold=threshold, **QUICK)
        with suppress(KeyboardInterrupt):
            model.set_params(cv=[(train, test)]).fit(X, y)
    before, after = seen
    np.testing.assert_array_equal(before[place], after[place])
    assert (before != after).any()


def test_classes_have_no_guarantee():
    X, y = problem(6)
    for threshold in (RecallGuarantee(0.5), PrecisionGuarantee(0.5)):
        with pytest.raises(ValueError, match=r"Guarantee\(.*y has one class in each row"):
            LabelRankerCV(threshold=threshold).fit(X, y.argmax(axis=1))


def test_an_interruption_of_the_stack_keeps_the_ranker_that_is_fitted(monkeypatch):
    X, y = problem(7)
    monkeypatch.setattr(
        "multimargin.blocks.stack.OnFolds.fit",
        lambda *a, **k: (_ for _ in ()).throw(KeyboardInterrupt),
    )
    model = LabelRankerCV([1.0], kernel="linear", **{**QUICK, "stack": ["neighbours"]})
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    assert (model.status_, model.ranker_.status_) == ("interrupted", "converged")
    alone = clone(model.ranker_).fit(X, y)
    np.testing.assert_allclose(model.ranker_.label_scores(X), alone.label_scores(X))
    assert model.predict_proba(X).shape == y.shape


def test_without_time_for_a_calibration_the_rough_one_is_kept(monkeypatch):
    X, y = problem(8)
    choose = fitting.Fit.choose

    def chosen(fit):
        choose(fit)
        monkeypatch.setattr("multimargin.blocks.stack.Effort.left", -1.0)

    monkeypatch.setattr(fitting.Fit, "choose", chosen)
    with warnings.catch_warnings():
        # The stack is left out.
        warnings.simplefilter("ignore", UserWarning)
        model = LabelRankerCV([1.0], kernel="linear", **{**QUICK, "stack": ["lift"]}).fit(X, y)
    assert (model.status_, model.ranker_.status_) == ("time_limit", "converged")
    assert model.left_out_ == {"lift": "no time left of max_time"}
    assert model.best_score_ == model.cv_results_["mean_test_score"].max()
    assert model.predict_proba(X).shape == y.shape


def test_a_kernel_whose_first_epochs_take_too_long_is_not_tried(monkeypatch):
    X, y = problem(8)
    assert LabelRankerCV([1.0], max_time=1e6, **QUICK).fit(X, y).cv_results_["params"][0][
        "kernel"
    ] == ("rbf")
    monkeypatch.setattr(settings, "_OPERATIONS", 1.0)
    tried = LabelRankerCV([1.0], max_time=1e6, **QUICK).fit(X, y).cv_results_["params"]
    assert {one["kernel"] for one in tried} == {"linear"}


def many(monkeypatch, *, pairs=500, drawn=60):
    """Let the problem of these tests count as one of many rows."""
    monkeypatch.setattr(task, "_MANY_PAIRS", pairs)
    monkeypatch.setattr(task, "_FEWEST_DRAWN", drawn)
    monkeypatch.setattr(task, "_MOST_DRAWN", drawn)


@AT_AN_EDGE
def test_settings_of_many_rows_are_compared_on_a_sample_and_one_fold_is_held_out(monkeypatch):
    X, y = problem(9, n=300)
    many(monkeypatch)
    sizes = []
    fit = searching.PairwiseClassifier.fit

    def watched(self, X, *given, **named):
        sizes.append(len(X))
        return fit(self, X, *given, **named)

    monkeypatch.setattr(searching.PairwiseClassifier, "fit", watched)
    options = {**QUICK, "loss": "auto"}
    model = LabelRankerCV([1.0, 10.0], kernel="linear", **options).fit(X, y)
    # The first loss alone; then the fold that is held out, and all rows.
    assert model.n_splits_ == 1
    assert set(model.cv_results_["param_loss"]) == {"squared_hinge"}
    assert all(size < 60 for size in sizes[:-2])
    fold = next(iter(MultilabelStratifiedKFold(3).split(X, y)))
    assert sizes[-2:] == [len(fold[0]), 300]
    assert model.predict_proba(X).shape == y.shape
    assert model.status_ == "converged"
    # The held-out odds are those of a calibrated classifier with this fold.
    inner = clone(model.ranker_).set_params(tol=1e-2)
    alike = CalibratedClassifier(inner, cv=[fold]).fit(X, y)
    np.testing.assert_allclose(model.calibration_.coef_, alike.calibration_.coef_, rtol=1e-6)


def test_folds_that_are_given_are_all_held_out(monkeypatch):
    X, y = problem(9, n=300)
    many(monkeypatch)
    folds = MultilabelStratifiedKFold(4, random_state=1)
    model = LabelRankerCV([1.0], kernel="linear", cv=folds, **QUICK).fit(X, y)
    assert model.n_splits_ == 4


@AT_AN_EDGE
def test_of_settings_that_are_as_good_the_smallest_C_is_fitted_to_many_rows(monkeypatch):
    X, y = problem(9, n=300)
    few = LabelRankerCV([1.0, 10.0, 100.0], kernel="linear", **QUICK).fit(X, y)
    many(monkeypatch, drawn=250)
    model = LabelRankerCV([1.0, 10.0, 100.0], kernel="linear", **QUICK).fit(X, y)
    values = dict(
        zip(model.cv_results_["param_C"], model.cv_results_["mean_test_score"], strict=True)
    )
    near = [C for C, value in values.items() if value >= 0.99 * max(values.values())]
    assert model.best_params_["C"] == min(near)
    assert (
        few.best_params_["C"]
        == max(zip(few.cv_results_["mean_test_score"], few.cv_results_["param_C"], strict=True))[1]
    )


@pytest.mark.parametrize(
    ("hard", "gain", "taken"), [(0, 0.02, "balanced"), (0, 0.005, None), (10**9, 0.0, "balanced")]
)
def test_where_fits_are_hard_a_gain_on_a_sample_has_to_be_one_on_the_fold(
    monkeypatch, hard, gain, taken
):
    X, y = problem(9, n=300)
    many(monkeypatch)
    monkeypatch.setattr(searching, "_HARD", hard)
    fitted, of_fold = [], iter([1.0 + gain, 1.0])
    scored, judge = searching._held_out_scores, fitting.Judge.__call__

    def watched(model, *others):
        fitted.append(model.class_weight)
        return scored(model, *others)

    def told(self, scores):
        judge(self, scores)
        on_sample = 2.0 if fitted[-1] == "balanced" else 1.0
        return np.array([on_sample if len(scores) < 60 else next(of_fold)])

    monkeypatch.setattr(searching, "_held_out_scores", watched)
    monkeypatch.setattr(fitting.Judge, "__call__", told)
    options = {**QUICK, "class_weight": [None, "balanced"]}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        model = LabelRankerCV([1.0], kernel="linear", **options).fit(X, y)
    assert model.best_params_["class_weight"] == taken
    assert model.ranker_.class_weight == taken


def test_a_sample_is_that_of_the_seed(monkeypatch):
    X, y = problem(9, n=300)
    many(monkeypatch)
    one, same, other = (
        LabelRankerCV([1.0], kernel="linear", **{**QUICK, "random_state": seed}).fit(X, y)
        for seed in (0, 0, 1)
    )
    scores = [model.cv_results_["mean_test_score"] for model in (one, same, other)]
    np.testing.assert_array_equal(scores[0], scores[1])
    assert scores[0] != scores[2]
    np.testing.assert_array_equal(one.predict_proba(X), same.predict_proba(X))


def beside_what_is_shared(X):
    """Return small features beside a large one that all of them have, against which C has to be."""
    return 0.05 * X + 0.5 * np.random.default_rng(0).normal(size=(len(X), 1))


def linear_block(X, y, **further):
    """Return the logistic regressions of a stack."""
    options = {**QUICK, "kernel": "linear", "stack": ["linear"]} | further
    model = LabelRankerCV([1.0], **options).fit(X, y)
    return dict(model.best_estimator_[-1].estimators_)["linear"]


def test_logistic_regressions_of_many_rows_have_the_C_that_a_sample_bears(monkeypatch):
    X, y = problem(9, n=300)
    small = beside_what_is_shared(X)
    assert linear_block(small, y).C == 3.0
    many(monkeypatch, drawn=150)
    assert linear_block(small, y).C > 3.0
    assert linear_block(small, y, cv=2, n_jobs=2).C > 3.0
    assert linear_block(small, y, stack=("neighbours", "linear", "lift")).C > 3.0
    assert linear_block(0.5 * X, y).C == 3.0
    # What is given is kept, and few relevant rows choose nothing.
    assert linear_block(small, y, stack=[("linear", LabelLogistic(7.0))]).C == 7.0
    few = y * (np.arange(300) % 3 == 0)[:, None]
    assert linear_block(small, few, loss="squared_hinge").C == 3.0


@pytest.mark.parametrize(("needed", "chosen"), [(1e5, True), (6e5, False)])
def test_a_C_is_chosen_if_there_is_twice_the_time(monkeypatch, needed, chosen):
    X, y = problem(9, n=300)
    many(monkeypatch, drawn=150)
    monkeypatch.setattr("multimargin.blocks.stack.Stack._foretold", lambda *_: needed)
    block = linear_block(beside_what_is_shared(X), y, max_time=1e6)
    assert (block.C > 3.0) == chosen


def test_a_larger_C_of_logistic_regressions_gains_two_hundredths(monkeypatch):
    X, y = problem(9, n=300)
    X = beside_what_is_shared(X)
    many(monkeypatch, drawn=150)
    judged = []
    judge = fitting.Judge.__call__

    def watched(self, scores):
        values = judge(self, scores)
        judged.append(values.mean())
        return values

    monkeypatch.setattr(fitting.Judge, "__call__", watched)
    chosen = linear_block(X, y).C
    # After the only setting of the ranker: 3, 10 and so on, the last one not worth it.
    values = dict(zip((3.0, 10.0, 30.0, 100.0), judged[1:], strict=False))
    ratios = [later / one for one, later in pairwise(values.values())]
    assert all(ratio > 1.02 for ratio in ratios[: list(values).index(chosen)])
    assert all(ratio <= 1.02 for ratio in ratios[list(values).index(chosen) :])


def test_groups_weights_and_views_of_many_rows(monkeypatch):
    X, y = problem(9, n=300)
    many(monkeypatch)
    groups, weights = np.arange(300) // 3, np.random.default_rng(0).integers(0, 3, 300)
    views = [("left", "passthrough", slice(0, 3)), ("right", "passthrough", slice(3, 6))]
    options = {**QUICK, "kernel": "linear", "views": views}
    model = LabelRankerCV([1.0], **options).fit(X, y, weights, groups)
    assert model.n_splits_ == 1
    assert set(model.rankers_) == {"left", "right"}


def test_ctrl_c_in_the_search_of_many_rows_keeps_a_model(monkeypatch):
    X, y = problem(9, n=300)
    many(monkeypatch)

    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(searching.Search, "hold_out", interrupted)
    model = LabelRankerCV([1.0], kernel="linear", **QUICK)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    assert model.status_ == "interrupted"
    assert model.predict_proba(X).shape == y.shape


@AT_AN_EDGE
def test_ctrl_c_after_the_search_of_many_rows_keeps_the_cheapest_model_with_its_own_cut(
    monkeypatch,
):
    X, y = problem(9, n=300)
    many(monkeypatch, drawn=200)

    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(fitting.Member, "fit_ranker", interrupted)
    model = LabelRankerCV([1.0, 10.0, 100.0], kernel="linear", **QUICK)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    assert model.status_ == "interrupted"
    assert model.best_params_["C"] == model.ranker_.C
    # Calibration and cut are learned from the rows that this ranker has not seen.
    _, held_out = next(iter(MultilabelStratifiedKFold(3).split(X, y)))
    scores = model.ranker_.label_scores(X[held_out])
    rough = PooledCalibration(top_k=30).fit(scores, y[held_out])
    np.testing.assert_allclose(
        model.predict_proba(X), rough.predict_proba(model.ranker_.label_scores(X)), atol=1e-2
    )
    cut = F1Threshold().fit(model.label_scores(X[held_out]), y[held_out])
    assert model.threshold_.value_ == pytest.approx(cut.value_, abs=1e-9)


def test_top_k_of_many_labels_is_a_number():
    X, y = problem(9, n=60, q=100)
    tried = LabelRankerCV([1.0], kernel="linear", **{**QUICK, "top_k": "auto"}).fit(X, y)
    assert set(tried.cv_results_["param_top_k"]) == {20, 0.25}
    with pytest.raises(TypeError, match="top_k is 'most'"):
        LabelRankerCV([1.0], top_k="most").fit(X, y)


@pytest.mark.parametrize("calibration", [True, False])
@pytest.mark.parametrize("max_time", [None, 0.05, 30.0])
def test_time_and_calibration_of_many_rows(monkeypatch, calibration, max_time):
    X, y = problem(9, n=300)
    many(monkeypatch)
    options = {**QUICK, "stack": "auto", "calibration": calibration, "max_time": max_time}
    with warnings.catch_warnings():
        # A stack may be left out.
        warnings.simplefilter("ignore", UserWarning)
        model = LabelRankerCV([1.0], kernel="linear", **options).fit(X, y)
    assert np.isfinite(model.best_score_)
    assert model.predict(X).shape == y.shape


@pytest.mark.parametrize(
    ("seconds", "share"), [(0.0, 0.5), (0.5, 0.5), (0.6, 0.4), (0.65, 0.35), (2.0, 0.35)]
)
def test_the_search_leaves_time_for_the_blocks(monkeypatch, seconds, share):
    X, y = problem(9, n=60)
    monkeypatch.setattr("multimargin.blocks.stack.Stack._foretold", lambda *_: 500.0 * seconds)
    ends = []
    run = searching.Search.run

    def watched(self):
        ends.append(self._deadline - time.monotonic())
        run(self)

    monkeypatch.setattr(searching.Search, "run", watched)
    options = {**QUICK, "stack": ["neighbours", "discriminant"]}
    with warnings.catch_warnings():
        # A stack may be left out.
        warnings.simplefilter("ignore", UserWarning)
        LabelRankerCV([1.0], kernel="linear", max_time=1000.0, **options).fit(X, y)
    assert ends == pytest.approx([1000.0 * share], abs=50.0)


def test_the_rows_held_out_of_many_have_time_of_their_own(monkeypatch):
    X, y = problem(9, n=300)
    many(monkeypatch)
    given = []
    scored = searching._held_out_scores

    def watched(model, part, deadline, turns):
        found = scored(model, part, deadline, turns)
        given.append(model.max_time)
        return found

    monkeypatch.setattr(searching, "_held_out_scores", watched)
    monkeypatch.setattr(fitting, "_MOST_OF_SEARCH", 0.0)
    model = LabelRankerCV([1.0], kernel="linear", max_time=60.0, **QUICK).fit(X, y)
    assert given[0] < 0.1
    assert given[-1] > 10.0
    assert model.ranker_.status_ == "converged"


@pytest.mark.parametrize("share", [1.1, 0.9])
def test_models_of_the_sample_score_the_fold_where_an_epoch_takes_too_long(monkeypatch, share):
    X, y = problem(9, n=300)
    many(monkeypatch)
    sizes, judged = [], []
    fit, hold_out = searching.PairwiseClassifier.fit, searching.Search.hold_out

    def watched(self, X, *given, **named):
        sizes.append(len(X))
        return fit(self, X, *given, **named)

    def late(self, folds, seconds, judge):
        # An epoch on the fold takes more than half of the time, or less.
        rows = len(folds[0][0]) / len(self._task.searched[0][0])
        of_sample = share * seconds * self.models[0].n_iter_ / rows
        self.best = replace(self.best, seconds=of_sample)
        self.tried = [self.best]
        hold_out(self, folds, seconds, judge)
        judged.append((self, folds[0][1]))

    monkeypatch.setattr(searching.PairwiseClassifier, "fit", watched)
    monkeypatch.setattr(searching.Search, "hold_out", late)
    model = LabelRankerCV([1.0], kernel="linear", max_time=1e6, **QUICK).fit(X, y)
    [(search, test)] = judged
    assert search.scores.shape == (len(test), y.shape[1])
    assert sizes[-1] == 300
    if share < 1.0:
        assert (sizes[-2], model.status_) == (300 - len(test), "converged")
        return
    assert all(size < 60 for size in sizes[:-1])
    assert (model.status_, model.ranker_.status_) == ("time_limit", "converged")
    scores = search.models[0].label_scores(search._task.parts[0][test])
    np.testing.assert_array_equal(search.scores, scores)
    alike = PooledCalibration().fit(scores, y[test])
    np.testing.assert_allclose(model.calibration_.coef_, alike.coef_, rtol=1e-6)


def test_rankers_of_fewer_pairs_are_always_fitted_to_the_folds(monkeypatch):
    X, y = problem(9, n=300)
    many(monkeypatch, pairs=10**6)
    monkeypatch.setattr(task, "_MOST_DENSE", 100)
    monkeypatch.setattr(searching.Search, "_foretold", lambda *_: np.inf)
    model = LabelRankerCV([1.0], kernel="linear", max_time=1e6, **QUICK).fit(X, y)
    assert model.status_ == "converged"


@pytest.mark.filterwarnings("ignore::multimargin.UnknownLabelsWarning")
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"stack": ["lift"]},
        {"calibration": False},
        {"threshold": RecallGuarantee(0.8), "scoring": "micro_f1"},
        {"threshold": "macro", "scoring": "micro_f1"},
    ],
)
def test_a_fold_of_which_nothing_is_known_changes_no_score(options):
    X, y = problem(n=90)
    y = np.vstack([y, np.full((20, 5), np.nan)])
    X = np.vstack([X, X[:20]])
    known = np.arange(90)
    folds = [(np.delete(known, test), test) for test in np.array_split(known, 3)]
    options = {**QUICK, "kernel": "linear", "scaling": False, **options}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        expected = LabelRankerCV([1.0], cv=folds, **options).fit(X, y)
        further = [*folds, (known[:60], np.arange(90, 110))]
        model = LabelRankerCV([1.0], cv=further, **options).fit(X, y)
        few = LabelRankerCV([1.0], cv=[folds[0], further[-1]], **options).fit(X, y)
    assert model.best_score_ == pytest.approx(expected.best_score_, abs=1e-9)
    assert few.best_score_ > 0.5
