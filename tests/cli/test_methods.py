import pytest

from multimargin.methods import BASELINES, METHODS

ALL = {**METHODS, **BASELINES}


def test_all(command):
    answer = command("methods")
    assert answer.code == 0
    assert [line.split()[0] for line in answer.out.splitlines() if line[0] != " "] == list(ALL)
    assert answer.out.count("baseline:") == len(BASELINES)
    found = command("methods", "--json").json["methods"]
    assert [method["name"] for method in found] == list(ALL)
    assert [method["name"] for method in found if method["baseline"]] == list(BASELINES)


@pytest.mark.parametrize("name", [*METHODS, "ml-knn", "rakel", "ovr-svc"])
def test_one(command, name):
    answer = command("methods", name)
    assert answer.out.startswith(f"{ALL[name].title}: {ALL[name].summary}\n")
    for parameter in ALL[name].parameters:
        assert f"\n{parameter} " in answer.out
    assert " ".join(answer.out.split()).count("Tuned over") == len(ALL[name].grid)
    found = command("methods", name, "--json").json
    assert found["parameters"].keys() == ALL[name].parameters.keys()
    assert {key: tuple(values) for key, values in found["grid"].items()} == ALL[name].grid


def test_choices_and_meanings_are_those_of_the_docstring(command):
    words = " ".join(command("methods", "rank-svm").out.split())
    assert " bias free {" in words
    assert "Relative duality gap at which to stop, positive." in words
    # Of an estimator inside the method.
    assert "beta 0.1 float. Weight of the l1 norm, positive" in " ".join(
        command("methods", "llsf-bsvm").out.split()
    )
