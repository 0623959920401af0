"""The search over one parameter at a time."""

import pickle

import numpy as np
import pytest
from joblib import parallel_config
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.model_selection import KFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler

from multimargin import RankSVM
from multimargin.measures import SCORERS, get_scorer
from multimargin.tuning import LazySearchCV, MultilabelStratifiedKFold
from tests.support.problems import noisy_linear_problem
from tests.support.subsets import first_fast

X, Y = noisy_linear_problem(0, 60, 4, 3, noise=0.5, cut=0.2)


class Surface(ClassifierMixin, BaseEstimator):
    """Scores by a function of its parameters, so that the search's way is known."""

    def __init__(self, a=0, b=0, c=0):
        self.a, self.b, self.c = a, b, c

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return np.zeros(len(X), dtype=int)


def surface(estimator, X, y):
    # The best b depends on a, so that one round misses the best pair.
    return -((estimator.a - 2) ** 2) - (estimator.b - estimator.a - 1) ** 2 - estimator.c**2


def run(grid, **arguments):
    X, y = np.zeros((6, 1)), np.tile([0, 1], 3)
    return LazySearchCV(Surface(), grid, scoring=surface, **arguments).fit(X, y)


def test_one_parameter_at_a_time():
    search = run({"a": [0, 1, 2, 3], "b": [0, 1, 2, 3, 4]})
    # a at b = 0: -(a - 2)^2 - (a + 1)^2 is best for a = 0 and 1, the first wins; then b = 1.
    tried = [(p["a"], p["b"]) for p in search.cv_results_["params"]]
    assert tried == [(0, 0), (1, 0), (2, 0), (3, 0), (0, 1), (0, 2), (0, 3), (0, 4)]
    assert list(search.cv_results_["tuned"]) == ["a"] * 4 + ["b"] * 4
    assert search.best_params_ == {"a": 0, "b": 1}
    assert search.best_score_ == -4.0
    assert search.best_estimator_.get_params() == {"a": 0, "b": 1, "c": 0}


def test_rounds_go_on_while_they_change_something():
    grid = {"a": [0, 1, 2, 3], "b": [0, 1, 2, 3, 4]}
    scores = [run(grid, n_rounds=n).best_score_ for n in (1, 2, 3, 9)]
    assert scores == sorted(scores)
    last = run(grid, n_rounds=50)
    n_tried = len(last.cv_results_["params"])
    assert n_tried < 20
    assert len({tuple(p.values()) for p in last.cv_results_["params"]}) == n_tried


def test_start():
    search = run({"a": [1, 2], "b": [2, 3]}, start={"b": 3, "c": 0.5})
    assert search.cv_results_["params"][0] == {"a": 1, "b": 3, "c": 0.5}
    assert search.best_params_ == {"a": 2, "b": 3, "c": 0.5}
    # A start outside of the list that beats the whole list stays.
    assert run({"b": [5, 6]}, start={"a": 2, "b": 3}).best_params_ == {"a": 2, "b": 5}
    assert run({"a": [2], "b": [5, 6]}, start={"b": 3}).best_params_ == {"a": 2, "b": 3}


def test_the_papers_procedure():
    criterion = get_scorer("neg_ranking_hamming")
    grid = {"gamma": [0.1, 0.5, 2.0], "C": [0.5, 1.0, 4.0]}
    search = LazySearchCV(RankSVM(random_state=0), grid, scoring=criterion).fit(X, Y)

    def score(gamma, C):
        model = RankSVM(gamma=gamma, C=C, random_state=0)
        return cross_val_score(model, X, Y, scoring=criterion, cv=3).mean()

    gamma = max(grid["gamma"], key=lambda value: score(value, 1.0))
    C = max(grid["C"], key=lambda value: score(gamma, value))
    assert search.best_params_ == {"gamma": gamma, "C": C}
    assert search.best_score_ == pytest.approx(score(gamma, C))
    best = RankSVM(gamma=gamma, C=C, random_state=0).fit(X, Y)
    np.testing.assert_array_equal(search.decision_function(X), best.decision_function(X))


def test_several_scores():
    search = LazySearchCV(
        RankSVM(random_state=0),
        {"gamma": [0.1, 1.0], "C": [0.5, 4.0]},
        scoring=SCORERS,
        refit="neg_one_error",
    ).fit(X, Y)
    best = search.cv_results_["mean_test_neg_one_error"].max()
    assert search.best_score_ == best
    assert set(search.scorer_) == set(SCORERS)


@pytest.mark.parametrize("backend", first_fast(["threading", "loky"], 1))
def test_pipelines_folds_jobs_and_pickle(backend):
    model = make_pipeline(MinMaxScaler(), RankSVM(random_state=0))
    grid = {"ranksvm__gamma": [0.5, 2.0], "ranksvm__C": [1.0, 4.0]}
    arguments = {"scoring": get_scorer("neg_ranking_loss"), "cv": MultilabelStratifiedKFold(3)}
    one = LazySearchCV(model, grid, **arguments).fit(X, Y)
    two = LazySearchCV(model, grid, n_jobs=2, **arguments)
    with parallel_config(backend=backend):
        two.fit(X, sparse.csr_matrix(Y).toarray())
    assert one.best_params_ == two.best_params_
    again = pickle.loads(pickle.dumps(one))
    np.testing.assert_array_equal(again.predict(X), two.predict(X))
    assert clone(one).get_params()["start"] is None


def test_refusals():
    for arguments, message in (
        ({"param_grid": {}}, r"^param_grid is \{\}; expected a dict"),
        ({"param_grid": [{"C": [1.0]}]}, r"^param_grid is .*; expected a dict"),
        ({"param_grid": {"c": [1.0]}}, r"names 'c', which RankSVM does not have; .*C, "),
        ({"param_grid": {"C": 1.0}}, "Parameter grid for parameter 'C'"),
        ({"param_grid": {"C": []}}, "Parameter grid for parameter 'C'"),
        ({"start": {"c": 1.0}}, r"names 'c', which RankSVM does not have"),
        ({"n_rounds": 0}, r"^n_rounds is 0; expected an integer of at least 1"),
        ({"scoring": SCORERS}, r"^refit is True, but scoring has several scores"),
        ({"cv": KFold(3, shuffle=True)}, r"whose folds differ from call to call"),
    ):
        search = LazySearchCV(
            **{"estimator": RankSVM(random_state=0), "param_grid": {"C": [1.0]}, **arguments}
        )
        with pytest.raises((TypeError, ValueError), match=message):
            search.fit(X, Y)
