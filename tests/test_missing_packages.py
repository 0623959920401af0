"""What an optional package is missing for is told, with the extra that has it."""

import importlib
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from multimargin import RankSVM, Reasons
from multimargin.datasets import load_digit_attributes
from multimargin.model_files import ModelInfo, save_model
from multimargin.onnx import export
from multimargin.plots import ReasonsDisplay


def write_onnx() -> None:
    X, Y = load_digit_attributes().split("train")
    export(RankSVM(kernel="linear", tol=0.1).fit(X[:20], Y[:20]), "a.onnx")


CALLS: dict[str, Callable[[], object]] = {
    "compare": lambda: importlib.import_module("multimargin.compare"),
    "onnx": write_onnx,
    "save": lambda: save_model(RankSVM(), "no.model", info=ModelInfo("rank-svm", ("b",))),
    "draw": lambda: ReasonsDisplay(Reasons("b", ("c",), np.ones(1), 0.0)).plot(),
    "frame": lambda: load_digit_attributes().train_test(as_frame=True),
}


class Missing:
    """Finds no package of a name. (A None among the modules would be one to scikit-learn 1.6.)"""

    def __init__(self, package: str) -> None:
        self.package = package

    def find_spec(self, name: str, path: object = None, target: object = None) -> None:
        if name == self.package:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


@pytest.mark.parametrize(
    ("package", "call", "message"),
    [
        ("pandas", "compare", r"multimargin\.compare needs pandas, .*'multimargin\[stats\]'"),
        ("onnx", "onnx", r"the export needs onnx, .*'multimargin\[onnx\]'"),
        ("skops.io", "save", r"model files need skops, .*'multimargin\[models\]'"),
        ("matplotlib", "draw", r"plots need matplotlib, .*'multimargin\[plots\]'"),
        ("pandas", "frame", r"as_frame=True\) need pandas, .*'multimargin\[tables\]'"),
    ],
)
def test_it_is_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, package: str, call: str, message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delitem(sys.modules, package, raising=False)
    monkeypatch.setattr(sys, "meta_path", [Missing(package), *sys.meta_path])
    # As if nothing of it had been imported yet.
    monkeypatch.delitem(sys.modules, "multimargin.compare", raising=False)
    with pytest.raises(ImportError, match=message):
        CALLS[call]()
    assert not list(tmp_path.iterdir())
