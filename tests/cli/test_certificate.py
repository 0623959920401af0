import pytest
from sklearn.pipeline import make_pipeline

from multimargin.cli.certificate import certificate
from multimargin.datasets import load_digit_attributes
from multimargin.methods import METHODS


@pytest.mark.parametrize("name", METHODS)
def test_every_method_has_one(name: str) -> None:
    X, _, Y, _ = load_digit_attributes().train_test()
    model = METHODS[name].make().fit(X[:60], Y[:60])
    found = certificate(model)
    assert found == certificate(make_pipeline(model))
    assert found["status"] == "converged"
    assert found["dual_objective"] <= found["objective"]
    assert found["dual_gap"] <= found["tol"]
