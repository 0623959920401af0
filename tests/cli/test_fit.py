"""Fits from the command line are those of the library."""

import re
from pathlib import Path

import pytest
from numpy.testing import assert_array_equal

from multimargin.datasets import MultilabelData
from multimargin.methods import METHODS, make_method
from multimargin.model_files import load_model, read_info
from multimargin.scaling import with_scaler
from tests.support.files import write_svmlight


def test_the_model_is_that_of_the_library(
    command, folder: Path, small: MultilabelData, tmp_path: Path
) -> None:
    file = tmp_path / "a.model"
    answer = command(
        "fit", folder, "--method", "mlodm", "--set", "C=2^3", "--set", "mu=0.4",
        "--scale", "standard", "-o", file,
    )  # fmt: skip
    assert (answer.code, answer.err) == (0, "")
    X, X_test, Y, _ = small.train_test()
    expected = with_scaler(make_method("mlodm", C=8.0, mu=0.4), "standard").fit(X, Y)
    model = load_model(file)
    info = read_info(file)
    assert_array_equal(model.decision_function(X_test), expected.decision_function(X_test))
    assert (info.method, info.data_name, info.split) == ("mlodm", "small", "train")
    assert info.label_names == tuple(small.label_names)
    assert info.feature_names == tuple(small.feature_names)
    certificate = expected[-1]
    assert f"\nobjective    {certificate.objective_:.8g} " in answer.out
    assert f"\nlower bound  {certificate.dual_objective_:.8g} " in answer.out
    assert f"\ngap          {certificate.dual_gap_:.2e} " in answer.out
    assert re.search(r"\nstatus +converged ", answer.out)
    assert "small: 90 rows (train), 32 features, 7 labels" in answer.out
    assert str(file) in "".join(line.strip() for line in answer.out.splitlines())


@pytest.mark.parametrize("name", METHODS)
def test_every_method(command, folder: Path, name: str) -> None:
    answer = command("fit", folder, "-m", name, "--json")
    assert (answer.code, answer.err) == (0, "")
    found = answer.json
    assert found["method"] == name
    assert found["certificate"]["status"] == "converged"
    assert found["certificate"]["dual_gap"] <= found["certificate"]["tol"]
    assert (found["split"], found["n_rows"], found["model"]) == ("train", 90, None)


def test_parameters_in_json_are_those_of_the_method(command, folder: Path) -> None:
    parameters = command("fit", folder, "-m", "llsf-bsvm", "--set", "C=0.5", "--json").json[
        "parameters"
    ]
    assert parameters["estimator__C"] == 0.5
    assert "estimator" not in parameters


def test_splits(command, folder: Path) -> None:
    for split, n in (("test", 40), ("all", 130)):
        found = command("fit", folder, "--split", split, "--json").json
        assert (found["split"], found["n_rows"]) == (split, n)


def test_sparse_data(command, small: MultilabelData, tmp_path: Path) -> None:
    write_svmlight(small, tmp_path / "small.svm")
    for scale in ("minmax", "standard", "unit", "none"):
        answer = command(
            "fit",
            tmp_path / "small.svm",
            "-m",
            "rank-svm",
            "--scale",
            scale,
            "--set",
            "kernel=linear",
            "--set",
            "C=1",
        )
        assert (answer.code, answer.err) == (0, "")


def test_a_fit_that_does_not_converge_warns(command, folder: Path) -> None:
    answer = command("fit", folder, "-m", "rank-svm", "--set", "max_iter=1", "--json")
    assert answer.code == 0
    assert answer.json["certificate"]["status"] == "max_iterations"
    assert answer.err.startswith("warning: RankSVM ended (max_iterations)")
    assert answer.err.count("\n") == 1


def test_printed_epochs_do_not_mix_with_json(command, folder: Path) -> None:
    answer = command("fit", folder, "-m", "rank-svm", "--set", "verbose=1", "--json")
    assert answer.json["certificate"]["status"] == "converged"
    assert "epoch    1" in answer.err


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["-m", "mlodn"], 2, "there is no method 'mlodn' (did you mean 'mlodm'?)"),
        (["--set", "gama=1"], 2, "--set: rank-svm has no parameter 'gama' (did you mean 'gamma'?)"),
        (["--C", "8"], 2, "No such option: --C"),
        (["--scale", "x"], 2, "--scale is 'x'; expected one of 'minmax'"),
        (["--split", "x"], 2, "--split is 'x'; expected one of train, test, all for small"),
        (["--set", "C=-8"], 1, "C is -8.0; expected a finite number above 0 "),
        (["--set", "C=nan"], 1, "C is nan; expected a finite number above 0 "),
        (["--set", "C=eight"], 1, "C is 'eight'; expected a finite number"),
        (["--set", "kernel=wave"], 1, "kernel is 'wave'; expected one of 'linear'"),
        (["--set", "kernel=precomputed"], 1, "X has shape (90, 32); expected a square kernel"),
        (["-o", "no/where"], 1, "--output: there is no folder 'no'"),
        (["-o", "."], 1, "--output: '.' is a folder"),
    ],
)
def test_errors(command, folder: Path, arguments: list[str], code: int, message: str) -> None:
    answer = command("fit", folder, "-m", "rank-svm", *arguments, "--json")
    assert (answer.code, answer.out) == (code, "")
    assert answer.err.startswith(f"multimargin fit: {message}")
    assert answer.err.count("\n") == 1


def test_a_bound_that_proves_nothing_is_not_praised(command, folder: Path) -> None:
    answer = command(
        "fit",
        folder,
        "-m",
        "rank-svm",
        "--set",
        "kernel=sigmoid",
        "--set",
        "gamma=1",
        "--set",
        "coef0=-1",
    )
    assert "not positive semidefinite" in answer.err
    assert "proves nothing here" in answer.out


def test_a_baseline_has_no_certificate_and_is_kept(command, tmp_path) -> None:
    path = str(tmp_path / "model")
    assert (
        command("fit", "digits", "-m", "ml-knn", "-o", path, "--json").json["certificate"] is None
    )
    assert "Certificate" not in command("fit", "digits", "-m", "ml-knn").out
    assert command("evaluate", path, "digits", "--json").json["method"] == "ml-knn"


def test_a_time_limit_ends_with_a_certified_model(command, folder: Path, tmp_path: Path) -> None:
    file = tmp_path / "a.model"
    answer = command(
        "fit",
        folder,
        "-m",
        "rank-svm",
        "--set",
        "tol=1e-9",
        "--set",
        "C=100",
        "--time-limit",
        "1e-9",
        "-o",
        file,
    )
    assert answer.code == 0
    assert answer.err.startswith("warning: RankSVM stopped after max_time=1e-09 s, in 1 of ")
    assert re.search(r"\nstatus +time_limit ", answer.out)
    assert load_model(file)[-1].status_ == "time_limit"
    # The selection of features has it.
    found = command("fit", folder, "-m", "llsf-bsvm", "--time-limit", "1e-9", "--set", "tol=1e-12",
                    "--json")  # fmt: skip
    assert found.json["parameters"]["selector__max_time"] == 1e-9


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--time-limit", "0"], "--time-limit is 0; expected a positive number of seconds"),
        (["-m", "knn", "--time-limit", "1"], "knn is a baseline, whose fits have no limit"),
    ],
)
def test_wrong_time_limits(command, folder: Path, arguments: list[str], message: str) -> None:
    answer = command("fit", folder, "-m", "rank-svm", *arguments)
    assert answer.code == 2
    assert message in answer.err
