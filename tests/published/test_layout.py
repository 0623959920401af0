"""The tables in the papers' form."""

import pandas as pd
import pytest

from published.comparison import AVERAGE_PRECISION, ONE_ERROR
from published.layout import means, print_measures, print_t_tests
from published.printed import printed

MEASURES = (ONE_ERROR, AVERAGE_PRECISION)
PUBLISHED = {
    "one_error": pd.DataFrame({"A": [0.25, 0.30], "B": [0.20, 0.10]}, index=["x", "y"]),
    "average_precision": pd.DataFrame({"A": [0.80, 0.70], "B": [0.90, 0.95]}, index=["x", "y"]),
}
FOUND = {
    ("x", "A"): [[0.20, 0.85], [0.30, 0.75]],
    ("x", "B, exact"): [[0.204, 0.91]],
    ("y", "A"): [[0.40, 0.70]],
}


def test_means_are_over_the_runs() -> None:
    table = means(FOUND, MEASURES)["one_error"]
    assert table.loc["x", "A"] == pytest.approx(0.25)
    assert pd.isna(table.loc["y", "B, exact"])


def test_published_and_ours_stand_below_each_other(capsys: pytest.CaptureFixture[str]) -> None:
    print_measures(
        "T",
        MEASURES,
        ["A", "B, exact"],
        FOUND,
        PUBLISHED,
        digits=2,
        prints={"A": "A", "B, exact": "B"},
    )
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert ["x", "published", "0.25", "0.20"] in lines
    assert ["ours", "0.25", "±", "0.05", "0.20"] in lines
    assert ["ours", "0.40", "not", "run"] in lines
    assert ["runs:", "x", "2", "(B,", "exact", "1),", "y", "1"] in lines
    # One-error: x is equal twice, y worse. Average precision: x equal and better, y equal.
    tallies = [" ".join(line) for line in lines if line[:1] == ["as"]]
    assert tallies == ["as good as printed: 2 of 3", "as good as printed: 3 of 3"]


def test_t_tests_are_counted_over_data_sets(capsys: pytest.CaptureFixture[str]) -> None:
    found = {
        ("x", "A"): [[0.10], [0.11], [0.12]],
        ("x", "B"): [[0.30], [0.32], [0.33]],
        ("y", "A"): [[0.10], [0.30], [0.20]],
        ("y", "B"): [[0.20], [0.10], [0.31]],
    }
    print_t_tests("T", MEASURES[:1], found, "A", {"B": "8/1/0"})
    out = capsys.readouterr().out
    assert "1/1/0 (x win, y tie)" in out
    assert "8/1/0" in out


@pytest.mark.parametrize(
    ("paper", "shape"),
    [
        ("rank_cvm", (9, 5)),
        ("mlrl", (4, 6)),
        ("mlrl_semi", (4, 5)),
        ("mlodm", (7, 7)),
        ("llsf", (8, 7)),
    ],
)
def test_printed_tables_are_complete(paper: str, shape: tuple[int, int]) -> None:
    tables = printed(paper)
    losses = ("hamming_loss", "one_error", "ranking_loss")
    for measure, table in tables.items():
        assert table.shape == shape
        assert table.notna().all(axis=None)
        if measure in losses or measure == "average_precision":
            assert ((table >= 0.0) & (table <= 1.0)).all(axis=None)
