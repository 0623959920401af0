import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse

from multimargin import RankSVM
from multimargin.datasets import MultilabelData, load_arff
from multimargin.estimators.llsf_problem import as_dense
from tests.support.cases import case
from tests.support.files import write_arff

X = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
Y = np.array([[0, 1, 1], [1, 0, 0], [0, 0, 0]])


def test_storage_and_default_names():
    dense = MultilabelData(X.astype(np.float32), Y.astype(bool))
    assert isinstance(dense.X, np.ndarray)
    assert (dense.X.dtype, dense.Y.dtype) == (np.float64, np.int32)
    assert (dense.n_samples, dense.n_features, dense.n_labels) == (3, 2, 3)
    assert (dense.feature_names, dense.label_names) == (("x0", "x1"), ("y0", "y1", "y2"))
    assert dense.splits == {}
    framed = MultilabelData(pd.DataFrame(X), pd.DataFrame(Y))
    for container in (sparse.csr_array, sparse.csc_matrix, sparse.coo_array, None):
        data = framed if container is None else MultilabelData(container(X), container(Y))
        assert isinstance(data.X, sparse.csr_array) == (container is not None)
        assert_array_equal(data.X.toarray() if container else data.X, X)
        assert_array_equal(data.Y, Y)
    assert_array_equal(dense.X, X)
    assert_array_equal(dense.Y, Y)
    # Missing values are kept.
    assert_array_equal(MultilabelData([[np.nan, 1.0]], [[1]]).X, [[np.nan, 1.0]])


def test_input_is_not_modified():
    X_passed, Y_passed = X.copy(), Y.copy()
    splits = {"train": np.array([2, 0])}
    MultilabelData(X_passed, Y_passed, splits=splits)
    assert_array_equal(X_passed, X)
    assert_array_equal(Y_passed, Y)
    assert list(splits) == ["train"]
    assert_array_equal(splits["train"], [2, 0])


def test_split_keeps_its_order():
    for storage in (np.asarray, sparse.csr_array):
        data = MultilabelData(storage(X), Y, splits={"train": [2, 0], "test": [1]})
        X_train, X_test, Y_train, Y_test = data.train_test()
        assert_array_equal(as_dense(X_train), X[[2, 0]])
        assert_array_equal(as_dense(X_test), X[[1]])
        assert_array_equal(Y_train, Y[[2, 0]])
        assert_array_equal(Y_test, Y[[1]])
    with pytest.raises(KeyError, match=r"'test'.*\['train'\]"):
        MultilabelData(X, Y, splits={"train": [0]}).train_test()


def test_errors_name_the_argument():
    for wrong, error, message in (
        ({"X": [1.0, 2.0, 3.0]}, ValueError, "2D array"),
        ({"X": [[np.inf, 0.0]] * 3}, ValueError, "X contains infinity"),
        ({"Y": Y[:2]}, ValueError, "Y has 2 rows; expected 3"),
        ({"Y": [0, 1, 0]}, ValueError, r"Y has shape \(3,\); expected a matrix"),
        ({"Y": np.empty((3, 0))}, ValueError, r"Y has shape \(3, 0\); expected at least"),
        ({"Y": np.array([["a"], ["b"], ["c"]])}, TypeError, "Y has dtype <U1; expected numbers"),
        ({"Y": Y * 2}, ValueError, "Y has values other than 0 and 1: 2.$"),
        ({"Y": 2 * Y - 1}, ValueError, r"Y has values other .*: -1.*\(Y > 0\)"),
        ({"Y": [[np.inf], [0], [1]]}, ValueError, "Y has values other .*: inf"),
        ({"feature_names": ["a"]}, ValueError, "feature_names has 1 names; expected 2"),
        ({"feature_names": "ab"}, TypeError, "feature_names is one string"),
        ({"label_names": ["a", "b"]}, ValueError, "label_names has 2 names; expected 3"),
        ({"label_names": ["a", "b", "a"]}, ValueError, "label_names: 'a' occurs twice"),
        ({"sample_names": ["a"]}, ValueError, "sample_names has 1 names; expected 3"),
        ({"sample_names": "abc"}, TypeError, "sample_names is one string"),
        ({"splits": [[0, 1]]}, TypeError, "splits is a list; expected a mapping"),
        ({"splits": {"train": [0, 3]}}, ValueError, r"splits\['train'\] has indices 0..3"),
        ({"splits": {"train": [-1]}}, ValueError, r"splits\['train'\] has indices -1..-1"),
        ({"splits": {"train": [1, 1]}}, ValueError, r"splits\['train'\]: a row occurs twice"),
        ({"splits": {"train": [0.0]}}, TypeError, r"splits\['train'\] has dtype float64"),
        ({"splits": {"train": [True, False, True]}}, TypeError, "has dtype bool"),
        ({"splits": {"train": [[0], [1]]}}, TypeError, r"and 2 dimension\(s\)"),
    ):
        with case(wrong), pytest.raises(error, match=message):
            MultilabelData(**{"X": X, "Y": Y, **wrong})


def test_concatenate():
    parts = {"train": MultilabelData(X, Y), "test": MultilabelData(X[:2] + 1, Y[1:])}
    data = MultilabelData.concatenate(parts, name="both")
    assert data.name == "both"
    assert_array_equal(data.splits["train"], [0, 1, 2])
    assert_array_equal(data.splits["test"], [3, 4])
    expected = (X, X[:2] + 1, Y, Y[1:])
    for found, part in zip(data.train_test(), expected, strict=True):
        assert_array_equal(found, part)
    # Sparse if a part is.
    parts["test"] = MultilabelData(sparse.csr_array(X), Y)
    data = MultilabelData.concatenate(parts)
    assert isinstance(data.X, sparse.csr_array)
    assert_array_equal(data.X.toarray(), np.vstack([X, X]))


def test_concatenate_refuses_other_columns():
    for other, message in (
        (
            {"feature_names": ["x0", "z"]},
            "feature_names of 'b' have 'z' at position 1; expected 'x1'",
        ),
        (
            {"label_names": ["y0", "u", "y2"]},
            "label_names of 'b' have 'u' at position 1; expected 'y1'",
        ),
        ({"Y": Y[:, :2]}, "label_names of 'b' have None at position 2; expected 'y2'"),
    ):
        parts = {"a": MultilabelData(X, Y), "b": MultilabelData(**{"X": X, "Y": Y, **other})}
        with pytest.raises(ValueError, match=message):
            MultilabelData.concatenate(parts)
    with pytest.raises(ValueError, match="parts is empty"):
        MultilabelData.concatenate({})


def test_names_of_instances_are_kept_where_every_part_has_them():
    def part(*names):
        return MultilabelData(np.zeros((2, 1)), np.eye(2), sample_names=names)

    stacked = MultilabelData.concatenate({"train": part("a", "b"), "test": part("c", "d")})
    assert stacked.sample_names == ("a", "b", "c", "d")
    assert MultilabelData.concatenate({"a": part("a", "b"), "b": part()}).sample_names == ()


@pytest.mark.parametrize("storage", [np.asarray, sparse.csr_array])
def test_names_go_through_frames_into_a_model(storage):
    random = np.random.default_rng(0)
    values = random.normal(size=(40, 2)) * (random.random(size=(40, 2)) > 0.3)
    labels = (values @ [[1.0, -1.0, 0.5], [0.5, 1.0, -1.0]] > 0.1).astype(int)
    data = MultilabelData(
        storage(values), labels, ["left", "right"], ["a", "b", "c"],
        splits={"train": np.arange(5, 40), "test": np.arange(5)},
        sample_names=[f"row {k}" for k in range(40)],
    )  # fmt: skip
    X_train, X_test, Y_train, Y_test = data.train_test(as_frame=True)
    for frame, names in ((X_train, ["left", "right"]), (Y_train, ["a", "b", "c"])):
        assert list(frame.columns) == names
        assert frame.index[0] == "row 5"
    assert_array_equal(X_train.to_numpy(), values[5:])
    assert_array_equal(Y_test.to_numpy(), labels[:5])
    model = RankSVM(kernel="linear", random_state=0).fit(X_train, Y_train)
    assert model.label_names_in_.tolist() == ["a", "b", "c"]
    assert model.feature_names_in_.tolist() == ["left", "right"]
    plain = RankSVM(kernel="linear", random_state=0).fit(data.X[5:], data.Y[5:])
    assert_array_equal(model.label_scores(X_test), plain.label_scores(data.X[:5]))
    frame, _ = MultilabelData(X, Y, splits={"all": np.arange(3)}).split("all", as_frame=True)
    assert frame.index.tolist() == [0, 1, 2]


def test_unknown_labels_are_kept(tmp_path):
    data = MultilabelData(np.eye(3), [[1, np.nan], [0, 1], [1, 0]])
    assert data.Y.dtype == np.float64
    assert np.isnan(data.Y[0, 1])
    assert MultilabelData(np.eye(2), np.eye(2)).Y.dtype == np.int32
    xml = write_arff(data, tmp_path / "d.arff")
    assert_array_equal(load_arff(tmp_path / "d.arff", xml).Y, data.Y)
