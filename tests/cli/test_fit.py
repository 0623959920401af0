"""Fits from the command line are those of the library."""

import re

import pytest
from numpy.testing import assert_array_equal

from multimargin.methods import METHODS, make_method
from multimargin.model_files import load_model, read_info
from multimargin.scaling import with_scaler


def fit(command, source, line, *more):
    return command("fit", source, *line.split(), *more)


def test_the_model_is_that_of_the_library(command, folder, small, tmp_path):
    file = tmp_path / "a.model"
    options = "--method mlodm --set C=2^3 --set mu=0.4 --scale standard -o"
    answer = fit(command, folder, options, file)
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
def test_every_method(command, folder, name):
    answer = command("fit", folder, "-m", name, "--json")
    assert (answer.code, answer.err) == (0, "")
    found = answer.json
    assert found["method"] == name
    assert found["certificate"]["status"] == "converged"
    assert found["certificate"]["gap"] <= found["certificate"]["tol"]
    assert (found["split"], found["n_rows"], found["model"]) == ("train", 90, None)


def test_json(command, folder):
    parameters = fit(command, folder, "-m llsf-bsvm --set C=0.5 --json").json["parameters"]
    assert parameters["estimator__C"] == 0.5
    assert "estimator" not in parameters
    for split, n in (("test", 40), ("all", 130)):
        found = fit(command, folder, f"--split {split} --json").json
        assert (found["split"], found["n_rows"]) == (split, n)
    # Printed epochs do not mix with it.
    answer = fit(command, folder, "-m rank-svm --set verbose=1 --json")
    assert answer.json["certificate"]["status"] == "converged"
    assert "epoch    1" in answer.err


def test_a_fit_that_does_not_converge_warns(command, folder):
    answer = command("fit", folder, "-m", "rank-svm", "--set", "max_iter=1", "--json")
    assert answer.code == 0
    assert answer.json["certificate"]["status"] == "max_iterations"
    assert answer.err.startswith("warning: RankSVM ended (max_iterations)")
    assert answer.err.count("\n") == 1


def test_errors(command, folder):
    for arguments, code, message in (
        ("-m mlodn", 2, "there is no method 'mlodn' (did you mean 'mlodm'?)"),
        ("--set gama=1", 2, "--set: rank-svm has no parameter 'gama' (did you mean 'gamma'?)"),
        ("--method=", 2, "there is no method ''"),
        ("--C 8", 2, "No such option: --C; a parameter of the method is given by --set NAME=VALUE"),
        ("--scale x", 2, "--scale is 'x'; expected one of minmax, standard"),
        ("--split x", 2, "--split is 'x'; expected one of train, test, all for small"),
        ("--split test --holdout 0.3", 2, "--split is 'test' with --holdout, whose rows"),
        ("--split all --holdout 0.3", 2, "--split is 'all' with --holdout, whose rows"),
        ("--set C=-8", 1, "C is -8.0; expected a finite number above 0 "),
        ("--set C=nan", 1, "C is nan; expected a finite number above 0 "),
        ("--set C=eight", 1, "C is 'eight'; expected a finite number"),
        ("--set kernel=wave", 1, "kernel is 'wave'; expected one of 'linear'"),
        ("--set kernel=precomputed", 1, "X has shape (90, 32); expected a square kernel"),
        ("-o no/where", 1, "--output: there is no folder 'no'"),
        ("-o .", 1, "--output: '.' is a folder"),
        ("--time-limit 0", 2, "--time-limit is 0; expected a positive number"),
        ("-m knn --time-limit 1", 2, "--time-limit is given, but knn is a baseline, whose fits"),
    ):
        answer = fit(command, folder, f"-m rank-svm {arguments} --json")
        assert (answer.code, answer.out) == (code, ""), arguments
        assert answer.err.startswith(f"multimargin fit: {message}"), arguments
        assert answer.err.count("\n") == 1, arguments


def test_a_bound_that_proves_nothing_is_not_praised(command, folder):
    options = "-m rank-svm --set kernel=sigmoid --set gamma=1 --set coef0=-1"
    answer = fit(command, folder, options)
    assert "not positive semidefinite" in answer.err
    assert "proves nothing here" in answer.out


def test_a_baseline_has_no_certificate_and_is_kept(command, tmp_path):
    path = str(tmp_path / "model")
    answer = command("fit", "digits", "-m", "ml-knn", "-o", path, "--json")
    assert answer.json["certificate"] is None
    assert "Certificate" not in command("fit", "digits", "-m", "ml-knn").out
    assert command("evaluate", path, "digits", "--json").json["method"] == "ml-knn"


def test_a_model_that_no_command_reads_back_is_told(command, folder, tmp_path):
    path = tmp_path / "model"
    answer = fit(command, folder, "-m random-forest --set n_estimators=2", "-o", path)
    assert "predict and evaluate refuse" in answer.err
    assert "sklearn.tree._tree.Tree" in answer.err
    assert command("evaluate", path, folder).code == 1


def test_a_time_limit_ends_with_a_certified_model(command, folder, tmp_path):
    file = tmp_path / "a.model"
    options = "-m rank-svm --set tol=1e-9 --set C=100 --time-limit 1e-9 -o"
    answer = fit(command, folder, options, file)
    assert answer.code == 0
    assert answer.err.startswith("warning: RankSVM stopped after max_time=1e-09 s, in 1 of ")
    assert re.search(r"\nstatus +time_limit ", answer.out)
    assert load_model(file)[-1].status_ == "time_limit"
    # The selection of features has it.
    options = "-m llsf-bsvm --time-limit 1e-9 --set tol=1e-12 --json"
    found = fit(command, folder, options)
    assert found.json["parameters"]["selector__max_time"] == 1e-9


def test_a_recall_is_asked_for_and_kept_in_the_file(command, folder, tmp_path):
    file = tmp_path / "a.model"
    few = "--set Cs=[1] --set stack=None --set loss=hinge --set class_weight=None --set top_k=None"
    assert fit(command, folder, f"--recall 0.8 {few} -o", file).code == 0
    assert load_model(file)[-1].threshold_.recall == 0.8
    for line, message in (
        ("--recall 0.9 -m rank-svm", "rank-svm learns its threshold from rows that it was fitted"),
        ("--recall 0.9 --precision 0.9", "--recall and --precision are both given"),
        ("--precision 1.5", "--precision is 1.5; expected a number between 0 and 1"),
        ("--precision 0.5 --set threshold=macro", "--precision and --set threshold are both given"),
    ):
        answer = fit(command, folder, line)
        assert answer.code == 2
        assert message in answer.err
