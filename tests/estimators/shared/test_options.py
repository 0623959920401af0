"""Options objects: parameters as any other for scikit-learn's tools."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

from multimargin import MLRL, FrankWolfeOptions, RankCVM, RelationshipOptions
from multimargin.model_files import load_model, save_model
from tests.support.problems import noisy_linear_problem

X, Y = noisy_linear_problem(0, 60, 4, 3)


@pytest.mark.parametrize(
    ("model", "name", "value"),
    [
        (MLRL(solver="alternating", options=RelationshipOptions()), "options__ridge", 0.5),
        (
            RankCVM(solver="frank-wolfe", options=FrankWolfeOptions(1e-2)),
            "options__epsilon",
            1e-3,
        ),
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


def test_none_is_the_defaults():
    fits = [
        MLRL(tol=0.1, solver="alternating", options=options).fit(X, Y)
        for options in (None, RelationshipOptions())
    ]
    np.testing.assert_array_equal(*(fit.label_scores(X) for fit in fits))
    other = MLRL(tol=0.1, solver="alternating", options=RelationshipOptions(ridge=0.2))
    assert not np.array_equal(other.fit(X, Y).label_scores(X), fits[0].label_scores(X))


def test_a_saved_model_has_its_options(tmp_path):
    covariance = np.eye(3) / 3
    model = MLRL(options=RelationshipOptions(fixed_covariance=covariance)).fit(X, Y)
    save_model(model, tmp_path / "model")
    found = load_model(tmp_path / "model")
    np.testing.assert_array_equal(found.options.fixed_covariance, covariance)
    np.testing.assert_array_equal(found.label_scores(X), model.label_scores(X))


def test_options_of_another_method_are_refused():
    with pytest.raises(ValueError, match=r"options is Rel.*expected None or a FrankWolfeOptions"):
        RankCVM(options=RelationshipOptions()).fit(X, Y)
