"""What rows pass through inside of pipelines and searches."""

from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, StandardScaler

from multimargin import LabelRankerCV, RankLSVM
from multimargin.inspection.steps import final_estimator, steps_of
from tests.support.problems import noisy_linear_problem

X, Y = noisy_linear_problem(0, 30, 4, 3, noise=0.0)
LINEAR = RankLSVM(kernel="linear")


def kinds(model):
    return [type(step).__name__ for step in steps_of(model)]


def test_steps_of_nested_pipelines_and_searches():
    before = make_pipeline("passthrough", make_pipeline(StandardScaler(), MaxAbsScaler()), None)
    pipeline = make_pipeline(before, LINEAR)
    assert kinds(pipeline) == ["StandardScaler", "MaxAbsScaler", "RankLSVM"]
    search = GridSearchCV(pipeline, {"ranklsvm__C": [1.0]}, cv=2)
    assert kinds(search) == ["GridSearchCV"]
    assert kinds(make_pipeline(search.fit(X, Y))) == kinds(pipeline)
    assert final_estimator(search) is search.best_estimator_[-1]
    assert final_estimator(make_pipeline("passthrough")).steps


def test_an_estimator_that_searches_is_one_step():
    model = LabelRankerCV([1.0], kernel="linear", stack=None, cv=2, unit_length=True).fit(X, Y)
    assert list(steps_of(make_pipeline(model))) == [model]
