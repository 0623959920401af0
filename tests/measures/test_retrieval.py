"""Measures of the head of a ranking and of single labels, against their definitions and sklearn."""

import contextlib
import warnings
from functools import partial
from itertools import pairwise, permutations

import numpy as np
import pandas as pd
import pytest
from sklearn import metrics

from multimargin import RankSVM, measures
from multimargin.measures import (
    auc_macro,
    auc_micro,
    label_propensities,
    ndcg_at_k,
    precision_at_k,
    propensity_scored_precision_at_k,
    recall_at_k,
)

WEIGHTED = [
    *(measures.MEASURES[name].function for name in measures.MEASURES),
    *(measures.MORE_MEASURES[name].function for name in measures.MORE_MEASURES),
]


def data(seed=0, n=40, q=7, ties=False):
    random = np.random.default_rng(seed)
    Y = (random.random((n, q)) < 0.4).astype(int)
    Y[0], Y[1] = 0, 1
    scores = random.normal(size=(n, q))
    return Y, np.round(scores) if ties else scores


def precision_over_orders(y, f, k):
    """The mean over all orders that the scores allow."""
    values = []
    for order in permutations(range(len(f))):
        if all(f[a] >= f[b] for a, b in pairwise(order)):
            values.append(np.mean(y[list(order[:k])]))
    return np.mean(values)


@pytest.mark.parametrize("k", [1, 2, 4])
def test_precision_at_k_is_the_mean_over_the_orders_of_tied_labels(k):
    Y, scores = data(q=4, n=25, ties=True)
    expected = np.mean([precision_over_orders(y, f, k) for y, f in zip(Y, scores, strict=True)])
    assert precision_at_k(Y, scores, k=k) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("ties", [False, True])
def test_ndcg_at_k_is_that_of_scikit_learn(ties):
    Y, scores = data(1, ties=ties)
    kept = Y.any(axis=1)
    for k in (1, 3, 7):
        expected = metrics.ndcg_score(Y[kept], scores[kept], k=k)
        assert ndcg_at_k(Y, scores, k=k) == pytest.approx(expected)


@pytest.mark.parametrize("ties", [False, True])
def test_areas_count_the_pairs_in_the_right_order(ties):
    Y, scores = data(2, ties=ties)

    def area(y, f):
        pairs = [(a, b) for a in f[y == 1] for b in f[y == 0]]
        return np.mean([1.0 if a > b else 0.5 if a == b else 0.0 for a, b in pairs])

    expected = np.mean([area(y, f) for y, f in zip(Y.T, scores.T, strict=True)])
    assert auc_macro(Y, scores) == pytest.approx(expected)
    assert auc_macro(Y, scores) == pytest.approx(metrics.roc_auc_score(Y, scores))
    assert auc_micro(Y, scores) == pytest.approx(area(Y.ravel(), scores.ravel()))


def test_labels_of_one_value_are_left_out_by_name():
    Y, scores = data(3)
    Y[:, 2], Y[:, 5] = 0, 1
    others = [0, 1, 3, 4, 6]
    named = pd.DataFrame(Y, columns=list("abcdefg"))
    with pytest.warns(
        UserWarning, match=r"left out of the macro AUC: c \(0\), f \(1\)\.$"
    ) as found:
        area = auc_macro(named, scores)
    assert len(found) == 1
    assert area == pytest.approx(auc_macro(Y[:, others], scores[:, others]))
    with pytest.warns(UserWarning, match=r"2 \(0\), 5 \(1\)\.$"):
        auc_macro(Y, scores)


def test_what_is_undefined_is_said():
    _, scores = data(4)
    nothing = np.zeros(scores.shape)
    for function, options, message in (
        (ndcg_at_k, {}, "Y_true has no relevant label"),
        (recall_at_k, {}, "Y_true has no relevant label"),
        (auc_macro, {}, "Y_true has no label with both values"),
        (auc_micro, {}, "Y_true has entries of one value only"),
        (ndcg_at_k, {"k": 0}, "k is 0"),
    ):
        with pytest.raises(ValueError, match=message):
            function(nothing, scores, **options)


def test_scorers_ask_the_decision_function():
    Y, X = data(10)
    model = RankSVM(kernel="linear", random_state=0).fit(X, Y)
    weights = np.arange(len(Y)) % 3
    f = model.decision_function(X)
    for name, function in (
        ("precision_at_5", precision_at_k),
        ("ndcg_at_5", ndcg_at_k),
        ("auc_macro", auc_macro),
        ("auc_micro", auc_micro),
        ("ranking_average_precision", measures.ranking_average_precision),
    ):
        assert measures.get_scorer(name)(model, X, Y) == function(Y, f)
        found = measures.get_scorer(name)(model, X, Y, sample_weight=weights)
        assert found == function(Y, f, sample_weight=weights)
    sets = measures.get_scorer("neg_ranking_hamming")
    expected = -measures.ranking_hamming(Y, model.predict(X), f, sample_weight=weights)
    assert sets(model, X, Y, sample_weight=weights) == expected


@pytest.mark.parametrize("function", WEIGHTED)
def test_a_weight_is_a_number_of_rows(function):
    Y, scores = data(5)
    weights = np.random.default_rng(6).integers(0, 4, size=len(Y)).astype(float)
    rows = np.repeat(np.arange(len(Y)), weights.astype(int))
    sets = function.__module__.endswith("label_sets")
    given = (scores > 0).astype(int) if sets else scores
    weighted = function(Y, given, sample_weight=weights)
    assert weighted == pytest.approx(function(Y[rows], given[rows]))
    assert weighted != function(Y, given)


def of_each_row(function, Y, given, weights):
    """The mean of a measure of single rows, in which the known labels alone are left."""
    values, counted = [], []
    for y, f, weight in zip(Y, given, weights, strict=True):
        known = ~np.isnan(y)
        if not known.any():
            continue
        options = {"zero_division": 1.0} if function.__name__ in ("jaccard", "example_f1") else {}
        if function.__module__.endswith("label_sets"):
            # Two more labels, which neither side has, so that there are two of them.
            y, f = (np.r_[part[known], 0, 0][None] for part in (y, f))
        else:
            y, f = y[known][None], f[known][None]
        with contextlib.suppress(ValueError):
            values.append(function(y, f, **options))
            counted.append(weight)
    return np.average(values, weights=counted)


def of_each_label(function, Y, given, weights):
    """The mean of a measure of single labels, of which the known rows alone are left."""
    values = []
    for y, f in zip(Y.T, given.T, strict=True):
        known = ~np.isnan(y)
        with contextlib.suppress(ValueError):
            values.append(function(y[known], f[known], sample_weight=weights[known]))
    return np.mean(values)


def of_entries(function, Y, given, weights):
    known = ~np.isnan(Y)
    repeated = np.repeat(weights[:, None], Y.shape[1], axis=1)
    return function(Y[known], given[known], sample_weight=repeated[known])


def precision_by_loops(y, scores, sample_weight):
    """Mean, over relevant entries, of the precision at their score."""
    found, total = 0.0, 0.0
    for score, relevant, weight in zip(scores, y, sample_weight, strict=True):
        if relevant and weight > 0:
            above = scores >= score
            found += weight * (sample_weight * y)[above].sum() / sample_weight[above].sum()
            total += weight
    return found / total


def precision_of_a_label(y, scores, sample_weight):
    """A label without relevant rows has none, and is left out."""
    if not ((y == 1) & (sample_weight > 0)).any():
        raise ValueError
    return precision_by_loops(y, scores, sample_weight)


def f1_of_a_label(y, given, sample_weight):
    """1 where neither the rows nor the answers have the label; none without known rows."""
    if not y.size:
        raise ValueError
    both = 2.0 * sample_weight @ (y * given)
    either = sample_weight @ (y + given)
    return both / either if either > 0 else 1.0


BY_LOOPS = {
    "hamming_loss": lambda *given: of_entries(metrics.zero_one_loss, *given),
    "macro_f1": lambda *given: of_each_label(f1_of_a_label, *given),
    "micro_f1": lambda *given: of_entries(metrics.f1_score, *given),
    "auc_macro": lambda *given: of_each_label(metrics.roc_auc_score, *given),
    "auc_micro": lambda *given: of_entries(metrics.roc_auc_score, *given),
    "macro_average_precision": lambda *given: of_each_label(precision_of_a_label, *given),
    "micro_average_precision": lambda *given: of_entries(precision_by_loops, *given),
}


@pytest.mark.parametrize("function", WEIGHTED)
def test_unknown_labels_are_left_out(function):
    """Whatever the prediction of such a label; rows and labels of which nothing is known too."""
    Y, scores = data(7)
    rng = np.random.default_rng(8)
    Y = np.where(rng.random(Y.shape) < 0.3, np.nan, Y)
    Y[4], Y[:, 3] = np.nan, np.nan
    weights = rng.integers(0, 3, size=len(Y)).astype(float)
    given = (scores > 0).astype(int) if function.__module__.endswith("label_sets") else scores
    by_loops = BY_LOOPS.get(function.__name__, partial(of_each_row, function))
    with warnings.catch_warnings():
        # A label without both values has no curve.
        warnings.simplefilter("ignore")
        for weight in (np.ones(len(Y)), weights):
            expected = by_loops(Y, given, weight)
            assert function(Y, given, sample_weight=weight) == pytest.approx(expected, abs=1e-12)
        other = np.where(np.isnan(Y), rng.permutation(given.ravel()).reshape(Y.shape), given)
        assert function(Y, other) == pytest.approx(function(Y, given), abs=1e-12)
        with pytest.raises(ValueError, match="Y_true has no known label; expected some"):
            function(np.full(Y.shape, np.nan), given)


def test_more_measures_are_those_that_are_defined():
    Y, scores = data(6)
    Y[:, 2] = 1
    curves = [0, 1, 3, 4, 5, 6]
    expected = {
        "precision_at_5": precision_at_k(Y, scores, k=5),
        "ndcg_at_5": ndcg_at_k(Y, scores, k=5),
        "auc_macro": auc_macro(Y[:, curves], scores[:, curves]),
        "auc_micro": auc_micro(Y, scores),
        "macro_average_precision": BY_LOOPS["macro_average_precision"](Y, scores, np.ones(len(Y))),
        "micro_average_precision": BY_LOOPS["micro_average_precision"](Y, scores, np.ones(len(Y))),
    }
    expected = pytest.approx(expected, abs=1e-12)
    assert measures.more_measures(Y, scores) == expected
    assert list(measures.more_measures(np.zeros_like(Y), scores)) == ["precision_at_5"]
    with pytest.raises(ValueError, match="scores"):
        measures.more_measures(Y, scores[:, :3])


@pytest.mark.parametrize("k", [1, 2, 4, 9])
@pytest.mark.parametrize("ties", [False, True])
def test_recall_counts_the_hits_of_precision_by_the_relevant_labels(k, ties):
    Y, scores = data(ties=ties)
    Y, scores = Y[:6], scores[:6]
    each = [
        precision_at_k(y[None], f[None], k=k) * min(k, Y.shape[1]) / y.sum()
        for y, f in zip(Y, scores, strict=True)
        if y.any()
    ]
    assert recall_at_k(Y, scores, k=k) == pytest.approx(np.mean(each))
    weights = np.arange(1.0, 7.0)
    expected = np.average(each, weights=weights[Y.any(axis=1)])
    assert recall_at_k(Y, scores, k=k, sample_weight=weights) == pytest.approx(expected)


def test_propensities_are_those_of_the_formula():
    Y = np.zeros((1000, 3), dtype=int)
    Y[:10, 1], Y[:500, 2] = 1, 1
    constant = (np.log(1000) - 1) * 2.5**0.55
    expected = [1 / (1 + constant * np.exp(-0.55 * np.log(n + 1.5))) for n in (0, 10, 500)]
    np.testing.assert_allclose(label_propensities(Y), expected)
    assert np.all(np.diff(expected) > 0)
    np.testing.assert_allclose(label_propensities(Y, a=0.0), 1 / np.log(1000))


@pytest.mark.parametrize("k", [1, 3])
def test_propensity_scored_precision_by_its_definition(k):
    Y, scores = data(1)
    p = np.linspace(0.1, 1.0, Y.shape[1])
    found, best = 0.0, 0.0
    for y, f in zip(Y, scores, strict=True):
        found += sum(y[j] / p[j] for j in np.argsort(-f)[:k])
        best += sum(sorted(y / p)[::-1][:k])
    value = propensity_scored_precision_at_k(Y, scores, p, k=k)
    assert value == pytest.approx(found / best)
    assert propensity_scored_precision_at_k(Y, Y / p, p, k=k) == pytest.approx(1.0)
    with pytest.raises(ValueError, match=r"propensities have shape \(2,\); expected \(7,\)"):
        propensity_scored_precision_at_k(Y, scores, [0.5, 0.5])
    with pytest.raises(ValueError, match="values in \\(0, 1\\]"):
        propensity_scored_precision_at_k(Y, scores, p - 0.1)
