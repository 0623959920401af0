"""The reader of fastText's files."""

import bz2
from pathlib import Path

import numpy as np
import pytest

from multimargin.datasets import load, load_fasttext

pytest.importorskip("pandas")

TEXT = "__label__b plays sound\n\n__label__a __label__b edits sound\nshows photos __label__a\n"


def test_labels_are_anywhere_in_a_line(tmp_path: Path) -> None:
    file = tmp_path / "tiny.txt"
    file.write_text(TEXT)
    data = load_fasttext(file)
    assert (data.name, data.label_names) == ("tiny", ("a", "b"))
    assert data.Y.tolist() == [[0, 1], [1, 1], [1, 0]]
    assert len(data.feature_names) == 5
    assert not any("label" in name for name in data.feature_names)
    np.testing.assert_array_equal(load(file).Y, data.Y)


def test_parts_and_compressed_files(tmp_path: Path) -> None:
    files = [tmp_path / "a-train.txt.bz2", tmp_path / "a-test.txt.bz2"]
    for file in files:
        file.write_bytes(bz2.compress(TEXT.encode()))
    data = load(files[0], test=files[1])
    assert data.Y.shape == (6, 2)
    assert [rows.tolist() for rows in data.splits.values()] == [[0, 1, 2], [3, 4, 5]]


def test_files_without_labels_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "tiny.txt"
    file.write_text("no label\n")
    with pytest.raises(ValueError, match=r"path: .*tiny\.txt has no line with a label"):
        load_fasttext(file)
    with pytest.raises(ValueError, match="expected three positive numbers 'n d q'"):
        load(file)
