import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.base import clone
from sklearn.multiclass import OneVsRestClassifier
from sklearn.svm import SVC, LinearSVC

from multimargin.compare import run_experiment
from multimargin.datasets import MultilabelData
from multimargin.measures import ranking_average_precision
from multimargin.methods import BASELINES, METHODS, make_method
from tests.support.subsets import first_fast


def test_names_are_new_and_lead_to_themselves():
    assert not set(BASELINES) & set(METHODS)
    assert all(method.name == name for name, method in {**METHODS, **BASELINES}.items())


def test_grids_are_grids_of_the_estimator():
    for method in BASELINES.values():
        for key, values in method.grid.items():
            for value in values:
                clone(method.make()).set_params(**{key: value})


def test_parameters_are_those_of_the_inner_estimator():
    assert make_method("ovr-svc", C="2^3").estimator.estimator.C == 8.0
    # The chain's parameter is "base_estimator" before scikit-learn 1.7.
    chain = make_method("classifier_chain", gamma=0.5).estimator.get_params(deep=False)
    assert [inner.gamma for inner in chain.values() if isinstance(inner, SVC)] == [0.5]
    assert make_method("KNN", n_neighbors=3).estimator.n_neighbors == 3


def test_rivals():
    assert make_method("MLkNN", smoothing="0.5").get_params()["smoothing"] == 0.5
    assert make_method("rakel", k="2", C="3").estimator.C == 3.0
    # The pattern of the table is not shared; the defaults are those of the papers.
    assert make_method("rakel").estimator.C == 1.0
    assert make_method("ml-knn").get_params() == {"n_neighbors": 10, "smoothing": 1.0}
    bpmll = make_method("bp-mll")
    assert (bpmll.hidden, bpmll.learning_rate, bpmll.n_epochs, bpmll.decay) == (0.2, 0.05, 100, 0.1)
    assert (make_method("rakel").k, make_method("rakel").n_models) == (3, None)


def many_labels(dtype):
    """Return rows around 60 unit vectors, with five labels a vector: 300 labels."""
    random = np.random.default_rng(0)
    group = np.repeat(np.arange(60), 4)
    X = np.eye(60)[group] + 0.02 * random.standard_normal((group.size, 60))
    return X, np.repeat(np.eye(60), 5, axis=1)[group].astype(dtype)


# 45,000 pairs, and epochs: their labels take the
# way of the other estimators of `multimargin.baselines`.
SLOW = {"clr", "bp-mll", "ovr-boosting"}


# Sums of labels by counting, by products and by classifiers of several kinds.
COUNTING = ("ml-knn", "label-powerset", "cc", "rakel")


@pytest.mark.parametrize("dtype", first_fast([np.uint8, np.int64], 1))
@pytest.mark.parametrize(
    "name",
    first_fast(
        sorted(BASELINES.keys() - SLOW - {"dummy"}, key=lambda name: (name not in COUNTING, name)),
        3,
    ),
)
def test_more_labels_than_a_byte_counts(name, dtype):
    X, Y = many_labels(dtype)
    small = {
        **{key: {"n_neighbors": 3} for key in ("knn", "ml-knn")},
        **{key: {"C": 100.0} for key in ("bsvm", "cc", "rakel", "label-powerset")},
        "random-forest": {"n_estimators": 10},
    }
    model = make_method(name, **small.get(name, {}))
    model.fit(X[::2], Y[::2])
    scores = model.decision_function(X[1::2])
    chance = ranking_average_precision(Y[1::2], np.random.default_rng(1).random(scores.shape))
    assert chance < 0.05
    assert ranking_average_precision(Y[1::2], scores) > 0.9
    assert model.predict(X[1::2]).dtype == np.int64


def test_frequencies_of_more_labels_than_a_byte_counts():
    X = np.zeros((360, 1))
    Y = (np.arange(len(X))[:, None] <= np.arange(300)).astype(np.uint8)
    model = make_method("dummy").fit(X, Y)
    assert_allclose(model.decision_function(X[:1])[0] + 0.5, Y.mean(axis=0))


def test_experiments_hand_out_labels_that_scikit_learn_can_number():
    X, Y = many_labels(np.uint8)
    splits = {"train": np.arange(0, len(X), 2), "test": np.arange(1, len(X), 2)}
    data = MultilabelData(X, Y, name="many", splits=splits)
    bare = OneVsRestClassifier(LinearSVC(random_state=0))
    (result,) = run_experiment(data, {"bare": bare}, cv="official")
    assert result.error is None
    assert result.measures["ranking_average_precision"] > 0.9
