import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import NotFittedError
from sklearn.svm import SVC

from multimargin.baselines import WithOneClassLabels
from multimargin.datasets import MultilabelData
from multimargin.methods import BASELINES, make_method

# The others take such labels themselves.
NAMES = [name for name, method in BASELINES.items() if method.estimator is WithOneClassLabels]


@pytest.fixture
def data() -> MultilabelData:
    """Labels that are noisy thresholds of single features."""
    random = np.random.default_rng(0)
    X = random.standard_normal((60, 4))
    Y = (X + 0.3 * random.standard_normal((60, 4)) > 0.2).astype(np.uint8)
    return MultilabelData(X=X, Y=Y, name="small")


def with_constants(Y: np.ndarray) -> np.ndarray:
    """Put a label that no row has before the others and one that every row has behind them."""
    n = len(Y)
    return np.hstack([np.zeros((n, 1), dtype=int), Y, np.ones((n, 1), dtype=int)])


@pytest.mark.parametrize("name", NAMES)
def test_other_labels_are_learned_as_without_them(name: str, data: MultilabelData) -> None:
    plain = make_method(name).fit(data.X, data.Y)
    model = make_method(name).fit(data.X, with_constants(data.Y))
    np.testing.assert_array_equal(model.predict(data.X)[:, 1:-1], plain.predict(data.X))
    scores = model.decision_function(data.X)
    np.testing.assert_allclose(scores[:, 1:-1], plain.decision_function(data.X))
    np.testing.assert_array_equal(model.labels_with_one_class_, [0, data.n_labels + 1])


@pytest.mark.parametrize("name", NAMES)
def test_constants_are_ranked_last_and_first(name: str, data: MultilabelData) -> None:
    model = make_method(name).fit(data.X, with_constants(data.Y))
    predicted, scores = model.predict(data.X), model.decision_function(data.X)
    assert not predicted[:, 0].any()
    assert predicted[:, -1].all()
    assert (scores[:, 0] < scores[:, 1:].min(axis=1)).all()
    assert (scores[:, -1] > scores[:, :-1].max(axis=1)).all()


@pytest.mark.parametrize("name", NAMES)
def test_one_label_left(name: str, data: MultilabelData) -> None:
    model = make_method(name).fit(data.X, with_constants(data.Y[:, :1]))
    assert model.predict(data.X).shape == (data.n_samples, 3)
    assert np.isfinite(model.decision_function(data.X)).all()


def test_one_label_left_is_a_binary_problem(data: MultilabelData) -> None:
    model = make_method("ovr-svc").fit(data.X, with_constants(data.Y[:, :1]))
    binary = SVC().fit(data.X, data.Y[:, 0])
    scores = model.decision_function(data.X)[:, 1]
    np.testing.assert_allclose(scores, binary.decision_function(data.X))
    np.testing.assert_array_equal(model.predict(data.X)[:, 1], binary.predict(data.X))


@pytest.mark.parametrize("name", NAMES)
def test_no_label_left(name: str, data: MultilabelData) -> None:
    model = make_method(name).fit(data.X, np.tile([1, 0], (data.n_samples, 1)))
    np.testing.assert_array_equal(model.predict(data.X[:2]), [[1, 0], [1, 0]])
    np.testing.assert_array_equal(model.decision_function(data.X[:2]), [[1.0, 0.0], [1.0, 0.0]])


@pytest.mark.parametrize("name", NAMES)
def test_sparse_rows(name: str, data: MultilabelData) -> None:
    rows = sparse.csr_array(data.X)
    dense, model = (make_method(name).fit(X, data.Y) for X in (data.X, rows))
    agree = dense.predict(data.X) == model.predict(rows)
    assert agree.mean() > 0.98


def test_unfitted(data: MultilabelData) -> None:
    with pytest.raises(NotFittedError):
        make_method("knn").predict(data.X)


def test_malformed_labels(data: MultilabelData) -> None:
    with pytest.raises(ValueError, match=r"values other than 0 and 1"):
        make_method("knn").fit(data.X, 2.0 * data.Y)


def test_what_is_passed_in_is_not_fitted(data: MultilabelData) -> None:
    inner = BASELINES["knn"].make().estimator
    WithOneClassLabels(inner).fit(data.X, data.Y)
    assert not hasattr(inner, "classes_")
