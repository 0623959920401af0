"""Exit codes, errors of one line, interruption: what holds for every command."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from unittest.mock import Mock

import pytest

from multimargin import __version__
from multimargin import cli as package
from multimargin.cli.app import app
from multimargin.datasets import load_digit_attributes
from multimargin.model_files import load_model


def test_help_without_arguments(command):
    answer = command()
    assert answer.code == 0
    assert answer.err == ""
    for name in (one.name for one in app.registered_commands):
        assert f"  {name}" in answer.out
        assert f"  multimargin {name}" in command(name, "--help").out


def test_version(command):
    answer = command("--version")
    assert (answer.code, answer.err) == (0, "")
    assert answer.out.splitlines()[0] == f"multimargin {__version__}"
    assert len(answer.out.splitlines()) == 1
    assert "scikit-learn" in command("--versions").out


def test_errors_are_one_line_on_standard_error(command):
    for line, code, message in (
        ("frobnicate", 2, ": No such command 'frobnicate'"),
        ("info", 2, " info: Missing argument 'DATA'"),
        ("methods llfs", 2, " methods: there is no method 'llfs' (did you mean 'llsf'?)"),
        ("info digits --splt x", 2, " info: No such option"),
        ("info nope", 1, " info: there is no file or folder 'nope'; expected"),
        ("info a/b.arff", 1, " info: there is no file or folder 'a/b.arff'"),
        ("verify digits --rows x", 2, " verify: Invalid value for '--rows'"),
        ("predict none.model digits", 1, " predict: there is no file"),
    ):
        answer = command(*line.split())
        assert (answer.code, answer.out) == (code, ""), line
        assert answer.err.startswith(f"multimargin{message}")
        assert answer.err.count("\n") == 1, line
        assert answer.err.rstrip().endswith("--help)") == (code == 2), line


def test_a_model_behind_the_data_is_asked_for_in_front(command, tmp_path):
    (tmp_path / "t.csv").write_text("x,a,b\n1,0,1\n")
    answer = command("predict", tmp_path / "t.csv", "some.model")
    assert answer.code == 1
    assert "not a multimargin model; expected a file that multimargin fit wrote, in" in answer.err


def test_errors_of_others(command, monkeypatch):
    for error, line in (
        (KeyError("no column 'x'"), "no column 'x'"),
        (PermissionError(13, "Permission denied", "secret.arff"), "secret.arff: Permission denied"),
        (ValueError("C is\n-1"), "C is -1"),
        (
            AttributeError("it\nbroke"),
            "unexpected AttributeError: it broke (multimargin --debug shows more)",
        ),
    ):
        monkeypatch.setattr("multimargin.datasets.load", Mock(side_effect=error))
        answer = command("info", "digits")
        assert (answer.code, answer.out, answer.err) == (1, "", f"multimargin info: {line}\n")
    assert "Traceback" in command("--debug", "info", "digits").err


# Commands, and where Ctrl-C meets them: DATA and MODEL stand for files.
INTERRUPTED = [
    ("info DATA", "multimargin.datasets.load"),
    ("evaluate MODEL DATA", "multimargin.model_files.read_model"),
    ("predict MODEL DATA", "multimargin.datasets.load"),
    ("predict MODEL DATA", "multimargin.estimators.bases.label_scoring.check_is_fitted"),
    ("export MODEL -o x.onnx", "multimargin.onnx.export"),
    ("fit DATA -m mlodm", "multimargin.cli.data.make_pipeline"),
    ("fit DATA -m mlodm", "multimargin.estimators.bases.pairwise.solve_problem"),
    ("fit DATA --set Cs=1", "multimargin.estimators.label_ranker.search._held_out_scores"),
    ("compare DATA -m mlodm --cv 2", "multimargin.estimators.bases.pairwise.solve_problem"),
    ("verify DATA -m mlodm --rows 9", "multimargin.estimators.bases.pairwise.solve_problem"),
    ("verify DATA -m mlodm --rows 9", "multimargin.verification.optimum"),
]


@pytest.mark.parametrize(("line", "place"), INTERRUPTED)
def test_an_interrupt_is_one_line(command, model, folder, monkeypatch, line, place):
    pressed = []

    def interrupt(*_, **__):
        pressed.append(place)
        signal.raise_signal(signal.SIGINT)
        # As the compiled loop does where it is held back.
        raise KeyboardInterrupt

    monkeypatch.setattr(place, interrupt)
    files = {"DATA": folder, "MODEL": model}
    answer = command(*(files.get(word, word) for word in line.split()))
    assert pressed
    assert (answer.code, answer.out) == (130, "")
    *before, last = answer.err.lstrip("\n").splitlines()
    assert last == "multimargin: interrupted"
    assert all(told.startswith("stopped; no result is kept") for told in before)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_missing_extra_is_named(monkeypatch, capsys):
    for module in [name for name in sys.modules if name.startswith("multimargin.cli.")]:
        monkeypatch.delitem(sys.modules, module)
    # An error inside of an extra is not treated as its absence.
    monkeypatch.setitem(sys.modules, "multimargin.cli.app", None)
    with pytest.raises(ModuleNotFoundError, match=r"multimargin\.cli\.app"):
        package.main(["info", "digits"])
    monkeypatch.delitem(sys.modules, "multimargin.cli.app")
    monkeypatch.setitem(sys.modules, "typer", None)
    with pytest.raises(SystemExit) as stopped:
        package.main(["info", "digits"])
    assert stopped.value.code == 1
    assert capsys.readouterr().err == (
        "multimargin: the command line needs typer, which is not installed: "
        "pip install 'multimargin[cli]'\n"
    )
    # A report can be written all the same.
    with pytest.raises(SystemExit) as stopped:
        package.main(["--versions"])
    assert stopped.value.code == 0
    assert "typer" in capsys.readouterr().out


class TestProcess:
    """As a process of its own, from the shell."""

    PROGRAM = (sys.executable, "-m", "multimargin")

    def test_the_installed_program(self):
        program = Path(sys.executable).with_name("multimargin")
        answer = subprocess.run([program, "--version"], capture_output=True, text=True, check=True)
        assert answer.stdout.splitlines()[0] == f"multimargin {__version__}"

    def test_help_and_the_list_of_methods_load_no_library(self):
        program = (
            "import sys\nfrom multimargin.cli.run import run\n"
            "assert run(['fit', '--help']) == run(['methods']) == 0\n"
            "assert not {'numpy', 'scipy', 'sklearn', 'pandas', 'matplotlib'} & set(sys.modules)"
        )
        answer = subprocess.run([sys.executable, "-c", program], capture_output=True, check=False)
        assert answer.returncode == 0, answer.stderr

    def test_a_reader_that_stops_early(self):
        with subprocess.Popen(
            [*self.PROGRAM, "methods", "--json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE
        ) as child:
            child.stdout.close()
            assert child.stderr.read() == b""
            assert child.wait() == 1

    def test_ctrl_c(self, tmp_path):
        model = tmp_path / "a.model"
        settings = ("C=1e6", "tol=1e-15", "max_iter=1000000000", "verbose=1")
        endless = [word for setting in settings for word in ("--set", setting)] + ["--json"]
        with subprocess.Popen(
            [*self.PROGRAM, "fit", "digits", "-m", "rank-svm", "-o", str(model), *endless],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONUNBUFFERED": "1"},
        ) as child:
            try:
                # Its lines of progress tell that the fit has begun.
                for _ in range(2):
                    assert "epoch" in child.stderr.readline()
                child.send_signal(signal.SIGINT)
                out, err = child.communicate(timeout=300)
            finally:
                child.kill()
        assert child.returncode == 130
        assert err.splitlines()[-1] == "multimargin: interrupted"
        assert "Traceback" not in err
        # After the first epoch there is a model to keep.
        assert "the model reached so far" in err
        kept = load_model(model)
        assert kept[-1].status_ == "interrupted"
        assert kept[-1].n_iter_ >= 1
        X = load_digit_attributes().X
        assert kept.predict(X).shape == (len(X), 7)
        assert json.loads(out)["certificate"]["status"] == "interrupted"
