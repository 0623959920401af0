"""The demonstration, on a part of its data."""

import io
import re
import sys
from importlib import reload

import numpy as np
import pytest
from rich.console import Console

from multimargin.cli import demonstration as demo
from multimargin.datasets import MultilabelData, load_digit_attributes
from multimargin.measures import MEASURES


@pytest.fixture(scope="module")
def small() -> MultilabelData:
    data = load_digit_attributes()
    return MultilabelData(
        X=data.X,
        Y=data.Y,
        label_names=data.label_names,
        name="some digits",
        splits={"train": np.arange(150), "test": np.arange(1500, 1600)},
    )


def test_the_table_has_all_measures_of_both_methods(small: MultilabelData) -> None:
    output = io.StringIO()
    demo.main(small, Console(file=output, width=100))
    text = output.getvalue()

    assert "some digits" in text
    words = " ".join(text.split())
    for label in small.label_names:
        assert label in words
    rows = {
        cells[1].strip(): cells[3:5]
        for cells in (re.split("[│┃|]", line) for line in text.splitlines())
        if len(cells) == 6
    }
    results = demo.compare(small)
    for key, measure in MEASURES.items():
        shown = [float(cell) for cell in rows[measure.title]]
        expected = [result.measures[key] for result in results.values()]
        assert shown == pytest.approx(expected, abs=5e-5)
    assert all(float(cell) >= 0 for cell in rows["fit, seconds"])


def test_the_certificate_is_that_of_the_model(small: MultilabelData) -> None:
    model = demo.compare(small)["RankSVM"].model
    output = io.StringIO()
    Console(file=output, width=100).print(demo.certificate_table(model))
    text = output.getvalue()
    assert model.status_ == "converged"
    numbers = dict(re.findall(r"│ ([a-z ]+?)\s*│\s*(\S+) │", text))
    assert float(numbers["primal objective"]) == pytest.approx(model.objective_, abs=1e-6)
    assert float(numbers["dual objective"]) == pytest.approx(model.dual_objective_, abs=1e-6)
    assert float(numbers["relative duality gap"]) == pytest.approx(model.dual_gap_, rel=1e-2)
    assert numbers["status"] == "converged"
    assert f"after {model.n_iter_} epochs" in text


def test_each_epoch_is_shown(small: MultilabelData) -> None:
    pytest.importorskip("sklearn.callback", reason="callbacks came with scikit-learn 1.9")
    output = io.StringIO()
    demo.main(small, Console(file=output, width=100, force_terminal=True))
    epochs = re.findall(r"epoch (\d+), duality gap (\S+)", output.getvalue())
    assert epochs
    assert float(epochs[-1][1].split("\x1b")[0]) <= 1e-3


def test_a_missing_rich_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "rich.console", None)
    with pytest.raises(ImportError, match=r"pip install multimargin\[cli\]"):
        reload(demo)
