"""LabelBoosting: boosted trees for all labels at once."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.metrics import log_loss

from multimargin import LabelRankerCV, load_model, save_model
from multimargin.blocks import LabelBoosting
from tests.support.problems import noisy_linear_problem

X, Y = noisy_linear_problem(0, 240, 6, 5, cut=0.5)
ROWS, Z = noisy_linear_problem(1, 300, 6, 5, cut=0.5)
# Trees without a choice
WHOLE = {"max_features": 1.0, "random_state": 0}


# From scikit-learn 1.9 on it is the only criterion.
@pytest.mark.filterwarnings("ignore:The parameter `criterion`:FutureWarning")
def test_one_label_is_the_boosting_of_scikit_learn(monkeypatch):
    monkeypatch.setattr("multimargin.blocks.boosting._RIDGE", 1e-12)
    peer = GradientBoostingClassifier(
        n_estimators=30,
        max_leaf_nodes=8,
        min_samples_leaf=5,
        max_depth=None,
        criterion="squared_error",
        random_state=0,
    ).fit(X, Y[:, 0])
    both = Y[:, [0, 0]]
    own = LabelBoosting(30, max_leaf_nodes=8, min_samples_leaf=5, **WHOLE).fit(X, both)
    odds = own.decision_function(ROWS)
    assert_allclose(odds[:, 0], peer.decision_function(ROWS), atol=1e-3)
    assert_allclose(odds[:, 1], odds[:, 0], atol=1e-6)


def test_each_tree_is_a_step_down_the_log_loss():
    losses = [
        log_loss(Y.ravel(), LabelBoosting(n, **WHOLE).fit(X, Y).predict_proba(X).ravel())
        for n in (1, 2, 5, 20, 60)
    ]
    assert (np.diff(losses) < 0.0).all()
    # The first trees are the same, whatever their number.
    many, few = (LabelBoosting(n, max_samples=100, random_state=0).fit(X, Y) for n in (20, 5))
    assert_array_equal(many.values_[: len(few.values_)], few.values_)


def test_unknown_labels_are_left_out_of_the_loss():
    unknown = Y.astype(float)
    unknown[::2, 0] = np.nan
    hidden = LabelBoosting(20, max_leaf_nodes=2, **WHOLE).fit(X, np.delete(unknown, 0, 1))
    # Of a label that is known everywhere nothing changes where trees do not see the others.
    known = LabelBoosting(20, max_leaf_nodes=2, **WHOLE).fit(X, Y[:, 1:])
    assert_array_equal(hidden.predict_proba(ROWS), known.predict_proba(ROWS))
    half = LabelBoosting(40, **WHOLE).fit(X[1::2], np.column_stack([Y[1::2, 0]] * 2))
    marks = np.column_stack([unknown[:, 0]] * 2)
    assert_allclose(
        LabelBoosting(40, **WHOLE).fit(X, marks).intercept_, half.intercept_, atol=1e-12
    )


def test_weights_are_copies_of_rows():
    weights = np.random.default_rng(0).integers(1, 4, size=len(X))
    rows, y, weights = (np.repeat(one, 40, axis=0) for one in (X, Y, weights))
    copies = np.repeat(np.arange(len(rows)), weights)
    options = {"max_leaf_nodes": 6, **WHOLE}
    weighed = LabelBoosting(5, **options).fit(rows, y, weights)
    copied = LabelBoosting(5, **options).fit(rows[copies], y[copies])
    # The ridge is the same for rows of mean weight 1, which are fewer.
    assert_allclose(weighed.predict_proba(ROWS), copied.predict_proba(ROWS), atol=0.02)
    scaled = LabelBoosting(5, **options).fit(rows, y, weights * 1e-200)
    assert_allclose(scaled.predict_proba(ROWS), weighed.predict_proba(ROWS), atol=1e-6)


@pytest.mark.parametrize("options", [{}, {"max_samples": 50}, {"max_rows": 90, "max_samples": 40}])
def test_sparse_features_and_a_saved_model_give_the_same(options, tmp_path):
    dense = LabelBoosting(10, random_state=0, **options).fit(X, Y)
    stored = LabelBoosting(10, random_state=0, **options).fit(sparse.csr_array(X), Y)
    assert_array_equal(dense.predict_proba(ROWS), stored.predict_proba(sparse.csr_array(ROWS)))
    save_model(dense, tmp_path / "model")
    assert_array_equal(load_model(tmp_path / "model").predict(ROWS), dense.predict(ROWS))


@pytest.mark.parametrize(("trees", "labels", "most"), [(3, 5, 10), (1, 2, 25)])
def test_few_sparse_rows_are_held_dense_at_a_time(monkeypatch, trees, labels, most):
    """Beside their six features they have a value for each tree and label."""
    model = LabelBoosting(trees, random_state=0).fit(X, Y[:, :labels])
    rows, expected, held = sparse.csr_array(ROWS), model.predict_proba(ROWS), []

    def watched(features):
        held.append(features.shape[0])
        return LabelBoosting._leaves(model, features)

    monkeypatch.setattr(model, "_leaves", watched)
    monkeypatch.setattr("multimargin.blocks.trees._ENTRIES", 150)
    assert_array_equal(model.predict_proba(rows), expected)
    assert held == [most] * (len(ROWS) // most)


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("n_estimators", 0, "n_estimators is 0; expected an integer of at least 1"),
        ("learning_rate", 1.5, "learning_rate is 1.5; expected"),
        ("max_samples", 0, "max_samples is 0; expected an integer of at least 1"),
        ("max_rows", 0, "max_rows is 0; expected an integer of at least 1"),
        ("n_projections", 0, "n_projections is 0; expected an integer of at least 1"),
        ("max_leaf_nodes", 1, "The 'max_leaf_nodes' parameter"),
    ],
)
def test_bad_parameters(name, value, expected):
    with pytest.raises(ValueError, match=expected):
        LabelBoosting().set_params(**{name: value}).fit(X, Y)


def boxes(n, seed):
    """Rows whose labels are inside of corners of two columns, or not."""
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(n, 8))
    inside = rows > 0.4
    return rows, np.column_stack([inside[:, k] & inside[:, k + 4] for k in range(4)]).astype(int)


def test_a_stack_of_many_rows_learns_what_no_plane_divides(monkeypatch):
    # As many rows would take long.
    monkeypatch.setattr("multimargin.estimators.label_ranker.settings._MOST_ROWS", 500)
    monkeypatch.setattr("multimargin.blocks.by_name._MOST_NEAR", 500)
    monkeypatch.setattr("multimargin.blocks.by_name._MOST_PAIRS", 500)
    rows, y = boxes(1200, 0)
    new, expected = boxes(1000, 1)
    model = LabelRankerCV([1.0], loss="squared_hinge", random_state=0).fit(rows, y)
    assert "boosting" in model.blocks_
    assert "forest" not in model.blocks_
    assert log_loss(expected.ravel(), model.predict_proba(new).ravel()) < 0.2
