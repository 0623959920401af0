"""Checks of label indicators and label scores."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from multimargin.checks.labels import UNKNOWN, check_indicator, check_scores, with_nan

Y = np.array([[1, 0, 1], [0, 0, 0], [1, 1, 1], [0, 1, 0]])

KINDS = {
    "int": Y,
    "uint8": Y.astype(np.uint8),
    "bool": Y.astype(bool),
    "float": Y.astype(float),
    "float32, Fortran order": np.asfortranarray(Y, dtype=np.float32),
    "object": Y.astype(object),
    "strided": np.repeat(Y, 2, axis=1)[:, ::2],
    "list of lists": Y.tolist(),
    "list of arrays": list(Y),
    "data frame": pd.DataFrame(Y, columns=["a", "b", "c"]),
    "data frame of bool": pd.DataFrame(Y.astype(bool)),
    "data frame, nullable": pd.DataFrame(Y).astype("Int64"),
    "data frame, nullable bool": pd.DataFrame(Y).astype("boolean"),
    "data frame, mixed types": pd.DataFrame(Y).astype({0: bool, 1: float}),
    "data frame, sparse": pd.DataFrame.sparse.from_spmatrix(sparse.csr_matrix(Y)),
    "csr_array": sparse.csr_array(Y),
    "csr_matrix": sparse.csr_matrix(Y.astype(float)),
    "csc": sparse.csc_array(Y.astype(bool)),
    "coo": sparse.coo_array(Y.astype(np.uint8)),
    "lil": sparse.lil_array(Y),
    "dok": sparse.dok_array(Y),
    "dia": sparse.dia_array(Y),
    "bsr": sparse.bsr_array(Y),
}


def test_indicator_accepts():
    for kind, given in KINDS.items():
        checked = check_indicator(given)
        np.testing.assert_array_equal(checked, Y, err_msg=kind)
        assert (type(checked), checked.dtype, checked.flags.c_contiguous) == (
            np.ndarray,
            np.uint8,
            True,
        )


@pytest.mark.parametrize("make", [sparse.csr_array, sparse.csc_array, sparse.coo_array])
def test_indicator_leaves_sparse_input_alone(make):
    rows, columns = np.nonzero(np.ones_like(Y))
    explicit = sparse.coo_array((Y.ravel().astype(float), (rows, columns)), shape=Y.shape)
    explicit = make(explicit)
    assert explicit.nnz == Y.size, "the zeros must be stored"
    explicit.data.flags.writeable = False
    np.testing.assert_array_equal(check_indicator(explicit), Y)
    assert explicit.nnz == Y.size


def test_indicator_leaves_unsorted_duplicates_alone():
    # Entry (0, 2) is stored as 0 + 1, with the columns out of order.
    data, indices, indptr = np.array([1.0, 0.0, 1.0]), np.array([2, 2, 0]), np.array([0, 3])
    unsorted = sparse.csr_array((data, indices, indptr), shape=(1, 3))
    np.testing.assert_array_equal(check_indicator(unsorted), [[1, 0, 1]])
    np.testing.assert_array_equal(unsorted.indices, [2, 2, 0])
    np.testing.assert_array_equal(unsorted.data, [1.0, 0.0, 1.0])


@pytest.mark.parametrize(
    "twice",
    [
        sparse.coo_array((np.ones(2), ([0, 0], [1, 1])), shape=(1, 2)),
        sparse.csr_array((np.ones(2), [1, 1], [0, 2]), shape=(1, 2)),
        sparse.csc_array((np.ones(2), [0, 0], [0, 0, 2]), shape=(1, 2)),
    ],
    ids=["coo", "csr", "csc"],
)
def test_indicator_refuses_duplicates_that_sum_to_two(twice):
    with pytest.raises(ValueError, match=r"values other than 0 and 1: 2\."):
        check_indicator(twice)


def test_indicator_accepts_read_only_input():
    frozen = Y.copy()
    frozen.flags.writeable = False
    np.testing.assert_array_equal(check_indicator(frozen), Y)


@pytest.mark.parametrize("make", [np.array, sparse.csr_array, pd.DataFrame, np.ndarray.tolist])
def test_indicator_names_the_remedy_for_signs(make):
    with pytest.raises(
        ValueError, match=r"other than 0 and 1: -1\..*\(Y_true > 0\)\.astype\(int\)"
    ):
        check_indicator(make(2 * Y - 1), "Y_true")
    np.testing.assert_array_equal(check_indicator((2 * Y - 1 > 0).astype(int)), Y)


@pytest.mark.parametrize("make", [np.array, sparse.csr_array, sparse.coo_array, pd.DataFrame])
def test_nan_is_an_unknown_label_where_there_may_be_one(make):
    labels = Y.astype(float)
    labels[1, 1] = np.nan
    with pytest.raises(ValueError, match=r"^labels has NaN, which stands for an unknown label"):
        check_indicator(make(labels), "labels")
    checked = check_indicator(make(labels), "labels", unknown=True)
    assert checked.dtype == np.uint8
    assert checked[1, 1] == UNKNOWN
    np.testing.assert_array_equal(with_nan(checked), labels)
    labels[0, 0] = 2
    with pytest.raises(ValueError, match=r"^labels has values other than 0 and 1: 2\.$"):
        check_indicator(make(labels), "labels", unknown=True)


@pytest.mark.parametrize("make", [np.array, sparse.csr_array, sparse.coo_array, pd.DataFrame])
def test_indicator_refuses_other_values(make):
    for value in (2, -2, 0.5, np.inf, 1 + 1e-12):
        wrong = Y.astype(float)
        wrong[1, 1] = value
        with pytest.raises(ValueError, match=r"^labels has values other than 0 and 1: ") as raised:
            check_indicator(make(wrong), "labels")
        assert "astype" not in str(raised.value)


def test_indicator_shows_few_of_many_values():
    with pytest.raises(ValueError, match=r"0 and 1: 2, 3, 4, 5, 6, \.\.\.\.$"):
        check_indicator(np.arange(100).reshape(10, 10))


@pytest.mark.parametrize(
    "wrong",
    [
        np.array([0, 1, 1]),
        [0, 1, 1],
        [],
        [{0, 1}, {2}],
        np.zeros((2, 2, 2)),
        1,
        pd.Series([0, 1]),
        sparse.coo_array(np.array([0, 1, 1])),
    ],
    ids=["1-D", "list", "empty list", "sets", "3-D", "number", "series", "1-D sparse"],
)
def test_indicator_refuses_other_dimensions(wrong):
    with pytest.raises(ValueError, match=r"^y has shape \(.*expected a matrix of shape \(n, q\)"):
        check_indicator(wrong)


@pytest.mark.parametrize("shape", [(0, 3), (3, 0)])
@pytest.mark.parametrize("make", [np.zeros, sparse.csr_array])
def test_indicator_refuses_empty(shape, make):
    with pytest.raises(ValueError, match="at least one row and one label"):
        check_indicator(make(shape))


def test_indicator_refuses_ragged_rows():
    with pytest.raises(ValueError, match=r"^y has rows of different lengths"):
        check_indicator([[0, 1], [1]])


@pytest.mark.parametrize(
    "wrong",
    [
        Y.astype(str),
        Y.astype("S"),
        Y.astype(str).astype(object),
        Y.astype(complex),
        Y.astype("datetime64[s]"),
        sparse.csr_array(Y.astype(complex)),
        np.array([[0, 1], [object(), 1]]),
        pd.DataFrame([[0, 1], [None, 1]]).astype("Int64"),
        np.ma.array(Y, mask=Y == 1),
    ],
    ids=[
        "text",
        "bytes",
        "text objects",
        "complex",
        "dates",
        "sparse complex",
        "object",
        "missing",
        "masked",
    ],
)
def test_indicator_refuses_other_types(wrong):
    with pytest.raises(TypeError, match=r"^y (has|holds) "):
        check_indicator(wrong)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_scores_keep_floats(dtype):
    scores = Y.astype(dtype)
    assert check_scores(scores) is scores


@pytest.mark.parametrize("make", [np.array, np.ndarray.tolist, pd.DataFrame])
def test_scores_become_float64(make):
    checked = check_scores(make(Y), n_rows=4, n_labels=3)
    assert checked.dtype == np.float64
    np.testing.assert_array_equal(checked, Y)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_scores_refuse_other_than_finite(value):
    scores = Y.astype(float)
    scores[2, 0] = value
    with pytest.raises(ValueError, match=r"scores contains (NaN|infinity)"):
        check_scores(scores)


@pytest.mark.parametrize(
    ("scores", "expected"),
    [(Y[0], "n, q"), (Y[None], "n, q"), (Y[1:], "4, q"), (Y[:, 1:], "n, 3"), (Y.T, "4, 3")],
)
def test_scores_refuse_other_shapes(scores, expected):
    n_rows, n_labels = (int(text) if text.isdigit() else None for text in expected.split(", "))
    with pytest.raises(ValueError, match=rf"^f has shape .*; expected \({expected}\), one score"):
        check_scores(scores, n_rows=n_rows, n_labels=n_labels, name="f")


def test_scores_refuse_sparse():
    with pytest.raises(TypeError, match="Sparse data was passed for scores"):
        check_scores(sparse.csr_array(Y.astype(float)))


def test_scores_of_text_are_named():
    with pytest.raises(
        ValueError, match=r"^f is not an array of finite real numbers, one for each"
    ):
        check_scores([["a", "b"]], name="f")
