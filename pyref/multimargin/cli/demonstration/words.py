"""What came out of the race, in sentences that are made from the numbers."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from multimargin.cli.demonstration.race import CRITERIA, Outcome, Result, ours, theirs
from multimargin.datasets import MultilabelData
from multimargin.measures import MEASURES

# Programs of the test part that many people know.
PROGRAMS = ("wget", "rawtherapee", "stellarium", "picard", "tshark", "nano")


def problem(data: MultilabelData) -> str:
    """Say what the data of the demonstration are and what is asked."""
    train, test = (len(data.splits[name]) for name in ("train", "test"))
    return (
        f"{data.n_samples} programs of Debian, each with some of {data.n_labels} tags that people "
        f"gave it ({data.Y.sum(axis=1).mean():.1f} on average), such as use::editing. From the "
        f"words of the descriptions of {train} programs, learn to rank and to choose the tags of "
        f"the other {test}. Ranking loss is the share of wrong orders: take a tag that a program "
        "has and one that it does not have; how often does the wrong one score higher?"
    )


def summary(outcomes: Mapping[str, Outcome]) -> list[str]:
    """Say who wins what, and what that means, in one sentence or two a finding.

    Wrong orders, ranking against choosing, what is lost, time.
    """
    name = best_of(ours(outcomes), "ranking_loss")
    own = outcomes[name].best["ranking_loss"]
    ranker = best_of(theirs(outcomes), "ranking_loss")
    found = [
        f"Of 100 wrong orders that one-vs-rest makes at its best ({ranker}), {name} makes "
        f"{_per_100(own, outcomes[ranker].best['ranking_loss'])}."
    ]
    chooser = best_of(theirs(outcomes), "micro_f1")
    ranks, chooses = (outcomes[chooser].best[criterion] for criterion in CRITERIA)
    if ranks.C != chooses.C:
        found.append(
            f"One-vs-rest either ranks or chooses: {chooser} ranks best at C = {ranks.C:g} "
            f"({_both(ranks)}) and chooses best at C = {chooses.C:g} ({_both(chooses)}). {name} at "
            f"C = {own.C:g} does both ({_both(own)}): of 100 wrong orders that the {chooser} that "
            f"chooses best makes, it makes {_per_100(own, chooses)}."
        )
    found.append(_behind(name, outcomes))
    times = [f"{other} {o.best['ranking_loss'].seconds:.2f} s" for other, o in outcomes.items()]
    found.append(
        f"One fit takes {listed(times)}, where SVC has its kernel computed once for all tags."
    )
    return found


def best_of(outcomes: Mapping[str, Outcome], criterion: str) -> str:
    """Return the name of who was best in cross-validation by one of `CRITERIA`."""
    sign = 1.0 if MEASURES[criterion].larger_is_better else -1.0
    return max(outcomes, key=lambda name: float((sign * outcomes[name].curve[criterion]).max()))


def _per_100(own: Result, other: Result) -> str:
    return f"{100.0 * own.measures['ranking_loss'] / other.measures['ranking_loss']:.0f}"


def _both(result: Result) -> str:
    found = result.measures
    return f"ranking loss {found['ranking_loss']:.3f}, micro F1 {found['micro_f1']:.3f}"


def _behind(name: str, outcomes: Mapping[str, Outcome]) -> str:
    """Say in which measures some one-vs-rest is better, whatever it was tuned for."""
    own = outcomes[name].best["ranking_loss"].measures
    rivals = [result.measures for o in theirs(outcomes).values() for result in o.best.values()]
    worse = []
    for key, measure in MEASURES.items():
        best = (max if measure.larger_is_better else min)(rival[key] for rival in rivals)
        if best != own[key] and (best > own[key]) == measure.larger_is_better:
            worse.append(f"{plain(key)} ({own[key]:.3f} against {best:.3f})")
    if not worse:
        return f"{name} is behind the best one-vs-rest in no measure."
    return f"{name} is behind the best one-vs-rest in {listed(worse)}."


def plain(measure: str) -> str:
    """Return the name of a key of `MEASURES` as one says it, such as "micro F1"."""
    title, comma, kind = MEASURES[measure].title.partition(", ")
    return f"{kind} {title}" if comma else title


def listed(items: Sequence[str]) -> str:
    """Write an enumeration with commas, and "and" before the last."""
    return ", ".join(items[:-1]) + (" and " if len(items) > 1 else "") + items[-1]


def ranked_tags(
    data: MultilabelData, model: Any, programs: Iterable[str] = PROGRAMS
) -> dict[str, list[tuple[str, bool, bool]]]:
    """Rank the tags of those of the programs that are in the test part, the best first.

    Each comes with whether it is predicted, and whether people gave it.
    """
    test = {data.sample_names[row]: row for row in data.splits["test"] if data.sample_names}
    found = {}
    for program in programs:
        if program not in test:
            continue
        row = test[program]
        scores = model.decision_function(data.X[[row]])[0]
        found[program] = [
            (data.label_names[k], bool(scores[k] > 0), bool(data.Y[row, k]))
            for k in np.argsort(-scores, kind="stable")
        ]
    return found
