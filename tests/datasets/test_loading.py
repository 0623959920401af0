"""One function for every file, folder and name."""

import bz2
import gzip
import lzma
import os

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from multimargin.datasets import (
    MultilabelData,
    load,
    load_arff,
    load_npz,
    load_svmlight,
    load_table,
)
from multimargin.datasets.arff import load_arff_features
from tests.support.cases import case
from tests.support.files import write_arff, write_svmlight

X = np.array([[1.0, 0.0], [0.0, 2.0], [3.0, 4.0]])
Y = np.array([[1, 0], [0, 1], [1, 1]])
DATA = MultilabelData(X, Y, ["f", "g"], ["p", "q"], splits={"train": [0, 1], "test": [2]})


def test_every_kind_of_file(tmp_path):
    write_arff(DATA, tmp_path / "a.arff")
    write_svmlight(DATA, tmp_path / "a.svm")
    write_svmlight(DATA, tmp_path / "a.LIBSVM")
    np.savez(tmp_path / "a.npz", X=X, Y=Y)
    for name in ("a.arff", "a.svm", "a.LIBSVM", "a.npz"):
        data = load(tmp_path / name)
        found = data.X if isinstance(data.X, np.ndarray) else data.X.toarray()
        assert_array_equal(found, X, err_msg=name)
        assert_array_equal(data.Y, Y, err_msg=name)
        assert data.name == "a"
        assert data.splits == {}


PACKERS = {".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress}


@pytest.mark.parametrize("packed", PACKERS)
def test_compressed_files_alone_and_in_folders(tmp_path, packed):
    for write, kind in ((write_arff, ".arff"), (write_svmlight, ".svm")):
        folder = tmp_path / kind[1:]
        folder.mkdir()
        for part in ("train", "test"):
            plain = folder / f"a-{part}{kind}"
            write(DATA, plain)
            plain.with_name(plain.name + packed).write_bytes(PACKERS[packed](plain.read_bytes()))
            plain.unlink()
        data = load(folder / f"a-train{kind}{packed}")
        assert_array_equal(data.X if isinstance(data.X, np.ndarray) else data.X.toarray(), X)
        assert_array_equal(data.Y, Y)
        assert data.name == "a-train"
        assert {name: len(rows) for name, rows in load(folder).splits.items()} == {
            "train": 3,
            "test": 3,
        }
        cut = folder / f"a-train{kind}{packed}"
        cut.write_bytes(cut.read_bytes()[:-12])
        with pytest.raises(ValueError, match=r"damaged|truncated|end-of-stream"):
            load(cut)


def test_a_folder_with_parts(tmp_path):
    folder = tmp_path / "tiny"
    folder.mkdir()
    for part in ("train", "test"):
        write_arff(DATA, folder / f"tiny-{part}.arff", split=part)
        X_part, Y_part = DATA.split(part)
        np.savez(tmp_path / f"{part}.npz", X=X_part, Y=Y_part)
    data = load(folder)
    assert data.name == "tiny"
    assert {name: [*rows] for name, rows in data.splits.items()} == {"train": [0, 1], "test": [2]}
    assert_array_equal(data.Y, Y)
    # One part by itself finds the XML file that it shares with the other.
    assert load(folder / "tiny-test.arff").n_samples == 1
    # Parts in other formats.
    assert set(load(tmp_path).splits) == {"train", "test"}
    both = load(tmp_path / "train.npz", test=tmp_path / "test.npz")
    assert_array_equal(both.Y, Y)


def test_a_folder_with_one_file_or_one_of_its_name(tmp_path):
    folder = tmp_path / "tiny"
    folder.mkdir()
    np.savez(folder / "other.npz", X=X, Y=Y)
    assert load(folder).name == "tiny"
    np.savez(folder / "damaged.npz", X=X, Y=Y)
    with pytest.raises(ValueError, match=r"found damaged\.npz, other\.npz"):
        load(folder)
    np.savez(folder / "tiny.npz", X=X, Y=1 - Y)
    assert_array_equal(load(folder).Y, 1 - Y)


def test_labels_of_an_arff_file(tmp_path):
    file = tmp_path / "a.arff"
    xml = write_arff(DATA, file)
    assert load(file, labels=-1).label_names == ("q",)
    xml.rename(tmp_path / "other name.xml")
    assert load(file).label_names == ("p", "q")  # the only XML file
    (tmp_path / "third.xml").write_text("<labels/>")
    with pytest.raises(ValueError, match=r"labels is not given.* -k for the last k"):
        load(file)
    assert load(file, labels=tmp_path / "other name.xml").label_names == ("p", "q")
    # The header goes before a stray XML file.
    file.write_text("@relation 'x: -C 1'\n@attribute p {0,1}\n@attribute f numeric\n@data\n1,2\n")
    (tmp_path / "third.xml").write_text("<project/>")
    assert load(file).label_names == ("p",)


def test_bad_arguments(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    np.savez("a.npz", X=X, Y=Y)
    absent = "there is no file or folder"
    for source, arguments, error, message in (
        ("nope.arff", {}, FileNotFoundError, rf"{absent} 'nope\.arff'"),
        ("some/where", {}, FileNotFoundError, absent),
        (
            "digts",
            {},
            FileNotFoundError,
            r"did you mean 'digits'\?\); expected one, .* debian-tags, digits",
        ),
        (3, {}, TypeError, "source is a int"),
        (__file__, {}, ValueError, r"ends in '\.py'; expected one of \.arff, \.npz"),
        ("a.npz", {"labels": 3}, ValueError, r"labels is 3 for a\.npz; expected it for ARFF"),
        ("digits", {"labels": 3}, ValueError, r"labels is 3 for 'digits'; expected it for ARF"),
        ("a.npz", {"test": "b.npz"}, FileNotFoundError, r"test: there is no file 'b\.npz'"),
        ("digits", {"test": "a.npz"}, ValueError, "expected it for a file"),
    ):
        with case(source, arguments), pytest.raises(error, match=message):
            load(source, **arguments)
    for ending in ("arff", "npz", "svm"):
        (tmp_path / f"empty.{ending}").touch()
        with pytest.raises(ValueError, match=rf"path: the file .*empty\.{ending}' is empty"):
            load(f"empty.{ending}")


def test_features_of_rows_whose_labels_are_missing_or_absent(tmp_path):
    file, names = tmp_path / "a.arff", ["f", "w=x", "w=y", "g"]
    header = "@relation r\n@attribute g numeric\n@attribute w {x,y,z}\n@attribute f numeric\n"
    file.write_text(header + "@attribute p {0,1}\n@data\n1,y,2,?\n3,x,4,1\n")
    assert_array_equal(load_arff_features(file, names), [[2, 0, 1, 1], [4, 1, 0, 3]])
    file.write_text(header + "@data\n{0 1,1 y}\n{2 5}\n")
    X = load_arff_features(file, names)
    assert_array_equal(X.toarray(), [[0, 0, 1, 1], [5, 1, 0, 0]])
    with pytest.raises(ValueError, match=r"lacks 2 of the 3 features.*: 'h', 'i'"):
        load_arff_features(file, ["f", "h", "i"])


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="the system has no pipes in folders")
@pytest.mark.parametrize("ending", ["csv", "arff", "npz", "svm", "parquet", "xml"])
def test_a_pipe_is_not_waited_for(tmp_path, ending):
    pipe = tmp_path / f"x.{ending}"
    os.mkfifo(pipe)
    for read in (load, load_table, load_arff, load_npz, load_svmlight):
        with pytest.raises(FileNotFoundError, match=r"is a pipe or a device; expected a file"):
            read(pipe)
    with pytest.raises((FileNotFoundError, ValueError)):
        load(tmp_path)
    np.savez(tmp_path / "y.npz", X=X, Y=Y)
    assert load(tmp_path).n_samples == 3


def test_tags_of_a_nominal_attribute_are_read_as_a_table(tmp_path):
    file = tmp_path / "t.arff"
    file.write_text(
        "@relation t\n@attribute x numeric\n@attribute t {a,b,'a,b'}\n@data\n1,'a,b'\n2,b\n"
    )
    data = load(file, tags_column="t")
    assert (data.label_names, data.Y.tolist()) == (("a", "b"), [[1, 1], [0, 1]])
