"""Problems of the compiled loss with a zero label whose labels have one class."""

from types import SimpleNamespace

import numpy as np
import pytest

from multimargin import _rust
from multimargin.estimators.shared import exact_models
from multimargin.kernels import rust_features

LOSS = "zero_label_hinge"


def solve(X, Y, **options):
    settings = {"c": 1.0, "bias": "free", "solver": "bcd", "kernel_name": "precomputed"}
    settings |= {"tolerance": 1e-8, "max_epochs": 100_000}
    indicator = np.ascontiguousarray(Y, dtype=np.uint8)
    found = _rust.solve_pairwise(indicator, rust_features(X), loss=LOSS, **(settings | options))
    return SimpleNamespace(**found)


@pytest.mark.parametrize("bias", ["free", "penalized"])
def test_labels_of_one_class_have_no_support_with_a_free_bias(bias):
    random = np.random.default_rng(9)
    X = random.normal(size=(20, 3))
    Y = (random.random((20, 4)) < 0.5).astype(np.uint8)
    Y[:, 1], Y[:, 3] = 1, 0
    K = X @ X.T
    solution = solve(K, Y, bias=bias)
    optimum = exact_models.zero_label(K, Y, 1.0, bias).objective
    assert solution.primal == pytest.approx(optimum, rel=1e-7)
    assert solution.dual[:, [1, 3]].any() == (bias == "penalized")
    scores = solution.scores + solution.bias
    if bias == "free":
        assert (scores[:, 1] - scores[:, 4]).min() >= 1.0 - 1e-9
        assert (scores[:, 3] - scores[:, 4]).max() <= -1.0 + 1e-9


def test_no_label_of_two_classes():
    Y = np.array([[1, 0], [1, 0], [1, 0]], dtype=np.uint8)
    solution = solve(np.eye(3), Y)
    assert (solution.primal, solution.dual_objective) == (0.0, 0.0)
    assert not solution.dual.any()
