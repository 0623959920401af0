from types import SimpleNamespace
from unittest.mock import Mock

import pytest

from multimargin.datasets import load_debian_tags
from multimargin.methods import make_method
from multimargin.scaling import make_scaler
from multimargin.verification import draw_rows, verify


def test_agreement(command, folder):
    answer = command("verify", folder, "-m", "mlodm", "--set", "C=8", "--rows", "10")
    assert (answer.code, answer.err) == (0, "")
    assert "small: 10 rows drawn from train, 32 features, 7 labels" in answer.out
    assert "MLODM(C=8.0, random_state=0)" in answer.out
    assert " agrees " in answer.out


def test_rows_of_ssmlrl_are_unlabelled_in_part(command, folder):
    answer = command("verify", folder, "-m", "ssmlrl", "--rows", "12")
    assert (answer.code, answer.err) == (0, "")
    assert "12 rows drawn from train, 4 as unlabelled" in answer.out


def test_json_is_what_the_library_says(command, folder, small):
    arguments = ("--rows", "9", "--seed", "3", "--scale", "unit", "--json")
    found = command("verify", folder, *arguments).json
    X, Y = small.split("train")
    rows = draw_rows(Y, 9, random_state=3)
    expected = verify(make_method("rank-svm"), make_scaler("unit").fit_transform(X[rows]), Y[rows])
    assert found["rows"] == rows.tolist()
    assert found["agrees"] is True
    assert found["verification"]["objective"] == expected.objective
    assert found["verification"]["exact_objective"] == pytest.approx(expected.exact_objective)


def test_disagreement_has_exit_code_1(command, folder):
    arguments = ("verify", folder, "--rows", "8", "--tolerance", "0")
    answer = command(*arguments)
    assert answer.code == 1
    assert "DOES NOT AGREE" in answer.out
    answer = command(*arguments, "--json")
    assert answer.code == 1
    assert answer.json["agrees"] is False


def test_a_failure_of_the_exact_solver_is_no_verdict(command, folder, monkeypatch):
    failing = Mock(side_effect=RuntimeError("no luck"))
    monkeypatch.setattr("multimargin.verification.verify", failing)
    answer = command("verify", folder, "--json")
    assert (answer.code, answer.out) == (1, "")
    assert "the exact solver failed, so nothing is verified: no luck; expected" in answer.err


def test_errors(command, folder):
    for line, code, message in (
        ("-m llsf-cc", 1, "LabelSpecificClassifierChain has no objective of its own"),
        ("--rows 0", 2, "Invalid value for '--rows'"),
        ("--seed 4294967296", 2, "Invalid value for '--seed'"),
        ("--split x", 2, "--split is 'x'"),
        ("--set x=1", 2, "--set: rank-svm has no parameter 'x'"),
    ):
        answer = command("verify", folder, *line.split())
        assert (answer.code, answer.out) == (code, ""), line
        assert answer.err.startswith(f"multimargin verify: {message}"), line


def test_many_pairs_are_told(command, monkeypatch):
    agreed = SimpleNamespace(agrees=True)
    monkeypatch.setattr("multimargin.verification.verify", lambda *_, **__: agreed)
    Y = load_debian_tags().split("train")[1]
    for rows in (2, 40):
        drawn = Y[draw_rows(Y, rows, random_state=0)]
        pairs = int((drawn.sum(axis=1) * (drawn == 0).sum(axis=1)).sum())
        answer = command("verify", "debian-tags", "--rows", str(rows), "--json")
        said = f"{pairs:,} pairs of labels: the exact solver may take minutes" in answer.err
        assert (answer.code, said) == (0, pairs > 10_000)
