"""The reader of the format of the Extreme Classification Repository."""

import gzip

import numpy as np
import pytest

from multimargin import RankSVM
from multimargin.datasets import load, load_extreme


def written(tmp_path, text):
    path = tmp_path / "train.txt"
    path.write_text(text)
    return path


def test_rows_with_and_without_labels(tmp_path):
    X, Y = load_extreme(written(tmp_path, "3 3 4\n0,2 0:1.5 2:1\n 1:0.5\n3,3 2:-1e-3\n"))
    assert X.toarray().tolist() == [[1.5, 0, 1], [0, 0.5, 0], [0, 0, -1e-3]]
    assert Y.toarray().tolist() == [[1, 0, 1, 0], [0, 0, 0, 0], [0, 0, 0, 1]]
    assert Y.dtype == np.uint8
    model = RankSVM(kernel="linear", random_state=0).fit(X, Y)
    assert model.predict(X).shape == (3, 4)


def test_a_blank_line_is_a_row_without_labels_and_features(tmp_path):
    for text in ("3 3 2\n0 0:1.5 2:1\n\n1 1:0.5\n", "3 3 2\n0, 0:1.5 2:1\n \n1 1:0.5\n\n\n"):
        X, Y = load_extreme(written(tmp_path, text))
        assert X.toarray().tolist() == [[1.5, 0, 1], [0, 0, 0], [0, 0.5, 0]]
        assert X.nnz == 3
        assert Y.toarray().tolist() == [[1, 0], [0, 0], [0, 1]]
    X, Y = load_extreme(written(tmp_path, "2 3 2\n0 , 1 0:1.5\n \n"))
    assert (X.toarray().tolist(), Y.toarray().tolist()) == (
        [[1.5, 0, 0], [0, 0, 0]],
        [[1, 1], [0, 0]],
    )


def test_load_reads_it_by_its_ending(tmp_path):
    written(tmp_path, "2 3 2\n0 0:1.5 2:1\n1 1:0.5\n")
    packed = tmp_path / "test.txt.gz"
    packed.write_bytes(gzip.compress((tmp_path / "train.txt").read_bytes()))
    data = load(tmp_path / "train.txt", test=packed)
    assert data.X.toarray().tolist() == [[1.5, 0, 1], [0, 0.5, 0]] * 2
    assert data.Y.tolist() == [[1, 0], [0, 1]] * 2
    assert (data.feature_names, data.label_names) == (("0", "1", "2"), ("0", "1"))
    packed.write_bytes(gzip.compress(b"2 3 2\n0 0:1\n1 x\n"))
    with pytest.raises(ValueError, match=r"test\.txt\.gz: .*line 3: expected lines such as"):
        load_extreme(packed)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "expected three positive numbers 'n d q'"),
        ("2 3\n0 0:1\n", r"starts with b'2 3\\n'; expected three positive numbers"),
        ("2 0 4\n0 0:1\n", "expected three positive numbers"),
        ("2 3 4 5\n0 0:1\n", "expected three positive numbers"),
        ("3 3 4\n0 0:1\n1 1:1\n", "has 2 rows; expected 3 as in its first line"),
        ("1 3 4\n4 0:1\n", "has the label 4; .* from 0 to 3"),
        ("1 3 4\n-1 0:1\n", "has the label -1; .* from 0 to 3"),
        ("1 3 4\n0.5 0:1\n", "has the label 0.5"),
        ("1 3 4\n0 3:1\n", "4 features"),
        ("1 3 4\nx 0:1\n", "could not convert"),
        ("1 3 4\n0 0:1 1\n", "train.txt"),
        ("1 99999999999999999999 4\n0 0:1\n", "train.txt: the file is damaged"),
    ],
)
def test_other_files_are_refused(tmp_path, text, message):
    with pytest.raises(ValueError, match=message) as caught:
        load_extreme(written(tmp_path, text))
    assert str(caught.value).startswith("path: ")
