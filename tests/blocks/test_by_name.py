"""The classifiers that LabelRankerCV stacks with its ranker."""

import numpy as np
import pytest
from scipy import sparse
from sklearn import config_context
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold
from sklearn.multiclass import OneVsRestClassifier

from multimargin import CalibratedClassifier, LabelRankerCV, RankSVM, ThresholdedClassifier
from multimargin.blocks import (
    LabelBoosting,
    LabelDiscriminant,
    LabelForest,
    LabelKernelRidge,
    LabelNeighbours,
)
from multimargin.blocks.by_name import BLOCKS, Data
from multimargin.calibration import calibrated
from multimargin.measures import micro_f1
from multimargin.tuning import MultilabelStratifiedKFold
from tests.estimators.test_label_ranker import problem

QUICK = {"loss": "squared_hinge", "class_weight": None, "top_k": None, "random_state": 0}


def text(seed=0):
    X, y = problem(seed)
    # Of so many columns that they are words.
    return sparse.hstack([np.maximum(X, 0.0), sparse.csr_array((len(X), 600))], format="csr"), y


def test_which_blocks_by_the_features():
    X, y = problem()
    dense = LabelRankerCV([10.0], **QUICK).fit(X, y)
    assert dense.blocks_ == (
        "ranker",
        "discriminant",
        "kernel_ridge",
        "boosting",
        "neighbours",
        "forest",
        "lift",
    )
    words = LabelRankerCV([10.0], **QUICK).fit(*text())
    assert words.blocks_ == ("ranker", "linear", "neighbours", "forest", "lift")
    full = LabelRankerCV([10.0], stack="full", **QUICK).fit(*text())
    balanced = ("ranker", "linear", "balanced", "neighbours", "forest", "lift")
    assert full.blocks_ == balanced
    alone = LabelRankerCV([10.0], stack=None, **QUICK).fit(X, y)
    assert alone.blocks_ == ("ranker",)
    own = RandomForestClassifier(10, random_state=0)
    named = LabelRankerCV([10.0], stack=["linear", own], **QUICK).fit(X, y)
    assert named.blocks_ == ("ranker", "linear", "randomforestclassifier")
    assert 0.0 <= words.calibration_.gap_ < 1e-8


def test_twice_as_many_boosted_trees_take_half_the_step():
    few, many = (BLOCKS["boosting"](Data(text()[0], 3, 0, full)) for full in (False, True))
    assert many.n_estimators == 2 * few.n_estimators
    assert many.learning_rate == 0.5 * few.learning_rate


def rare_words(seed=0):
    """Words of rows of which most have no label."""
    X, y = text(seed)
    y[np.random.default_rng(seed).random(len(y)) < 0.6] = 0
    return X, y


def test_where_most_rows_have_no_label_the_first_block_is_linear(monkeypatch):
    model = LabelRankerCV([10.0], **QUICK).fit(*rare_words())
    assert model.blocks_ == ("linear", "ranker", "neighbours", "forest", "lift")
    ranker = dict(model.best_estimator_[-1].estimators_)["ranker"]
    assert ranker is model.ranker_
    assert model.n_features_in_ == rare_words()[0].shape[1]
    # Words of rows that have labels have the ranker first, and so has one without that block.
    others = LabelRankerCV([10.0], stack=["neighbours"], **QUICK).fit(*rare_words())
    assert others.blocks_ == ("ranker", "neighbours")
    words, y = rare_words()
    few = LabelRankerCV([10.0], **QUICK).fit(words[:, :6], y)
    assert few.blocks_ == (
        "linear",
        "ranker",
        "kernel_ridge",
        "boosting",
        "neighbours",
        "forest",
        "lift",
    )
    monkeypatch.setattr("multimargin.blocks.by_name._MOST_PAIRS", 1)
    many = LabelRankerCV([10.0], **QUICK).fit(words[:, :6], y)
    assert many.blocks_ == (
        "ranker",
        "discriminant",
        "kernel_ridge",
        "boosting",
        "neighbours",
        "lift",
    )


def test_neighbours_of_too_many_rows_are_left_out(monkeypatch):
    monkeypatch.setattr("multimargin.blocks.by_name._MOST_NEAR", 149)
    words = LabelRankerCV([10.0], **QUICK).fit(*text())
    assert words.left_out_ == {"neighbours": "150 rows are more than 149"}
    assert "neighbours" not in LabelRankerCV([10.0], **QUICK).fit(*problem()).blocks_
    # What is named is taken.
    named = LabelRankerCV([10.0], stack=["neighbours"], **QUICK).fit(*text())
    assert named.blocks_ == ("ranker", "neighbours")


@pytest.mark.parametrize("data", [problem, text, rare_words])
def test_one_setting_is_a_calibrated_classifier_to_the_bit(data):
    X, y = data()
    options = {**QUICK, "kernel": "linear", "tol": 1e-2, "cv_tol": 1e-2}
    model = LabelRankerCV([10.0], **options).fit(X, y)
    again = clone(model.best_estimator_).fit(X, y)
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    np.testing.assert_array_equal(model.best_estimator_.predict(X), model.predict(X))


def test_held_out_scores_of_a_row_do_not_see_its_own_labels(monkeypatch):
    X, y = problem(1)
    folds = list(MultilabelStratifiedKFold(3).split(X, y))
    seen = []

    def spy(held_out, **named):
        seen.append(held_out)
        return estimator_calibrate(held_out, **named)

    estimator_calibrate = calibrated.calibrate
    monkeypatch.setattr(calibrated, "calibrate", spy)
    model = LabelRankerCV([10.0], cv=folds, stack="full", kernel="linear", **QUICK)
    changed = y.copy()
    changed[7] = 1 - changed[7]
    model.fit(X, y)
    model.fit(X, changed)
    before, after = seen
    assert len(before.blocks) == 6
    own = before.rows == 7
    for one, other in zip(before.blocks, after.blocks, strict=True):
        np.testing.assert_array_equal(one[own], other[own])
        assert (one[~own] != other[~own]).any()


def test_the_order_of_blocks_and_labels_does_not_matter():
    X, y = text(2)
    folds = list(MultilabelStratifiedKFold(3).split(X, y))
    options = {**QUICK, "cv": folds, "tol": 1e-8, "cv_tol": 1e-8}
    one = LabelRankerCV([10.0], stack=["linear", "neighbours"], **options).fit(X, y)
    other = LabelRankerCV([10.0], stack=["neighbours", "linear"], **options).fit(X, y)
    np.testing.assert_allclose(one.predict_proba(X), other.predict_proba(X), atol=1e-6)
    order = np.random.default_rng(0).permutation(y.shape[1])
    turned = LabelRankerCV([10.0], stack=["linear", "neighbours"], **options).fit(X, y[:, order])
    p = one.predict_proba(X)[:, order]
    np.testing.assert_allclose(p, turned.predict_proba(X), atol=1e-4)


def test_a_stack_is_better_where_the_ranker_is_the_wrong_model(monkeypatch):
    monkeypatch.setattr("multimargin.blocks.by_name._TREES", 50)
    rng = np.random.default_rng(0)
    X = rng.random((600, 4))
    y = ((np.floor(6 * X) % 2).sum(axis=1)[:, None] == np.arange(4)).astype(int)
    rows, test = slice(0, 300), slice(300, None)
    options = {**QUICK, "kernel": "linear"}
    alone = LabelRankerCV([1.0], stack=None, **options).fit(X[rows], y[rows])
    stacked = LabelRankerCV([1.0], **options).fit(X[rows], y[rows])
    assert micro_f1(y[test], stacked.predict(X[test])) > 0.02 + micro_f1(
        y[test], alone.predict(X[test])
    )


def test_weights_unknown_labels_and_sparse_labels():
    X, y = text(3)
    weights = np.ones(len(y))
    weights[:5] = 0.0
    changed = y.copy()
    changed[:5] = 1 - changed[:5]
    folds = list(MultilabelStratifiedKFold(3).split(X, y))
    model = LabelRankerCV([10.0], cv=folds, stack=["linear", "neighbours"], **QUICK)
    p = model.fit(X, y, weights).predict_proba(X)
    np.testing.assert_allclose(p, clone(model).fit(X, changed, weights).predict_proba(X), atol=1e-6)
    model = LabelRankerCV([10.0], **QUICK)
    p = model.fit(X, y).predict_proba(X)
    np.testing.assert_array_equal(p, clone(model).fit(X, sparse.csr_array(y)).predict_proba(X))
    unknown = y.astype(float)
    unknown[0, 0] = np.nan
    model.fit(X, unknown)
    assert model.blocks_ == ("ranker", "linear", "neighbours", "forest", "lift")


@pytest.mark.parametrize("positives", [0, 1, 2])
def test_labels_of_few_rows(positives):
    X, y = text(4)
    y = np.column_stack([y, np.arange(len(y)) < positives])
    with pytest.warns(UserWarning, match="y has 1 label with fewer relevant rows than the 3"):
        model = LabelRankerCV([10.0], **QUICK).fit(X, y)
    p = model.predict_proba(X)
    assert np.isfinite(p).all()
    assert p[:, 5].mean() < 0.2


@pytest.mark.parametrize("q", [2, 3])
def test_few_labels_and_classes(q):
    X, y = problem(5, q=q)
    y[:40, 0], y[40:80, 0] = 0, 1
    model = LabelRankerCV([10.0], **QUICK).fit(X, y)
    assert model.predict(X).shape == y.shape
    classes = np.array(list("xyz"))[y.argmax(axis=1)]
    model.fit(X, classes)
    assert (model.predict(X) == classes).mean() > 0.7
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1.0)
    assert model.decision_function(X).shape == ((len(X),) if q == 2 else (len(X), 3))


def test_the_decision_of_two_classes_is_the_ratio_of_their_probabilities():
    X, y = problem(5)
    model = LabelRankerCV([10.0], **QUICK).fit(X, y[:, 0])
    p = model.predict_proba(X)
    np.testing.assert_allclose(model.decision_function(X), np.log(p[:, 1] / p[:, 0]), atol=1e-12)
    np.testing.assert_array_equal(model.decision_function(X) > 0.0, model.predict(X) == 1)


def test_what_time_has_no_room_for_is_left_out_by_name(monkeypatch):
    X, y = problem(6, n=500)
    free = (LabelBoosting, LabelDiscriminant, LabelKernelRidge, LabelNeighbours)
    foretold = dict.fromkeys(free, 0.0)
    foretold[LabelForest] = 1e9
    monkeypatch.setattr(
        "multimargin.blocks.stack.Stack._foretold", lambda self, name, block: foretold[type(block)]
    )
    model = LabelRankerCV([10.0], max_time=1e6, **QUICK)
    with pytest.warns(UserWarning, match="stack leaves out forest for lack of time"):
        model.fit(X, y)
    assert model.blocks_ == (
        "ranker",
        "discriminant",
        "kernel_ridge",
        "boosting",
        "neighbours",
        "lift",
    )
    assert list(model.left_out_) == ["forest"]


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_without_time_the_ranker_is_what_the_first_setting_gives():
    X, y = problem(6, n=400)
    model = LabelRankerCV(max_time=1e-3, random_state=0).fit(X, y)
    assert model.blocks_ == ("ranker",)
    named = {"discriminant", "kernel_ridge", "boosting", "forest", "neighbours", "lift"}
    assert named == set(model.left_out_)
    assert model.status_ == "time_limit"
    assert len(model.cv_results_["params"]) == 1


@pytest.mark.parametrize("phase", ["fit", "predict_proba"])
def test_an_interruption_in_the_stack_keeps_the_ranker(monkeypatch, phase):
    X, y = problem(7)

    def press_ctrl_c(*arguments, **named):
        raise KeyboardInterrupt

    model = LabelRankerCV([10.0], **QUICK)
    with monkeypatch.context() as patched:
        patched.setattr(LabelForest, phase, press_ctrl_c)
        with pytest.raises(KeyboardInterrupt):
            model.fit(X, y)
    assert (model.status_, model.blocks_) == ("interrupted", ("ranker",))
    assert not model.ranker_.warm_start
    assert model.predict_proba(X).shape == y.shape


def test_an_interrupted_linear_model_holds_no_training_rows(monkeypatch):
    X, y = text(7)

    def press_ctrl_c(*arguments, **named):
        raise KeyboardInterrupt

    monkeypatch.setattr(LabelNeighbours, "fit", press_ctrl_c)
    model = LabelRankerCV([10.0], stack=["neighbours"], **QUICK)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    assert not hasattr(model.ranker_, "support_vectors_")
    assert model.predict(X).shape == y.shape


def test_what_is_no_stack_is_named():
    X, y = problem(8)
    for parameters, message in (
        ({"stack": "all"}, "stack is 'all'; expected None, 'auto', 'full' or a list"),
        ({"stack": 3}, "stack is 3; expected None, 'auto', 'full' or a list"),
        ({"stack": ["trees"]}, "stack has 'trees'; expected some of 'linear', 'balanced', "),
        ({"stack": ["linear", "linear"]}, "expected unique names"),
        ({"stack": [1, 2]}, r"stack is \[1, 2\]; expected a classifier"),
        ({"stack": "full", "calibration": False}, "stack is 'full' with calibration=False"),
    ):
        with pytest.raises((TypeError, ValueError), match=message):
            LabelRankerCV([10.0], **QUICK, **parameters).fit(X, y)


def test_several_classifiers_are_calibrated_together():
    X, y = problem(9)
    logistic = OneVsRestClassifier(LogisticRegression())
    model = CalibratedClassifier([("svm", RankSVM(random_state=0)), ("log", logistic)]).fit(X, y)
    assert [name for name, _ in model.estimators_] == ["svm", "log"]
    assert model.calibration_.label_coef_.shape == (2, 5)
    alone = CalibratedClassifier(RankSVM(random_state=0)).fit(X, y)
    assert np.abs(alone.predict_proba(X) - model.predict_proba(X)).max() > 1e-3
    for wrong in ([], [("a", logistic), ("a", logistic)], ["svm"], [("a", 1)]):
        with pytest.raises(TypeError, match=r"estimator is .*; expected a classifier"):
            CalibratedClassifier(wrong).fit(X, y)
    with pytest.raises(TypeError, match="estimator is a list; expected one classifier"):
        ThresholdedClassifier([logistic, logistic]).fit(X, y)


@pytest.mark.parametrize("wrapper", [CalibratedClassifier, ThresholdedClassifier])
def test_groups_and_routed_weights(wrapper):
    X, y = problem(10)
    groups = np.arange(len(y)) % 10
    inner = RankSVM(random_state=0, kernel="linear")
    expected = wrapper(inner, cv=list(GroupKFold(3).split(X, y, groups))).fit(X, y)
    found = wrapper(inner, cv=3).fit(X, y, groups=groups)
    np.testing.assert_array_equal(found.decision_function(X), expected.decision_function(X))
    weights = np.arange(len(y)) % 3 + 1.0
    weighted = wrapper(inner, cv=GroupKFold(3)).fit(X, y, weights, groups)
    with config_context(enable_metadata_routing=True):
        asking = clone(inner).set_fit_request(sample_weight=True)
        routed = wrapper(asking, cv=GroupKFold(3)).fit(X, y, sample_weight=weights, groups=groups)
    np.testing.assert_array_equal(routed.decision_function(X), weighted.decision_function(X))
    with pytest.raises(TypeError, match="fit is given colour; expected only sample_weight"):
        wrapper(inner).fit(X, y, colour=1)
