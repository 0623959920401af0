"""Every solver of the family against the exact optimum of random small problems."""

import pytest

from multimargin.reference.verify import comparisons

SOLVERS = [
    ("RankLSVM", "bcd"),
    ("RankLSVM", "dcd"),
    ("RankLSVM", "exact"),
    ("RankCVM", "bcd"),
    ("RankCVM", "dcd"),
    ("RankCVM", "pairwise-frank-wolfe"),
    ("RankCVM", "exact"),
    ("MLODM", "bcd"),
    ("MLODM", "dcd"),
    ("MLODM", "exact"),
    ("RankHLapSVM", "bcd"),
    ("RankHLapSVM", "dcd"),
    ("RankHLapSVM", "exact"),
]


@pytest.mark.parametrize(("method", "solver"), SOLVERS)
def test_objective_and_bound_are_the_optimum(method, solver):
    count = 60 if solver == "bcd" else 15
    for comparison in comparisons(method, solver, count, seed=SOLVERS.index((method, solver))):
        assert comparison.error <= 1e-6, comparison


def test_published_frank_wolfe_brackets_the_optimum():
    for comparison in comparisons("RankCVM", "frank-wolfe", count=20, seed=99, tol=0.02):
        slack = 1e-9 * comparison.optimum
        assert comparison.bound - slack <= comparison.optimum <= comparison.objective + slack
        assert comparison.objective - comparison.bound <= 0.02 * comparison.objective
