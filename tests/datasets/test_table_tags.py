"""Tags in cells: read as they are written, whatever spells or separates them."""

import json
import re
import warnings
from collections import deque
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from multimargin.cli.spreadsheets import as_cell
from multimargin.datasets import MultilabelData, load_table, table_tags
from multimargin.datasets.table_tags import indicator_of_tags
from multimargin.targets.reading import read_targets
from multimargin.targets.separators import joined
from tests.support.cases import case

SPELLED = ["007", "1.10", "3", "3.0", "nan", "null", "NA", "TRUE", "1e5", "c++", "o'neil"]


def read(path, cells, **options):
    """The tags of each row of a file of cells."""
    frame = pd.DataFrame({"x": np.arange(len(cells)) ** 2 % 7, "tags": cells})
    frame.to_csv(path, index=False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        data = load_table(path, tags_column="tags", **options)
    names = np.array(data.label_names)
    return [set(names[row == 1].tolist()) for row in np.asarray(data.Y)]


@pytest.mark.parametrize("blank", [False, True])
def test_tags_are_not_numbers_nor_missing_values(tmp_path, blank):
    rows = [[SPELLED[k], SPELLED[(k + 3) % len(SPELLED)]] for k in range(len(SPELLED))] * 2
    cells = ["|".join(row) for row in rows]
    if blank:
        rows, cells = [*rows, []], [*cells, ""]
    assert read(tmp_path / "t.csv", cells, separator="|") == [set(row) for row in rows]


@pytest.mark.parametrize(
    "written",
    [
        json.dumps,
        repr,
        lambda tags: repr(tuple(tags)),
        lambda tags: repr(np.array(tags)),
        lambda tags: repr(np.array(tags, dtype=object)),
        lambda tags: "{" + ",".join(json.dumps(tag) for tag in tags) + "}",
        lambda tags: repr(set(tags)),
    ],
    ids=["json", "list", "tuple", "array", "array of objects", "postgres", "set"],
)
def test_lists_as_text(tmp_path, written):
    rows = [["red", "dark blue"], ["red"], ["o'neil", "red"], ["dark blue"]] * 3
    assert read(tmp_path / "t.csv", [written(row) for row in rows]) == [set(row) for row in rows]


@pytest.mark.parametrize("separator", ["|", ";", " / ", " & ", " + ", "::", "\n"])
def test_a_separator_is_found_by_pieces_that_recur(tmp_path, separator):
    rng = np.random.default_rng(0)
    names = [f"tag{k}" for k in range(12)]
    rows = [sorted(rng.choice(names, size=2, replace=False)) for _ in range(60)]
    found = read(tmp_path / "t.csv", [separator.join(row) for row in rows])
    assert found == [set(row) for row in rows]


names = st.text("abc d'-.é0\",|", min_size=1, max_size=6).map(str.strip).filter(bool)


@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data(), separator=st.sampled_from(["|", ";", ",", "::"]))
def test_what_is_written_is_read_again(data, separator):
    known = data.draw(st.lists(names, min_size=3, max_size=6, unique=True))
    rows = data.draw(
        st.lists(st.lists(st.sampled_from(known), unique=True), min_size=4, max_size=9)
    )
    rows += [[name] for name in known]
    pad = data.draw(st.sampled_from(["", " "]))
    cells = [as_cell(pad + joined(row, separator) + pad) for row in rows]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tags = indicator_of_tags(pd.Series(cells, name="tags"), separator)
    found = [{tags.names[k] for k in np.flatnonzero(row)} for row in tags.Y]
    assert found == [set(row) for row in rows]


@pytest.mark.parametrize(
    ("cell", "expected"),
    [
        ('solar,"heat, low",wind', ["solar", "heat, low", "wind"]),
        ('"a, b", "c, d"', ["a, b", "c, d"]),
        ('"a, ""b""",c', ['a, "b"', "c"]),
        ('"as written",c', ['"as written"', "c"]),
        ('12" pipe, 6" pipe', ['12" pipe', '6" pipe']),
        ('"not closed, b', ['"not closed', "b"]),
        ('"x" y, z', ['"x" y', "z"]),
    ],
)
def test_a_tag_in_quotes_may_have_the_separator_in_it(cell, expected):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tags = indicator_of_tags(pd.Series([cell, "other, another"], name="tags"), ",")
    assert [tags.names[k] for k in np.flatnonzero(tags.Y[0])] == sorted(expected)


def test_tags_that_a_model_does_not_know_are_counted():
    column = pd.Series(["a|b", "A|b", "A", ""], name="tags")
    tags = indicator_of_tags(column, "|", ["b", "a"])
    assert tags.names == ["b", "a"]
    assert tags.Y.tolist() == [[1, 1], [1, 0], [0, 0], [0, 0]]
    assert dict(tags.unknown) == {"A": 2}


def test_nominal_features_and_keys_stay_as_they_are(tmp_path):
    frame = pd.DataFrame(
        {
            "zip": ["007", "010", "007", "010"] * 5,
            "key": [f"90071992547409{k:02d}" for k in range(20)],
            "x": range(20),
            "tags": ["a;b", "b", "a", "b"] * 5,
        }
    )
    for blank in (False, True):
        part = frame.copy()
        if blank:
            part.loc[3, "zip"] = ""
        part.to_csv(tmp_path / "t.csv", index=False)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            data = load_table(
                tmp_path / "t.csv", tags_column="tags", separator=";", nominal="zip", drop="key"
            )
        assert {"zip_007", "zip_010"} <= set(data.feature_names)


TEXTS = ["red fish", "blue sea", "red sea", "green tree"] * 3
Y = [[1, 0], [0, 1], [1, 1], [0, 0]] * 3


def of_lines(path, tags, **columns):
    """Tags of JSON lines, with a text in each."""
    rows = [
        {"text": text, "tags": tag, **columns} for text, tag in zip(TEXTS, tags * 3, strict=True)
    ]
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    return load_table(path, tags_column="tags", text="text", drop=list(columns))


def choices(*names):
    return [{"result": [{"value": {"choices": [name]}, "type": "choices"} for name in names]}]


@pytest.mark.parametrize(
    "tags",
    [
        # spaCy, with and without those that do not apply.
        [{"a": 1.0, "b": 0.0}, {"a": 0.0, "b": 1.0}, {"a": 1.0, "b": 1.0}, {"a": 0.0, "b": 0.0}],
        [{"a": True}, {"b": True}, {"a": 0.9, "b": 0.5}, {"a": 0.1, "b": 0.4}],
        # One name or a list, as programs make of XML, and Label Studio of choices.
        ["a", "b", ["a", "b"], []],
        ["a", "b", {"choices": ["a", "b"]}, ""],
        [choices("a"), choices("b"), choices("a", "b"), []],
        # doccano.
        [[{"label": "a"}], [{"label": "b"}], [{"label": "a"}, {"label": "b"}], []],
        [["a"], ["b"], ["b", "a"], []],
        # The same as texts.
        ['{"a": 1.0, "b": 0.0}', '{"b": 1.0}', '{"a": 1.0, "b": 1.0}', "{'a': 0.0, 'b': 0.0}"],
        ["a", "b", '{"choices": ["a", "b"]}', ""],
    ],
)
def test_objects_and_lists_of_annotation_programs(tmp_path, tags):
    data = of_lines(tmp_path / "t.jsonl", tags, meta={"source": "web"}, options=[{"id": 1}])
    assert data.label_names == ("a", "b")
    np.testing.assert_array_equal(data.Y, Y)


def test_numbers_of_annotations_are_names(tmp_path):
    tags = [[{"label": 1, "user": 1}], [{"label": 2, "user": 1}], [{"label": 1}, {"label": 2}], []]
    data = of_lines(tmp_path / "t.jsonl", tags)
    assert data.label_names == ("1", "2")
    np.testing.assert_array_equal(data.Y, Y)


def test_a_label_that_applies_nowhere_is_known_by_its_mark(tmp_path):
    data = of_lines(
        tmp_path / "t.jsonl", [{"a": 1, "b": 0, "c": 0}, {"b": 1}, {"a": 1, "b": 1}, {}]
    )
    assert data.label_names == ("a", "b", "c")
    np.testing.assert_array_equal(data.Y[:, :2], Y)
    assert not data.Y[:, 2].any()


def test_objects_of_something_else_are_refused(tmp_path):
    with pytest.raises(ValueError, match=r"lists \{'x': 'y'\} in row 2; expected a list of n"):
        of_lines(tmp_path / "t.jsonl", [["a"], ["b"], {"x": "y"}, []])


COMBINATIONS = [
    [name for k, name in enumerate(("music", "film", "book")) if (number >> k) & 1]
    for number in range(1, 8)
] * 6


@pytest.mark.parametrize(
    "written",
    [
        *(
            mark.join
            for mark in (
                "\u3001",
                "\u060c",
                "\uff0c",
                "\uff1b",
                "#",
                " > ",
                "~",
                "\u2022",
                " | ",
                "$",
                ";#",
                "//",
                "\\n",
            )
        ),
        ";#".join,
        "\\n".join,
        " \u00b7 ".join,
        lambda tags: "".join(f"<{tag}>" for tag in tags),
        lambda tags: "".join(f"#{tag}" for tag in tags),
    ],
)
def test_separators_of_other_tables(tmp_path, written):
    cells = [written(row[::-1] if k % 3 == 0 else row) for k, row in enumerate(COMBINATIONS)]
    assert read(tmp_path / "t.csv", cells) == [set(row) for row in COMBINATIONS]
    with pytest.warns(UserWarning, match="is used as the separator, which gives 3 different tags"):
        tags = indicator_of_tags(pd.Series(cells, name="tags"), None)
    again = [joined(row, tags.separator) for row in COMBINATIONS]
    assert read(tmp_path / "t.csv", again) == [set(row) for row in COMBINATIONS]


@pytest.mark.parametrize(
    ("cells", "pair"),
    [
        (["1. red|2. sea", "1. sea|2. red"], "'1. red' and '2. red'"),
        (["(1) red|(2) sea", "(1) sea|(2) red"], r"'\(1\) red' and '\(2\) red'"),
        (["red|sea|& sky", "sky"], "'& sky' and 'sky'"),
        (["red|sea|and sky", "sky"], "'and sky' and 'sky'"),
        (["red|#sea", "sea"], "'#sea' and 'sea'"),
        (["red|sea?", "sea"], r"'sea' and 'sea\?'"),
        (["red|sea (!)", "sea"], r"'sea' and 'sea \(!\)'"),
        (["[x] red|[ ] sea", "[ ] red|[x] sea"], r"'\[ \] red' and '\[x\] red'"),
    ],
)
def test_names_that_differ_by_what_is_in_front_are_told(cells, pair):
    with pytest.warns(UserWarning, match=f"differ only by .* a prefix,.* {pair}"):
        indicator_of_tags(pd.Series(cells, name="t"), "|")


@pytest.mark.parametrize("pair", [("<5", "5"), ("<= 3cm", ">3cm"), ("-1", "1"), ("old", "not old")])
def test_signs_before_numbers_and_negations_make_other_names(pair):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert indicator_of_tags(pd.Series([*pair, "|".join(pair)], name="t"), "|").names


@pytest.mark.parametrize("kind", [str, int])
def test_numbers_that_may_be_sums_of_those_of_labels_are_told(kind):
    told = "has numbers such as 5, each read as a name; if they are sums of 1, 2, 4, 8, one for"
    with pytest.warns(UserWarning, match=told):
        indicator_of_tags(pd.Series([*map(kind, [1, 12, 8, 5, 2, 9, 4, 0])], name="t"), None)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for numbers in (range(9), [1, 2, 4, 8, 11, 19], [1, 2, 4, 8, 16]):
            indicator_of_tags(pd.Series([*map(kind, numbers)], name="t"), None)
        indicator_of_tags(pd.Series(["1,2", "4", "8", "12"], name="t"), ",")


@pytest.mark.parametrize(
    "names", [["c", "c++"], ["+1", "1+"], ["and", "or"], ["a.b", "b"], ["A", "A-"]]
)
def test_names_that_differ_are_not_told(names):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        indicator_of_tags(pd.Series(["|".join(names), names[0]], name="t"), "|")


def test_answers_to_several_questions_are_told(tmp_path):
    def task(**answers):
        result = [
            {"from_name": name, "value": {"choices": of}, "type": "choices"}
            for name, of in answers.items()
        ]
        return [{"id": 1, "result": result, "was_cancelled": False}]

    tasks = [task(topic=["a", "b"], mood=["good"]), task(topic=["b"]), task(mood=["bad"]), task()]
    with pytest.warns(UserWarning, match="answers to several questions, 'mood', 'topic'; the"):
        of_lines(tmp_path / "t.jsonl", tasks)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        of_lines(tmp_path / "t.jsonl", [task(topic=["a", "b"]), task(topic=["b"]), task(), task()])


@pytest.mark.parametrize("separator", [",", ";", "|"])
def test_texts_that_may_list_tags_beside_lists_are_told(tmp_path, separator):
    cells = [["a", "b"], "c", separator.join("xy"), []]
    with pytest.warns(UserWarning, match=r"has lists, and 'x.+y', which is read as one name"):
        of_lines(tmp_path / "t.jsonl", cells)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        of_lines(tmp_path / "t.jsonl", [["a", "b"], "c", "x y", []])


@pytest.mark.parametrize("mark", ['"', "'"])
def test_quotes_around_the_text_of_a_list_are_left_out(tmp_path, mark):
    """As tables have that were quoted twice."""
    other = "'" if mark == '"' else '"'
    rows = [["red", "dark blue"], ["red"], [], ["sea", "red"]]
    for ends in ("[]", "{}", "()"):
        inside = (", ".join(f"{other}{tag}{other}" for tag in row) for row in rows)
        cells = [f"{mark}{ends[0]}{tags}{ends[1]}{mark}" for tags in inside]
        assert read(tmp_path / "t.csv", cells) == [set(row) for row in rows]


@pytest.mark.parametrize("separator", [",", ", ", ";", "|"])
def test_cells_in_quotes_as_a_whole_are_told(separator):
    cells = [f'"a{separator}b"', '"b"', "c", f'"a{separator}c"', "b"]
    with pytest.warns(UserWarning, match="has cells that are quoted whole, such as") as told:
        tags = indicator_of_tags(pd.Series(cells, name="t"), separator.strip() or None)
    assert len(told) == 1
    assert f"a{separator}b".strip('"') in {name.strip('"') for name in tags.names}


def test_quotes_that_some_need_are_left_out_of_all():
    cells = ['"red, dark","blue"', '"blue",green', "green"]
    tags = indicator_of_tags(pd.Series(cells, name="t"), ",")
    assert tags.names == ["blue", "green", "red, dark"]


def test_scores_of_objects_in_a_list_decide(tmp_path):
    for key in ("score", "confidence", "probability"):
        tags = [
            [{"label": "a", key: 0.9}, {"label": "b", key: 0.1}],
            [{"label": "b", key: 0.5}, {"label": "a", key: 0.49}],
            [{"label": "a"}, {"label": "b", key: 0.8}],
            [],
        ]
        data = of_lines(tmp_path / "t.jsonl", tags)
        np.testing.assert_array_equal(data.Y, Y)


def test_a_name_in_a_list_that_lists_others_is_told(tmp_path):
    with pytest.warns(UserWarning, match="has 'a, b', which is read as one tag, though 'a', 'b'"):
        of_lines(tmp_path / "t.jsonl", ["a, b", ["a", "b"], "a", "b"])


def test_a_tag_in_each_of_several_columns(tmp_path):
    padded = [[*row, "", ""][:3] for row in COMBINATIONS]
    frame = pd.DataFrame(padded, columns=["tag1", "tag2", "tag3"])
    frame.insert(0, "size", np.arange(len(frame)) % 5)
    frame.to_csv(tmp_path / "t.csv", index=False)
    for columns in ("tag1,tag2,tag3", "tag*", ["tag1", "tag2", "tag3"], " tag1, tag2 , tag3"):
        data = load_table(tmp_path / "t.csv", tags_column=columns)
        assert data.label_names == ("book", "film", "music")
        assert data.feature_names == ("size",)
        names = np.array(data.label_names)
        assert [set(names[row == 1]) for row in data.Y] == [set(row) for row in COMBINATIONS]


@pytest.mark.parametrize("marks", [["1", "0"], ["yes", "no"], ["0.9", "0.125"], ["True", "False"]])
def test_a_row_for_each_tag_that_may_not_apply_is_refused(tmp_path, marks):
    rows = [
        (k, f"text of {k}", tag, marks[(k + j) % 2]) for k in range(6) for j, tag in enumerate("ab")
    ]
    frame = pd.DataFrame(rows, columns=["id", "text", "tag", "applies"])
    frame.to_csv(tmp_path / "t.csv", index=False)
    roles = {"tags_column": "tag", "one_tag_a_row": "id", "text": "text"}
    with pytest.raises(ValueError, match=r"one_tag_a_row: the column 'applies' has '.*', '.*'"):
        load_table(tmp_path / "t.csv", **roles)
    with pytest.warns(UserWarning, match="differ in the column 'applies'; the first of them is"):
        load_table(tmp_path / "t.csv", **roles, drop="applies")


def test_numbers_among_columns_with_a_tag_each_are_told(tmp_path):
    frame = pd.DataFrame({"tag1": ["a", "b", "a"], "tag2": ["b", None, "c"], "tag_n": [2, 1, 2]})
    frame.assign(size=[5, 7, 6]).to_csv(tmp_path / "t.csv", index=False)
    with pytest.warns(UserWarning, match="'tag_n' of the columns 'tag1', 'tag2', 'tag_n' has numb"):
        load_table(tmp_path / "t.csv", tags_column="tag*")


def test_a_table_with_a_row_for_each_tag(tmp_path):
    rows = [
        (key, f"text of {key}", tag)
        for key, row in enumerate(COMBINATIONS)
        for tag in (row or [""])
    ]
    long = pd.DataFrame(rows, columns=["id", "text", "tag"]).sample(frac=1, random_state=0)
    long.to_csv(tmp_path / "t.csv", index=False)
    arguments = {"tags_column": "tag", "one_tag_a_row": "id", "text": "text"}
    data = load_table(tmp_path / "t.csv", **arguments)
    order = long["id"].drop_duplicates().tolist()
    names = np.array(data.label_names)
    found = [set(names[row == 1]) for row in data.Y]
    assert found == [set(COMBINATIONS[key]) for key in order]
    long.iloc[0, 1] = "another text"
    long.to_csv(tmp_path / "t.csv", index=False)
    with pytest.warns(UserWarning, match="rows of one 'id' differ in the column 'text'; the first"):
        load_table(tmp_path / "t.csv", **arguments)
    with pytest.raises(ValueError, match="one_tag_a_row is given without tags_column"):
        load_table(tmp_path / "t.csv", labels="tag", one_tag_a_row="id")
    with pytest.raises(ValueError, match=r"tags_column is 't\*', the columns 'text', 'tag'; expec"):
        load_table(tmp_path / "t.csv", tags_column="t*", one_tag_a_row="id")


def test_names_that_look_the_same_are_one_and_others_are_told(tmp_path):
    spelled = [
        "caf\u00e9",
        "cafe\u0301",
        "\u200bbar",
        "bar\ufeff",
        "\u00a0bar ",
        "Sci Fi",
        "sci-fi",
    ]
    with pytest.warns(
        UserWarning, match="names that differ only by capital letters, blanks, marks"
    ):
        tags = indicator_of_tags(pd.Series(spelled, name="tags"), ",")
    assert tags.names == ["Sci Fi", "bar", "caf\u00e9", "sci-fi"]
    assert tags.Y.sum(axis=0).tolist() == [1, 3, 2, 1]


@pytest.mark.parametrize("several", [False, True])
def test_a_separator_within_names_of_lists_is_told(several):
    frame = pd.DataFrame({"t": [["a;c", "b"], ["b"], ["d"]]})
    if several:
        frame = pd.DataFrame({"t": ["a;c", "b", "d"], "u": ["b", "", ""]})
    with pytest.warns(UserWarning, match="has lists, and 'a;c', which is read as one name"):
        assert indicator_of_tags(frame, ";").names == ["a;c", "b", "d"]


def test_names_are_the_same_in_tables_lists_and_y(tmp_path):

    spelled = [["caf\u00e9", " b"], ["cafe\u0301"], ["b\u200b"]] * 2
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert read_targets(spelled).label_names.tolist() == ["b", "caf\u00e9"]
        assert (
            read(tmp_path / "t.csv", list(map(json.dumps, spelled)))
            == [{"b", "caf\u00e9"}, {"caf\u00e9"}, {"b"}] * 2
        )
    with pytest.warns(UserWarning, match="'Drama' and 'drama'"):
        read_targets([["Drama"], ["drama"], ["Horror"]])
    assert read_targets([[3.0], [5.0, 3.0]]).label_names.tolist() == [3, 5]
    lines = "".join(
        json.dumps({"x": k**2, "tags": [3.0, 5.0][: 1 + k % 2]}) + "\n" for k in range(4)
    )
    (tmp_path / "t.jsonl").write_text(lines)
    assert load_table(tmp_path / "t.jsonl", tags_column="tags").label_names == ("3", "5")


def test_tags_of_several_words_that_are_tags_are_told(tmp_path):
    tags = ["__label__a", "__label__a __label__b", "__label__b"] * 3
    frame = pd.DataFrame({"x": np.arange(9) ** 2 % 7, "tags": tags})
    frame.to_csv(tmp_path / "t.csv", index=False)
    told = pytest.warns(UserWarning, match="a mark in front, which is read as part")
    with told, pytest.warns(UserWarning, match="is ' ' a separator as well"):
        load_table(tmp_path / "t.csv", tags_column="tags")
    frame["tags"] = ["New York", "York", "Rome"] * 3
    frame.to_csv(tmp_path / "t.csv", index=False)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        load_table(tmp_path / "t.csv", tags_column="tags")


def test_an_argument_that_is_none_is_told_with_the_nearest(tmp_path):
    (tmp_path / "t.csv").write_text("x,y\n1,a\n2,b\n", encoding="utf-8")
    for read in (
        lambda: load_table(tmp_path / "t.csv", tag_column="y"),
        lambda: MultilabelData.from_frame({"x": [1, 2], "y": ["a", "b"]}, tag_column="y"),
    ):
        with pytest.raises(TypeError, match=r"tag_column is not an argument \(did you mean 'tags"):
            read()


@pytest.mark.parametrize(
    ("cells", "told"),
    [
        (["red, blue and green", "blue", "green, red"], r"'blue and green'.*'blue', 'green' are"),
        (
            ["\u2600\u2601", "\u2601", "\u2600", "\u2601\u2600"],
            "read as one tag, .* is a separator missing",
        ),
        (["red, blue; green", "red", "green, red"], r"'blue; green'.*'green' is a tag too: is ';'"),
        (["1.0,2", "1", "2"], r"differ only by .* zeros.*'1' and '1\.0'"),
        (["07,2", "7", "2"], r"differ only by .* zeros.*'07' and '7'"),
    ],
)
def test_tags_that_are_likely_two_or_the_same_are_told(cells, told):
    with pytest.warns(UserWarning, match=told):
        indicator_of_tags(pd.Series(cells * 3, name="tags", dtype=object), None)


@pytest.mark.parametrize("form", ["{}|{}", "{}:{}", "{} = {}", "{} ({})", "{}^{}", "{} {:.0%}"])
def test_tags_with_scores_are_told(form):
    scored = [form.format(name, score) for name in ("red", "blue") for score in (0.25, 0.5)]
    cells = [f"{one};{other}" for one in scored for other in scored]
    with pytest.warns(UserWarning, match="a number after each, perhaps a score, such as"):
        indicator_of_tags(pd.Series(cells, name="tags", dtype=object), ";")


@pytest.mark.parametrize(
    ("cells", "told"),
    [
        (["red|0.9", "blue|0.25", "red|.5"], "numbers from 0 to 1, perhaps scores, such as"),
        *(
            (["red|sea", word, "sea"], "a word for no label")
            for word in ("None", "N/A", "-", "nan", "\\N", "(none)", "(no genres listed)")
        ),
        (
            ["red (https://a.b/c)|sea (http://d)", "sea (http://d)"],
            "web addresses, which are read as part",
        ),
        (["“red”|“sea”", "“sea”", "“sea”|“blue”"], "quotes, which are read literally"),
        (["#red|#sea", "#sea", "#sea|#blue"], "a mark in front, which is read as part"),
        (["• red|• sea", "• sea", "• sea|• blue"], "a mark in front, which is read as part"),
    ],
)
def test_names_that_are_likely_none_are_told_and_kept(cells, told):
    with pytest.warns(UserWarning, match=told):
        tags = indicator_of_tags(pd.Series(cells * 3, name="tags", dtype=object), "|")
    assert set(tags.names) == {name for cell in cells for name in cell.split("|")}


@pytest.mark.parametrize("form", [list, json.dumps])
def test_names_in_lists_that_are_likely_none_are_told_and_kept(form):
    for rows, told in (
        ([["None"], ["red", "sea"], ["red"]], "a word for no label"),
        ([["red:0.9", "sea:0.2"], ["red:0.1", "sea:0.7"]], "a number after each, perhaps a score"),
    ):
        with case(told), pytest.warns(UserWarning, match=told):
            tags = indicator_of_tags(pd.Series(map(form, rows), name="tags", dtype=object), None)
        assert set(tags.names) == {name for row in rows for name in row}


@pytest.mark.parametrize("mark", [", ", ";#", "|"])
def test_names_that_stand_side_by_side_alone_are_told(mark):
    """A name with a separator falls into such, as the choices of a form do, and so does its key."""
    both, reverse = f"Email{mark}phone", f"phone{mark}Email"
    choices = [both, "Chat", "In person"]
    rows = [mark.join(some) for n in range(1, 4) for some in combinations(choices, n)]
    # Others meet by chance.
    for cells, n_told in ((rows, 1), ([*rows, reverse], 0), ([*rows, "Email", "phone"], 0)):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            indicator_of_tags(pd.Series(cells * 2, name="tags", dtype=object), mark.strip())
        told = f"'Email' and 'phone' only next to each other; if {both!r} is one name"
        assert [told in str(one.message) for one in caught] == [True] * n_told


def test_names_whose_first_part_stands_in_a_cell_twice_are_told():
    choices = ["Yes, always", "Yes, at times", "No"]
    cells = pd.Series([", ".join(s) for n in (1, 2, 3) for s in combinations(choices, n)], name="t")
    with pytest.warns(
        UserWarning, match="'Yes' and 'always' only next to each other; if 'Yes, always'"
    ):
        indicator_of_tags(cells, ",")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        # A group before each of its members.
        indicator_of_tags(
            pd.Series(["A, c", "A, d", "B, e", "B, f", "A, c, B, e"] * 2, name="t"), ","
        )


@pytest.mark.parametrize(
    ("form", "told"),
    [
        (lambda name, ok: {"result": [{"value": {"choices": [name]}}], "was_cancelled": not ok}, 1),
        (lambda name, ok: {"value": [name], "user_id": 1, "status": "" if ok else "draft"}, 1),
        (lambda name, ok: {"label": name, "score": "0.9" if ok else "0.1"}, 0),
        (lambda name, ok: {"name": name, "confidence": str(int(ok))}, 0),
    ],
)
def test_answers_that_count_for_nothing_are_no_tags(form, told):
    """Those that were withdrawn, or have a low score, also as text; several of a row are told."""
    cells = [[form("red", True), form("sea", False)], [form("sea", True)], []]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        tags = indicator_of_tags(pd.Series(cells, name="tags", dtype=object), None)
    assert tags.names == ["red", "sea"]
    np.testing.assert_array_equal(tags.Y, [[1, 0], [0, 1], [0, 0]])
    assert ["several annotations of a row" in str(one.message) for one in caught] == [True] * told


@pytest.mark.parametrize("score", [90, 1.5, -0.2, "90", "high"])
def test_scores_that_are_no_probabilities_are_refused(score):
    """Of percents and of logarithms, all or none would be from 0.5 on."""
    cells = [[{"label": "red", "score": score}, {"label": "sea", "score": 0.5}], []]
    with pytest.raises(ValueError, match="whose score is not from 0 to 1, in row 0"):
        indicator_of_tags(pd.Series(cells, name="tags"), None)


@pytest.mark.parametrize(
    ("cell", "shown"),
    [
        ({"rock": 100, "pop": 3}, "{'rock': 100, 'pop': 3}"),
        ([{"name": "rock", "count": 7}], "{'name': 'rock', 'count': 7}, whose score is not"),
        ([[0, 5, "ORG"]], "[0, 5, 'ORG']"),
        ({"bug": "yes"}, "{'bug': 'yes'}"),
    ],
)
def test_counts_and_spans_are_no_names(cell, shown):
    told = (
        rf"lists {re.escape(shown)}.* in row 0; expected a list of names, or an object with a num"
    )
    with pytest.raises(ValueError, match=told):
        indicator_of_tags(pd.Series([cell, ["red"]], name="tags"), None)


@pytest.mark.parametrize(
    "written",
    [
        lambda tags: {"totalCount": len(tags), "nodes": [{"name": tag, "id": 1} for tag in tags]},
        lambda tags: {"edges": [{"node": {"name": tag}} for tag in tags]},
        lambda tags: [{"id": "C1", "display_name": tag, "score": 0.5} for tag in tags],
        lambda tags: [{"id": 3, "title": tag} for tag in tags],
        lambda tags: [{"term": tag, "scheme": "s"} for tag in tags],
        lambda tags: [{"tag": tag, "count": 1} for tag in tags],
    ],
    ids=["GraphQL", "edges", "OpenAlex", "titles", "arXiv", "tags"],
)
def test_names_inside_of_objects_are_found(written):
    cells = [written(tags) for tags in (["red", "sea"], ["sea"], [], ["red"])]
    for column in (cells, [json.dumps(cell) for cell in cells]):
        tags = indicator_of_tags(pd.Series(column, name="tags"), None)
        assert tags.names == ["red", "sea"]
        np.testing.assert_array_equal(tags.Y, [[1, 1], [0, 1], [0, 0], [1, 0]])


def test_marks_may_be_called_as_keys_of_names_are():
    cells = [{"title": 1, "node": 0}, {"title": 0, "node": 1}]
    tags = indicator_of_tags(pd.Series(cells, name="tags"), None)
    assert tags.names == ["node", "title"]
    np.testing.assert_array_equal(tags.Y, [[0, 1], [1, 0]])


def test_names_with_numbers_are_told_of_no_scores():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for cells in (["python 3.5|c++", "c++|c"], ["1.5|2.0", "2.0"], ["up 50% off|sea", "sea"]):
            indicator_of_tags(pd.Series(cells * 3, name="tags", dtype=object), "|")


def test_commas_in_names_that_begin_as_other_names_are_not_told():
    cells = ["Diabetes; Diabetes, Type 2", "Humans; Diabetes", "Diabetes, Type 2", "Humans"]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        tags = indicator_of_tags(pd.Series(cells * 3, name="tags", dtype=object), ";")
    assert tags.names == ["Diabetes", "Diabetes, Type 2", "Humans"]


NAMES = ("blue", "new york", "red sea", "sky", "x")
ROWS = [list(row) for size in (1, 2, 3) for row in combinations(NAMES, size)]
SHOWN = {
    "JSON within JSON": lambda row: json.dumps(json.dumps(row)),
    "objects within": lambda row: json.dumps(json.dumps([{"name": name} for name in row])),
    "an index of pandas": lambda row: repr(pd.Index(row, dtype=object)),
    "keys of Python": lambda row: repr(dict.fromkeys(row).keys()),
    "a deque": lambda row: repr(deque(row)),
    "a vector of R": lambda row: f"c({json.dumps(row)[1:-1]})",
    "a list of R": lambda row: f"list({json.dumps(row)[1:-1]})",
    "an array of Scala": lambda row: f"WrappedArray({', '.join(row)})",
    "and": " and ".join,
    "a dot": " · ".join,
}


@pytest.mark.parametrize("form", SHOWN)
def test_lists_as_programs_show_them(form):
    cells = pd.Series(map(SHOWN[form], ROWS), name="tags", dtype=object)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tags = indicator_of_tags(cells, None)
    assert [[tags.names[k] for k in np.flatnonzero(row)] for row in tags.Y] == ROWS


def test_lists_as_python_2_wrote_them():
    cells = ["[u'red fish', u'sea']", "[u'sea', u\"cat's\"]", "[]"]
    tags = indicator_of_tags(pd.Series(cells, name="tags", dtype=object), None)
    assert tags.names == ["cat's", "red fish", "sea"]
    assert tags.Y.tolist() == [[0, 1, 1], [1, 0, 1], [0, 0, 0]]


def test_the_kinds_of_each_name_are_not_looked_for_in_all_texts(monkeypatch):
    """Of 40 makes with four models each, models stand behind their make alone."""
    cells = [
        f"make{k};model{k}-{j};{colour}" for k in range(40) for j in range(4) for colour in "rgb"
    ]
    looked_for = []
    monkeypatch.setattr(
        table_tags, "joined", lambda *given: looked_for.append(given) or joined(*given)
    )
    indicator_of_tags(pd.Series(cells, name="tags"), ";")
    assert not looked_for
