import struct
import zlib
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from numpy.typing import NDArray
from scipy import sparse
from scipy.io import loadmat, savemat

from multimargin.datasets import load_mat
from multimargin.datasets._matlab import read_matlab
from tests.support.cases import case

X = np.arange(20.0).reshape(5, 4) / 8
Y = np.array([[0, 1, 1], [1, 0, 0], [0, 0, 0], [1, 1, 1], [0, 1, 0]])


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "tiny.mat"


@pytest.mark.parametrize("names", [("data", "target"), ("X", "Y"), ("features", "labels")])
@pytest.mark.parametrize("orientation", [Y, Y.T], ids=["rows", "columns"])
@pytest.mark.parametrize("version", ["4", "5"])
def test_usual_names_and_both_orientations(
    file: Path, names: tuple[str, str], orientation: NDArray[np.int_], version: str
) -> None:
    savemat(file, {names[0]: X, names[1]: orientation}, format=version)
    data = load_mat(file)
    assert_array_equal(data.X, X)
    assert_array_equal(data.Y, Y)
    assert data.name == "tiny"
    assert data.splits == {}


def test_sparse_variables(file: Path) -> None:
    savemat(file, {"data": sparse.csc_array(X), "target": sparse.csc_array(Y.T.astype(float))})
    data = load_mat(file)
    assert isinstance(data.X, sparse.csr_array)
    assert_array_equal(data.X.toarray(), X)
    assert_array_equal(data.Y, Y)


def test_logical_labels_and_compression(file: Path) -> None:
    savemat(file, {"data": X, "target": Y.astype(bool)}, do_compression=True)
    assert_array_equal(load_mat(file).Y, Y)


@pytest.mark.parametrize(
    "names",
    [
        ("train_data", "train_target", "test_data", "test_target"),
        ("X_train", "Y_train", "X_test", "Y_test"),
        ("Xtrain", "Ytrain", "Xtest", "Ytest"),
    ],
)
def test_train_and_test_parts(file: Path, names: tuple[str, str, str, str]) -> None:
    values = (X[:4], 2 * Y[:4].T - 1, X[4:], 2 * Y[4:].T - 1)
    savemat(file, dict(zip(names, values, strict=True)))
    X_train, X_test, Y_train, Y_test = load_mat(file).train_test()
    assert_array_equal(X_train, X[:4])
    assert_array_equal(X_test, X[4:])
    assert_array_equal(Y_train, Y[:4])
    assert_array_equal(Y_test, Y[4:])


def test_training_part_alone(file: Path) -> None:
    savemat(file, {"train_data": X, "train_target": Y})
    data = load_mat(file)
    assert_array_equal(data.splits["train"], np.arange(5))
    assert list(data.splits) == ["train"]


def test_named_variables(file: Path) -> None:
    savemat(file, {"a": X, "b": Y.T, "c": X[:2], "d": Y[:2].T, "data": X + 1, "target": 1 - Y})
    data = load_mat(file, X="a", Y="b", name="other")
    assert_array_equal(data.X, X)
    assert_array_equal(data.Y, Y)
    assert data.name == "other"
    data = load_mat(file, X="a", Y="b", X_test="c", Y_test="d")
    assert_array_equal(data.split("test")[0], X[:2])
    assert_array_equal(data.split("test")[1], Y[:2])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"X": "data", "Y": "z"}, r"Y: found 'z', expected one of .*\['data', 'target'\]"),
        ({"X": "data"}, "X, Y: found 'data' and None"),
        ({"Y_test": "target"}, "X, Y: found None and None"),
        ({"X": "data", "Y": "target", "X_test": "data"}, "X_test, Y_test: found 'data' and None"),
    ],
)
def test_incomplete_names(file: Path, arguments: dict[str, str], message: str) -> None:
    savemat(file, {"data": X, "target": Y})
    with pytest.raises(ValueError, match=message):
        load_mat(file, **arguments)


@pytest.mark.parametrize(
    ("variables", "message"),
    [
        ({"a": X, "b": Y}, r"has the variables \['a', 'b'\]"),
        ({"data": X}, r"has the variables \['data'\]"),
        ({"test_data": X, "test_target": Y}, "expected features and labels"),
        ({"train_data": X, "train_target": Y, "test_data": X}, "expected features and labels"),
        ({"data": X, "X": X, "target": Y}, r"several variables.*\['X', 'data', 'target'\]"),
        ({"data": X, "target": Y, "train_data": X, "train_target": Y}, "several variables"),
        ({"data": X, "target": Y[:3]}, "Y: 'target' is 3 x 3, expected one side to be 5"),
        ({"data": X, "target": Y * 3}, r"Y: 'target' has the values \[0, 3\]"),
        ({"data": X, "target": Y - 1 + (Y.sum(1) == 3)[:, None]}, r"the values \[-1, 0, 1\]"),
        ({"data": np.array([["a"]], dtype=object), "target": Y}, "variable 'data' is cell"),
        ({"data": {"field": X}, "target": Y}, "variable 'data' is .*expected a numeric matrix"),
    ],
)
def test_bad_variables(file: Path, variables: dict[str, object], message: str) -> None:
    savemat(file, variables)
    with pytest.raises(ValueError, match=message):
        load_mat(file)


@pytest.mark.parametrize("compression", [False, True])
def test_truncated_file(file: Path, compression: bool) -> None:
    savemat(file, {"data": X, "target": Y}, do_compression=compression)
    whole = file.read_bytes()
    for size in (0, 60, 130, len(whole) // 2, len(whole) - 9):
        file.write_bytes(whole[:size])
        with pytest.raises(ValueError, match=r"path: .*tiny\.mat"):
            load_mat(file)


def test_not_a_matlab_file(file: Path) -> None:
    file.write_text("some words, " * 40)
    with pytest.raises(ValueError, match=r"tiny\.mat is not a MATLAB file"):
        load_mat(file)


def test_version_7_3(file: Path) -> None:
    text = b"MATLAB 7.3 MAT-file".ljust(124) + b"\x00\x02IM"
    file.write_bytes(text.ljust(512, b"\0") + b"\x89HDF\r\n\x1a\n")
    with pytest.raises(ValueError, match=r"version 7\.3.*'-v7'"):
        load_mat(file)


@pytest.mark.parametrize("compressed", [False, True])
def test_every_number_type_is_read_as_scipy_reads_it(file: Path, compressed: bool) -> None:
    for dtype in ("f8", "f4", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "?"):
        a, b = (8 * X).astype(dtype), np.zeros((0, 3), dtype)
        matrices = {"a": a, "b": b, "long_name_of_c": Y[:1]}
        savemat(file, matrices | {"text": "abc", "s": {"x": 1}}, do_compression=compressed)
        with case(dtype):
            expected, found = loadmat(file), read_matlab(file)
            assert set(found) == {"a", "b", "long_name_of_c", "text", "s"}
            for name in matrices:
                assert_array_equal(found[name], expected[name])
                assert found[name].shape == expected[name].shape


@pytest.mark.parametrize("version", ["4", "5"])
@pytest.mark.parametrize("density", [0.0, 0.4])
def test_sparse_matrices_are_read_as_scipy_reads_them(
    file: Path, version: str, density: float
) -> None:
    rng = np.random.default_rng(0)
    matrix = rng.standard_normal((6, 9)) * (rng.random((6, 9)) < density)
    savemat(file, {"a": sparse.csc_array(matrix)}, format=version)
    expected = loadmat(file)["a"]
    found = read_matlab(file)["a"]
    assert sparse.issparse(found)
    assert_array_equal(found.toarray(), expected.toarray())


def test_files_of_big_endian_machines(file: Path) -> None:
    header = struct.pack(">5i", 1000, 2, 3, 0, 2)
    file.write_bytes(header + b"a\0" + struct.pack(">6d", 1, 2, 3, 4, 5, 6))
    assert_array_equal(read_matlab(file)["a"], [[1, 3, 5], [2, 4, 6]])

    def element(kind: int, content: bytes) -> bytes:
        return struct.pack(">2I", kind, len(content)) + content + bytes(-len(content) % 8)

    flags = element(6, struct.pack(">2I", 6, 0))
    body = flags + element(5, struct.pack(">2i", 1, 2)) + element(1, b"b")
    body += element(4, struct.pack(">2H", 7, 300))
    file.write_bytes(b"MATLAB 5".ljust(124) + b"\x01\x00MI" + element(14, body))
    assert_array_equal(loadmat(file)["b"], [[7, 300]])
    assert_array_equal(read_matlab(file)["b"], [[7, 300]])


def test_an_element_that_is_cut_says_how_much_there_is(file: Path) -> None:
    header = b"MATLAB 5".ljust(124) + b"\x00\x01IM"
    file.write_bytes(header + struct.pack("<2I", 14, 1000) + b"12345")
    with pytest.raises(ValueError, match="an element has 1,000 bytes, 5 are left"):
        read_matlab(file)


def element(kind: int, *numbers: int | float, as_type: str = "i") -> bytes:
    """Return an element of a file of version 5: its type, its size and the padded numbers."""
    content = struct.pack(f"<{len(numbers)}{as_type}", *numbers)
    return struct.pack("<2I", kind, len(content)) + content + bytes(-len(content) % 8)


def variable(*elements: bytes) -> bytes:
    body = b"".join(elements)
    return struct.pack("<2I", 14, len(body)) + body


def compressed(content: bytes) -> bytes:
    return struct.pack("<2I", 15, len(content)) + content


DOUBLES, SPARSE, COMPLEX = element(6, 6, 0), element(6, 5, 0), element(6, 0x0806, 0)
SIZE, NAME = element(5, 2, 2), struct.pack("<2I", 1, 1) + b"a" + bytes(7)
FOUR = element(9, 1.0, 2.0, 3.0, 4.0, as_type="d")
ROWS, ENDS, ONES = element(5, 0, 1), element(5, 0, 1, 2), element(9, 1.0, 1.0, as_type="d")


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (element(9, 1.0, as_type="d"), "an element of type 9, expected a variable"),
        (struct.pack("<2HI", 14, 5, 0), "a small element of 5 bytes, expected at most 4"),
        (compressed(zlib.compress(b"1234")), "a compressed variable ends too early"),
        (
            compressed(zlib.compress(variable(DOUBLES, SIZE, NAME, FOUR) + b"more")),
            "a compressed variable does not end where it should",
        ),
        (variable(element(6, 6)), "a variable has no flags"),
        (variable(DOUBLES, element(5, 2)), "a variable has no valid dimensions"),
        (variable(DOUBLES, element(5, 2, -2)), "a variable has no valid dimensions"),
        (variable(DOUBLES, ONES), "a variable has no valid dimensions"),
        (variable(element(6, 40, 0), SIZE, NAME), "'a' is of the unknown class 40"),
        (variable(element(14, 6, 0)), "an element of type 14, expected numbers"),
        (variable(struct.pack("<2I", 6, 7) + bytes(8)), "7 bytes, expected numbers of 4 bytes"),
        (variable(DOUBLES, SIZE, NAME, ONES), "the variable 'a': found 2 numbers, expected 2 x 2"),
        (
            variable(SPARSE, element(5, 2, 2, 2), NAME, ROWS, ENDS, ONES),
            "found 3 dimensions of a sparse matrix, expected 2",
        ),
        (variable(SPARSE, SIZE, NAME, ONES, ENDS, ONES), "places of a sparse matrix are no int"),
        (variable(SPARSE, SIZE, NAME, ROWS, ROWS, ONES), "columns .* do not fit its size"),
        (
            variable(SPARSE, SIZE, NAME, ROWS, element(5, 0, 2, 1), ONES),
            "columns .* do not fit its entries",
        ),
        (
            variable(SPARSE, SIZE, NAME, ROWS, element(5, 0, 1, 3), ONES),
            "columns .* do not fit its entries",
        ),
        (
            variable(SPARSE, SIZE, NAME, element(5, 0, 2), ENDS, ONES),
            "found an entry in row 2 of 2",
        ),
    ],
)
def test_damaged_files_of_version_5(file: Path, body: bytes, message: str) -> None:
    file.write_bytes(b"MATLAB 5".ljust(124) + b"\x00\x01IM" + body)
    with pytest.raises(ValueError, match=message):
        read_matlab(file)
    with pytest.raises(ValueError, match=r"path: .*tiny\.mat"):
        load_mat(file)


def test_variables_of_version_5_that_are_no_real_matrices(file: Path) -> None:
    opaque = element(6, 17, 0)
    variables = [
        variable(DOUBLES, SIZE, NAME, FOUR),
        variable(),
        variable(opaque, NAME.replace(b"a", b"b")),
        variable(COMPLEX, SIZE, NAME.replace(b"a", b"c"), FOUR, FOUR),
    ]
    file.write_bytes(b"MATLAB 5".ljust(124) + b"\x00\x01IM" + b"".join(variables))
    found = read_matlab(file)
    assert_array_equal(found.pop("a"), [[1, 3], [2, 4]])
    assert {name: value.kind for name, value in found.items()} == {"b": "opaque", "c": "complex"}


def test_an_unknown_version(file: Path) -> None:
    file.write_bytes(b"MATLAB 6".ljust(124) + b"\x00\x03IM")
    with pytest.raises(ValueError, match="its version is 3, expected 1"):
        read_matlab(file)


def version_4(*values: float, mopt: int, n_columns: int = 3, imaginary: int = 0) -> bytes:
    """Return the variable `a` of doubles, in columns."""
    n_rows = len(values) // (n_columns * (1 + imaginary))
    header = struct.pack("<5i", mopt, n_rows, n_columns, imaginary, 2)
    return header + b"a\0" + struct.pack(f"<{len(values)}d", *values)


@pytest.mark.filterwarnings("ignore:invalid value encountered in cast:RuntimeWarning")
@pytest.mark.parametrize(
    "content",
    [
        version_4(1, 2, 3, mopt=0) + b"\0" * 8,
        version_4(1, 2, 3, mopt=100),
        version_4(1, 2, 3, mopt=0)[:-8],
        version_4(1, 2, mopt=2, n_columns=2),
        version_4(1, 4, 1, np.inf, 5, 0, mopt=2),
        version_4(1, 4, 1, -4, 5, 0, mopt=2),
        version_4(5, 4, 1, 4, 5, 0, mopt=2),
        version_4(0, 4, 1, 4, 5, 0, mopt=2),
    ],
)
def test_damaged_files_of_version_4(file: Path, content: bytes) -> None:
    file.write_bytes(content)
    with pytest.raises(ValueError, match=r"path: .*tiny\.mat is not a MATLAB file, or is damaged"):
        load_mat(file, X="a", Y="a")


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        (version_4(65, 66, 67, mopt=1), "char"),
        (version_4(1, 2, 3, 4, 5, 6, mopt=0, imaginary=1), "complex"),
        (version_4(1, 1, 1, 1, mopt=2, n_columns=4), "complex"),
    ],
)
def test_variables_of_version_4_that_are_no_real_matrices(
    file: Path, content: bytes, kind: str
) -> None:
    file.write_bytes(content)
    assert read_matlab(file)["a"].kind == kind


def test_square_labels_are_refused(file: Path) -> None:
    savemat(file, {"data": X[:3], "target": Y[:3]})
    with pytest.raises(ValueError, match="Y: 'target' is square, 3 x 3"):
        load_mat(file)
