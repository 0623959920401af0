"""The stack keeps to its time."""

import pytest

from multimargin.blocks import LabelForest, LabelNeighbours, pricing
from multimargin.blocks.pricing import Effort
from multimargin.blocks.stack import Stack
from multimargin.tuning import MultilabelStratifiedKFold
from tests.support.problems import noisy_linear_problem


class Clock:
    """A clock on which a fit to few rows takes a second, and nothing else takes time."""

    def __init__(self):
        self.now = self.fits = 0

    def monotonic(self):
        return self.now

    def fit(self, *arguments):
        self.now += 1
        self.fits += 1


@pytest.mark.parametrize(("end", "fits"), [(-1.0, 0), (0.5, 1), (1.5, 2)])
def test_no_fit_begins_when_time_is_over(monkeypatch, end, fits):
    X, y = noisy_linear_problem(0, 1000, 4, 3, cut=0.5)
    clock = Clock()
    monkeypatch.setattr(pricing, "time", clock)
    monkeypatch.setattr(pricing.OnFolds, "fit_to", clock.fit)
    monkeypatch.setattr(pricing.OnFolds, "scores_of", lambda *_: None)
    folds = list(MultilabelStratifiedKFold(3).split(X, y))
    tried = Stack(X, y, None, folds, Effort(end, None, 0))
    with pytest.warns(UserWarning, match="stack leaves out forest, neighbours for lack of time"):
        left_out = tried.fit(
            [("forest", LabelForest()), ("neighbours", LabelNeighbours())], reserve=0.0
        )
    assert clock.fits == fits
    assert clock.now <= max(end, 0.0) + 1.0
    assert list(left_out) == ["forest", "neighbours"]
    assert not tried.fitted
