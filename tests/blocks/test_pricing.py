"""What blocks take is foretold from few rows."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.model_selection import KFold

from multimargin.blocks import pricing
from multimargin.blocks.pricing import Effort, foretold
from multimargin.calibration.on_folds import OnFolds


class Clock:
    """A clock that only what a classifier does moves on."""

    now = 0.0

    def monotonic(self):
        return self.now


CLOCK = Clock()
# Seconds of a fit to n rows, and of the scores of m others.
LAWS = {
    "in proportion": (lambda n: 1e-4 * n, lambda n, m: 1e-6 * m),
    "with a constant": (lambda n: 0.02 + 1e-4 * n, lambda n, m: 1e-3 + 1e-6 * m),
    "square": (lambda n: 1e-6 * n**2, lambda n, m: 1e-5 * m),
    "scores by all rows": (lambda n: 1e-7 * n, lambda n, m: 1e-3 + m * (1e-5 + 1e-8 * n)),
    "slow scores": (lambda n: 1e-6 * n, lambda n, m: 1e-3 + 1e-3 * m),
}
# Trees that are grown on some of the rows
OF_SOME = "of some rows"
LAWS_OF_ALL = LAWS | {
    OF_SOME: (lambda n: 1e-4 * min(n, 3000) + 1e-5 * n, lambda n, m: 1e-5 * m),
}


class Priced(ClassifierMixin, BaseEstimator):
    """A classifier that takes what a law says, an ensemble for each of its trees."""

    def __init__(self, law="in proportion", n_estimators=None):
        self.law = law
        self.n_estimators = n_estimators

    def fit(self, X, y):
        self.rows_, self.labels_ = len(X), y.shape[1]
        CLOCK.now += LAWS_OF_ALL[self.law][0](len(X)) * (self.n_estimators or 1)
        return self

    def decision_function(self, X):
        CLOCK.now += LAWS_OF_ALL[self.law][1](self.rows_, len(X)) * (self.n_estimators or 1)
        return np.zeros((len(X), self.labels_))


@pytest.fixture(autouse=True)
def clock(monkeypatch):
    monkeypatch.setattr(pricing, "time", CLOCK)


def on_folds(n):
    folds = list(KFold(3).split(np.zeros(n)))
    return OnFolds(np.zeros((n, 1)), np.zeros((n, 2)), folds)


def seconds_of(work):
    start = CLOCK.now
    result = work()
    return CLOCK.now - start, result


@pytest.mark.parametrize("n", [60, 700, 6000, 30_000])
@pytest.mark.parametrize(
    ("law", "trees"), [*((law, None) for law in LAWS), *((law, 200) for law in (*LAWS, OF_SOME))]
)
def test_what_is_foretold_is_what_it_takes(law, n, trees):
    block, data = Priced(law, trees), on_folds(n)
    effort = Effort(CLOCK.now + 1e9, None, 0)
    spent, price = seconds_of(lambda: foretold(data, block, {}, effort))
    true, _ = seconds_of(lambda: data.fit(block, {}))
    assert true / 1.5 < price < 1.5 * true
    # The probes are cheap beside it, where it is long at all.
    assert n < 6000 or spent < 0.1 * true + 0.2


def test_a_fold_of_many_is_all_that_is_held_out():
    all_of, data = on_folds(6000), on_folds(6000)
    one = OnFolds(data.X, data.y, data.folds[:1])
    effort = Effort(CLOCK.now + 1e9, None, 0)
    prices = [foretold(folds, Priced(), {}, effort) for folds in (all_of, one)]
    trues = [seconds_of(lambda folds=folds: folds.fit(Priced(), {}))[0] for folds in (all_of, one)]
    np.testing.assert_allclose(prices, trues, rtol=0.1)


@pytest.mark.parametrize("left", [1e-3, 0.1, 1.0])
def test_probes_leave_time_for_other_blocks(left):
    effort = Effort(CLOCK.now + left, None, 0)
    slow = Priced("slow scores")
    spent, price = seconds_of(lambda: foretold(on_folds(30_000), slow, {}, effort))
    assert price > left
    # The first two are fits to a few hundred rows.
    assert spent < 0.6


def test_a_probe_of_too_few_rows_says_nothing():
    class Choosy(Priced):
        def fit(self, X, y):
            if len(X) < 1000:
                raise ValueError("too few rows")
            return super().fit(X, y)

    data, effort = on_folds(6000), Effort(CLOCK.now + 1e9, None, 0)
    price = foretold(data, Choosy(), {}, effort)
    true, _ = seconds_of(lambda: data.fit(Choosy(), {}))
    assert true / 1.5 < price < 1.5 * true
    # The fit itself refuses
    assert foretold(on_folds(900), Choosy(), {}, effort) == 0.0
