"""RankSVM as a scikit-learn estimator: conventions, bad input, kinds of data, life of a model."""

import re

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning, DataConversionWarning
from sklearn.feature_extraction.text import TfidfTransformer

from multimargin import RankSVM
from multimargin.datasets import load_debian_tags
from multimargin.reference import exact
from tests.support.problems import noisy_linear_problem
from tests.support.subsets import first_fast

SOLVERS = ("bcd", "dcd", "frank-wolfe")


X, Y = noisy_linear_problem(0, 60, 4, 4, noise=0.5)


def same_model(one, other):
    assert hasattr(one, "coef_") == hasattr(other, "coef_")
    # A linear model keeps its dual variables for a warm start only.
    duals = hasattr(one, "dual_coef_")
    for name in ("dual_coef_", "support_") if duals else ("coef_",):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
    np.testing.assert_array_equal(one.intercept_, other.intercept_)
    assert one.objective_ == other.objective_


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("kernel", first_fast(["linear", "rbf"], 1))
def test_kinds_of_input_give_one_model(kernel, solver):
    model = RankSVM(kernel=kernel, gamma=0.3, solver=solver, tol=1e-2, random_state=0)
    if solver == "frank-wolfe":
        model.set_params(tol=0.1)
    expected = clone(model).fit(X, Y).label_scores(X)
    kinds = [
        (X.tolist(), Y.tolist()),
        (np.asfortranarray(X), np.asfortranarray(Y)),
        (np.repeat(X, 2, axis=0)[::2], Y.astype(bool)),
        (X, Y.astype(np.int8)),
        (X, sparse.csr_array(Y)),
        (X, sparse.csc_matrix(Y)),
        (pd.DataFrame(X), pd.DataFrame(Y)),
        (X, Y.astype(float)),
        (X, Y.astype(object)),
    ]
    for kind in kinds:
        np.testing.assert_array_equal(clone(model).fit(*kind).label_scores(kind[0]), expected)
    features = X.astype(np.float32).astype(float)
    single = clone(model).fit(X.astype(np.float32), Y).label_scores(features)
    np.testing.assert_array_equal(single, clone(model).fit(features, Y).label_scores(features))


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_sparse_features_with_entries_in_parts_and_out_of_order(kernel):
    rows = np.where(np.abs(X) > 0.5, X, 0.0)
    # Every entry in two halves, from the last column to the first.
    tidy = sparse.csr_matrix(rows)
    parts = [np.repeat(tidy[i].indices[::-1], 2) for i in range(60)]
    data = [np.repeat(tidy[i].data[::-1] / 2, 2) for i in range(60)]
    counts = np.cumsum([0, *map(len, parts)])
    untidy = sparse.csr_matrix((np.concatenate(data), np.concatenate(parts), counts), (60, 4))
    before = untidy.copy()
    model = RankSVM(kernel=kernel, gamma="scale", tol=1e-7, max_iter=100_000, random_state=0)
    expected = clone(model).fit(tidy, Y)
    fitted = clone(model).fit(untidy, Y)
    assert fitted.objective_ == pytest.approx(expected.objective_, rel=1e-6)
    for data in (untidy, tidy):
        scores = expected.label_scores(data)
        np.testing.assert_allclose(scores, expected.label_scores(rows), atol=1e-10)
        np.testing.assert_allclose(fitted.label_scores(data), scores, atol=5e-3)
    np.testing.assert_array_equal(untidy.data, before.data)
    np.testing.assert_array_equal(untidy.indices, before.indices)


def test_names_of_labels_and_features():
    names = ["happy", "sad", "calm", "angry"]
    features = pd.DataFrame(X, columns=list("abcd"))
    model = RankSVM().fit(features, pd.DataFrame(Y, columns=names))
    assert list(model.label_names_in_) == names
    assert list(model.feature_names_in_) == list("abcd")
    np.testing.assert_array_equal(model.classes_, np.arange(4))
    assert model.predict(features).shape == (60, 4)
    with pytest.raises(ValueError, match="feature names"):
        model.predict(features.rename(columns={"a": "z"}))
    model.fit(X, Y)
    assert not hasattr(model, "label_names_in_")
    assert not hasattr(model, "feature_names_in_")


def test_text_classes():
    iris = load_iris()
    names = iris.target_names[iris.target]
    model = RankSVM(C=10.0, random_state=0).fit(iris.data, names)
    assert list(model.classes_) == ["setosa", "versicolor", "virginica"]
    assert not model.multilabel_
    decision = model.decision_function(iris.data)
    np.testing.assert_array_equal(decision, model.label_scores(iris.data))
    predicted = model.predict(iris.data)
    np.testing.assert_array_equal(predicted, model.classes_[decision.argmax(axis=1)])
    assert model.score(iris.data, names) > 0.95


def test_two_classes():
    y = np.where(Y[:, 0] == 1, 7, -3)
    model = RankSVM(random_state=0).fit(X, y)
    np.testing.assert_array_equal(model.classes_, [-3, 7])
    decision, scores = model.decision_function(X), model.label_scores(X)
    assert decision.shape == (60,)
    np.testing.assert_array_equal(decision, scores[:, 1] - scores[:, 0])
    np.testing.assert_array_equal(model.predict(X), np.where(decision > 0, 7, -3))
    with pytest.warns(DataConversionWarning, match="A column-vector y was passed"):
        column = RankSVM(random_state=0).fit(X, y[:, None])
    same_model(column, model)


@pytest.mark.parametrize("threshold", ["scores", "features", 0.25])
def test_relations_of_scores_decisions_and_predictions(threshold):
    model = RankSVM(threshold=threshold, random_state=0).fit(X, Y)
    scores, decision = model.label_scores(X), model.decision_function(X)
    t = scores - decision
    np.testing.assert_allclose(t, np.tile(t[:, :1], 4), atol=1e-12)
    np.testing.assert_allclose(t[:, 0], model.threshold_.predict(scores, X), atol=1e-12)
    np.testing.assert_array_equal(model.predict(X), (decision > 0).astype(int))
    if threshold == 0.25:
        np.testing.assert_allclose(t, 0.25, atol=1e-12)
    assert (model.dual_coef_ != 0).any(axis=1).all()
    np.testing.assert_array_equal(model.support_vectors_, X[model.support_])


def test_random_state():
    model = RankSVM(C=10.0, tol=1e-4)
    one, same = (clone(model).set_params(random_state=5).fit(X, Y) for _ in range(2))
    same_model(one, same)
    one, same = (
        clone(model).set_params(random_state=np.random.RandomState(5)).fit(X, Y) for _ in range(2)
    )
    same_model(one, same)
    other = clone(model).set_params(random_state=6).fit(X, Y)
    assert not np.array_equal(one.dual_coef_, other.dual_coef_)


def test_warning_of_an_early_stop():
    model = RankSVM(C=1000.0, max_iter=2, tol=1e-6, random_state=0)
    with pytest.warns(ConvergenceWarning) as record:
        model.fit(X, Y)
    assert model.status_ == "max_iterations"
    assert model.n_iter_ == 2
    text = str(record[0].message)
    for part in (
        "RankSVM ended (max_iterations) after 2 of max_iter=2 epochs",
        f"relative duality gap of {model.dual_gap_:.3g}, above tol=1e-06",
        "Increase max_iter or tol, decrease C, or scale the features",
    ):
        assert part in text
    assert record[0].filename == __file__


@pytest.mark.parametrize("C", [0.03, 0.1, 0.3])
def test_prices_find_the_free_bias_of_text(C):
    """Five to seven epochs; 14 to 23 with prices of the other sign."""
    data = load_debian_tags()
    X, Y = TfidfTransformer(sublinear_tf=True).fit_transform(data.X[:800]), data.Y[:800]
    model = RankSVM(kernel="linear", C=C, bias="free", tol=1e-4, threshold=0.0, random_state=0)
    assert model.fit(X, Y).n_iter_ <= 7
    assert model.status_ == "converged"


def test_verbose_prints_one_line_an_epoch(capsys):
    model = RankSVM(verbose=1, random_state=0).fit(X, Y)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == model.n_iter_
    for epoch, line in enumerate(lines, start=1):
        found = re.match(
            rf"\[RankSVM\] epoch +{epoch} +[\d.]+ s  primal (\S+)  dual (\S+)  gap (\S+)  ", line
        )
        assert found
        primal, dual, gap = map(float, found.groups())
        assert gap == pytest.approx((primal - dual) / primal, rel=0.01, abs=1e-7)
    silent = RankSVM(random_state=0).fit(X, Y)
    assert capsys.readouterr().out == ""
    same_model(silent, model)


def test_progress_bar(capsys):
    callback = pytest.importorskip("sklearn.callback", reason="scikit-learn before 1.9")
    model = RankSVM(random_state=0).set_callbacks(callback.ProgressBar()).fit(X, Y)
    assert "RankSVM" in capsys.readouterr().out
    assert model.status_ == "converged"


@pytest.mark.parametrize("solver", ["bcd", "dcd"])
@pytest.mark.parametrize("offset", [10.0, 1000.0])
def test_features_far_from_zero_are_no_harder(solver, offset):
    far = X + offset
    kept = far.copy()
    model = RankSVM(
        C=1.0, kernel="linear", solver=solver, tol=1e-6, max_iter=100_000, random_state=0
    )
    model.set_params(warm_start=True).fit(far, Y)
    assert model.status_ == "converged"
    # The mean makes no difference to the optimum, and the exact solver is given centred features.
    exactly = exact.hinge((X - X.mean(0)) @ (X - X.mean(0)).T, Y, 1.0, "free")
    assert model.objective_ == pytest.approx(exactly.lower, rel=1e-6)
    # Weights and dual variables are each within their part of the gap of the optimum.
    expanded = model.support_vectors_.T @ model.dual_coef_
    between = np.sum((model.coef_.T - expanded) ** 2)
    assert between <= 4.0 * (model.objective_ - model.dual_objective_) + 1e-12
    np.testing.assert_array_equal(far, kept)
    first = model.n_iter_
    assert model.fit(far, Y).n_iter_ < max(2, first / 2)
