"""Folds that keep every label's share."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.model_selection import GroupKFold, KFold, StratifiedKFold

from multimargin import CalibratedClassifier, LabelRankerCV, RankLSVM, ThresholdedClassifier
from multimargin.tuning import MultilabelStratifiedKFold, folds, stratified_train_test_split
from multimargin.tuning.folds import folds_of
from tests.support.cases import case

NAMES = np.array(list("abcdef"))
AS_NAMES = [
    lambda Y: [NAMES[row == 1].tolist() for row in Y],
    lambda Y: [set(NAMES[row == 1]) for row in Y],
    lambda Y: pd.Series([tuple(NAMES[row == 1]) for row in Y], index=np.arange(len(Y))[::-1]),
    lambda Y: pl.Series([NAMES[row == 1].tolist() for row in Y]),
    lambda Y: pl.DataFrame(dict(zip(NAMES, Y.T, strict=True))),
]


def test_of_many_rows_those_of_rare_labels_are_dealt_out_and_others_fall(monkeypatch):
    monkeypatch.setattr(folds, "_MANY_ROWS", 500)
    monkeypatch.setattr(folds, "_ENOUGH_BY_CHANCE", 40)
    rng = np.random.default_rng(0)
    y = (rng.random((3000, 6)) < [0.4, 0.2, 0.1, 0.005, 0.003, 0.002]).astype(int)
    dealt = []
    stratify = folds.parts_of_rows
    monkeypatch.setattr(
        folds,
        "parts_of_rows",
        lambda labels, *others: dealt.append(len(labels)) or stratify(labels, *others),
    )
    for shuffle in (False, True):
        parts = list(MultilabelStratifiedKFold(3, shuffle=shuffle).split(y, y))
        tests = [test for _, test in parts]
        assert sorted(np.concatenate(tests).tolist()) == list(range(3000))
        counts = np.array([y[test].sum(axis=0) for test in tests])
        # Rare labels to a row, frequent ones as by chance.
        assert np.ptp(counts[:, 3:], axis=0).max() <= 1
        expected = y[:, :3].sum(axis=0) / 3
        assert (np.abs(counts[:, :3] - expected) < 4.0 * np.sqrt(expected)).all()
        assert np.ptp([len(test) for test in tests]) <= 3
    assert set(dealt) == {int(y[:, 3:].any(axis=1).sum())}


@pytest.mark.parametrize("form", AS_NAMES)
def test_folds_and_parts_of_named_labels_are_those_of_the_indicator(form):
    Y = labels()
    X = np.arange(len(Y))[:, None]
    for (_, expected), (_, found) in zip(
        MultilabelStratifiedKFold(3).split(X, Y),
        MultilabelStratifiedKFold(3).split(X, form(Y)),
        strict=True,
    ):
        np.testing.assert_array_equal(found, expected)
    _, expected, _, _ = stratified_train_test_split(X, Y)
    _, found, _, y_test = stratified_train_test_split(X, form(Y))
    np.testing.assert_array_equal(found, expected)
    assert len(y_test) == len(found)


@pytest.mark.parametrize("format", ["csr", "csc", "coo", "lil", "dok", "bsr"])
@pytest.mark.parametrize("kind", [sparse.csr_array, sparse.csr_matrix])
def test_parts_of_every_sparse_format(format, kind):
    Y = labels()
    X = np.hstack([np.eye(len(Y)), Y])
    expected = stratified_train_test_split(X, Y)
    found = stratified_train_test_split(kind(X).asformat(format), kind(Y).asformat(format))
    for part, right in zip(found, expected, strict=True):
        np.testing.assert_array_equal(part.toarray(), right)


def labels(seed=0, n=200, q=6):
    rng = np.random.default_rng(seed)
    Y = (rng.random((n, q)) < [0.5, 0.3, 0.2, 0.1, 0.05, 0.025][:q]).astype(int)
    # Sorted by label sets: blocks of rows then know some labels only.
    return Y[np.lexsort(Y.T)]


def spread(folds, Y):
    """Largest difference between folds in a label's share of the rows."""
    shares = np.array([Y[test].mean(axis=0) for _, test in folds.split(Y, Y)])
    return (shares.max(axis=0) - shares.min(axis=0)).max()


@pytest.mark.parametrize("shuffle", [False, True])
@pytest.mark.parametrize("n_splits", [2, 3, 5, 10])
def test_partition_and_balance(n_splits, shuffle):
    Y = labels()
    folds = MultilabelStratifiedKFold(n_splits, shuffle=shuffle)
    splits = list(folds.split(Y, Y))
    assert len(splits) == folds.get_n_splits() == n_splits
    np.testing.assert_array_equal(np.sort(np.concatenate([t for _, t in splits])), np.arange(200))
    for train, test in splits:
        np.testing.assert_array_equal(np.setdiff1d(np.arange(200), test), np.sort(train))
        # A fold's share of each label is off by a row or two, in folds that are off as little.
        counts = Y[test].sum(axis=0)
        assert np.abs(counts - Y.sum(axis=0) / n_splits).max() <= 2.5
    assert spread(folds, Y) < spread(KFold(n_splits), Y) / 3


def test_deterministic():
    Y = labels()
    first = [t.tolist() for _, t in MultilabelStratifiedKFold(4).split(Y, Y)]
    np.random.seed(3)  # noqa: NPY002
    assert [t.tolist() for _, t in MultilabelStratifiedKFold(4).split(Y, Y)] == first
    other = MultilabelStratifiedKFold(4, shuffle=True, random_state=1)
    assert [t.tolist() for _, t in other.split(Y, Y)] != first
    defaults = "n_splits=4, shuffle=False, random_state=0"
    assert repr(MultilabelStratifiedKFold(4)) == f"MultilabelStratifiedKFold({defaults})"


@pytest.mark.parametrize(
    "kind", [sparse.csr_array, sparse.coo_matrix, pd.DataFrame, lambda Y: Y.astype(bool).tolist()]
)
def test_kinds_of_labels(kind):
    Y = labels(n=60)
    expected = [t.tolist() for _, t in MultilabelStratifiedKFold(3).split(Y, Y)]
    found = [t.tolist() for _, t in MultilabelStratifiedKFold(3).split(np.zeros((60, 0)), kind(Y))]
    assert found == expected


def test_rare_labels_and_rows_without_labels():
    Y = np.zeros((40, 3), dtype=int)
    Y[:4, 0] = 1
    Y[3, 1] = 1
    splits = list(MultilabelStratifiedKFold(4).split(Y, Y))
    assert [int(Y[test, 0].sum()) for _, test in splits] == [1, 1, 1, 1]
    assert {len(test) for _, test in splits} == {10}
    assert sum(int(Y[test, 1].sum()) for _, test in splits) == 1
    nothing = np.zeros((9, 2), dtype=int)
    assert {len(t) for _, t in MultilabelStratifiedKFold(3).split(nothing, nothing)} == {3}


@pytest.mark.parametrize("shape", [(-1,), (-1, 1)])
def test_classes_go_to_scikit_learn(shape):
    y = np.repeat([0, 1, 2], 10)
    for shuffle in (False, True):
        ours = MultilabelStratifiedKFold(5, shuffle=shuffle, random_state=1)
        theirs = StratifiedKFold(5, shuffle=shuffle, random_state=1 if shuffle else None)
        assert_same(ours.split(y, y.reshape(shape)), theirs.split(y, y))


def assert_same(found, expected):
    for (a, b), (c, d) in zip(found, expected, strict=True):
        np.testing.assert_array_equal(a, c)
        np.testing.assert_array_equal(b, d)


def test_what_cv_means():
    Y, groups = labels(n=30), np.arange(30) // 2
    for cv, given, meant in (
        (None, None, MultilabelStratifiedKFold(5)),
        (3, None, MultilabelStratifiedKFold(3)),
        (3, groups, GroupKFold(3)),
        (KFold(3), None, KFold(3)),
        (list(KFold(3).split(Y)), None, KFold(3)),
    ):
        assert_same(folds_of(cv, Y, Y, given), meant.split(Y, Y, given))
    for cv in (1, True, "3", [], [([0], 1)]):
        with case(cv), pytest.raises(ValueError, match=r"^cv is .*; expected a number of folds of"):
            folds_of(cv, Y, Y)


def test_refusals():
    Y = labels(n=20)
    folds = MultilabelStratifiedKFold
    assert len(list(folds(20).split(Y, Y))) == 20
    for call, message in (
        (lambda: folds(1), r"^n_splits is 1; expected an integer of at least 2"),
        (lambda: folds(shuffle=1), r"^shuffle is 1; expected True or False"),
        (lambda: list(folds(2).split(Y)), r"^y is None; expected the labels"),
        (
            lambda: list(folds(2).split(Y, 2 * Y - 1)),
            r"^y has values other than 0 and 1: -1\. .*y > 0",
        ),
        (lambda: list(folds(2).split(Y[1:], Y)), "y has .* rows; expected .*, as many as X"),
        (lambda: list(folds(30).split(Y, Y)), r"^n_splits is 30; expected at most the 20 rows"),
    ):
        with pytest.raises((TypeError, ValueError), match=message):
            call()


@pytest.mark.parametrize(
    "model",
    [
        ThresholdedClassifier(RankLSVM(kernel="linear"), threshold="scores"),
        CalibratedClassifier(RankLSVM(kernel="linear")),
        LabelRankerCV([1.0], kernel="linear", stack=None),
    ],
    ids=lambda model: type(model).__name__,
)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_held_out_rows_of_which_nothing_is_known_are_refused(model):
    Y = np.tile([[1.0, 0.0], [0.0, 1.0]], (10, 1))
    Y[:4] = np.nan
    model.set_params(cv=[(np.arange(4, 20), np.arange(4))])
    with pytest.raises(ValueError, match="cv: none of the 4 rows that its folds hold out has a kn"):
        model.fit(np.eye(20), Y)
