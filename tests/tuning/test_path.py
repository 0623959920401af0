"""C by cross-validation inside one fit."""

import numpy as np
import pytest
from joblib import parallel_config
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler

from multimargin import RankSVM
from multimargin.measures import get_scorer, ranking_loss
from multimargin.tuning import MultilabelStratifiedKFold, PathCV
from tests.support.models import PAIRWISE
from tests.support.problems import noisy_linear_problem
from tests.support.subsets import first_fast


def problem(n=60):
    return noisy_linear_problem(0, n, 4, 3, noise=0.5, cut=0.2)


@pytest.mark.parametrize("method", PAIRWISE)
def test_it_chooses_what_single_cold_fits_choose(method):
    X, Y = problem()
    estimator = method(tol=1e-8, max_iter=100_000, random_state=0)
    folds = MultilabelStratifiedKFold(3)
    Cs = [100.0, 0.1, 1.0]
    model = PathCV(estimator, Cs, cv=folds).fit(X, Y)
    expected = [
        [
            -ranking_loss(
                Y[test],
                clone(estimator).set_params(C=C).fit(X[train], Y[train]).decision_function(X[test]),
            )
            for C in sorted(Cs)
        ]
        for train, test in folds.split(X, Y)
    ]
    np.testing.assert_allclose(model.scores_, expected, atol=1e-12)
    assert model.Cs_.tolist() == [0.1, 1.0, 100.0]
    best = np.mean(expected, axis=0).argmax()
    assert model.Cs_[best] == model.C_
    best = clone(estimator).set_params(C=model.C_).fit(X, Y)
    np.testing.assert_array_equal(model.decision_function(X), best.decision_function(X))
    np.testing.assert_array_equal(model.predict(X), best.predict(X))


def test_the_values_of_a_number():
    X, Y = problem()
    model = PathCV(RankSVM(random_state=0), 8, cv=2).fit(X, Y)
    half_decades = [0.1, 10**-0.5, 1.0, 10**0.5, 10.0, 10**1.5, 100.0, 10**2.5]
    np.testing.assert_allclose(model.Cs_, half_decades)
    # The default of the estimators is among them.
    assert RankSVM().C in model.Cs_.round(9)
    assert model.scores_.shape == (2, 8)
    assert PathCV(RankSVM()).Cs == 8


@pytest.mark.parametrize("backend", first_fast(["threading", "loky"], 1))
def test_pipelines_scorers_and_jobs(backend):
    X, Y = problem()
    pipeline = make_pipeline(MinMaxScaler(), RankSVM(random_state=0))
    one = PathCV(pipeline, [1.0, 10.0], scoring="micro_f1").fit(X, Y)
    with parallel_config(backend=backend):
        two = PathCV(pipeline, [1.0, 10.0], scoring=get_scorer("micro_f1"), n_jobs=2).fit(X, Y)
    assert one.best_params_ == {"ranksvm__C": one.C_}
    assert one.best_estimator_[-1].C == one.C_
    np.testing.assert_array_equal(one.scores_, two.scores_)
    assert pipeline[-1].C == RankSVM().C, "what the caller passed in is as it was"


def test_parameters_and_clones():
    model = PathCV(RankSVM(random_state=0), Cs=(1.0, 2.0), scoring=None)
    assert set(model.get_params(deep=False)) == {
        "estimator",
        "Cs",
        "cv",
        "scoring",
        "n_jobs",
        "refit",
        "verbose",
        "error_score",
    }
    X, Y = problem()
    fitted = model.fit(X, Y)
    copy = clone(fitted)
    assert copy.Cs == (1.0, 2.0)
    np.testing.assert_array_equal(copy.fit(X, Y).scores_, fitted.scores_)


def test_classes_are_chosen_by_their_own_score():
    X, Y = problem()
    model = PathCV(LogisticRegression(), [0.1, 1.0], scoring=None).fit(X, Y[:, 0])
    assert model.score(X, Y[:, 0]) > 0.5


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"Cs": 0}, ValueError, r"^Cs is 0; expected an integer of at least 1"),
        ({"Cs": 2.5}, TypeError, r"^Cs is 2\.5; expected an integer"),
        ({"Cs": []}, ValueError, r"^Cs is empty; expected at least one number above 0"),
        ({"Cs": [1.0, 0.0]}, ValueError, r"^Cs is 0\.0; expected a finite number above 0"),
        ({"estimator": MinMaxScaler()}, ValueError, r"^path is 'C', which MinMaxScaler does not"),
        ({"scoring": "no such"}, ValueError, "no such"),
    ],
)
def test_refusals(arguments, error, message):
    X, Y = problem()
    with pytest.raises(error, match=message):
        PathCV(**{"estimator": RankSVM(random_state=0), **arguments}).fit(X, Y)


def test_weights_reach_every_fit():
    X, Y = problem()
    weights = np.random.default_rng(0).integers(0, 3, size=len(Y)).astype(float)
    estimator = RankSVM(kernel="linear", tol=1e-8, max_iter=100_000, random_state=0)
    folds = list(MultilabelStratifiedKFold(3).split(X, Y))
    model = PathCV(estimator, [0.1, 1.0], cv=folds).fit(X, Y, sample_weight=weights)
    for place, C in enumerate([0.1, 1.0]):
        for fold, (train, test) in enumerate(folds):
            alone = clone(estimator).set_params(C=C)
            alone.fit(X[train], Y[train], sample_weight=weights[train])
            expected = -ranking_loss(Y[test], alone.decision_function(X[test]))
            assert model.scores_[fold, place] == pytest.approx(expected, abs=1e-12)
    whole = clone(estimator).set_params(C=model.C_).fit(X, Y, sample_weight=weights)
    assert model.best_estimator_.objective_ == pytest.approx(whole.objective_, rel=1e-7)
