"""Thresholds by name, and the one that estimators take by default."""

import numpy as np
import pytest

from multimargin import LLSF, MLODM, RankCVM, RankHLapSVM, RankLSVM, RankSVM
from multimargin.thresholds import (
    F1Threshold,
    LabelsThreshold,
    ScoresThreshold,
    base,
    make_threshold,
)

# With a threshold of their own by default.
METHODS = [RankSVM, RankCVM, RankLSVM, MLODM, RankHLapSVM, LLSF]


def problem(q, n=20):
    random = np.random.default_rng(0)
    Y = random.random((n, q)) < 0.1
    Y[:, 0], Y[:, 1] = True, False
    return random.normal(size=(n, 3)), Y.astype(int)


def test_auto_is_the_papers_up_to_a_thousand_labels():
    assert isinstance(make_threshold("auto", n_labels=1000), ScoresThreshold)
    assert isinstance(make_threshold("auto", n_labels=1001), F1Threshold)


def test_names_are_those_of_averages_of_f1():
    for average in ("micro", "samples"):
        assert make_threshold(average).average == average
    assert isinstance(make_threshold("macro"), LabelsThreshold)
    with pytest.raises(ValueError, match="threshold is 'f1'; expected 'auto', 'micro', 'samples'"):
        make_threshold("f1")


@pytest.mark.parametrize("method", METHODS)
def test_default(method):
    X, Y = problem(5)
    assert isinstance(method().fit(X, Y).threshold_, ScoresThreshold)


@pytest.mark.parametrize("method", [RankSVM, LLSF])
def test_default_of_many_labels_keeps_the_ranking(method):
    X, Y = problem(1001, 2)
    model = method(tol=0.1).fit(X, Y)
    assert isinstance(model.threshold_, F1Threshold)
    moved = model.decision_function(X) - model.label_scores(X)
    np.testing.assert_allclose(moved, -model.threshold_.value_, atol=1e-12)


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_one_number_is_learned_from_few_rows_that_count(monkeypatch, kernel):
    X, Y = problem(6, n=60)
    Y = Y.astype(float)
    Y[3] = np.nan
    weights = np.ones(60)
    weights[0] = 0.0
    monkeypatch.setattr(base, "MOST_PAIRS", 6 * 30)
    model = RankSVM(kernel=kernel, threshold="micro").fit(X, Y, sample_weight=weights)
    counted = np.setdiff1d(np.arange(60), [0, 3])[::2]
    scores = model.label_scores(X[counted])
    expected = F1Threshold().fit(scores, Y[counted], None, np.ones(29))
    assert model.threshold_.score_ == expected.score_
    assert (scores > model.threshold_.value_).sum() == (scores > expected.value_).sum()


def test_how_many_rows_are_enough():
    assert base.enough_rows(F1Threshold(), 100, 1000) == 100
    assert base.enough_rows(F1Threshold(), 100_000, 8192) == 2048
    assert base.enough_rows(F1Threshold(), 5, 2**25) == 1
    assert base.enough_rows(ScoresThreshold(), 100_000, 8192) == 100_000


def test_what_depends_on_the_row_is_learned_from_all(monkeypatch):
    X, Y = problem(6, n=60)
    model = RankSVM(random_state=0).fit(X, Y)
    monkeypatch.setattr(base, "MOST_PAIRS", 6)
    again = RankSVM(random_state=0).fit(X, Y)
    np.testing.assert_array_equal(again.threshold_.coef_, model.threshold_.coef_)
