"""ParameterCurveDisplay: curves and maps are the means of the search."""

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, RandomizedSearchCV, validation_curve
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from multimargin import RankSVM
from multimargin.measures import get_scorer
from multimargin.plots import ParameterCurveDisplay

MEASURES = {name: get_scorer(name) for name in ("micro_f1", "neg_ranking_loss")}


@pytest.fixture(scope="module")
def grid(data):
    pipeline = make_pipeline(StandardScaler(), RankSVM(random_state=0))
    parameters = {"ranksvm__C": [0.1, 1.0, 10.0], "ranksvm__bias": ["free", "none"]}
    return GridSearchCV(pipeline, parameters, scoring=MEASURES, refit="micro_f1", cv=2).fit(*data)


def results(**columns):
    return {f"param_{name}": values for name, values in columns.items() if name != "score"} | {
        "mean_test_score": columns["score"],
        "std_test_score": [0.1] * len(columns["score"]),
    }


def test_curves_show_the_best_over_the_other_parameters(grid):
    display = ParameterCurveDisplay.from_estimator(grid, parameters="C")
    mean = np.reshape(grid.cv_results_["mean_test_micro_f1"], (3, 2))
    loss = -np.reshape(grid.cv_results_["mean_test_neg_ranking_loss"], (3, 2))
    np.testing.assert_array_equal(display.lines_[0].get_xdata(), [0.1, 1.0, 10.0])
    np.testing.assert_allclose(display.lines_[0].get_ydata(), mean.max(axis=1))
    np.testing.assert_allclose(display.lines_[1].get_ydata(), loss.min(axis=1))
    assert display.ax_.get_xscale() == "log"
    assert display.best_["micro_f1"] == {"ranksvm__C": grid.best_params_["ranksvm__C"]}


def test_the_map_of_two_parameters(grid):
    display = ParameterCurveDisplay.from_estimator(grid)
    shown = np.asarray(display.im_.get_array())
    by_cell = {
        (candidate["ranksvm__bias"], candidate["ranksvm__C"]): mean
        for candidate, mean in zip(
            grid.cv_results_["params"], grid.cv_results_["mean_test_micro_f1"], strict=True
        )
    }
    x = [tick.get_text() for tick in display.ax_.get_xticklabels()]
    y = [tick.get_text() for tick in display.ax_.get_yticklabels()]
    assert (display.ax_.get_xlabel(), display.ax_.get_ylabel()) == ("C", "bias")
    for (row, column), value in np.ndenumerate(shown):
        assert value == by_cell[y[row], float(x[column])]
    assert display.best_["micro_f1"] == grid.best_params_


def test_scattered_candidates_are_points(data):
    distributions = {"C": [10.0**k for k in range(-3, 2)], "gamma": [10.0**k for k in range(-5, 2)]}
    search = RandomizedSearchCV(
        RankSVM(random_state=0),
        distributions,
        n_iter=8,
        cv=2,
        random_state=0,
        scoring=MEASURES["micro_f1"],
    ).fit(*data)
    display = ParameterCurveDisplay.from_estimator(search, parameters=["C", "gamma"])
    assert len(display.im_.get_offsets()) == 8
    shown = {
        (*place, score)
        for place, score in zip(
            display.im_.get_offsets().tolist(), display.im_.get_array().tolist(), strict=True
        )
    }
    tried = search.cv_results_
    columns = (tried["param_C"], tried["param_gamma"], tried["mean_test_score"])
    assert shown == set(zip(*columns, strict=True))


def test_the_validation_curve(data):
    X, Y = data
    values = [0.1, 1.0]
    train, test = validation_curve(
        RankSVM(random_state=0),
        X,
        Y,
        param_name="C",
        param_range=values,
        cv=3,
        scoring=MEASURES["micro_f1"],
    )
    display = ParameterCurveDisplay.from_validation_curve("C", values, test, train)
    np.testing.assert_allclose(display.lines_[0].get_ydata(), test.mean(axis=1))
    np.testing.assert_allclose(display.lines_[1].get_ydata(), train.mean(axis=1))
    assert display.ax_.get_xscale() == "linear"


def test_failed_fits_and_missing_cells_stay_empty():
    shown = ParameterCurveDisplay.from_cv_results(
        pd.DataFrame(results(C=[1, 2, 3], score=[0.5, np.nan, 0.7]))
    )
    np.testing.assert_array_equal(shown.lines_[0].get_ydata(), [0.5, np.nan, 0.7])
    assert shown.best_ == {"score": {"C": 3}}
    grid = results(C=[1, 1, 2], gamma=[0.1, 0.2, 0.2], score=[0.5, 0.6, np.nan])
    assert ParameterCurveDisplay.from_cv_results(grid).im_.get_array().mask.tolist() == [
        [False, True],
        [False, True],
    ]


def test_values_that_are_no_numbers():
    display = ParameterCurveDisplay.from_cv_results(
        results(model=[None, RankSVM(C=3.0), True], score=[0.1, 0.3, 0.2])
    )
    names = [tick.get_text() for tick in display.ax_.get_xticklabels()]
    assert names == ["None", "RankSVM(C=3.0)", "True"]


@pytest.mark.parametrize(
    ("scoring", "title"), [("f1_micro", "F1 micro"), (get_scorer("neg_one_error"), "One error")]
)
def test_the_only_measure_is_called_by_its_name(scoring, title, data):
    search = GridSearchCV(RankSVM(random_state=0), {"C": [1.0, 2.0]}, scoring=scoring, cv=2)
    display = ParameterCurveDisplay.from_estimator(search.fit(*data))
    assert display.ax_.get_ylabel() == title
    assert (display.lines_[0].get_ydata() >= 0.0).all()


def test_input_is_checked(grid, rank_svm):
    with pytest.raises(NotFittedError):
        ParameterCurveDisplay.from_estimator(GridSearchCV(RankSVM(), {"C": [1.0]}))
    with pytest.raises(TypeError, match="RankSVM, which has no cv_results_"):
        ParameterCurveDisplay.from_estimator(rank_svm)
    with pytest.raises(ValueError, match="parameters has 'nu'; expected one of"):
        ParameterCurveDisplay.from_estimator(grid, parameters="nu")
    with pytest.raises(ValueError, match="two different ones"):
        ParameterCurveDisplay.from_estimator(grid, parameters=["C", "ranksvm__C"])
    with pytest.raises(ValueError, match="measures has 'auc'; expected some of"):
        ParameterCurveDisplay.from_estimator(grid, measures="auc")
    with pytest.raises(ValueError, match="expected one of them for a map"):
        ParameterCurveDisplay.from_cv_results(grid.cv_results_)
    three = results(a=[1, 2], b=[1, 2], c=[1, 2], score=[0.1, 0.2])
    with pytest.raises(ValueError, match="varied 3 parameters"):
        ParameterCurveDisplay.from_cv_results(three)
    with pytest.raises(ValueError, match="all missing"):
        ParameterCurveDisplay.from_cv_results(results(C=[1, 2], score=[np.nan, np.nan]))
    with pytest.raises(ValueError, match="no 'mean_test_"):
        ParameterCurveDisplay.from_cv_results({"param_C": [1]})
    with pytest.raises(ValueError, match="expected 1 or 2"):
        ParameterCurveDisplay({}, {"score": []})
    with pytest.raises(ValueError, match="the validation scores have shape"):
        ParameterCurveDisplay.from_validation_curve("C", [1.0], np.zeros(3))


@pytest.mark.parametrize(
    ("parameters", "means", "message"),
    [
        ({}, {"f1": [1.0]}, r"parameters has 0 entries, \[\]; expected 1 or 2"),
        ({"C": [1.0]}, {}, "means is empty; expected at least one measure"),
        ({"C": []}, {"f1": []}, r"parameters has \{'C': 0\} values; expected equal numbers"),
        ({"C": [1, 2], "gamma": [1]}, {"f1": [1, 1]}, "expected equal numbers above 0"),
        ({"C": [1, 2]}, {"f1": [1.0]}, r"means of 'f1' has shape \(1,\); expected \(2,\)"),
    ],
)
def test_malformed_curves(parameters, means, message):
    with pytest.raises(ValueError, match=message):
        ParameterCurveDisplay(parameters, means)


def test_a_map_shows_one_measure():
    display = ParameterCurveDisplay(
        {"C": [1, 2], "gamma": [1, 2]}, {"f1": [0.1, 0.2], "loss": [0.3, 0.4]}
    )
    with pytest.raises(ValueError, match="expected one for a map of two parameters"):
        display.plot()


def test_malformed_results():
    with pytest.raises(TypeError, match="cv_results is a list; expected the cv_results_ of a sea"):
        ParameterCurveDisplay.from_cv_results([1.0])
    broken = results(C=[1.0, 2.0], score=[0.1, 0.2])
    broken["mean_test_score"] = [0.1]
    with pytest.raises(ValueError, match=r"mean_test_score has shape \(1,\); expected \(2,\)"):
        ParameterCurveDisplay.from_cv_results(broken)
    with pytest.raises(TypeError, match="means of 'f1' is not an array of numbers"):
        ParameterCurveDisplay({"C": [1]}, {"f1": ["high"]})
