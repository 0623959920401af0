import gzip
import re
from string import printable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from scipy import sparse

from multimargin.datasets import load as load_any
from multimargin.datasets import load_arff, load_table
from multimargin.datasets.arff import feature_matrix
from multimargin.datasets.arff_rows import Attribute
from multimargin.datasets.feature_columns import UndecidedColumns
from multimargin.estimators.llsf_problem import as_dense
from tests.support.cases import case

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
HEADER = DENSE.partition("@data")[0]
SPARSE = f"""{HEADER}@data
{{0 1.5,1 -2,4 1}}
{{1 300, 2 strong, 3 'light rain'}}
{{0 ?,1 4,2 ?,3 ?,4 1,5 1}}
{{0 2,2 strong,3 cloudy,5 1}}
"""
X = [[1.5, -2, 0, 1, 0, 0], [0, 300, 1, 0, 1, 0], [NAN, 4, NAN, NAN, NAN, NAN], [2, 0, 1, 0, 0, 1]]
Y = [[1, 0], [0, 0], [1, 1], [0, 1]]
XML = """<?xml version="1.0" encoding="utf-8"?>
<labels xmlns="http://mulan.sourceforge.net/labels">
<label name="happy"></label>
<label name="Steller's Jay"></label>
</labels>
"""


@pytest.fixture
def load(tmp_path):
    """Load a text as an ARFF file; labels: the text of an XML file, or what `load_arff` takes."""

    def load(content, labels=XML, **options):
        file, xml = tmp_path / "tiny.arff", tmp_path / "tiny.xml"
        file.write_bytes(content if isinstance(content, bytes) else content.encode())
        if isinstance(labels, str):
            xml.write_text(labels)
            labels = xml
        return load_arff(file, labels, **options)

    return load


def test_dense_and_sparse_files_of_mulan(load):
    dense, stored = load(DENSE), load(SPARSE)
    assert isinstance(dense.X, np.ndarray)
    assert isinstance(stored.X, sparse.csr_array)
    assert stored.X.has_canonical_format
    for data in (dense, stored):
        assert_array_equal(as_dense(data.X), X)
        assert_array_equal(data.Y, Y)
    outlooks = ("outlook=sunny", "outlook=light rain", "outlook=cloudy")
    assert dense.feature_names == ("first feature", "second", "wind", *outlooks)
    assert dense.label_names == ("happy", "Steller's Jay")
    assert (dense.name, dense.splits) == ("tiny", {})


def test_a_dense_file_of_few_nonzeros_is_stored_sparse(load):
    # 20 values in two rows: 1 is less than a tenth, 2 is not.
    names = "".join(f"@attribute a{i} numeric\n" for i in range(10))
    for n_nonzero, is_sparse in ((1, True), (2, False)):
        row = "1," * n_nonzero + "0," * (10 - n_nonzero)
        text = f"@relation r\n{names}@attribute label {{0,1}}\n@data\n{row}1\n{'0,' * 10}0\n"
        assert sparse.issparse(load(text, -1).X) is is_sparse


def test_rows_of_either_format(load):
    data = load(SPARSE + "{}\n{ }\n")
    assert_array_equal(data.X.toarray()[4:], [[0, 0, 0, 1, 0, 0]] * 2)
    assert_array_equal(data.Y[4:], [[0, 0]] * 2)
    # A sparse row in a dense file.
    data = load(DENSE + "{0 7, 5 1}\n")
    assert_array_equal(data.X, [*X, [7, 0, 0, 1, 0, 0]])
    assert_array_equal(data.Y, [*Y, [0, 1]])
    # Explicit zeros are not stored.
    data = load(SPARSE.replace("{0 1.5,1 -2,4 1}", "{0 0,1 -2,2 weak,4 0}"))
    assert data.X[[0]].nnz == 2
    assert_array_equal(data.Y[0], [0, 0])


def test_values_that_are_declared(load):
    reverse = "@relation r\n@attribute a {1,0}\n@attribute b {1}\n@attribute c numeric\n"
    reverse += "@attribute label {1,0}\n@attribute always {1}\n@data\n"
    for rows in ("1,1,5,0,1\n0,1,0,1,1\n", "{2 5,3 0}\n{0 0}\n"):
        data = load(reverse + rows, -2)
        assert_array_equal(as_dense(data.X), [[1, 1, 5], [0, 1, 0]])
        assert data.feature_names == ("a", "b", "c")
        assert_array_equal(data.Y, [[0, 1], [1, 1]])
    two = "@relation r\n@attribute a {1,2}\n@attribute b {no,yes}\n@attribute l {0,1}\n@data\n"
    data = load(f"{two}1,yes,0\n2,no,1\n", -1)
    assert_array_equal(data.X, [[0, 1], [1, 0]])
    assert data.feature_names == ("a", "b")
    # Integers are not cut.
    data = load("@relation r\n@attribute a INTEGER\n@attribute l {0,1}\n@data\n2.75,1\n", -1)
    assert_array_equal(data.X, [[2.75]])


def test_tabs_and_windows_line_ends(load):
    content = DENSE.replace("@attribute ", "@attribute\t").replace(" numeric", "\tnumeric")
    assert_array_equal(load(content.replace("\n", "\r\n")).X, X)


LABELS = [
    ("{0,1}", "0", "1"),
    ("{1,0}", "0", "1"),
    ("{0.0,1.0}", "0.0", "1.0"),
    ("{TRUE,FALSE}", "FALSE", "TRUE"),
    ("{False, True}", "False", "True"),
    ("{'yes','no'}", "no", "'yes'"),
    ("{n,y}", "n", "y"),
    ("{t,f}", "f", "t"),
    ("{off,on}", "off", "on"),
    ("{-1,1}", "-1", "1"),
    ("{-1,+1}", "-1", "+1"),
    ("numeric", "0.0", "1"),
    ("numeric", "-1", "1"),
]


@pytest.mark.parametrize(("declared", "no", "yes"), LABELS)
def test_every_way_to_write_labels(load, declared, no, yes):
    head = f"@relation r\n@attribute a numeric\n@attribute p {declared}\n"
    head += f"@attribute q {declared}\n@data\n"
    found = load(f"{head}1,{yes},{no}\n2,{no},{yes}\n3,?,{yes}\n4,{no},{no}\n", -2)
    assert_array_equal(found.Y, [[1, 0], [0, 1], [NAN, 1], [0, 0]])
    assert_array_equal(found.X, [[1], [2], [3], [4]])
    stored = load(f"{head}{{0 1,1 {yes},2 {no}}}\n{{0 2,1 {no},2 {yes}}}\n", -2)
    assert_array_equal(stored.Y, [[1, 0], [0, 1]])


def test_labels_that_mean_nothing_are_refused(load):
    for declared in ("{a,b}", "{0,1,2}", "{yes,true}", "{0,no}", "{1,2}"):
        head = f"@relation r\n@attribute a numeric\n@attribute p {declared}\n@data\n"
        value = declared[1:].partition(",")[0]
        with case(declared), pytest.raises(ValueError, match=r"label 'p' .* has the values"):
            load(f"{head}1,{value}\n", -1)
    head = "@relation r\n@attribute a numeric\n@attribute p numeric\n@data\n"
    with pytest.raises(ValueError, match=r"label 'p' .* is -1 in row 0; expected 0, 1"):
        load(f"{head}1,-1\n1,0\n", -1)


PLAIN = """@relation 'r: -C -2'
@attribute a numeric
@attribute b {x,'y % z'}
@attribute p {0,1}
@attribute q {0,1}
@data
1.5,x,1,0
3,'y % z',0,1
"""
AS_WEKA_READS_IT = {
    "tabs": PLAIN.replace(",1,0", "\t1\t0").replace("1.5,x", "1.5\tx").replace("3,'y", "3, 'y"),
    "blanks": PLAIN.replace("1.5,x,1,0", "1.5 x  1 0").replace("3,'y % z',0,1", "3\t'y % z' 0 1"),
    "commas at the end": PLAIN.replace("x,1,0", "x,1,0,").replace("z',0,1", "z',0,1, "),
    "comments": PLAIN.replace("a numeric", "a numeric % in metres")
    .replace("p {0,1}", "p {0,1} % first, of two")
    .replace("@data", "@data % follows")
    .replace("x,1,0", "x,1,0 % not {5}"),
    "a range": PLAIN.replace("a numeric", "a real [0,10]"),
    "sparse": PLAIN.partition("1.5,x")[0] + "{0 1.5,2 1,}\n{0 3, 1 'y % z',3 1} % last\n",
    "sparse, with commas": PLAIN.partition("1.5,x")[0] + "{0 1.5,2 1},\n{0\t3,1 'y % z',3 1},\n",
}


@pytest.mark.parametrize("kind", AS_WEKA_READS_IT)
def test_files_as_weka_reads_them(load, kind):
    found = load(AS_WEKA_READS_IT[kind], None)
    assert_array_equal(as_dense(found.X), [[1.5, 0], [3, 1]])
    assert_array_equal(found.Y, [[1, 0], [0, 1]])


def test_weights_of_instances_are_left_out_and_told(load):
    for rows in ("1.5,x,1,0, {2}\n3,x,0,1,{0.5}\n", "{0 1.5,2 1}, {2}\n{0 3,3 1},{5e-1}\n"):
        content = PLAIN.partition("1.5,x")[0] + rows
        with case(rows), pytest.warns(UserWarning, match=r"tiny\.arff: 2 rows have a weight"):
            found = load(content, None)
        assert_array_equal(as_dense(found.X)[:, 0], [1.5, 3])
        assert_array_equal(found.Y, [[1, 0], [0, 1]])
    # All rows count once.
    load(content.replace("{2}", "{1.0}").replace("{5e-1}", "{1}"), None)


def test_texts_and_dates_can_be_dropped(load):
    content = PLAIN.replace("@attribute b", "@attribute t string\n@attribute b").replace(
        "@attribute p", "@attribute 'd d' date 'yyyy-MM-dd'\n@attribute p"
    )
    content = content.replace("1.5,x", "1.5,'a, b',x,'2020-01-01'")
    content = content.replace("3,'y % z'", "3,?,'y % z',2021-02-02")
    with pytest.raises(ValueError, match=r"text or dates, 't', 'd d'; .*drop=\['t', 'd d'\]"):
        load(content, None)
    found = load(content, None, drop=["t", "d d"])
    assert found.feature_names == ("a", "b")
    assert_array_equal(found.X, [[1.5, 0], [3, 1]])
    assert_array_equal(found.Y, [[1, 0], [0, 1]])
    assert load(content, None, drop=["t", "d d", "q", "b"]).label_names == ("p",)
    with pytest.raises(ValueError, match="drop: there is no column 'z'"):
        load(content, None, drop="z")


MAILS = """@relation 'mails: -C 2'
@attribute work {0,1}
@attribute home {0,1}
@attribute 'the text' string
@attribute size numeric
@attribute kind {x,'y z'}
@attribute day date 'yyyy-MM-dd'
@data
"""


@pytest.mark.parametrize("sparse_rows", [False, True])
@pytest.mark.parametrize("labels", [None, 2, "work,home", "xml"])
def test_texts_and_dates_are_columns_of_a_table(tmp_path, labels, sparse_rows):
    """As those of a CSV file are, by the same roles."""
    rows = [
        ["1", "0", r"'it\'s red,\nred fish'", "1.5", "'y z'", "2024-01-31"],
        ["0", "1", "'blue fish'", "?", "x", '"2024-03-01"'],
        ["0", "0", "?", "2", "x", "?"],
    ]
    lines = [",".join(row) for row in rows]
    if sparse_rows:
        cells = [[f"{k} {cell}" for k, cell in enumerate(row) if cell != "0"] for row in rows]
        lines = ["{" + ", ".join(row) + "}" for row in cells]
    file = tmp_path / "t.arff"
    file.write_text(MAILS + "\n".join(lines))
    (tmp_path / "t.xml").write_text('<labels><label name="work"/><label name="home"/></labels>')
    roles = {"text": "the text"}
    # Also as the command line has it.
    given = str(tmp_path / "t.xml") if labels == "xml" else labels
    found = load_table(file, labels=given, **roles)
    assert found.label_names == ("work", "home")
    assert_array_equal(found.Y, [[1, 0], [0, 1], [0, 0]])
    days = [f"day: {part}" for part in ("year", "month", "day", "weekday")]
    words = [f"the text: {word}" for word in ("blue", "fish", "it", "red")]
    assert set(found.feature_names) == {"size", "kind_x", "kind_y z", *days, *words}
    X = dict(zip(found.feature_names, as_dense(found.X).T, strict=True))
    assert_array_equal(X["size"], [1.5, np.nan, 2.0])
    assert_array_equal(X["day: month"], [1.0, 3.0, np.nan])
    assert_array_equal(X["the text: fish"] > 0, [True, True, False])
    assert_array_equal(load_any(file, labels=given, **roles).Y, found.Y)
    if labels != "xml":
        assert len(load_any(file, labels=2, drop=["the text", "day"]).feature_names) == 2
    texts = [f"{k % 2},{k // 2 % 2},'red fish no {k} swims',1,x,2024-01-05" for k in range(9)]
    file.write_text(MAILS + "\n".join(texts))
    with pytest.raises(UndecidedColumns, match=r"'the text' holds 9 different .* --text 'the te"):
        load_table(file, labels=2)


def test_labels_by_the_relation_of_meka(load):
    names = "".join(f"@attribute {name} {{0,1}}\n" for name in "abc")
    for relation, labels in (
        ("'Music: -C 1'", "a"),
        ('"Music: -C 2 -split-number 10"', "ab"),
        ("'Music: -split-number 10 -C -1'", "c"),
        ("'-C -2'", "bc"),
        ("Music:-C 1", "a"),
    ):
        data = load(f"@relation {relation}\n{names}@data\n0,1,1\n", None)
        assert data.label_names == tuple(labels), relation


def test_labels_by_xml(load):
    nested = "<labels><label name=\"Steller's Jay\"><label name='happy'/></label></labels>"
    entities = XML.replace("Steller's", "Steller\\&apos;s")
    for xml in (nested, entities):
        data = load(DENSE, xml)
        assert data.label_names == ("happy", "Steller's Jay"), xml
        assert_array_equal(data.Y, Y)
    # Backslashes in names without quotes stay.
    bare = "m\\'usica"
    data = load(DENSE.replace("'Steller\\'s Jay'", bare), XML.replace("Steller's Jay", bare))
    assert data.label_names == ("happy", bare)


NAMES = st.text(
    st.sampled_from(sorted(set(printable) - set("\t\n\r\x0b\x0c"))) | st.sampled_from("äß漢'\\\"%"),
    min_size=1,
    max_size=8,
)


@settings(max_examples=60, deadline=None)
@given(names=st.lists(NAMES, min_size=4, max_size=4, unique=True), quote=st.sampled_from("'\""))
def test_any_quoted_name(tmp_path_factory, names, quote):
    kinds = ("numeric", "numeric", "{'0','1'}", "{'0','1'}")
    path = tmp_path_factory.mktemp("names") / "names.arff"
    lines = ["@relation r"]
    for name, kind in zip(names, kinds, strict=True):
        escaped = name.replace("\\", "\\\\").replace(quote, "\\" + quote)
        lines.append(f"@attribute {quote}{escaped}{quote} {kind}")
    path.write_text("\n".join([*lines, "@data", "1,2,0,1"]), encoding="utf-8")
    data = load_arff(path, -2)
    assert [*data.feature_names, *data.label_names] == names


def test_train_and_test(load, tmp_path):
    test = tmp_path / "tiny-test.arff"
    test.write_text(f"{HEADER}@data\n7,8,weak,cloudy,0,1\n")
    load(DENSE)
    train = (tmp_path / "tiny.arff").rename(tmp_path / "tiny-train.arff")
    xml = tmp_path / "tiny.xml"
    data = load_arff(train, xml, test=test)
    assert data.name == "tiny"
    X_train, X_test, Y_train, Y_test = data.train_test()
    assert_array_equal(X_train, X)
    assert_array_equal(X_test, [[7, 8, 0, 0, 0, 1]])
    assert_array_equal(Y_train, Y)
    assert_array_equal(Y_test, [[0, 1]])
    assert load_arff(train, xml, test=test, name="other").name == "other"
    assert load_arff(train, xml).name == "tiny-train"
    # Of different formats.
    test.write_text(SPARSE)
    data = load(DENSE, test=test)
    assert isinstance(data.X, sparse.csr_array)
    assert_array_equal(data.X.toarray(), X + X)


def test_a_test_file_that_does_not_fit(load, tmp_path):
    test = tmp_path / "test.arff"
    for content, message in (
        (
            DENSE.replace("second REAL", "third REAL"),
            "attribute 2 of .*'third'.*expected .*'second'",
        ),
        (DENSE.replace("{weak,strong}", "{strong,weak}"), "attribute 3 of .*'strong', 'weak'"),
        (
            HEADER.replace("@ATTRIBUTE second REAL\n", "") + "@data\n1,weak,sunny,0,0\n",
            "attribute 2 of .*'wind'.*expected .*'second'",
        ),
        (DENSE.removesuffix(",1\n"), r".*test\.arff, line 17: found a row of 5 values"),
    ):
        test.write_text(content)
        with case(message), pytest.raises(ValueError, match=f"^test: .*{message}"):
            load(DENSE, test=test)


def test_encoding(load):
    content = DENSE.replace("second", "größe")
    with pytest.raises(ValueError, match=r"tiny\.arff is not text in the encoding 'utf-8-sig'"):
        load(content.encode("latin-1"))
    assert load(content.encode("latin-1"), encoding="latin-1").feature_names[1] == "größe"
    assert load(content.encode("utf-8-sig")).feature_names[1] == "größe"
    for encoding in ("utf-16", "utf-32"):
        assert load(content.encode(encoding)).feature_names[1] == "größe"
    # The byte that is not UTF-8 comes after the header.
    with pytest.raises(ValueError, match="is not text in the encoding"):
        load(DENSE.encode() + "% Größe\n".encode("latin-1"))


def test_bad_labels(load, tmp_path):
    for labels, error, message in (
        (tmp_path / "none.xml", FileNotFoundError, r"labels: there is no file '.*none.xml'"),
        (0, ValueError, "labels is 'first:0', but there are 6 columns"),
        (6, ValueError, "has no other attribute; expected at least one feature"),
        (-6, ValueError, "has no other attribute; expected at least one feature"),
        (True, TypeError, "labels is a bool"),
        (2.0, TypeError, "labels is a float"),
        (
            ["glad"],
            ValueError,
            r"labels: there is no column 'glad'; the columns are 'f",
        ),
        (-3, ValueError, r"the label 'outlook' of .* has the values \('sunny'"),
        (1, ValueError, r"the label 'first feature' of .* is 1.5 in row 0; expected 0, 1 or \?"),
        (
            XML.replace('"happy"', '"glad"'),
            ValueError,
            "labels: .*tiny.arff lacks 1 of the 2 labels of .*tiny.xml: 'glad'; it has 'first",
        ),
        (XML.replace('"happy"', '"Steller\'s Jay"'), ValueError, "tiny.xml names a label twice"),
        (XML.replace("<label name", "<tag name"), ValueError, "labels: .*tiny.xml is not XML"),
        ("<labels></labels>", ValueError, "labels: .*tiny.xml has no <label name="),
        ("<labels><label/></labels>", ValueError, "has no <label name="),
        ("", ValueError, "is not XML"),
        (XML[:150], ValueError, "is not XML"),
    ):
        with case(labels), pytest.raises(error, match=message):
            load(DENSE, labels)
    with pytest.raises(ValueError, match=r"labels: .* has no other attribute; expected at"):
        load("@relation r\n@attribute a {0,1}\n@data\n1\n", '<labels><label name="a"/></labels>')


@pytest.mark.parametrize("labels", [["last:2"], ["Steller's Jay", "happy"], ["*[pJ]*y"]])
def test_labels_are_named_as_columns_are(load, labels):
    assert load(DENSE, labels).label_names == load(DENSE, -2).label_names


def test_names_of_labels_may_be_longer_than_those_of_files(tmp_path):
    names = [f"the label number {k} of very many" for k in range(20)]
    lines = ["@relation r", "@attribute x numeric", *(f"@attribute '{n}' {{0,1}}" for n in names)]
    file = tmp_path / "long.arff"
    file.write_text("\n".join([*lines, "@data", ",".join(["1.5", *"01" * 10]), ""]))
    assert load_arff(file, ",".join(names)).label_names == tuple(names)


def test_a_missing_label_is_unknown(load):
    for content, old, new in (
        (DENSE, "2,0,strong,cloudy,0,1", "2,0,strong,cloudy,0,?"),
        (SPARSE, "3 cloudy,5 1", "3 cloudy,5 ?"),
    ):
        assert load(content).Y.dtype == np.int32
        assert_array_equal(load(content.replace(old, new)).Y, [*Y[:3], [0, NAN]])
    reverse = "@relation r\n@attribute x numeric\n@attribute y {1,0}\n@data\n1,?\n2,1\n3,0\n"
    assert_array_equal(load(reverse, -1).Y, [[NAN], [1], [0]])


LAST = "2,0,strong,cloudy,0,1\n"
TRUNCATED = "line 17: found a row of 3 values; expected 6 values; is the .*truncated"


def test_damaged_dense_files(load):
    for old, new, message in (
        (LAST, "2,0,stro", TRUNCATED),
        (LAST, "2,0,strong,cloudy,0,1,1\n", "line 17: found a row of 7 values; expected 6"),
        ("1.5,-2,weak", "1.5,-2,%d", "line 13: 'wind' has the value '%d'; expected one of"),
        ("1.5,", "abc,", "line 13: 'first feature' has the value 'abc'; expected a number"),
        ("second REAL", "second complex", "line 5: .* 'second' is declared as 'complex'; expected"),
        ("second REAL", "second relational", "line 5: .* as 'relational'; expected numeric"),
        ("second REAL", "second", "line 5: "),
        ("second REAL", "wind REAL", "the attribute 'wind' is declared twice"),
        ("@data", "", "line 13: this is not ARFF"),
        ("@data", "data", "line 11: this is not ARFF"),
        ("'light rain',0", "'light' rain,0", "line 14: 'outlook' has the value \"'light' rain\""),
        ("'light rain',0", "'light rain,0", "line 14: a quote is not closed"),
        (DENSE, "", r"line \d+: this is not ARFF"),
        (DENSE, "@relation r\n", r"line \d+: this is not ARFF"),
        (DENSE[DENSE.index("@attribute wind") :], "", r"line \d+: this is not ARFF"),
        (DENSE, "some words\n", r"line \d+: this is not ARFF"),
        (DENSE, f"{HEADER}@data\n% nothing follows\n", "has no row after @data"),
    ):
        assert old in DENSE
        with case(new), pytest.raises(ValueError, match=rf"path: .*tiny\.arff.*{message}"):
            load(DENSE.replace(old, new))


def test_damaged_sparse_files(load):
    for last_row, message in (
        ("{0 2,2 strong,3 cloudy,5 1", "the row does not end in"),
        ("{0 2,2 strong,3}", "found '3'; expected a place from 0 to 5 and a value"),
        ("{0 2,9 1}", "found '9 1'; expected a place from 0 to 5"),
        ("{0 2,2 mild}", "'wind' has the value 'mild'; expected one of"),
        ("{0 two}", "'first feature' has the value 'two'; expected a number"),
        ("{0 2,2 strong,0 3}", "the place 0 is there twice; expected each place once"),
        ("2,0,strong,cloudy,0,1", "found a row of 6 values; expected {index value, ...}"),
    ):
        content = SPARSE.replace("{0 2,2 strong,3 cloudy,5 1}\n", last_row)
        message = rf"path: .*tiny\.arff, line 15: {message}"
        with case(last_row), pytest.raises(ValueError, match=message):
            load(content)


def test_a_long_quoted_value_with_commas_is_read_in_no_time(load):
    # An expression with a choice at each comma tries all ways to split it.
    value = "'c" + "{0,1}" * 40 + " d'"
    head = (
        f"@relation r\n@attribute f {{a,b,{value}}}\n@attribute y {{0,1}}\n@attribute z {{0,1}}\n"
    )
    data = load(f"{head}@data\na,0,1\n{value},1,0\nb,1,1\n", -2)
    assert_array_equal(data.X, np.eye(3)[[0, 2, 1]])


@pytest.mark.parametrize(
    ("data", "said"),
    [
        ("'red',1,3\n", "line 5: found a row of 3 values"),
        ("'r\xe9d',1\n", "is not text in the enc"),
    ],
)
@pytest.mark.parametrize("ending", ["", ".gz"])
def test_an_error_of_a_table_names_its_file(tmp_path, ending, data, said):
    """Not a copy that is unpacked."""
    file = tmp_path / f"t.arff{ending}"
    header = "@relation t\n@attribute text string\n@attribute a {0,1}\n@data\n"
    content = (header + data).encode("latin-1")
    file.write_bytes(gzip.compress(content) if ending else content)
    with pytest.raises(ValueError, match=rf"^path: {re.escape(str(file))}( |, ){said}"):
        load_table(file, labels=-1, text="text")


# Kinds of declared values; None for a number.
KINDS = (None, ("0", "1"), ("1", "0"), ("1",), ("0",), ("a", "b"), ("a", "b", "c"), tuple("abcdef"))


def expected_columns(values, attribute):
    declared = attribute.values
    if declared is None or set(declared) <= {"0", "1"}:
        numbers = [
            value if declared is None or np.isnan(value) else float(declared[int(value)])
            for value in values
        ]
        return [attribute.name], np.array(numbers)[:, None]
    if len(declared) == 2:
        return [attribute.name], values[:, None]
    one_hot = np.where(np.isnan(values), np.nan, 0.0)[:, None].repeat(len(declared), axis=1)
    for row in np.flatnonzero(~np.isnan(values)):
        one_hot[row, int(values[row])] = 1.0
    return [f"{attribute.name}={value}" for value in declared], one_hot


def test_attributes_of_every_kind_in_any_order():
    random = np.random.default_rng(0)
    for _ in range(60):
        n, m = random.integers(1, 7, size=2)
        kinds = [KINDS[k] for k in random.integers(len(KINDS), size=m)]
        attributes = [Attribute(f"a{k}", values) for k, values in enumerate(kinds)]
        values = np.column_stack(
            [
                random.normal(size=n).round(1)
                if kind is None
                else random.integers(len(kind), size=n)
                for kind in kinds
            ]
        ).astype(float)
        values[random.random(values.shape) < 0.2] = np.nan
        names, columns = zip(
            *(expected_columns(v, a) for v, a in zip(values.T, attributes, strict=True)),
            strict=True,
        )
        for stored in (values, sparse.csc_array(values)):
            X, found = feature_matrix(stored, attributes)
            assert found == [name for part in names for name in part]
            assert_array_equal(X.toarray() if sparse.issparse(X) else X, np.hstack(columns))
            assert not sparse.issparse(X) or X.has_canonical_format


def test_many_nominal_attributes():
    attributes = [Attribute(f"a{k}", ("x", "y", "z") if k % 2 else None) for k in range(20_000)]
    values = sparse.csc_array(([2.0, 1.0, 5.0], ([0, 1, 1], [1, 19_999, 4])), shape=(2, 20_000))
    X, names = feature_matrix(values, attributes)
    assert X.shape == (2, 40_000) == (2, len(names))
    # Two attributes have a value each; whatever a sparse row leaves out has its first value.
    assert X.nnz == 20_000 + 1
    assert names[3] == "a1=z"
    assert X[0, 3] == X[1, 39_998] == 1.0
    assert X[1, 4 // 2 * 4] == 5.0
