import pytest

from multimargin import demo


def test_it_is_the_demonstration(command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(demo, "main", lambda: print("shown"))
    assert command("demo") == (0, "shown\n", "")
