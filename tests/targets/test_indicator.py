"""Label indicators, in every container."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from multimargin.targets.indicator import UNKNOWN, check_indicator, with_nan
from tests.support.cases import case

Y = np.array([[1, 0, 1], [0, 0, 0], [1, 1, 1], [0, 1, 0]])

KINDS = {
    "int": Y,
    "bool": Y.astype(bool),
    "float32, Fortran order": np.asfortranarray(Y, dtype=np.float32),
    "object": Y.astype(object),
    "strided": np.repeat(Y, 2, axis=1)[:, ::2],
    "list of lists": Y.tolist(),
    "data frame": pd.DataFrame(Y, columns=["a", "b", "c"]),
    "data frame, nullable": pd.DataFrame(Y).astype("Int64"),
    "data frame, nullable bool": pd.DataFrame(Y).astype("boolean"),
    "data frame, sparse": pd.DataFrame.sparse.from_spmatrix(sparse.csr_matrix(Y)),
    "csr_array": sparse.csr_array(Y),
    "csr_matrix": sparse.csr_matrix(Y.astype(float)),
    "coo": sparse.coo_array(Y.astype(np.uint8)),
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


def test_indicator_leaves_input_alone():
    rows, columns = np.nonzero(np.ones_like(Y))
    explicit = sparse.coo_array((Y.ravel().astype(float), (rows, columns)), shape=Y.shape)
    # Entry (0, 2) is stored as 0 + 1, with the columns out of order.
    parts = np.array([1.0, 0.0, 1.0]), np.array([2, 2, 0]), np.array([0, 3])
    unsorted = sparse.csr_array(parts, shape=(1, 3))
    frozen = Y.copy()
    kinds = [(make(explicit), Y) for make in (sparse.csr_array, sparse.csc_array, sparse.coo_array)]
    for given, expected in [*kinds, (unsorted, [[1, 0, 1]]), (frozen, Y)]:
        (given.data if sparse.issparse(given) else given).flags.writeable = False
        np.testing.assert_array_equal(check_indicator(given), expected)
        assert given is frozen or given.nnz == (3 if given is unsorted else Y.size)
    np.testing.assert_array_equal(unsorted.indices, [2, 2, 0])


MAKES = (np.array, sparse.csr_array, sparse.csc_array, sparse.coo_array, pd.DataFrame)


@pytest.mark.parametrize("make", MAKES)
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


@pytest.mark.parametrize("make", MAKES)
def test_indicator_refuses_other_values(make):
    for value in (2, -2, 0.5, np.inf, 1 + 1e-12):
        wrong = Y.astype(float)
        wrong[1, 1] = value
        with pytest.raises(ValueError, match=r"^labels has values other than 0 and 1: ") as raised:
            check_indicator(make(wrong), "labels")
        assert "astype" not in str(raised.value)
    with pytest.raises(
        ValueError, match=r"other than 0 and 1: -1\..*\(Y_true > 0\)\.astype\(int\)"
    ):
        check_indicator(make(2 * Y - 1), "Y_true")


TWO = np.ones(2)
NOT_01 = r"values other than 0 and 1: "
NO_MATRIX = r"^y has shape \(.*expected a matrix of shape \(n, q\)"
NO_LABELS = "at least one row and one label"
NO_NUMBERS = r"^y (has|holds) "
REFUSED = {
    "two in csr": (sparse.csr_array((TWO, [1, 1], [0, 2]), shape=(1, 2)), NOT_01 + r"2\."),
    "many values": (np.arange(100).reshape(10, 10), NOT_01 + r"2, 3, 4, 5, 6, \.\.\.\.$"),
    "1-D": (np.array([0, 1, 1]), NO_MATRIX),
    "sets": ([{0, 1}, {2}], "^y lists names of labels; expected a matrix"),
    "3-D": (np.zeros((2, 2, 2)), NO_MATRIX),
    "number": (1, "^y is 1; expected a label indicator"),
    "1-D sparse": (sparse.coo_array(np.array([0, 1, 1])), NO_MATRIX),
    "ragged rows": ([[0, 1], [1]], r"^y has rows of different lengths"),
    "no row": (np.zeros((0, 3)), NO_LABELS),
    "no label": (np.zeros((3, 0)), NO_LABELS),
    "text": (Y.astype(str), NO_NUMBERS),
    "text objects": (Y.astype(str).astype(object), NO_NUMBERS),
    "complex": (Y.astype(complex), NO_NUMBERS),
    "sparse complex": (sparse.csr_array(Y.astype(complex)), NO_NUMBERS),
    "object": (np.array([[0, 1], [object(), 1]]), NO_NUMBERS),
    "missing": (pd.DataFrame([[0, 1], [None, 1]]).astype("Int64"), "^y has NaN, which stands"),
    "masked": (np.ma.array(Y, mask=Y == 1), "^y has masked entries"),
}


def test_indicator_refuses():
    for kind, (given, message) in REFUSED.items():
        error = TypeError if message == NO_NUMBERS else ValueError
        with case(kind), pytest.raises(error, match=message):
            check_indicator(given)
