"""Options objects: parameters as any other for scikit-learn's tools."""

import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

from multimargin import MLRL, RankCVM
from multimargin.estimators import FrankWolfeOptions, RelationshipOptions
from tests.support.problems import noisy_linear_problem

X, Y = noisy_linear_problem(0, 60, 4, 3)


@pytest.mark.parametrize(
    ("model", "name", "value"),
    [
        (MLRL(solver="alternating", options=RelationshipOptions()), "options__ridge", 0.5),
        (RankCVM(solver="frank-wolfe", options=FrankWolfeOptions(1e-2)), "options__epsilon", 1e-3),
    ],
)
def test_a_search_reaches_them_and_leaves_the_model_as_it_is(model, name, value):
    before = model.get_params()[name]
    assert clone(model).set_params(**{name: value}).get_params()[name] == value
    assert model.get_params()[name] == before
    search = GridSearchCV(model.set_params(max_iter=3), {name: [value]}, cv=2)
    with pytest.warns():
        search.fit(X, Y)
    assert search.best_estimator_.get_params()[name] == value
