from pathlib import Path

import pytest

from multimargin.cli.demonstration import race
from multimargin.datasets import MultilabelData, load_debian_tags


@pytest.fixture(autouse=True)
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """A part of the programs and tags, and two values of C."""
    data = load_debian_tags()
    test = [data.sample_names.index("wget"), *data.splits["test"][:30]]
    few = MultilabelData(
        X=data.X,
        Y=data.Y[:, :20],
        label_names=data.label_names[:20],
        sample_names=data.sample_names,
        name="some tags",
        splits={"train": data.splits["train"][:90], "test": sorted(set(map(int, test)))},
    )
    monkeypatch.setattr("multimargin.datasets.load_debian_tags", lambda: few)
    run = race.run
    monkeypatch.setattr(race, "run", lambda *a, **k: run(*a, **k | {"grid": (0.3, 10.0)}))


def test_it_shows_tables_words_tags_and_a_certificate_and_draws(command, tmp_path: Path) -> None:
    answer = command("demo", "-j", "1", "-o", tmp_path / "a.svg")
    assert answer.code == 0, answer.err
    words = " ".join(answer.out.split())
    for expected in (
        "2335 programs of Debian, each with some of 20 tags",
        "Tuned for ranking loss",
        "Tuned for micro F1",
        "Of 100 wrong orders that one-vs-rest makes at its best",
        "One fit takes mlODM",
        "wget predicted",
        "no model costs less than this",
        f"The picture is in {tmp_path / 'a.svg'}",
    ):
        assert expected in words, expected
    assert (tmp_path / "a.svg").read_bytes().startswith(b"<?xml")


def test_without_a_picture(command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    answer = command("demo", "-j", "1", "-o", "none")
    assert answer.code == 0
    assert "picture" not in answer.out
    assert not list(tmp_path.iterdir())


def test_json_has_what_the_race_found(command) -> None:
    found = command("demo", "-j", "1", "--json").json
    assert list(found["methods"]) == ["mlODM", "RankSVM", "LinearSVC", "rbf SVC"]
    for name, method in found["methods"].items():
        assert method["one_vs_rest"] == (name not in ("mlODM", "RankSVM"))
        assert (method["tuned_for"]["ranking_loss"]["certificate"] is None) == method["one_vs_rest"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("-o", "a.txt"), "--output is 'a.txt'; expected a file ending"),
        (("-j", "0"), "--jobs is 0"),
    ],
)
def test_wrong_use(command, arguments: tuple[str, ...], message: str) -> None:
    answer = command("demo", *arguments)
    assert answer.code == 2
    assert message in answer.err


def test_a_picture_needs_matplotlib(
    command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing(*_: object) -> None:
        raise ImportError("no matplotlib")

    monkeypatch.setattr("multimargin.cli.demonstration.picture.draw", missing)
    answer = command("demo", "-j", "1", "-o", tmp_path / "a.svg")
    assert answer.code == 0, answer.err
    assert "No picture: matplotlib is not installed (pip install 'multimargin[plots]')" in " ".join(
        answer.out.split()
    )
    assert not list(tmp_path.iterdir())
