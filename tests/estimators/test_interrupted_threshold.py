"""Ctrl-C while a threshold is learned: the model with its certificate is kept."""

from typing import Any, Self

import numpy as np
import pytest

from multimargin import LLSF, MLODM, RankCVM, RankHLapSVM, RankLSVM, RankSVM
from multimargin.thresholds import Threshold

MODELS = [RankSVM(), RankSVM(kernel="linear"), RankLSVM(), RankCVM(), MLODM(), RankHLapSVM()]


class InterruptedThreshold(Threshold):
    """A threshold during whose fit Ctrl-C is pressed."""

    def fit(self, scores: Any, y: Any, X: Any = None, sample_weight: Any = None) -> Self:
        raise KeyboardInterrupt

    def predict(self, scores: Any, X: Any = None) -> Any:
        raise AssertionError

    def rescale(self, factor: float) -> Self:
        raise AssertionError


@pytest.mark.parametrize("model", [*MODELS, LLSF()], ids=repr)
def test_the_model_is_kept(model: Any) -> None:
    random = np.random.default_rng(0)
    X = random.normal(size=(30, 4))
    Y = (X @ random.normal(size=(4, 3)) > 0).astype(int)
    if "random_state" in model.get_params():
        model.set_params(random_state=0)
    whole = model.set_params(threshold="scores").fit(X, Y)
    scores, objective = whole.label_scores(X), whole.objective_
    model.set_params(threshold=InterruptedThreshold())
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, Y)
    assert model.status_ == "interrupted"
    np.testing.assert_array_equal(model.label_scores(X), scores)
    assert model.objective_ == objective
    assert model.predict(X).shape == Y.shape
