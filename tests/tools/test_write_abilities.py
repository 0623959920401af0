"""Every ability that the table states is tried: it works, or it is refused."""

import runpy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from multimargin import explain
from multimargin.methods import METHODS
from multimargin.methods.method import ALL_KERNELS, Abilities

# Fits end early, and labels are unknown on purpose.
pytestmark = pytest.mark.filterwarnings("ignore")

ROOT = Path(__file__).parents[2]
RANDOM = np.random.default_rng(0)
X = RANDOM.random((40, 5))
SCORES = X @ RANDOM.normal(size=(5, 3))
Y = (np.median(SCORES, axis=0) < SCORES).astype(float)
BIASES = ("free", "penalized", "none")


def works(attempt: Callable[[], Any]) -> bool:
    try:
        attempt()
    except (TypeError, ValueError):
        return False
    return True


def quick(name: str, **parameters: Any) -> Any:
    """An unfitted method, linear where it has kernels, that stops early."""
    method = METHODS[name]
    known = method.parameters
    short = {"max_iter": 3, "stack": None, "Cs": [1.0], "kernel": "linear", "n_jobs": 1}
    return method.make(**({key: short[key] for key in set(short) & set(known)} | parameters))


def abilities_of(name: str) -> Abilities:
    abilities = METHODS[name].abilities
    assert abilities is not None
    return abilities


@pytest.mark.parametrize("name", [name for name in METHODS if "kernel" in METHODS[name].parameters])
def test_kernels(name: str) -> None:
    def able(kernel: str) -> bool:
        given = (lambda A, B: A @ B.T) if kernel == "callable" else kernel
        features = X @ X.T if kernel == "precomputed" else X
        return works(lambda: quick(name, kernel=given).fit(features, Y))

    assert abilities_of(name).kernels == tuple(filter(able, ALL_KERNELS))


@pytest.mark.parametrize("name", METHODS)
def test_biases(name: str) -> None:
    def able(bias: str) -> bool:
        return works(lambda: quick(name, bias=bias).fit(X, Y))

    stated = abilities_of(name).biases
    if "bias" in METHODS[name].parameters:
        assert stated == tuple(filter(able, BIASES))
    elif len(stated) == 1 and stated[0] in BIASES:
        # Without features nothing but a bias ranks the most frequent label first.
        often = np.arange(40)[:, np.newaxis] % [4, 3, 2] > 0
        scores = quick(name).fit(np.zeros((40, 1)), often).label_scores(np.zeros((1, 1)))
        assert (np.ptp(scores) > 0.0) == (stated != ("none",))


@pytest.mark.parametrize("name", METHODS)
def test_what_else_a_method_can_do(name: str, tmp_path: Path) -> None:
    pytest.importorskip("onnx")
    fitting = pytest.importorskip("multimargin.dask.fitting")
    from multimargin.onnx import export

    abilities = abilities_of(name)
    model = quick(name).fit(X, Y, sample_weight=np.linspace(0.5, 2.0, len(X)))
    holes = Y.copy()
    holes[::5, 1] = np.nan
    assert abilities.unknown_labels == works(lambda: quick(name).fit(X, holes))
    assert abilities.dask == works(lambda: fitting.check_estimator(quick(name)))
    assert abilities.explain == works(lambda: explain(model, X[:1], 0))
    assert abilities.onnx == works(lambda: export(model, tmp_path / "model.onnx"))


def test_the_page_has_the_table() -> None:
    tool = runpy.run_path(str(ROOT / "tools" / "write_abilities.py"))
    table = tool["abilities_table"](METHODS)
    assert len(table.splitlines()) == 2 + len(METHODS)
    assert table in (ROOT / "docs" / "abilities.md").read_text(encoding="utf-8")
