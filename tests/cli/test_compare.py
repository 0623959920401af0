import csv
import json
from dataclasses import replace

import pytest

from multimargin.cli.compare import MEASURES, TUNE_SCORES
from multimargin.compare import read_results
from multimargin.compare.experiment.tuning import scorer_of
from multimargin.compare.measured import MEASURED
from tests.support.files import write_arff


@pytest.fixture
def folder(small, tmp_path, monkeypatch):
    """A folder to work in, with the small data."""
    monkeypatch.chdir(tmp_path)
    write_arff(small, tmp_path / "small.arff")
    return tmp_path


def compare(command, *arguments):
    return command("compare", "small.arff", "--results", "results.jsonl", *arguments)


def test_tables_and_files(command, folder):
    outputs = ["--report", "r.md", "--csv", "r.csv"]
    answer = compare(command, "--methods", "rank-svm:C=8,knn", "--cv", 2, *outputs)
    assert answer.code == 0
    for words in ("rank-svm:C=8", "Win/tie/loss", "2 converged"):
        assert words in answer.out
    assert "written: results.jsonl, r.md, r.csv" in answer.out
    with (folder / "r.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    splits = [f"fold {fold} of 2, seed 0" for fold in (1, 2)]
    expected = [(method, split) for split in splits for method in ("rank-svm:C=8", "knn")]
    assert [(row["method"], row["split"]) for row in rows] == expected
    assert json.loads(rows[0]["estimator"])["parameters"]["C"] == 8
    assert "**" in (folder / "r.md").read_text()


def test_json_and_official_split(command, folder, small):
    (folder / "parts").mkdir()
    for part in ("train", "test"):
        write_arff(small, folder / "parts" / f"parts-{part}.arff", split=part)
    answer = command("compare", "parts", "--methods", "knn,dummy", "--official-split", "--json")
    assert answer.code == 0
    assert not (folder / "results.jsonl").exists()
    assert [row["method"] for row in answer.json["results"]] == ["knn", "dummy"]
    assert {row["split"] for row in answer.json["results"]} == {"official"}
    assert answer.json["n_failed"] == 0


def test_rows_put_aside(command, folder):
    answer = compare(command, "-m", "knn", "--holdout", 0.25, "--json")
    (row,) = answer.json["results"]
    assert row["split"] == "official"
    assert row["n_test"] / (row["n_train"] + row["n_test"]) == pytest.approx(0.25, abs=0.03)
    assert "fit, seconds" in compare(command, "-m", "knn", "--holdout", 0.25).out


def test_goes_on_where_it_stopped(command, folder):
    compare(command, "--methods", "knn", "--cv", 2)
    first = (folder / "results.jsonl").read_bytes()
    compare(command, "--methods", "knn,dummy", "--cv", 2)
    assert (folder / "results.jsonl").read_bytes().startswith(first)
    assert len(read_results(folder / "results.jsonl")) == 4


def test_failures_do_not_stop_the_others(command, folder):
    answer = compare(command, "--methods", "rank-svm:C=-1,knn", "--cv", 2)
    assert answer.code == 0
    assert "Failures" in answer.out
    bad, good = read_results(folder / "results.jsonl")[:2]
    assert "C is -1.0; expected a finite number above 0" in bad.error["message"]
    assert not good.failed
    alone = compare(command, "--methods", "rank-svm:C=-1", "--cv", 2, "--report", "r.md")
    assert alone.code == 1


def test_wrong_command_lines(command, folder):
    before = (folder / "small.arff").read_bytes()
    for line, code, message in (
        ("-m rank-svn", 2, "no method 'rank-svn' (did you mean 'rank-svm'?)"),
        ("-m rank-svm:D=1", 2, "rank-svm has no parameter 'D'"),
        ("-m rank-svm:C", 2, "'C' in 'rank-svm:C'; expected METHOD:NAME=VALUE"),
        ("--methods=", 2, "--methods is ''; expected names"),
        ("-m knn,knn", 2, "--methods has 'knn' twice"),
        ("--cv 0", 2, "--cv is 0; expected at least 2 folds"),
        ("--cv many", 2, "'--cv'"),
        ("--cv 2 --official-split", 2, "--cv and --official-split exclude each other"),
        ("--holdout 0.25 --cv 2", 2, "--cv and --holdout exclude each other"),
        ("--holdout 0.25 --official-split", 2, "--official-split and --holdout exclude each other"),
        ("--group x", 2, "--group is given without --holdout"),
        ("--official-split", 1, "has no split 'train'"),
        ("--measures f1", 2, "--measures has 'f1'; expected some of ranking_loss"),
        ("--reference knn", 2, "--reference is 'knn'; expected one of 'label-ranker'"),
        ("--test z", 2, "--test is 'z'; expected one of corrected, paired, none"),
        ("--alpha 2", 2, "--alpha is 2; expected a number between 0 and 1"),
        ("--scale log", 2, "--scale is 'log'; expected one of minmax"),
        ("--seed -1", 2, "'--seed'"),
        ("--seed 4294967296", 2, "'--seed'"),
        ("--jobs 0", 2, "--jobs is 0; expected a positive number"),
        ("--cv 2 --results .", 1, "--results: '.' is a folder; expected a file to write"),
        ("--cv 2 --results small.arff", 1, "--results: 'small.arff' is read by this command"),
        ("--report none/r.md", 1, "--report: there is no folder 'none'"),
        ("-m rank-svm:C=1/8", 2, "several values in 'C=1/8'; expected --tune"),
        ("-m rank-svm:C=1:C=8", 2, "--methods gives C twice in 'rank-svm:C=1:C=8'"),
        ("-m rank-svm:C=1:C=1/8 --tune", 2, "--methods gives C twice"),
        ("-m bsvm:C=1/2:estimator__estimator__C=3 --tune", 2, "bsvm is given a parameter twice"),
        ("--cv 2 --tune-folds 4", 2, "--tune-folds or --tune-score is given without --tune"),
        ("--cv 2 --tune-score one-error", 2, "--tune-score is given without --tune"),
        ("-m rank-svm:C=1//8 --tune", 2, "'C=1//8'; expected a form such as C=1/8/64"),
        ("--tune --tune-score nice", 2, "--tune-score is 'nice'; expected one of "),
        ("--time-limit 0", 2, "--time-limit is 0; expected a positive number"),
        ("small.arff --cv 2", 1, "expected different names"),
        ("missing.arff", 1, "missing.arff"),
    ):
        answer = compare(command, *line.split())
        assert answer.code == code, line
        assert message in " ".join(answer.err.split()), line
        assert "Traceback" not in answer.err, line
        assert (folder / "small.arff").read_bytes() == before
    assert command("compare").code == 2


def test_the_measures_that_are_known_are_those_of_the_library():
    assert sorted(MEASURES) == sorted(MEASURED)
    assert all(scorer_of(name) for name in TUNE_SCORES)


def test_names_are_whole_where_the_output_is_piped(command, folder, monkeypatch):
    monkeypatch.setenv("COLUMNS", "40")
    methods = "rank-svm:C=8:gamma=0.5:tol=0.01,ovr-logistic:C=2"
    answer = compare(command, "--methods", methods, "--cv", 2, "--report", "r.md")
    for name in methods.split(","):
        assert name in answer.out
        assert name in (folder / "r.md").read_text()


def test_tuning_is_nested_in_the_splits(command, folder):
    methods = "rank-svm:C=1/8:gamma=0.5,ovr-linear:C=1/4,dummy"
    options = ["--cv", 2, "--tune", "--tune-folds", 2, "--report", "r.md"]
    answer = compare(command, "-m", methods, *options)
    assert answer.code == 0
    assert answer.out.startswith("On small, ")
    assert "Parameters that were chosen" in answer.out
    found = read_results(folder / "results.jsonl")
    tuned = {result.method: result.tuning for result in found}
    assert list(tuned["rank-svm:C=1/8:gamma=0.5"]["parameters"]) == ["C"]
    assert tuned["rank-svm:C=1/8:gamma=0.5"]["parameters"]["C"] in (1.0, 8.0)
    assert list(tuned["ovr-linear:C=1/4"]["parameters"]) == ["estimator__estimator__C"]
    assert tuned["dummy"] is None
    page = (folder / "r.md").read_text()
    assert page.startswith("# On small, ")
    typed = ["compare", "small.arff", "--results", "results.jsonl", "-m", methods]
    typed += map(str, options)
    assert f"\n\n    multimargin {' '.join(typed)}\n\n" in page
    answer = compare(command, "-m", methods, *options[:-2], "--json")
    assert answer.json["verdict"].startswith("On small, ")
    assert read_results(folder / "results.jsonl") == found


def test_an_interrupted_run_says_how_to_go_on(command, folder, monkeypatch):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("multimargin.compare.run_experiment", interrupted)
    answer = compare(command, "--methods", "dummy")
    assert (answer.code, answer.out) == (130, "")
    assert answer.err.splitlines() == [
        "stopped; results so far are in results.jsonl, from which the same command resumes",
        "multimargin: interrupted",
    ]


def test_ranks_need_two_data_sets(command, folder, small):
    write_arff(replace(small, X=-small.X, name="other"), folder / "other.arff")
    options = ["--methods", "knn,dummy", "--cv", "2"]
    answer = command("compare", "small.arff", "other.arff", *options)
    assert answer.code == 0, answer.err
    assert "Friedman" in answer.out
    assert "Friedman" not in compare(command, *options, "--results", "one.jsonl").out
