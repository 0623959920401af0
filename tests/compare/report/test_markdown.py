"""The report has every table, and names cannot break it."""

from multimargin.compare import make_report, run_experiment, write_report
from multimargin.datasets import MultilabelData
from multimargin.methods import make_method

NASTY = "<script>|*x*"


def test_report(make_data, tmp_path):
    plain, nasty = make_data("plain"), make_data("nasty", seed=1)
    nasty = MultilabelData(X=nasty.X, Y=nasty.Y, name=NASTY)
    methods = {
        NASTY: make_method("rank-svm"),
        "dummy": make_method("dummy"),
        "bad": make_method("knn", n_neighbors=1000),
    }
    results = run_experiment([plain, nasty], methods, cv=2)
    document = make_report(results, command="multimargin compare ...")
    for words in (
        "\n\n    multimargin compare ...\n\n",
        "Win/tie/loss of",
        "Iman-Davenport",
        "Wilcoxon",
        "Certificates",
        "Versions and machine",
        "n\\_neighbors=1000",
        "Expected n\\_neighbors \\<= n\\_samples\\_fit",
        "\\<script\\>\\|\\*x\\*",
    ):
        assert words in document
    assert NASTY not in document
    # Of one data set and one method there is nothing to test.
    alone = [result for result in results if (result.data, result.method) == ("plain", "dummy")]
    assert "Win/tie/loss" not in make_report(alone)
    failed = [result for result in results if result.failed]
    path = tmp_path / "report.md"
    write_report(failed, path)
    assert path.read_text(encoding="utf-8") == make_report(failed)
