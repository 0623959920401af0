"""Races to the best tuned model on ten public data sets: `LabelRankerCV` against its peers.

    python benchmarks/race.py [--sets enron emotions ...] [--results race.jsonl]

Everybody is tuned on the same three stratified folds of the training part, for each of six measures
by itself, and measured on the official test part: the value of a measure is that of the model which
cross-validation chose *for it*. A cell is won where a side is within 0.5 % of the best of both, and
strictly where it is the best. Seconds are those of this process's processor, one thread on both
sides: all fits and predictions of the folds, and the fit on all training rows.

Peers: one-vs-rest `LogisticRegression` (liblinear) and `LinearSVC`, and on dense features `SVC`,
whose kernel matrix is computed once for all labels, each plain and with class_weight="balanced";
chains of logistic regressions (200 labels at most), nearest neighbours, and on yeast gradient
boosted trees, if lightgbm is installed (``pip install lightgbm``). They rank by their decision
function, or probabilities, and predict what they predict. Rows of text have unit length; other
features are scaled to [0, 1]. To keep the race short, random subsets of the training rows of some
sets take part (`ROWS`).

Each result is one JSON line in the file of results; what is there is not computed again.
"""

import argparse
import json
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, clone
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.multiclass import OneVsRestClassifier
from sklearn.multioutput import ClassifierChain
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import MinMaxScaler, normalize
from sklearn.svm import SVC, LinearSVC
from threadpoolctl import threadpool_limits

from common import DATA, load_official, print_table
from multimargin import LabelRankerCV
from multimargin.baselines import WithOneClassLabels
from multimargin.datasets import load_debian_tags
from multimargin.kernels import make_kernel
from multimargin.measures import MEASURES as REGISTRY
from multimargin.measures import MORE_MEASURES, get_scorer
from multimargin.measures.label_scores import response_of, scores_by
from multimargin.tuning import MultilabelStratifiedKFold

NAMES = (
    "ranking_loss",
    "average_precision",
    "one_error",
    "precision_at_5",
    "micro_f1",
    "macro_f1",
)
MEASURES = {name: (REGISTRY | MORE_MEASURES)[name] for name in NAMES}
FOLDS = 3
# Training rows of text that take part, where not all do.
ROWS = {"bibtex": 800, "rcv1subset1": 1500, "delicious": 400}
LINEAR = ("enron", "medical", "debian-tags", "bibtex", "rcv1subset1", "delicious")
KERNEL = ("emotions", "birds", "yeast", "scene")
MOST_LINKS = 200
NEAR = 0.005


class KernelOnce(BaseEstimator):
    """One-vs-rest SVC on a kernel matrix that all labels share."""

    def __init__(self, gamma: float = 1.0, C: float = 1.0, class_weight: str | None = None) -> None:
        self.gamma, self.C, self.class_weight = gamma, C, class_weight

    def fit(self, X: Any, y: Any) -> "KernelOnce":
        """Fit all labels."""
        self.rows_ = X
        svc = SVC(C=self.C, kernel="precomputed", class_weight=self.class_weight)
        inner = WithOneClassLabels(OneVsRestClassifier(svc))
        self.model_ = inner.fit(rbf_kernel(X, X, gamma=self.gamma), y)
        return self

    def decision_function(self, X: Any) -> Any:
        """Return the scores."""
        return self.model_.decision_function(rbf_kernel(X, self.rows_, gamma=self.gamma))

    def predict(self, X: Any) -> Any:
        """Return the labels with a positive score."""
        return (self.decision_function(X) > 0.0).astype(int)


@dataclass(frozen=True)
class Peer:
    """A method of others: its name and the settings to choose among."""

    name: str
    settings: list[Any]


def peers(name: str, X: Any, y: Any) -> list[Peer]:
    """Return who takes part on a data set."""
    found = []
    for weight in (None, "balanced"):
        tail = "" if weight is None else ", balanced"
        logistic = [
            LogisticRegression(C=C, class_weight=weight, solver="liblinear")
            for C in (0.3, 1.0, 3.0, 10.0, 30.0)
        ]
        svc = [
            LinearSVC(C=C, class_weight=weight, random_state=0) for C in (0.03, 0.1, 0.3, 1.0, 3.0)
        ]
        found.append(Peer(f"LogisticRegression{tail}", [_one_vs_rest(one) for one in logistic]))
        found.append(Peer(f"LinearSVC{tail}", [_one_vs_rest(one) for one in svc]))
        if name in KERNEL:
            scale = make_kernel("rbf", X, gamma="scale", degree=3, coef0=0.0).gamma
            grid = [
                KernelOnce(width * scale, C, weight)
                for width in (0.25, 1.0, 4.0)
                for C in (0.3, 1.0, 3.0, 10.0, 30.0)
            ]
            found.append(Peer(f"SVC{tail}", grid))
    if y.shape[1] <= MOST_LINKS:
        chains = [
            ClassifierChain(
                LogisticRegression(C=C, solver="liblinear"), order="random", random_state=0
            )
            for C in (0.3, 3.0, 30.0)
        ]
        found.append(Peer("ClassifierChain", [WithOneClassLabels(one) for one in chains]))
    neighbours = [KNeighborsClassifier(k, weights="distance") for k in (5, 10, 20, 40)]
    found.append(Peer("KNeighborsClassifier", neighbours))
    if name == "yeast":
        try:
            from lightgbm import LGBMClassifier
        except ImportError:
            print("lightgbm is not installed: no gradient boosted trees", flush=True)
        else:
            trees = [
                LGBMClassifier(n_estimators=n, num_leaves=leaves, n_jobs=1, verbose=-1)
                for n in (50, 150)
                for leaves in (7, 31)
            ]
            found.append(Peer("LGBMClassifier", [_one_vs_rest(one) for one in trees]))
    return found


def _one_vs_rest(classifier: Any) -> Any:
    return WithOneClassLabels(OneVsRestClassifier(classifier))


def load(name: str, rows: int | None) -> tuple[Any, Any, Any, Any]:
    """Return the scaled features and labels of both parts, with at most `rows` training rows."""
    if name == "debian-tags":
        X, X_test, y, y_test = load_debian_tags().train_test()
        words = TfidfTransformer(sublinear_tf=True).fit(X)
        X, X_test = words.transform(X), words.transform(X_test)
    elif name == "rcv1subset1":
        parts = np.load(DATA / name / f"{name}.npz")
        arrays = (parts["data"].astype(np.float64), parts["indices"], parts["indptr"])
        every = sparse.csr_matrix(arrays, shape=parts["shape"])
        train, test = parts["train_idx"], parts["test_idx"]
        X, X_test, y, y_test = every[train], every[test], parts["Y"][train], parts["Y"][test]
    else:
        X, X_test, y, y_test = load_official(name).train_test()
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
        # liblinear takes 32-bit indices only.
        for part in (X, X_test):
            part.indices, part.indptr = (
                part.indices.astype(np.int32),
                part.indptr.astype(np.int32),
            )
    return X, X_test, y, y_test


def values(model: Any, X: Any, y: Any) -> list[float]:
    """Return all measures of a fitted model."""
    response = response_of(model, ("decision_function", "predict_proba"))
    scores = scores_by(model, response, X, n_labels=y.shape[1])
    sets = np.asarray(model.predict(X)).astype(int)
    return [
        float(measure.function(y, scores if measure.needs == "scores" else sets))
        for measure in MEASURES.values()
    ]


def race_of_peer(peer: Peer, data: tuple[Any, Any, Any, Any]) -> dict[str, Any]:
    """Choose for each measure among a peer's settings; return test values and seconds."""
    X, X_test, y, y_test = data
    start = time.process_time()
    table = np.array(
        [
            np.mean(
                [
                    values(clone(setting).fit(X[a], y[a]), X[b], y[b])
                    for a, b in MultilabelStratifiedKFold(FOLDS).split(X, y)
                ],
                axis=0,
            )
            for setting in peer.settings
        ]
    )
    seconds = time.process_time() - start
    signs = [1.0 if measure.larger_is_better else -1.0 for measure in MEASURES.values()]
    best = (table * signs).argmax(axis=0)
    found = {}
    for place in set(best.tolist()):
        start = time.process_time()
        model = clone(peer.settings[place]).fit(X, y)
        fitted = time.process_time() - start
        found[place] = values(model, X_test, y_test), fitted
    return {
        "values": [found[place][0][measure] for measure, place in enumerate(best)],
        "settings": [" ".join(repr(peer.settings[place]).split()) for place in best],
        "seconds": seconds + float(np.mean([fitted for _, fitted in found.values()])),
    }


def race_of_ours(data: tuple[Any, Any, Any, Any]) -> dict[str, Any]:
    """Fit `LabelRankerCV` for each measure; return test values and the seconds of one fit."""
    X, X_test, y, y_test = data
    found, settings, seconds = [], [], []
    for place, (name, measure) in enumerate(MEASURES.items()):
        start = time.process_time()
        scorer = get_scorer(name if measure.larger_is_better else f"neg_{name}")
        threshold = "macro" if name == "macro_f1" else "micro"
        model = LabelRankerCV(scoring=scorer, threshold=threshold, random_state=0).fit(X, y)
        seconds.append(time.process_time() - start)
        found.append(values(model, X_test, y_test)[place])
        settings.append(str({k: v for k, v in model.best_params_.items() if v is not None}))
    return {"values": found, "settings": settings, "seconds": float(np.mean(seconds))}


def results(file: Path, sets: list[str]) -> Iterator[dict[str, Any]]:
    """Yield every result, from the file or, added to it, from a race."""
    known = {}
    if file.is_file():
        for line in file.read_text().splitlines():
            result = json.loads(line)
            known[result["set"], result["method"]] = result
    for name in sets:
        data = load(name, ROWS.get(name))
        contestants: list[tuple[str, Callable[[], dict[str, Any]]]] = [
            ("LabelRankerCV", lambda data=data: race_of_ours(data)),
            *(
                (peer.name, lambda peer=peer, data=data: race_of_peer(peer, data))
                for peer in peers(name, data[0], data[2])
            ),
        ]
        for method, run in contestants:
            if (name, method) not in known:
                result = {"set": name, "method": method, **run()}
                with file.open("a") as stream:
                    stream.write(json.dumps(result) + "\n")
                known[name, method] = result
            yield known[name, method]


def print_tables(found: list[dict[str, Any]]) -> None:
    """Print all values, the best peer of each cell, and who wins how many cells."""
    rows = [
        [r["set"], r["method"], *(f"{v:.4f}" for v in r["values"]), f"{r['seconds']:.1f}"]
        for r in found
    ]
    header = ["set", "method", *MEASURES, "s"]
    print_table("Test values of what cross-validation chose for each measure", header, rows)
    near = strictly = cells = 0
    rows = []
    for name in dict.fromkeys(r["set"] for r in found):
        ours = next(r for r in found if r["set"] == name and r["method"] == "LabelRankerCV")
        others = [r for r in found if r["set"] == name and r is not ours]
        row = [name]
        for place, measure in enumerate(MEASURES.values()):
            sign = 1.0 if measure.larger_is_better else -1.0
            rival = max(others, key=lambda r, sign=sign, place=place: sign * r["values"][place])
            mine, theirs = ours["values"][place], rival["values"][place]
            ahead = sign * (mine - theirs)
            cells += 1
            strictly += ahead > 0
            near += ahead >= -NEAR * abs(theirs)
            mark = "**" if ahead > 0 else "*" if ahead >= -NEAR * abs(theirs) else ""
            row.append(f"{mine:.4f}{mark} / {theirs:.4f} {rival['method']}")
        rows.append(row)
    title = "LabelRankerCV / best peer (** best, * within 0.5 % of the best)"
    print_table(title, ["set", *MEASURES], rows)
    print(f"best or within 0.5 % of the best in {near} of {cells} cells, best in {strictly}")


def main() -> None:
    """Run and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", nargs="*", default=[*LINEAR, *KERNEL])
    parser.add_argument("--results", type=Path, default=Path("race.jsonl"))
    chosen = parser.parse_args()
    unknown = set(chosen.sets) - {*LINEAR, *KERNEL}
    if unknown:
        parser.error(f"no set {', '.join(sorted(unknown))}; expected of {(*LINEAR, *KERNEL)}")
    warnings.simplefilter("ignore")
    found = []
    with threadpool_limits(1):
        for one in results(chosen.results, chosen.sets):
            found.append(one)
            shown = " ".join(f"{value:.4f}" for value in one["values"])
            print(f"{one['set']} {one['method']}: {shown}, {one['seconds']:.1f} s", flush=True)
    print_tables(found)


if __name__ == "__main__":
    main()
