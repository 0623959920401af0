"""Features of next to nothing: the model is 0 but for its bias, and the fit says so."""

import numpy as np
import pytest
from sklearn.base import clone

from multimargin import MLODM, RankHLapSVM, RankLSVM, RankSVM

WEIGHTED = [
    RankSVM(bias="none"),
    RankSVM(bias="penalized"),
    RankSVM(bias="free"),
    RankSVM(bias="none", top_k=2),
    RankLSVM(),
    MLODM(),
    RankHLapSVM(),
]


@pytest.mark.parametrize("scale", [1e-4, 1e-6, 1e-8, 1e-10, 1e-30, 1e-150])
@pytest.mark.parametrize("estimator", WEIGHTED, ids=repr)
def test_small_features_are_certified(estimator, scale):
    for seed in range(4):
        random = np.random.default_rng(seed)
        X, Y = scale * random.normal(size=(27, 5)), random.integers(2, size=(27, 6))
        weights = 10.0 ** random.uniform(-1, 1, size=6)
        model = clone(estimator).set_params(
            C=0.4, kernel="linear", class_weight=weights, tol=1e-5, random_state=0
        )
        model.fit(X, Y)
        assert model.status_ == "converged"
        assert 0.0 <= model.dual_gap_ <= 1e-5
