import pytest

from multimargin.cli import demonstration as demo
from multimargin.datasets import MultilabelData


def test_it_is_the_demonstration(command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(demo, "main", lambda: print("shown"))
    assert command("demo") == (0, "shown\n", "")


def test_json(command, small: MultilabelData, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("multimargin.datasets.load_digit_attributes", lambda: small)
    found = command("demo", "--json").json
    results = demo.compare(small)
    assert found["measures"] == {
        name: pytest.approx(result.measures) for name, result in results.items()
    }
    assert found["certificate"]["objective"] == results["RankSVM"].model.objective_
