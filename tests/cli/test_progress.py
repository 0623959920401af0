"""Lines that tell of a fit."""

import pytest

from multimargin.cli import progress
from multimargin.methods import METHODS, make_method


@pytest.mark.parametrize("name", METHODS)
def test_what_every_method_tells(name, capsys, monkeypatch):
    clock = iter([0.0, 4.0, 6.0, 6.0, 7.0, 12.0, 12.0])
    monkeypatch.setattr(progress, "monotonic", lambda: next(clock))
    estimator = make_method(name)
    before = estimator.get_params()
    with progress.shown_fit(METHODS[name], estimator):
        assert sum(value == 1 for key, value in estimator.get_params().items() if "verbose" in key)
        for number in range(4):
            print(f"epoch {number}")
    assert capsys.readouterr() == ("", "epoch 1\nepoch 3\n")
    assert str(estimator.get_params()) == str(before)
    estimator.set_params(**{METHODS[name].parameter("verbose"): 2})
    with progress.shown_fit(METHODS[name], estimator):
        print("epoch")
    assert capsys.readouterr() == ("", "epoch\n")
