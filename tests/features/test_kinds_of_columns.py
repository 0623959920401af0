"""Columns of measurements beside those of words and names: found by values, and two views."""

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from multimargin import LabelRankerCV, explain, load_model, save_model
from multimargin.features.kinds_of_columns import words_and_measurements
from multimargin.features.views import Views
from multimargin.measures import ranking_average_precision
from multimargin.onnx import export

MEASURED, NAMES = 4, 700


@cache
def mixed(n: int = 300, seed: int = 0) -> tuple[sparse.csr_array, Any]:
    """Return measurements beside many names, and labels of both, some of corners."""
    rng = np.random.default_rng(seed)
    numbers = rng.normal(size=(n, MEASURED)) * [1.0, 5.0, 1.0, 1.0]
    often, seldom = rng.integers(0, 4, n), rng.integers(4, NAMES, n)
    names = np.zeros((n, NAMES))
    names[np.arange(n), often] = names[np.arange(n), seldom] = 1.0
    effect = rng.normal(size=(NAMES, 4))
    scores = effect[often] + 0.5 * effect[seldom] + 0.5 * rng.normal(size=(n, 4))
    scores += 2.0 * np.sign(numbers[:, [0, 1, 2, 3]] * numbers[:, [1, 2, 3, 0]])
    return sparse.csr_array(np.hstack([numbers, names])), (scores > 1.0).astype(int)


def model(**options: Any) -> LabelRankerCV:
    quick = {"loss": "hinge", "class_weight": None, "top_k": None, "cv": 2, "random_state": 0}
    return LabelRankerCV([1.0], **{**quick, **options})


@cache
def fitted() -> LabelRankerCV:
    """Return the model of both kinds that tests only look at."""
    return model().fit(*mixed())


def texts(binary: bool, lengths: int = 40) -> sparse.csr_array:
    """Return counts of words with Zipf's frequencies, of texts of like lengths."""
    rng = np.random.default_rng(1)
    share = 1.0 / np.arange(2, 2002)
    rows = [rng.multinomial(lengths * (1 + k % 3), share / share.sum()) for k in range(300)]
    counts = np.array(rows, dtype=float)
    return sparse.csr_array(np.minimum(counts, 1.0) if binary else np.log1p(counts))


def test_measurements_fill_all_rows_with_varied_numbers() -> None:
    X, _ = mixed()
    words, dense = words_and_measurements(X)
    np.testing.assert_array_equal(words, np.arange(MEASURED, MEASURED + NAMES))
    # And names of a quarter of the rows each
    np.testing.assert_array_equal(dense, np.arange(MEASURED + 4))
    for other in (X.toarray(), X.tocsc(), X.tocoo(), sparse.csr_matrix(X)):
        for found, expected in zip(words_and_measurements(other), (words, dense), strict=True):
            np.testing.assert_array_equal(found, expected)
    with_zeros = X.copy()
    with_zeros.data[X.indices == 0] = 0.0
    words, _ = words_and_measurements(with_zeros)
    assert words[0] == 0
    assert with_zeros.nnz == X.nnz


@pytest.mark.parametrize("lengths", [10, 40, 400, 4000])
@pytest.mark.parametrize("binary", [True, False])
def test_frequent_words_are_no_measurements(lengths: int, binary: bool) -> None:
    assert words_and_measurements(texts(binary, lengths)) is None


@pytest.mark.parametrize(("zeros", "found"), [(6, True), (7, False)])
def test_measurements_may_be_beside_three_times_as_many_with_zeros(zeros: int, found: bool) -> None:
    # Two fill all rows; the others are 0 in two fifths of them, as numbers of votes may be.
    X, _ = mixed()
    some = np.random.default_rng(0).random((X.shape[0], zeros))
    some *= some > 0.4
    kinds = words_and_measurements(sparse.hstack([some, X[:, 2:]]))
    assert (kinds is not None) is found
    if kinds is not None:
        np.testing.assert_array_equal(kinds[1], np.arange(zeros + 2 + 4))


def test_names_flags_and_constants_are_no_measurements() -> None:
    X, _ = mixed()
    names = X[:, MEASURED:]
    flags = np.ones((names.shape[0], 3))
    flags[:5, 0] = 0.0
    for X in (names, sparse.hstack([flags, names]), sparse.csr_array((4, 600))):
        assert words_and_measurements(X) is None
    # All columns are of one kind.
    assert words_and_measurements(np.random.default_rng(0).normal(size=(9, 600))) is None


def test_frequent_names_have_no_more_room_than_there_is() -> None:
    rng = np.random.default_rng(0)
    numbers = rng.normal(size=(40, 495))
    flags = (rng.random((40, 300)) < 0.3).astype(float)
    words, dense = words_and_measurements(np.hstack([flags, numbers]))
    assert words.size == 300
    assert dense.size == 500
    share = flags.mean(axis=0)
    assert share[dense[dense < 300]].min() >= np.sort(share)[-6]
    words, dense = words_and_measurements(np.hstack([flags, numbers, numbers]))
    assert dense.size == 990


def test_both_kinds_are_the_views_that_a_user_would_name() -> None:
    X, y = mixed()
    found = fitted()
    words, dense = words_and_measurements(X)
    by_hand = [("sparse", "passthrough", words), ("dense", "passthrough", dense)]
    expected = model(views=by_hand).fit(X, y)
    assert found.blocks_ == expected.blocks_
    assert {"sparse__linear", "dense__boosting"} < set(found.blocks_)
    np.testing.assert_array_equal(found.predict_proba(X), expected.predict_proba(X))
    assert found.views == "auto"
    assert found.n_features_in_ == X.shape[1]


def test_trees_of_measurements_beside_names_pay() -> None:
    X, y = mixed(900)
    train, test = np.arange(600), np.arange(600, 900)

    def value(views: str | None) -> float:
        found = model(views=views).fit(X[train], y[train])
        return ranking_average_precision(y[test], found.label_scores(X[test]))

    assert 1.0 - value("auto") < 0.8 * (1.0 - value(None))


def containers(X: sparse.csr_array) -> dict[str, Any]:
    """Return the same numbers in other containers."""
    names = [f"column {k}" for k in range(X.shape[1])]
    return {
        "csr": X,
        "dense": X.toarray(),
        "csc": X.tocsc(),
        "frame": pd.DataFrame(X.toarray(), columns=names),
    }


def test_the_container_decides_nothing() -> None:
    X, y = mixed()
    others = {name: own for name, own in containers(X).items() if name in ("dense", "frame")}
    fits = {"csr": fitted()} | {name: model().fit(own, y) for name, own in others.items()}
    expected = fits["csr"].predict_proba(X)
    for name, found in fits.items():
        for other, own in containers(X).items():
            if (name == "frame") == (other == "frame"):
                np.testing.assert_array_equal(found.predict_proba(own), expected)
    names = fits["frame"].best_estimator_[0].get_feature_names_out()
    assert names[0] == f"sparse__column {MEASURED}"
    assert names[-1] == f"dense__column {MEASURED + 3}"


@pytest.mark.parametrize("given", ["csr", "dense", "csc"])
def test_views_of_a_matrix_take_it_in_any_container(given: str) -> None:
    X, y = mixed()
    views = [("a", "passthrough", np.arange(600)), ("b", "passthrough", np.arange(600, 704))]
    found = model(views=views, stack=["linear"]).fit(containers(X)[given], y)
    expected = found.predict_proba(containers(X)[given])
    for other in ("csr", "dense", "csc"):
        np.testing.assert_array_equal(found.predict_proba(containers(X)[other]), expected)


@pytest.mark.parametrize(
    "options",
    [
        {"views": None},
        {"stack": None},
        {"stack": ["linear"]},
        {"calibration": False},
    ],
)
def test_one_view_where_all_features_are_asked_for(options: dict[str, Any]) -> None:
    X, y = mixed()
    assert set(model(**options).fit(X, y).rankers_) == {""}


def test_few_columns_stay_one_view() -> None:
    X, y = mixed()
    assert set(model().fit(X[:, :300], y).rankers_) == {""}
    assert Views("auto").fit(X[:, :300]).names_ == [""]
    assert Views("auto", dense=False).fit(X).names_ == [""]


def test_files_and_reasons_of_both_kinds(tmp_path: Path) -> None:
    runtime = pytest.importorskip("onnxruntime")
    X, _ = mixed()
    found = fitted()
    expected = found.predict_proba(X)
    save_model(found, tmp_path / "a.mm")
    np.testing.assert_array_equal(load_model(tmp_path / "a.mm").predict_proba(X), expected)
    export(found, tmp_path / "a.onnx")
    session = runtime.InferenceSession(tmp_path / "a.onnx")
    (probabilities,) = session.run(["probabilities"], {"X": X.toarray()})
    np.testing.assert_allclose(probabilities, expected, atol=1e-6)
    (reasons,) = explain(found, X[:1], 0, k=3)
    shares = dict(reasons.blocks)
    assert {"sparse__ranker", "dense__boosting"} < set(shares)


def test_rows_of_weight_0_say_nothing_of_columns() -> None:
    X, y = mixed()
    far = X.copy().tolil()
    far[:100] = 0.0
    far = sparse.csr_array(far)
    weight = np.r_[np.zeros(100), np.ones(200)]
    left = model().fit(X[100:], y[100:])
    found = model().fit(far, y, sample_weight=weight).predict_proba(X)
    np.testing.assert_allclose(found, left.predict_proba(X), rtol=1e-9)


def test_edges_of_C_are_told_of_the_better_view_alone() -> None:
    X, y = mixed()
    with pytest.warns(UserWarning, match="values may be better") as told:
        LabelRankerCV([0.01, 0.1], loss="hinge", class_weight=None, top_k=None).fit(X, y)
    edges = [str(one.message) for one in told if "values may be better" in str(one.message)]
    assert len(edges) == 1
    assert "of the view 'dense'" in edges[0]
