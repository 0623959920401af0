"""From the printed tables come the statistics that the papers print below them."""

import pandas as pd

from published.printed import printed
from published.statistics import counts, pairwise_counts, t_tests, total_order, w_test

# Whether larger values are better.
LARGER = {
    **dict.fromkeys(("coverage", "one_error", "ranking_loss", "hamming_loss"), False),
    **dict.fromkeys(("ranking_average_precision", "jaccard", "exact_match"), True),
    **dict.fromkeys(("example_f1", "macro_f1", "micro_f1"), True),
}

# Xu 2013, last rows of tables 3 to 7.
W_TESTS = {
    "coverage": "==>>>",
    "one_error": "==>>>",
    "ranking_average_precision": "==>>>",
    "ranking_loss": "==>>>",
    "hamming_loss": "=====",
}

# Tan et al. 2019, last row of table 2: mlODM against each.
COUNTS = {
    "BP-MLL": (24, 1, 3),
    "ML-kNN": (28, 0, 0),
    "Rank-SVM": (19, 1, 8),
    "Rank-CVM": (20, 2, 6),
    "Rank-SVMz": (25, 0, 3),
    "Rank-LSVM": (18, 2, 8),
}

# Huang et al. 2015, last rows of tables II to VIII.
ORDERS = {
    "hamming_loss": "LLSF-BSVM > LLSF >= BSVM > LIFT > LLSF-CC > CC > BKNN",
    "jaccard": "LLSF-CC > LLSF-BSVM > CC > LLSF >= BSVM > LIFT > BKNN",
    "exact_match": "LLSF-CC > CC > LLSF-BSVM > BSVM > LLSF > LIFT > BKNN",
    "example_f1": "LLSF-CC > LLSF-BSVM > CC > BSVM > LLSF > BKNN > LIFT",
    "macro_f1": "LLSF-BSVM > LLSF-CC > BKNN > CC > BSVM > LIFT > LLSF",
    "micro_f1": "LLSF-CC > LLSF-BSVM > CC > BSVM > LLSF > BKNN > LIFT",
    "ranking_average_precision": "LLSF > LLSF-BSVM > LIFT > BKNN > BSVM > LLSF-CC > CC",
}

# Huang et al. 2015, table IX.
PAIRWISE = {
    ("LLSF", "BKNN"): (6, 0, 1),
    ("LLSF", "LIFT"): (6, 0, 1),
    ("LLSF", "BSVM"): (1, 2, 4),
    ("LLSF", "CC"): (2, 0, 5),
    ("LLSF-BSVM", "BKNN"): (7, 0, 0),
    ("LLSF-BSVM", "LIFT"): (7, 0, 0),
    ("LLSF-BSVM", "BSVM"): (7, 0, 0),
    ("LLSF-BSVM", "CC"): (6, 0, 1),
    ("LLSF-CC", "BKNN"): (6, 0, 1),
    ("LLSF-CC", "LIFT"): (5, 0, 2),
    ("LLSF-CC", "BSVM"): (5, 0, 2),
    ("LLSF-CC", "CC"): (7, 0, 0),
}


def test_what_the_papers_print_below_their_tables():
    for measure, outcomes in W_TESTS.items():
        table = printed("rank_cvm")[measure]
        found = w_test(table, "Rank-CVM", larger_is_better=LARGER[measure])
        assert "".join(found[method] for method in table.columns) == outcomes, measure
    assert counts(printed("mlodm"), "mlODM", LARGER) == COUNTS
    for measure, order in ORDERS.items():
        found = total_order(printed("llsf")[measure], larger_is_better=LARGER[measure])
        assert found == order, measure
    for (method, other), count in PAIRWISE.items():
        assert pairwise_counts(printed("llsf"), method, other, LARGER) == count, (method, other)


def test_t_tests_are_those_of_single_data_sets():
    # The differences 1, 2, 3 have t = 2 / (1 / sqrt(3)) = 3.46, below the 4.30 of two degrees of
    # freedom; 1.9, 2, 2.1 have t = 34.6.
    near = pd.DataFrame({"a": [1.0, 2.0, 3.0], "b": [0.0, 0.0, 0.0]})
    far = pd.DataFrame({"a": [1.9, 2.0, 2.1], "b": [0.0, 0.0, 0.0]})
    found = t_tests({"near": near, "far": far}, "a", larger_is_better=True)
    assert found == {("near", "b"): "tie", ("far", "b"): "win"}
    found = t_tests({"far": far}, "a", larger_is_better=False)
    assert found == {("far", "b"): "loss"}


def test_claims_that_the_printed_tables_refute():
    """The claims under "Slips of the papers" in docs/reproduction.md."""

    def better(paper, method, other, skip=()):
        """Count the comparisons in which a method is better, and worse."""
        signs = {key: 1 if larger else -1 for key, larger in LARGER.items()}
        tables = {key: table.drop(index=list(skip)) for key, table in printed(paper).items()}
        ahead = pd.concat([signs[key] * (t[method] - t[other]) for key, t in tables.items()])
        return int((ahead > 0).sum()), int((ahead < 0).sum())

    few_labels = ("genbase", "medical")
    assert better("llsf", "LLSF-CC", "LLSF-BSVM", few_labels) == (24, 17)
    rivals = ("MLGRF", "MLLGC", "CNMF")
    assert [better("mlrl_semi", "MLRL", rival) for rival in rivals] == [(7, 13), (7, 13), (15, 5)]
    for key, table in printed("mlodm").items():
        best = table.max(axis=1) if LARGER[key] else table.min(axis=1)
        assert (table["mlODM"] == best).sum() == (3 if key == "ranking_loss" else 4)
