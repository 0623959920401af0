from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from multimargin.compare.experiment import splits
from multimargin.compare.experiment.splits import make_splits
from multimargin.datasets import MultilabelData
from tests.support.cases import case


def test_folds_partition_the_rows(data):
    splits = make_splits(data, 4, seed=0)
    assert [split.name for split in splits] == [f"fold {i} of 4, seed 0" for i in (1, 2, 3, 4)]
    tested = np.concatenate([split.test for split in splits])
    np.testing.assert_array_equal(np.sort(tested), np.arange(data.n_samples))
    for split in splits:
        assert not np.intersect1d(split.train, split.test).size
        assert len(split.train) + len(split.test) == data.n_samples


def test_folds_depend_on_the_seed_alone(data):
    first, again, other = (make_splits(data, 3, seed=seed) for seed in (1, 1, 2))
    assert all((a.test.tolist() == b.test.tolist()) for a, b in zip(first, again, strict=True))
    assert any((a.test.tolist() != b.test.tolist()) for a, b in zip(first, other, strict=True))


def test_malformed_cv(data):
    for cv, error, message in (
        (0, ValueError, r"cv is 0; expected an integer of at least 2"),
        (1, ValueError, r"cv is 1; expected an integer of at least 2"),
        (2.5, TypeError, r"cv is 2.5; expected an integer"),
        (True, TypeError, r"cv is True; expected an integer"),
        (61, ValueError, r"cv is 61, but data 'small' has 60 rows"),
        ("ten", ValueError, r"cv is 'ten'; expected a number of folds .* or 'official'"),
    ):
        with case(cv), pytest.raises(error, match=message):
            make_splits(data, cv, seed=0)
    for parts, message in (
        ({"train": [0, 1]}, r"has no split 'test', only \['train'\]"),
        ({"train": [0, 1], "test": []}, r"split 'test' has no row"),
        ({"train": [0, 1], "test": [1, 2]}, r"1 rows are in both 'train' and 'test'.* is 1;"),
    ):
        data = MultilabelData(X=np.eye(3), Y=np.eye(3, 2), name="d", splits=parts)
        with case(parts), pytest.raises(ValueError, match=message):
            make_splits(data, "official", seed=0)


def test_rows_without_a_known_label_are_not_measured(data):
    Y = data.Y.astype(float)
    Y[1::3, 1] = np.nan
    Y[::3] = np.nan
    known = np.flatnonzero(np.arange(len(Y)) % 3)
    splits = make_splits(replace(data, Y=Y), 4, 0)
    assert_array_equal(np.sort(np.concatenate([split.test for split in splits])), known)
    assert all(np.isin(np.arange(0, 60, 3), split.train).sum() >= 10 for split in splits)
    Y[:] = np.nan
    with pytest.raises(ValueError, match=r"fold 1 of 4, seed 0: none of the \d+ test rows"):
        make_splits(replace(data, Y=Y), 4, 0)


def test_a_fold_that_stratification_leaves_empty(monkeypatch):
    folds = SimpleNamespace(split=lambda X, Y: [(np.arange(len(X)), np.arange(0))])
    monkeypatch.setattr(splits, "MultilabelStratifiedKFold", lambda **_: folds)
    data = MultilabelData(X=np.eye(3), Y=np.eye(3, dtype=int), name="tiny")
    with pytest.raises(ValueError, match="cv is 2: fold 1 of 2, seed 0 of data 'tiny' has no row"):
        make_splits(data, 2, seed=0)
