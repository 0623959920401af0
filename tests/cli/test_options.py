"""Options that commands share."""

import json
import subprocess
import sys

import pytest

from multimargin.cli.options import MethodName, Scale, WrongUsage, as_number, method_parameters
from multimargin.methods import METHODS
from multimargin.scaling import SCALINGS
from tests.support.cases import case


def test_parameters():
    method = METHODS["rank-svm"]
    settings = ["C=8", "max_iter=5", "coef0=-1", "kernel=a=b", "gamma="]
    found = {"C": "8", "max_iter": "5", "coef0": "-1", "kernel": "a=b", "gamma": ""}
    assert method_parameters(method, settings) == found
    assert method_parameters(method, None) == {}
    with pytest.raises(WrongUsage, match=r"'Gama' \(did you mean 'gamma'\?\)"):
        method_parameters(method, ["Gama=1"])


WRONG_LINES = (
    ("fit no.csv", "there is no file or folder 'no.csv'"),
    ("fit digts", "there is no file or folder 'digts' (did you mean 'digits'?)"),
    ("fit t.csv --labels x,y -m rank-svn", "did you mean 'rank-svm'?"),
    (
        "fit t.csv --labels x,zz",
        "there is no column 'zz'; the columns are 'a', 'x', 'y' (in t.csv)",
    ),
    ("info t.csv --labels x,y --drop z*", "--drop: there is no column 'z*'"),
    ("verify t.csv --labels last:4", "--labels is 'last:4', but there are 3 columns"),
    ("fit t.csv --labels x,y --set C", "--set is 'C'; expected NAME=VALUE"),
    ("fit t.csv --labels x,y --set =8", "--set is '=8'; expected NAME=VALUE"),
    ("fit t.csv --labels x,y --set C=1 --set C=2", "--set gives C twice"),
    ("fit t.csv --labels x,y --recall 2", "--recall is 2; expected a number between 0 and 1"),
    ("fit t.csv --labels x,y --recall .9 -m mlodm", "mlodm learns its threshold from rows"),
    ("fit t.csv --labels x,y --time-limit 0", "--time-limit is 0; expected a positive"),
    ("fit t.csv --labels x,y --holdout 1", "--holdout is 1; expected a number between 0 and 1"),
    ("fit t.csv --labels x,y --scale z", "--scale is 'z'; expected one of minmax"),
    ("fit t.csv --labels x,y --analyzer z", "--analyzer is 'z'; expected one of word, char"),
    ("fit t.csv --labels x,y --decimal x", "--decimal is 'x'; expected one of ., ,"),
    ("fit t.csv --labels x,y --blank x", "--blank is 'x'; expected one of 0, unknown"),
    ("fit t.csv --labels x,y --min-count 0", "--min-count"),
    ("fit t.csv --labels x --tags-column y", "are both given"),
    ("fit t.csv --labels x,y -o no/m", "there is no folder 'no'"),
    ("fit t.csv --labels x,y -o t.csv", "is read by this command"),
    ("fit t.csv --labels x,y -o m.csv", "is the name of CSV"),
    ("fit t.csv --labels x,y -o -", "- is standard output; expected a file"),
    ("predict no.model t.csv", "there is no file 'no.model'"),
    ("evaluate no.model t.csv", "there is no file 'no.model'"),
    ("export no.model -o m.onnx", "there is no file 'no.model'"),
    ("predict t.csv t.csv --format z", "--format is 'z'; expected one of all, labels, tags"),
    ("compare t.csv -m no", "there is no method 'no'"),
    ("compare t.csv --cv 1", "--cv is 1; expected at least 2 folds"),
    ("compare t.csv --alpha 2", "--alpha is 2; expected a number between 0 and 1"),
    ("methods nope", "there is no method 'nope'"),
    ("nope", "No such command"),
)

# Each line as the program runs it, all in one process.
PROGRAM = """
import contextlib, io, json, sys
from multimargin.cli.run import run
answers = []
for line in json.load(sys.stdin):
    told = io.StringIO()
    with contextlib.redirect_stderr(told):
        code = run(line.split())
    loaded = [name for name in ("sklearn", "scipy", "pandas", "multimargin.estimators")
              if name in sys.modules]
    answers.append((code, told.getvalue(), loaded))
json.dump(answers, sys.stdout)
"""


def test_wrong_options_are_refused_before_anything_is_imported(tmp_path):
    (tmp_path / "t.csv").write_text("a,x,y\n1,0,1\n")
    lines = json.dumps([line for line, _ in WRONG_LINES])
    child = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        input=lines,
        capture_output=True,
        text=True,
        cwd=tmp_path,
        check=True,
    )
    answers = json.loads(child.stdout)
    for (line, message), (code, told, loaded) in zip(WRONG_LINES, answers, strict=True):
        with case(line):
            assert code in (1, 2), told
            assert message in " ".join(told.split())
            assert not loaded


def test_help_names_every_method_and_scaling():
    # Written out there, since the table takes a second to load.
    (method_option,) = MethodName.__metadata__
    assert f"One of {', '.join(METHODS)};" in method_option.help
    (scale_option,) = Scale.__metadata__
    assert scale_option.metavar == "|".join(SCALINGS)


def test_numbers_of_labels():
    given = ("-1", "+2", "3", "a.xml", None)
    assert [as_number(labels) for labels in given] == [-1, 2, 3, "a.xml", None]
