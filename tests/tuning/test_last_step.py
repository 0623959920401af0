"""A search over the last step of a pipeline is scikit-learn's over the whole."""

import pytest
from numpy.testing import assert_array_equal
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler

from multimargin import RankSVM
from multimargin.measures import get_scorer
from multimargin.tuning import LazySearchCV, MultilabelStratifiedKFold
from multimargin.tuning.last_step import LastStepSearch
from tests.support.problems import noisy_linear_problem

GRID = {"gamma": [0.1, 1.0], "C": [0.5, 2.0, 8.0]}
NAMED = {f"ranksvm__{name}": values for name, values in GRID.items()}


@pytest.mark.parametrize("n_rounds", [None, 1, 2])
def test_the_search_is_that_of_the_whole_pipeline(n_rounds):
    X, Y = noisy_linear_problem(0, 60, 4, 3, noise=0.5)
    pipeline = make_pipeline(MinMaxScaler(), RankSVM(random_state=0))
    scoring = get_scorer("neg_ranking_loss")
    options = {"scoring": scoring, "cv": MultilabelStratifiedKFold(3), "refit": False}
    whole = (
        GridSearchCV(pipeline, NAMED, **options)
        if n_rounds is None
        else LazySearchCV(pipeline, NAMED, n_rounds=n_rounds, **options)
    ).fit(X, Y)
    tuned = LastStepSearch(pipeline, GRID, scoring=scoring, n_folds=3, n_rounds=n_rounds, n_jobs=1)
    tuned.search.fit(X, Y)
    assert tuned.grid == NAMED
    assert tuned.n_candidates == {None: 6, 1: 5, 2: 10}[n_rounds]
    assert {f"ranksvm__{name}": value for name, value in tuned.best_parameters.items()} == (
        whole.best_params_
    )
    tried = tuned.tried()
    assert set(tried[0][0]) == {"gamma", "C"}
    assert_array_equal([mean for _, mean, _ in tried], whole.cv_results_["mean_test_score"])
    assert_array_equal([dev for _, _, dev in tried], whole.cv_results_["std_test_score"])
