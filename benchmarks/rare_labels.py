"""Rare labels, most rows with none: `LabelRankerCV` beside balanced logistic regressions.

    python benchmarks/rare_labels.py [--sets depends tags ...] [--seeds 30 31 32]

A problem is a draw of rows and of 3 to 8 labels, each of 0.5 to 4 % of the rows, of a public set in
../shared/data; 80 to 96 % of the rows have none of them. "-v" are vectors of a set's texts by
`StaticEmbedding`. The peer is a one-vs-rest `LogisticRegression` with balanced weights, calibrated,
with the same two thresholds; of two C the better on the test rows counts, for each measure. Printed
are means over the problems, and how many the default wins.
"""

import argparse
import sys
import warnings
from collections import Counter
from functools import cache
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier
from sklearn.preprocessing import normalize
from threadpoolctl import threadpool_limits

from common import in_short_indices, packages, print_table, programs
from multimargin import CalibratedClassifier, LabelRankerCV
from multimargin.measures import auc_macro, macro_average_precision, macro_f1, micro_f1
from race import Data, load

TEXTS = {"depends": lambda: packages("debian-depends"), "tags": programs}
ROWS = {
    "depends": (2000, 3000, 6000),
    "tags": (2500,),
    "bibtex": (1500, 3000),
    "enron": (851,),
    "medical": (489,),
    "rcv1subset1": (3000,),
    "delicious": (1500, 3000),
}
NAMES = (*ROWS, "depends-v", "tags-v")
MOST_TESTED, MOST_LABELS = 6000, 400
THRESHOLDS = ("micro", "macro")
MEASURES = ("macro AP", "AUC", "micro-F1", "macro-F1", 'macro-F1, "macro"')


@cache
def texts_of(name: str) -> tuple[list[str], Any]:
    """Return the texts of a set, and the indicator of its frequent labels."""
    rows, of = TEXTS[name](), "depends" if name == "depends" else "tags"
    counts = Counter(label for row in rows for label in row[of])
    places = {label: k for k, (label, _) in enumerate(counts.most_common(MOST_LABELS))}
    y = np.zeros((len(rows), len(places)), dtype=np.int64)
    for at, row in enumerate(rows):
        y[at, [places[label] for label in row[of] if label in places]] = 1
    return [row["text"] for row in rows], y


@cache
def matrices_of(name: str) -> tuple[Any, Any]:
    """Return the rows of a set, of unit length, and their labels."""
    X, X_test, y, y_test = load(name, None)
    return normalize(sparse.vstack([X, X_test]).tocsr()), np.vstack([y, y_test])


def rare_labels(y: Any, random: np.random.Generator) -> Any:
    """Draw labels that few rows have."""
    shares, size = y.mean(axis=0), random.integers(3, 9)
    low, high = (0.005, 0.03) if len(y) > 3000 else (0.01, 0.04)
    known = np.flatnonzero((shares > low) & (shares < high))
    while True:
        chosen = random.choice(known, min(size, known.size), replace=False)
        if 0.8 <= 1.0 - y[:, chosen].any(axis=1).mean() <= 0.96:
            return chosen


def problem(name: str, seed: int) -> Data:
    """Draw the rows and labels of both parts."""
    base = name.removesuffix("-v")
    random = np.random.default_rng([seed, *name.encode()])
    X, y = (texts_of if base in TEXTS else matrices_of)(base)
    n = int(random.choice(ROWS[base]))
    order = random.permutation(len(y))[: n + MOST_TESTED]
    y = y[order]
    y = y[:, rare_labels(y, random)]
    y = y[:, (y[:n].sum(axis=0) >= 3) & y[n:].any(axis=0)]
    if base not in TEXTS:
        X = X[order]
    elif name == base:
        texts = [X[k] for k in order]
        X = TfidfVectorizer(sublinear_tf=True, min_df=2).fit(texts[:n]).transform(texts)
    else:
        from multimargin.embeddings import StaticEmbedding

        X = StaticEmbedding().fit_transform([X[k] for k in order]).astype(float)
    X = in_short_indices(X) if sparse.issparse(X) else X
    return X[:n], X[n:], y[:n], y[n:]


def values(models: list[Any], data: Data) -> Any:
    """Return the measures of models with both thresholds on the test rows."""
    X, X_test, y, y_test = data
    scores = models[0].fit(X, y).label_scores(X_test)
    micro, macro = models[0].predict(X_test), models[1].fit(X, y).predict(X_test)
    return np.array(
        [
            macro_average_precision(y_test, scores),
            auc_macro(y_test, scores),
            micro_f1(y_test, micro),
            macro_f1(y_test, micro),
            macro_f1(y_test, macro),
        ]
    )


def peer(C: float) -> Any:
    """Return balanced logistic regressions."""
    return OneVsRestClassifier(LogisticRegression(C=C, solver="liblinear", class_weight="balanced"))


def main() -> None:
    """Print a table of means."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", nargs="+", choices=NAMES, default=list(NAMES))
    parser.add_argument("--seeds", nargs="+", type=int, default=[30, 31, 32])
    chosen = parser.parse_args()
    warnings.simplefilter("ignore")
    found = []
    with threadpool_limits(1):
        for seed in chosen.seeds:
            for name in chosen.sets:
                data = problem(name, seed)
                ours = values(
                    [LabelRankerCV(threshold=t, random_state=0) for t in THRESHOLDS], data
                )
                theirs = [
                    values([CalibratedClassifier(peer(C), t) for t in THRESHOLDS], data)
                    for C in (1.0, 10.0)
                ]
                found.append((ours, np.max(theirs, axis=0)))
                print(name, seed, *found[-1], file=sys.stderr, flush=True)
    ours, theirs = np.array(found).transpose(1, 0, 2)
    rows = [
        [name, *(f"{value:.4f}" for value in one.mean(axis=0))]
        for name, one in (("LabelRankerCV", ours), ("balanced logistic regression", theirs))
    ]
    wins = [f"{(gain > 0).sum()} of {gain.size}" for gain in (ours - theirs).T]
    print_table(f"{len(found)} problems", ["", *MEASURES], [*rows, ["better on", *wins]])


if __name__ == "__main__":
    main()
