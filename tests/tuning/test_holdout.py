"""Rows that are put aside."""

import numpy as np
import pytest
from scipy import sparse

from multimargin.tuning import folds, holdout, stratified_train_test_split
from multimargin.tuning.holdout import held_out_rows

RANDOM = np.random.default_rng(0)
# Labels from common to rare.
Y = (RANDOM.random((400, 6)) < [0.5, 0.3, 0.2, 0.1, 0.04, 0.02]).astype(int)
X = np.arange(400.0)[:, None]


@pytest.mark.parametrize("share", [0.25, 0.1])
def test_every_label_keeps_its_share(share):
    X_train, X_test, y_train, y_test = stratified_train_test_split(X, Y, test_size=share)
    assert sorted([*X_train[:, 0], *X_test[:, 0]]) == list(range(400))
    np.testing.assert_array_equal(Y[X_test[:, 0].astype(int)], y_test)
    np.testing.assert_array_equal(Y[X_train[:, 0].astype(int)], y_train)
    np.testing.assert_allclose(y_test.sum(axis=0), share * Y.sum(axis=0), atol=1.5)
    assert abs(len(y_test) - share * 400) < 12
    again = stratified_train_test_split(X, Y, test_size=share)
    np.testing.assert_array_equal(X_test, again[1])
    other = stratified_train_test_split(X, Y, test_size=share, random_state=1)
    assert set(X_test[:, 0]) != set(other[1][:, 0])


@pytest.mark.parametrize("share", [0.25, 0.1, 30])
def test_of_many_rows_those_of_rare_labels_are_dealt_out_and_others_fall(monkeypatch, share):
    monkeypatch.setattr(folds, "_MANY_ROWS", 500)
    monkeypatch.setattr(folds, "_ENOUGH_BY_CHANCE", 40)
    rng = np.random.default_rng(0)
    y = (rng.random((3000, 6)) < [0.4, 0.3, 0.2, 0.01, 0.008, 0.005]).astype(int)
    dealt, stratify = [], holdout.parts_of_rows
    monkeypatch.setattr(
        holdout,
        "parts_of_rows",
        lambda labels, *others: dealt.append(len(labels)) or stratify(labels, *others),
    )
    train, test = held_out_rows(y == 1, share)
    assert sorted([*train, *test]) == list(range(3000))
    share = share if share < 1 else share / 3000
    rare = y.sum(axis=0) * share < 40
    assert dealt == [y[:, rare].any(axis=1).sum()]
    expected, found = share * y.sum(axis=0), y[test].sum(axis=0)
    assert (np.abs(found - expected)[rare] <= 1.5).all()
    assert (np.abs(found - expected) < 4.0 * np.sqrt(expected)).all()
    assert abs(len(test) - share * 3000) < 12
    np.testing.assert_array_equal(held_out_rows(y == 1, share)[1], test)
    assert set(held_out_rows(y == 1, share, random_state=1)[1]) != set(test)


def test_of_many_rows_with_frequent_labels_all_fall(monkeypatch):
    monkeypatch.setattr(folds, "_MANY_ROWS", 300)
    monkeypatch.setattr(folds, "_ENOUGH_BY_CHANCE", 1)
    train, test = held_out_rows(Y == 1, 0.25)
    assert (len(train), len(test)) == (300, 100)


def test_groups_stay_together():
    groups = np.repeat(np.arange(80), 5)
    found = stratified_train_test_split(X, Y, groups, groups=groups)
    assert not set(found[4]) & set(found[5])
    assert len(set(found[5])) == 20


def test_texts_frames_lists_and_sparse_rows():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"x": X[:, 0]}, index=np.arange(400) + 7)
    sets = pandas.Series([list("abcdef"[k] for k in np.flatnonzero(row)) for row in Y])
    _, expected, _, _ = stratified_train_test_split(X, Y)
    _, found, _, y_test = stratified_train_test_split(frame, sets)
    np.testing.assert_array_equal(found.x, expected[:, 0])
    assert list(y_test.index) == expected[:, 0].astype(int).tolist()
    _, texts, _, _ = stratified_train_test_split([str(x) for x in X[:, 0]], sparse.csr_array(Y))
    assert [float(text) for text in texts] == expected[:, 0].tolist()


def test_nonsense_is_refused():
    for options, message in (
        ({"test_size": 1.0}, "test_size is 1.0; expected"),
        ({"test_size": 1e-9}, "expected one that leaves rows in both parts of 400"),
        ({"groups": [1, 2]}, r"groups has shape \(2,\); expected \(400,\), one for each row"),
        (
            {"groups": np.zeros(400)},
            "test_size is 0.25, and groups has 1; expected groups for both",
        ),
        ({"random_state": -1}, "random_state is -1; expected"),
        ({"random_state": -1, "groups": np.arange(400)}, "random_state is -1; expected"),
        ({"groups": np.arange(400) // 200, "test_size": 300}, "test_size is 300, and groups has 2"),
    ):
        with pytest.raises(ValueError, match=message):
            stratified_train_test_split(X, Y, **options)
