"""The stack keeps to its time."""

import re
import time

import numpy as np
import pytest

from multimargin.blocks import (
    LabelBoosting,
    LabelForest,
    LabelLogistic,
    LabelNeighbours,
    pricing,
    stack,
)
from multimargin.blocks.by_name import with_fewer_trees
from multimargin.blocks.in_time import fit_in_time
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
    planned = [("forest", LabelForest()), ("neighbours", LabelNeighbours())]
    effort = Effort(end, None, 0)
    tried = Stack(X, y, None, folds, planned, effort)
    with pytest.warns(UserWarning, match="stack leaves out forest, neighbours for lack of time"):
        left_out = fitted_in_time([tried], effort)
    assert clock.fits == fits
    assert clock.now <= max(end, 0.0) + 1.0
    assert list(left_out) == ["forest", "neighbours"]
    assert not tried.fitted


def fitted_in_time(stacks, effort, is_named=lambda name: True, reserve=0.0):
    return fit_in_time(
        stacks,
        effort,
        reserve=reserve,
        is_named=is_named,
        tuned=lambda stack, name, block, spare: block,
    )


class Priced:
    """A stack that takes what it is told, of which it keeps a record."""

    def __init__(self, clock, view):
        self.clock, self.view = clock, view
        self.prices, self.planned = PRICES[view], PLANNED[view]
        self.took = {}

    def full_name(self, name):
        return f"{self.view}__{name}"

    def fit(self, name, block, listed):
        place = [other for other, _ in self.planned].index(name)
        whole = getattr(self.planned[place][1], "n_estimators", 1)
        grown = getattr(block, "n_estimators", 1)
        self.took[name] = self.prices[place] * grown / whole, block
        self.clock.now += self.took[name][0]


PLANNED = {
    "dense": [
        ("boosting", LabelBoosting(200, learning_rate=0.1)),
        ("neighbours", LabelNeighbours()),
        ("forest", LabelForest(100)),
    ],
    "sparse": [("linear", LabelLogistic()), ("forest", LabelForest(32))],
}
PRICES = {"dense": [40.0, 1.0, 20.0], "sparse": [9.0, 30.0]}


def priced(monkeypatch):
    clock = Clock()
    monkeypatch.setattr(pricing, "time", clock)
    return [Priced(clock, view) for view in PLANNED]


@pytest.mark.filterwarnings("ignore:stack")
@pytest.mark.parametrize("seconds", [3.0, 5.0, 12.0, 30.0, 60.0, 99.0, 101.0, 1e6])
@pytest.mark.parametrize("reserve", [0.0, 2.0])
def test_blocks_share_the_time_that_is_left(monkeypatch, seconds, reserve):
    stacks = priced(monkeypatch)
    left_out = fitted_in_time(stacks, Effort(seconds + reserve, None, 0), reserve=reserve)
    took = [stack.took.get(name, (0.0, None))[0] for stack in stacks for name, _ in stack.planned]
    assert sum(took) <= seconds
    whole = [price for prices in PRICES.values() for price in prices]
    if seconds >= sum(whole):
        assert took == whole
        assert not left_out
        return
    # What is cheap is whole, ensembles that are not have as much time as each other, to a tree.
    if seconds >= 5.0:
        assert took[1] == 1.0
    cut = [spent for spent, price in zip(took, whole, strict=True) if 0.0 < spent < price]
    assert len(cut) < 2 or max(cut) - min(cut) < 1.5
    if 0.0 < seconds < sum(whole):
        assert any(spent < price for spent, price in zip(took, whole, strict=True))
    # Nothing is missing without a word.
    names = [stack.full_name(name) for stack in stacks for name, _ in stack.planned]
    missing = [name for name, spent in zip(names, took, strict=True) if spent == 0.0]
    assert sorted(left_out) == sorted(missing)


def test_what_is_given_is_fitted_as_it_is_or_not_at_all(monkeypatch):
    stacks = priced(monkeypatch)
    with pytest.warns(UserWarning, match="stack leaves out dense__boosting for lack of time"):
        left_out = fitted_in_time(stacks, Effort(70.0, None, 0), is_named=lambda name: False)
    assert left_out == {"dense__boosting": "10 s left of max_time"}
    blocks = [block for stack in stacks for _, block in stack.took.values()]
    given = [block for planned in PLANNED.values() for _, block in planned]
    assert all(any(block is one for one in given) for block in blocks)


def test_fewer_trees_are_told(monkeypatch):
    stacks = priced(monkeypatch)
    told = (
        "stack leaves out sparse__forest and grows 16 of 100 trees of dense__forest, 34 of 200 "
        "trees of dense__boosting for lack of time: increase max_time, or use stack=None."
    )
    with pytest.warns(UserWarning, match=re.escape(told)):
        fitted_in_time(stacks, Effort(20.0, None, 0))


@pytest.mark.parametrize(
    ("share", "count", "rate"),
    [
        (0.05, None, None),
        (0.1, 20, 0.3),
        (0.5, 100, 0.2),
        (0.75, 150, 0.2 / 1.5),
        (0.999, 199, 0.1),
    ],
)
def test_a_share_of_the_trees_goes_as_far(share, count, rate):
    block = LabelBoosting(200, learning_rate=0.1)
    smaller = with_fewer_trees(block, share)
    if count is None:
        assert smaller is None
        return
    assert smaller.n_estimators == count
    assert smaller.learning_rate == pytest.approx(rate, rel=0.01)
    assert (block.n_estimators, block.learning_rate) == (200, 0.1)
    assert with_fewer_trees(LabelForest(200), share).n_estimators == count
    assert with_fewer_trees(LabelLogistic(), share) is None
    assert with_fewer_trees(LabelBoosting(40, learning_rate=0.5), 0.5).learning_rate == 0.5


def test_a_block_has_more_time_than_foretold(monkeypatch):
    X, y = noisy_linear_problem(0, 60, 4, 3, cut=0.5)
    folds = list(MultilabelStratifiedKFold(3).split(X, y))
    monkeypatch.setattr(stack, "foretold", lambda *_: 5.0)
    of_time = [
        Stack(X, y, None, folds, PLANNED["sparse"], Effort(end, None, 0)).prices
        for end in (time.monotonic() + 1e6, np.inf, time.monotonic() - 1.0)
    ]
    assert of_time == [[6.0, 6.0], [0.0, 0.0], [np.inf, np.inf]]
