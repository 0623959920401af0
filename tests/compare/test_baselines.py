import pytest
from sklearn.base import clone

from multimargin import RankSVM
from multimargin.compare import BASELINES, make_estimator
from multimargin.methods import METHODS


def test_names_are_new_and_lead_to_themselves() -> None:
    assert not set(BASELINES) & set(METHODS)
    assert all(method.name == name for name, method in BASELINES.items())


@pytest.mark.parametrize("name", list(BASELINES))
def test_grids_are_grids_of_the_estimator(name: str) -> None:
    method = BASELINES[name]
    for key, values in method.grid.items():
        for value in values:
            clone(method.make()).set_params(**{key: value})


def test_parameters_are_those_of_the_inner_estimator() -> None:
    assert make_estimator("ovr-svc", C="2^3").estimator.estimator.C == 8.0
    assert make_estimator("classifier_chain", gamma=0.5).estimator.estimator.gamma == 0.5
    assert make_estimator("KNN", n_neighbors=3).estimator.n_neighbors == 3


def test_methods_of_the_package() -> None:
    assert isinstance(make_estimator("rank-svm", C=3), RankSVM)
    assert isinstance(make_estimator("RankSVM"), RankSVM)


def test_unknown_names() -> None:
    with pytest.raises(ValueError, match=r"no method 'ovr_svm' \(did you mean 'ovr-svc'\?\).*knn"):
        make_estimator("ovr_svm")
    with pytest.raises(ValueError, match=r"ovr-svc has no parameter 'Gamma' \(did you mean 'gam"):
        make_estimator("ovr-svc", Gamma=1)
