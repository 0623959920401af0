"""``multimargin tune``: what it finds, writes and refuses."""

import json
import shlex
import signal
import sys

import pytest
from sklearn.model_selection import GridSearchCV

from multimargin import RankSVM
from multimargin.cli.run import run
from multimargin.datasets import load_digit_attributes
from multimargin.measures import get_scorer
from multimargin.scaling import with_scaler
from multimargin.tuning import MultilabelStratifiedKFold
from tests.support.subsets import first_fast


def found(capsys, *arguments):
    assert run(["tune", "digits", *arguments, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


@pytest.mark.parametrize("search", first_fast(["--lazy", "--full"], 1))
def test_finds_what_a_search_in_python_finds(capsys, search):
    report = found(capsys, "--grid", "gamma=0.25,1", "--grid", "C=2^0,10", search)
    X, _, Y, _ = load_digit_attributes().train_test()
    grid = {"method__gamma": [0.25, 1.0], "method__C": [1.0, 10.0]}
    expected = GridSearchCV(
        with_scaler(RankSVM(random_state=0), "minmax", sparse=False),
        grid,
        scoring=get_scorer("ranking_average_precision"),
        cv=MultilabelStratifiedKFold(3),
    ).fit(X, Y)
    best = report["best"]["parameters"]
    assert best == {name.removeprefix("method__"): v for name, v in expected.best_params_.items()}
    assert report["best"]["ranking_average_precision"] == pytest.approx(expected.best_score_)
    assert len(report["tried"]) == (4 if search == "--full" else 3)
    assert report["search"] == search.removeprefix("--")


def test_writes_json_and_says_how_to_go_on(capsys, tmp_path):
    path = tmp_path / "best of it.json"
    arguments = ["--method", "mlodm", "--grid", "C=1,8", "--gamma", "0.25", "--cv", "2"]
    arguments += ["--score", "average-precision", "--scale", "standard", "--split", "all"]
    assert run(["tune", "digits", *arguments, "-o", str(path)]) == 0
    printed = capsys.readouterr().out
    report = json.loads(path.read_text(encoding="utf-8"))
    assert report["method"] == "mlodm"
    assert report["n_rows"] == 1797
    values = [one["average_precision"] for one in report["tried"]]
    assert report["best"]["average_precision"] == max(values)
    # The name may be cut in two, as the folder before it is long.
    assert "bestofit.json" in "".join(printed.split())
    command = " ".join(printed[printed.index("multimargin fit") :].split())
    assert shlex.split(command)[1:] == [
        *("fit", "digits", "--method", "mlodm", "--C", "8.0", "--gamma", "0.25"),
        *("--scale", "standard", "--split", "all"),
    ]
    assert run([*shlex.split(command)[1:]]) == 0


@pytest.mark.parametrize("suffix", first_fast(["png", "svg", "pdf"], 1))
def test_draws_what_it_tuned(capsys, tmp_path, suffix):
    path = tmp_path / f"curve.{suffix}"
    grid = ["--grid", "C=1,8", "--grid", "gamma=0.25", "--grid", "tol=1e-2,1e-3", "--cv", "2"]
    assert run(["tune", "digits", *grid, "--plot", str(path)]) == 0
    heads = {"png": b"\x89PNG", "svg": b"<?xml", "pdf": b"%PDF"}
    assert path.read_bytes().startswith(heads[suffix])


def test_refuses_a_picture_of_unknown_kind_before_it_fits(capsys, tmp_path):
    assert run(["tune", "digits", "--plot", str(tmp_path / "curve.doc")]) == 2
    assert "expected a file ending in .png, .svg or .pdf" in capsys.readouterr().err


def test_the_grid_of_the_paper_without_what_is_fixed(capsys):
    report = found(capsys, "--method", "rank-svm", "--gamma", "0.25", "--cv", "2", "--tol", "0.1")
    tried = [one["parameters"] for one in report["tried"]]
    assert [set(one) for one in tried] == [{"C"}] * 10
    assert found(capsys, "-m", "mlrl", "--cv", "2")["best"]["parameters"].keys() == {"lam"}


def test_kinds_of_values_aliases_and_jobs(capsys):
    report = found(capsys, "--grid", "kernel=linear,rbf", "--full", "--cv", "2", "--jobs", "2")
    assert {one["parameters"]["kernel"] for one in report["tried"]} == {"linear", "rbf"}
    report = found(capsys, "-m", "llsf-bsvm", "--grid", "alpha=0.1,1", "--cv", "2")
    assert set(report["best"]["parameters"]) == {"selector__alpha"}
    assert run(["tune", "digits", "-m", "llsf-bsvm", "--grid", "alpha=0.1", "--cv", "2"]) == 0
    assert "--alpha 0.1" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("--grid C", "--grid is 'C'; expected a form such as C=1,2,4"),
        ("--grid C=", "--grid is 'C='; expected a form"),
        ("--grid c=1", "rank-svm has no parameter 'c' (did you mean 'C'?)"),
        ("--grid C=1 --grid C=2", "C is given twice"),
        ("--grid C=1,2 --C 3", "C is given twice"),
        ("--C 1 --gamma 1", "nothing is left to tune of C, gamma; expected --grid"),
        ("--score auc", "--score is 'auc'; expected one of auc_macro, auc_micro, "),
        ("--cv 1300", "--cv is 1300; expected at most 1198, the number of rows of train"),
        ("--jobs 0", "--jobs is 0; expected a number of fits, or -1"),
        ("--rounds 0", "--rounds"),
        ("--method svm", "there is no method 'svm'"),
    ],
)
def test_wrong_usage(capsys, arguments, message):
    assert run(["tune", "digits", *arguments.split()]) == 2
    printed = capsys.readouterr()
    assert message in printed.err
    assert printed.err.count("\n") == 1
    assert printed.out == ""


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("--grid C=-1,1", "C is -1.0; expected a finite number above 0"),
        ("--grid C=many", "C is 'many'; expected a finite number"),
        ("-o /no/such/folder/best.json", "--output: there is no folder '/no/such/folder'"),
    ],
)
def test_errors(capsys, arguments, message):
    assert run(["tune", "digits", *arguments.split()]) == 1
    assert message in capsys.readouterr().err


def test_each_setting_is_told_and_edges_are_warned_of(capsys):
    assert run(["tune", "digits", "--grid", "C=1,2,3", "--grid", "gamma=1", "--full"]) == 0
    lines = capsys.readouterr().err.splitlines()
    told = [line for line in lines if " of at most 3: C " in line]
    assert [line.split()[0] for line in told] == ["1", "2", "3"]
    assert ": ranking_average_precision 0.9" in told[-1]
    assert ", the best so far; " in told[0]
    edges = [line for line in lines if "that was tried" in line]
    best = told[-1].split("(")[1].split(",")[0] if "(" in told[-1] else "C 3"
    if best == "C 2":
        assert not edges
    else:
        edge = {"C 1": "smallest", "C 3": "largest"}[best]
        assert f"the best C, {best[2:]}, is the {edge} that was tried" in edges[0]


def test_a_linear_kernel_has_no_width_to_tune(capsys):
    grid = ["tune", "digits", "-m", "rank-svm", "--kernel", "linear", "--max-iter", "1", "--json"]
    assert run(grid) == 0
    tried = json.loads(capsys.readouterr().out)["tried"]
    assert {tuple(one["parameters"]) for one in tried} == {("C",)}


def test_rows_put_aside_are_not_tuned_on(capsys, tmp_path):
    file = tmp_path / "songs.csv"
    rows = ["artist,tempo,fast,slow"]
    rows += [f"a{k // 3},{k % 12 + 0.5},{int(k % 12 > 5)},{int(k % 12 < 7)}" for k in range(60)]
    file.write_text("\n".join(rows) + "\n")
    data = [str(file), "--labels", "last:2", "--holdout", "0.25", "--group", "artist"]
    assert run(["tune", *data, "--grid", "C=1,10", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["split"], found["n_rows"]) == ("train", 45)
    assert run(["tune", *data, "--grid", "C=1,10"]) == 0
    assert "--holdout 0.25 --group artist" in capsys.readouterr().out
    assert run(["fit", *data, "-m", "rank-svm", "-o", str(tmp_path / "m"), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["n_rows"], found["n_held_out"]) == (45, 15)
    assert set(found["measures"]) >= {"ranking_loss", "micro_f1"}
    assert run(["fit", "digits", "--holdout", "0.25"]) == 2
    assert "--holdout is given, but digit attributes has the parts" in capsys.readouterr().err
    assert run(["fit", "digits", "--group", "x"]) == 2
    assert "--group is for tables" in capsys.readouterr().err


def test_an_interrupted_search_keeps_what_it_has_tried(capsys, tmp_path, monkeypatch):
    path, fit, fits = tmp_path / "best.json", RankSVM.fit, []

    def pressed(model, *arguments, **named):
        # In the first fold of the third of four values.
        if len(fits) == 4:
            raise KeyboardInterrupt
        fits.append(model.C)
        return fit(model, *arguments, **named)

    monkeypatch.setattr(RankSVM, "fit", pressed)
    arguments = ["tune", "digits", "--method", "rank-svm", "--grid", "C=1,2,4,8", "--cv", "2"]
    assert run([*arguments, "-o", str(path)]) == 130
    report = json.loads(path.read_text(encoding="utf-8"))
    assert report["interrupted"]
    tried = {one["parameters"]["C"]: one["ranking_average_precision"] for one in report["tried"]}
    assert list(tried) == [1.0, 2.0]
    assert tried[report["best"]["parameters"]["C"]] == max(tried.values())
    assert "multimargin fit" in capsys.readouterr().out


@pytest.mark.parametrize("name", ["_write", "_report"])
def test_a_press_after_the_search_loses_nothing(tmp_path, monkeypatch, name):
    from multimargin.cli import tune

    path, original = tmp_path / "best.json", getattr(tune, name)

    def pressed(*arguments):
        signal.raise_signal(signal.SIGINT)
        return original(*arguments)

    monkeypatch.setattr(tune, name, pressed)
    arguments = ["tune", "digits", "--method", "rank-svm", "--grid", "C=1,2", "--cv", "2"]
    assert run([*arguments, "-o", str(path)]) == 130
    assert not json.loads(path.read_text(encoding="utf-8"))["interrupted"]


def test_the_worst_of_many_are_counted(capsys):
    values = ",".join(map(str, range(1, 13)))
    arguments = ["--method", "llsf", "--grid", f"alpha={values}", "--cv", "2", "--full"]
    assert run(["tune", "digits", *arguments]) == 0
    assert "... and 2 that are worse" in capsys.readouterr().out


def test_a_picture_needs_matplotlib(capsys, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    arguments = ["--grid", "C=1,8", "--plot", str(tmp_path / "a.png")]
    assert run(["tune", "digits", *arguments]) == 2
    assert "--plot needs matplotlib, which is not installed" in capsys.readouterr().err
