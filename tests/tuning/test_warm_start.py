"""The search that starts each fit from the one before: same optimum, fewer steps."""

from typing import ClassVar

import numpy as np
import pytest
from joblib import parallel_config
from sklearn.base import BaseEstimator, clone
from sklearn.exceptions import FitFailedWarning
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler

from multimargin import LLSF, RankSVM
from multimargin.kernels import kernel_matrix
from multimargin.measures import get_scorer
from multimargin.tuning import MultilabelStratifiedKFold, WarmStartGridSearchCV
from tests.support.models import PAIRWISE
from tests.support.problems import noisy_linear_problem
from tests.support.subsets import first_fast

GRID = {"C": [16.0, 1.0, 4.0], "gamma": [0.1, 0.5]}


def problem(n=60):
    return noisy_linear_problem(0, n, 4, 3, noise=0.5, cut=0.2)


@pytest.mark.parametrize("method", PAIRWISE)
def test_same_scores_as_a_cold_search(method):
    X, Y = problem()
    model = method(tol=1e-8, max_iter=100_000, kernel="rbf", random_state=0)
    scoring = get_scorer("neg_ranking_loss")
    warm = WarmStartGridSearchCV(model, GRID, scoring=scoring, cv=3, error_score="raise").fit(X, Y)
    cold = GridSearchCV(model, GRID, scoring=scoring, cv=3, error_score="raise").fit(X, Y)
    assert warm.cv_results_["params"] == cold.cv_results_["params"]
    for key in ("mean_test_score", "split0_test_score", "std_test_score", "rank_test_score"):
        np.testing.assert_allclose(warm.cv_results_[key], cold.cv_results_[key], atol=1e-12)
    assert warm.best_params_ == cold.best_params_
    np.testing.assert_array_equal(warm.decision_function(X), cold.decision_function(X))


class Recorder(BaseEstimator):
    """Keeps what a warm start is given."""

    fits: ClassVar[list[tuple]] = []

    def __init__(self, C=1.0, other=0, warm_start=False):
        self.C, self.other, self.warm_start = C, other, warm_start

    def fit(self, X, y):
        self.before_ = [*getattr(self, "before_", []), self.C]
        self.n_iter_ = len(self.before_)
        self.fits.append((len(X), self.other, self.warm_start, tuple(self.before_)))
        return self

    def score(self, X, y):
        return -abs(self.C - 4)


def test_paths_in_increasing_order():
    Recorder.fits.clear()
    grid = {"C": [16, 1, 4], "other": [5, 6]}
    X = np.zeros((9, 1))
    search = WarmStartGridSearchCV(Recorder(), grid, cv=3).fit(X, np.zeros(9))
    paths = [fit for fit in Recorder.fits if len(fit[3]) == 3]
    assert paths == [(6, other, True, (1, 4, 16)) for other in (5, 6) for _ in range(3)]
    # The best is fitted on all rows, from a cold start.
    assert Recorder.fits[-1] == (9, 5, False, (4,))
    assert search.best_params_ == {"C": 4, "other": 5}
    assert search.cv_results_["mean_n_iter"].tolist() == [3, 3, 1, 1, 2, 2]
    assert search.cv_results_["param_C"].tolist() == [16, 16, 1, 1, 4, 4]


def test_fewer_epochs():
    X, Y = problem(n=200)
    model = RankSVM(tol=1e-5, max_iter=10_000, random_state=0)
    grid = {"C": [1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 8.0]}
    warm = WarmStartGridSearchCV(model, grid, cv=3).fit(X, Y)
    cold = WarmStartGridSearchCV(Cold(model), grid, cv=3).fit(X, Y)
    assert warm.cv_results_["mean_n_iter"][1:].sum() < cold.cv_results_["mean_n_iter"][1:].sum()


class Cold(BaseEstimator):
    """Takes the switch, and starts anew all the same."""

    def __init__(self, model=None, C=1.0, warm_start=False):
        self.model, self.C, self.warm_start = model, C, warm_start

    def fit(self, X, y):
        self.model.set_params(C=self.C).fit(X, y)
        self.n_iter_ = self.model.n_iter_
        return self

    def score(self, X, y):
        return 0.0


@pytest.mark.parametrize("backend", first_fast(["threading", "loky"], 1))
def test_other_paths_pipelines_lists_jobs_and_kernels(backend):
    X, Y = problem()
    scoring = get_scorer("neg_hamming_loss")
    llsf = WarmStartGridSearchCV(LLSF(), {"beta": [5.0, 1.0]}, path="beta", scoring=scoring, cv=2)
    assert set(llsf.fit(X, Y).best_params_) == {"beta"}
    model = make_pipeline(MinMaxScaler(), RankSVM(random_state=0))
    grid = [{"ranksvm__C": [1.0, 4.0]}, {"ranksvm__C": [2.0], "ranksvm__gamma": [1.0]}]
    one = WarmStartGridSearchCV(model, grid, path="ranksvm__C", scoring=scoring, cv=3).fit(X, Y)
    two = WarmStartGridSearchCV(model, grid, path="ranksvm__C", scoring=scoring, cv=3, n_jobs=2)
    with parallel_config(backend=backend):
        two.fit(X, Y)
    np.testing.assert_array_equal(
        one.cv_results_["mean_test_score"], two.cv_results_["mean_test_score"]
    )
    assert one.cv_results_["param_ranksvm__gamma"].mask.tolist() == [True, True, False]
    K = kernel_matrix(X, X, kernel="rbf", gamma=0.5)
    given = RankSVM(kernel="precomputed", tol=1e-8, max_iter=10_000, random_state=0)
    computed = RankSVM(gamma=0.5, tol=1e-8, max_iter=10_000, random_state=0)
    scores = [
        WarmStartGridSearchCV(model, {"C": [1.0, 4.0]}, scoring=scoring, cv=3)
        .fit(data, Y)
        .cv_results_["mean_test_score"]
        for model, data in ((given, K), (computed, X))
    ]
    np.testing.assert_allclose(*scores)


def test_failures():
    X, Y = problem()
    grid = {"C": [1.0, -1.0, 2.0]}
    search = WarmStartGridSearchCV(RankSVM(random_state=0), grid, cv=2)
    with pytest.warns(FitFailedWarning, match=r"C is -1\.0; expected a finite number above 0"):
        search.fit(X, Y)
    assert np.isnan(search.cv_results_["mean_test_score"]).tolist() == [False, True, False]
    assert search.cv_results_["rank_test_score"][1] == 3
    with pytest.raises(ValueError, match=r"^C is -1\.0"):
        search.set_params(error_score="raise").fit(X, Y)


def test_refusals():
    X, Y = problem()
    for arguments, message in (
        ({"estimator": KNeighborsClassifier(), "path": "p"}, r"no parameter 'warm_start'"),
        ({"path": "c"}, r"^path is 'c', which RankSVM does not have; expected one of C, "),
        ({"scoring": ["accuracy"]}, r"^scoring is \['accuracy'\]; expected one score"),
        ({"refit": "score"}, r"^refit is 'score'; expected True or False"),
        ({"verbose": None}, r"^verbose is None; expected an integer of at least 0"),
        ({"verbose": -1}, r"^verbose is -1; expected an integer of at least 0"),
        ({"param_grid": {"C": 1.0}}, "Parameter grid for parameter 'C'"),
    ):
        search = WarmStartGridSearchCV(
            **{"estimator": RankSVM(random_state=0), "param_grid": {"C": [1.0]}, **arguments}
        )
        with pytest.raises((TypeError, ValueError), match=message):
            search.fit(X, Y)


def test_names_of_the_columns_are_those_of_the_best():
    pd = pytest.importorskip("pandas")
    X, Y = problem()
    frame = pd.DataFrame(X, columns=list("abcd"))
    search = WarmStartGridSearchCV(RankSVM(), {"C": [1.0, 4.0]}, cv=2).fit(frame, Y)
    assert search.feature_names_in_.tolist() == list("abcd")


def test_weights_reach_every_fit():
    X, Y = problem()
    weights = np.random.default_rng(0).integers(0, 3, size=len(Y)).astype(float)
    model = RankSVM(kernel="linear", tol=1e-8, max_iter=100_000, random_state=0)
    folds = list(MultilabelStratifiedKFold(3).split(X, Y))
    scorer = get_scorer("neg_ranking_loss")
    search = WarmStartGridSearchCV(model, {"C": [0.1, 1.0]}, scoring=scorer, cv=folds)
    search.fit(X, Y, sample_weight=weights)
    for fold, (train, test) in enumerate(folds):
        for place, C in enumerate([0.1, 1.0]):
            alone = clone(model).set_params(C=C)
            alone.fit(X[train], Y[train], sample_weight=weights[train])
            found = search.cv_results_[f"split{fold}_test_score"][place]
            assert found == pytest.approx(scorer(alone, X[test], Y[test]), abs=1e-12)
    whole = clone(model).set_params(**search.best_params_).fit(X, Y, sample_weight=weights)
    assert search.best_estimator_.objective_ == pytest.approx(whole.objective_, rel=1e-7)


def test_verbose(capsys):
    X, Y = problem()
    WarmStartGridSearchCV(RankSVM(random_state=0), GRID, cv=2, verbose=1).fit(X, Y)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 2
    assert lines[0].startswith("{'gamma': 0.1}: best C ")
