import gzip

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse

from multimargin import RankSVM
from multimargin.datasets import MultilabelData, load, load_extreme, load_svmlight
from tests.support.cases import case
from tests.support.files import write_svmlight

ONE_BASED = "1,3 1:0.5 4:2\n2 2:-1\n 1:7 3:0.25\n"


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "tiny.svm"
    path.write_text(ONE_BASED)
    return path


def test_blanks_and_commas_between_labels(file):
    expected = [[1, 1, 0], [0, 1, 1], [0, 0, 0], [1, 0, 0]]
    for first, second in (("1, 2", "2 ,3,"), ("1 ,2", "2,\t3 ,"), ("1,,2", ",2,3"), ("1,2", "2,3")):
        content = f"{first} 1:1\n{second} 1:1 2:2 # a, b: c\n 1:1\n1,\n"
        file.write_text(content)
        with case(content):
            assert_array_equal(load_svmlight(file).Y, expected)
    for wrong in ("1 2 1:1", "1,2 3 1:1", "1,2,1:1", "a, 1:1"):
        file.write_text(f"1 1:1\n\n# none\n{wrong}\n")
        with case(wrong), pytest.raises(ValueError, match=r"tiny\.svm: line 4: expected lines"):
            load_svmlight(file)


def test_where_counting_begins_and_ends(file):
    X = [[0.5, 0, 0, 2], [0, -1, 0, 0], [7, 0, 0.25, 0]]
    Y = [[1, 0, 1], [0, 1, 0], [0, 0, 0]]
    wider = np.pad(X, ((0, 0), (0, 2))), np.pad(Y, ((0, 0), (0, 2)))
    for content, options, features, labels, names in (
        (ONE_BASED, {}, X, Y, "123"),
        ("0,2 1:0.5 2:2\n1 2:1\n", {}, [[0.5, 2], [0, 1]], [[1, 0, 1], [0, 1, 0]], "012"),
        (ONE_BASED, {"n_features": 6, "n_labels": 5, "name": "other"}, *wider, "12345"),
    ):
        file.write_text(content)
        data = load_svmlight(file, **options)
        assert isinstance(data.X, sparse.csr_array)
        assert_array_equal(data.X.toarray(), features)
        assert_array_equal(data.Y, labels)
        assert (data.name, data.splits) == (options.get("name", "tiny"), {})
        assert data.label_names == tuple(names)


def test_two_files_share_counts_and_base(file, tmp_path):
    test = tmp_path / "test.svm"
    test.write_text("0,4 0:1 6:3\n")
    data = load_svmlight(file, test=test)
    assert data.X.shape == (4, 7)
    X_train, X_test, Y_train, Y_test = data.train_test()
    assert_array_equal(X_train.toarray()[0], [0, 0.5, 0, 0, 2, 0, 0])
    assert_array_equal(X_test.toarray(), [[1, 0, 0, 0, 0, 0, 3]])
    assert_array_equal(Y_train, [[0, 1, 0, 1, 0], [0, 0, 1, 0, 0], [0, 0, 0, 0, 0]])
    assert_array_equal(Y_test, [[1, 0, 0, 0, 1]])


def test_bad_content(file, tmp_path):
    for content, arguments, message in (
        ("1.5 1:1\n", {}, "tiny.svm has the label 1.5"),
        ("-1 1:1\n", {}, "has the label -1"),
        ("inf 1:1\n", {}, "has the label inf"),
        ("1,7 1:1\n", {"n_labels": 5}, r"tiny.svm has labels 1..7; expected 1..5 \(n_labels=5"),
        ("0,1 1:1\n", {"labels_zero_based": False}, "tiny.svm has labels 0..1; expected 1..1"),
        (
            "1 9:1\n",
            {"n_features": 5},
            r"tiny\.svm has features 9\.\.9; expected 1\.\.5 \(n_features=5",
        ),
        ("1 0:1\n", {"zero_based": False}, r"has features 0\.\.0; expected 1\.\.1"),
        ("1 a:1\n", {}, "tiny\\.svm: line \\d+: expected lines such as"),
        ("1,b 1:1\n", {}, "tiny\\.svm: line \\d+: expected lines such as"),
        (" 1:1\n 2:1\n", {}, "n_labels is None"),
    ):
        file.write_text(content)
        with case(content), pytest.raises(ValueError, match=message):
            load_svmlight(file, **arguments)
    # The last one: no label anywhere.
    assert_array_equal(load_svmlight(file, n_labels=2).Y, np.zeros((2, 2)))
    file.write_text(ONE_BASED)
    test = tmp_path / "test.svm"
    test.write_text("0.5 1:1\n")
    with pytest.raises(ValueError, match=r"^test: .*test\.svm has the label 0\.5"):
        load_svmlight(file, test=test)


def test_bad_arguments(file):
    for arguments, error, message in (
        ({"n_features": "4"}, TypeError, "n_features is '4'"),
        ({"n_labels": True}, TypeError, "n_labels is True"),
        ({"n_labels": 0}, ValueError, "n_labels is 0; expected an integer of at least 1"),
        ({"zero_based": "yes"}, ValueError, "zero_based is 'yes'"),
        ({"labels_zero_based": 1}, ValueError, "labels_zero_based is 1"),
        ({"test": "nowhere.svm"}, FileNotFoundError, "test: there is no file 'nowhere.svm'"),
        ({"test": 3}, TypeError, "test is a int; expected a path"),
    ):
        with case(arguments), pytest.raises(error, match=message):
            load_svmlight(file, **arguments)


@pytest.mark.parametrize("zero_based", [False, True])
@pytest.mark.parametrize("labels_zero_based", [False, True])
def test_written_files_are_read_back(tmp_path, zero_based, labels_zero_based):
    random = np.random.default_rng(0)
    X = random.normal(size=(20, 6)) * (random.random((20, 6)) < 0.4)
    Y = (random.random((20, 4)) < 0.4).astype(int)
    # First and last columns without an entry, rows without a label or without a feature.
    X[:, [0, 5]], Y[:, [0, 3]] = 0.0, 0
    X[3], Y[3, 1], Y[4], X[4, 1] = 0.0, 1, 0, 0.1
    X[~X.any(axis=1) & ~Y.any(axis=1), 2] = 1.0
    data = MultilabelData(X, Y)
    file = tmp_path / "x.svm"
    bases = {"zero_based": zero_based, "labels_zero_based": labels_zero_based}
    write_svmlight(data, file, **bases)
    found = load_svmlight(file, n_features=6, n_labels=4, **bases)
    np.testing.assert_allclose(found.X.toarray(), X, rtol=1e-15)
    assert_array_equal(found.Y, Y)
    assert found.feature_names[0] == ("0" if zero_based else "1")


def test_groups_that_are_left_out_are_told(tmp_path):
    (tmp_path / "x.svm").write_text("0,1 qid:1 1:2.5\n1 qid:2 2:1\n")
    with pytest.warns(UserWarning, match="qid, which marks rows that belong together, is left out"):
        data = load_svmlight(tmp_path / "x.svm")
    assert data.X.toarray().tolist() == [[2.5, 0], [0, 1]]


def written(tmp_path, text):
    path = tmp_path / "train.txt"
    path.write_text(text)
    return path


def test_rows_of_the_repository_with_and_without_labels(tmp_path):
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


def test_load_reads_files_of_the_repository_by_their_ending(tmp_path):
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
def test_files_of_other_formats_are_refused(tmp_path, text, message):
    with pytest.raises(ValueError, match=message) as caught:
        load_extreme(written(tmp_path, text))
    assert str(caught.value).startswith("path: ")
