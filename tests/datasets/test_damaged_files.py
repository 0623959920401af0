"""Files that are wrong in ways that parsers do not expect: one kind of error, and no waste."""

import io
import zipfile

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from multimargin.datasets import MultilabelData, describe, load, load_arff, load_npz, load_svmlight
from multimargin.datasets._reading import reading
from tests.support.cases import case

X, Y = np.eye(3), np.array([[0, 1], [1, 0], [1, 1]], dtype=np.uint8)

ARFF = "@relation r\n@attribute a numeric\n@attribute l {0,1}\n@data\n1,0\n2,1\n"


def npy(header, content=b"", version=b"\x01\x00"):
    size = len(header).to_bytes(2 if version[0] == 1 else 4, "little")
    return b"\x93NUMPY" + version + size + header.encode("latin-1") + content


def write_npz(file, **members):
    arrays = {"X": X, "Y": Y} | members
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, array in arrays.items():
            if not isinstance(array, bytes):
                stream = io.BytesIO()
                np.save(stream, array)
                array = stream.getvalue()
            archive.writestr(f"{name}.npy", array)
    return file


def test_svmlight(tmp_path, one_gigabyte):
    file = tmp_path / "tiny.svm"
    for content, message in (
        ("1 1:1\n1 2147483647:1\n", "claims 2,147,483,647 features.*give n_features"),
        ("1 1:1\n1 4000000000:1\n", r"tiny\.svm"),
        ("1 2000000000:1\n", r"claims 2,000,000,000 features.*give n_features"),
        ("1e300 1:1\n", r"tiny\.svm has the label 1e\+300"),
        ("1 1:1\n900000000 1:1\n", r"claims 900,000,000 labels.*give n_labels"),
        ("1 1:inf\n", r"tiny\.svm: .*infinity"),
        ("1 1:1\n\n# only this\n2 1:x\n", r"tiny\.svm: line \d+: expected lines such as"),
        ("1 1:1\n2 1:1 1\n", r"tiny\.svm: line \d+: expected lines such as"),
        ("1 1:1\n2" + " 5:-104" * 200 + " 6:x\n", r"tiny\.svm: line \d+: expected lines such as"),
    ):
        file.write_text(content)
        with case(content[:40]), pytest.raises(ValueError, match=message):
            load_svmlight(file)


def test_npz(tmp_path, one_gigabyte):
    def of_shape(shape, descr="<f8"):
        return npy(f"{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}}}")

    for members, message in (
        ({"X": of_shape("(1000000000000,)")}, "bytes"),
        ({"X": of_shape("(3, 3)")}, "X.npy has 0 by"),
        ({"X": of_shape("(-3, -3)")}, "X.npy has 0"),
        ({"X": of_shape("(1,)", "|O")}, "dtype object"),
        ({"X": npy("{'descr': [], 'fortran_order': False, 'shape': (10**12,)}")}, "header"),
        ({"X": npy("(" * 5000)}, "X.npy has a header"),
        ({"X": npy("-" * 9000 + "1")}, "X.npy has a header"),
        ({"X": npy("{'descr': '<f8' # ")}, "X.npy has a header"),
        ({"X": npy("{}", version=b"\x09\x00")}, "X.npy has a header"),
        ({"X": b"junk"}, "X.npy has a header"),
        ({"feature_names": np.array(["a", "b"])}, "has 2 names; expected 3"),
        ({"label_names": np.array(["a", "a"])}, "label_names: 'a' occurs twice"),
        ({"X": np.ones(3)}, "X has 1 dimension"),
    ):
        file = write_npz(tmp_path / "tiny.npz", **members)
        with case(message), pytest.raises(ValueError, match=message) as caught:
            load_npz(file)
        assert str(file) in str(caught.value)


def test_npz_of_very_many_columns(tmp_path, one_gigabyte):
    file = tmp_path / "wide.npz"
    arrays = {"data": np.ones(1), "indices": np.array([7]), "indptr": np.array([0, 1])}
    np.savez(file, **arrays, shape=np.array([1, 10**12]), Y=Y[:1])
    with pytest.raises(ValueError, match=r"claims 1,000,000,000,000 features.*give max_features"):
        load_npz(file)


def test_npz_that_claims_to_unpack_to_very_much(tmp_path, one_gigabyte):
    file = write_npz(tmp_path / "bomb.npz")
    content = bytearray(file.read_bytes())
    # The size before compression, in the directory at the end, and the shape to go with it.
    directory = content.index(b"PK\x01\x02")
    content[directory + 24 : directory + 28] = (2**32 - 2).to_bytes(4, "little")
    file.write_bytes(content)
    with pytest.raises(ValueError, match=r"bomb\.npz: X\.npy claims 4,294,967,294 bytes"):
        load_npz(file)


def test_arff(tmp_path):
    file = tmp_path / "tiny.arff"
    for old, new, message in (
        ("@attribute a", "@attributes a", "line 2: this is not ARFF"),
        ("1,0", "inf,0", "infinity"),
        ("1,0\n2,1", "{0 inf}\n{1 1}", "infinity"),
        ("1,0\n2,1", "{4000000000 1}\n{1 1}", "line 5"),
        ("1,0\n2,1", "{-1 1}\n{1 1}", "tiny.arff"),
        ("@attribute a numeric", "@attribute a {", "line 2"),
        ("numeric", "{" * 5000, "tiny.arff"),
        ("numeric", "{" + "a," * 100, "line 2"),
        ("numeric", "{" + "c," * 100 + "a b}", "line 2"),
        ("numeric", "{" + "'c'," * 100 + "'d}", "line 2"),
        ("numeric", "{" + "'c\\'" * 100 + "}", "line 2"),
    ):
        file.write_text(ARFF.replace(old, new))
        with case(new[:40]), pytest.raises(ValueError, match=message) as caught:
            load_arff(file, -1)
        assert str(file) in str(caught.value)


def test_xml(tmp_path):
    file, xml = tmp_path / "tiny.arff", tmp_path / "tiny.xml"
    file.write_text(ARFF)
    entities = b'<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;">'
    for content in (
        b'<?xml version="1.0" encoding="klingon"?><labels/>',
        b'<?xml version="1.0" encoding="utf-32"?><labels/>',
        b"<labels>" * 100_000,
        b"\xff\xfe<\0",
        b"<!DOCTYPE a [" + entities + b"]><labels>&b;</labels>",
    ):
        xml.write_bytes(content)
        with case(content[:40]), pytest.raises(ValueError, match=r"^labels: .*tiny\.xml"):
            load_arff(file, xml)


def test_many_attributes_of_which_one_is_repeated(tmp_path):
    names = [f"a{i}" for i in range(40_000)]
    lines = [f"@attribute {name} numeric" for name in [*names, names[-1]]]
    file = tmp_path / "tiny.arff"
    file.write_text("\n".join(["@relation r", *lines, "@data", "1" + ",1" * 40_000]))
    # Comparing each name with all others would take minutes.
    with pytest.raises(ValueError, match="the attribute 'a39999' is declared twice"):
        load_arff(file, -1)


def nominal_file(file, n_values, cells):
    values = ",".join(f"v{i}" for i in range(n_values))
    rows = [f"{cell},{i % 2}" for i, cell in enumerate(cells)]
    head = ["@relation r", f"@attribute a {{{values}}}", "@attribute l {0,1}", "@data"]
    file.write_text("\n".join([*head, *rows, ""]))
    return file


def test_nominal_attribute_of_many_values(tmp_path, one_gigabyte):
    cells = [f"v{(7 * i) % 30_000}" for i in range(10_000)]
    data = load_arff(nominal_file(tmp_path / "wide.arff", 30_000, cells), -1)
    assert data.X.shape == (10_000, 30_000)
    assert data.X.nnz == 10_000
    assert_array_equal(data.X.indices[:3], [0, 7, 14])
    assert data.feature_names[7] == "a=v7"


def test_nominal_attribute_of_many_values_that_is_missing(tmp_path, one_gigabyte):
    file = nominal_file(tmp_path / "wide.arff", 30_000, ["?"] * 10_000)
    with pytest.raises(ValueError, match="'a' has 30,000 values and is missing in 10,000 rows"):
        load_arff(file, -1)


def test_names_that_are_no_text(tmp_path):
    data = MultilabelData(X=X, Y=Y, label_names=["caf\udce9", "\ud800"])
    "".join(data.label_names).encode()
    file = tmp_path / "caf\udce9.svm"
    try:
        file.write_text("1 1:1\n2 2:1\n")
    except OSError:
        pytest.skip("this file system refuses such names")
    data = load(file)
    assert data.name == r"caf\xe9"
    repr(data).encode()
    describe(data).name.encode()


def test_whatever_a_parser_raises_names_the_file(tmp_path):
    file = tmp_path / "file"
    for error in (KeyError("a"), RecursionError("b"), LookupError("c"), OSError()):
        message = rf"^path: {file}: .*damaged \({type(error).__name__}"
        with pytest.raises(ValueError, match=message), reading(file, "path"):
            raise error
    with pytest.raises(ValueError, match=f"^path: {file}: no text$"), reading(file, "path"):
        raise UnicodeError("no text")
    with pytest.raises(ValueError, match=f"^{file} is odd$"), reading(file, "path"):
        raise ValueError(f"{file} is odd")
    # A missing package, or what the system says, is no fault of the file.
    for error in (ImportError("no pyarrow"), PermissionError(13, "Permission denied")):
        with pytest.raises(type(error), match=error.args[-1]), reading(file, "path"):
            raise error
    expected = f"^path: {file} does not fit in memory: 4 TiB$"
    with pytest.raises(MemoryError, match=expected), reading(file, "path"):
        raise MemoryError("4 TiB")
