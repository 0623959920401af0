"""Ctrl-C after the loop of a fit: the file of -o is written, and the code is 130."""

import importlib
import signal

import pytest

from multimargin.estimators.bases import pairwise
from multimargin.model_files import load_model

# Where Ctrl-C comes: a function of a module, before it does its work or after.
PLACES = [
    ("multimargin.estimators.bases.pairwise", "make_threshold"),
    ("multimargin.estimators.bases.pairwise", "_status"),
    ("multimargin.cli.fit", "_info"),
    ("multimargin.model_files", "save_model"),
    ("multimargin.model_files", "path_to_write"),
    ("multimargin.model_files", "_skops_content"),
    ("multimargin.files", "_create_beside"),
    ("multimargin.cli.fit", "_report"),
    ("multimargin.cli.fit", "_end"),
]


@pytest.mark.parametrize("before", [True, False], ids=["before", "after"])
@pytest.mark.parametrize(("module", "name"), PLACES, ids=[name for _, name in PLACES])
def test_a_fit_with_a_certificate_is_written(
    command, folder, tmp_path, monkeypatch, module, name, before
):
    place = importlib.import_module(module)
    original, file = getattr(place, name), tmp_path / "d.model"
    # The loop has ended.
    ended: list[bool] = []
    certify = pairwise._status

    def certified(*arguments):
        ended.append(True)
        return certify(*arguments)

    def pressed(*arguments, **options):
        first = bool(ended) or name == "_status"
        if first and before:
            signal.raise_signal(signal.SIGINT)
        answer = original(*arguments, **options)
        if first and not before:
            signal.raise_signal(signal.SIGINT)
        return answer

    monkeypatch.setattr(pairwise, "_status", certified)
    monkeypatch.setattr(place, name, pressed)
    answer = command("fit", folder, "-m", "rank-svm", "--set", "C=1", "-o", file)
    assert answer.code == 130
    assert "multimargin: interrupted" in answer.err
    model = load_model(file)
    assert 0.0 <= model[-1].dual_gap_ <= 1e-3
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_ctrl_c_outside_of_the_command_has_the_same_code(monkeypatch):
    from multimargin import cli

    def interrupted(arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr("multimargin.cli.run.run", interrupted)
    with pytest.raises(SystemExit) as stopped:
        cli.main(["info", "digits"])
    assert stopped.value.code == 130
