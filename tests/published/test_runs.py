"""Runs are made once, survive an interruption, and say how long they took."""

import json

import pytest

from published import runs


class Counter:
    """A run that counts how often it is made."""

    def __init__(self):
        self.made = 0

    def __call__(self):
        self.made += 1
        return [0.5, float(self.made)]


@pytest.fixture
def file(tmp_path, monkeypatch):
    path = tmp_path / "runs.json"
    monkeypatch.setenv("MULTIMARGIN_RUNS", str(path))
    return path


def test_an_interruption_keeps_what_was_finished(file):
    def interrupted():
        raise KeyboardInterrupt

    first, second = Counter(), Counter()
    with pytest.raises(KeyboardInterrupt):
        runs.all_of({1: ("first", first), 2: ("second", interrupted)})
    assert runs.all_of({1: ("first", first), 2: ("second", second)}) == {
        1: [0.5, 1.0],
        2: [0.5, 1.0],
    }
    assert (first.made, second.made) == (1, 1)
    assert json.loads(file.read_text(encoding="utf-8"))["first"]["seconds"] >= 0.0
    assert not list(file.parent.glob("*.part"))


def test_stored_runs_alone_are_shown(file, monkeypatch):
    run = Counter()
    runs.once("there", run)
    monkeypatch.setenv("MULTIMARGIN_STORED", "yes")
    assert runs.all_of({1: ("there", run), 2: ("missing", run)}) == {1: [0.5, 1.0]}
    with pytest.raises(LookupError, match="missing has not been run"):
        runs.once("missing", run)
    assert run.made == 1


def test_a_stored_run_that_gives_another_value_is_named(file, monkeypatch):
    runs.changed()
    run = Counter()
    runs.once("a", run)
    runs.once("same", lambda: (1.0, "x"))
    monkeypatch.setenv("MULTIMARGIN_STORED", "yes")
    monkeypatch.setenv("MULTIMARGIN_AGAIN", "1")
    assert runs.once("a", run) == [0.5, 1.0]  # what is stored stays
    runs.once("same", lambda: (1.0, "x"))
    assert runs.changed() == ["a"]
    assert runs.changed() == []
    monkeypatch.setenv("MULTIMARGIN_AGAIN", "0")
    runs.once("a", run)
    assert run.made == 2
    assert runs.changed() == []
