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
from multimargin.plots import ConvergenceDisplay


def test_gaps_are_those_of_the_history(rank_svm, mlodm):
    display = ConvergenceDisplay.from_estimator({"Rank-SVM": rank_svm, "mlODM": mlodm})
    for line, model in zip(display.lines_, (rank_svm, mlodm), strict=True):
        epoch, gap = line.get_data()
        history = model.history_
        np.testing.assert_array_equal(epoch, history["epoch"])
        expected = (history["primal"] - history["dual"]) / np.abs(history["primal"])
        np.testing.assert_allclose(gap, np.maximum(expected, 1e-16))
    ax, legend = display.ax_, display.legend_.get_texts()
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("Epoch", "Relative duality gap")
    assert ax.get_yscale() == "log"
    assert [text.get_text() for text in legend] == [" Rank-SVM", " mlODM"]


def test_objectives_enclose_the_optimum(rank_svm):
    display = ConvergenceDisplay.from_estimator(rank_svm, quantity="objectives", x="seconds")
    upper, lower = (line.get_data() for line in display.lines_)
    np.testing.assert_array_equal(upper[0], rank_svm.history_["seconds"])
    np.testing.assert_array_equal(upper[1], rank_svm.history_["primal"])
    np.testing.assert_array_equal(lower[1], rank_svm.history_["dual"])
    assert (display.ax_.get_xlabel(), display.ax_.get_ylabel()) == ("Seconds", "Objective")


@pytest.mark.parametrize("model", [MLRL(0.01), LLSF(), RankCVM(random_state=0)], ids=repr)
def test_every_family_has_a_history(model, data):
    assert ConvergenceDisplay.from_estimator(model.fit(*data)).lines_


def test_bounds_that_are_not_known_yet_are_left_out():
    primal, dual = [np.inf, 2.0, 1.0, 1.0], [-np.inf, -np.inf, 0.5, 1.0]
    history = {"epoch": [1, 2, 3, 4], "seconds": [1, 2, 3, 4], "primal": primal, "dual": dual}
    display = ConvergenceDisplay({"a": history}).plot()
    np.testing.assert_array_equal(display.lines_[0].get_data(), [[3, 4], [0.5, 1e-16]])
    assert display.lines_[0].get_marker() == "o"
    assert all(epoch == round(epoch) for epoch in display.ax_.get_xticks())


def test_input_is_checked(data, rank_svm):
    X, Y = data
    of = ConvergenceDisplay.from_estimator
    nothing = {"epoch": [], "seconds": [], "primal": [], "dual": []}
    uneven = {"epoch": [1], "seconds": [], "primal": [1], "dual": [1]}
    for call, error, message in (
        (lambda: of(SVC().fit(X, Y[:, 0])), TypeError, "SVC, which has no history_"),
        (lambda: of(make_pipeline(SVC()).fit(X, Y[:, 0])), TypeError, "SVC, which has no history_"),
        (lambda: of(rank_svm, x="time"), ValueError, "x is 'time'"),
        (lambda: of(rank_svm, quantity="loss"), ValueError, "quantity is 'loss'"),
        (lambda: ConvergenceDisplay(rank_svm.history_), TypeError, "without names"),
        (lambda: ConvergenceDisplay({"a": {"epoch": [1]}}), ValueError, "'a' has no 'seconds'"),
        (lambda: ConvergenceDisplay({"a": uneven}), ValueError, "different lengths"),
        (lambda: ConvergenceDisplay({"a": nothing}).plot(), ValueError, "'a' has no epoch to show"),
    ):
        with pytest.raises(error, match=message):
            call()


def test_pipelines_and_searches_show_the_method_inside(data, rank_svm):
    X, Y = data
    pipeline = make_pipeline(StandardScaler(), RankSVM(random_state=0)).fit(X, Y)
    display = ConvergenceDisplay.from_estimator(pipeline)
    assert list(display.histories) == ["RankSVM"]
    shown = display.histories["RankSVM"]["primal"]
    np.testing.assert_array_equal(shown, pipeline[-1].history_["primal"])
    grid = {"ranksvm__C": [0.5, 1.0]}
    search = GridSearchCV(clone(pipeline), grid, cv=2, scoring=get_scorer("neg_ranking_loss"))
    display = ConvergenceDisplay.from_estimator([search.fit(X, Y), pipeline])
    assert list(display.histories) == ["RankSVM 1", "RankSVM 2"]
    best = search.best_estimator_[-1].history_["primal"]
    np.testing.assert_array_equal(display.histories["RankSVM 1"]["primal"], best)
