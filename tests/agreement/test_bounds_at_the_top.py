"""Bounds of a free bias with weights of labels and the top of the ranking, wherever a fit ends."""

import numpy as np
import pytest

from multimargin import RankSVM
from tests.support.cases import case

# The bounds of the first two were too high where components had the capacities of the whole.
SEEDS = [23, 365, *range(40)]


def problem(seed):
    """Few rows, some labels never relevant: several components."""
    random = np.random.default_rng(seed)
    n, q = random.integers(4, 14), random.integers(3, 9)
    X = random.standard_normal((n, 3))
    Y = (random.random((n, q)) < random.choice([0.2, 0.5])).astype(int)
    Y[0], Y[1] = np.eye(q, dtype=int)[:2]
    weights = None if seed % 3 == 0 else 10.0 ** random.uniform(-2, 2, q)
    top = None if seed % 3 == 1 else int(random.integers(1, q))
    return X, Y, {"class_weight": weights, "top_k": top, "C": 10.0 ** random.uniform(-1, 2)}


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_no_bound_is_above_the_optimum():
    for seed in SEEDS:
        X, Y, parameters = problem(seed)
        with case(seed):
            exact = RankSVM(kernel="linear", solver="exact", **parameters).fit(X, Y).objective_
            for epochs in (2, 7, 20):
                loop = {"max_iter": epochs, "tol": 1e-6, "random_state": 0}
                model = RankSVM(kernel="linear", **loop, **parameters).fit(X, Y)
                assert model.dual_objective_ <= exact * (1 + 1e-6)
                assert model.objective_ >= exact * (1 - 1e-6)
