import pytest

from multimargin.compare import BASELINES
from multimargin.methods import METHODS

ALL = {**METHODS, **BASELINES}


def test_all(command) -> None:
    answer = command("methods")
    assert answer.code == 0
    assert [line.split()[0] for line in answer.out.splitlines() if line[0] != " "] == list(ALL)
    assert answer.out.count("baseline:") == len(BASELINES)
    found = command("methods", "--json").json["methods"]
    assert [method["name"] for method in found] == list(ALL)
    assert [method["name"] for method in found if method["baseline"]] == list(BASELINES)


@pytest.mark.parametrize("name", [*METHODS, "ml-knn", "lift", "ovr-svc"])
def test_one(command, name: str) -> None:
    answer = command("methods", name)
    assert answer.out.startswith(f"{ALL[name].title}: {ALL[name].summary}\n")
    for parameter in ALL[name].parameters:
        assert f"\n--{parameter} " in answer.out
    assert answer.out.count("tuned over") == len(ALL[name].grid)
    found = command("methods", name, "--json").json
    assert found["parameters"].keys() == ALL[name].parameters.keys()
    assert {key: tuple(values) for key, values in found["grid"].items()} == ALL[name].grid


def test_powers_are_written_as_they_can_be_typed(command) -> None:
    assert "tuned over 2^-10, 2^-9, 2^-8, ..., 2^2" in command("methods", "rank-svm").out


def test_unknown(command) -> None:
    answer = command("methods", "llfs")
    assert answer.code == 2
    assert "did you mean 'llsf'?" in answer.err
