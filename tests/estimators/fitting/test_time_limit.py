"""`max_time`: a fit that runs out of time ends with a model and its certificate."""

import warnings
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from multimargin import (
    LLSF,
    MLRL,
    SSMLRL,
    LabelRankerCV,
    LabelSpecificBinaryRelevance,
    LabelSpecificClassifierChain,
    RankCVM,
    RankHLapSVM,
    RankSVM,
)
from multimargin.estimators.bases.pairwise import PairwiseClassifier
from tests.support.problems import noisy_linear_problem

# No limit is as small as the time of an epoch, so that each fit ends at the first look at the clock
# that counts, on any machine.
AT_ONCE = 1e-9

MODELS = [
    RankSVM(C=100.0),
    RankSVM(C=100.0, solver="dcd"),
    RankSVM(C=100.0, solver="frank-wolfe", bias="penalized"),
    RankCVM(C=10.0, solver="frank-wolfe"),
    RankHLapSVM(C=100.0),
    MLRL(lam=1e-4),
    SSMLRL(lam1=1e-4),
    LLSF(beta=0.1),
]


X, Y = noisy_linear_problem(0, 80, 6, 5)


def repeatable(model: Any, **parameters: Any) -> Any:
    if "random_state" in model.get_params():
        parameters["random_state"] = 0
    return clone(model).set_params(**parameters)


# Fits of all other kinds are ended at once, and judged, in tests/optimum.
@pytest.mark.parametrize(
    "model", [RankSVM(C=100.0, cache_size=0), LLSF(beta=0.1, solver="cd", alpha=0.0)], ids=repr
)
def test_a_fit_without_time_is_certified_where_it_is(model: Any) -> None:
    stopped = repeatable(model, tol=1e-9, max_time=AT_ONCE)
    with pytest.warns(ConvergenceWarning, match=r"stopped after max_time=1e-09 s, in \d+ of max_"):
        stopped.fit(X, Y)
    assert stopped.status_ == "time_limit"
    assert stopped.dual_gap_ > 1e-9
    assert len(stopped.history_["epoch"]) <= 6
    # The optimum lies between both objectives, which those of a long fit bound in turn.
    whole = repeatable(model, max_iter=20_000).fit(X, Y)
    assert whole.status_ == "converged"
    slack = 1e-9 * abs(whole.objective_)
    assert stopped.objective_ >= whole.dual_objective_ - slack
    assert stopped.dual_objective_ <= whole.objective_ + slack


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("n_jobs", [None, 2])
def test_the_label_ranker_tries_one_setting(monkeypatch: pytest.MonkeyPatch, n_jobs: Any) -> None:
    fit, fits = PairwiseClassifier.fit, []

    def counted(self: Any, *arguments: Any, **named: Any) -> Any:
        fit(self, *arguments, **named)
        fits.append((self.status_, len(self.history_["epoch"])))
        return self

    monkeypatch.setattr(PairwiseClassifier, "fit", counted)
    model = LabelRankerCV(
        [1e4, 1e5, 1e6], tol=1e-9, cv_tol=1e-9, max_time=AT_ONCE, n_jobs=n_jobs, random_state=0
    )
    model.fit(X, Y)
    assert model.status_ == "time_limit"
    # That of each fold, and that of all rows.
    assert len(fits) == model.n_splits_ + 1
    assert len(model.cv_results_["params"]) == 1
    # The first setting has a millisecond a fold, whatever the limit.
    assert fits[-1][0] == "time_limit"


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("strategy", [LabelSpecificBinaryRelevance, LabelSpecificClassifierChain])
def test_the_features_of_labels_are_chosen_in_time(strategy: Any) -> None:
    model = strategy(selector=LLSF(beta=0.1, tol=1e-9, max_time=AT_ONCE)).fit(X, Y)
    assert model.selector_.status_ == "time_limit"
    assert len(model.selector_.history_["epoch"]) <= 6


@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_enough_time_changes_no_bit(model: Any) -> None:
    y = np.where(np.arange(len(Y))[:, None] < 60, Y, -1) if isinstance(model, SSMLRL) else Y
    scores = []
    for max_time in (None, float("inf"), 1e9):
        fitted = repeatable(model, tol=1e-9, max_time=max_time, max_iter=5)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            fitted.fit(X, y)
        scores.append(fitted.label_scores(X))
    np.testing.assert_array_equal(scores[0], scores[1])
    np.testing.assert_array_equal(scores[0], scores[2])


def test_components_of_a_free_bias_all_have_their_turn() -> None:
    # Labels 0 and 1 are both relevant wherever 2 and 3 differ, and both irrelevant never.
    X, Y = noisy_linear_problem(1, 60, 5, 4, noise=1.0, cut=0.0)
    Y[::2, :2], Y[1::2, 2:] = 1, 0
    model = RankSVM(C=100.0, tol=1e-9, max_time=AT_ONCE, random_state=0)
    with pytest.warns(ConvergenceWarning):
        model.fit(X, Y)
    assert model.status_ == "time_limit"
    assert 0.0 < model.dual_objective_ < model.objective_
    # Both components have dual variables.
    assert np.count_nonzero(model.dual_coef_[:, :2]) > 0
    assert np.count_nonzero(model.dual_coef_[:, 2:]) > 0
