"""Statistics against hand counts, and the signs of shifted label columns."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse

from multimargin.datasets import MultilabelData, describe, load, load_debian_tags
from tests.support.subsets import first_fast

X = [[1.0, 0.0, 5.0], [1.0, 2.0, 5.0], [1.0, 0.0, 5.0], [1.0, np.nan, 5.0], [1.0, -0.0, 5.0]]
Y = [[1, 0, 0, 0], [1, 1, 0, 0], [1, 0, 0, 0], [0, 0, 0, 0], [1, 1, 1, 0]]


def tiny(*, is_sparse=False):
    return MultilabelData(
        X=sparse.csr_array(np.array(X)) if is_sparse else np.array(X),
        Y=np.array(Y),
        label_names=("a", "b", "c", "d"),
        name="tiny",
        splits={"train": [0, 1, 2], "test": [3, 4], "empty": []},
    )


@pytest.mark.parametrize("is_sparse", [False, True])
def test_hand_counts(is_sparse):
    found = describe(tiny(is_sparse=is_sparse))
    assert (found.n_samples, found.n_features, found.n_labels) == (5, 3, 4)
    assert found.label_cardinality == pytest.approx(7 / 5)
    assert found.label_density == pytest.approx(7 / 20)
    assert (found.n_label_sets, found.label_set_proportion) == (4, 4 / 5)
    assert found.n_pairs == 3 + 4 + 3 + 0 + 3
    assert (found.n_rows_without_labels, found.n_rows_with_all_labels) == (1, 0)
    assert found.absent_labels == ("d",)
    assert found.n_missing_values == 1
    assert found.feature_density == pytest.approx(12 / 15)
    assert found.n_constant_features == 2  # the one with a missing value is not constant
    assert found.n_duplicate_rows == 1  # rows 0 and 2; row 4 has other labels
    train = found.splits["train"]
    assert (train.name, train.n_samples, train.n_pairs) == ("tiny, train", 3, 10)
    assert train.absent_labels == ("c", "d")
    assert found.splits["test"].absent_labels == ("d",)
    assert "empty" not in found.splits
    assert found.warnings == (
        "1 label applies to no row, so nothing can be learned: d",
        "values are missing of 1 feature: x1 (1)",
        "split 'empty' has no rows",
    )
    assert found.frequency_correlation is None  # four labels are too few


def test_explicit_zeros_and_signs_do_not_make_rows_different():
    dense = MultilabelData([[0.0, 1.0], [-0.0, 1.0]], [[1, 0], [1, 0]])
    assert describe(dense).n_duplicate_rows == 1
    stored = sparse.csr_array((np.array([0.0, 1.0, 1.0]), ([0, 0, 1], [0, 1, 1])), shape=(2, 2))
    assert describe(MultilabelData(stored, dense.Y)).n_duplicate_rows == 1
    assert describe(MultilabelData(stored, dense.Y)).n_constant_features == 2


def test_shifted_and_unrelated_labels_are_seen():
    data = load_debian_tags()
    for columns in (-1, 1):
        Y = data.Y.copy()
        Y[data.splits["test"]] = np.roll(Y[data.splits["test"]], columns, axis=1)
        (warning,) = describe(replace(data, Y=Y)).warnings
        assert "label frequencies of train and test do not correlate" in warning
    random = np.random.default_rng(0)
    frequencies = np.linspace(0.05, 0.6, 40)
    Y = random.random((400, 40)) < frequencies
    Y[200:] = random.random((200, 40)) < frequencies[::-1]
    (warning,) = describe(MultilabelData(random.normal(size=(400, 2)), Y)).warnings
    assert "the first and the second half of the rows do not correlate" in warning


@pytest.mark.parametrize(
    "name", first_fast(["emotions", "yeast", "birds", "enron", "bibtex", "rcv1subset1"], 4)
)
def test_sound_files_are_not_suspected(shared_data, name):
    if not (shared_data / name).is_dir():
        pytest.skip(f"no folder {name}")
    data = load(shared_data / name)
    assert describe(data).warnings == ()
    assert describe(replace(data, splits={})).warnings == ()


def test_labels_that_are_all_alike_do_not_warn():
    # Five labels of one frequency: their correlation between two parts is pure chance.
    for seed in range(200):
        Y = (np.random.default_rng(seed).random((300, 5)) < 0.35).astype(np.uint8)
        data = MultilabelData(np.random.default_rng(seed).normal(size=(300, 2)), Y)
        assert not describe(data).warnings


def test_unknown_labels_are_counted_and_in_no_pair():
    Y = np.array([[1, 0, np.nan], [np.nan, 1, 1], [0, np.nan, 0], [1, 0, np.nan]])
    found = describe(MultilabelData(np.eye(4)[[0, 1, 2, 0]], Y))
    assert found.n_unknown_labels == 4
    assert found.n_pairs == 2
    assert found.label_cardinality == 1.0
    assert (found.n_rows_without_labels, found.n_rows_with_all_labels) == (1, 1)
    assert found.n_label_sets == 3
    assert found.n_duplicate_rows == 1
    assert found.absent_labels == ()
    whole = describe(MultilabelData(np.eye(4), [[1, 0], [1, np.nan], [1, 0], [np.nan, 1]]))
    assert whole.warnings == ("1 label applies to every row, so nothing can be learned: y0",)
    assert describe(MultilabelData([[1.0]], [[1]])).n_pairs == 0
