"""Random tables through the classifiers around others, and damages that they notice."""

import numpy as np
import pytest
from scipy.special import expit

from multimargin import CalibratedClassifier
from multimargin.calibration.head import Head
from multimargin.calibration.held_out import HeldOut
from multimargin.thresholds import PrecisionGuarantee, RecallGuarantee
from tests.campaign.stacks import draw, misses_of
from tests.support.subsets import first_fast

# The last of the fast ones has scores of which rounding leaves a singular matrix.
CASES = first_fast([*range(16), 3420, *range(16, 200)], 17)


@pytest.mark.parametrize("seed", CASES)
def test_no_miss(seed):
    _, misses = misses_of(draw(seed))
    assert not misses


# What is damaged, how, and whether it is a part of a model.
DAMAGES = {
    "at_least_one is forgotten": (
        *(Head, "thresholds", lambda self, odds, X=None: np.zeros((1, 1))),
        lambda model: model.at_least_one,
    ),
    "probabilities of other scores": (
        *(Head, "predict_proba", lambda self, scores: expit(0.9 * self.label_scores(scores))),
        lambda model: isinstance(model, CalibratedClassifier),
    ),
    "copies of rows": (
        *(HeldOut, "_learned_by", lambda self, cut: np.repeat(np.arange(self.rows.size), 3)),
        lambda model: isinstance(model.threshold, RecallGuarantee | PrecisionGuarantee),
    ),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_damages_are_noticed(monkeypatch, damage):
    *changed, has = DAMAGES[damage]
    monkeypatch.setattr(*changed)
    drawn = (draw(seed) for seed in range(60))
    assert any(misses_of(one)[1] for one in drawn if has(one.model))
