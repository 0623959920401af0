from pathlib import Path
from string import printable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from scipy import sparse

from multimargin.datasets import load_arff
from multimargin.estimators.shared.llsf_problem import as_dense

NAN = np.nan

DENSE = """% made for a test
@relation tiny

@attribute 'first feature' numeric
@ATTRIBUTE second REAL
@attribute wind {weak,strong}
@attribute outlook {sunny,'light rain',"cloudy"}
@attribute happy {0,1}
@attribute 'Steller\\'s Jay' {0,1}

@data
% a comment between the rows
1.5,-2,weak,sunny,1,0
0,3e2,strong,'light rain',0,0

?,4,?,?,1,1
2,0,strong,cloudy,0,1
"""
DENSE_X = [
    [1.5, -2, 0, 1, 0, 0],
    [0, 300, 1, 0, 1, 0],
    [NAN, 4, NAN, NAN, NAN, NAN],
    [2, 0, 1, 0, 0, 1],
]
DENSE_Y = [[1, 0], [0, 0], [1, 1], [0, 1]]

SPARSE = """@relation tiny
@attribute 'first feature' numeric
@attribute second numeric
@attribute wind {weak,strong}
@attribute outlook {sunny,'light rain',"cloudy"}
@attribute happy {0,1}
@attribute 'Steller\\'s Jay' {0,1}
@data
{0 1.5,1 -2,4 1}
{1 300, 2 strong, 3 'light rain'}
{0 ?,1 4,2 ?,3 ?,4 1,5 1}
{0 2,2 strong,3 cloudy,5 1}
"""

XML = """<?xml version="1.0" encoding="utf-8"?>
<labels xmlns="http://mulan.sourceforge.net/labels">
<label name="happy"></label>
<label name="Steller's Jay"></label>
</labels>
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "tiny.arff"
    path.write_text(DENSE)
    return path


@pytest.fixture
def xml(tmp_path: Path) -> Path:
    path = tmp_path / "tiny.xml"
    path.write_text(XML)
    return path


def test_dense_mulan(file: Path, xml: Path) -> None:
    data = load_arff(file, xml)
    assert isinstance(data.X, np.ndarray)
    assert_array_equal(data.X, DENSE_X)
    assert_array_equal(data.Y, DENSE_Y)
    assert data.feature_names == (
        "first feature",
        "second",
        "wind",
        "outlook=sunny",
        "outlook=light rain",
        "outlook=cloudy",
    )
    assert data.label_names == ("happy", "Steller's Jay")
    assert data.name == "tiny"
    assert data.splits == {}


def test_sparse_mulan_has_the_same_meaning(file: Path, xml: Path) -> None:
    file.write_text(SPARSE)
    data = load_arff(file, xml)
    assert isinstance(data.X, sparse.csr_array)
    assert data.X.has_canonical_format
    assert_array_equal(data.X.toarray(), DENSE_X)
    assert_array_equal(data.Y, DENSE_Y)


@pytest.mark.parametrize(("n_nonzero", "is_sparse"), [(1, True), (2, False)])
def test_dense_file_with_few_nonzeros(file: Path, n_nonzero: int, is_sparse: bool) -> None:
    # 20 values in two rows: 1 is less than a tenth, 2 is not.
    attributes = [f"@attribute a{i} numeric" for i in range(10)]
    rows = [",".join("1" if i < n_nonzero else "0" for i in range(10)) + ",1", "0," * 10 + "0"]
    lines = ["@relation r", *attributes, "@attribute label {0,1}", "@data", *rows]
    file.write_text("\n".join(lines))
    assert sparse.issparse(load_arff(file, -1).X) is is_sparse


def test_sparse_rows_may_be_empty(file: Path, xml: Path) -> None:
    file.write_text(SPARSE + "{}\n{ }\n")
    data = load_arff(file, xml)
    assert_array_equal(data.X.toarray()[4:], [[0, 0, 0, 1, 0, 0]] * 2)
    assert_array_equal(data.Y[4:], [[0, 0]] * 2)


def test_sparse_row_in_a_dense_file(file: Path, xml: Path) -> None:
    file.write_text(DENSE + "{0 7, 5 1}\n")
    data = load_arff(file, xml)
    assert_array_equal(data.X, [*DENSE_X, [7, 0, 0, 1, 0, 0]])
    assert_array_equal(data.Y, [*DENSE_Y, [0, 1]])


def test_explicit_zeros_are_not_stored(file: Path, xml: Path) -> None:
    file.write_text(SPARSE.replace("{0 1.5,1 -2,4 1}", "{0 0,1 -2,2 weak,4 0}"))
    data = load_arff(file, xml)
    assert data.X[[0]].nnz == 2
    assert_array_equal(data.Y[0], [0, 0])


def reversed_file(rows: str) -> str:
    header = "@relation r\n@attribute a {1,0}\n@attribute b {1}\n@attribute c numeric\n"
    return header + "@attribute label {1,0}\n@attribute always {1}\n@data\n" + rows


@pytest.mark.parametrize(
    "rows", ["1,1,5,0,1\n0,1,0,1,1\n", "{2 5,3 0}\n{0 0}\n"], ids=["dense", "sparse"]
)
def test_numbers_declared_in_reverse_keep_their_value(file: Path, rows: str) -> None:
    file.write_text(reversed_file(rows))
    data = load_arff(file, -2)
    assert_array_equal(as_dense(data.X), [[1, 1, 5], [0, 1, 0]])
    assert data.feature_names == ("a", "b", "c")
    assert_array_equal(data.Y, [[0, 1], [1, 1]])


def test_two_values_other_than_zero_and_one(file: Path) -> None:
    file.write_text(
        "@relation r\n@attribute a {1,2}\n@attribute b {no,yes}\n@attribute l {0,1}\n"
        "@data\n1,yes,0\n2,no,1\n"
    )
    data = load_arff(file, -1)
    assert_array_equal(data.X, [[0, 1], [1, 0]])
    assert data.feature_names == ("a", "b")


def test_integer_attributes_are_not_cut(file: Path) -> None:
    file.write_text("@relation r\n@attribute a INTEGER\n@attribute l {0,1}\n@data\n2.75,1\n")
    assert_array_equal(load_arff(file, -1).X, [[2.75]])


def test_tabs_and_windows_line_ends(file: Path, xml: Path) -> None:
    content = DENSE.replace("@attribute ", "@attribute\t").replace(" numeric", "\tnumeric")
    file.write_bytes(content.replace("\n", "\r\n").encode())
    assert_array_equal(load_arff(file, xml).X, DENSE_X)


def test_labels_by_number(file: Path) -> None:
    first, last = (
        (
            "@relation r\n@attribute l {0,1}\n@attribute m {0,1}\n@attribute a numeric\n"
            "@data\n0,1,5\n1,1,6\n"
        ),
        (
            "@relation r\n@attribute a numeric\n@attribute l {0,1}\n@attribute m {0,1}\n"
            "@data\n5,0,1\n6,1,1\n"
        ),
    )
    for content, count in ((first, 2), (last, -2)):
        file.write_text(content)
        data = load_arff(file, count)
        assert_array_equal(data.X, [[5], [6]])
        assert_array_equal(data.Y, [[0, 1], [1, 1]])
        assert data.label_names == ("l", "m")


@pytest.mark.parametrize(
    ("relation", "labels"),
    [
        ("'Music: -C 1'", ("first",)),
        ('"Music: -C 2 -split-number 10"', ("first", "second")),
        ("'Music: -split-number 10 -C -1'", ("third",)),
        ("'-C -2'", ("second", "third")),
        ("Music:-C 1", ("first",)),
    ],
)
def test_meka_relation(file: Path, relation: str, labels: tuple[str, ...]) -> None:
    file.write_text(
        f"@relation {relation}\n@attribute first {{0,1}}\n@attribute second {{0,1}}\n"
        "@attribute third {0,1}\n@data\n0,1,1\n"
    )
    assert load_arff(file).label_names == labels


def test_xml_nested_and_in_another_order(file: Path, xml: Path) -> None:
    xml.write_text("<labels><label name=\"Steller's Jay\"><label name='happy'/></label></labels>")
    data = load_arff(file, xml)
    assert data.label_names == ("happy", "Steller's Jay")
    assert_array_equal(data.Y, DENSE_Y)


def test_xml_with_entities_and_backslashes(file: Path, xml: Path) -> None:
    xml.write_text(XML.replace("Steller's", "Steller\\&apos;s"))
    assert load_arff(file, xml).label_names == ("happy", "Steller's Jay")


def test_backslashes_in_bare_names_stay(file: Path, xml: Path) -> None:
    bare = "m\\'usica"
    file.write_text(DENSE.replace("'Steller\\'s Jay'", bare))
    xml.write_text(XML.replace("Steller's Jay", bare))
    assert load_arff(file, xml).label_names == ("happy", bare)


NAMES = st.text(
    st.sampled_from(sorted(set(printable) - set("\t\n\r\x0b\x0c"))) | st.sampled_from("äß漢'\\\"%"),
    min_size=1,
    max_size=8,
)


@settings(max_examples=60, deadline=None)
@given(names=st.lists(NAMES, min_size=4, max_size=4, unique=True), quote=st.sampled_from("'\""))
def test_any_quoted_name(
    tmp_path_factory: pytest.TempPathFactory, names: list[str], quote: str
) -> None:
    def quoted(name: str) -> str:
        return quote + name.replace("\\", "\\\\").replace(quote, "\\" + quote) + quote

    *features, first_label, last_label = names
    path = tmp_path_factory.mktemp("names") / "names.arff"
    path.write_text(
        "@relation r\n"
        + "".join(f"@attribute {quoted(name)} numeric\n" for name in features)
        + "".join(f"@attribute {quoted(name)} {{'0','1'}}\n" for name in (first_label, last_label))
        + "@data\n1,2,0,1\n",
        encoding="utf-8",
    )
    data = load_arff(path, -2)
    assert data.feature_names == tuple(features)
    assert data.label_names == (first_label, last_label)


@settings(max_examples=60, deadline=None)
@given(
    rows=st.lists(
        st.tuples(
            st.none() | st.floats(-1e9, 1e9) | st.just(0.0),
            st.sampled_from([None, "weak", "strong"]),
            st.sampled_from([None, "sunny", "'light rain'", "cloudy"]),
            st.sampled_from("01"),
            st.sampled_from("01"),
        ),
        min_size=1,
        max_size=8,
    )
)
def test_dense_and_sparse_format_agree(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[object, ...]]
) -> None:
    header = DENSE.partition("@data")[0].replace("@ATTRIBUTE second REAL\n", "") + "@data\n"
    defaults = (0.0, "weak", "sunny", "0", "0")
    dense, compact = [], []
    for row in rows:
        values = ["?" if value is None else str(value) for value in row]
        dense.append(",".join(values))
        stored = [f"{i} {v}" for i, v in enumerate(values) if row[i] != defaults[i]]
        compact.append("{" + ",".join(stored) + "}")
    folder = tmp_path_factory.mktemp("formats")
    (folder / "dense.arff").write_text(header + "\n".join(dense))
    (folder / "sparse.arff").write_text(header + "\n".join(compact))
    left = load_arff(folder / "dense.arff", -2)
    right = load_arff(folder / "sparse.arff", -2)
    assert_array_equal(as_dense(left.X), as_dense(right.X))
    assert_array_equal(left.Y, right.Y)
    assert_array_equal(left.Y, [[int(str(value)) for value in row[3:]] for row in rows])


def test_train_and_test(tmp_path: Path, file: Path, xml: Path) -> None:
    train, test = tmp_path / "tiny-train.arff", tmp_path / "tiny-test.arff"
    train.write_text(DENSE)
    test.write_text(DENSE.partition("@data")[0] + "@data\n7,8,weak,cloudy,0,1\n")
    data = load_arff(train, xml, test=test)
    assert data.name == "tiny"
    X_train, X_test, Y_train, Y_test = data.train_test()
    assert_array_equal(X_train, DENSE_X)
    assert_array_equal(X_test, [[7, 8, 0, 0, 0, 1]])
    assert_array_equal(Y_train, DENSE_Y)
    assert_array_equal(Y_test, [[0, 1]])
    assert load_arff(train, xml, test=test, name="other").name == "other"
    assert load_arff(train, xml).name == "tiny-train"


def test_train_and_test_of_different_formats(tmp_path: Path, file: Path, xml: Path) -> None:
    test = tmp_path / "test.arff"
    test.write_text(SPARSE)
    data = load_arff(file, xml, test=test)
    assert isinstance(data.X, sparse.csr_array)
    assert_array_equal(data.X.toarray(), DENSE_X + DENSE_X)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("second REAL", "third REAL", "attribute 2 of .*'third'.*expected 'second'"),
        ("{weak,strong}", "{strong,weak}", "attribute 3 of .*'strong', 'weak'"),
        ("@ATTRIBUTE second REAL\n", "", "has 5 attributes, expected 6"),
    ],
)
def test_test_file_with_other_attributes(
    tmp_path: Path, file: Path, xml: Path, old: str, new: str, message: str
) -> None:
    test = tmp_path / "test.arff"
    content = DENSE.replace(old, new)
    if not new:
        content = content.partition("@data")[0] + "@data\n1,weak,sunny,0,0\n"
    test.write_text(content)
    with pytest.raises(ValueError, match=f"test: .*{message}"):
        load_arff(file, xml, test=test)


def test_damaged_test_file(tmp_path: Path, file: Path, xml: Path) -> None:
    test = tmp_path / "test.arff"
    test.write_text(DENSE.removesuffix(",1\n"))
    with pytest.raises(ValueError, match=r"^test: .*test\.arff, line 17: found a row of 5 values"):
        load_arff(file, xml, test=test)


def test_encoding(file: Path, xml: Path) -> None:
    content = DENSE.replace("second", "größe")
    file.write_bytes(content.encode("latin-1"))
    with pytest.raises(ValueError, match=r"tiny\.arff is not text in the encoding 'utf-8-sig'"):
        load_arff(file, xml)
    assert load_arff(file, xml, encoding="latin-1").feature_names[1] == "größe"
    file.write_text(content, encoding="utf-8-sig")
    assert load_arff(file, xml).feature_names[1] == "größe"
    # The byte that is not UTF-8 comes after the header.
    file.write_bytes(DENSE.encode() + "% Größe\n".encode("latin-1"))
    with pytest.raises(ValueError, match="is not text in the encoding"):
        load_arff(file, xml)


@pytest.mark.parametrize(
    ("labels", "error", "message"),
    [
        ("none.xml", FileNotFoundError, "labels: there is no file 'none.xml'"),
        (0, ValueError, r"labels: found 0 of 6 attributes of .*, expected 1 to 5"),
        (6, ValueError, "labels: found 6 of 6 attributes"),
        (-6, ValueError, "labels: found -6 of 6 attributes"),
        (True, TypeError, "labels: found True"),
        (2.0, TypeError, "labels: found float"),
        (["happy"], TypeError, "labels: found list"),
        (-3, ValueError, r"the label 'outlook' of .* has the values \('sunny'"),
        (1, ValueError, r"the label 'first feature' of .* is 1.5 in row 0, expected 0, 1 or \?"),
    ],
)
def test_bad_labels(file: Path, labels: object, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        load_arff(file, labels)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (XML.replace('"happy"', '"glad"'), "names 1 label.*no attributes of .*'glad'"),
        (XML.replace('"happy"', '"Steller\'s Jay"'), "names a label twice"),
        (XML.replace("<label name", "<tag name"), "is not XML"),
        ("<labels></labels>", "has no <label name="),
        ("<labels><label/></labels>", "has no <label name="),
        ("", "is not XML"),
        (XML[:150], "is not XML"),
    ],
)
def test_bad_xml(file: Path, xml: Path, content: str, message: str) -> None:
    xml.write_text(content)
    with pytest.raises(ValueError, match=f"labels: .*tiny.xml {message}"):
        load_arff(file, xml)


def test_only_labels(file: Path, xml: Path) -> None:
    file.write_text("@relation r\n@attribute happy {0,1}\n@data\n1\n")
    xml.write_text('<labels><label name="happy"/></labels>')
    with pytest.raises(ValueError, match=r"every attribute of .* is a label"):
        load_arff(file, xml)


@pytest.mark.parametrize(
    ("content", "old", "new"),
    [
        (DENSE, "2,0,strong,cloudy,0,1", "2,0,strong,cloudy,0,?"),
        (SPARSE, "3 cloudy,5 1", "3 cloudy,5 ?"),
    ],
    ids=["dense", "sparse"],
)
def test_a_missing_label_is_unknown(
    file: Path, xml: Path, content: str, old: str, new: str
) -> None:
    file.write_text(content)
    expected = load_arff(file, xml)
    assert expected.Y.dtype == np.int64
    file.write_text(content.replace(old, new))
    found = load_arff(file, xml)
    assert_array_equal(np.argwhere(np.isnan(found.Y)), [[3, expected.Y.shape[1] - 1]])
    known = ~np.isnan(found.Y)
    assert_array_equal(found.Y[known], expected.Y[known])


def test_a_missing_label_whose_values_are_declared_in_reverse(file: Path) -> None:
    file.write_text("@relation r\n@attribute x numeric\n@attribute y {1,0}\n@data\n1,?\n2,1\n3,0\n")
    assert_array_equal(load_arff(file, labels=-1).Y, [[NAN], [1], [0]])


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            "2,0,strong,cloudy,0,1\n",
            "2,0,stro",
            "line 17: found a row of 3 values, expected 6 values; is the .*truncated",
        ),
        (
            "2,0,strong,cloudy,0,1\n",
            "2,0,strong,cloudy,0,1,1\n",
            "line 17: found a row of 7 values, expected 6",
        ),
        ("1.5,-2,weak", "1.5,-2,%d", "line 13: 'wind' has the value '%d', expected one of"),
        (
            "1.5,-2,weak",
            "abc,-2,weak",
            "line 13: 'first feature' has the value 'abc', expected a number",
        ),
        (
            "second REAL",
            "second STRING",
            "line 5: the attribute 'second' is declared as 'STRING', expected n",
        ),
        (
            "second REAL",
            "second DATE",
            "line 5: the attribute 'second' is declared as 'DATE', expected n",
        ),
        ("second REAL", "second", "line 5: "),
        ("second REAL", "wind REAL", "the attribute 'wind' is declared twice"),
        ("@data", "", "line 13: this is not ARFF"),
        ("@data", "data", "line 11: this is not ARFF"),
        ("'light rain',0", "'light' rain,0", "line 14: 'outlook' has the value \"'light' rain\""),
        ("'light rain',0", "'light rain,0", "line 14: a quote is not closed"),
    ],
)
def test_damaged_dense_file(file: Path, xml: Path, old: str, new: str, message: str) -> None:
    assert old in DENSE
    file.write_text(DENSE.replace(old, new))
    with pytest.raises(ValueError, match=rf"path: .*{message}"):
        load_arff(file, xml)


@pytest.mark.parametrize(
    ("last_row", "message"),
    [
        ("{0 2,2 strong,3 cloudy,5 1", "the row does not end in"),
        ("{0 2,2 strong,3}", "found '3', expected a place from 0 to 5 and a value"),
        ("{0 2,9 1}", "found '9 1', expected a place from 0 to 5"),
        ("{0 2,2 mild}", "'wind' has the value 'mild', expected one of"),
        ("{0 two}", "'first feature' has the value 'two', expected a number"),
        ("2,0,strong,cloudy,0,1", "found a row of 6 values, expected {index value, ...}"),
    ],
)
def test_damaged_sparse_file(file: Path, xml: Path, last_row: str, message: str) -> None:
    file.write_text(SPARSE.replace("{0 2,2 strong,3 cloudy,5 1}\n", last_row))
    with pytest.raises(ValueError, match=rf"path: .*tiny\.arff, line 12: {message}"):
        load_arff(file, xml)


@pytest.mark.parametrize(
    "content", ["", "@relation r\n", DENSE[: DENSE.index("@attribute wind")], "some words\n"]
)
def test_no_data_section(file: Path, xml: Path, content: str) -> None:
    file.write_text(content)
    with pytest.raises(ValueError, match=r"path: .*tiny\.arff, line \d+: this is not ARFF"):
        load_arff(file, xml)


def test_no_rows(file: Path, xml: Path) -> None:
    file.write_text(DENSE.partition("@data")[0] + "@data\n% nothing follows\n")
    with pytest.raises(ValueError, match="has no row after @data"):
        load_arff(file, xml)


def test_missing_file(tmp_path: Path, xml: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"path: there is no file .*none\.arff"):
        load_arff(tmp_path / "none.arff", xml)


def test_a_long_quoted_value_with_commas_is_read_in_no_time(tmp_path: Path) -> None:
    # An expression with a choice at each comma tries all ways to split it.
    value = "'c" + "{0,1}" * 40 + " d'"
    file = tmp_path / "commas.arff"
    file.write_text(
        f"@relation r\n@attribute f {{a,b,{value}}}\n@attribute y {{0,1}}\n"
        f"@attribute z {{0,1}}\n@data\na,0,1\n{value},1,0\nb,1,1\n"
    )
    data = load_arff(file, labels=-2)
    np.testing.assert_array_equal(data.X, np.eye(3)[[0, 2, 1]])
