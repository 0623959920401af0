"""ConvergenceDisplay: the lines are the history."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from multimargin import LLSF, MLRL, RankCVM, RankSVM
from multimargin.measures import get_scorer
from multimargin.plots import (
    ConvergenceDisplay,
)


def test_gaps_are_those_of_the_history(rank_svm, mlodm):
    display = ConvergenceDisplay.from_estimator({"Rank-SVM": rank_svm, "mlODM": mlodm})
    for line, model in zip(display.lines_, (rank_svm, mlodm), strict=True):
        epoch, gap = line.get_data()
        history = model.history_
        np.testing.assert_array_equal(epoch, history["epoch"])
        expected = (history["primal"] - history["dual"]) / np.abs(history["primal"])
        np.testing.assert_allclose(gap, np.maximum(expected, 1e-16))
    assert display.ax_.get_yscale() == "log"


def test_objectives_enclose_the_optimum(rank_svm):
    display = ConvergenceDisplay.from_estimator(rank_svm, quantity="objectives", x="seconds")
    upper, lower = (line.get_data() for line in display.lines_)
    np.testing.assert_array_equal(upper[0], rank_svm.history_["seconds"])
    np.testing.assert_array_equal(upper[1], rank_svm.history_["primal"])
    np.testing.assert_array_equal(lower[1], rank_svm.history_["dual"])


@pytest.mark.parametrize("model", [MLRL(0.01), LLSF(), RankCVM(random_state=0)], ids=repr)
def test_every_family_has_a_history(model, data):
    assert ConvergenceDisplay.from_estimator(model.fit(*data)).lines_


def test_bounds_that_are_not_known_yet_are_left_out():
    history = {
        "epoch": [1, 2, 3],
        "seconds": [0.1, 0.2, 0.3],
        "primal": [np.inf, 2.0, 1.0],
        "dual": [-np.inf, -np.inf, 1.0],
    }
    display = ConvergenceDisplay({"a": history}).plot()
    np.testing.assert_array_equal(display.lines_[0].get_data(), [[3], [1e-16]])


def test_input_is_checked(data, rank_svm):
    X, Y = data
    with pytest.raises(TypeError, match="SVC, which has no history_"):
        ConvergenceDisplay.from_estimator(SVC().fit(X, Y[:, 0]))
    with pytest.raises(ValueError, match="x is 'time'"):
        ConvergenceDisplay.from_estimator(rank_svm, x="time")
    with pytest.raises(TypeError, match="without names"):
        ConvergenceDisplay(rank_svm.history_)
    with pytest.raises(ValueError, match="history of 'a' has no 'seconds'"):
        ConvergenceDisplay({"a": {"epoch": [1]}})
    with pytest.raises(ValueError, match="different lengths"):
        ConvergenceDisplay({"a": {"epoch": [1], "seconds": [], "primal": [1], "dual": [1]}})
    nothing = {"epoch": [], "seconds": [], "primal": [], "dual": []}
    with pytest.raises(ValueError, match="history of 'a' has no epoch to show"):
        ConvergenceDisplay({"a": nothing}).plot()


def test_pipelines_and_searches_show_the_method_inside(data, rank_svm):
    X, Y = data
    pipeline = make_pipeline(StandardScaler(), RankSVM(random_state=0)).fit(X, Y)
    display = ConvergenceDisplay.from_estimator(pipeline)
    assert list(display.histories) == ["RankSVM"]
    np.testing.assert_array_equal(
        display.histories["RankSVM"]["primal"], pipeline[-1].history_["primal"]
    )
    grid = {"ranksvm__C": [0.5, 1.0]}
    search = GridSearchCV(clone(pipeline), grid, cv=2, scoring=get_scorer("neg_ranking_loss"))
    display = ConvergenceDisplay.from_estimator([search.fit(X, Y), pipeline])
    assert list(display.histories) == ["RankSVM 1", "RankSVM 2"]
    best = search.best_estimator_[-1].history_["primal"]
    np.testing.assert_array_equal(display.histories["RankSVM 1"]["primal"], best)
    with pytest.raises(TypeError, match="SVC, which has no history_"):
        ConvergenceDisplay.from_estimator(make_pipeline(SVC()).fit(X, Y[:, 0]))
