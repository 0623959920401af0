"""Vectors of texts: those of wordllama, held by no copy of the model."""

import pickle
import sys
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from multimargin import load_model
from multimargin.cli import main
from multimargin.embeddings import StaticEmbedding

TEXTS = ["edits sound", "an audio editor", "draws maps", ""]


def code_of(*arguments: str) -> Any:
    """Return the exit code of the program."""
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    return ended.value.code


@pytest.fixture(autouse=True)
def _wordllama() -> None:
    pytest.importorskip("wordllama")


def test_texts_that_mean_something_similar_are_near() -> None:
    vectors = StaticEmbedding().fit_transform(TEXTS)
    assert vectors.shape == (4, 256)
    near = vectors @ vectors[0]
    assert near[1] > near[2] + 0.2
    np.testing.assert_allclose(near[[0, 3]], [1.0, 0.0], atol=1e-6)
    lengths = np.linalg.norm(StaticEmbedding(unit_length=False).fit_transform(TEXTS), axis=1)
    assert not np.allclose(lengths[:3], 1.0)


@pytest.mark.parametrize(
    "given",
    [
        np.array(TEXTS, dtype=object),
        pd.Series([*TEXTS[:3], None]),
        pd.Series([*TEXTS[:3], None], dtype="string"),
        pd.DataFrame({"text": [*TEXTS[:3], np.nan]}),
        np.array(TEXTS)[:, None],
    ],
)
def test_containers_and_missing_texts(given: Any) -> None:
    expected = StaticEmbedding().fit_transform(TEXTS)
    np.testing.assert_array_equal(StaticEmbedding().fit_transform(given), expected)


def test_many_texts_are_those_by_one() -> None:
    texts = [f"{text} {k}" for k in range(700) for text in TEXTS[:2]]
    model = StaticEmbedding().fit(texts)
    found = model.transform(texts)
    np.testing.assert_allclose(found[1399:], model.transform(texts[1399:]), atol=1e-6)


def test_no_text_has_no_vectors() -> None:
    model = StaticEmbedding().fit(TEXTS)
    assert model.transform([]).shape == (0, 256)


@pytest.mark.parametrize(
    ("given", "message"), [("a text", "expected a sequence"), (["a", 3], "X has 3 in row 1")]
)
def test_what_is_no_text_is_named(given: Any, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        StaticEmbedding().fit_transform(given)


def test_copies_hold_no_vectors() -> None:
    model = StaticEmbedding().fit(TEXTS)
    assert len(pickle.dumps(model)) < 1000
    assert clone(model).get_params() == {"unit_length": True}
    model.digest_ = "0" * 64
    with pytest.raises(ValueError, match=r"the installed wordllama have the SHA-256 .* as in fit"):
        model.transform(TEXTS)


def test_without_the_package_its_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("multimargin.embeddings._KEPT", [])
    monkeypatch.setitem(sys.modules, "wordllama", None)
    with pytest.raises(ImportError, match=r"pip install 'multimargin\[meaning\]'"):
        StaticEmbedding().fit(TEXTS)


def test_the_program_has_the_meaning_of_texts_as_a_view(
    tmp_path: Any, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    rows = {"text": ["edits sound", "draws maps", "plays music", "shows a map"] * 10}
    tags = ["audio", "map", "audio", "map"] * 10
    pd.DataFrame({**rows, "tags": tags}).to_csv("a.csv", index=False)
    options = ["--tags-column", "tags", "--text", "text", "--meaning"]
    assert code_of("fit", "a.csv", *options, "-o", "a.model") == 0
    assert "views: columns, meaning" in " ".join(capsys.readouterr().out.split())
    model = load_model("a.model")
    assert set(model[-1].rankers_) == {"columns", "meaning"}
    pd.DataFrame({"text": ["an audio editor", "an atlas"]}).to_csv("b.csv", index=False)
    assert code_of("predict", "a.model", "b.csv") == 0
    assert "audio" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["digits", "--meaning"], "no column of text"),
        (["digits", "--meaning", "-m", "rank-svm"], "rank-svm has no views"),
        (["digits", "--meaning", "--set", "views=None"], "--set views are both given"),
    ],
)
def test_the_program_names_what_has_no_meaning(
    options: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert code_of("fit", *options) == 2
    assert message in " ".join(capsys.readouterr().err.split())


@pytest.mark.parametrize(
    "given",
    [
        "a text",
        None,
        {"text": 1},
        {"a text"},
        [["a text"]],
        pd.DataFrame({"title": TEXTS, "text": TEXTS}),
        np.array([TEXTS, TEXTS]),
    ],
)
def test_what_is_no_column_of_texts_is_refused(given: Any) -> None:
    with pytest.raises((TypeError, ValueError), match=r"X (is|has) .*expected .*text"):
        StaticEmbedding().fit(given)
