"""Races to the best tuned model on ten public data sets: `LabelRankerCV` against its peers.

    python benchmarks/race.py [--sets enron emotions ...] [--splits 5] [--cache .race]

Each peer is tuned on the same three stratified folds of the training part, for each of six measures
separately, and measured on the official test part: the value of a measure is that of the setting
which cross-validation selects for it. Cells are counted against the peers that are best on the
test part, which nobody can choose, and against the one whose held-out value is best.
`LabelRankerCV` takes part with one fit at its defaults, with stack="full", and as the ranker alone,
stack=None (macro-F1 from a fit with threshold="macro").

Peers: one-vs-rest `LogisticRegression` (liblinear), `LinearSVC` and, on dense features, `SVC` on
one kernel matrix for all labels (rbf and Laplacian), random forests and extra trees, each plain and
with balanced weights (forests on text plain only); chains of logistic regressions (200 labels at
most), nearest neighbours, a multi-layer perceptron; on dense features kernel ridge regressions
(Laplacian) and one-vs-rest gradient boosting, that of scikit-learn, and LightGBM and CatBoost where
installed. Each takes part as it is,
with one cut of its scores chosen by F1 on the held-out rows ("cut"), calibrated as
`CalibratedClassifier` does, and each label by itself as scikit-learn's `CalibratedClassifierCV`
does, by a sigmoid. Rows of text have unit length; other features are scaled to [0, 1]. To keep the
race short, random subsets of the training rows of some sets take part (`ROWS`).

With ``--splits N`` N random splits of the same sizes replace the official one, and sign tests over
sets and splits compare the default with the ranker alone and with the stack without the ranker.

Seconds are those of this process's processor, one thread on both sides: all fits and predictions of
the folds, and the fit on all training rows. Scores of peers are kept in a folder; what is there is
not computed again.
"""

import argparse
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from scipy.stats import binomtest
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.frozen import FrozenEstimator
from sklearn.preprocessing import MinMaxScaler, normalize
from threadpoolctl import threadpool_limits

from common import DATA, in_short_indices, load_official, print_table
from multimargin import CalibratedClassifier, LabelRankerCV
from multimargin.calibration.calibrated import calibrate
from multimargin.calibration.held_out import HeldOut
from multimargin.datasets import load_debian_tags
from multimargin.measures import MEASURES as REGISTRY
from multimargin.measures import MORE_MEASURES
from multimargin.measures.label_scores import response_of, scores_by
from multimargin.thresholds import F1Threshold, ShrunkenThreshold
from multimargin.tuning import MultilabelStratifiedKFold
from race_peers import Peer, peers

NAMES = (
    "ranking_loss",
    "ranking_average_precision",
    "one_error",
    "precision_at_5",
    "micro_f1",
    "macro_f1",
)
MEASURES = {name: (REGISTRY | MORE_MEASURES)[name] for name in NAMES}
SIGNS = np.array([1.0 if measure.larger_is_better else -1.0 for measure in MEASURES.values()])
# With fewer labels the first three count in place of the first five.
FEW = 10
FOLDS = 3
# Training rows of text that take part, where not all do.
ROWS = {"bibtex": 800, "rcv1subset1": 1500, "delicious": 400}
LINEAR = ("enron", "medical", "debian-tags", "bibtex", "rcv1subset1", "delicious")
KERNEL = ("emotions", "birds", "yeast", "scene")
NEAR = 0.005
PLATT = ", calibrated by scikit-learn"
VARIANTS = ("", ", cut", ", calibrated", PLATT)

Data = tuple[Any, Any, Any, Any]


def load(name: str, rows: int | None, split: int | None = None) -> Data:
    """Return the scaled features and labels of both parts, with at most `rows` training rows."""
    if name == "debian-tags":
        X, X_test, y, y_test = load_debian_tags().train_test()
    elif name == "rcv1subset1":
        parts = np.load(DATA / name / f"{name}.npz")
        arrays = (parts["data"].astype(np.float64), parts["indices"], parts["indptr"])
        every = sparse.csr_matrix(arrays, shape=parts["shape"])
        train, test = parts["train_idx"], parts["test_idx"]
        X, X_test, y, y_test = every[train], every[test], parts["Y"][train], parts["Y"][test]
    else:
        X, X_test, y, y_test = load_official(name).train_test()
    if split is not None:
        stack = sparse.vstack if sparse.issparse(X) else np.vstack
        every, labels = stack([X, X_test]), np.vstack([y, y_test])
        if sparse.issparse(every):
            every = every.tocsr()
        order = np.random.default_rng(split).permutation(len(labels))
        train, test = order[: len(y)], order[len(y) :]
        X, X_test, y, y_test = every[train], every[test], labels[train], labels[test]
    if name == "debian-tags":
        words = TfidfTransformer(sublinear_tf=True).fit(X)
        X, X_test = words.transform(X), words.transform(X_test)
    if name in LINEAR:
        X, X_test = normalize(X), normalize(X_test)
    else:
        scaler = MinMaxScaler().fit(X)
        X, X_test = scaler.transform(X), scaler.transform(X_test)
    y, y_test = np.asarray(y, dtype=np.int64), np.asarray(y_test, dtype=np.int64)
    if rows is not None and rows < len(y):
        chosen = np.sort(np.random.default_rng(0).permutation(len(y))[:rows])
        X, y = X[chosen], y[chosen]
    if sparse.issparse(X):
        X, X_test = in_short_indices(X), in_short_indices(X_test)
    return X, X_test, y, y_test


def values(scores: Any, sets: Callable[[str], Any], y: Any) -> Any:
    """Return all measures; `sets` gives the label sets for a kind of F1."""
    found = []
    for name, measure in MEASURES.items():
        answer = scores if measure.needs == "scores" else sets(name.removesuffix("_f1"))
        # Five of six labels are nearly all of them.
        few = {"k": 3} if name == "precision_at_5" and y.shape[1] < FEW else {}
        found.append(measure.function(y, answer, **few))
    return np.array(found)


@dataclass(frozen=True)
class Answers:
    """Scores and label sets of rows, and the processor seconds that they took."""

    scores: Any
    sets: Any
    seconds: float


def answers_of(setting: Any, X: Any, y: Any, rows: Any) -> Answers:
    """Fit, and answer for other rows."""
    start = time.process_time()
    model = clone(setting).fit(X, y)
    response = response_of(model, ("decision_function", "predict_proba"))
    scores = scores_by(model, response, rows, n_labels=y.shape[1])
    sets = np.asarray(model.predict(rows)).astype(np.int8)
    return Answers(scores, sets, time.process_time() - start)


class Cache:
    """Answers in files of a folder."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(exist_ok=True)
        self._folder = folder

    def __call__(self, key: str, compute: Callable[[], Answers]) -> Answers:
        """Return the answers of a key, computed when they are not there."""
        file = self._folder / f"{key}.npz"
        if file.is_file():
            kept = np.load(file)
            return Answers(kept["scores"], kept["sets"], float(kept["seconds"]))
        answers = compute()
        np.savez(file, **vars(answers))
        return answers


def held_out_answers(setting: Any, X: Any, y: Any, folds: Any) -> Answers:
    """Return the answers for each row by a fit without its fold."""
    parts = [answers_of(setting, X[a], y[a], X[b]) for a, b in folds]
    rows = np.concatenate([b for _, b in folds])
    scores, sets = np.empty(y.shape), np.empty(y.shape, dtype=np.int8)
    scores[rows] = np.vstack([part.scores for part in parts])
    sets[rows] = np.vstack([part.sets for part in parts])
    return Answers(scores, sets, sum(part.seconds for part in parts))


def race_of_peer(peer: Peer, data: Data, key: str, cache: Cache) -> list[dict[str, Any]]:
    """Return a peer's values as it is, with a cut, and calibrated, and its seconds."""
    X, X_test, y, y_test = data
    folds = list(MultilabelStratifiedKFold(FOLDS).split(X, y))
    fold_of = np.empty(len(y), dtype=int)
    for number, (_, b) in enumerate(folds):
        fold_of[b] = number
    held = [
        cache(f"{key}-{place}-held", lambda one=one: held_out_answers(one, X, y, folds))
        for place, one in enumerate(peer.settings)
    ]
    prepared = [_prepared(one, y, fold_of) for one in held]
    found = []
    for variant in VARIANTS:
        table = np.array([one[variant][0] for one in prepared])
        best = (table * SIGNS).argmax(axis=0)
        tests, seconds = np.empty(len(SIGNS)), []
        for place in np.unique(best):
            test = cache(
                f"{key}-{place}-test",
                lambda place=place: answers_of(peer.settings[place], X, y, X_test),
            )
            at = best == place
            tests[at] = values(*prepared[place][variant][1](test), y_test)[at]
            seconds.append(test.seconds)
        found.append(
            {
                "method": peer.name + variant,
                "values": tests,
                "held": np.take_along_axis(table, best[None], axis=0)[0],
                "seconds": sum(one.seconds for one in held) + float(np.mean(seconds)),
            }
        )
    return found


def _prepared(held: Answers, y: Any, fold_of: Any) -> dict[str, tuple[Any, Callable[..., Any]]]:
    """Return for each variant its held-out values, and what it makes of the answers of a test."""
    folds = range(fold_of.max() + 1)

    def by_folds(scores: Any, sets: Callable[[str], Any]) -> Any:
        parts = []
        for fold in folds:
            own = fold_of == fold
            parts.append(values(scores[own], lambda kind, own=own: sets(kind)[own], y[own]))
        return np.mean(parts, axis=0)

    def cut(scores: Any, macro: Any) -> Callable[[Any], Any]:
        cuts = {"micro": F1Threshold("micro").fit(scores, y), "macro": macro.fit(scores, y)}
        return lambda answered: lambda kind: cuts[kind].predict_labels(answered)

    plain = cut(held.scores, F1Threshold("macro"))
    calibrated = calibrate(HeldOut([held.scores], y, np.arange(len(y)), None, fold_of))
    of_odds = cut(calibrated.odds, ShrunkenThreshold())

    def with_odds(test: Answers) -> Any:
        odds = calibrated.calibration.decision_function(test.scores)
        return odds, of_odds(odds)

    of_others = np.empty(held.scores.shape)
    for fold in folds:
        own = fold_of == fold
        of_others[own] = sigmoids(held.scores[~own], y[~own], held.scores[own])
    of_sigmoids = cut(of_others, F1Threshold("macro"))

    def with_sigmoids(test: Answers) -> Any:
        probabilities = sigmoids(held.scores, y, test.scores)
        return probabilities, of_sigmoids(probabilities)

    return {
        "": (
            by_folds(held.scores, lambda kind: held.sets),
            lambda test: (test.scores, lambda kind: test.sets),
        ),
        ", cut": (
            by_folds(held.scores, plain(held.scores)),
            lambda test: (test.scores, plain(test.scores)),
        ),
        ", calibrated": (by_folds(calibrated.odds, of_odds(calibrated.odds)), with_odds),
        PLATT: (by_folds(of_others, of_sigmoids(of_others)), with_sigmoids),
    }


class _Column(ClassifierMixin, BaseEstimator):
    """The score of one label as a classifier that is fitted already."""

    classes_ = np.array([0, 1])

    def fit(self, X: Any, y: Any) -> "_Column":
        """Change nothing."""
        return self

    def decision_function(self, X: Any) -> Any:
        """Return the score."""
        return X[:, 0]

    def predict(self, X: Any) -> Any:
        """Return whether it is positive."""
        return (X[:, 0] > 0.0).astype(int)

    def __sklearn_is_fitted__(self) -> bool:
        return True


def sigmoids(scores: Any, y: Any, others: Any) -> Any:
    """Return probabilities of other rows by scikit-learn's calibration of each label."""
    found = np.empty(others.shape)
    for label, relevant in enumerate(y.T):
        if np.unique(relevant).size < 2 or np.bincount(relevant).min() < FOLDS:
            # Of labels with fewer rows than folds scikit-learn refuses to learn: base rates.
            found[:, label] = relevant.mean()
            continue
        model = CalibratedClassifierCV(FrozenEstimator(_Column()), cv=FOLDS, ensemble=False)
        model.fit(scores[:, [label]], relevant)
        found[:, label] = model.predict_proba(others[:, [label]])[:, 1]
    return found


def race_of_ours(data: Data, **options: Any) -> dict[str, Any]:
    """Fit `LabelRankerCV` once, and once more for macro-F1; return test values and seconds."""
    X, X_test, y, y_test = data
    start = time.process_time()
    model = LabelRankerCV(random_state=0, **options).fit(X, y)
    seconds = time.process_time() - start
    macro = LabelRankerCV(random_state=0, threshold="macro", **options).fit(X, y)
    sets = {"micro": model, "macro": macro}
    found = values(model.label_scores(X_test), lambda kind: sets[kind].predict(X_test), y_test)
    return {"values": found, "seconds": seconds, "model": model}


def without_the_ranker(model: LabelRankerCV, data: Data) -> Any:
    """Return the values of the blocks of a stack without its ranker."""
    X, X_test, y, y_test = data
    views, last = model.best_estimator_
    X, X_test = views.transform(X), views.transform(X_test)
    blocks = last.estimator[1:]
    micro, macro = (
        CalibratedClassifier(blocks, threshold=kind, lift=last.lift).fit(X, y)
        for kind in ("micro", "macro")
    )
    sets = {"micro": micro, "macro": macro}
    return values(micro.label_scores(X_test), lambda kind: sets[kind].predict(X_test), y_test)


STACKS: dict[str, dict[str, Any]] = {
    "LabelRankerCV": {},
    'LabelRankerCV(stack="full")': {"stack": "full"},
    "LabelRankerCV(stack=None)": {"stack": None},
}
# The peer that whoever has no test rows would take.
BY_FOLDS = "that folds choose"
Raced = dict[str, tuple[list[dict[str, Any]], list[dict[str, Any]]]]


def official(name: str, cache: Cache) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return what we and the peers reach on the official split of a set."""
    data = load(name, ROWS.get(name))
    ours = [{"method": method, **race_of_ours(data, **o)} for method, o in STACKS.items()]
    theirs = []
    for peer in peers(data[0], data[2]):
        key = f"{name}-official-{peer.name}".replace(" ", "")
        theirs += race_of_peer(peer, data, key, cache)
    for one in (*ours, *theirs):
        shown = " ".join(f"{value:.4f}" for value in one["values"])
        print(f"{name} {one['method']}: {shown}, {one['seconds']:.1f} s", flush=True)
    return ours, theirs


def rival(theirs: list[dict[str, Any]], place: int, variants: tuple[str, ...]) -> dict[str, Any]:
    """Return the best peer of a measure among some variants."""
    taking = [one for one in theirs if _variant(one["method"]) in variants]
    return max(taking, key=lambda one: SIGNS[place] * one["values"][place])


def chosen_by_folds(theirs: list[dict[str, Any]], place: int) -> dict[str, Any]:
    """Return the peer that is best in a measure on held-out rows of the training part."""
    return max(theirs, key=lambda one: SIGNS[place] * one["held"][place])


def _variant(method: str) -> str:
    return next((v for v in VARIANTS if v and method.endswith(v)), "")


def print_tables(results: Raced) -> None:
    """Print the best peer of each cell, and who wins how many cells."""
    kinds = {
        "as they are": VARIANTS[:1],
        "and cut": VARIANTS[:2],
        "and calibrated": VARIANTS[:3],
        "all": VARIANTS,
    }
    for method in STACKS:
        rows, counts = [], {kind: np.zeros(2, dtype=int) for kind in (*kinds, BY_FOLDS)}
        # Of each set, the measures in which ours is ahead less those in which it is behind.
        leads: dict[str, list[float]] = {kind: [] for kind in counts}
        for name, (ours, theirs) in results.items():
            mine = next(one for one in ours if one["method"] == method)
            row = [name]
            for kind in counts:
                leads[kind].append(0.0)
            for place in range(len(SIGNS)):
                rivals = {BY_FOLDS: chosen_by_folds(theirs, place)}
                rivals |= {kind: rival(theirs, place, of) for kind, of in kinds.items()}
                for kind, best in rivals.items():
                    value = best["values"][place]
                    ahead = SIGNS[place] * (mine["values"][place] - value)
                    counts[kind] += ahead > 0, ahead >= -NEAR * abs(value)
                    leads[kind][-1] += np.sign(ahead)
                mark = "**" if ahead > 0 else "*" if ahead >= -NEAR * abs(value) else ""
                row.append(f"{mine['values'][place]:.4f}{mark} / {value:.4f} {best['method']}")
            took = [one["seconds"] for one in theirs]
            rows.append([*row, f"{mine['seconds']:.1f} / {min(took):.1f} to {max(took):.1f}"])
        title = f"{method} / best peer of all (** best, * within 0.5 % of the best)"
        print_table(title, ["set", *MEASURES, "s"], rows)
        cells = len(results) * len(SIGNS)
        for kind, (best_in, near) in counts.items():
            won, lost = (int(np.sum(sign * np.array(leads[kind]) > 0)) for sign in (1, -1))
            p = binomtest(won, won + lost).pvalue if won + lost else 1.0
            print(
                f"peers {kind}: best in {best_in}, near in {near} of {cells} cells; ahead on more "
                f"measures than behind on {won} sets, the reverse on {lost}, sign test p = {p:.2g}"
            )
    seconds = np.array([[one["seconds"] for one in ours] for ours, _ in results.values()])
    price = np.exp(np.mean(np.log(seconds / seconds[:, -1:]), axis=0))
    shown = ", ".join(f"{method} {ratio:.2f}" for method, ratio in zip(STACKS, price, strict=True))
    print(f"seconds over those of the ranker alone, geometric mean: {shown}")


def sign_tests(sets: list[str], splits: int) -> None:
    """Print gains of the default over the ranker alone and the stack without it, by sign tests."""
    gains: dict[str, list[Any]] = {"the ranker alone": [], "the stack without the ranker": []}
    for name in sets:
        for split in range(splits):
            data = load(name, ROWS.get(name), split)
            stacked = race_of_ours(data)
            alone = race_of_ours(data, stack=None)["values"]
            for other, (named, found) in zip(
                (alone, without_the_ranker(stacked["model"], data)), gains.items(), strict=True
            ):
                gain = SIGNS * (stacked["values"] - other) / np.abs(other)
                found.append(gain)
                shown = " ".join(f"{100 * g:+.1f}" for g in gain)
                print(f"{name} {split}: {shown} % over {named}", flush=True)
    for named, found in gains.items():
        rows = []
        for place, measure in enumerate(MEASURES):
            column = np.array(found)[:, place]
            won, lost = int((column > 0).sum()), int((column < 0).sum())
            p = binomtest(won, won + lost).pvalue if won + lost else 1.0
            rows.append([measure, f"{100 * column.mean():+.2f} %", f"{won}-{lost}", f"{p:.2g}"])
        print_table(f"LabelRankerCV over {named}", ["measure", "gain", "won-lost", "p"], rows)


def main() -> None:
    """Run and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", nargs="*", default=[*LINEAR, *KERNEL])
    parser.add_argument("--splits", type=int, default=0)
    parser.add_argument("--cache", type=Path, default=Path(".race"))
    chosen = parser.parse_args()
    unknown = set(chosen.sets) - {*LINEAR, *KERNEL}
    if unknown:
        parser.error(f"no set {', '.join(sorted(unknown))}; expected of {(*LINEAR, *KERNEL)}")
    warnings.simplefilter("ignore")
    with threadpool_limits(1):
        if chosen.splits:
            sign_tests(chosen.sets, chosen.splits)
        else:
            cache = Cache(chosen.cache)
            print_tables({name: official(name, cache) for name in chosen.sets})


if __name__ == "__main__":
    main()
