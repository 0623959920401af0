"""The race of the demonstration, on results that are made up or made by hand."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.multiclass import OneVsRestClassifier
from sklearn.svm import SVC

from multimargin.cli.demonstration.race import GAMMA, Outcome, RbfKernel, Result
from multimargin.cli.demonstration.words import best_of, listed, ranked_tags, summary
from multimargin.datasets import MultilabelData
from multimargin.measures import MEASURES


def result(C: float, **measures: float) -> Result:
    """A result that has 0.5 in every measure that is not given."""
    return Result(C, None, 0.25, dict.fromkeys(MEASURES, 0.5) | measures)


def outcome(ours: bool, ranks: Result, chooses: Result) -> Outcome:
    curve = {
        "C": np.array([ranks.C, chooses.C]),
        "ranking_loss": np.array([r.measures["ranking_loss"] for r in (ranks, chooses)]),
        "micro_f1": np.array([r.measures["micro_f1"] for r in (ranks, chooses)]),
    }
    return Outcome(ours, {"ranking_loss": ranks, "micro_f1": chooses}, curve, 1.0)


OWN = result(4.0, ranking_loss=0.06, micro_f1=0.6, one_error=0.3)
OUTCOMES = {
    "ours": outcome(True, OWN, OWN),
    "theirs": outcome(
        False,
        result(0.5, ranking_loss=0.08, micro_f1=0.4, one_error=0.2),
        result(9.0, ranking_loss=0.12, micro_f1=0.7),
    ),
}


def test_sentences_say_what_the_numbers_say() -> None:
    orders, both, behind, times = summary(OUTCOMES)
    assert orders == (
        "Of 100 wrong orders that one-vs-rest makes at its best (theirs), ours makes 75."
    )
    assert "theirs ranks best at C = 0.5 (ranking loss 0.080, micro F1 0.400)" in both
    assert "chooses best at C = 9 (ranking loss 0.120, micro F1 0.700)" in both
    assert "ours at C = 4 does both (ranking loss 0.060, micro F1 0.600)" in both
    assert both.endswith("the theirs that chooses best makes, it makes 50.")
    assert behind == (
        "ours is behind the best one-vs-rest in one-error (0.300 against 0.200) and micro F1 "
        "(0.600 against 0.700)."
    )
    assert times.startswith("One fit takes ours 0.25 s and theirs 0.25 s")


def test_who_is_best_follows_the_direction_of_the_measure() -> None:
    assert best_of(OUTCOMES, "ranking_loss") == "ours"
    assert best_of(OUTCOMES, "micro_f1") == "theirs"


@pytest.mark.parametrize(
    ("items", "text"), [(["a"], "a"), (["a", "b"], "a and b"), (["a", "b", "c"], "a, b and c")]
)
def test_listed(items: list[str], text: str) -> None:
    assert listed(items) == text


def test_one_vs_rest_on_the_kernel_is_one_vs_rest_with_the_kernel() -> None:
    rng = np.random.default_rng(0)
    X, Y = rng.random((40, 3)), rng.integers(0, 2, (40, 2))
    kernel = RbfKernel().fit(X)
    on = OneVsRestClassifier(SVC(kernel="precomputed")).fit(kernel.transform(X), Y)
    direct = OneVsRestClassifier(SVC(gamma=GAMMA)).fit(X, Y)
    new = rng.random((7, 3))
    assert_allclose(
        on.decision_function(kernel.transform(new)), direct.decision_function(new), atol=1e-6
    )


def test_tags_are_ranked_by_their_scores() -> None:
    class Model:
        def decision_function(self, X: np.ndarray) -> np.ndarray:
            assert_array_equal(X, [[1.0]])
            return np.array([[-0.5, 2.0, 1.0]])

    data = MultilabelData(
        [[0.0], [1.0]],
        [[1, 1, 1], [1, 1, 0]],
        label_names=("a", "b", "c"),
        sample_names=("zero", "one"),
        splits={"train": [0], "test": [1]},
    )
    assert ranked_tags(data, Model(), ("one", "zero", "neither")) == {
        "one": [("b", True, True), ("c", True, False), ("a", False, True)]
    }


def test_nobody_is_better() -> None:
    best = result(1.0, **{name: float(m.larger_is_better) for name, m in MEASURES.items()})
    behind = summary({"ours": outcome(True, best, best), "theirs": OUTCOMES["theirs"]})[2]
    assert behind == "ours is behind the best one-vs-rest in no measure."
