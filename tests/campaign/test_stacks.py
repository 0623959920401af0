"""Random tables through the classifiers around others, and damages that they notice."""

import numpy as np
import pytest
from scipy.special import expit

from multimargin.calibration.head import Head
from multimargin.calibration.held_out import HeldOut
from tests.campaign.stacks import draw, misses_of

# The last of the fast ones has scores of which rounding leaves a singular matrix.
CASES = [*range(24), 3420, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(24, 200))]


@pytest.mark.parametrize("seed", CASES)
def test_no_miss(seed):
    _, misses = misses_of(draw(seed))
    assert not misses


def of_copies(self, threshold):
    return np.repeat(np.arange(self.rows.size), 3)


DAMAGES = {
    "at_least_one is forgotten": (Head, "thresholds", lambda self, odds, X=None: np.zeros((1, 1))),
    "probabilities of other scores": (
        Head,
        "predict_proba",
        lambda self, scores: expit(0.9 * self.label_scores(scores)),
    ),
    "copies of rows": (HeldOut, "_learned_by", of_copies),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_damages_are_noticed(monkeypatch, damage):
    kind, name, changed = DAMAGES[damage]
    monkeypatch.setattr(kind, name, changed)
    for seed in range(60):
        _, misses = misses_of(draw(seed))
        if misses:
            return
    pytest.fail("nothing was noticed in 60 draws")
