"""Seconds and memory of large fits, each in a process of its own, and of one-vs-rest SVMs beside.

    python benchmarks/large.py [CASE ...]

The peers fit a few of the labels, and their seconds are multiplied: one-vs-rest SVMs know no more
than one label at a time.
"""

import json
import resource
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.preprocessing import normalize
from sklearn.svm import SVC, LinearSVC
from threadpoolctl import threadpool_limits

import multimargin
from common import load_official, print_table, sized


@dataclass(frozen=True)
class Case:
    """A problem, the estimator with its parameters, the numbers of threads, and a peer."""

    data: Callable[[], tuple[Any, Any]]
    method: str
    parameters: dict[str, Any]
    threads: tuple[int, ...] = (1,)
    peer: Any = None
    peer_labels: int = 1


def text_rows(n: int, words: bool = False) -> tuple[Any, Any]:
    """Return rows of 60 nonzeros of 20,000 features, and 100 labels of which 3 % are relevant.

    Features are drawn evenly, or as the words of a text, feature k in proportion to 1 / (k + 10).
    """
    random = np.random.default_rng(0)
    n = sized(n)
    d, q, nonzeros = 20_000, 100, 60
    frequency = 1.0 / (np.arange(d) + 10.0)
    shares = frequency / frequency.sum() if words else None
    columns = random.choice(d, (n, nonzeros), p=shares).astype(np.int32)
    values = np.abs(random.normal(size=(n, nonzeros)))
    starts = np.arange(0, n * nonzeros + 1, nonzeros)
    X = sparse.csr_matrix((values.ravel(), columns.ravel(), starts), shape=(n, d))
    X.sum_duplicates()
    X = normalize(X)
    scores = X @ random.normal(size=(d, q))
    return X, (scores > np.quantile(scores, 0.97)).astype(np.uint8)


def dense_rows(n: int = 20_000, d: int = 100, q: int = 20) -> tuple[Any, Any]:
    """Return rows of dense features, and labels that noise blurs."""
    random = np.random.default_rng(0)
    n = sized(n)
    X = random.normal(size=(n, d))
    noise = random.normal(size=(n, q))
    return X, (X @ random.normal(size=(d, q)) + noise > 1.0).astype(np.uint8)


def delicious() -> tuple[Any, Any]:
    """Return the training part of delicious: 12,920 rows, 983 labels, 236,888,754 pairs."""
    X, _, Y, _ = load_official("delicious").train_test()
    return normalize(X), Y


LINEAR = {"kernel": "linear", "threshold": 0.0, "random_state": 0}
PENALIZED = {**LINEAR, "bias": "penalized"}
HINGE = LinearSVC(loss="hinge", max_iter=100_000, tol=1e-3, random_state=0)
WIDTH = {"gamma": 0.01, "cache_size": 500}
CASES = {
    "50,000 rows": Case(lambda: text_rows(50_000), "RankSVM", {**PENALIZED, "C": 1.0}),
    "200,000 rows": Case(
        lambda: text_rows(200_000), "RankSVM", {**PENALIZED, "C": 1.0}, (1, 2), HINGE, 4
    ),
    "200,000 rows of words": Case(
        lambda: text_rows(200_000, words=True), "RankSVM", {**PENALIZED, "C": 1.0}, (1, 2)
    ),
    "delicious, defaults": Case(
        delicious, "RankSVM", {"kernel": "linear", "random_state": 0}, (1, 2)
    ),
    "delicious, C = 1": Case(delicious, "RankSVM", {**PENALIZED, "C": 1.0}),
    "delicious, C = 100": Case(delicious, "RankSVM", {**PENALIZED, "C": 100.0}, (1, 2)),
    "delicious, RankCVM": Case(delicious, "RankCVM", {**LINEAR, "C": 1.0}),
    "delicious, MLODM": Case(delicious, "MLODM", {**LINEAR, "C": 1.0}),
    "rbf RankSVM, 12,000 rows": Case(
        lambda: dense_rows(12_000, 30, 8),
        "RankSVM",
        {"C": 10.0, "gamma": 0.03, "tol": 1e-3, "threshold": 0.0, "random_state": 0},
        (1, 2),
        SVC(C=10.0, gamma=0.03, cache_size=1000),
    ),
    "rbf RankCVM": Case(
        dense_rows,
        "RankCVM",
        {"C": 10.0, "tol": 1e-2, "threshold": 0.0, "random_state": 0, **WIDTH},
        (1, 2),
        SVC(C=10.0, tol=1e-2, **WIDTH),
    ),
}


def measure(name: str, threads: int) -> None:
    """Fit once and print what it took as a line of JSON; with no threads, fit the peer."""
    warnings.simplefilter("ignore")
    case = CASES[name]
    X, Y = case.data()
    with threadpool_limits(1):
        start = time.perf_counter()
        if threads == 0:
            for label in range(case.peer_labels):
                case.peer.fit(X, Y[:, label])
            found = {"seconds": (time.perf_counter() - start) * Y.shape[1] / case.peer_labels}
        else:
            estimator = getattr(multimargin, case.method)
            model = estimator(**case.parameters, n_jobs=threads).fit(X, Y)
            seconds = time.perf_counter() - start
            found = {"seconds": seconds, "epochs": model.n_iter_, "gap": float(model.dual_gap_)}
    found["MB"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
    print(json.dumps(found))


def in_a_process(name: str, threads: int) -> dict[str, float]:
    """Return what :func:`measure` prints in a process of its own."""
    command = [sys.executable, __file__, "--measure", name, str(threads)]
    run = subprocess.run(command, check=True, capture_output=True, text=True)
    found: dict[str, float] = json.loads(run.stdout.splitlines()[-1])
    return found


def main() -> None:
    """Print the table."""
    if sys.argv[1:2] == ["--measure"]:
        measure(sys.argv[2], int(sys.argv[3]))
        return
    rows = []
    for name in sys.argv[1:] or CASES:
        case = CASES[name]
        for threads in case.threads:
            found = in_a_process(name, threads)
            row = [f"{found['seconds']:.1f}", f"{found['epochs']}", f"{found['gap']:.1e}"]
            rows.append((name, case.method, str(threads), *row, f"{found['MB']:.0f}"))
        if case.peer is not None:
            found = in_a_process(name, 0)
            peer = f"one-vs-rest {type(case.peer).__name__}, of {case.peer_labels} labels"
            rows.append((name, peer, "1", f"{found['seconds']:.0f}", "", "", f"{found['MB']:.0f}"))
    header = ("problem", "method", "threads", "s", "epochs", "gap", "peak MB of the process")
    print_table("large fits", header, rows)


if __name__ == "__main__":
    main()
