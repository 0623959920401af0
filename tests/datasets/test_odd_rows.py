"""Rows that are likely none: what is refused, what is told, and what is a row."""

import warnings

import pandas as pd
import pytest

from multimargin.datasets.table_files import read_frame
from tests.support.cases import case


def said_of(file):
    """What is said of a table as it is read, and its number of rows."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        frame = read_frame(file)
    return [str(warning.message) for warning in caught], len(frame)


@pytest.mark.parametrize(
    ("ending", "text", "message"),
    [
        (
            ".csv",
            "a,b\n1,2\na,b\n3,4\n",
            "has the names of the columns again, 'a', 'b', in row 1",
        ),
        (
            ".txt",
            "| a | b |\n|---|:-:|\n| 1 | 2 |\n",
            r"line 2: a line that only draws a rule.*'\|---\|:-:\|'",
        ),
        (".txt", "a | b\n---+---\n1 | 2\n", "line 2: a line that only draws a rule"),
        (".csv", "a,b\n--,---\n1,2\n", "line 2: a line that only draws a rule"),
        (".tsv", "a\tb\n===\t===\n1\t2\n", "line 2: a line that only draws a rule"),
        (".txt", "a    b\n---  ---\n1    2\n", "line 2: a line that only draws a rule"),
        (".txt", "┌───┬───┐\n│ a │ b │\n├───┼───┤\n", "line 1: a line that only draws a rule"),
        (".txt", "╔═══╗\n║ a ║\n╚═══╝\n", "line 1: a line that only draws a rule"),
        (".txt", "+---+---+\n| a | b |\n+---+---+\n", "line 1: a line that only draws a rule"),
    ],
)
def test_lines_that_are_no_rows_are_refused(tmp_path, ending, text, message):
    file = tmp_path / f"t{ending}"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(ValueError, match=message):
        read_frame(file)


def test_a_text_may_be_the_name_of_its_column(tmp_path):
    (tmp_path / "t.csv").write_text("text\nred\ntext\n", encoding="utf-8")
    assert read_frame(tmp_path / "t.csv")["text"].tolist() == ["red", "text"]


def test_comments_between_rows_are_told(tmp_path):
    file = tmp_path / "t.csv"
    rows = "".join(f"{k},text {k},a\n" for k in range(8))
    file.write_text(f"id,text,tags\n{rows}# more, of, them\n{rows}")
    said = "row 8 begins with '# more', unlike others; if that is a comment, remove it"
    assert said_of(file) == ([said], 17)
    for text in ("# one,0\n# two,1\nsea,0\n", "#one,0\nsea,0\nsky,1\nsun,1\n#two,0\n"):
        file.write_text(f"text,x\n{text}")
        assert said_of(file)[0] == []


@pytest.mark.parametrize("again", ["tags,text", "id,text", "ID,Tags,TEXT", "text,labels,id"])
def test_names_between_rows_are_refused_in_any_order(tmp_path, again):
    """As of files in one whose columns are sorted in two ways."""
    names = ["id", "text", "tags"][-2 if again.count(",") == 1 else -3 :]
    names = ["id", "text"] if again == "id,text" else names
    rows = [",".join([f"{name} {k}" for name in names]) for k in range(4)]
    (tmp_path / "t.csv").write_text("\n".join([",".join(names), *rows[:2], again, *rows[2:]]))
    with pytest.raises(ValueError, match=r"has the names of the columns again, .*, in row 2;"):
        read_frame(tmp_path / "t.csv")


def test_cells_that_are_names_of_columns_are_no_line_of_names(tmp_path):
    for text in (
        # A survey repeats the name of a box where it is ticked.
        "red,blue,note\nred,,good\n,blue,bad\nred,blue,text\n",
        "note,red,blue\nred,red,blue\ngood,red,blue\nbad,,blue\n",
        # One name among others, in features and in labels.
        "kind,size,red\nred,size,1\nsize,small,0\n",
    ):
        (tmp_path / "t.csv").write_text(text)
        with case(text):
            assert len(read_frame(tmp_path / "t.csv")) == 3 - text.startswith("kind")


@pytest.mark.parametrize("again", ["\ufeffText,tags", "text,Tags", " text , tags"])
def test_names_of_columns_that_are_respelled_between_rows_are_refused(tmp_path, again):
    """As where files with marks of byte order are put together."""
    file = tmp_path / "t.csv"
    file.write_text(f"text,tags\nred fish,a\n{again}\nsea,b\n", encoding="utf-8-sig")
    with pytest.raises(ValueError, match=r"has the names of the columns again.* in row 1;"):
        read_frame(file)


@pytest.mark.parametrize("note", ["(2 rows)", "Source: us", "* estimated", "sky"])
def test_a_note_below_two_columns_is_told(tmp_path, note):
    (tmp_path / "t.csv").write_text(f"text,tags\nred fox,a\nsea,b\n{note},\n")
    with pytest.warns(UserWarning, match=r"the last row has '.*' and nothing else, unlike others"):
        read_frame(tmp_path / "t.csv")
    # Rows without a tag.
    (tmp_path / "t.csv").write_text("text,tags\nred fox,a\nsea,\nsky,\nsun,b\nmoon,\n")
    assert len(read_frame(tmp_path / "t.csv")) == 5


@pytest.mark.parametrize("kind", [".csv", ".json", ".jsonl", ".parquet"])
def test_names_between_rows_are_refused_in_every_kind_of_file(tmp_path, kind):
    names = ["id", "text", "tags"]
    rows = [["1", "red fox", "a"], ["2", "sea", "b"], names, ["3", "sky", "a"]]
    frame, file = pd.DataFrame(rows, columns=names), tmp_path / f"t{kind}"
    if kind == ".csv":
        frame.to_csv(file, index=False)
    elif kind == ".parquet":
        pytest.importorskip("pyarrow")
        frame.to_parquet(file)
    else:
        frame.to_json(file, orient="records", lines=kind == ".jsonl")
    with pytest.raises(ValueError, match=r"has the names of the columns again, .* in row 2"):
        read_frame(file)


@pytest.mark.parametrize("names", [None, ["top", "sub"]])
@pytest.mark.parametrize("index", [True, False])
def test_two_lines_of_names_are_refused(tmp_path, names, index):
    columns = pd.MultiIndex.from_product([["x", "y"], ["a", "b"]], names=names)
    frame = pd.DataFrame([[1.5, 2, 0, 1], [2.5, 3, 1, 1]], columns=columns)
    frame.to_csv(tmp_path / "t.csv", index=index)
    (tmp_path / "none.csv").write_text("a,a\n")
    told = pytest.warns(UserWarning, match="several columns named 'a'")
    with told, pytest.raises(ValueError, match="has no rows below the names of its columns"):
        read_frame(tmp_path / "none.csv")
    with pytest.raises(ValueError, match="names of columns in two lines, 'x', 'y' several times"):
        read_frame(tmp_path / "t.csv")


def test_answers_below_a_question_are_a_second_line_of_names(tmp_path):
    """A survey names a question above each of its answers, and repeats the answers for ticks."""
    rows = ["id,Q1,Q1,age", ",red,blue,", "7,red,,31", "9,,blue,42", "12,red,blue,26"]
    (tmp_path / "t.csv").write_text("\n".join(rows))
    with pytest.raises(ValueError, match="names of columns in two lines, 'Q1' several times"):
        read_frame(tmp_path / "t.csv")
    rows[1] = "5,red,sea,28"
    (tmp_path / "t.csv").write_text("\n".join(rows))
    with pytest.warns(UserWarning, match="several columns named 'Q1'"):
        assert len(read_frame(tmp_path / "t.csv")) == 4


@pytest.mark.parametrize("second", ["How old?,How tall?,What?", "(years),(cm),", "int64,m,text"])
def test_words_above_numbers_of_several_columns_are_refused(tmp_path, second):
    rows = "\n".join(f"{k},1.{k},red" for k in range(5))
    (tmp_path / "t.csv").write_text(f"age,size,tags\n{second}\n{rows}\n", encoding="utf-8")
    with pytest.raises(ValueError, match=r"t.csv has .*, .* in row 0, above numbers; expected one"):
        read_frame(tmp_path / "t.csv")
    (tmp_path / "t.csv").write_text(f"A title,,\n,,\nage,size,tags\n{rows}\n", encoding="utf-8")
    with (
        pytest.warns(UserWarning, match="has columns without a name"),
        pytest.raises(ValueError, match=r"has 'age', 'size' in row 1, above numbers; expected one"),
    ):
        read_frame(tmp_path / "t.csv")
    # A row of data may have codes above numbers.
    codes = "code,above,n,tags\nA,B,1,red\n" + "\n".join(f"{k},{k},{k},red" for k in range(5))
    (tmp_path / "t.csv").write_text(codes, encoding="utf-8")
    assert said_of(tmp_path / "t.csv") == ([], 6)
    # A single word may stand for a missing number, and words stand above words.
    (tmp_path / "t.csv").write_text(f"age,size,tags\n<3,1.5,blue\n{rows}\n", encoding="utf-8")
    assert said_of(tmp_path / "t.csv") == ([], 6)
